package upstream

import (
	"context"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
)

// feeds are the subscriptions of one endpoint. Its links of the modern era share
// them: a hundred agents cost the server one stream, and us one connection.
type feeds struct {
	e    *Endpoint
	mu   sync.Mutex // holds all below
	open map[string]*feed
}

// A feed is one subscription to changes of lists: a link of its own without a
// handshake, and the sink of that link. What it hears makes the lists of all
// links stale.
type feed struct {
	l *endpointLink

	mu sync.Mutex // holds all below, and while sinks are told: none is after it left
	to map[*core]bool
}

// hear lets a link hear of changes to its end.
func (s *feeds) hear(l *endpointLink, wanted jsontext.Value) {
	key := string(l.hello.Revision) + string(wanted)
	s.mu.Lock()
	f := s.open[key]
	if f == nil {
		f = s.begin(l.hello.Revision, wanted)
		if s.open == nil {
			s.open = map[string]*feed{}
		}
		s.open[key] = f
	}
	f.mu.Lock()
	f.to[l.core] = true
	f.mu.Unlock()
	s.mu.Unlock()

	<-l.ctx.Done()

	s.mu.Lock()
	f.mu.Lock()
	delete(f.to, l.core)
	last := len(f.to) == 0
	f.mu.Unlock()
	if last {
		delete(s.open, key)
	}
	s.mu.Unlock()
	if last {
		f.l.shut()
	}
}

// begin begins a feed.
func (s *feeds) begin(r mcp.Revision, wanted jsontext.Value) *feed {
	f := &feed{to: map[*core]bool{}}
	l := &endpointLink{
		core: newCore(context.Background(), s.e.name, ourselves(r), f, &s.e.o.Bounds, &s.e.n, s.e.o.Log, s.e.o.Now),
		e:    s.e, cur: newCurrent[session](),
	}
	f.l = l
	on := &session{}
	on.ctx, on.cancel = context.WithCancelCause(l.ctx)
	on.setHead(s.e.head(string(r), ""))
	l.spawn(func() {
		ask := func(c *call, q mcp.Frame) (mcp.Frame, error) { return l.ask(on, c, q, nil) }
		l.subscription(on.ctx, on, wanted, ask, func() { f.all(func(c *core) { c.sink.Lost(ErrLost) }) })
	})
	return f
}

// all tells every link.
func (f *feed) all(tell func(*core)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.to {
		tell(c)
	}
}

// Receive implements gateway.Sink: what is no change was not asked for.
func (f *feed) Receive(n mcp.Frame) {
	if !changes(n.Method) {
		f.l.n.dropped.Add(1)
		return
	}
	f.all(func(c *core) { c.sink.Receive(n) })
}

// Ask implements gateway.Sink. Nothing asks in this era.
func (f *feed) Ask(_ context.Context, q mcp.Frame) mcp.Frame {
	return mcp.Fail(q.ID, mcp.CodeMethodNotFound, "this revision has no requests of servers", nil)
}

// Lost implements gateway.Sink. What a break means, subscription says.
func (f *feed) Lost(error) {}
