// Package envelope makes and opens the signed tokens of the service: compact
// JWS with a closed header, one type of token per job, and an algorithm that
// the key record decides.
//
// go-jose does the cryptography. It never sees a token before Precheck has:
// exactly three canonical base64url segments, a header of exactly {alg, kid,
// typ} (for proofs {alg, jwk, typ}), no repeated or unknown member, bounded
// size. Package credentials/keyset verifies a second time, with another library
// behind the same pre-check.
//
// A signature says who signed, not that it still counts. Whoever opens a token
// checks its claims (Claims, then the type's own Check and CheckTime) and the
// state of what it is about (generation, revocation) now; Cache makes the same
// demand on every hit.
package envelope

import (
	"errors"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/internal/form"
)

// A Type is the typ of a token, exact and case-sensitive. One type never passes
// for another: each is asked for by name, and each has its own signing role.
type Type string

// The types of tokens.
const (
	Handle       Type = "tool-handle+jwt"
	Proof        Type = "dpop+jwt" // RFC 9449; the holder's key is in its header
	Label        Type = "tool-label+jwt"
	Topology     Type = "tool-topology+jwt"
	KeySet       Type = "key-set+jwt"
	Freshness    Type = "key-freshness+jwt"
	RootChange   Type = "root-change+jwt"
	ToolAccept   Type = "tool-accept+jwt"
	Intent       Type = "intent+jwt"
	OperatorAct  Type = "operator-act+jwt"
	Observation  Type = "observation+jwt"
	CallApproval Type = "call-approval+jwt"
	RequestState Type = "request-state+jwt" // an upstream's state on its way through an agent (RULES.md 5)

	EffectCatalogue Type = "effect-catalogue+jwt" // what tools do, by somebody whose key an operator enrolled
)

// Types are all types of tokens.
func Types() []Type {
	return []Type{Handle, Proof, Label, Topology, KeySet, Freshness, RootChange, ToolAccept, Intent,
		OperatorAct, Observation, CallApproval, RequestState, EffectCatalogue}
}

// MaxToken is the longest token of most types, in bytes; lists (key sets,
// topologies, catalogues), and states that hold what an upstream sent, may have MaxListToken.
const (
	MaxToken     = 16 << 10
	MaxListToken = 512 << 10
)

// Max is the longest token of this type, in bytes; 0 for an unknown type.
func (t Type) Max() int {
	switch t {
	case KeySet, Topology, RequestState, EffectCatalogue:
		return MaxListToken
	case Handle, Proof, Label, Freshness, RootChange, ToolAccept, Intent, OperatorAct, Observation, CallApproval:
		return MaxToken
	}
	return 0
}

// Role is the role whose keys sign this type; empty for types that others than
// the service sign (holders, sites, operators, observers, approvers).
func (t Type) Role() credentials.Role {
	switch t {
	case Handle:
		return credentials.RoleHandle
	case Label:
		return credentials.RoleLabel
	case KeySet, RootChange:
		return credentials.RoleRoot
	case Freshness:
		return credentials.RoleKeySet
	case RequestState:
		return credentials.RoleState
	}
	return ""
}

// An Alg is a signature algorithm by its JOSE name.
type Alg string

// The algorithms. RFC 9864's "Ed25519" is not among them: neither library
// verifies it.
const (
	EdDSA Alg = "EdDSA" // Ed25519 only
	ES256 Alg = "ES256" // P-256 with SHA-256
)

// Errors of tokens. Each means that nothing in the token may be believed; none
// repeats any of it.
var (
	ErrType         = errors.New("token type is not known, or not one to be used here")
	ErrTokenSize    = form.ErrTokenSize
	ErrBlank        = form.ErrBlank
	ErrTokenBOM     = errors.New("token text is UTF-16 or has a byte order mark inside; save it as plain UTF-8")
	ErrSegments     = form.ErrSegments
	ErrEncoding     = form.ErrEncoding
	ErrHeader       = form.ErrHeader
	ErrHeaderMember = form.ErrHeaderMember
	ErrAlg          = errors.New("alg is not the algorithm of the key")
	ErrTyp          = errors.New("typ is not the type asked for")
	ErrSignature    = form.ErrSignature
	ErrUnknownKey   = errors.New("kid names no key that is known here")
	ErrRevokedKey   = errors.New("kid names a revoked key")
	ErrRetiredKey   = errors.New("kid names a key that is retired or not yet in use")
	ErrWrongRole    = errors.New("the key's role does not sign this type of token")
	ErrPayload      = errors.New("token payload is not the closed set of claims of its type")
)

// Keys resolves a key id at the moment of asking: the resolver knows which role
// may sign which type and refuses keys by their state now, whatever time a
// token claims to be from. Errors are ErrUnknownKey, ErrRevokedKey,
// ErrRetiredKey, ErrWrongRole.
type Keys interface {
	Key(typ Type, kid credentials.KeyID) (Key, error)
}

// KeysFunc is a function that is Keys.
type KeysFunc func(Type, credentials.KeyID) (Key, error)

// Key implements Keys.
func (f KeysFunc) Key(typ Type, kid credentials.KeyID) (Key, error) { return f(typ, kid) }

// A Verifier checks that a token of this type was signed by a key that may sign
// it now. It does not look at claims.
type Verifier interface {
	Verify(typ Type, tok string) (Opened, error)
}

// Opened is what a verified signature covers.
type Opened struct {
	Payload []byte // the claims, byte for byte as signed
	Key     Key    // whose signature it is
}
