package warden

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pratique-dev/pratique/quarantine/warden/internal/jail"
)

var errClosed = errors.New("warden: closed")

// Pauses between starts, so that what fails at once does not spin.
const (
	pauseMin   = 20 * time.Millisecond
	pauseStart = 5 * time.Second // at most, after starts that failed
	pauseCrash = time.Second     // at most, after children that were lost
	freely     = 3               // losses in a row that are made good at once
)

// A pool keeps children: some idle, some out, some about to be started. One is
// always there or coming, more only when they are wanted.
type pool struct {
	starter *starter
	level   atomic.Pointer[jail.Level]
	out     sync.WaitGroup // children handed out, and starts

	mu     sync.Mutex // owns what follows
	max    int
	idle   []*cell // the last one in is the first out: its memory is warm
	all    map[*cell]bool
	queue  queue // who waits, and who has what is out
	coming int   // starts that are decided on
	starts uint64
	failed error     // of the last start
	fails  int       // failed starts in a row
	losses int       // children lost without a report between
	until  time.Time // no start before
	closed bool
}

// A handed is what somebody who waits gets.
type handed struct {
	c   *cell
	err error
}

func newPool(most int, s *starter) *pool {
	return &pool{starter: s, max: most, all: map[*cell]bool{}, queue: newQueue(most)}
}

// warm starts the first child.
func (p *pool) warm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.want()
}

// get waits for a child. Where none is there and none can be started now, or too
// many of the origin wait, it fails at once.
func (p *pool) get(ctx context.Context, want claim) (*cell, error) {
	p.mu.Lock()
	if p.queue.may(want, time.Now()) {
		if c := p.ready(); c != nil {
			p.give(c, want)
			p.mu.Unlock()
			return c, nil
		}
	}
	t, err := p.wait(want)
	p.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case h := <-t.got:
		return h.c, h.err
	case <-ctx.Done():
		p.leave(t)
		return nil, ctx.Err()
	}
}

func (p *pool) wait(want claim) (*turn, error) {
	if p.closed {
		return nil, errClosed
	}
	if err := p.down(); err != nil {
		return nil, err
	}
	t, err := p.queue.add(want)
	if err == nil {
		p.want()
	}
	return t, err
}

// ready takes an idle child that is alive.
func (p *pool) ready() *cell {
	for !p.closed && len(p.idle) > 0 {
		last := len(p.idle) - 1
		c := p.idle[last]
		p.idle = p.idle[:last]
		if !c.ended() {
			return c
		}
		delete(p.all, c)
		c.end()
	}
	return nil
}

// give notes that a child is out, and what for.
func (p *pool) give(c *cell, to claim) {
	p.out.Add(1)
	c.claim = to
	p.queue.take(to, time.Now())
}

// serve gives idle children to those whose turn it is.
func (p *pool) serve() {
	for p.queue.count > 0 {
		c := p.ready()
		if c == nil {
			p.want()
			return
		}
		t := p.queue.next(time.Now())
		if t == nil {
			p.idle = append(p.idle, c)
			return
		}
		p.give(c, t.claim)
		t.got <- handed{c: c}
	}
}

// down says why there is nothing to wait for.
func (p *pool) down() error {
	if len(p.all) == 0 && p.failed != nil && time.Now().Before(p.until) {
		return p.failed
	}
	return nil
}

// leave gives a place in the queue up, and what came to it meanwhile back.
func (p *pool) leave(t *turn) {
	p.mu.Lock()
	p.queue.remove(t)
	p.serve() // others may have what was kept for it
	p.mu.Unlock()
	select {
	case h := <-t.got:
		if h.c != nil {
			p.put(h.c)
		}
	default:
	}
}

// want starts a child where one is missing: one is always there, and one more for
// each that waits, up to the most.
func (p *pool) want() {
	for !p.closed && len(p.all)+p.coming < p.max && (len(p.all)+p.coming == 0 || p.coming < p.queue.count) {
		p.coming++
		if d := time.Until(p.until); d > 0 {
			time.AfterFunc(d, p.grow)
		} else {
			go p.grow()
		}
	}
}

// grow starts one child.
func (p *pool) grow() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.out.Add(1)
	defer p.out.Done()
	p.mu.Unlock()
	c, level, err := p.starter.start()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.coming--
	if err != nil {
		p.failed, p.fails = err, p.fails+1
		p.until = time.Now().Add(pause(p.fails, pauseStart))
		if len(p.all)+p.coming == 0 {
			p.queue.refuse(err)
		}
		return
	}
	p.starts++
	if p.closed {
		c.end()
		return
	}
	p.failed, p.fails = nil, 0
	p.level.Store(&level)
	p.all[c] = true
	p.idle = append(p.idle, c)
	p.serve()
}

func pause(n int, most time.Duration) time.Duration {
	return min(pauseMin<<min(n-1, 20), most)
}

// put takes a child back that has done its work.
func (p *pool) put(c *cell) {
	defer p.out.Done()
	p.mu.Lock()
	p.losses = 0
	p.queue.free(c.claim)
	spent := p.closed || c.spent()
	if spent {
		delete(p.all, c)
		p.want()
	} else {
		p.idle = append(p.idle, c)
		p.serve()
	}
	p.mu.Unlock()
	if spent {
		c.end()
	}
}

// drop takes note of a child that is lost and has ended. It tells whether that
// was ours to do.
func (p *pool) drop(c *cell) (closed bool) {
	defer p.out.Done()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, c)
	p.queue.free(c.claim)
	if p.losses++; p.losses > freely {
		p.until = time.Now().Add(pause(p.losses-freely, pauseCrash))
	}
	p.want()
	p.serve()
	return p.closed
}

// fault is why there is no child and none is coming.
func (p *pool) fault() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errClosed
	}
	if len(p.all) == 0 {
		return p.failed
	}
	return nil
}

func (p *pool) counts() (starts uint64, live int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.starts, len(p.all)
}

// close ends all children and waits until nothing of the pool is left.
func (p *pool) close() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.closed = true
	p.starter.cancel()
	p.queue.refuse(errClosed)
	for _, c := range p.idle {
		delete(p.all, c)
		c.end()
	}
	p.idle = nil
	for c := range p.all {
		c.kill() // whoever has it takes it out
	}
	p.mu.Unlock()
	p.out.Wait()
	p.starter.close()
}
