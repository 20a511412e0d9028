package gateway

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine"
)

// TestStreamsAreNotPushedOut: what nobody hears, and what stands beside what is read,
// pushes nothing of it out of what is judged together (RULES.md 35).
func TestStreamsAreNotPushedOut(t *testing.T) {
	filler := string(mcp.Quote(strings.Repeat("fine ", maxTail/4)))
	for name, between := range map[string]func(s *Session, x Exchange){
		"nobody's progress": func(s *Session, x Exchange) {
			n := mcp.Note("notifications/progress", jsontext.Value(`{"progressToken":"nobody","progress":1,"message":`+filler+`}`))
			x.Receive(n)
			s.receive(nil, n)
		},
		"nobody's resource": func(s *Session, _ Exchange) {
			s.receive(nil, mcp.Note("notifications/resources/updated", jsontext.Value(`{"uri":"z:z","note":`+filler+`}`)))
		},
		"a resource without an address": func(s *Session, _ Exchange) {
			s.receive(nil, mcp.Note("notifications/resources/updated", jsontext.Value(`{"note":`+filler+`}`)))
		},
		"a logger": func(s *Session, _ Exchange) {
			s.receive(nil, mcp.Note("notifications/message", jsontext.Value(`{"level":"info","logger":`+filler+`,"data":1}`)))
		},
		"what is refused": func(_ *Session, x Exchange) {
			x.Ask(ctx, mcp.Ask("9", "elicitation/create", jsontext.Value(`{"message":`+filler+`,"requestedSchema":{"title":"HOSTILE"}}`)))
		},
	} {
		u := newServer(tool("it"))
		h, _, _ := guarded(t, u, policy.Personal)
		own, p := newPerson(), newPerson()
		s := h.shown(own)
		u.do = func(_ context.Context, _ *wire, x Exchange) (mcp.Frame, error) {
			x.Receive(logged("SUSP"))
			between(s, x)
			x.Receive(logged("ECT"))
			return mcp.Answer(x.Frame.ID, jsontext.Value(`{"content":[]}`)), nil
		}
		s.Handle(ctx, ask(methodCall, `{"name":"it","_meta":{"progressToken":7}}`), p)
		if len(p.heard) != 1 || !strings.Contains(string(p.heard[0].Params), "SUSP") {
			t.Errorf("%s: heard %v", name, p.heard)
		}
	}
	// A long logger beside each piece, and the pieces in loggers.
	for name, note := range map[string]string{"in data": `{"level":"info","logger":` + filler + `,"data":"%s"}`, "in loggers": `{"level":"info","logger":"%s","data":` + filler + `}`} {
		u := newServer(tool("it"))
		h, _, _ := guarded(t, u, policy.Personal)
		got := messages(t, h, h.shown(newPerson()), mcp.Note("notifications/message", jsontext.Value(fmt.Sprintf(note, "SUSP"))), mcp.Note("notifications/message", jsontext.Value(fmt.Sprintf(note, "ECT"))))
		if got[0] == "" || got[1] != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	// And from one member to another.
	u := newServer(tool("it"))
	h, _, _ := guarded(t, u, policy.Personal)
	got := messages(t, h, h.shown(newPerson()), logged("SUSP"), mcp.Note("notifications/message", jsontext.Value(`{"level":"info","logger":"ECT","data":1}`)))
	if got[0] == "" || got[1] != "" {
		t.Errorf("across: %q", got)
	}
}

// TestStreamsAreOfRuns: an agent with two sessions reads both.
func TestStreamsAreOfRuns(t *testing.T) {
	u := newServer(tool("it"))
	h, _, _ := guarded(t, u, policy.Personal)
	one, two := newPerson(), newPerson()
	a, b := h.shown(one), h.shown(two)
	a.receive(nil, logged("SUSP"))
	b.receive(nil, logged("ECT"))
	if len(one.heard) != 1 || len(two.heard) != 0 {
		t.Errorf("at once: %v, %v", one.heard, two.heard)
	}
	_, _ = a.Close(), b.Close()
	three := newPerson()
	c := h.shown(three)
	c.receive(nil, logged("ECT"))
	if len(three.heard) != 0 {
		t.Errorf("afterwards: %v", three.heard)
	}
}

// What is remembered of runs without sessions is bounded, and no run with one is
// forgotten.
func TestStreamsAreBounded(t *testing.T) {
	var x streams
	who := func(n int) *Agent { return &Agent{ID: "agt_1", Run: fmt.Sprint("run_", n)} }
	open := x.enter(who(0))
	open.said([]quarantine.Specimen{{Path: "data", Text: "SUSP"}})
	for n := range 3 * maxIdle {
		x.enter(who(n + 1))
		x.leave(who(n + 1))
	}
	if len(x.by) != maxIdle+1 || len(x.idle) != maxIdle || x.by[listening{"agt_1", "run_0"}] == nil {
		t.Errorf("%d streams, %d idle", len(x.by), len(x.idle))
	}
	if x.enter(who(0)) != open || x.enter(&Agent{ID: credentials.AgentID("agt_2"), Run: "run_0"}) == open {
		t.Error("a stream is somebody else's")
	}
	x.leave(who(0))
	x.leave(who(0))
	if x.enter(who(0)) != open || len(x.idle) != maxIdle-1 {
		t.Error("a stream is forgotten at once")
	}
}

// TestQuestionsAreJudgedTogether: a person who is asked again and again reads one
// text.
func TestQuestionsAreJudgedTogether(t *testing.T) {
	put := func(text string) jsontext.Value {
		return jsontext.Value(`{"message":` + string(mcp.Quote(text)) + `,"requestedSchema":{"type":"object","properties":{}}}`)
	}
	u := newServer(tool("it"))
	h, _, _ := guarded(t, u, policy.Personal)
	s, p := h.shown(newPerson()), newPerson()
	u.do = func(ctx context.Context, _ *wire, x Exchange) (mcp.Frame, error) {
		x.Receive(logged("H"))
		for _, d := range []string{"OST", "ILE", "fine"} {
			x.Ask(ctx, mcp.Ask("9", "elicitation/create", put(d)))
		}
		return mcp.Answer(x.Frame.ID, jsontext.Value(`{"content":[]}`)), nil
	}
	s.Handle(ctx, ask(methodCall, callIt), p)
	if len(p.asked) != 2 || string(p.asked[0].Params) != string(put("OST")) || string(p.asked[1].Params) != string(put("fine")) {
		t.Errorf("asked %v", p.asked)
	}
	// In a result, and in the round after it. What was not asked is not said.
	u = newServer(tool("it"))
	u.rev = mcp.Rev20260728
	h, _, _ = guarded(t, u, policy.Personal)
	s = h.shown(newPerson())
	for i, c := range []struct {
		ask  []string
		goes bool
	}{{[]string{"SUSP"}, true}, {[]string{strings.Repeat("fine ", maxTail/4), "ECT"}, true}, {[]string{"SUSP"}, true}, {[]string{"ECT"}, false}, {[]string{"SU", "SP", "fine"}, true}, {[]string{"SUSP", "ECT"}, false}} {
		var b strings.Builder
		for n, q := range c.ask {
			fmt.Fprintf(&b, `,"q%d":{"method":"elicitation/create","params":%s}`, n, put(q))
		}
		u.answer(`{"resultType":"input_required","requestState":"s","inputRequests":{` + b.String()[1:] + `}}`)
		if a := run(s); (reason(a) == "") != c.goes {
			t.Errorf("%d: %s", i, a.Bytes())
		}
	}
}
