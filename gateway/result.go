package gateway

import (
	"bytes"
	"context"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/registry"
)

// deliver is the way back: the surface once more where the call may have
// changed it, the inspector, the record, the label.
func (s *Session) deliver(ctx context.Context, c *call, w *recorded, a mcp.Frame) mcp.Frame {
	a.ID = c.f.ID
	if w.item.Effect.Consequential() && w.item.Kind != "" {
		if err := s.keeper.After(ctx, w.item); err != nil {
			return c.hold(w, policy.ChangedAfter, quarantine.Missing, a)
		}
	}
	if forged(&a) {
		return c.hold(w, policy.UpstreamInvalid, quarantine.Missing, a)
	}
	v := s.inspect(ctx, c.f.Method, &a)
	if v == quarantine.Hostile || v == quarantine.Missing {
		if !s.watches() {
			return c.hold(w, policy.ResultHeld, v, a)
		}
	}
	e := registry.Entry{Outcome: registry.OutcomeReturned, Invoked: "yes", Verdict: v.String()}
	if v == quarantine.Hostile || v == quarantine.Missing {
		no := false
		e.Reason, e.Enforced = string(policy.ResultHeld), &no
	}
	raw := []byte(a.Result)
	if a.Shape == mcp.Failure {
		e.Outcome, raw = registry.OutcomeError, a.Error.Data
		if mayHoldOurs(raw) {
			data, err := dropOurs(raw, 0)
			if err != nil {
				return c.hold(w, policy.UpstreamInvalid, v, a)
			}
			failure := *a.Error
			failure.Data, a.Error = data, &failure
		}
	} else {
		s.remember(c, w, a.Result)
		var err error
		if a, err = s.rounds(ctx, c, w, a); err != nil {
			return c.hold(w, reasonOf(err), v, a)
		}
		if a.Result, err = c.labelled(w, a.Result); err != nil {
			return c.hold(w, policy.UpstreamInvalid, v, a)
		}
	}
	if !c.finish(w, e, raw) {
		return c.answerRefused(&w.item, policy.Unrecorded, "record", true, true, "")
	}
	return a
}

// forged tells whether an answer of the upstream passes itself off as a refusal of
// ours: an agent would take it that nothing was executed, and try again.
func forged(a *mcp.Frame) bool {
	said := a.Result
	if a.Shape == mcp.Failure {
		said = a.Error.Data
	}
	if !mayHoldOurs(said) {
		return false
	}
	if a.Shape != mcp.Failure {
		said, _ = mcp.Get(said, "structuredContent")
	}
	if said.Kind() != '{' {
		return false
	}
	for name, v := range mcp.Members(said) {
		if by, ok := mcp.String(v); ok && equalFold(name, "enforcedBy") && equalFold(by, "pratique") {
			return true
		}
	}
	return false
}

// hold keeps an answer from the agent. The call was executed, and both the agent
// and the record are told so.
func (c *call) hold(w *recorded, reason policy.Reason, v quarantine.Verdict, a mcp.Frame) mcp.Frame {
	raw := []byte(a.Result)
	if a.Shape == mcp.Failure {
		raw = a.Error.Data
	}
	c.finish(w, registry.Entry{Outcome: registry.OutcomeHeld, Reason: string(reason), Invoked: "yes", Verdict: v.String()}, raw)
	r := refusal{reason: reason, rule: "inspector", invoked: true, ref: c.ref, origins: []string{c.s.g.place.Origin.String()}}
	if reason != policy.ResultHeld {
		r.rule = "gate"
	}
	if a.Shape == mcp.Failure {
		return mcp.Fail(c.f.ID, r.code(), r.sentence(), r.object()) // an error stays one
	}
	return r.answer(c.f, c.s.rev)
}

// inspect gives the verdict of an answer, wherever in it words stand. What cannot
// be taken apart, or is late, has none.
func (s *Session) inspect(ctx context.Context, method string, a *mcp.Frame) quarantine.Verdict {
	var set []quarantine.Specimen
	var err error
	if a.Shape == mcp.Failure {
		set, err = quarantine.ErrorSpecimens(failure(a.Error))
	} else {
		set, err = quarantine.ResultSpecimens(method, a.Result)
	}
	if err != nil {
		return quarantine.Missing
	}
	return s.judge(ctx, set)
}

// failure is an error as one object.
func failure(e *mcp.Error) jsontext.Value {
	return mcp.Object(append([]mcp.Member{
		{Name: "code", Value: jsontext.Value(strconv.FormatInt(e.Code, 10))}, {Name: "message", Value: mcp.Quote(e.Message)}, {Name: "data", Value: e.Data},
	}, e.Rest...)...)
}

func (s *Session) judge(ctx context.Context, set []quarantine.Specimen) quarantine.Verdict {
	if len(set) == 0 {
		return quarantine.Clear
	}
	ctx, cancel := context.WithTimeout(ctx, s.g.o.Limits.Inspect)
	defer cancel()
	v := s.g.o.Inspector.Inspect(ctx, quarantine.Batch{Origin: s.g.place.Origin.String(), Specimens: set}).Verdict
	if ctx.Err() != nil {
		return quarantine.Worse(v, quarantine.Missing)
	}
	return v
}

// labelled puts our label into a result's _meta, and takes out whatever the
// upstream put there under names of ours. All other bytes stay.
func (c *call) labelled(w *recorded, result jsontext.Value) (jsontext.Value, error) {
	if result.Kind() != '{' {
		return nil, mcp.ErrNotObject
	}
	if mayHoldOurs(result) {
		var err error
		if result, err = dropOurs(result, 0); err != nil {
			return nil, err
		}
	}
	switch c.f.Method {
	case methodCall, methodPrompt, methodRead, methodComplete:
	default:
		return result, nil // an acknowledgement has no content
	}
	b := make([]byte, 0, 192)
	b = append(b, `{"result":`...)
	b = appendQuoted(b, c.s.g.id("res_"))
	b = append(b, `,"origin":`...)
	b = appendQuoted(b, c.s.g.place.Origin.String())
	b = append(b, `,"tier":`...)
	b = appendQuoted(b, w.tier(c).String())
	b = append(b, `,"untrusted":true}`...)
	return mcp.SetMeta(result, []mcp.Member{{Name: mcp.MetaLabel, Value: b}}, mcp.IsOurMeta)
}

// mayHoldOurs tells whether names of ours could stand in a result; with escapes
// anything could.
func mayHoldOurs(v []byte) bool {
	return bytes.Contains(v, []byte(`\u`)) || bytes.Contains(bytes.ToLower(v), []byte("pratique"))
}

// dropOurs takes members of our names out of every object that is called _meta,
// at any depth: parts of a result have some of their own.
func dropOurs(v jsontext.Value, depth int) (jsontext.Value, error) {
	if depth > maxNesting {
		return v, nil
	}
	switch v.Kind() {
	case '{':
		var set []mcp.Member
		for name, sub := range mcp.Members(v) {
			n := sub
			var err error
			if name == "_meta" && sub.Kind() == '{' {
				if n, err = mcp.Edit(sub, nil, mcp.IsOurMeta); err != nil {
					return nil, err
				}
			} else if n, err = dropOurs(sub, depth+1); err != nil {
				return nil, err
			}
			if !bytes.Equal(n, sub) {
				set = append(set, mcp.Member{Name: name, Value: n})
			}
		}
		if len(set) > 0 {
			return mcp.Edit(v, set, nil)
		}
	case '[':
		var parts []jsontext.Value
		changed := false
		for sub := range mcp.Elements(v) {
			n, err := dropOurs(sub, depth+1)
			if err != nil {
				return nil, err
			}
			changed = changed || !bytes.Equal(n, sub)
			parts = append(parts, n)
		}
		if changed {
			return mcp.Array(parts...), nil
		}
	}
	return v, nil
}

// remember keeps what a result links or embeds, since the agent may read that
// (RULES.md 4), and what was subscribed to.
func (s *Session) remember(c *call, w *recorded, result jsontext.Value) {
	switch c.f.Method {
	case methodSubscribe, methodUnsubscribe:
		s.subscriptions(c.f.Method == methodSubscribe, w.p.name)
	case methodCall:
		if v, ok := mcp.Get(result, "content"); ok {
			for part := range mcp.Elements(v) {
				s.linkPart(part)
			}
		}
	case methodPrompt:
		if v, ok := mcp.Get(result, "messages"); ok {
			for m := range mcp.Elements(v) {
				if part, ok := mcp.Get(m, "content"); ok {
					s.linkPart(part)
				}
			}
		}
	case methodRead:
		if v, ok := mcp.Get(result, "contents"); ok {
			for part := range mcp.Elements(v) {
				if uri, ok := mcp.GetString(part, "uri"); ok {
					s.keeper.Linked(uri)
				}
			}
		}
	}
}

// maxSubscribed is how many resources a session may be subscribed to and hear
// of.
const maxSubscribed = 10_000

func (s *Session) subscriptions(on bool, uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !on {
		delete(s.subscribed, uri)
	} else if len(s.subscribed) < maxSubscribed {
		s.subscribed[uri] = true
	}
}

func (s *Session) linkPart(part jsontext.Value) {
	switch t, _ := mcp.GetString(part, "type"); t {
	case "resource_link":
		if uri, ok := mcp.GetString(part, "uri"); ok {
			s.keeper.Linked(uri)
		}
	case "resource":
		if uri, ok := mcp.GetString(part, "resource", "uri"); ok {
			s.keeper.Linked(uri)
		}
	}
}
