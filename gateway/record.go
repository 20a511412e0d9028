package gateway

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry"
)

func itoa(n int) string { return strconv.Itoa(n) }

// maxName is how much of an item's name stands in an entry, in bytes.
const maxName = 256

func cutName(s string) string {
	if len(s) <= maxName {
		return s
	}
	n := maxName
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}

// entry is what every entry of this session says.
func (s *Session) entry(typ registry.EntryType) registry.Entry {
	return registry.Entry{
		Type: typ, Run: s.who.Run, Agent: s.who.ID, Era: string(s.rev), Way: s.via.Way,
		Upstream: s.g.o.Upstream.Name(), Origin: s.g.place.Origin.String(), Profile: string(s.who.Profile),
	}
}

// entry is the decision of a call. item may be nil, or of something that the
// agent was not shown.
func (c *call) entry(item *gate.Entry, d policy.Decision) registry.Entry {
	e := c.s.entry(registry.EntryDecision)
	e.Call, e.Method, e.View, e.Named = c.ref, c.f.Method, c.view, cutName(c.s.who.Name)
	if item != nil && item.Kind != "" {
		e.Kind, e.Name, e.Tool, e.Gen, e.Ver = string(item.Kind), cutName(item.Name), item.Tool, item.Gen, item.Ver
		e.Mdg, e.Was, e.Owner = item.Digest, item.Was, item.Owner
	}
	if item != nil && (item.Kind != "" || c.f.Method == methodLevel) { // a level is of no item, but judged
		e.Standing, e.Content = item.Standing.String(), item.Content.String()
		e.Tier, e.Effect, e.Gate = item.Tier(c.at).String(), item.Effect, item.State.String()
		e.By, e.Context = string(item.EffectBy), c.context().String()
	}
	if c.stood != "" {
		e.Gate = c.stood
	}
	would := d.Would()
	e.Policy, e.Verb, e.Reason, e.Rule = d.Policy(), would.Verb().String(), string(would.Reason()), would.Rule()
	e.Needs = would.Assurance()
	e.Guard, e.Paths, e.Intent = would.Guard(), cutPaths(would.Paths()), c.intent
	e.Line = uint64(would.Line())
	e.Fit = c.fit
	if n := c.counts; n != nil {
		e.Counts = &registry.EntryCounts{Run: n.Run, Minute: n.Minute, Hour: n.Hour, Day: n.Day, New: n.New}
	}
	for _, x := range d.Shadow() {
		e.Shadow = append(e.Shadow, registry.EntryShadow{Verb: x.Verb.String(), Reason: string(x.Reason), Rule: x.Rule})
	}
	if !d.Enforced() {
		no := false
		e.Enforced = &no
	}
	return e
}

// beside is the unknown members of an envelope as one object; nil if there are
// none. They go upstream like any unknown member.
func beside(rest []mcp.Member) []byte {
	if len(rest) == 0 {
		return nil
	}
	out := []byte{'{'}
	for i, m := range rest {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, mcp.Quote(m.Name)...), ':'), m.Value...)
	}
	return append(out, '}')
}

// record has the decision in the log before its effect: durable first where the
// call is not known to be a read.
func (s *Session) record(ctx context.Context, c *call, a admitted) (recorded, error) {
	e := c.entry(&a.item, a.d)
	e.Surface, e.Tier, e.Invoked = s.keeper.Digest(), a.tier(c).String(), "unknown"
	e.Whole = c.whole(&a.p)
	t, err := s.g.o.Record.Decided(ctx, &e, a.p.arguments(), a.item.Effect.Consequential())
	return recorded{a, t}, err
}

// whole is all that goes upstream where more does than arguments: unknown members, _meta
// and answers are flows too (RULES.md 5, 6).
func (c *call) whole(p *params) string {
	if !p.beside && len(c.f.Rest) == 0 {
		return ""
	}
	return string(p.raw) + string(beside(c.f.Rest))
}

// tier is that of the verified label; of what needs none, that of its evidence.
func (ok *permitted) tier(c *call) labels.Tier {
	if ok.label.Tool() == "" {
		return ok.item.Tier(c.at)
	}
	return ok.label.Tier()
}

// refuse answers with a refusal and leaves one entry. What has no item, or was
// not shown, is counted where it comes in floods.
func (c *call) refuse(p *params, item *gate.Entry, d policy.Decision, detail string) mcp.Frame {
	s := c.s
	if c.ref == "" {
		c.ref = s.g.id("call_")
	}
	c.watch.Decided(d, labels.Red)
	shown := item != nil && item.Kind != "" && item.State != policy.NotShown
	if e := c.entry(item, d); shown || s.tally.single(s.g, named(&e, p)) {
		e.Outcome, e.Invoked, e.Whole = registry.OutcomeRefused, "no", c.whole(p)
		if _, err := s.g.o.Record.Decided(context.Background(), &e, p.arguments(), false); err != nil {
			s.g.o.Log.Error("a refusal is not in the record", "reason", d.Reason(), "cause", err)
		}
	}
	c.watch.End(registry.OutcomeRefused)
	c.needs = d.Assurance()
	if d.Guard() != "" && detail == "" {
		c.paths, detail = cutPaths(d.Paths()), refusedAt(&d)
	}
	return c.answerRefused(item, d.Would().Reason(), d.Rule(), shown, false, detail)
}

// maxPaths is how many pointers of arguments are told and recorded.
const maxPaths = 8

// cutPaths bounds pointers, which are made of the agent's own names.
func cutPaths(paths []string) []string {
	var out []string
	for _, p := range paths[:min(len(paths), maxPaths)] {
		out = append(out, cutName(p))
	}
	return out
}

// refusedAt is what an agent is told of an argument that a guard refused: where, and
// why, without its value (RULES.md 10).
func refusedAt(d *policy.Decision) string {
	at, why := "", strings.TrimSuffix(d.Why(), ".")
	if len(d.Paths()) > 0 {
		at = cutName(d.Paths()[0])
		if at != "" && d.Line() > 0 {
			at += ", line " + itoa(d.Line())
		}
	}
	switch {
	case at == "" && why == "":
		return ""
	case why == "":
		return "What is wrong is at " + at + "."
	case at == "":
		return "What is wrong: " + why + "."
	}
	return "What is wrong at " + at + ": " + why + "."
}

// named puts the name that the agent asked for into an entry without an item:
// it is the agent's own word, cut.
func named(e *registry.Entry, p *params) *registry.Entry {
	if e.Name == "" && p != nil {
		e.Name = cutName(p.name)
	}
	return e
}

// answerRefused is the frame of a refusal. shown tells whether the agent may
// know that there is such an item.
func (c *call) answerRefused(item *gate.Entry, reason policy.Reason, rule string, shown, invoked bool, detail string) mcp.Frame {
	r := refusal{reason: told(reason, shown), rule: rule, invoked: invoked, ref: c.ref, detail: detail}
	if r.reason != reason || r.reason == policy.ReasonNotShown { // one answer, whatever decided
		r.rule = "gate"
	}
	if r.reason == policy.ReasonNotShown && c.f.Method == methodRead {
		r.uri, _ = mcp.GetString(c.f.Params, "uri")
	}
	if r.reason == policy.Withdrawn {
		c.s.nameWithdrawn(&r)
	}
	if shown {
		r.origins = []string{c.s.g.place.Origin.String()}
		r.paths, r.needs = c.paths, c.needs
	}
	return r.answer(c.f, c.s.rev)
}

// refuseEarly refuses what was not looked at: no values are kept, and floods are
// counted.
func (c *call) refuseEarly(d policy.Decision) mcp.Frame {
	s := c.s
	c.ref = s.g.id("call_")
	e := c.entry(nil, d)
	if s.tally.single(s.g, &e) {
		e.Outcome, e.Invoked = registry.OutcomeRefused, "no"
		if _, err := s.g.o.Record.Decided(context.Background(), &e, nil, false); err != nil {
			s.g.o.Log.Error("a refusal is not in the record", "reason", d.Reason(), "cause", err)
		}
	}
	c.watch.End(registry.OutcomeRefused)
	return c.answerRefused(nil, d.Reason(), d.Rule(), true, false, "")
}

// unknown answers a method that is not carried.
func (c *call) unknown() mcp.Frame {
	c.s.drop("method", c.f)
	c.watch.End(registry.OutcomeRefused)
	return mcp.Fail(c.f.ID, mcp.CodeMethodNotFound, "method is not carried", nil)
}

// malformed answers params that are not those of the method.
func (c *call) malformed(err error) mcp.Frame { return c.malformedItem(nil, nil, err) }

func (c *call) malformedItem(p *params, item *gate.Entry, err error) mcp.Frame {
	s := c.s
	if c.ref == "" {
		c.ref = s.g.id("call_")
	}
	d := policy.Refuse(policy.Arguments, "params")
	e := c.entry(item, d)
	e.Outcome, e.Invoked, e.Detail = registry.OutcomeRefused, "no", err.Error()
	if s.tally.single(s.g, named(&e, p)) {
		if _, err := s.g.o.Record.Decided(context.Background(), &e, nil, false); err != nil {
			s.g.o.Log.Error("a refusal is not in the record", "reason", d.Reason(), "cause", err)
		}
	}
	c.watch.End(registry.OutcomeRefused)
	r := refusal{reason: policy.Arguments, rule: "params", ref: c.ref, detail: "The reason: " + err.Error() + "."}
	return mcp.Fail(c.f.ID, mcp.CodeInvalidParams, err.Error(), r.object())
}

// unrecorded answers a call whose decision could not be recorded: no record, no
// effect, under any profile.
func (c *call) unrecorded(a *admitted, err error) mcp.Frame {
	c.s.g.o.Log.Error("a decision could not be recorded: nothing was forwarded", "cause", err)
	if a.state != nil {
		c.s.g.states.unspend(a.state)
	}
	reason := policy.Unrecorded
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		reason = policy.Cancelled
	}
	c.watch.End(registry.OutcomeRefused)
	return c.answerRefused(&a.item, reason, "record", true, false, "")
}

// lost answers a recorded call that brought no answer.
func (c *call) lost(ctx context.Context, w *recorded, err error) mcp.Frame {
	reason, outcome, invoked := policy.UpstreamLost, registry.OutcomeLost, "unknown"
	unsent := errors.Is(err, ErrUnsent)
	switch {
	case unsent && ctx.Err() != nil:
		reason, outcome, invoked = policy.Cancelled, registry.OutcomeRefused, "no"
	case ctx.Err() != nil:
		outcome = registry.OutcomeCancelled
	case unsent && errors.Is(err, ErrUpstreamBusy):
		reason, outcome, invoked = policy.Quota, registry.OutcomeRefused, "no"
	case errors.Is(err, gate.ErrNoPass), errors.Is(err, gate.ErrSpent), errors.Is(err, gate.ErrOtherCall):
		reason, outcome, invoked = policy.Shut, registry.OutcomeRefused, "no"
	case isGate(err):
		reason, outcome, invoked = refusalOf(err).Reason(), registry.OutcomeRefused, "no"
	case unsent:
		reason, outcome, invoked = policy.UpstreamDown, registry.OutcomeRefused, "no"
	case errors.Is(err, ErrTimeout):
		reason = policy.UpstreamTimeout
	case errors.Is(err, ErrTooLarge):
		reason, outcome, invoked = policy.ResultTooLarge, registry.OutcomeHeld, "yes"
	case errors.Is(err, ErrBadAnswer):
		reason = policy.UpstreamInvalid
	}
	c.s.g.o.Log.Warn("a call brought no answer", "upstream", c.s.g.o.Upstream.Name(), "call", c.ref, "reason", reason, "cause", err)
	c.finish(w, registry.Entry{Outcome: outcome, Reason: string(reason), Invoked: invoked}, nil)
	return c.answerRefused(&w.item, reason, "upstream", true, invoked == "yes", "")
}

// isGate tells whether a call was stopped by what the surface is now.
func isGate(err error) bool {
	for _, g := range []error{gate.ErrMoved, gate.ErrNotShown, gate.ErrWithheld, gate.ErrChanged, gate.ErrNew, gate.ErrIncomplete, gate.ErrShut, gate.ErrOtherItem} {
		if errors.Is(err, g) {
			return true
		}
	}
	return false
}

// finish records the outcome. It tells whether that succeeded: what is not in
// the record is not delivered.
func (c *call) finish(w *recorded, e registry.Entry, result []byte) bool {
	c.watch.End(e.Outcome)
	c.s.closes(c, w, &e)
	base := c.s.entry(registry.EntryOutcome)
	base.Method, base.Kind, base.Name, base.Tool, base.Mdg = c.f.Method, string(w.item.Kind), cutName(w.item.Name), w.item.Tool, w.item.Digest
	base.Outcome, base.Reason, base.Invoked, base.Verdict, base.Detail = e.Outcome, e.Reason, e.Invoked, e.Verdict, e.Detail
	base.Enforced, base.Hold, base.Delivered = e.Enforced, e.Hold, e.Delivered
	base.Millis = c.s.g.o.Now().Sub(c.at).Milliseconds()
	if err := c.s.g.o.Record.Finished(w.ticket, &base, result); err != nil {
		c.s.g.o.Log.Error("an outcome could not be recorded", "call", c.ref, "cause", err)
		return false
	}
	return true
}

// drop records a frame that was neither judged nor forwarded.
func (s *Session) drop(reason string, f *mcp.Frame) { s.dropped(reason, f, nil) }

// dropped records a frame of which not all was forwarded. Of one that gets an entry
// of its own keep, where it is not nil, keeps the frame and says what is known of it:
// a flood is counted, and kept no more than it is written.
func (s *Session) dropped(reason string, f *mcp.Frame, keep func(e *registry.Entry)) {
	e := s.entry(registry.EntryDropped)
	e.Reason, e.Invoked = reason, "no"
	if m, ok := mcp.Lookup(f.Method); ok {
		e.Method = m.Name // of a method that we know: others are somebody else's words
	}
	if !s.tally.single(s.g, &e) {
		return
	}
	if keep != nil {
		keep(&e)
	}
	if err := s.g.o.Record.Note(&e); err != nil {
		s.g.o.Log.Error("a dropped frame is not in the record", "reason", reason, "cause", err)
	}
}

// Drop records a frame that was dropped before it got here: an orphan answer, a
// call without an id, a batch where there are none. reason is a word of ours.
func (s *Session) Drop(reason string, f mcp.Frame) { s.drop(reason, &f) }
