package sqlite

import (
	"sync"
	"sync/atomic"

	"github.com/pratique-dev/pratique/registry/store"
)

// checkpointer moves the write-ahead log into the database beside the
// commits. Only the few frames that were written meanwhile are moved while
// writers wait; then the next commit starts the log over, and overwriting the
// same few megabytes syncs in half the time that growing a file takes.
type checkpointer struct {
	l      *Log
	mu     sync.Mutex // guards c
	c      *conn      // also what keeps the database open when the writer drops its connection
	frames atomic.Int64
	wake   chan struct{}
	quit   chan struct{}
	done   chan struct{}
}

func (k *checkpointer) init(l *Log, c *conn) {
	k.l, k.c = l, c
	k.wake, k.quit, k.done = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	go k.run()
}

// wrote adds a batch's estimated frames: its pages, and those of the tree
// above them.
func (k *checkpointer) wrote(b store.Batch) {
	bytes, frames := 0, 3
	for _, e := range b.Entries {
		bytes += len(e)
	}
	for _, c := range b.Content {
		bytes += len(c.Data)
		frames += 2
	}
	frames += len(b.Notes) + bytes/3500
	if k.frames.Add(int64(frames)) < int64(k.l.opt.frames) {
		return
	}
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

func (k *checkpointer) run() {
	defer close(k.done)
	for {
		select {
		case <-k.wake:
			k.move()
		case <-k.quit:
			return
		}
	}
}

// move reports no errors: nothing is lost while the write-ahead log stays,
// and the next round copies and syncs the same pages again. A disk that is
// full shows at the next Append.
func (k *checkpointer) move() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.frames.Store(0)
	log, _, err := walCopy(k.c, "PASSIVE")
	if err != nil || log < int64(k.l.opt.frames)/2 { // our estimate was high, or another process was here
		return
	}
	k.l.inTurn(func() error {
		if !k.l.closed.Load() {
			walCopy(k.c, "PASSIVE")
		}
		return nil
	})
}

func (k *checkpointer) stop() error {
	if k.c == nil {
		return nil
	}
	close(k.quit)
	<-k.done
	return k.c.close()
}
