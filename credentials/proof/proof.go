// Package proof makes and checks proofs of possession: DPoP (RFC 9449) with a
// profile that signs what DPoP leaves open.
//
// A proof is a dpop+jwt made for one request by the key that sends it. Beside
// RFC 9449's claims (htm, htu, iat, jti, ath) it always holds a nonce of ours,
// the operation (op) and, as the operation's Rule says, the tool (tool_id),
// the digest of the version being replaced (base) and the digest of the body
// (bdg). Plain DPoP signs neither body nor intent: whoever sees a proof in time
// could send it with another body.
//
// Freshness comes from the nonce, since clients' clocks are bad; iat only has
// to be within a minute. A proof is good once: a bounded set remembers it for
// as long as it could be accepted.
package proof

import (
	"errors"
	"time"

	"github.com/pratique-dev/pratique/credentials"
)

// Window is how far iat may lie on either side of our clock, credentials.Leeway
// aside.
const Window = 60 * time.Second

// ErrProof is what every refusal of a proof is, but for ErrUseNonce and
// ErrReplaySetFull: the sender's proof is not one for this request.
var ErrProof = errors.New("proof refused")

// Errors of proofs. Each names what is wrong and repeats nothing. What the
// envelope refuses (form, header, key, signature) keeps its name from there.
var (
	ErrClaims   = errors.New("proof claims are not the closed set of a proof")
	ErrJTI      = errors.New("jti is not 16 to 64 characters of base64url")
	ErrMethod   = errors.New("htm is not the method of the request")
	ErrURL      = errors.New("htu is not the external address of the request")
	ErrOp       = errors.New("op is not the operation of the request")
	ErrMissing  = errors.New("proof lacks a member that its operation needs")
	ErrSurplus  = errors.New("proof has a member that its operation must not have")
	ErrTool     = errors.New("tool_id is not the tool of the request")
	ErrBase     = errors.New("base is not the digest of the version in question")
	ErrAth      = errors.New("ath is not the digest of the handle shown")
	ErrBody     = errors.New("bdg is not the digest of the body received")
	ErrStale    = errors.New("iat lies too far back")
	ErrFuture   = errors.New("iat lies too far ahead")
	ErrWrongKey = errors.New("proof was made by another key")
	ErrReplayed = errors.New("proof has been used")

	// ErrUseNonce asks for a proof with the nonce that comes along, as a
	// *NonceError (RFC 9449 section 8). The client makes a new proof.
	ErrUseNonce = errors.New("proof needs a current nonce of this server")
	// ErrReplaySetFull means that no proof can be remembered now, so none is
	// accepted: 503, later.
	ErrReplaySetFull = errors.New("too many proofs in a short time; try again later")
	// ErrRequest is the server's own mistake: a request described in a way
	// that contradicts the rule of its operation.
	ErrRequest = errors.New("request does not fit the rule of its operation")
)

// A NonceError is ErrUseNonce with the nonce to use.
type NonceError struct{ Nonce string }

// Error does not show the nonce.
func (*NonceError) Error() string { return ErrUseNonce.Error() }

// Is makes errors.Is(err, ErrUseNonce) hold.
func (*NonceError) Is(target error) bool { return target == ErrUseNonce }

// claims are the claims of a proof. Members are pointers where their absence
// means something; null is refused before it gets here.
type claims struct {
	Jti    string  `json:"jti"`
	Htm    string  `json:"htm"`
	Htu    string  `json:"htu"`
	Iat    int64   `json:"iat"`
	Nonce  *string `json:"nonce,omitzero"`
	Op     Op      `json:"op"`
	Ath    *string `json:"ath,omitzero"`
	ToolID *string `json:"tool_id,omitzero"`
	Base   *string `json:"base,omitzero"`
	Bdg    *string `json:"bdg,omitzero"`
}

// times refuses an iat outside the window around now.
func (c *claims) times(now time.Time) error {
	const most = int64((Window + credentials.Leeway) / time.Second)
	switch t := now.Unix(); {
	case c.Iat <= 0 || c.Iat > credentials.MaxInt:
		return ErrClaims
	case c.Iat > t+most:
		return ErrFuture
	case c.Iat < t-most:
		return ErrStale
	}
	return nil
}
