package upstream

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// A processLink is the link of one session: one process at a time.
type processLink struct {
	*core
	p   *Process
	cur *current[pipe]
}

var _ gateway.Link = (*processLink)(nil)

// begin starts a process, shakes hands and makes it the current one.
func (l *processLink) begin(ctx context.Context) error {
	l.began()
	ctx, cancel := context.WithTimeout(ctx, l.b.Start)
	defer cancel()
	ch, err := l.p.start(ctx)
	if err != nil {
		return err
	}
	pp := newPipe(l, ch)
	stop := context.AfterFunc(pp.ctx, func() { l.abandon(pp, ErrLost) })
	w, err := l.greet(func(method string, params jsontext.Value) (mcp.Frame, error) {
		c, err := l.open(ctx, nil, pp, l.b.Start)
		if err != nil {
			return mcp.Frame{}, err
		}
		return pp.ask(c, mcp.Frame{Method: method, Params: params})
	})
	stop()
	if err != nil {
		pp.close(err)
		return err
	}
	if !l.modern() {
		pp.say(mcp.Note(initialized, nil))
	}
	l.mu.Lock()
	l.welcome = w
	l.mu.Unlock()
	l.cur.set(pp)
	if wanted := l.claimed(w); wanted != nil {
		l.spawn(func() { l.subscribe(pp, wanted) })
	}
	if !l.spawn(func() { l.watch(pp) }) {
		pp.close(ErrClosed)
		return ErrClosed
	}
	return nil
}

// subscribe keeps a subscription to changes of lists open for as long as the
// process lives.
func (l *processLink) subscribe(pp *pipe, wanted jsontext.Value) {
	l.subscription(pp.ctx, pp, wanted, func(c *call, f mcp.Frame) (mcp.Frame, error) { return pp.ask(c, f) }, func() { l.sink.Lost(ErrLost) })
}

// watch waits for the end of a process, tells what that means, and starts
// another one.
func (l *processLink) watch(pp *pipe) {
	<-pp.ctx.Done()
	l.cur.drop(pp)
	select { // what it wrote before its end is taken first: an answer is an answer
	case <-pp.heard:
	case <-time.After(time.Second):
	}
	if l.ctx.Err() != nil {
		<-pp.done
		return
	}
	l.n.lost.Add(1)
	l.log.Warn("upstream process ended", "upstream", l.p.name)
	l.sink.Lost(ErrLost)
	l.abandon(pp, ErrLost)
	<-pp.done // never two at one time
	for l.pause() {
		err := l.begin(l.ctx)
		if err == nil {
			return
		}
		l.log.Warn("upstream process does not start again", "upstream", l.p.name, "error", err)
	}
}

// List asks for one page of a list. It waits for a process that is starting.
func (l *processLink) List(ctx context.Context, method string, params []byte) (mcp.Frame, error) {
	if !lists(method) {
		return mcp.Frame{}, both(ErrMethod, ErrUnsent)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, l.b.List, ErrTimeout)
	defer cancel()
	pp := l.cur.get()
	if pp == nil {
		if err := l.want(); err != nil {
			return mcp.Frame{}, err
		}
		var err error
		if pp, err = l.cur.wait(ctx); err != nil {
			return mcp.Frame{}, both(ErrLost, err)
		}
	}
	c, err := l.open(ctx, nil, pp, l.b.List)
	if err != nil {
		return mcp.Frame{}, err
	}
	return pp.ask(c, mcp.Frame{Method: method, Params: l.meta(params)})
}

// Do carries one request. The connection is chosen before the pass is spent: a
// pass that is good now was made for that one.
func (l *processLink) Do(ctx context.Context, p gate.Pass, x gateway.Exchange) (mcp.Frame, error) {
	pp := l.cur.get()
	if err := p.Spend(x.Frame.Method, x.Frame.Params); err != nil {
		return mcp.Frame{}, both(err, ErrUnsent)
	}
	if x.Frame.Shape != mcp.Request {
		return mcp.Frame{}, both(ErrMethod, ErrUnsent)
	}
	if pp == nil || pp.ctx.Err() != nil {
		return mcp.Frame{}, both(ErrLost, ErrUnsent)
	}
	c, err := l.open(ctx, &x, pp, l.limit(x.Frame.Method))
	if err != nil {
		return mcp.Frame{}, err
	}
	f, err := pp.ask(c, x.Frame)
	f.Result = l.renamed(f.Result, c)
	return f, err
}

// Notify passes a notification of the agent on.
func (l *processLink) Notify(ctx context.Context, f mcp.Frame) error {
	pp := l.cur.get()
	switch {
	case f.Shape != mcp.Notification || f.Method == cancelled || f.Method == initialized:
		return both(ErrMethod, ErrUnsent)
	case pp == nil:
		return both(ErrLost, ErrUnsent)
	}
	select {
	case pp.out <- outgoing{line: append(f.Bytes(), '\n')}:
		return nil
	case <-pp.ctx.Done():
		return both(ErrLost, ErrUnsent)
	case <-ctx.Done():
		return both(ctx.Err(), ErrUnsent)
	}
}

// Close ends the process: by closing its stdin, then by signals.
func (l *processLink) Close() error {
	if l.shut() {
		l.p.links.forget(l)
	}
	return nil
}

// batches tells whether the server may write arrays.
func (l *processLink) batches() bool { return l.Welcome().Revision.Batches() }

// cancellation tells a server that nobody waits for the call.
func cancellation(c *call) mcp.Frame {
	return mcp.Note(cancelled, jsontext.Value(fmt.Sprintf(`{"requestId":%d}`, c.id)))
}
