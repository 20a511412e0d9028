package credentials

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"
)

// A Role says what one of the service's own keys signs. One role, one kind of
// thing: a mix-up of types alone is then no forgery.
type Role string

// The roles. Root signs the list of all keys and may stay offline; KeySet signs
// the freshness of that list, online.
const (
	RoleRoot       Role = "root"
	RoleHandle     Role = "handle"
	RoleLabel      Role = "label"
	RoleKeySet     Role = "key-set"
	RoleCheckpoint Role = "checkpoint"
	RoleState      Role = "state"
)

// Roles lists all roles, root first.
func Roles() []Role {
	return []Role{RoleRoot, RoleHandle, RoleLabel, RoleKeySet, RoleCheckpoint, RoleState}
}

// KnownRole reports whether r is a role.
func KnownRole(r Role) bool { return slices.Contains(Roles(), r) }

// A KeyState is where a key stands. The empty state is that of no key.
type KeyState string

// The states.
const (
	KeyPending   KeyState = "pending"
	KeyPublished KeyState = "published"
	KeyActive    KeyState = "active"
	KeyRetiring  KeyState = "retiring"
	KeyRetired   KeyState = "retired"
	KeyRevoked   KeyState = "revoked"
)

// Verifies reports whether signatures of a key in this state can be good.
// Published counts: another replica may have activated the key already.
func (s KeyState) Verifies() bool {
	return s == KeyPublished || s == KeyActive || s == KeyRetiring
}

// Lives of what the key set is made of.
const (
	MaxKeySetLife     = 366 * 24 * time.Hour
	MaxFreshnessLife  = 15 * time.Minute
	MaxRootChangeLife = 10 * 366 * 24 * time.Hour
	MaxLabelLife      = 24 * time.Hour
)

// MaxKeys is how many keys one list may name, tombstones included.
const MaxKeys = 512

// A PublicJWK holds the members of a public key that its thumbprint covers (RFC
// 7638). Package envelope makes a key of it and one of a key.
type PublicJWK struct {
	Crv string `json:"crv"`
	Kty string `json:"kty"`
	X   string `json:"x"`
	Y   string `json:"y,omitzero"`
}

// A KeyEntry is one key of the signed list. Revoked and retired keys stay in it
// for ever, so that none can come back.
type KeyEntry struct {
	Kid   KeyID     `json:"kid"`
	Role  Role      `json:"role"`
	Alg   string    `json:"alg"`
	State KeyState  `json:"state"`
	Jwk   PublicJWK `json:"jwk"`
	Since int64     `json:"since"`         // entered State, seconds since the epoch
	Ends  int64     `json:"ends,omitzero"` // nothing of it verifies from then on
}

// KeySetClaims are the claims of the list of keys (typ key-set+jwt), signed by
// the root key. Ver rises with every list and never falls.
type KeySetClaims struct {
	Registered
	Ver  uint64     `json:"ver"`
	Keys []KeyEntry `json:"keys"`
}

// Check refuses a list that is incomplete or contradicts itself. Whether each
// kid is its key's thumbprint is for whoever opens the keys.
func (c *KeySetClaims) Check() error {
	if c.Ver == 0 || c.Ver > MaxInt || c.Iss == "" {
		return fmt.Errorf("%w: ver and iss are required", ErrClaims)
	}
	if len(c.Keys) == 0 || len(c.Keys) > MaxKeys {
		return fmt.Errorf("%w: a list has 1 to %d keys", ErrClaims, MaxKeys)
	}
	states := []KeyState{KeyPending, KeyPublished, KeyActive, KeyRetiring, KeyRetired, KeyRevoked}
	seen := make(map[KeyID]bool, len(c.Keys))
	for _, k := range c.Keys {
		if _, err := ParseKeyID(string(k.Kid)); err != nil {
			return fmt.Errorf("%w: keys: %w", ErrClaims, err)
		}
		if seen[k.Kid] {
			return fmt.Errorf("%w: keys: one key is listed twice", ErrClaims)
		}
		seen[k.Kid] = true
		if !KnownRole(k.Role) || !slices.Contains(states, k.State) {
			return fmt.Errorf("%w: keys: role or state is unknown", ErrClaims)
		}
		if k.Since < 0 || k.Since > MaxInt || k.Ends < 0 || k.Ends > MaxInt {
			return fmt.Errorf("%w: keys: times are seconds since the epoch", ErrClaims)
		}
	}
	return nil
}

// A CheckpointRef names one checkpoint of the registry log: its size and the
// SHA-256 of the text of its note.
type CheckpointRef struct {
	Size   uint64 `json:"size"`
	Digest Digest `json:"digest"`
}

// FreshnessClaims say what was newest at their time (typ key-freshness+jwt),
// signed by the key of role key-set: the list of keys, the checkpoint of the
// log, the labels that were lowered, and the number of the newest label event.
type FreshnessClaims struct {
	Registered
	List       Digest        `json:"list"` // KeyListDigest of the list's token
	Ver        uint64        `json:"ver"`  // of the list
	Checkpoint CheckpointRef `json:"checkpoint"`
	Lowered    Digest        `json:"lowered"`
	Seq        uint64        `json:"seq"`
}

// Check refuses incomplete claims.
func (c *FreshnessClaims) Check() error {
	if c.List.IsZero() || c.Ver == 0 || c.Ver > MaxInt || c.Iss == "" {
		return fmt.Errorf("%w: iss, list and ver are required", ErrClaims)
	}
	if c.Seq > MaxInt || c.Checkpoint.Size > MaxInt {
		return fmt.Errorf("%w: seq and size are at most 2^53-1", ErrClaims)
	}
	return nil
}

// RootChangeClaims hand the role root from one key to the next (typ
// root-change+jwt). Both keys sign the same claims: the old one says who follows
// it, the new one that it is held by whoever says so.
type RootChangeClaims struct {
	Registered
	Ver uint64    `json:"ver"` // of the first list that the new root signs
	Old PublicJWK `json:"old"`
	New PublicJWK `json:"new"`
}

// Check refuses incomplete claims.
func (c *RootChangeClaims) Check() error {
	if c.Ver == 0 || c.Ver > MaxInt || c.Iss == "" {
		return fmt.Errorf("%w: ver and iss are required", ErrClaims)
	}
	if c.Old == c.New {
		return fmt.Errorf("%w: old and new root are one", ErrClaims)
	}
	return nil
}

// A PublishedKey is one key as /.well-known/jwks.json shows it to any JOSE
// reader.
type PublishedKey struct {
	PublicJWK
	Alg  string `json:"alg"`
	Kid  KeyID  `json:"kid"`
	Role Role   `json:"role"`
	Use  string `json:"use"` // "sig"
}

// A KeySetDocument is the body of /.well-known/jwks.json: the keys in force for
// any JOSE reader, and for readers of ours the signed list, its freshness, and
// the changes of the root: pairs of tokens of one claims text, signed by the old
// root and by the new one, oldest change first.
type KeySetDocument struct {
	Keys      []PublishedKey `json:"keys"`
	List      string         `json:"list"`
	Freshness string         `json:"freshness"`
	Roots     []string       `json:"roots"`
}

// KeyListDigest is the digest that freshness claims name a list by.
func KeyListDigest(token string) Digest {
	h := sha256.New()
	h.Write([]byte("pratique/key-list/v1\x00"))
	h.Write([]byte(token))
	return Digest(h.Sum(nil))
}
