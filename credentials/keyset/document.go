package keyset

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
)

// Pins are what a reader of key sets remembers from one document to the next,
// and keeps durably: nothing in them ever goes down.
type Pins struct {
	Iss        string                    `json:"iss,omitzero"` // "" accepts any, once
	Root       credentials.KeyID         `json:"root"`
	Ver        uint64                    `json:"ver,omitzero"`
	Seq        uint64                    `json:"seq,omitzero"`
	Checkpoint credentials.CheckpointRef `json:"checkpoint,omitzero"`
}

// A View is a verified document: what the root says about every key, and how
// fresh that is. It gives keys only for a time at which it is fresh enough.
type View struct {
	pins     Pins
	set      *Set
	entries  map[credentials.KeyID]entry
	fresh    credentials.FreshnessClaims
	expires  int64 // of the list
	maxStale time.Duration
}

type entry struct {
	credentials.KeyEntry
	key envelope.Key
}

// FirstUse reads from a document what one would pin on first use. It verifies
// nothing: whoever records it trusts whoever served the document, this once.
func FirstUse(doc []byte) (Pins, error) {
	d, err := parseDocument(doc)
	if err != nil {
		return Pins{}, err
	}
	u, err := envelope.Precheck(d.list, envelope.KeySet)
	if err != nil {
		return Pins{}, fmt.Errorf("list: %w", err)
	}
	var c credentials.KeySetClaims
	if err := envelope.Claims(envelope.Opened{Payload: u.Payload}, &c); err != nil {
		return Pins{}, fmt.Errorf("list: %w", err)
	}
	return Pins{Iss: c.Iss, Root: u.KeyID}, nil
}

// Open verifies a document against what is pinned: the list of keys by the
// pinned root, or by one that follows from it through changes that old and new
// root both signed; ver, seq and checkpoint not below the pinned ones; and
// freshness at now. maxStale bounds the age of the statement of freshness; 0
// means its own end (15 minutes). A view that is too old is a *StaleError.
func Open(doc []byte, pins Pins, now time.Time, maxStale time.Duration) (*View, error) {
	if pins.Root == "" {
		return nil, ErrNoPin
	}
	d, err := parseDocument(doc)
	if err != nil {
		return nil, err
	}
	v := &View{pins: pins, maxStale: maxStale}
	if v.set, err = d.set(); err != nil {
		return nil, err
	}
	changed, err := d.walk(pins.Root, now)
	if err != nil {
		return nil, err
	}
	if err := v.openList(d.list, changed, now); err != nil {
		return nil, fmt.Errorf("list: %w", err)
	}
	if err := v.compare(); err != nil {
		return nil, err
	}
	if err := v.openFreshness(d, now); err != nil {
		return nil, fmt.Errorf("freshness: %w", err)
	}
	if err := v.Check(now); err != nil {
		return nil, err
	}
	return v, nil
}

// rootStep is where a walk stands: the id of the root and, once a change led
// there, its key and the first list version that it may sign.
type rootStep struct {
	id  credentials.KeyID
	key envelope.Key
	ver uint64
}

// walk follows the changes of the root from the pinned one. Pairs that are about
// earlier roots are passed over.
func (d document) walk(pinned credentials.KeyID, now time.Time) (rootStep, error) {
	at := rootStep{id: pinned}
	if len(d.roots)%2 != 0 || len(d.roots) > 2*maxRootChanges {
		return at, ErrChange
	}
	for pair := range slices.Chunk(d.roots, 2) {
		next, err := step(at, pair[0], pair[1], now)
		if err != nil {
			return at, err
		}
		at = next
	}
	return at, nil
}

func step(at rootStep, byOld, byNew string, now time.Time) (rootStep, error) {
	u, err := envelope.Precheck(byOld, envelope.RootChange)
	if err != nil {
		return at, fmt.Errorf("%w: %w", ErrChange, err)
	}
	if u.KeyID != at.id {
		return at, nil
	}
	var c credentials.RootChangeClaims
	if err := envelope.Claims(envelope.Opened{Payload: u.Payload}, &c); err != nil {
		return at, fmt.Errorf("%w: %w", ErrChange, err)
	}
	if err := errors.Join(c.Check(), c.CheckTime(now, credentials.MaxRootChangeLife)); err != nil {
		return at, fmt.Errorf("%w: %w", ErrChange, err)
	}
	before, errOld := envelope.FromMembers(c.Old)
	after, errNew := envelope.FromMembers(c.New)
	if errOld != nil || errNew != nil || before.ID != at.id {
		return at, ErrChange
	}
	one, errOld := verifyBy(before, envelope.RootChange, byOld)
	two, errNew := verifyBy(after, envelope.RootChange, byNew)
	if errOld != nil || errNew != nil || !bytes.Equal(one.Payload, two.Payload) {
		return at, ErrChange
	}
	return rootStep{id: after.ID, key: after, ver: c.Ver}, nil
}

// verifyBy verifies under this one key.
func verifyBy(key envelope.Key, typ envelope.Type, tok string) (envelope.Opened, error) {
	return NewVerifier(envelope.KeysFunc(func(_ envelope.Type, kid credentials.KeyID) (envelope.Key, error) {
		if kid != key.ID {
			return envelope.Key{}, envelope.ErrUnknownKey
		}
		return key, nil
	})).Verify(typ, tok)
}

func (v *View) openList(tok string, root rootStep, now time.Time) error {
	u, err := envelope.Precheck(tok, envelope.KeySet)
	if err != nil {
		return err
	}
	if u.KeyID != root.id {
		return ErrRoot
	}
	var c credentials.KeySetClaims
	if err := envelope.Claims(envelope.Opened{Payload: u.Payload}, &c); err != nil {
		return err
	}
	if err := c.Check(); err != nil {
		return err
	}
	// The pinned id is a digest of the root key, so its entry may be taken from
	// the list before the list is verified by it.
	v.entries = make(map[credentials.KeyID]entry, len(c.Keys))
	for _, k := range c.Keys {
		key, err := envelope.FromMembers(k.Jwk)
		if err != nil {
			return err
		}
		if key.ID != k.Kid {
			return envelope.ErrKeyIDMismatch
		}
		if string(key.Alg) != k.Alg {
			return envelope.ErrKeyUse
		}
		v.entries[k.Kid] = entry{k, key}
	}
	e, ok := v.entries[root.id]
	if !ok || e.Role != credentials.RoleRoot || !e.State.Verifies() {
		return ErrRoot
	}
	if _, err := verifyBy(e.key, envelope.KeySet, tok); err != nil {
		return err
	}
	return v.acceptList(c, root, now)
}

// acceptList takes over a list whose signature holds.
func (v *View) acceptList(c credentials.KeySetClaims, root rootStep, now time.Time) error {
	if err := c.CheckTime(now, credentials.MaxKeySetLife); err != nil {
		return err
	}
	switch {
	case v.pins.Iss != "" && c.Iss != v.pins.Iss:
		return credentials.ErrIssuer
	case c.Ver < v.pins.Ver || c.Ver < root.ver:
		return ErrRollback
	}
	v.pins.Iss, v.pins.Root, v.pins.Ver = c.Iss, root.id, c.Ver
	v.expires = c.Exp
	return nil
}

// compare holds the plain JWKS against the list: other readers must not be told
// of keys that the root does not vouch for.
func (v *View) compare() error {
	for id, k := range v.set.keys {
		e, ok := v.entries[id]
		switch {
		case !ok:
			return envelope.ErrUnknownKey
		case e.State == credentials.KeyRevoked:
			return envelope.ErrRevokedKey
		case e.Role != k.role:
			return ErrKeyRole
		}
	}
	return nil
}

func (v *View) openFreshness(d document, now time.Time) error {
	o, err := NewVerifier(viewKeys{v, now}).Verify(envelope.Freshness, d.freshness)
	if err != nil {
		return err
	}
	var c credentials.FreshnessClaims
	if err := envelope.Claims(o, &c); err != nil {
		return err
	}
	if err := c.Check(); err != nil {
		return err
	}
	// Whether it has expired is for Check, which knows the bound.
	if err := c.CheckTime(now, credentials.MaxFreshnessLife); err != nil && !errors.Is(err, credentials.ErrExpired) {
		return err
	}
	p := &v.pins
	switch {
	case c.Iss != p.Iss:
		return credentials.ErrIssuer
	case c.Ver != p.Ver || c.List != credentials.KeyListDigest(d.list):
		return ErrFork
	case c.Seq < p.Seq || c.Checkpoint.Size < p.Checkpoint.Size:
		return ErrRollback
	case c.Checkpoint.Size == p.Checkpoint.Size && !p.Checkpoint.Digest.IsZero() && c.Checkpoint != p.Checkpoint:
		return ErrFork
	}
	p.Seq, p.Checkpoint = c.Seq, c.Checkpoint
	v.fresh = c
	return nil
}
