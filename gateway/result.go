package gateway

import (
	"bytes"
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/holds"
)

// deliver is the way back: the surface once more where the call may have
// changed it, the inspector, the record, the label.
func (s *Session) deliver(ctx context.Context, c *call, w *recorded, a mcp.Frame) mcp.Frame {
	a.ID = c.f.ID
	x := sentAnswer(c, &a)
	if w.item.Effect.Consequential() && w.item.Kind != "" {
		if err := s.keeper.After(ctx, w.item); err != nil {
			return c.hold(w, policy.ChangedAfter, &ruling{}, &x, a)
		}
	}
	if forged(x.raw) {
		return c.hold(w, policy.UpstreamInvalid, &ruling{}, &x, a)
	}
	r := s.rule(ctx, c, x)
	if s.answered(c, w, &x, &r) {
		r = r.bar(s.watches())
	}
	if r.way == held {
		return c.hold(w, policy.ResultHeld, &r, &x, a)
	}
	if len(a.Rest) > 0 && !s.watches() && !s.harmless(ctx, a.Rest) {
		s.drop("beside an answer: not clear", c.f)
		a.Rest = nil
	}
	e := registry.Entry{Outcome: registry.OutcomeReturned, Invoked: "yes", Verdict: r.verdict.String(), Detail: r.word()}
	if r.way == loose {
		no := false
		e.Enforced = &no
		if r.would == held {
			e.Reason = string(policy.ResultHeld)
		}
	}
	a, err := s.handOver(ctx, c, w, &r, a)
	if err != nil {
		return c.hold(w, reasonOf(err), &r, &x, a)
	}
	if a.Shape == mcp.Failure {
		e.Outcome = registry.OutcomeError
	}
	if err := s.delivered(c, &x, &r); err != nil {
		return c.hold(w, lateReason(err), &r, &x, a)
	}
	if e.Delivered = c.resultID(); r.way == without {
		e.Hold = s.keep(c, &x, &r, "")
	}
	if !c.finish(w, e, rawOf(&x)) {
		return c.answerRefused(&w.item, policy.Unrecorded, "record", true, true, "")
	}
	return a
}

// handOver makes the answer that the agent gets.
func (s *Session) handOver(ctx context.Context, c *call, w *recorded, r *ruling, a mcp.Frame) (_ mcp.Frame, err error) {
	if a.Shape == mcp.Failure {
		if r.way == without {
			a.Error = a.Error.With(r.value)
		}
		if object := a.Error.Object(); mayHoldOurs(object) {
			a.Error = a.Error.With(dropOurs(object))
		}
		return a, nil
	}
	a.Result = r.value
	s.remember(c, w, a.Result)
	if a, err = s.rounds(ctx, c, w, a); err != nil {
		return a, err
	}
	a.Result, err = c.labelled(w, r, a.Result)
	return a, err
}

// sentAnswer is an answer as it is judged.
func sentAnswer(c *call, a *mcp.Frame) sent {
	if a.Shape == mcp.Failure {
		return sent{form: holds.FormError, method: c.f.Method, raw: a.Error.Object()}
	}
	return sent{form: holds.FormResult, method: c.f.Method, raw: a.Result}
}

// rawOf is what the record has the digest of: a result, or the data of an error.
func rawOf(x *sent) []byte {
	if x.form == holds.FormError {
		data, _ := mcp.Get(x.raw, "data")
		return data
	}
	return x.raw
}

// hold keeps an answer from the agent. The call was executed, and both the agent
// and the record are told so.
func (c *call) hold(w *recorded, reason policy.Reason, v *ruling, x *sent, a mcp.Frame) mcp.Frame {
	e := registry.Entry{Outcome: registry.OutcomeHeld, Reason: string(reason), Invoked: "yes", Verdict: v.verdict.String()}
	e.Hold = c.s.keep(c, x, v, reason)
	c.finish(w, e, rawOf(x))
	r := refusal{reason: reason, rule: "inspector", invoked: true, ref: c.ref, origins: []string{c.s.g.place.Origin.String()}}
	switch {
	case reason != policy.ResultHeld:
		r.rule = "gate"
	case v.barred:
		r.rule = "label"
	}
	if a.Shape == mcp.Failure {
		return mcp.Fail(c.f.ID, r.code(), r.sentence(), r.object()) // an error stays one
	}
	return r.answer(c.f, c.s.rev)
}

// labelled puts our label into a result's _meta, and takes out whatever the
// upstream put there under names of ours. All other bytes stay.
func (c *call) labelled(w *recorded, r *ruling, result jsontext.Value) (jsontext.Value, error) {
	if result.Kind() != '{' {
		return nil, mcp.ErrNotObject
	}
	result = dropOurs(result)
	if !c.labels(holds.FormResult) {
		return result, nil
	}
	b := make([]byte, 0, 192)
	b = append(b, `{"result":`...)
	b = appendQuoted(b, c.resultID())
	b = append(b, `,"origin":`...)
	b = appendQuoted(b, c.s.g.place.Origin.String())
	b = append(b, `,"tier":`...)
	b = appendQuoted(b, w.tier(c).String())
	b = append(b, `,"untrusted":true`...)
	switch r.way {
	case without: // the notices in it name the same reference
		b = append(b, `,"cut":true,"ref":`...)
		b = appendQuoted(b, c.ref)
	case marked:
		b = append(b, `,"marked":`...)
		b = appendQuoted(b, r.marker)
	}
	b = append(b, '}')
	return mcp.SetMeta(result, []mcp.Member{{Name: mcp.MetaLabel, Value: b}}, mcp.IsOurMeta)
}

// mayHoldOurs tells whether names of ours could stand in a result; with escapes
// anything could.
func mayHoldOurs(v []byte) bool {
	return bytes.Contains(v, []byte(`\u`)) || namesUs(v, 'q') || namesUs(v, 'Q')
}

// namesUs tells whether our name stands in a text, in letters of any case, its q
// written as said: few texts have many. No letter beyond ASCII is another form of one
// of these.
func namesUs(v []byte, q byte) bool {
	const name, at = "pratique", 5
	for i := 0; ; i++ {
		j := bytes.IndexByte(v[i:], q)
		if j < 0 {
			return false
		}
		if i += j; i >= at && v[i-1]|0x20 == 'i' && len(v)-i >= len(name)-at && equalFold(string(v[i-at:i-at+len(name)]), name) {
			return true
		}
	}
}

// dropOurs takes members of our names out, at any depth and wherever they stand:
// parts of a result have a _meta of their own, and a model that reads a label
// elsewhere takes it for ours as well. It reads what it gets once.
func dropOurs(v jsontext.Value) jsontext.Value {
	if !mayHoldOurs(v) {
		return v
	}
	return mcp.Without(v, mcp.IsOurMeta)
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
