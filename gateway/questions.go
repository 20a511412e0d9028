package gateway

import (
	"bytes"
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/decisions"
	"github.com/pratique-dev/pratique/registry/holds"
)

// needs are the capability that an agent must have claimed to be asked.
var needs = map[string]string{
	"sampling/createMessage": "sampling",
	"elicitation/create":     "elicitation",
	"roots/list":             "roots",
}

// question is the path backwards: an upstream asks, and is answered only while
// this agent has a call to it open (RULES.md 5). c is the call that it belongs
// to, nil where that is not known: on stdio a question may belong to any open
// call, and the entry says so. It is always answered.
func (s *Session) question(ctx context.Context, c *call, outside bool, f mcp.Frame) mcp.Frame {
	m, ok := mcp.Lookup(f.Method)
	if ok && f.Method == methodPing && m.In(s.rev) {
		return mcp.Answer(f.ID, jsontext.Value(`{}`))
	}
	s.wasAsked(c, f.Method)
	if !ok || m.Notification || m.Upstream != mcp.Question || !m.In(s.rev) || !s.claims(f.Method) {
		s.drop("question: not carried", &f)
		return mcp.Fail(f.ID, mcp.CodeMethodNotFound, "the agent takes no such question", nil)
	}
	c, detail := s.asker(c, outside)
	if c == nil {
		s.drop(string(policy.Question), &f)
		return mcp.Fail(f.ID, mcp.CodeInvalidRequest, "an upstream may ask only while a call to it is open", nil)
	}
	if !s.mayAsk(c) {
		s.drop("question: too many", &f)
		return mcp.Fail(f.ID, mcp.CodeInvalidRequest, "too many questions are open", nil)
	}
	defer s.asked()
	t, refused := s.admitQuestion(ctx, c, detail, &f)
	if refused != nil {
		return *refused
	}
	return s.answerQuestion(ctx, c, outside, t, f)
}

// admitQuestion judges a question together with what was asked and said before,
// brings it to what may be asked, and has it recorded; or says why it is not asked.
// Nobody waits for the agent's answer here: others are judged meanwhile.
func (s *Session) admitQuestion(ctx context.Context, c *call, detail string, f *mcp.Frame) (t decisions.Ticket, refused *mcp.Frame) {
	fail := func(code int64, text string) *mcp.Frame {
		a := mcp.Fail(f.ID, code, text, nil)
		return &a
	}
	defer s.stream.turn()()
	q := s.judgeQuestion(ctx, c, f.Method, f.Params)
	e := s.questionEntry(c, f.Method, detail, &q)
	if e.Outcome != "" {
		if s.tally.single(s.g, &e) { // an upstream that asks without end must not fill the log
			e.Hold = s.keepQuestion(c, &q)
			s.recordQuestion(&e, f.Params)
		}
		return t, fail(mcp.CodeInvalidRequest, "the question was not passed on")
	}
	e.Hold = s.keepQuestion(c, &q)
	t, err := s.g.o.Record.Decided(ctx, &e, q.value, false)
	if err != nil {
		return t, fail(mcp.CodeInternal, "the question could not be recorded")
	}
	if err := s.delivered(c, &q.sent, &q.ruling); err != nil {
		o := s.entry(registry.EntryOutcome)
		o.Method, o.Outcome, o.Invoked, o.Reason = f.Method, registry.OutcomeRefused, "no", string(lateReason(err))
		if err := s.g.o.Record.Finished(t, &o, nil); err != nil {
			s.g.o.Log.Error("an outcome could not be recorded", "cause", err)
		}
		return t, fail(mcp.CodeInternal, "the question could not be recorded")
	}
	if f.Params = q.value; len(f.Rest) > 0 && !s.watches() && !s.harmless(ctx, f.Rest) {
		f.Rest = nil
	}
	if q.said() {
		s.stream.said(q.set)
	}
	return t, nil
}

// claims tells whether the agent said that it can be asked this.
func (s *Session) claims(method string) bool {
	_, ok := mcp.Get(s.hello.Capabilities, needs[method])
	return ok && needs[method] != ""
}

// asker is the open call that a question belongs to, and what is said of that in
// the record.
func (s *Session) asker(c *call, outside bool) (*call, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var open []*call
	for _, x := range s.calls {
		if x.sent {
			open = append(open, x)
		}
	}
	switch {
	case !outside && c != nil:
		for _, x := range open {
			if x == c {
				return c, "in " + c.ref
			}
		}
		return nil, ""
	case len(open) == 0:
		return nil, ""
	case len(open) > 1:
		return open[len(open)-1], "in one of several open calls: ambiguous"
	}
	return open[0], "in " + open[0].ref
}

// mayAsk counts a question in: at once, and of one call, only so many may be.
func (s *Session) mayAsk(c *call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.questions >= s.g.o.Limits.Questions || c.questions >= s.g.o.Limits.Asked {
		return false
	}
	s.questions++
	c.questions++
	return true
}

func (s *Session) asked() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.questions--
}

// A query is a question, judged.
type query struct {
	ruling
	sent
	reason policy.Reason // why it is not passed on; under watch, why it should not have been
}

// judgeQuestion brings a question to what may be asked, and says why it may not.
// The rest of what the agent knows is not the upstream's to ask for:
// includeContext becomes none.
func (s *Session) judgeQuestion(ctx context.Context, c *call, method string, params jsontext.Value) query {
	q := query{sent: sent{form: holds.FormMessage, method: method, raw: params, stream: s.stream}, reason: policy.UpstreamInvalid}
	if v, ok := mcp.Get(params, "includeContext"); ok && v.Kind() != 'n' {
		if t, _ := mcp.String(v); t != "none" {
			n, err := mcp.Edit(params, []mcp.Member{{Name: "includeContext", Value: mcp.Quote("none")}}, nil)
			if err != nil {
				return q
			}
			params = n
		}
	}
	if _, ok := mcp.Get(params, "task"); ok {
		n, err := mcp.Edit(params, nil, func(n string) bool { return n == "task" })
		if err != nil {
			return q
		}
		params = n
	}
	q.raw = params
	q.ruling = s.rule(ctx, c, q.sent)
	switch {
	case q.unread:
	case q.way == held || q.way == loose && q.would == held:
		q.reason = policy.ResultHeld
	default:
		q.reason = ""
	}
	return q
}

// keepQuestion keeps a question that the agent does not get, or not whole.
func (s *Session) keepQuestion(c *call, q *query) string {
	if q.way != held && q.way != without {
		return ""
	}
	return s.keep(c, &q.sent, &q.ruling, q.reason)
}

// questionEntry is the decision on a question; with an outcome it is a refusal.
func (s *Session) questionEntry(c *call, method, detail string, q *query) registry.Entry {
	e := s.entry(registry.EntryDecision)
	e.Call, e.Method, e.Detail, e.View = s.g.id("call_"), method, "asked by the upstream "+detail, c.view
	e.Verb, e.Rule, e.Reason, e.Invoked = policy.Allow.String(), "question", string(policy.ReasonCleared), "no"
	if e.Verdict = q.verdict.String(); q.way == without {
		e.Detail += ", cut"
	}
	if q.reason == "" {
		return e
	}
	e.Reason = string(q.reason)
	if q.way == loose {
		no := false
		e.Verb, e.Enforced = policy.Deny.String(), &no
		return e
	}
	e.Verb, e.Outcome = policy.Deny.String(), registry.OutcomeRefused
	return e
}

func (s *Session) recordQuestion(e *registry.Entry, params []byte) {
	if _, err := s.g.o.Record.Decided(context.Background(), e, params, false); err != nil {
		s.g.o.Log.Error("a refused question is not in the record", "cause", err)
	}
}

// answerQuestion asks the agent, and lets its answer go to the upstream: a flow
// to that origin, which must not name what is ours.
func (s *Session) answerQuestion(ctx context.Context, c *call, outside bool, t decisions.Ticket, f mcp.Frame) mcp.Frame {
	a, err := c.peer.Ask(ctx, f)
	o := s.entry(registry.EntryOutcome)
	o.Method, o.Outcome, o.Invoked = f.Method, registry.OutcomeReturned, "yes"
	out := mcp.Answer(f.ID, a.Result)
	flow := []byte(a.Result)
	switch {
	case err != nil:
		o.Outcome, o.Invoked = registry.OutcomeLost, "no"
		if ctx.Err() != nil || errors.Is(err, context.Canceled) {
			o.Outcome = registry.OutcomeCancelled
		}
		out = mcp.Fail(f.ID, mcp.CodeInternal, "the agent did not answer", nil)
	case a.Shape == mcp.Failure:
		o.Outcome, flow = registry.OutcomeError, a.Error.Data
		out = mcp.Fail(f.ID, a.Error.Code, a.Error.Message, a.Error.Data)
	}
	if s.g.guard.names(flow) || a.Shape == mcp.Failure && s.g.guard.namesText(a.Error.Message) {
		o.Outcome, o.Invoked, o.Reason = registry.OutcomeRefused, "no", string(policy.OwnGuard)
		out = mcp.Fail(f.ID, mcp.CodeInternal, "the answer was not passed on", nil)
	} else if d, err := s.mayAnswer(c, outside, a, o.Outcome); err != nil {
		o.Outcome, o.Invoked, o.Reason = registry.OutcomeRefused, "no", string(d.Reason())
		out = mcp.Fail(f.ID, mcp.CodeInternal, "the answer was not passed on", nil)
	}
	if err := s.g.o.Record.Finished(t, &o, flow); err != nil {
		return mcp.Fail(f.ID, mcp.CodeInternal, "the answer could not be recorded", nil)
	}
	return out
}

// inputs judges the questions of an input_required result. One that may not be
// asked holds all of them, since the upstream waits for all, and none of them was said.
func (s *Session) inputs(ctx context.Context, c *call, asked jsontext.Value) (_ jsontext.Value, err error) {
	defer s.stream.turn()()
	before := s.stream.heard
	defer func() {
		if err != nil {
			s.stream.heard = before
		}
	}()
	var set []mcp.Member
	n := 0
	for id, q := range mcp.Members(asked) {
		if n++; n > s.g.o.Limits.Questions {
			return nil, errAsked
		}
		method, _ := mcp.GetString(q, "method")
		s.wasAsked(c, method)
		m, ok := mcp.Lookup(method)
		if !ok || !m.Input || !s.claims(method) {
			s.drop("question: not carried", &mcp.Frame{Method: method})
			return nil, errAsked
		}
		params, _ := mcp.Get(q, "params")
		asked := s.judgeQuestion(ctx, c, method, params)
		e := s.questionEntry(c, method, "in "+c.ref, &asked)
		e.Hold = s.keepQuestion(c, &asked)
		refused := e.Outcome != ""
		if !refused {
			e.Outcome = registry.OutcomeReturned // the answer comes with the next round, which is a call of its own
		}
		judged := asked.value
		if _, err := s.g.o.Record.Decided(ctx, &e, judged, false); err != nil || refused {
			return nil, errAsked
		}
		if asked.said() {
			s.stream.said(asked.set)
		}
		if !bytes.Equal(judged, params) {
			edited, err := mcp.Edit(q, []mcp.Member{{Name: "params", Value: judged}}, nil)
			if err != nil {
				return nil, errAsked
			}
			set = append(set, mcp.Member{Name: id, Value: edited})
		}
	}
	if len(set) == 0 {
		return asked, nil
	}
	return mcp.Edit(asked, set, nil)
}
