package gateway

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/runs"
)

// answered is the outcome, for observers, of what goes to no upstream.
const answered = "answered"

// Handle takes one request and always answers it: a Result or Failure frame
// with its id. A done ctx says that the agent cancelled it, or left; the answer
// is then of no use to anybody.
func (s *Session) Handle(ctx context.Context, f mcp.Frame, peer Peer) mcp.Frame {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	m, ok := mcp.Lookup(f.Method)
	c := &call{s: s, f: &f, m: m, peer: peer, at: s.g.o.Now(), watch: unwatched{}}
	if !ok || m.Notification || m.Agent == mcp.Refused || !m.In(s.rev) {
		return c.unknown()
	}
	if s.g.o.Observer != nil {
		ctx, c.watch = s.g.o.Observer.Begin(ctx, c.seen())
	}
	if !s.tally.take(c.at, s.g.o.Limits.Rate, s.g.o.Limits.Burst) {
		return c.refuseEarly(policy.Refuse(policy.Quota, "limit:rate"))
	}
	if m.Agent == mcp.Path && s.g.spent(&s.who) {
		return c.refuseEarly(policy.Refuse(policy.Quota, "limit:record"))
	}
	s.spoke()
	ok, closed := s.enter(c)
	if closed {
		return c.refuseEarly(policy.Refuse(policy.Revoked, "session:ended"))
	}
	if !ok {
		return c.refuseEarly(policy.Refuse(policy.Quota, "limit:open"))
	}
	defer s.leave(c)
	return s.route(ctx, c)
}

// seen is what an observer learns of the request.
func (c *call) seen() Seen {
	s := c.s
	name, _ := mcp.GetString(c.f.Params, "name")
	parent, _ := mcp.GetString(c.f.Params, "_meta", mcp.MetaTraceparent)
	state, _ := mcp.GetString(c.f.Params, "_meta", mcp.MetaTracestate)
	return Seen{
		Method: c.m.Name, Name: cutName(name), ID: c.f.ID, Revision: s.rev, Way: s.via.Way, Agent: s.who.ID, Run: s.who.Run,
		Upstream: s.g.o.Upstream.Name(), Session: s.id, At: c.at, Traceparent: parent, Tracestate: state,
	}
}

func (s *Session) route(ctx context.Context, c *call) mcp.Frame {
	p, err := readParams(c.f, s.g.o.Limits.Params)
	if err != nil {
		return c.malformed(err)
	}
	switch {
	case c.m.Agent == mcp.Surface:
		return s.list(ctx, c, &p)
	case c.f.Method == methodPing:
		c.watch.End(answered)
		return mcp.Answer(c.f.ID, jsontext.Value(`{}`))
	case c.f.Method == methodDiscover:
		c.watch.End(answered)
		ttl := int(s.g.o.Limits.TTL.Milliseconds())
		return mcp.Answer(c.f.ID, s.welcome(ctx).Discover(ttl, []mcp.Revision{s.rev}))
	case c.m.Agent == mcp.Here:
		return c.unknown() // initialize and the like, which are over
	case c.f.Method == methodListen:
		return s.listen(ctx, c, &p)
	}
	return s.pass(ctx, c, p)
}

// lists are the methods that list items.
var lists = map[string]struct {
	kind   gate.Kind
	member string
}{
	methodTools:     {gate.Tool, "tools"},
	methodPrompts:   {gate.Prompt, "prompts"},
	methodResources: {gate.Resource, "resources"},
	methodTemplates: {gate.Template, "resourceTemplates"},
}

// list answers from the surface, in one page. The upstream's cursors end at the
// gateway, so one that an agent sends is none of ours.
func (s *Session) list(ctx context.Context, c *call, p *params) mcp.Frame {
	if p.cursor {
		return c.malformed(errCursor)
	}
	l := lists[c.f.Method]
	if err := s.g.alive(&s.who); err != nil {
		return c.refuseEarly(refusalOf(err))
	}
	items, err := s.keeper.List(ctx, l.kind, s.listable(c, c.policy()))
	if err != nil {
		s.g.o.Log.Warn("a list is refused", "upstream", s.g.o.Upstream.Name(), "method", c.f.Method, "cause", err)
		return c.refuseEarly(refusalOf(err))
	}
	n := len(l.member) + 96
	for i := range items {
		n += len(items[i].Raw) + 1
	}
	b := make([]byte, 0, n)
	b = append(b, '{')
	if s.rev.Modern() {
		b = append(b, `"resultType":"complete","ttlMs":`...)
		b = strconv.AppendInt(b, s.g.o.Limits.TTL.Milliseconds(), 10)
		b = append(b, `,"cacheScope":"private",`...)
	}
	b = append(b, '"')
	b = append(b, l.member...)
	b = append(b, `":[`...)
	for i := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, items[i].Raw...)
	}
	b = append(b, `]}`...)
	c.watch.End(answered)
	return mcp.Answer(c.f.ID, b)
}

// uses are the methods that an item of a kind is for.
var uses = map[gate.Kind][]string{
	gate.Tool:     {methodCall},
	gate.Prompt:   {methodPrompt, methodComplete},
	gate.Resource: {methodRead, methodSubscribe, methodUnsubscribe, methodComplete},
	gate.Template: {methodRead, methodSubscribe, methodUnsubscribe, methodComplete},
}

// listable tells of which items a policy allows any use at all.
func (s *Session) listable(c *call, pol policy.Policy) func(e *gate.Entry) bool {
	return func(e *gate.Entry) bool {
		f := s.facts(c, e)
		for _, f.Method = range uses[e.Kind] {
			if pol.Listed(f) {
				return true
			}
		}
		return false
	}
}

var errCursor = errors.New("cursor is none that was given out here")

// facts are what a policy decides an item on, arguments aside.
func (s *Session) facts(c *call, e *gate.Entry) policy.Facts {
	return policy.Facts{
		Profile: s.who.Profile, Method: c.pathMethod(), Tool: e.Name, ID: e.Tool, Origin: s.g.place.Origin.String(),
		Tier: e.Tier(c.at), Standing: e.Standing, Content: e.Content, Effect: e.Effect, Gate: e.Listed, Context: c.context(),
		Agent: s.who.ID, AgentName: s.who.Name, Run: s.who.Run, Ver: e.Ver, Digest: e.Digest, Way: s.via.Way,
		At:    time.UnixMilli(c.at.UnixMilli()), // as the record has it, so that a replay sees the same
		Files: s.g.o.Files, Beside: c.side,
	}
}

// pathMethod is the method that a policy judges: for a list, that of calling
// what it shows.
func (c *call) pathMethod() string {
	switch c.f.Method {
	case methodTools:
		return methodCall
	case methodPrompts:
		return methodPrompt
	case methodResources, methodTemplates:
		return methodRead
	case methodListen:
		return methodSubscribe // the same act in another era
	}
	return c.f.Method
}

// refusalOf is the decision for a step that failed.
func refusalOf(err error) policy.Decision {
	r, rule := policy.Stale, "surface"
	switch {
	case errors.Is(err, errRevoked), errors.Is(err, runs.ErrEnded):
		r, rule = policy.Revoked, "agent"
	case errors.Is(err, gate.ErrUnlisted):
		r, rule = policy.Shut, "gate"
	case errors.Is(err, gate.ErrNotShown), errors.Is(err, gate.ErrOtherItem):
		r, rule = policy.ReasonNotShown, "gate"
	case errors.Is(err, gate.ErrWithheld):
		r, rule = policy.ReasonWithheld, "gate"
	case errors.Is(err, gate.ErrChanged):
		r, rule = policy.ReasonChanged, "gate"
	case errors.Is(err, gate.ErrNew):
		r, rule = policy.ReasonNew, "gate"
	case errors.Is(err, gate.ErrIncomplete):
		r, rule = policy.ReasonIncomplete, "gate"
	case errors.Is(err, gate.ErrShut), errors.Is(err, gate.ErrMoved):
		r, rule = policy.Shut, "gate"
	case errors.Is(err, registry.ErrStaleView):
		rule = "registry"
	case errors.Is(err, ErrUnsent):
		r, rule = policy.UpstreamDown, "upstream"
	}
	return policy.Refuse(r, rule)
}
