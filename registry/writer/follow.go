package writer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/store"
)

// foldChunk is how many entries are read and folded in one transaction.
const foldChunk = 4096

// follow keeps the view fresh: it renews the lease, asks for the head, and
// folds what others wrote.
func (w *Writer) follow(ctx context.Context) {
	for ctx.Err() == nil && w.poisoned.Load() == nil {
		wait, cancel := context.WithTimeout(ctx, heartbeat)
		err := w.opt.Store.Wait(wait, w.size())
		cancel()
		if ctx.Err() != nil {
			return
		}
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			w.log.Warn("waiting for the log", "err", err)
			pause(ctx, heartbeat)
		}
		w.mu.Lock()
		if err := w.catchUp(ctx); err != nil && ctx.Err() == nil {
			w.log.Warn("following the log", "err", err)
		}
		w.mu.Unlock()
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func (w *Writer) size() uint64 {
	if s := w.snap.Load(); s != nil {
		return s.Head.Size
	}
	return 0
}

// catchUp renews the lease where it is due, asks for the head, folds up to it
// and holds the root against it. The order lease, head, fold is what makes a
// revocation's wait sound (store.Leases). The caller holds mu.
func (w *Writer) catchUp(ctx context.Context) error {
	if p := w.poisoned.Load(); p != nil {
		return p.err
	}
	if err := w.renewLease(ctx); err != nil {
		return err
	}
	asked := w.opt.Now()
	h, err := w.opt.Store.Head(ctx)
	if err != nil {
		if errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrGap) {
			return w.fail(err)
		}
		return fmt.Errorf("writer: head: %w", err)
	}
	head := ledger.Head(h)
	grew := head.Size > w.tree.Size()
	if err := w.foldTo(ctx, head); err != nil {
		return err
	}
	if err := w.publish(asked); err != nil {
		return err
	}
	if grew {
		w.tell(ctx)
	}
	return nil
}

// tell puts the size that is published now into the lease, which stays as long
// as it was: whoever waits for a revocation to be seen need not wait for the
// lease's next renewal.
func (w *Writer) tell(ctx context.Context) {
	if w.leases == nil || !w.leased.After(w.opt.Now()) {
		return
	}
	if err := w.leases.Lease(ctx, w.id, w.tree.Size(), w.leased); err != nil {
		w.log.Warn("telling how far the view is", "err", err)
	}
}

// renewLease writes the lease when less than half of it is left.
func (w *Writer) renewLease(ctx context.Context) error {
	if w.leases == nil || w.leased.Sub(w.opt.Now()) > w.opt.MaxStale/2 {
		return nil
	}
	return w.lease(ctx, w.tree.Size())
}

func (w *Writer) lease(ctx context.Context, applied uint64) error {
	until := w.opt.Now().Add(w.opt.MaxStale)
	if err := w.leases.Lease(ctx, w.id, applied, until); err != nil {
		return fmt.Errorf("writer: lease: %w", err)
	}
	w.leased = until
	return nil
}

// foldTo folds the log up to a head that the store gave.
func (w *Writer) foldTo(ctx context.Context, head ledger.Head) error {
	at := w.tree.Size()
	if head.Size < at {
		return w.fail(fmt.Errorf("log went backwards: view at %d, head at %d", at, head.Size))
	}
	for at < head.Size {
		entries, err := w.opt.Store.Read(ctx, at, int(min(head.Size-at, foldChunk)))
		if errors.Is(err, store.ErrGap) || errors.Is(err, store.ErrCorrupt) {
			return w.fail(err)
		}
		if err != nil {
			return fmt.Errorf("writer: read: %w", err)
		}
		if len(entries) == 0 {
			return w.fail(fmt.Errorf("entry %d is missing below the head %d", at, head.Size))
		}
		if err := w.fold(at, entries, head); err != nil {
			return err
		}
		at += uint64(len(entries))
	}
	if got := w.tree.Head(); got != head {
		return w.fail(fmt.Errorf("log forked at size %d: other root than this process has seen", head.Size))
	}
	return nil
}

// fold applies entries from index on. Where they reach the head, the root must
// be the head's before anything of them is shown.
func (w *Writer) fold(index uint64, entries [][]byte, head ledger.Head) error {
	tree := w.tree.Clone()
	tx := w.db.Write()
	at := w.lastAt
	for i, b := range entries {
		e, err := registry.ParseEvent(b)
		if err == nil {
			err = tx.Apply(index+uint64(i), &e)
		}
		if err == nil {
			err = tree.Append(b)
		}
		if err != nil {
			tx.Abort()
			return w.fail(fmt.Errorf("entry %d: %w", index+uint64(i), err))
		}
		at = max(at, e.At)
	}
	if tree.Size() == head.Size && tree.Head() != head {
		tx.Abort()
		return w.fail(fmt.Errorf("root of the entries up to %d is not the head's", head.Size))
	}
	if err := tx.Commit(); err != nil {
		return w.fail(err)
	}
	w.tree, w.lastAt = tree, at
	return nil
}

// settle waits until no other process can still act on a view older than size
// entries, or for as long as a view may live at all. The caller does not hold
// mu.
func (w *Writer) settle(ctx context.Context, size uint64) {
	if w.leases == nil {
		return
	}
	end := w.opt.Now().Add(w.opt.MaxStale + heartbeat)
	for {
		now := w.opt.Now()
		n, err := w.leases.Lagging(ctx, size, now)
		if err == nil && n > 0 {
			n, err = w.othersLagging(ctx, size, now)
		}
		if err == nil && n == 0 || now.After(end) {
			return
		}
		if err != nil {
			w.log.Warn("asking who still acts on an older view", "err", err)
		}
		pause(ctx, 5*time.Millisecond)
		if ctx.Err() != nil {
			return
		}
	}
}

// othersLagging takes this process's own lease out of the count: alone, it
// needs no write to know that it is up to date.
func (w *Writer) othersLagging(ctx context.Context, size uint64, now time.Time) (int, error) {
	all, err := w.leases.Lagging(ctx, math.MaxInt64, now)
	if err != nil {
		return 0, err
	}
	w.mu.Lock()
	mine := w.leased.After(now)
	w.mu.Unlock()
	if all == 1 && mine {
		return 0, nil
	}
	w.mu.Lock()
	err = w.lease(ctx, w.tree.Size())
	w.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return w.leases.Lagging(ctx, size, now)
}
