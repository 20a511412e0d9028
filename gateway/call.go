package gateway

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry/decisions"
)

// A call is one request of an agent while it is open.
type call struct {
	s     *Session
	f     *mcp.Frame
	m     *mcp.Method
	peer  Peer
	at    time.Time
	watch Watch
	ref   string // call_ and a ULID
	stood string // state of the item that a refusal was decided on; empty: the item's own
	view  uint64 // size of the registry's log that the decision saw

	rules  policy.Policy      // what decides it; nil: not asked yet
	intent credentials.Digest // that its run is sealed to
	sent   bool               // the session's mu: the upstream may have it, so it may ask
	under  *recorded          // what it was sent under; set before sent

	read   *policy.Context  // of the run, as the call is decided; nil: not asked yet
	result recordedAs       // what the agent read of it
	side   *args.Tree       // of what stands beside the arguments, as long as it is decided
	fit    string           // of the arguments with the schema; empty: nobody looked
	paths  []string         // JSON Pointers of the arguments that a guard refused
	needs  labels.Assurance // that an answer to the refused ask would have had to be; none: it was none
	counts *policy.Counts   // that the decision saw; nil: it asked for none

	questions int   // the session's mu: that the upstream asked in it
	trace     trace // the session's mu: what is seen of it

	started chan struct{} // closed when it is sent; nil: nobody waits for that

	token, ourToken         jsontext.Value // the agent's progress token, and what travels in its place
	traceparent, tracestate string
}

// permitted is a call that a decision let through. decide makes it.
type permitted struct {
	p     params
	item  gate.Entry
	label labels.Verified
	d     policy.Decision
	state *sealed // of a retry; nil: a first round
}

// admitted is a permitted call of an item that is unchanged now, with the bytes
// that go upstream and the pass for them. admit makes it.
type admitted struct {
	permitted
	params []byte
	head   map[string]string
	pass   gate.Pass
}

// recorded is an admitted call whose decision is in the record. record makes it,
// and send takes nothing else.
type recorded struct {
	admitted
	ticket decisions.Ticket
}

// pass is the one path: from a request that was read once to the answer that the
// agent gets. Each step takes what the step before made; each refusal leaves one
// entry.
func (s *Session) pass(ctx context.Context, c *call, p params) mcp.Frame {
	c.ref = s.g.idAt("call_", c.at)
	may, refused := s.permit(ctx, c, p)
	if refused != nil {
		return *refused
	}
	ready, d, err := s.admit(ctx, c, may)
	if err != nil {
		return c.refuse(&p, &may.item, d, "")
	}
	written, err := s.record(ctx, c, ready)
	if err != nil {
		return c.unrecorded(&ready, err)
	}
	answer, err := s.send(ctx, c, &written)
	if err != nil {
		return c.lost(ctx, &written, err)
	}
	return s.deliver(ctx, c, &written, answer)
}

// permit is the part of the path that reads the arguments: all that is decided on
// them. They are read once, and not kept beyond it.
func (s *Session) permit(ctx context.Context, c *call, p params) (may permitted, refusal *mcp.Frame) {
	defer func() {
		if fault := recover(); fault != nil { // of ours: it ends this call, not everybody's gateway
			f := c.refuse(&p, nil, s.broken(fault), "")
			may, refusal = permitted{}, &f
		}
	}()
	refused := func(f mcp.Frame) (permitted, *mcp.Frame) { return permitted{}, &f }
	tree, unread := p.read()
	defer tree.Release()
	if s.g.guard.namesCall(&p, tree) || len(c.f.Rest) > 0 && s.g.guard.names(beside(c.f.Rest)) {
		return refused(c.refuse(&p, nil, policy.Refuse(policy.OwnGuard, "guard:own"), ""))
	}
	item, err := s.look(ctx, c, &p)
	if err != nil && (item.Kind == "" || !s.watches()) {
		return refused(c.refuse(&p, &item, s.unfit(c, &p, &item, tree, err), hint(err)))
	}
	if c.side, err = c.aside(&p); unread != nil || err != nil {
		return refused(c.malformedItem(&p, &item, ErrDeep)) // frames are strict: it is over a bound
	}
	defer func() { c.side.Release(); c.side = nil }()
	if err := s.g.twins(&p, tree, &item); err != nil {
		return refused(c.malformedItem(&p, &item, err))
	}
	may, d, err := s.decide(ctx, c, p, item, tree)
	if err != nil {
		return refused(c.refuse(&p, &item, d, ""))
	}
	return may, nil
}

// broken is the decision where deciding failed by a fault of ours.
func (s *Session) broken(fault any) policy.Decision {
	s.g.o.Log.Error("a decision failed", "agent", s.who.ID, "fault", fault, "stack", string(debug.Stack()))
	return policy.Refuse(policy.Undecided, "fault")
}

// hint is what an agent can do about an item that it cannot name yet.
func hint(err error) string {
	if errors.Is(err, gate.ErrUnlisted) {
		return "What has not been listed to this agent cannot be called: list first."
	}
	return ""
}

// watches tells whether refusals of policy and gate are only recorded.
func (s *Session) watches() bool { return s.who.Profile == policy.Watch }

// look finds what the request is about on the surface that this agent was
// shown. The entry may come with an error, for the record.
func (s *Session) look(ctx context.Context, c *call, p *params) (gate.Entry, error) {
	if err := s.g.alive(&s.who); err != nil {
		if errors.Is(err, errRevoked) {
			s.g.work.Go(func() { _ = s.Close() })
		}
		return gate.Entry{}, err
	}
	switch c.f.Method {
	case methodCall:
		return s.keeper.Look(ctx, gate.Tool, p.name)
	case methodPrompt:
		return s.keeper.Look(ctx, gate.Prompt, p.name)
	case methodComplete:
		if !p.template {
			return s.keeper.LookCleared(ctx, gate.Prompt, p.name)
		}
		e, err := s.keeper.LookCleared(ctx, gate.Template, p.name)
		if errors.Is(err, gate.ErrNotShown) {
			if r, err := s.keeper.LookCleared(ctx, gate.Resource, p.name); err == nil {
				return r, nil
			}
		}
		return e, err
	case methodLevel:
		if err := s.who.run.Open(); err != nil {
			return gate.Entry{}, err
		}
		return gate.Entry{State: policy.Cleared, Listed: policy.Cleared, Standing: s.g.o.Surfaces.Standing(),
			Content: labels.Inspected, Effect: labels.Read}, nil
	}
	e, err := s.keeper.Readable(ctx, p.name)
	if err == nil && e.Link { // of which the run is not asked, as it was not listed
		err = s.who.run.Open()
	}
	return e, err
}

// unfit is the decision on an item that cannot be called as it stands. The policy
// gives it, so that the record says what stands behind a name and which rule was
// asked; the agent is told one thing of whatever it was not shown.
func (s *Session) unfit(c *call, p *params, item *gate.Entry, tree *args.Tree, err error) policy.Decision {
	refused := refusalOf(err)
	f := s.facts(c, item)
	f.Args = p.arguments()
	states := []policy.State{item.State}
	switch refused.Reason() {
	case policy.ReasonIncomplete:
		states[0] = policy.Incomplete
	case policy.ReasonNotShown:
		if item.Kind != "" {
			states = []policy.State{behind(item), policy.NotShown}
		}
	case policy.ReasonWithheld:
		states[0] = behind(item)
	case policy.ReasonChanged, policy.ReasonNew:
	default:
		return refused
	}
	if item.Kind == "" {
		f.Tool = p.name
	} else if item.Kind == gate.Template && !p.template {
		f.Target = p.name
	}
	if item.Kind != "" && tree != nil { // so that the record has the reason that stands behind it
		f.Tree = tree
		f.Fit, f.UnfitAt = s.g.fit(c.f.Method, item, tree)
		c.fit = f.Fit.String()
	}
	for _, f.Gate = range states {
		if d := c.policy().Decide(f); d.Verb() == policy.Deny && d.Enforced() {
			c.stood = f.Gate.String()
			return d
		}
	}
	return refused
}

// behind is the state of an item whoever asks. What only its label withholds is
// cleared as far as its text goes: the reason is the label's, then.
func behind(item *gate.Entry) policy.State {
	if item.Listed == policy.Withheld && item.Content >= labels.Inspected {
		return policy.Cleared
	}
	return item.Listed
}

// decide asks the policy, on the label of the version that was shown. A retry
// with a state of ours is decided anew like any other call (RULES.md 5).
func (s *Session) decide(ctx context.Context, c *call, p params, item gate.Entry, tree *args.Tree) (permitted, policy.Decision, error) {
	f := s.facts(c, &item)
	f.Gate, f.Args, f.Tree = item.State, tree.Raw(), tree
	f.Fit, f.UnfitAt = s.g.fit(c.f.Method, &item, tree)
	c.fit = f.Fit.String()
	if item.Kind == gate.Template && !p.template {
		f.Target = p.name
	}
	size, err := s.g.o.Agents.Fresh()
	if err != nil {
		return permitted{}, policy.Refuse(policy.Stale, "registry"), err
	}
	c.view = size
	var label labels.Verified
	if c.f.Method != methodLevel {
		if label, err = s.g.labels.of(&item, c.at); err != nil && !s.watches() {
			s.g.o.Log.Warn("a label cannot be verified", "tool", item.Tool, "cause", err)
			return permitted{}, policy.Refuse(policy.ReasonLabel, "label"), err
		}
		f.Tier = min(f.Tier, label.Tier())
	}
	d := s.weigh(ctx, c, &f)
	c.watch.Decided(d, f.Tier)
	if d.Verb() != policy.Allow {
		return permitted{}, d, errDenied
	}
	ok := permitted{p: p, item: item, label: label, d: d}
	if p.state != "" {
		st, why := s.g.states.open(p.state, s.bind(c, &ok), c.at)
		if why != "" {
			return permitted{}, policy.Refuse(policy.RequestState, "request-state:"+why), errDenied
		}
		ok.state = st
	}
	return ok, d, nil
}

var errDenied = errors.New("gateway: denied")

// admit makes sure that the item is unchanged now, makes the bytes that go
// upstream, and gets the pass for exactly them.
func (s *Session) admit(ctx context.Context, c *call, ok permitted) (admitted, policy.Decision, error) {
	a := admitted{permitted: ok}
	var err error
	ctx, c.traceparent, c.tracestate = c.watch.Forward(ctx)
	if a.params, err = s.outgoing(c, &ok); err != nil {
		return a, policy.Refuse(policy.Arguments, "params"), err
	}
	if a.head, err = s.headers(c, &ok); err != nil {
		return a, policy.Refuse(policy.Arguments, "params:header"), err
	}
	if err := s.admission(ctx, c, &a); err != nil {
		return a, refusalOf(err), err
	}
	if ok.state != nil && !s.g.states.spend(ok.state) {
		return a, policy.Refuse(policy.RequestState, "request-state:replayed"), errDenied
	}
	return a, ok.d, nil
}

// admission gets the pass, listing again first where that is due.
func (s *Session) admission(ctx context.Context, c *call, a *admitted) (err error) {
	if c.f.Method == methodLevel {
		a.pass, err = s.keeper.AdmitLevel(ctx, a.params)
		return err
	}
	a.pass, err = s.keeper.Admit(ctx, a.item, c.f.Method, a.params)
	return err
}
