package credentials

import (
	"errors"
	"fmt"
	"time"
)

// Leeway is the one tolerance for iat, nbf and exp wherever a token is opened.
const Leeway = 5 * time.Second

// Backdate is how far before the moment of issue iat and nbf of everything we
// sign lie, so that a verifier whose clock runs up to Backdate+Leeway behind
// ours still accepts a fresh token without a wider tolerance of its own.
const Backdate = 60 * time.Second

// MaxHandleLife is the longest life of a handle, counted from its issue.
const MaxHandleLife = 24 * time.Hour

// MaxInt is the largest integer a claim may hold (2^53-1): every JSON reader
// in the field agrees on integers up to here.
const MaxInt = 1<<53 - 1

// Errors of claims. Each names the claim that is wrong.
var (
	ErrClaims   = errors.New("claims are not those of this token type")
	ErrIssuer   = errors.New("iss is not the expected issuer")
	ErrAudience = errors.New("aud is not this registry")
	ErrNotYet   = errors.New("token is not valid yet (iat or nbf lies ahead)")
	ErrExpired  = errors.New("token has expired")
	ErrLife     = errors.New("token lives longer than its type allows")
)

// Registered are the claims that every token of ours has. Times are whole
// seconds since the epoch.
type Registered struct {
	Iss string  `json:"iss"`
	Iat int64   `json:"iat"`
	Nbf int64   `json:"nbf"`
	Exp int64   `json:"exp"`
	Jti TokenID `json:"jti"`
}

// NewRegistered fills the common claims for a token issued at now that lives
// for life; iat and nbf are backdated as Backdate says.
func NewRegistered(iss string, jti TokenID, now time.Time, life time.Duration) Registered {
	b := now.Add(-Backdate).Unix()
	return Registered{Iss: iss, Iat: b, Nbf: b, Exp: now.Add(life).Unix(), Jti: jti}
}

// CheckTime refuses a token that is not valid at now, within Leeway, or that
// lives longer than maxLife from its issue (Backdate aside).
func (r Registered) CheckTime(now time.Time, maxLife time.Duration) error {
	for _, v := range []int64{r.Iat, r.Nbf, r.Exp} {
		if v <= 0 || v > MaxInt {
			return fmt.Errorf("%w: iat, nbf and exp are required", ErrClaims)
		}
	}
	if _, err := ParseTokenID(string(r.Jti)); err != nil {
		return fmt.Errorf("%w: jti: %w", ErrClaims, err)
	}
	if r.Nbf < r.Iat || r.Exp <= r.Nbf {
		return fmt.Errorf("%w: iat, nbf and exp are out of order", ErrClaims)
	}
	if maxLife > 0 && r.Exp-r.Iat > int64((maxLife+Backdate)/time.Second) {
		return ErrLife
	}
	lee := int64(Leeway / time.Second)
	t := now.Unix()
	if r.Iat > t+lee || r.Nbf > t+lee {
		return ErrNotYet
	}
	if r.Exp <= t-lee {
		return ErrExpired
	}
	return nil
}

// Confirmation binds a handle to its holder's key (RFC 7800, RFC 9449 section
// 6.1): only the thumbprint is allowed.
type Confirmation struct {
	Jkt KeyID `json:"jkt"`
}

// HandleClaims are the claims of a capability handle (typ tool-handle+jwt).
type HandleClaims struct {
	Registered
	Sub    PrincipalID  `json:"sub"`
	Aud    string       `json:"aud"`
	ToolID ToolID       `json:"tool_id"`
	Gen    uint64       `json:"gen"`
	Ver    uint64       `json:"ver"`
	Mdg    Digest       `json:"mdg"`
	Act    []Action     `json:"act"`
	Cnf    Confirmation `json:"cnf"`
	Prv    Level        `json:"prv"`
	Par    TokenID      `json:"par,omitzero"` // parent jti; only on a delegated handle
	Dpt    uint64       `json:"dpt,omitzero"` // depth; 1 on a delegated handle
}

// Check refuses a handle whose claims are incomplete or contradict each other;
// signature, type, time and registry state are others' business.
func (h *HandleClaims) Check() error {
	if _, err := ParsePrincipalID(string(h.Sub)); err != nil {
		return fmt.Errorf("%w: sub: %w", ErrClaims, err)
	}
	if _, err := ParseToolID(string(h.ToolID)); err != nil {
		return fmt.Errorf("%w: tool_id: %w", ErrClaims, err)
	}
	if _, err := ParseKeyID(string(h.Cnf.Jkt)); err != nil {
		return fmt.Errorf("%w: cnf.jkt: %w", ErrClaims, err)
	}
	if h.Gen == 0 || h.Gen > MaxInt || h.Ver == 0 || h.Ver > MaxInt {
		return fmt.Errorf("%w: gen and ver are from 1 to 2^53-1", ErrClaims)
	}
	if h.Mdg.IsZero() || h.Aud == "" {
		return fmt.Errorf("%w: mdg and aud are required", ErrClaims)
	}
	if err := CheckActions(h.Act); err != nil {
		return fmt.Errorf("%w: act: %w", ErrClaims, err)
	}
	if (h.Par == "") != (h.Dpt == 0) || h.Dpt > 1 {
		return fmt.Errorf("%w: par and dpt belong together and depth is 1", ErrClaims)
	}
	if h.Dpt == 0 && h.Sub.Key() != h.Cnf.Jkt {
		return fmt.Errorf("%w: an owner's handle is bound to the owner's key", ErrClaims)
	}
	if h.Par != "" {
		if _, err := ParseTokenID(string(h.Par)); err != nil {
			return fmt.Errorf("%w: par: %w", ErrClaims, err)
		}
	}
	return nil
}
