package gateway

import (
	"bytes"
	"context"
	"strings"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/holds"
)

// A sink takes what the upstream sends outside of an exchange that is known.
type sink struct {
	s     *Session
	ready chan struct{} // closed once the session has its keeper
}

// Receive implements Sink.
func (k *sink) Receive(f mcp.Frame) {
	select {
	case <-k.ready:
		k.s.receive(nil, f)
	default: // nothing was shown yet that it could be about
	}
}

// Ask implements Sink.
func (k *sink) Ask(ctx context.Context, f mcp.Frame) mcp.Frame {
	select {
	case <-k.ready:
		return k.s.question(ctx, nil, true, f)
	default:
		return mcp.Fail(f.ID, mcp.CodeInvalidRequest, "an upstream may ask only while a call to it is open", nil)
	}
}

// Lost implements Sink.
func (k *sink) Lost(err error) {
	select {
	case <-k.ready:
		k.s.keeper.Lost(err)
		k.s.lostLink()
	default:
	}
}

// receive takes a notification of the upstream. What is about a list goes to the
// keeper, whose judgement the agent is told of; words for the agent are inspected
// first, each alone and together with those before it. Hostile ones end here, and
// suspect ones lose what is suspect.
func (s *Session) receive(c *call, f mcp.Frame) {
	if s.noticed(c, f.Method); s.keeper.Notice(f.Method) {
		return
	}
	m, ok := mcp.Lookup(f.Method)
	if !ok || !m.Notification || !m.In(s.rev) || m.Upstream == mcp.Refused {
		s.drop("notification: not carried", &f)
		return
	}
	if m.Upstream != mcp.Passed {
		return // ends here
	}
	defer s.stream.turn()()
	x := sent{form: holds.FormMessage, method: f.Method, raw: f.Params, stream: s.stream}
	r := s.rule(s.ctx, c, x)
	if r.way != passed && r.way != released {
		reason := "notification: "
		if r.way == without {
			reason += "cut, "
		}
		s.dropped(reason+r.verdict.String(), &f, func(e *registry.Entry) {
			e.Call, e.Verdict = c.reference(), r.verdict.String()
			if r.way == loose {
				no := false
				e.Enforced = &no
				return
			}
			e.Hold = s.keep(c, &x, &r, policy.ResultHeld)
		})
	}
	if r.way == held {
		return
	}
	f.Params = r.value
	if len(f.Rest) > 0 && !s.watches() && !s.harmless(s.ctx, f.Rest) {
		s.drop("beside a notification: not clear", &f)
		f.Rest = nil
	}
	f.Params = dropOurs(f.Params)
	if s.read(c, &x, &r, &f) && s.passOn(c, m, f) && r.said() {
		s.stream.said(r.set)
	}
}

// passOn passes a notification on, to the request that it belongs to or to the
// session, and tells whether anybody is there to hear it.
func (s *Session) passOn(c *call, m *mcp.Method, f mcp.Frame) bool {
	switch m.Name {
	case "notifications/progress":
		if c == nil {
			if c = s.caller(f); c == nil {
				s.drop("notification: no such request", &f)
				return false
			}
		}
		if !c.progresses(f) { // nobody waits for it by that name: a client reads it to nobody
			s.drop("notification: no such request", &f)
			return false
		}
		if c.ourToken != nil {
			p, err := mcp.Edit(f.Params, []mcp.Member{{Name: "progressToken", Value: c.token}}, nil)
			if err != nil {
				return false
			}
			f.Params = p
		}
	case "notifications/resources/updated":
		return s.updated(c, f)
	}
	switch {
	case c != nil:
		c.peer.Notify(f)
		return true
	case s.own != nil:
		return s.tell(f)
	}
	s.drop("notification: for nobody", &f)
	return false
}

// caller is the open request whose progress token the notification names.
func (s *Session) caller(f mcp.Frame) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.sent && c.progresses(f) {
			return c
		}
	}
	return nil
}

// progresses tells whether a notification names the request's progress token, as the
// upstream has it.
func (c *call) progresses(f mcp.Frame) bool {
	token := c.ourToken
	if token == nil {
		token = c.token
	}
	t, ok := mcp.Get(f.Params, "progressToken")
	return ok && token != nil && bytes.Equal(t, token)
}

// updated passes the news of a resource on to whoever subscribed to it, or to
// something above it.
func (s *Session) updated(c *call, f mcp.Frame) bool {
	uri, ok := mcp.GetString(f.Params, "uri")
	if !ok {
		return false
	}
	if s.own == nil {
		if c != nil && c.f.Method == methodListen {
			l := listener{c: c}
			f.Params = l.stamp(f.Params)
			c.peer.Notify(f)
			return true
		}
		s.drop("notification: not subscribed", &f)
		return false
	}
	s.mu.Lock()
	wanted := false
	for u := range s.subscribed {
		wanted = wanted || uri == u || strings.HasPrefix(uri, u)
	}
	s.mu.Unlock()
	if !wanted {
		s.drop("notification: not subscribed", &f)
		return false
	}
	return s.tell(f)
}

// tell sends a notification outside of requests. Before the agent has said
// anything there is nothing that it could know better: what comes then, before it
// even knows that its session is there, is not sent.
func (s *Session) tell(f mcp.Frame) bool {
	s.mu.Lock()
	spoken := s.spoken
	s.mu.Unlock()
	if spoken {
		s.own.Notify(f)
	}
	return spoken
}

func (s *Session) spoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spoken = true
}

// changes are the notifications that a list is another.
var changes = map[gate.Kind]struct{ method, filter, capability string }{
	gate.Tool:     {"notifications/tools/list_changed", "toolsListChanged", "tools"},
	gate.Prompt:   {"notifications/prompts/list_changed", "promptsListChanged", "prompts"},
	gate.Resource: {"notifications/resources/list_changed", "resourcesListChanged", "resources"},
	gate.Template: {"notifications/resources/list_changed", "resourcesListChanged", "resources"},
}

// changed tells the agent that a list is another, after it was judged. An agent
// is told only if it was told that it would be.
func (s *Session) changed(kind gate.Kind) {
	n, ok := changes[kind]
	if !ok {
		return
	}
	if s.own != nil {
		if v, _ := mcp.Get(s.link.Welcome().Capabilities, n.capability, "listChanged"); v.Kind() == 't' {
			s.tell(mcp.Note(n.method, nil))
		}
		return
	}
	s.mu.Lock()
	var tell []*listener
	for l := range s.listeners {
		if l.kinds[n.filter] {
			tell = append(tell, l)
		}
	}
	s.mu.Unlock()
	for _, l := range tell {
		l.c.peer.Notify(mcp.Note(n.method, l.stamp(nil)))
	}
}

// listsMayDiffer tells the agent that what it may call is judged anew.
func (s *Session) listsMayDiffer() {
	for _, kind := range []gate.Kind{gate.Tool, gate.Prompt, gate.Resource} {
		s.changed(kind)
	}
}

// Notice takes a notification of the agent, other than that a request is
// cancelled: whoever serves the agent cancels the ctx of its Handle.
func (s *Session) Notice(ctx context.Context, f mcp.Frame) {
	s.spoke()
	m, ok := mcp.Lookup(f.Method)
	switch {
	case !ok || !m.Notification || !m.In(s.rev) || m.Agent == mcp.Refused:
		s.drop("notification: not carried", &f)
	case m.Agent == mcp.Passed:
		// Its params would be agent-chosen values beside the one path: they stay here.
		if err := s.link.Notify(ctx, mcp.Note(f.Method, nil)); err != nil {
			s.g.o.Log.Info("a notification could not be passed on", "method", f.Method, "cause", err)
		}
	}
}
