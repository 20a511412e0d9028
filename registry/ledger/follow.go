package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/pratique-dev/pratique/internal/durable"
)

// Memory keeps the last checkpoint note that somebody has seen. Losing it
// means that the next checkpoint is believed without comparison.
type Memory interface {
	Load(ctx context.Context) ([]byte, error) // nil: none yet
	Save(ctx context.Context, note []byte) error
}

// FileMemory is a Memory in one private file (0600), written crash-safely. A
// file that is loose, foreign or damaged is an error, never "none yet".
type FileMemory string

// Load implements Memory.
func (f FileMemory) Load(context.Context) ([]byte, error) {
	raw, err := durable.ReadPrivate(string(f), MaxNote)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && len(raw) == 0 {
		err = fmt.Errorf("%w: %s is empty", ErrNote, string(f))
	}
	return raw, err
}

// Save implements Memory. Several processes may share the file: a smaller
// checkpoint never replaces a larger one.
func (f FileMemory) Save(ctx context.Context, note []byte) error {
	l, err := durable.Lock(string(f) + ".lock")
	if err != nil {
		return err
	}
	defer l.Unlock()
	old, err := f.Load(ctx)
	if err != nil {
		return err
	}
	if old != nil {
		switch err := advances(old, note); {
		case errors.Is(err, ErrRollback):
			return nil // another process knows more already
		case err != nil:
			return err
		}
	}
	return durable.WriteFile(string(f), note, 0o600)
}

// advances says whether next may follow old as far as their heads alone show:
// ErrRollback if it is smaller, ErrFork if it contradicts it.
func advances(old, next []byte) error {
	oo, oh, err := ParseUnverified(old)
	if err != nil {
		return fmt.Errorf("kept checkpoint: %w", err)
	}
	no, nh, err := ParseUnverified(next)
	switch {
	case err != nil:
		return err
	case oo != no:
		return fmt.Errorf("%w: two origins", ErrFork)
	case nh.Size < oh.Size:
		return fmt.Errorf("%w: from %d to %d", ErrRollback, oh.Size, nh.Size)
	case nh.Size == oh.Size && nh.Root != oh.Root:
		return fmt.Errorf("%w: two roots for size %d", ErrFork, nh.Size)
	}
	return nil
}

// Follower keeps the newest checkpoint of a log and demands that every next
// one extends it. Safe for concurrent use.
type Follower struct {
	c   *Client
	m   Memory
	mu  sync.Mutex // one update at a time
	cur *Checkpoint
}

// NewFollower follows the client's log and remembers in m.
func NewFollower(c *Client, m Memory) *Follower { return &Follower{c: c, m: m} }

// Update fetches the newest checkpoint, verifies that it extends the last one
// and remembers it. ErrRollback and ErrFork are what it exists for: stop
// acting on the log and show both notes (Last) to its operator. On any error
// the last checkpoint stands.
func (f *Follower) Update(ctx context.Context) (Checkpoint, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	last, err := f.last(ctx)
	if err != nil {
		return Checkpoint{}, err
	}
	cp, err := f.c.Checkpoint(ctx)
	if err != nil {
		return Checkpoint{}, err
	}
	if last != nil {
		if err := f.c.Consistency(ctx, *last, cp); err != nil {
			return Checkpoint{}, err
		}
	} else if err := f.check(ctx, cp); err != nil {
		return Checkpoint{}, err
	}
	if err := f.m.Save(ctx, cp.Note); err != nil {
		return Checkpoint{}, fmt.Errorf("ledger: remember checkpoint: %w", err)
	}
	f.cur = &cp
	return cp, nil
}

// check makes sure that a first checkpoint's tiles are really served.
func (f *Follower) check(ctx context.Context, cp Checkpoint) error {
	if cp.Size == 0 {
		return nil
	}
	_, err := f.c.InclusionProof(ctx, cp.Size-1, cp)
	return err
}

// Last is the last checkpoint that was believed; ErrNoCheckpoint if none.
func (f *Follower) Last(ctx context.Context) (Checkpoint, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	last, err := f.last(ctx)
	if err == nil && last == nil {
		err = ErrNoCheckpoint
	}
	if err != nil {
		return Checkpoint{}, err
	}
	return *last, nil
}

// last reads the memory again each time, since other processes may share it.
// Signatures were verified when the note was saved, and are not again: a key
// that has left the policy since must not lock its follower out.
func (f *Follower) last(ctx context.Context) (*Checkpoint, error) {
	raw, err := f.m.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("ledger: last checkpoint: %w", err)
	}
	if raw == nil {
		return f.cur, nil // nil, or the file was removed under us: keep what we know
	}
	origin, h, err := ParseUnverified(raw)
	if err != nil {
		return nil, fmt.Errorf("ledger: last checkpoint: %w", err)
	}
	if origin != f.c.policy.Origin() {
		return nil, fmt.Errorf("ledger: last checkpoint: %w", ErrOrigin)
	}
	if f.cur == nil || h.Size >= f.cur.Size {
		f.cur = &Checkpoint{Origin: origin, Head: h, Note: raw}
	}
	return f.cur, nil
}
