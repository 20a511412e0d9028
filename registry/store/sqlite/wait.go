package sqlite

import (
	"context"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/registry/store"
)

// watch wakes waiters: at once for appends of this process, by polling for
// those of others. It polls only while somebody waits.
type watch struct {
	l *Log

	mu      sync.Mutex
	size    uint64        // the longest log seen
	changed chan struct{} // closed and replaced at each change
	waiting int
	polling bool
	closed  bool
}

func (w *watch) init(l *Log) {
	w.l = l
	w.changed = make(chan struct{})
}

// saw records that the log has grown to size.
func (w *watch) saw(size uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if size > w.size {
		w.size = size
		w.wake()
	}
}

// wake needs mu.
func (w *watch) wake() {
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *watch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed && w.changed != nil {
		w.closed = true
		w.wake()
	}
}

// Wait implements store.Store.
func (l *Log) Wait(ctx context.Context, size uint64) error {
	if err := l.usable(ctx); err != nil {
		return err
	}
	w := &l.watch
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return store.ErrClosed
	}
	if w.size > size {
		w.mu.Unlock()
		return nil
	}
	changed := w.changed
	w.waiting++
	if !w.polling {
		w.polling = true
		go w.poll()
	}
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.waiting--
		w.mu.Unlock()
	}()
	select {
	case <-changed:
		if l.closed.Load() {
			return store.ErrClosed
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *watch) poll() {
	t := time.NewTicker(w.l.opt.Poll)
	defer t.Stop()
	for range t.C {
		w.mu.Lock()
		if w.waiting == 0 || w.closed {
			w.polling = false
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
		h, err := w.l.Head(context.Background())
		if err == nil {
			w.saw(h.Size)
		} else if !gone(err) { // let the waiters meet the error themselves
			w.mu.Lock()
			w.wake()
			w.mu.Unlock()
		}
	}
}
