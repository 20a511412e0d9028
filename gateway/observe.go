package gateway

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/internal/shape"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/observe"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/holds"
	"github.com/pratique-dev/pratique/registry/observed"
)

// What an upstream does in a call is held against what the tool declares of itself
// (labels/observe). What cannot be one call's alone is ambiguous: several calls
// were open, or one had ended shortly before, or the connection is not this
// session's alone. It is then counted neither for a tool nor against it.

// lateness is how long after its end a call may still be what an effect is of.
// Until then its observation waits.
const lateness = 2 * time.Second

// maxLate is how many observations of one session wait; the oldest goes first.
const maxLate = 256

// A trace is what is seen of one call. The session's mu owns it.
type trace struct {
	seen  []observe.Sighting
	good  bool // its answer was delivered as it came, and fits what was declared
	given bool // the account has it already
}

// An ended call waits for what may still come of it.
type ended struct {
	of     observed.Subject
	owner  credentials.KeyID
	d      *observe.Declaration
	o      observe.Observation
	at     observed.Cite
	view   uint64 // of the registry's log, that the decision saw
	closed time.Time
}

// conduct is what a session keeps of calls for their accounts. The session's mu
// owns it.
type conduct struct {
	late  []*ended
	timer *time.Timer
	moved map[[2]credentials.Digest]bool // versions that were found to read otherwise, and how
}

// observes tells whether a call is one whose conduct is kept: of a tool that the
// baseline or a registrant has given an id.
func (s *Session) observes(c *call) bool {
	return s.g.o.Conduct != nil && c != nil && c.under != nil && c.f.Method == methodCall &&
		c.under.item.Kind == gate.Tool && c.under.item.Tool != ""
}

// declarations remembers what tools declare, by digest.
type declarations struct {
	mu   sync.Mutex
	kept map[credentials.Digest]*observe.Declaration
}

func (x *declarations) of(e *gate.Entry) *observe.Declaration {
	x.mu.Lock()
	defer x.mu.Unlock()
	if d := x.kept[e.Digest]; d != nil {
		return d
	}
	d := observe.Declare(e.Canonical)
	if x.kept == nil || len(x.kept) >= maxShapes {
		x.kept = map[credentials.Digest]*observe.Declaration{}
	}
	x.kept[e.Digest] = &d
	return &d
}

// declares is what a call's tool declares of itself.
func (s *Session) declares(e *gate.Entry) *observe.Declaration { return s.g.declared.of(e) }

// effect gives a sign to whatever call it is of. c is the call on whose own stream
// it came, nil for none. sign may find that a tool said that it does so.
func (s *Session) effect(c *call, sign func(d *observe.Declaration) observe.Sign) {
	if s.g.o.Conduct == nil {
		return
	}
	if c != nil && c.under != nil {
		if s.observes(c) {
			s.ownEffect(c, sign(s.declares(&c.under.item)))
		}
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var open []*call
	for _, x := range s.calls {
		if x.sent && !x.trace.given && s.observes(x) {
			open = append(open, x)
		}
	}
	s.giveLate(s.g.o.Now())
	link := observe.Unlinked
	if len(open) == 1 && len(s.conduct.late) == 0 && s.g.place.Launch != nil { // nobody else speaks to a process of our own
		link = observe.Alone
	}
	for _, x := range open {
		x.trace.see(sign(s.declares(&x.under.item)), link)
	}
	for _, x := range s.conduct.late {
		x.o.Seen = sighted(x.o.Seen, observe.Sighting{Sign: sign(x.d)})
	}
}

// ownEffect gives a sign to the call on whose own stream it came, though the call may have
// ended.
func (s *Session) ownEffect(c *call, sign observe.Sign) {
	if sign == "" {
		return
	}
	s.mu.Lock()
	given := c.trace.given
	if !given {
		c.trace.see(sign, observe.Own)
	}
	s.mu.Unlock()
	if given {
		x := s.observation(c, c.under)
		x.o.Call, x.o.Seen = "", []observe.Sighting{{Sign: sign, Link: observe.Own}} // the call itself is counted already
		s.give(x)
	}
}

// maxSeen bounds the sightings of one call: more of the same says nothing more.
const maxSeen = 64

func (t *trace) see(sign observe.Sign, link observe.Link) {
	t.seen = sighted(t.seen, observe.Sighting{Sign: sign, Link: link})
}

// sighted adds a sighting, once, where there is room: an upstream can make the same
// noise without end.
func sighted(seen []observe.Sighting, x observe.Sighting) []observe.Sighting {
	if x.Sign == "" || len(seen) >= maxSeen || slices.Contains(seen, x) {
		return seen
	}
	return append(seen, x)
}

// wasAsked is that the upstream asked something of the agent.
func (s *Session) wasAsked(c *call, method string) {
	s.effect(c, func(d *observe.Declaration) observe.Sign { return d.Asked(method) })
}

// noticed is that the upstream said that something of it is another now.
func (s *Session) noticed(c *call, method string) {
	switch method {
	case "notifications/tools/list_changed", "notifications/prompts/list_changed",
		"notifications/resources/list_changed", "notifications/resources/updated":
		s.effect(c, func(d *observe.Declaration) observe.Sign { return d.Moved(method) })
	}
}

// answered holds an answer against the tool's declaration. It tells whether the
// tool's label is Red from now on: what contradicts is in the account, durably,
// before anybody reads it.
func (s *Session) answered(c *call, w *recorded, x *sent, r *ruling) (red bool) {
	if !s.observes(c) {
		return false
	}
	d, a := s.declares(&w.item), answerOf(x.raw)
	a.failed = a.failed || x.form == holds.FormError
	signs, sure := s.signs(d, w, x, &a, r)
	s.mu.Lock()
	for _, sign := range signs {
		c.trace.see(sign, observe.Own)
	}
	c.trace.good = sure && !a.failed && r.way == passed && r.verdict == quarantine.Clear &&
		w.d.Would().Verb() != policy.Deny // what only the profile watch let through says nothing for a tool
	e := s.observation(c, w)
	_, bad := observe.Account{}.Add(e.o).Worst()
	c.trace.given = bad
	s.mu.Unlock()
	if !bad {
		return false
	}
	s.give(e)
	now, ok := s.g.o.Conduct.Of(&w.item, s.g.o.Now())
	item := w.item
	if ok {
		item.Content = min(item.Content, now)
	}
	return item.Tier(s.g.o.Now()) == labels.Red
}

// bar is the ruling on what came of a tool whose label has turned Red with it.
func (r ruling) bar(watch bool) ruling {
	if r.way == released { // exactly this was let through by an operator
		return r
	}
	r.barred, r.way = true, held
	if watch {
		r.way, r.would = loose, held
	}
	return r
}

// signs are those of an answer, and whether all of it could be held against the
// declaration.
func (s *Session) signs(d *observe.Declaration, w *recorded, x *sent, a *answer, r *ruling) (out []observe.Sign, sure bool) {
	if a.failed {
		switch s.toolsOwn(w, x, r) {
		case quarantine.Hostile:
			return []observe.Sign{observe.ErrorOrders}, true
		case quarantine.Suspect:
			return []observe.Sign{observe.ErrorDoubtful}, true
		}
		return nil, true
	}
	if a.asks {
		return nil, false // a round of questions is no answer yet
	}
	sure = true
	switch {
	case d.Output == nil:
	case a.structured == nil:
		out = append(out, observe.OutputMissing)
	default:
		sh, err := s.g.forms.Of(d.Output)
		if err == nil {
			err = sh.Check(a.structured)
		}
		if errors.Is(err, shape.ErrUnfit) {
			out = append(out, observe.OutputUnfit)
		} else if err != nil {
			sure = false // of which nothing can be said
		}
	}
	back := observe.Returned{Arguments: w.p.arguments(), Structured: a.structured, Embedded: embedded(a.content), Place: s.g.place.Origin.String(),
		Known:  func(uri string) bool { e, err := s.keeper.Readable(stopped, uri); return err == nil || e.Kind != "" },
		Secret: slices.ContainsFunc(r.report.Findings, func(f quarantine.Finding) bool { return f.Category == quarantine.SecretValue })}
	return append(out, d.Unasked(&back)...), sure
}

// An answer is what the members of a result say of it, which is large, so that it is
// gone through once.
type answer struct {
	failed     bool // it says so
	asks       bool // it holds questions
	structured jsontext.Value
	content    jsontext.Value
}

func answerOf(result jsontext.Value) (a answer) {
	for name, v := range mcp.Members(result) {
		switch name {
		case "isError":
			a.failed = v.Kind() == 't'
		case "resultType":
			t, _ := mcp.String(v)
			a.asks = t == mcp.ResultInputRequired
		case "structuredContent":
			a.structured = v
		case "content":
			a.content = v
		}
	}
	return a
}

// embedded are the URIs of the resources in the content of a result.
func embedded(content jsontext.Value) (out []string) {
	for part := range mcp.Elements(content) {
		if t, _ := mcp.GetString(part, "type"); t != "resource" {
			continue
		}
		if uri, ok := mcp.GetString(part, "resource", "uri"); ok {
			out = append(out, uri)
		}
	}
	return out
}

// observation is what was seen of a call so far. mu is held, or the call is given.
func (s *Session) observation(c *call, w *recorded) *ended {
	now := s.g.o.Now()
	return &ended{
		of: observed.SubjectOf(&w.item), owner: w.item.Owner, d: s.declares(&w.item),
		o:      observe.Observation{Call: c.ref, Run: s.who.Run, At: now.UnixMilli(), Good: c.trace.good, Seen: slices.Clone(c.trace.seen)},
		at:     observed.Cite{Spool: w.ticket.Spool(), Entry: w.ticket.Index()},
		view:   c.view,
		closed: now,
	}
}

// closes is called once for each call that was sent, when its outcome is recorded.
// What speaks against the tool goes into its account at once; else it waits for
// what may be late.
func (s *Session) closes(c *call, w *recorded, e *registry.Entry) {
	if !s.observes(c) || e.Invoked == "no" {
		return
	}
	s.mu.Lock()
	if c.trace.given {
		s.mu.Unlock()
		return
	}
	c.trace.given = true
	if e.Outcome != registry.OutcomeReturned || e.Reason != "" {
		c.trace.good = false
	}
	x := s.observation(c, w)
	if _, bad := (observe.Account{}).Add(x.o).Worst(); bad {
		s.mu.Unlock()
		s.give(x)
		return
	}
	s.conduct.late = append(s.conduct.late, x)
	s.giveLate(x.closed)
	if s.conduct.timer == nil {
		s.conduct.timer = time.AfterFunc(lateness, s.settle)
	}
	s.mu.Unlock()
}

// giveLate gives what has waited long enough to the accounts. mu is held; what waits
// speaks against nobody, so that giving it costs no write.
func (s *Session) giveLate(now time.Time) {
	k := &s.conduct
	for len(k.late) > 0 && (now.Sub(k.late[0].closed) >= lateness || len(k.late) > maxLate) {
		s.give(k.late[0])
		k.late = k.late[1:]
	}
}

// settle gives what has waited, and comes again while anything does.
func (s *Session) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.giveLate(s.g.o.Now())
	s.conduct.timer = nil
	if len(s.conduct.late) > 0 {
		s.conduct.timer = time.AfterFunc(lateness, s.settle)
	}
}

// settleAll gives everything: nothing more can come on a link that is closed.
func (s *Session) settleAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.conduct.late {
		s.give(x)
	}
	s.conduct.late = nil
	if s.conduct.timer != nil {
		s.conduct.timer.Stop()
		s.conduct.timer = nil
	}
}

func (s *Session) give(x *ended) {
	if err := s.g.o.Conduct.Add(x.of, x.owner, x.o, x.at); err != nil {
		s.g.o.Log.Error("what was observed of a tool is not written", "tool", x.of.Tool, "call", x.o.Call, "cause", err)
		return
	}
	if (observe.Account{}).Add(x.o).Calls > 0 {
		s.g.o.Conduct.Carried(x.of, x.view)
	}
}

// relisted is told by the keeper that there is another surface. Only what the upstream
// lists now can be held against it: what it listed before is another text too where an
// operator accepted the new one meanwhile, in another session.
func (s *Session) relisted(kind gate.Kind, listed bool) {
	s.survey()
	if listed {
		s.movedOn(kind)
	}
	s.changed(kind)
}
