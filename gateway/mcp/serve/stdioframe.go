package serve

import (
	"context"
	"sync"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
)

// line takes one line. Requests go on in goroutines of their own, so that the
// next line, which may cancel them or answer their questions, is read.
func (c *conn) line(data []byte) {
	frames, batch, fe := parse(data, c.revision(), c.opt.Limits.wire())
	switch {
	case fe != nil:
		c.broken(fe)
	case batch:
		c.batch(frames)
	case frames[0].Shape == mcp.Request:
		c.request(frames[0], c.say)
	default:
		c.other(frames[0])
	}
}

func (c *conn) revision() mcp.Revision {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rev
}

// batch judges each member on its own. The answers come in one array.
func (c *conn) batch(frames []mcp.Frame) {
	b := &batch{}
	for _, f := range frames {
		switch {
		case f.Shape == mcp.NoFrame:
			c.drop(dropBroken, f)
			b.add(mcp.Frame{Shape: mcp.Failure, ID: f.ID, Error: f.Error})
		case f.Shape != mcp.Request:
			c.other(f)
		case f.Method == methodInitialize:
			b.add(mcp.Fail(f.ID, mcp.CodeInvalidRequest, "initialize must not be part of a batch", nil))
		default:
			b.wait.Add(1)
			c.request(f, func(a mcp.Frame) { b.add(a); b.wait.Done() })
		}
	}
	go func() {
		b.wait.Wait()
		if text := b.text(); text != nil && c.out.raw(text) != nil {
			c.log.Debug("serve: the answers to a batch were not written")
		}
	}()
}

// A batch collects the answers to one.
type batch struct {
	wait sync.WaitGroup
	mu   sync.Mutex
	out  []byte
}

func (b *batch) add(f mcp.Frame) {
	if f.Shape == mcp.NoFrame {
		return // cancelled: no answer
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.out == nil {
		b.out = append(b.out, '[')
	} else {
		b.out = append(b.out, ',')
	}
	b.out = f.Append(b.out)
}

// text is the array of answers; nil if there are none.
func (b *batch) text() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.out == nil {
		return nil
	}
	return append(b.out, ']')
}

// other takes a frame that is no request.
func (c *conn) other(f mcp.Frame) {
	what, reason := sort(f)
	s := c.session()
	switch {
	case what == toCancel:
		c.open.cancel(cancelled(f)) // else it is answered already, or was never asked
	case what == toAnswer && c.asked.answer(f):
	case what == toNotice && s != nil:
		ctx, cancel := context.WithTimeout(c.ctx, c.opt.Limits.Write)
		s.Notice(ctx, f)
		cancel()
	case what == toNotice:
		c.log.Debug("serve: a notification before any session")
	default:
		c.drop(reason, f)
	}
}

// request takes a request and answers it once, or not at all if the agent
// cancelled it: then the answer is a frame of no shape.
func (c *conn) request(f mcp.Frame, answer func(mcp.Frame)) {
	c.mu.Lock()
	s, ours := c.s, c.legacy
	c.mu.Unlock()
	if f.Method == methodInitialize && (s == nil || ours) {
		answer(c.initialize(f, s))
		return
	}
	ctx, open, err := c.open.begin(c.ctx, f)
	if err != nil {
		a, reason := refusal(f.ID, err)
		c.drop(reason, f)
		answer(a)
		return
	}
	go func() {
		defer open.end()
		a := c.handle(ctx, s, f)
		open.answered()
		if context.Cause(ctx) == errCancelled {
			a = mcp.Frame{}
		}
		answer(a)
	}()
}

// initialize opens the session. Nothing else is read while it does.
func (c *conn) initialize(f mcp.Frame, s session) mcp.Frame {
	if s != nil {
		return mcp.Fail(f.ID, mcp.CodeInvalidRequest, "this connection is initialized already", nil)
	}
	hello, err := mcp.ParseHello(f.Params)
	if err != nil {
		return mcp.Fail(f.ID, mcp.CodeInvalidParams, "params of initialize lack what the revision demands", nil)
	}
	s, err = c.gw.Open(c.ctx, c.who, hello, c, stdio)
	if err != nil {
		a, _ := unopened(f, hello.Revision, false, err)
		return a
	}
	w := s.Welcome()
	c.mu.Lock()
	c.s, c.legacy, c.rev = s, true, w.Revision
	c.mu.Unlock()
	go func() {
		select {
		case <-s.Done():
			close(c.over)
		case <-c.ctx.Done():
		}
	}()
	return mcp.Answer(f.ID, w.Result())
}

// handle answers a request. s is the connection's session as it came; nil: none yet.
func (c *conn) handle(ctx context.Context, s session, f mcp.Frame) mcp.Frame {
	c.mu.Lock()
	old := c.legacy
	c.mu.Unlock()
	switch {
	case s != nil && old:
		return s.Handle(ctx, f, c)
	case s == nil && f.Method == methodPing && !stateless(f):
		return mcp.Answer(f.ID, mcp.Object())
	case s == nil && !stateless(f) && f.Method != methodDiscover:
		return mcp.Fail(f.ID, mcp.CodeInvalidRequest, "initialize comes first", nil)
	}
	hello, bad := helloOf(f)
	if bad != nil {
		return *bad
	}
	s, err := c.gw.Stateless(ctx, c.who, hello, stdio)
	if err != nil {
		a, _ := unopened(f, hello.Revision, true, err)
		return a
	}
	c.mu.Lock()
	if c.s == nil || !c.legacy {
		c.s, c.rev = s, hello.Revision
	}
	c.mu.Unlock()
	return s.Handle(ctx, f, mute{c})
}

// A mute peer is that of a stateless request: questions travel in results.
type mute struct{ c *conn }

func (m mute) Notify(f mcp.Frame) { m.c.Notify(f) }

func (m mute) Ask(context.Context, mcp.Frame) (mcp.Frame, error) {
	return mcp.Frame{}, gateway.ErrNoQuestions
}
