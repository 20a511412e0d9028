package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
)

var stdio = gateway.Via{Way: "stdio"}

// ServeStdio serves the one agent that started this process, one frame a line,
// until it closes its end, or ctx ends: then no new requests are taken, and those
// that are open are cancelled. It also ends, with gateway.ErrClosed, when the
// gateway ends the session: nothing could be answered any more, and clients start
// anew a server that is gone. The goroutine that reads in ends when in does, and
// the one that writes when a write returns. The era is that of the first
// frame that the upstream can answer.
func ServeStdio(ctx context.Context, gw *gateway.Gateway, in io.Reader, out io.Writer, opt Options) error {
	return serveStdio(ctx, real{gw}, in, out, opt)
}

func serveStdio(ctx context.Context, gw backend, in io.Reader, out io.Writer, opt Options) error {
	opt = opt.filled()
	who, err := gw.Launch(opt.Name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &conn{gw: gw, who: who, opt: opt, ctx: ctx, log: logger(opt.Log),
		over: make(chan struct{}), out: newOutbox(out, opt.Limits), open: newOpens(opt.Limits.Open), asked: newQuestions(opt.Limits)}
	read := make(chan error, 1)
	go func() { read <- c.read(in) }()
	select {
	case err = <-read:
		c.await(opt.Limits.Grace)
	case <-c.out.done:
		err = errGone
	case <-c.over:
		err = gateway.ErrClosed
	case <-ctx.Done():
	}
	cancel()
	c.end()
	if err == io.EOF || errors.Is(err, context.Canceled) {
		err = nil
	}
	return err
}

// A conn is an agent on stdio.
type conn struct {
	gw    backend
	who   gateway.Agent
	opt   Options
	ctx   context.Context // of the whole connection
	over  chan struct{}   // closed when the session ended on the gateway's side
	log   *slog.Logger
	out   *outbox
	open  *opens
	asked *questions

	mu      sync.Mutex
	s       session // nil before the first frame that one could be made for
	legacy  bool    // s is of the era of sessions, and ours to close
	rev     mcp.Revision
	stopped bool
}

// await lets open requests end, after the agent closed its end.
func (c *conn) await(grace time.Duration) {
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-c.open.finish():
	case <-c.out.done:
	case <-c.ctx.Done():
	case <-t.C:
	}
}

func (c *conn) end() {
	empty := c.open.finish()
	c.open.abort(errEnding)
	c.asked.end()
	t := time.NewTimer(c.opt.Limits.Grace)
	defer t.Stop()
	select {
	case <-empty: // each has said its last word
	case <-c.out.done:
	case <-t.C:
	}
	c.out.close(errEnding)
	select {
	case <-c.out.done:
	case <-t.C:
	}
	c.mu.Lock()
	s, ours := c.s, c.legacy
	c.stopped = true
	c.mu.Unlock()
	if s != nil && ours {
		if err := s.Close(); err != nil {
			c.log.Debug("serve: closing a session", "err", err)
		}
	}
}

// read reads frames until in ends.
func (c *conn) read(in io.Reader) error {
	lines := mcp.NewLineReader(in, c.opt.Limits.wire())
	for {
		l, err := lines.Read()
		if err != nil {
			return err
		}
		if l.Kind == mcp.Long {
			c.long(l.Seen)
			continue
		}
		c.line(l.Data)
	}
}

// long answers a line beyond the limit: it costs its own request, no other.
func (c *conn) long(seen *mcp.Skimmed) {
	fe := &mcp.FrameError{Code: mcp.CodeInvalidRequest, Err: mcp.ErrSize}
	if seen != nil {
		fe.ID, fe.Shape = seen.ID, seen.Shape
	}
	c.broken(fe)
}

// broken answers what is no frame, if what it would have been has an answer.
func (c *conn) broken(fe *mcp.FrameError) {
	f := mcp.Frame{Shape: fe.Shape, ID: fe.ID}
	switch {
	case answers(fe):
		c.drop(dropped(fe), f)
		c.say(fe.Answer())
	case fe.Shape != mcp.Notification && c.asked.answer(mcp.Fail(fe.ID, fe.Code, fe.Err.Error(), nil)):
		// Whoever asked need not wait for an answer that cannot be read.
	default:
		c.drop(dropBroken, f)
	}
}

// say writes an answer; a frame of no shape is none.
func (c *conn) say(f mcp.Frame) {
	if f.Shape == mcp.NoFrame {
		return
	}
	if err := c.out.must(f); err != nil {
		c.log.Debug("serve: an answer was not written", "err", err)
	}
}

func (c *conn) drop(reason string, f mcp.Frame) {
	c.log.Warn("serve: dropped a frame", "reason", reason, "agent", c.who.ID)
	if s := c.session(); s != nil {
		s.Drop(reason, f)
	}
}

func (c *conn) session() session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.s
}

// Notify and Ask make the connection a gateway.Peer: on stdio there is one way
// back, whatever is open.
func (c *conn) Notify(f mcp.Frame) { c.out.may(f) }

// Ask asks the agent.
func (c *conn) Ask(ctx context.Context, f mcp.Frame) (mcp.Frame, error) {
	return c.asked.ask(ctx, f, c.out.may)
}
