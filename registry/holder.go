package registry

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/proof"
)

// Errors of what a request carries, beyond those of envelope and proof.
var (
	ErrHolder = errors.New("the handle is bound to another key than the proof's")
	ErrAth    = errors.New("the proof was made for another handle")
	ErrTool   = errors.New("the handle is of another tool")
)

// A Caller is who proved a command: a key, and the proof by which it did. The
// zero Caller is nobody.
type Caller struct {
	key   credentials.KeyID
	proof string
	local bool
}

// NewCaller is the caller that a confirmed proof shows.
func NewCaller(c proof.Confirmed) Caller { return Caller{key: c.Jkt(), proof: c.Token()} }

// UnsafeLocal is the service itself, or whoever runs it: allowed what only
// they may do, with no proof. key is the key it acts under, or empty. Nothing
// that came over a wire may ever become one; a test lists who calls this.
func UnsafeLocal(key credentials.KeyID) Caller { return Caller{key: key, local: true} }

// Key is the thumbprint of the key that proved the command; empty for the
// service itself.
func (c Caller) Key() credentials.KeyID { return c.key }

// Proof is the proof's text, kept in the log.
func (c Caller) Proof() string { return c.proof }

// Local reports whether the service itself is the caller.
func (c Caller) Local() bool { return c.local }

// A Holder is a caller with a handle for one tool: the signature, type,
// issuer, audience and time of the handle are right, the proof was made by the
// key it is bound to and for this very handle. Whether the tool's generation
// and owner still fit, and whether the handle was revoked, only the state can
// tell. The zero Holder holds nothing.
type Holder struct {
	caller Caller
	claims *credentials.HandleClaims
}

// HandleRules is what a handle must say to be one of this registry's.
type HandleRules struct {
	Issuer   string
	Audience string
}

// CheckHandle is the part of opening a handle that does not depend on who
// shows it: closed claims, issuer, audience, time.
func (r HandleRules) CheckHandle(h *credentials.HandleClaims, now time.Time) error {
	if err := h.Check(); err != nil {
		return err
	}
	if h.Iss != r.Issuer {
		return credentials.ErrIssuer
	}
	if h.Aud != r.Audience {
		return credentials.ErrAudience
	}
	return h.CheckTime(now, credentials.MaxHandleLife)
}

// Handles opens handles for requests, and remembers those that verified.
type Handles struct {
	cache *envelope.Cache[credentials.HandleClaims]
}

// NewHandles opens handles with v under the rules. epoch changes whenever any
// signing key's state does, and with it everything remembered is forgotten.
func NewHandles(v envelope.Verifier, rules HandleRules, epoch func() uint64, now func() time.Time) *Handles {
	open := func(token string) (*credentials.HandleClaims, time.Time, error) {
		o, err := v.Verify(envelope.Handle, token)
		if err != nil {
			return nil, time.Time{}, err
		}
		var h credentials.HandleClaims
		if err := envelope.Claims(o, &h); err != nil {
			return nil, time.Time{}, err
		}
		if err := rules.CheckHandle(&h, now()); err != nil {
			return nil, time.Time{}, err
		}
		return &h, time.Unix(h.Exp, 0).Add(credentials.Leeway), nil
	}
	return &Handles{cache: envelope.NewCache(open, epoch, 0)}
}

// Hold is the caller that shows this handle with this proof, for this tool,
// now. live holds the claims against the state of now: generation, owner and
// revocation are asked on every use, whatever is remembered of the token.
func (hs *Handles) Hold(token string, c proof.Confirmed, tool credentials.ToolID, live envelope.Live[credentials.HandleClaims], now time.Time) (Holder, error) {
	h, err := hs.cache.Open(token, now, live)
	if err != nil {
		return Holder{}, err
	}
	if c.Jkt() == "" || h.Cnf.Jkt != c.Jkt() {
		return Holder{}, ErrHolder
	}
	if c.Ath() != sha256.Sum256([]byte(token)) {
		return Holder{}, ErrAth
	}
	if h.ToolID != tool {
		return Holder{}, ErrTool
	}
	return Holder{caller: NewCaller(c), claims: h}, nil
}

// Caller is who holds the handle.
func (h Holder) Caller() Caller { return h.caller }

// Claims are the handle's claims; nil for the zero Holder.
func (h Holder) Claims() *credentials.HandleClaims { return h.claims }

// AcceptClaims are the claims of a tool-accept+jwt: the holder of a key agrees
// to take a tool over, once (RULES.md 25).
type AcceptClaims struct {
	credentials.Registered
	Aud    string                  `json:"aud"`
	Sub    credentials.PrincipalID `json:"sub"`     // who accepts
	ToolID credentials.ToolID      `json:"tool_id"` // empty where From is set
	Gen    uint64                  `json:"gen"`
	Mdg    credentials.Digest      `json:"mdg"`
	From   credentials.PrincipalID `json:"from,omitzero"` // all tools of this principal (recovery)
}

// MaxAcceptLife is the longest life of an acceptance.
const MaxAcceptLife = 24 * time.Hour

// An Acceptance is a verified statement that a key takes a tool, or all tools
// of a principal, over. The zero Acceptance accepts nothing.
type Acceptance struct{ claims *AcceptClaims }

// OpenAcceptance verifies an acceptance under the recipient's own key.
func OpenAcceptance(token string, to envelope.Key, audience string, now time.Time) (Acceptance, error) {
	keys := envelope.KeysFunc(func(typ envelope.Type, kid credentials.KeyID) (envelope.Key, error) {
		if typ != envelope.ToolAccept || kid != to.ID {
			return envelope.Key{}, envelope.ErrUnknownKey
		}
		return to, nil
	})
	o, err := envelope.NewVerifier(keys).Verify(envelope.ToolAccept, token)
	if err != nil {
		return Acceptance{}, fmt.Errorf("acceptance: %w", err)
	}
	var a AcceptClaims
	if err := envelope.Claims(o, &a); err != nil {
		return Acceptance{}, fmt.Errorf("acceptance: %w", err)
	}
	switch {
	case a.Sub.Key() != to.ID || a.Iss != string(a.Sub):
		return Acceptance{}, fmt.Errorf("acceptance: %w", credentials.ErrIssuer)
	case a.Aud != audience:
		return Acceptance{}, fmt.Errorf("acceptance: %w", credentials.ErrAudience)
	case (a.ToolID == "") == (a.From == ""):
		return Acceptance{}, fmt.Errorf("acceptance: %w", credentials.ErrClaims)
	}
	if err := a.CheckTime(now, MaxAcceptLife); err != nil {
		return Acceptance{}, fmt.Errorf("acceptance: %w", err)
	}
	return Acceptance{claims: &a}, nil
}

// ForTool refuses an acceptance that is not of exactly this tool, generation
// and version.
func (a Acceptance) ForTool(t credentials.ToolID, gen uint64, mdg credentials.Digest, to credentials.KeyID) error {
	c := a.claims
	if c == nil || c.ToolID != t || c.Gen != gen || c.Mdg != mdg || c.Sub.Key() != to {
		return ErrNotHeld
	}
	return nil
}

// ForAll refuses an acceptance that is not of all tools of this principal.
func (a Acceptance) ForAll(from credentials.PrincipalID, to credentials.KeyID) error {
	c := a.claims
	if c == nil || c.From != from || c.Sub.Key() != to {
		return ErrNotHeld
	}
	return nil
}

// Jti names the statement, which acts once.
func (a Acceptance) Jti() credentials.TokenID {
	if a.claims == nil {
		return ""
	}
	return a.claims.Jti
}
