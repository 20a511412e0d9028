// Package keyring keeps and rotates the service's own signing keys.
//
// Every role has exactly one active key and at least one published successor.
// A key goes pending, published, active, retiring, retired; or revoked, from
// wherever it was, and never comes back:
//
//	generate    publish       activate (>= Publish later)   retire (>= Verify later)
//	 pending ──▶ published ──▶ active ──▶ retiring ──────────▶ retired
//	    └────────────┴───────────┴───────────┴── revoke ─────▶ revoked
//
// One pure function, next, decides what is due. A folder holds the ring: one
// file per private key and a manifest, which is the journal: it names every
// key's state, is written last, under a lock and only over the version that
// the decision was made on, and is durable before a key is used. Several
// processes may share the folder. Nothing that is damaged is ever made anew.
package keyring

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
)

// Roles and states have their names in package credentials, where verifiers
// read them too.
type (
	Role  = credentials.Role
	State = credentials.KeyState
)

const (
	pending   = credentials.KeyPending   // made; in no key set
	published = credentials.KeyPublished // in the key set, so that every cache has it before it signs
	active    = credentials.KeyActive    // signs
	retiring  = credentials.KeyRetiring  // verifies what it signed; its private key is gone
	retired   = credentials.KeyRetired   // tombstone; everything it signed has expired
	revoked   = credentials.KeyRevoked   // tombstone; nothing it signed is good, whatever the time
)

// Roles lists all roles, root first. Checkpoint keys are Ed25519 only: signed
// notes know no other.
func Roles() []Role {
	return []Role{credentials.RoleRoot, credentials.RoleHandle, credentials.RoleLabel,
		credentials.RoleKeySet, credentials.RoleCheckpoint, credentials.RoleState}
}

// ParseRole reads a role by its name.
func ParseRole(s string) (Role, error) {
	if slices.Contains(Roles(), Role(s)) {
		return Role(s), nil
	}
	return "", ErrRole
}

// holdsPrivate reports whether the private key of a key in this state exists.
func holdsPrivate(s State) bool {
	return s == pending || s == published || s == active
}

// Errors of the ring. The caller's duty is in brackets.
var (
	ErrRole        = errors.New("role is not one of root, handle, label, key-set, checkpoint, state")
	ErrAlg         = errors.New("algorithm does not fit the role (EdDSA or ES256; checkpoint: EdDSA)")
	ErrNotFound    = errors.New("no such key")                                                                           // [not found]
	ErrTooEarly    = errors.New("too early")                                                                             // [precondition; EarlyError holds the time]
	ErrState       = errors.New("key is not in a state that allows this")                                                // [precondition]
	ErrNoSuccessor = errors.New("role has no published successor")                                                       // [precondition]
	ErrKnownKey    = errors.New("key is in the ring already")                                                            // [conflict]
	ErrConflict    = errors.New("the ring was changed by another process meanwhile; it has been read again: look again") // [conflict]
	ErrReason      = errors.New("reason is 1 to 200 printable characters")
	ErrTiming      = errors.New("timing is below the bound that keeps tokens verifiable")
	ErrRootOffline = errors.New("root key is offline: the new key list cannot be signed; hand a root signer in") // [precondition]
	ErrDamaged     = errors.New("key ring is damaged; restore it from a backup, nothing is made anew")           // [backend; stop]
	ErrRollback    = errors.New("key ring is older than what is known to have existed")                          // [backend; stop]
	ErrNoRing      = errors.New("folder holds no key ring")                                                      // [not found]
	ErrPassphrase  = errors.New("key ring is encrypted and the passphrase is missing or wrong")                  // [precondition]
	ErrPlain       = errors.New("a passphrase was given but the key ring is not encrypted")                      // [precondition]
	ErrStale       = errors.New("key ring could not be re-read in time; its keys are not used")                  // [deny]
	ErrNotActive   = errors.New("key is not active and signs nothing")                                           // [ask the ring for the active one]
)

// An EarlyError is a transition asked for before its time. It is ErrTooEarly.
type EarlyError struct {
	Kid  credentials.KeyID
	Role Role
	What string    // the transition
	At   time.Time // the earliest time
}

// Error names the earliest time.
func (e *EarlyError) Error() string {
	return fmt.Sprintf("too early to %s key %s of role %s: not before %s", e.What, e.Kid, e.Role, e.At.UTC().Format(time.RFC3339))
}

// Is makes errors.Is(err, ErrTooEarly) hold.
func (e *EarlyError) Is(target error) bool { return target == ErrTooEarly }

// A Slot is one key of the ring with its history and without its secret.
// Times are Unix seconds, 0 where the key has not been.
type Slot struct {
	Kid       credentials.KeyID `json:"kid"`
	Role      Role              `json:"role"`
	Alg       envelope.Alg      `json:"alg"`
	State     State             `json:"state"`
	Since     int64             `json:"since"` // entered State
	Created   int64             `json:"created"`
	Published int64             `json:"published,omitzero"`
	Activated int64             `json:"activated,omitzero"`
	Cover     int64             `json:"cover,omitzero"` // seconds to stay retiring: the largest bound in force while active
	Ends      int64             `json:"ends,omitzero"`  // retiring: may leave the key set from then on
	Reason    string            `json:"reason,omitzero"`
}

// A Change records one transition, for the registry's log. It holds no key
// material.
type Change struct {
	Kid    credentials.KeyID `json:"kid"`
	Role   Role              `json:"role"`
	From   State             `json:"from,omitzero"` // "" when the key was made
	To     State             `json:"to"`
	Ver    uint64            `json:"ver"` // of the ring that holds the change
	Reason string            `json:"reason"`
	At     int64             `json:"at"` // Unix seconds
}
