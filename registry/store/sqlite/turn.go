package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/registry/store"
)

// turnPatience is how long an Append queues before it goes ahead without a turn:
// a member that is stopped while it holds the turn must not stop the others.
const turnPatience = 2 * time.Second

// turns is the queue between processes, made of two lock files. Who wants the
// turn first takes the queue lock, waits for the turn with it, then lets the
// queue go. So whoever has just had the turn stands behind the one that
// waits, while with a single lock it would often snatch it again.
type turns struct {
	queue, turn *os.File
	patience    time.Duration

	free chan struct{} // holds a token while this process has not the turn

	mu       sync.Mutex
	explicit bool // the turn is held by Turn: an Append of this process goes in
	inside   int  // Appends that went in that way
	pending  int  // waits that were given up and whose turn is still to come
}

func openTurns(dir string, patience time.Duration) (*turns, error) {
	t := &turns{free: make(chan struct{}, 1), patience: patience}
	var err error
	if t.queue, err = openLock(filepath.Join(dir, "queue.lock")); err != nil {
		return nil, err
	}
	if t.turn, err = openLock(filepath.Join(dir, "turn.lock")); err != nil {
		t.queue.Close()
		return nil, err
	}
	t.free <- struct{}{}
	return t, nil
}

// close leaves the files to a wait that was given up, which would otherwise
// lock a descriptor that is not ours any more.
func (t *turns) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pending == 0 {
		t.queue.Close()
		t.turn.Close()
	}
}

// Turn implements store.Turns.
func (l *Log) Turn(ctx context.Context) (func(), error) {
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	if !l.turns.take(ctx) {
		return nil, fmt.Errorf("%w: turn: %w", store.ErrBusy, ctx.Err())
	}
	l.turns.mu.Lock()
	l.turns.explicit = true
	l.turns.mu.Unlock()
	return sync.OnceFunc(l.turns.leaveExplicit), nil
}

func (t *turns) leaveExplicit() {
	t.mu.Lock()
	t.explicit = false
	last := t.inside == 0
	t.mu.Unlock()
	if last {
		t.give()
	}
}

// enter is Append's turn. It always returns a function to leave with; the
// turn is a hint, so none is no error.
func (t *turns) enter() (leave func()) {
	t.mu.Lock()
	if t.explicit {
		t.inside++
		t.mu.Unlock()
		return t.leaveInside
	}
	stuck := t.pending > 0
	t.mu.Unlock()
	if stuck {
		return func() {}
	}
	if t.tryTake() {
		return t.give
	}
	ctx, cancel := context.WithTimeout(context.Background(), t.patience)
	defer cancel()
	if !t.take(ctx) {
		return func() {}
	}
	return t.give
}

func (t *turns) leaveInside() {
	t.mu.Lock()
	t.inside--
	last := t.inside == 0 && !t.explicit
	t.mu.Unlock()
	if last {
		t.give()
	}
}

// tryTake is the way when nobody else is there: no waiting, no goroutine.
func (t *turns) tryTake() bool {
	select {
	case <-t.free:
	default:
		return false
	}
	if tryLock(t.queue, true) {
		got := tryLock(t.turn, true)
		unlock(t.queue)
		if got {
			return true
		}
	}
	t.free <- struct{}{}
	return false
}

func (t *turns) take(ctx context.Context) bool {
	select {
	case <-t.free:
	case <-ctx.Done():
		return false
	}
	got := make(chan bool, 1)
	go func() { got <- t.wait() }()
	select {
	case ok := <-got:
		if !ok {
			t.free <- struct{}{}
		}
		return ok
	case <-ctx.Done():
	}
	t.mu.Lock()
	t.pending++
	t.mu.Unlock()
	go func() { // give the turn back once it comes
		if <-got {
			unlock(t.turn)
		}
		t.mu.Lock()
		t.pending--
		t.mu.Unlock()
		t.free <- struct{}{}
	}()
	return false
}

// wait blocks a thread in the kernel, whose queue is the fair part.
func (t *turns) wait() bool {
	if waitLock(t.queue) != nil {
		return false
	}
	defer unlock(t.queue)
	return waitLock(t.turn) == nil
}

func (t *turns) give() {
	unlock(t.turn)
	t.free <- struct{}{}
}
