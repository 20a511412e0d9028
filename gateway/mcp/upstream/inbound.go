package upstream

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
)

// Methods that links know themselves.
const (
	listen       = "subscriptions/listen"
	acknowledged = "notifications/subscriptions/acknowledged"
	progress     = "notifications/progress"
	cancelled    = "notifications/cancelled"
	initialized  = "notifications/initialized"
)

var errWithdrawn = errors.New("upstream: the question was withdrawn")

// changes tells whether a notification says that a list changed. One is never
// dropped: it shuts the gate.
func changes(method string) bool {
	switch method {
	case "notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed":
		return true
	}
	return false
}

// toSink passes a notification that belongs to no exchange.
func (l *core) toSink(f mcp.Frame) {
	if !changes(f.Method) && !l.flow.AllowN(l.now(), 1) {
		l.n.dropped.Add(1)
		return
	}
	l.sink.Receive(f)
}

// notified takes a notification from a connection that all calls share.
func (l *core) notified(f mcp.Frame, on any) {
	switch {
	case f.Method == cancelled:
		l.withdraw(f, on)
	case f.Method == progress:
		token, _ := mcp.Get(f.Params, "progressToken")
		if c := l.byToken(token, on); c != nil {
			l.extend(c)
			l.deliver(f, c)
		} else {
			l.n.dropped.Add(1)
		}
	case changes(f.Method):
		l.toSink(f)
	default:
		if id, ok := mcp.Get(f.Params, "_meta", mcp.MetaSubscription); ok && l.modern() {
			l.subscribed(f, id, on)
			return
		}
		l.toSink(f)
	}
}

// subscribed takes a notification that names the subscription it is for.
func (l *core) subscribed(f mcp.Frame, id jsontext.Value, on any) {
	c := l.byID(id, on)
	switch {
	case c == nil:
		l.n.dropped.Add(1)
	case c.x == nil:
		l.ours(f, c)
	default:
		l.deliver(f, c)
	}
}

// streamed takes a notification from a stream that belongs to one call. An error
// ends the call.
func (l *core) streamed(f mcp.Frame, c *call) error {
	switch {
	case f.Method == cancelled:
		l.withdraw(f, c.on)
		return nil
	case c.x == nil:
		l.ours(f, c)
		return nil
	case changes(f.Method): // it is never dropped, and the call's own as well
		if c.x.Receive == nil {
			l.toSink(f)
		} else {
			c.x.Receive(f)
		}
		return nil
	}
	if c.timer != nil {
		if c.notes++; c.notes > l.b.Notifications {
			l.n.dropped.Add(1)
			if c.notes > 10*l.b.Notifications {
				return ErrTooLarge
			}
			return nil
		}
	}
	if f.Method == progress {
		theirs, _ := mcp.Get(f.Params, "progressToken")
		ours, ok := c.token()
		if !ok || string(ours) != string(theirs) {
			l.n.dropped.Add(1)
			return nil
		}
		l.extend(c)
	}
	l.deliver(f, c)
	return nil
}

// ours takes a notification that came for a request of our own.
func (l *core) ours(f mcp.Frame, c *call) {
	if taken := c.taken.Swap(nil); taken != nil {
		(*taken)()
	}
	if f.Method != acknowledged {
		l.toSink(f)
	}
}

// deliver gives a notification to the exchange that it belongs to. Of a
// subscription the asker knows its own id only.
func (l *core) deliver(f mcp.Frame, c *call) {
	if c.x == nil || c.x.Receive == nil {
		l.n.dropped.Add(1)
		return
	}
	f.Params = l.renamed(f.Params, c)
	c.x.Receive(f)
}

// renamed is params, or a result, with the asker's id for ours where it names the
// subscription.
func (l *core) renamed(v jsontext.Value, c *call) jsontext.Value {
	if c.x == nil || c.x.Frame.Method != listen {
		return v
	}
	if _, ok := mcp.Get(v, "_meta", mcp.MetaSubscription); !ok {
		return v
	}
	set := []mcp.Member{{Name: mcp.MetaSubscription, Value: jsontext.Value(c.x.Frame.ID)}}
	if out, err := mcp.SetMeta(v, set, nil); err == nil {
		return out
	}
	return v
}

// token is the progress token that the asker chose.
func (c *call) token() (jsontext.Value, bool) {
	if c.x == nil {
		return nil, false
	}
	return mcp.Get(c.x.Frame.Params, "_meta", mcp.MetaProgress)
}

// byToken is the one open call with the progress token. Where several have it,
// none does: progress is not shown to the wrong one.
func (l *core) byToken(token jsontext.Value, on any) *call {
	if len(token) == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var found *call
	for _, c := range l.calls {
		if t, ok := c.token(); ok && c.on == on && string(t) == string(token) {
			if found != nil {
				return nil
			}
			found = c
		}
	}
	return found
}

// byID is the open call with the id on the wire.
func (l *core) byID(id jsontext.Value, on any) *call {
	n, ok := number(mcp.ID(id))
	if !ok {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.calls[n]; c != nil && c.on == on {
		return c
	}
	return nil
}

// only is the one call of an agent that is open, if there is exactly one.
func (l *core) only(on any) *call {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found *call
	for _, c := range l.calls {
		if c.x != nil && c.on == on {
			if found != nil {
				return nil
			}
			found = c
		}
	}
	return found
}

// withdraw takes a question back, or ends a subscription that the server will
// not go on with.
func (l *core) withdraw(f mcp.Frame, on any) {
	id, _ := mcp.Get(f.Params, "requestId")
	if l.modern() {
		if c := l.byID(id, on); c != nil && c.timer == nil {
			c.cancel(ErrLost)
		}
		return
	}
	l.mu.Lock()
	cancel := l.asked[mcp.ID(id)]
	l.mu.Unlock()
	if cancel != nil {
		cancel(errWithdrawn)
	}
}

// question answers a question of the server: by the call that it came with (c,
// nil if that is not known), else by the sink. reply must not block.
func (l *core) question(ctx context.Context, f mcp.Frame, c *call, reply func(mcp.Frame)) {
	fail := func(code int64, why string) {
		l.n.questions.Add(1)
		reply(mcp.Fail(f.ID, code, why, nil))
	}
	switch {
	case l.modern():
		fail(mcp.CodeMethodNotFound, "this revision has no requests of servers")
		return
	case f.Method == "ping":
		reply(mcp.Answer(f.ID, jsontext.Value("{}")))
		return
	}
	ask := l.sink.Ask
	if c != nil && c.x != nil && c.x.Ask != nil {
		ctx, ask = c.ctx, c.x.Ask
	}
	select {
	case l.slots <- struct{}{}:
	default:
		fail(mcp.CodeInternal, "too many questions are open")
		return
	}
	ctx, cancel := context.WithCancelCause(ctx)
	if !l.asking(f.ID, cancel) {
		<-l.slots
		cancel(nil)
		fail(mcp.CodeInvalidRequest, "this id is in use")
		return
	}
	free := func() {
		l.asking(f.ID, nil)
		cancel(nil)
		<-l.slots
	}
	if !l.spawn(func() {
		defer free()
		a := ask(ctx, f)
		a.ID = f.ID
		if a.Shape != mcp.Result && a.Shape != mcp.Failure {
			a = mcp.Fail(f.ID, mcp.CodeInternal, "no answer", nil)
		}
		if !errors.Is(context.Cause(ctx), errWithdrawn) {
			reply(a)
		}
	}) {
		free()
	}
}

// asking notes a question as open, or with a nil cancel as done; false if one
// with its id is open.
func (l *core) asking(id mcp.ID, cancel context.CancelCauseFunc) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if cancel == nil {
		delete(l.asked, id)
		return true
	}
	if l.asked[id] != nil {
		return false
	}
	l.asked[id] = cancel
	return true
}
