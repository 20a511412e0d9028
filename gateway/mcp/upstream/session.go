package upstream

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// An endpointLink is the link of one session over HTTP.
type endpointLink struct {
	*core
	e        *Endpoint
	cur      *current[session]
	draining atomic.Int32
}

var _ gateway.Link = (*endpointLink)(nil)

// A session is what one handshake began: with an id of the server's, or without.
type session struct {
	head      atomic.Pointer[http.Header] // never changed in place
	id        string                      // set before the session is used
	listening atomic.Bool                 // the GET stream is open
	ctx       context.Context
	cancel    context.CancelCauseFunc
}

// setHead is what requests carry from now on.
func (s *session) setHead(h http.Header) { s.head.Store(&h) }

// begin shakes hands and makes the session the current one.
func (l *endpointLink) begin(ctx context.Context) error {
	l.began()
	ctx, cancel := context.WithTimeoutCause(ctx, l.b.Start, ErrTimeout)
	defer cancel()
	s := &session{}
	s.ctx, s.cancel = context.WithCancelCause(l.ctx)
	version := ""
	if l.modern() {
		version = string(l.hello.Revision)
	}
	s.setHead(l.e.head(version, ""))
	w, err := l.greet(func(method string, params jsontext.Value) (mcp.Frame, error) {
		c, err := l.open(ctx, nil, s, l.b.Start)
		if err != nil {
			return mcp.Frame{}, err
		}
		return l.ask(s, c, mcp.Frame{Method: method, Params: params}, nil)
	})
	if err == nil && !l.modern() {
		s.setHead(l.e.head(string(w.Revision), s.id))
		err = l.tell(ctx, s, mcp.Note(initialized, nil))
	}
	if err != nil {
		s.cancel(err)
		return err
	}
	l.mu.Lock()
	l.welcome = w
	l.mu.Unlock()
	l.cur.set(s)
	ok := true
	if wanted := l.claimed(w); !l.modern() {
		ok = l.spawn(func() { l.hear(s) })
	} else if wanted != nil {
		ok = l.spawn(func() { l.e.feeds.hear(l, wanted) })
	}
	if !ok {
		s.cancel(ErrClosed)
		return ErrClosed
	}
	return nil
}

// lose ends a session that the server does not know any more, and begins another.
func (l *endpointLink) lose(s *session) {
	if !l.cur.drop(s) || l.ctx.Err() != nil {
		return
	}
	l.n.lost.Add(1)
	l.log.Warn("upstream session was lost", "upstream", l.e.name)
	l.sink.Lost(ErrLost)
	s.cancel(ErrLost)
	l.abandon(s, ErrLost)
	l.spawn(func() {
		for l.pause() {
			err := l.begin(l.ctx)
			if err == nil {
				return
			}
			l.log.Warn("upstream session does not begin again", "upstream", l.e.name, "error", err)
		}
	})
}

// sleep waits; false: the ctx is done.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// List asks for one page of a list. Since it changes nothing, it is asked for
// again where the session was lost meanwhile.
func (l *endpointLink) List(ctx context.Context, method string, params []byte) (mcp.Frame, error) {
	if !lists(method) {
		return mcp.Frame{}, both(ErrMethod, ErrUnsent)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, l.b.List, ErrTimeout)
	defer cancel()
	for again := false; ; again = true {
		s := l.cur.get()
		if s == nil {
			if err := l.want(); err != nil {
				return mcp.Frame{}, err
			}
			var err error
			if s, err = l.cur.wait(ctx); err != nil {
				return mcp.Frame{}, both(ErrLost, err)
			}
		}
		c, err := l.open(ctx, nil, s, l.b.List)
		if err != nil {
			return mcp.Frame{}, err
		}
		f, err := l.ask(s, c, mcp.Frame{Method: method, Params: l.meta(params)}, nil)
		if err == nil || again || s.ctx.Err() == nil || ctx.Err() != nil || l.ctx.Err() != nil {
			return f, err
		}
	}
}

// Do carries one request. The session is chosen before the pass is spent: a pass
// that is good now was made for that one.
func (l *endpointLink) Do(ctx context.Context, p gate.Pass, x gateway.Exchange) (mcp.Frame, error) {
	s := l.cur.get()
	if err := p.Spend(x.Frame.Method, x.Frame.Params); err != nil {
		return mcp.Frame{}, both(err, ErrUnsent)
	}
	if x.Frame.Shape != mcp.Request {
		return mcp.Frame{}, both(ErrMethod, ErrUnsent)
	}
	if s == nil || s.ctx.Err() != nil {
		return mcp.Frame{}, both(ErrLost, ErrUnsent)
	}
	c, err := l.open(ctx, &x, s, l.limit(x.Frame.Method))
	if err != nil {
		return mcp.Frame{}, err
	}
	f, err := l.ask(s, c, x.Frame, x.Headers)
	f.Result = l.renamed(f.Result, c)
	return f, err
}

// Notify passes a notification of the agent on.
func (l *endpointLink) Notify(ctx context.Context, f mcp.Frame) error {
	s := l.cur.get()
	switch {
	case f.Shape != mcp.Notification || f.Method == cancelled || f.Method == initialized:
		return both(ErrMethod, ErrUnsent)
	case s == nil:
		return both(ErrLost, ErrUnsent)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, l.b.Write, ErrTimeout)
	defer cancel()
	return l.tell(ctx, s, f)
}

// Close ends the session. Calls that are open are cancelled first: a server may
// wait for them before it lets its session go.
func (l *endpointLink) Close() error {
	s := l.cur.get()
	if !l.shut() {
		return nil
	}
	if s != nil && s.id != "" {
		ctx, cancel := context.WithTimeout(context.Background(), l.b.Grace)
		if resp, err := l.e.send(ctx, http.MethodDelete, s.plain(), nil); err == nil {
			_ = resp.Body.Close()
		}
		cancel()
	}
	l.e.links.forget(l)
	return nil
}
