package ledger

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
)

// Errors of what a log shows over time.
var (
	// ErrRollback says that a log is shorter than it was known to be.
	ErrRollback = errors.New("ledger: log went backwards")
	// ErrFork says that a log contradicts what it was known to be.
	ErrFork = errors.New("ledger: log contradicts an earlier checkpoint")
	// ErrNoCheckpoint says that there is no checkpoint yet, or no copy.
	ErrNoCheckpoint = errors.New("ledger: no checkpoint")
)

// Board holds the newest published checkpoint of one log, for whoever serves
// it. It only moves forward. The zero Board has none. Safe for concurrent use.
type Board struct {
	now atomic.Pointer[posted]
}

type posted struct {
	origin string
	head   Head
	raw    []byte
}

// Publish posts a checkpoint note that is committed in the store. An older one
// than the posted is ErrRollback, another root for the same size or another
// origin ErrFork; the same head again replaces the note (with cosignatures).
func (b *Board) Publish(raw []byte) error {
	origin, h, err := ParseUnverified(raw)
	if err != nil {
		return err
	}
	next := &posted{origin: origin, head: h, raw: slices.Clone(raw)}
	for {
		cur := b.now.Load()
		if cur != nil {
			switch {
			case cur.origin != origin:
				return fmt.Errorf("%w: other origin", ErrFork)
			case h.Size < cur.head.Size:
				return fmt.Errorf("%w: from %d to %d", ErrRollback, cur.head.Size, h.Size)
			case h.Size == cur.head.Size && h.Root != cur.head.Root:
				return fmt.Errorf("%w: two roots for size %d", ErrFork, h.Size)
			}
		}
		if b.now.CompareAndSwap(cur, next) {
			return nil
		}
	}
}

// Latest returns the posted note and its head; ok is false before the first.
func (b *Board) Latest() (raw []byte, h Head, ok bool) {
	p := b.now.Load()
	if p == nil {
		return nil, Head{}, false
	}
	return p.raw, p.head, true
}
