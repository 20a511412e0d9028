// Package credentials is the vocabulary of who may act: principals named by
// their keys, tools named by ids, the actions that a handle carries and the
// levels that say how well a registrant is known.
//
// Mechanisms live below it: envelope makes and opens signed tokens, keyset
// reads key sets and verifies a second time, proof checks possession, keyring
// keeps and rotates the service's own keys.
package credentials

import (
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A KeyID is the RFC 7638 SHA-256 thumbprint of a public key: 43 characters of
// unpadded base64url. It is only ever compared or used as a map key.
type KeyID string

// A PrincipalID names whoever registers: "prn_" and the thumbprint of its key.
type PrincipalID string

// A ToolID names one tool for ever: "tool_" and a ULID. Names are never
// authority; ids are.
type ToolID string

// An AgentID names one agent credential: "agt_" and a ULID.
type AgentID string

// A TokenID is the jti of a token: 128 random bits in base64url. Replay and
// revocation are keyed by it, since the bytes of a token have several
// encodings.
type TokenID string

// Errors of malformed identifiers. The caller answers with a refusal that
// names the field; nothing has happened yet.
var (
	ErrKeyID    = errors.New("key id is not a 43-character base64url SHA-256 thumbprint")
	ErrToolID   = errors.New(`tool id is not "tool_" and a ULID`)
	ErrAgentID  = errors.New(`agent id is not "agt_" and a ULID`)
	ErrPrinID   = errors.New(`principal id is not "prn_" and a key thumbprint`)
	ErrTokenID  = errors.New("token id is not 16 to 64 characters of base64url")
	ErrDigest   = errors.New(`digest is not "sha-256:" and 43 characters of base64url`)
	ErrAction   = errors.New("action is not one of delegate, overwrite, revoke, or is repeated or out of order")
	ErrLevel    = errors.New("attribution level is not one of none, pop, sri, sig, srv")
	ErrToolName = errors.New("tool name is not 1 to 128 characters of [A-Za-z0-9_.-]")
)

var (
	keyIDRe   = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)
	tokenIDRe = regexp.MustCompile(`^[A-Za-z0-9_-]{16,64}$`)
	ulidRe    = regexp.MustCompile(`^[0-7][0-9A-HJKMNP-TV-Z]{25}$`)
	nameRe    = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)
)

// ParseKeyID checks the form of a key id.
func ParseKeyID(s string) (KeyID, error) {
	if !keyIDRe.MatchString(s) {
		return "", ErrKeyID
	}
	return KeyID(s), nil
}

// ParseTokenID checks the form of a jti.
func ParseTokenID(s string) (TokenID, error) {
	if !tokenIDRe.MatchString(s) {
		return "", ErrTokenID
	}
	return TokenID(s), nil
}

// ParseToolID checks the form of a tool id.
func ParseToolID(s string) (ToolID, error) {
	u, ok := strings.CutPrefix(s, "tool_")
	if !ok || !ulidRe.MatchString(u) {
		return "", ErrToolID
	}
	return ToolID(s), nil
}

// ParseAgentID checks the form of an agent id.
func ParseAgentID(s string) (AgentID, error) {
	u, ok := strings.CutPrefix(s, "agt_")
	if !ok || !ulidRe.MatchString(u) {
		return "", ErrAgentID
	}
	return AgentID(s), nil
}

// ParsePrincipalID checks the form of a principal id.
func ParsePrincipalID(s string) (PrincipalID, error) {
	k, ok := strings.CutPrefix(s, "prn_")
	if !ok || !keyIDRe.MatchString(k) {
		return "", ErrPrinID
	}
	return PrincipalID(s), nil
}

// Principal is the principal whose key has this thumbprint.
func (k KeyID) Principal() PrincipalID { return PrincipalID("prn_" + string(k)) }

// Key is the thumbprint of the principal's key.
func (p PrincipalID) Key() KeyID { return KeyID(strings.TrimPrefix(string(p), "prn_")) }

// CheckToolName reports whether a name may be registered (MCP 2025-11-25,
// tool names: SHOULD be 1 to 128 characters of this set; here it is a must).
func CheckToolName(s string) error {
	if !nameRe.MatchString(s) {
		return ErrToolName
	}
	return nil
}

// A Digest is a SHA-256. Its text is "sha-256:" and 43 characters of base64url.
type Digest [32]byte

// ParseDigest reads the text form of a digest.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	b, ok := strings.CutPrefix(s, "sha-256:")
	if !ok || !keyIDRe.MatchString(b) {
		return d, ErrDigest
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(b)
	if err != nil || len(raw) != len(d) {
		return d, ErrDigest
	}
	copy(d[:], raw)
	return d, nil
}

// String is the text form of the digest.
func (d Digest) String() string {
	return "sha-256:" + base64.RawURLEncoding.EncodeToString(d[:])
}

// IsZero reports whether no digest is set.
func (d Digest) IsZero() bool { return d == Digest{} }

// MarshalText implements encoding.TextMarshaler.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler; anything but the exact
// text form is ErrDigest.
func (d *Digest) UnmarshalText(b []byte) error {
	v, err := ParseDigest(string(b))
	if err != nil {
		return err
	}
	*d = v
	return nil
}

// An Action is one thing that a handle lets its holder do.
type Action string

// The actions. A handle's list is sorted and without repetition.
const (
	Delegate  Action = "delegate"
	Overwrite Action = "overwrite"
	Revoke    Action = "revoke"
)

// AllActions is what a tool's first handle carries.
func AllActions() []Action { return []Action{Delegate, Overwrite, Revoke} }

// CheckActions refuses an empty, unsorted, repeated or unknown action list.
func CheckActions(as []Action) error {
	if len(as) == 0 {
		return ErrAction
	}
	for i, a := range as {
		if a != Delegate && a != Overwrite && a != Revoke {
			return ErrAction
		}
		if i > 0 && as[i-1] >= a {
			return ErrAction
		}
	}
	return nil
}

// Narrower reports whether every action of child is one of parent.
func Narrower(child, parent []Action) bool {
	for _, a := range child {
		if !slices.Contains(parent, a) {
			return false
		}
	}
	return true
}

// A Level says how well the registrant of a tool is known (DESIGN.md section
// 5). The zero value is the least.
type Level uint8

// The attribution levels, least first.
const (
	LevelNone Level = iota // bearer only
	LevelPoP               // holds a key
	LevelSRI               // the registering script's hash is listed by the site
	LevelSig               // the script is signed by a listed key
	LevelSrv               // the site's own server signed the registration
)

var levelNames = [...]string{"none", "pop", "sri", "sig", "srv"}

// ParseLevel reads a level by its name.
func ParseLevel(s string) (Level, error) {
	if i := slices.Index(levelNames[:], s); i >= 0 {
		return Level(i), nil
	}
	return LevelNone, ErrLevel
}

// String is the level's name.
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("level(%d)", uint8(l))
}

// MarshalText implements encoding.TextMarshaler.
func (l Level) MarshalText() ([]byte, error) {
	if int(l) >= len(levelNames) {
		return nil, ErrLevel
	}
	return []byte(l.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *Level) UnmarshalText(b []byte) (err error) {
	*l, err = ParseLevel(string(b))
	return err
}
