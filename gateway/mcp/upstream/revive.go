package upstream

import (
	"context"
	"sync"
	"time"
)

// A current is the connection that a link has now, or has not.
type current[C any] struct {
	mu sync.Mutex
	c  *C
	up chan struct{} // closed while there is one
}

func newCurrent[C any]() *current[C] { return &current[C]{up: make(chan struct{})} }

// get is the connection; nil: none.
func (u *current[C]) get() *C {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.c
}

func (u *current[C]) set(c *C) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.c = c
	close(u.up)
}

// drop takes the connection away; false if it is not the one that there is.
func (u *current[C]) drop(c *C) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if c == nil || u.c != c {
		return false
	}
	u.c, u.up = nil, make(chan struct{})
	return true
}

// wait is the connection, as soon as there is one.
func (u *current[C]) wait(ctx context.Context) (*C, error) {
	for {
		u.mu.Lock()
		c, up := u.c, u.up
		u.mu.Unlock()
		if c != nil {
			return c, nil
		}
		select {
		case <-up:
		case <-ctx.Done():
			return nil, both(ctx.Err(), ErrUnsent)
		}
	}
}

// began notes that a connection is being made.
func (l *core) began() {
	l.n.starts.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.starts = append(l.starts, l.now())
}

// pause waits before a connection is made again: a while that doubles with each
// one of the last minute, and beyond their bound until the minute is over and
// somebody wants it. False: the link is closed.
func (l *core) pause() bool {
	l.mu.Lock()
	now := l.now()
	for len(l.starts) > 0 && now.Sub(l.starts[0]) >= time.Minute {
		l.starts = l.starts[1:]
	}
	n := len(l.starts)
	wait, tired := l.b.Backoff<<min(max(n-1, 0), 6), n > l.b.Restarts
	if tired {
		wait = l.starts[0].Add(time.Minute).Sub(now)
	}
	l.rests = now.Add(wait)
	l.mu.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.ctx.Done():
		return false
	}
	if !tired {
		return true
	}
	select {
	case <-l.poke:
		return true
	case <-l.ctx.Done():
		return false
	}
}

// want says that somebody waits for a connection. It is ErrLost while so many
// were made that none will be made soon.
func (l *core) want() error {
	l.mu.Lock()
	long := l.rests.Sub(l.now()) > 10*time.Second
	l.mu.Unlock()
	if long {
		return both(ErrLost, ErrUnsent)
	}
	select {
	case l.poke <- struct{}{}:
	default:
	}
	return nil
}
