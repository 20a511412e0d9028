package writer

import (
	"context"
	"errors"
	"fmt"

	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/store"
)

// sign makes the checkpoint of a committed head; its row rides in the next
// append, or is written alone when none comes.
func (w *Writer) sign(h ledger.Head) error {
	s, err := w.opt.Checkpoints()
	if err != nil {
		return fmt.Errorf("writer: checkpoint key: %w", err)
	}
	text, err := s.Sign(h)
	if err != nil {
		return err
	}
	w.pending = &store.Note{Size: h.Size, Text: text}
	w.pendingAt = w.opt.Now()
	w.signed = h.Size
	return nil
}

func (w *Writer) flushIdle(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pending == nil || w.opt.Now().Sub(w.pendingAt) < noteDelay {
		return
	}
	if err := w.flushNote(context.WithoutCancel(ctx)); err != nil {
		w.log.Warn("storing a checkpoint", "err", err)
	}
}

// flushNote stores the pending checkpoint on its own. The caller holds mu.
func (w *Writer) flushNote(ctx context.Context) error {
	for w.pending != nil && w.poisoned.Load() == nil {
		h := store.Head(w.tree.Head())
		err := w.opt.Store.Append(ctx, h, h, store.Batch{Notes: []store.Note{*w.pending}})
		switch {
		case err == nil || errors.Is(err, store.ErrNoteExists):
			w.pending = nil
		case errors.Is(err, store.ErrConflict):
			if err := w.catchUp(ctx); err != nil {
				return err
			}
		default:
			return fmt.Errorf("writer: checkpoint row: %w", err)
		}
	}
	return nil
}

// ensureCheckpoint signs the head at the start where no checkpoint covers it.
func (w *Writer) ensureCheckpoint(ctx context.Context) error {
	n, err := w.opt.Store.LatestNote(ctx)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("writer: newest checkpoint: %w", err)
	}
	if err == nil && n.Size > w.tree.Size() { // others wrote since the head was read, or the head is older than it
		if err := w.catchUp(ctx); err != nil {
			return err
		}
		if n.Size > w.tree.Size() {
			return w.fail(fmt.Errorf("checkpoint of size %d beyond the head %d", n.Size, w.tree.Size()))
		}
	}
	h := w.tree.Head()
	if h.Size == 0 || err == nil && n.Size == h.Size {
		return nil
	}
	if err := w.sign(h); err != nil {
		return err
	}
	return w.flushNote(ctx)
}
