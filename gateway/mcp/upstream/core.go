package upstream

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
)

// A core is what links of both kinds share: the table of open calls, and who
// takes what the server sends.
type core struct {
	name   string    // of the upstream, for logs
	hello  mcp.Hello // with a revision of its era
	sink   gateway.Sink
	b      *Bounds
	n      *counters
	log    *slog.Logger
	now    func() time.Time
	ctx    context.Context // the link's life
	cancel context.CancelCauseFunc
	late   context.Context // ends a while after that: for what is said on the way out
	end    context.CancelFunc
	slots  chan struct{} // one for each question that is open
	posts  chan struct{} // one for each message that is on its way in the background
	flow   *rate.Limiter // of notifications that go to the sink
	poke   chan struct{} // somebody waits for a connection

	mu      sync.Mutex // holds all below
	closed  bool
	welcome mcp.Welcome
	last    int64 // the newest id
	calls   map[int64]*call
	agents  int                                // of the calls, those that are not our own
	asked   map[mcp.ID]context.CancelCauseFunc // questions that are open
	starts  []time.Time                        // of the last minute
	rests   time.Time                          // no connection is made before
	work    sync.WaitGroup                     // Add only while not closed, or by what it counts
}

// A call is one request that is open.
type call struct {
	id     int64
	x      *gateway.Exchange // nil: one of our own
	on     any               // the connection that it belongs to
	ctx    context.Context   // ends with the call; its cause is the call's error
	cancel context.CancelCauseFunc
	stop   func() bool // lets go of the ctx of whoever asked
	timer  *time.Timer // nil: lasts as long as whoever asked wants it
	until  time.Time   // the end, whatever progress says
	done   chan outcome
	state  atomic.Int32           // waiting, sent or dropped
	taken  atomic.Pointer[func()] // of a subscription: called once the server has taken it

	// On HTTP:
	notes int  // notifications so far
	held  bool // the connection is still being put in order
}

// States of a call on its way to the wire.
const (
	waiting = iota
	sent
	dropped
)

type outcome struct {
	f   mcp.Frame
	err error
}

func newCore(ctx context.Context, name string, hello mcp.Hello, sink gateway.Sink, b *Bounds, n *counters, log *slog.Logger, now func() time.Time) *core {
	if !hello.Revision.Known() {
		hello.Revision = mcp.Latest
	}
	c := &core{
		name: name, hello: hello, sink: sink, b: b, n: n, log: log, now: now,
		slots: make(chan struct{}, b.Questions), posts: make(chan struct{}, b.Questions), poke: make(chan struct{}, 1),
		flow:  rate.NewLimiter(rate.Limit(b.Queue*2), b.Queue*4),
		calls: map[int64]*call{}, asked: map[mcp.ID]context.CancelCauseFunc{},
	}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	c.late, c.end = context.WithCancel(ctx)
	return c
}

func (l *core) modern() bool { return l.hello.Revision.Modern() }

// Welcome is what the server said of itself last.
func (l *core) Welcome() mcp.Welcome {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.welcome
}

// spawn runs f beside the link; Close waits for it. False: the link is closed.
func (l *core) spawn(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.work.Go(f)
	return true
}

// shut ends the link's life and waits until nothing of it runs; false if it had
// ended before.
func (l *core) shut() bool {
	l.mu.Lock()
	was := l.closed
	l.closed = true
	l.mu.Unlock()
	if was {
		return false
	}
	l.cancel(ErrClosed)
	l.abandon(nil, ErrClosed)
	t := time.AfterFunc(l.b.Grace, l.end)
	l.work.Wait()
	t.Stop()
	l.end()
	return true
}

// open adds a call to the table. A limit of 0 is none. Calls of our own do not
// count against the bound, so that lists go on while an agent floods.
func (l *core) open(ctx context.Context, x *gateway.Exchange, on any, limit time.Duration) (*call, error) {
	c := &call{x: x, on: on, done: make(chan outcome, 1)}
	if ctx.Err() != nil {
		return nil, both(ctx.Err(), ErrUnsent)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, both(ErrClosed, ErrUnsent)
	}
	if x != nil {
		if l.agents >= l.b.Open {
			return nil, both(ErrBusy, ErrUnsent)
		}
		l.agents++
	}
	l.last++
	c.id = l.last
	// What the call holds may outlast it a little: a connection that is put back in
	// order does not end with the ctx of somebody who has the answer.
	c.ctx, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	c.stop = context.AfterFunc(ctx, func() { c.cancel(ctx.Err()) })
	if limit > 0 {
		c.until = l.now().Add(l.b.Longest)
		c.timer = time.AfterFunc(limit, func() { c.cancel(ErrTimeout) })
	}
	l.calls[c.id] = c
	l.work.Add(1) // until finish
	return c, nil
}

// finish ends a call, however it came to that. Nothing of it runs afterwards, but
// for a connection that is held.
func (l *core) finish(c *call) {
	l.leave(c)
	if !c.held {
		c.cancel(context.Canceled)
	}
	l.work.Done()
}

// leave takes a call out of the table: no answer is waited for.
func (l *core) leave(c *call) {
	c.stop()
	if c.timer != nil {
		c.timer.Stop()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(c)
}

// forget is leave with mu held.
func (l *core) forget(c *call) {
	if l.calls[c.id] != c {
		return
	}
	delete(l.calls, c.id)
	if c.x != nil {
		l.agents--
	}
}

// extend gives a call that showed progress its time again.
func (l *core) extend(c *call) {
	if c.timer != nil && c.timer.Stop() {
		c.timer.Reset(min(l.b.Call, max(0, c.until.Sub(l.now()))))
	}
}

// settle gives an answer to the call that it is for, if that is open on the
// connection. Everything else is an orphan: an unknown id, one of another
// connection, one that was answered before.
func (l *core) settle(id mcp.ID, on any, o outcome) *call {
	n, ok := number(id)
	if !ok {
		l.n.orphans.Add(1)
		return nil
	}
	l.mu.Lock()
	c := l.calls[n]
	if c == nil || c.on != on {
		l.mu.Unlock()
		l.n.orphans.Add(1)
		return nil
	}
	l.forget(c)
	l.mu.Unlock()
	c.done <- o // holds one, and nobody else finds the call any more
	return c
}

// number is an id of ours. 7.0 and 07 are not what we sent.
func number(id mcp.ID) (int64, bool) {
	n, err := strconv.ParseInt(string(id), 10, 64)
	return n, err == nil && mcp.NumberID(n) == id
}

// abandon ends all calls of a connection that is gone; nil: of all.
func (l *core) abandon(on any, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.calls {
		if on == nil || c.on == on {
			c.cancel(err)
		}
	}
}

// ended is the error of a call whose ctx is done.
func (c *call) ended() error { return context.Cause(c.ctx) }

// answer gives a frame the id that the asker knows.
func (c *call) answer(o outcome) (mcp.Frame, error) {
	if o.err != nil {
		return mcp.Frame{}, o.err
	}
	if c.x != nil {
		o.f.ID = c.x.Frame.ID
	}
	return o.f, nil
}

// frame is a request as it goes out.
func (c *call) frame(f mcp.Frame) mcp.Frame {
	f.Shape, f.ID = mcp.Request, mcp.NumberID(c.id)
	return f
}

// limits is how long a request of an agent may take at first.
func (l *core) limit(method string) time.Duration {
	if method == listen {
		return 0
	}
	return l.b.Call
}

// decode are the bounds of one frame.
func (l *core) decode() mcp.Limits { return mcp.Limits{Bytes: l.b.Frame} }
