package gateway

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/holds"
)

// messages has a server send messages while a call is open, and gives what the
// agent heard of each, empty where it heard nothing.
func messages(t *testing.T, h *house, s *Session, notes ...mcp.Frame) []string {
	t.Helper()
	p := newPerson()
	got := make([]string, len(notes))
	h.u.do = func(_ context.Context, _ *wire, x Exchange) (mcp.Frame, error) {
		for i, n := range notes {
			before := len(p.heard)
			x.Receive(n)
			if len(p.heard) > before {
				got[i] = string(p.heard[before].Params)
			}
		}
		return mcp.Answer(x.Frame.ID, jsontext.Value(`{"content":[]}`)), nil
	}
	if a := s.Handle(ctx, ask(methodCall, `{"name":"it","_meta":{"progressToken":7}}`), p); reason(a) != "" {
		t.Fatalf("%s", a.Bytes())
	}
	return got
}

func logged(data string) mcp.Frame {
	return mcp.Note("notifications/message", jsontext.Value(`{"level":"info","data":`+string(mcp.Quote(data))+`}`))
}

// TestMessagesAreCutOrWithheld: progress and log messages are results in pieces.
func TestMessagesAreCutOrWithheld(t *testing.T) {
	u := newServer(tool("it"))
	h, _, v := guarded(t, u, policy.Personal)
	s := h.shown(newPerson())
	for name, c := range map[string]struct{ note, want string }{
		"progress":  {`{"progressToken":7,"progress":1.50,"message":"a\nSUSPECT"}`, `{"progressToken":7,"progress":1.50,"message":"a\n[removed by pratique: REF]"}`},
		"log":       {`{"level":"info","data":{"a":["SUSPECT",1]}}`, `{"level":"info","data":{"a":["[removed by pratique: REF]",1]}}`},
		"a logger":  {`{"level":"info","logger":"SUSPECT","data":1}`, `{"level":"info","logger":"[removed by pratique: REF]","data":1}`},
		"unknown":   {`{"level":"info","data":1,"x":"SUSPECT"}`, `{"level":"info","data":1,"x":"[removed by pratique: REF]"}`},
		"a level":   {`{"level":"SUSPECT","data":1}`, ""},
		"a name":    {`{"level":"info","data":{"SUSPECT":1}}`, ""},
		"hostile":   {`{"level":"info","data":"HOSTILE"}`, ""},
		"unended":   {`{"level":"info","data":"BROKEN"}`, ""},
		"clear":     {`{"level":"info", "data":"fine"}`, `{"level":"info", "data":"fine"}`},
		"base64":    {`{"level":"info","data":"YSBTVVNQRUNUIHRleHQ="}`, `{"level":"info","data":"W3JlbW92ZWQgYnkgcHJhdGlxdWU6IGNhbGxf` + "…"},
		"no params": {``, ``},
	} {
		method := "notifications/message"
		if strings.Contains(c.note, "progressToken") {
			method = "notifications/progress"
		}
		before := len(h.book.of(func(registry.Entry) bool { return true }))
		got := messages(t, h, s, mcp.Note(method, jsontext.Value(c.note)))[0]
		var dropped []registry.Entry
		for _, e := range h.book.of(func(registry.Entry) bool { return true })[before:] {
			if e.Type == registry.EntryDropped {
				dropped = append(dropped, e)
			}
		}
		if len(dropped) == 1 {
			got = strings.ReplaceAll(got, dropped[0].Call, "REF")
		}
		if want, begun := strings.CutSuffix(c.want, "…"); got != c.want && !(begun && strings.HasPrefix(got, want)) {
			t.Errorf("%s: %s", name, got)
		}
		if (len(dropped) == 1) != (got != c.note) {
			t.Errorf("%s: %+v", name, dropped)
			continue
		}
		if len(dropped) == 0 {
			continue
		}
		hold, err := v.Get(dropped[0].Hold)
		content, _ := v.Content(dropped[0].Hold)
		if err != nil || string(content) != c.note || hold.Form != holds.FormMessage || hold.Method != method || hold.Call != dropped[0].Call || hold.Cut != (c.want != "") {
			t.Errorf("%s: kept %s of %+v, %v", name, content, hold, err)
		}
	}
	// What belongs to no call is judged as well.
	own := newPerson()
	s = h.shown(own)
	s.receive(nil, logged("x SUSPECT"))
	s.receive(nil, logged("HOSTILE"))
	if len(own.heard) != 1 || string(own.heard[0].Params) != `{"level":"info","data":"[removed by pratique]"}` {
		t.Errorf("outside of a call: %v", own.heard)
	}
}

// TestMessageStreamsAreJudgedJoined: what says nothing in pieces is judged as the
// agent reads it (RULES.md 35).
func TestMessageStreamsAreJudgedJoined(t *testing.T) {
	for name, c := range map[string]struct {
		said string // one a message
		want string // y is heard
	}{
		"split in a word":    {"a SUSP|ECT b|c", "yny"},
		"in three":           {"SU|SP|ECT|SU", "yyny"},
		"tried again":        {"SUSP|ECT|ECT|ECT", "ynnn"},
		"innocent":           {"a SUSP|END b|c", "yyy"},
		"again":              {"SUSP|ECT|ECT|fine|ECT", "ynnyy"},
		"alone and then":     {"SUSPECT|x|ECT", "yyy"}, // the first is cut: nothing is left of it to continue
		"hostile, in pieces": {"HOST|ILE|ok", "yny"},
		"far apart":          {"SUSP|" + strings.Repeat("x", maxTail) + "|ECT", "yyy"},
		"near":               {"SUSP|ECT" + strings.Repeat("x", maxTail), "yn"},
	} {
		u := newServer(tool("it"))
		h, _, _ := guarded(t, u, policy.Personal)
		s := h.shown(newPerson())
		var notes []mcp.Frame
		for part := range strings.SplitSeq(c.said, "|") {
			notes = append(notes, logged(part))
		}
		heard := ""
		for _, text := range messages(t, h, s, notes...) {
			heard += map[bool]string{true: "y", false: "n"}[text != ""]
		}
		if heard != c.want {
			t.Errorf("%s: %s, want %s", name, heard, c.want)
		}
	}
	// Progress and log, of one call and the next, are one stream of the session.
	u := newServer(tool("it"))
	h, _, _ := guarded(t, u, policy.Personal)
	s := h.shown(newPerson())
	first := messages(t, h, s, mcp.Note("notifications/progress", jsontext.Value(`{"progressToken":7,"progress":1,"message":"SUSP"}`)))
	if next := messages(t, h, s, logged("ECT")); first[0] == "" || next[0] != "" {
		t.Errorf("%q, %q", first, next)
	}
	// Two at once are judged one after the other.
	p := newPerson()
	h.u.do = func(_ context.Context, _ *wire, x Exchange) (mcp.Frame, error) {
		var both sync.WaitGroup
		both.Go(func() { x.Receive(logged("SUSP")) })
		both.Go(func() { x.Receive(logged("ECT\nSUSP")) })
		both.Go(func() { x.Receive(logged("ECT")) })
		both.Wait()
		return mcp.Answer(x.Frame.ID, jsontext.Value(`{"content":[]}`)), nil
	}
	s = h.shown(p)
	s.Handle(ctx, ask(methodCall, `{"name":"it"}`), p)
	all := ""
	for _, f := range p.heard {
		d, _ := mcp.GetString(f.Params, "data")
		all += d
	}
	if strings.Contains(all, "SUSPECT") || all == "" {
		t.Errorf("at once: %q", all)
	}
	other := h.open("second", newPerson())
	other.Handle(ctx, ask(methodTools, ""), newPerson())
	if got := messages(t, h, other, logged("ECT")); got[0] == "" {
		t.Error("another agent's stream is joined")
	}
}

// TestQuestionsAreCutOrRefused: a question is a message to whoever answers it.
func TestQuestionsAreCutOrRefused(t *testing.T) {
	for name, c := range map[string]struct{ method, params, want string }{
		"message":    {"elicitation/create", `{"message":"a\nSUSPECT","requestedSchema":{"type":"object"}}`, `{"message":"a\n[removed by pratique: REF]","requestedSchema":{"type":"object"}}`},
		"a field":    {"elicitation/create", `{"message":"a","requestedSchema":{"properties":{"p":{"description":"SUSPECT","enum":["x"]}}}}`, `{"message":"a","requestedSchema":{"properties":{"p":{"description":"[removed by pratique: REF]","enum":["x"]}}}}`},
		"a name":     {"elicitation/create", `{"message":"a","requestedSchema":{"properties":{"SUSPECT":{}}}}`, ""},
		"a choice":   {"elicitation/create", `{"message":"a","requestedSchema":{"properties":{"p":{"enum":["SUSPECT"]}}}}`, ""},
		"an address": {"elicitation/create", `{"message":"a","url":"https://x/SUSPECT"}`, ""},
		"hostile":    {"elicitation/create", `{"message":"HOSTILE"}`, ""},
		"sampling":   {"sampling/createMessage", `{"messages":[{"role":"user","content":{"type":"text","text":"SUSPECT"}}],"systemPrompt":"b SUSPECT","maxTokens":1}`, `{"messages":[{"role":"user","content":{"type":"text","text":"[removed by pratique: REF]"}}],"systemPrompt":"[removed by pratique: REF]","maxTokens":1}`},
		"clear":      {"elicitation/create", `{"message": "Where?"}`, `{"message": "Where?"}`},
	} {
		u := newServer(tool("it"))
		h, _, v := guarded(t, u, policy.Personal)
		s := h.shown(newPerson())
		var answer mcp.Frame
		u.do = func(ctx context.Context, _ *wire, x Exchange) (mcp.Frame, error) {
			answer = x.Ask(ctx, mcp.Ask("9", c.method, jsontext.Value(c.params)))
			return mcp.Answer(x.Frame.ID, jsontext.Value(`{"content":[]}`)), nil
		}
		p := newPerson()
		s.Handle(ctx, ask(methodCall, callIt), p)
		es := h.book.of(func(e registry.Entry) bool { return e.Method == c.method && e.Type == registry.EntryDecision })
		if len(es) != 1 {
			t.Fatalf("%s: %+v", name, es)
		}
		e := es[0]
		if c.want == "" {
			if len(p.asked) != 0 || answer.Shape != mcp.Failure || e.Outcome != registry.OutcomeRefused {
				t.Errorf("%s: %v, %+v", name, p.asked, e)
			}
		} else if len(p.asked) != 1 || strings.ReplaceAll(string(p.asked[0].Params), strings.TrimSuffix(strings.TrimPrefix(e.Detail, "asked by the upstream in "), ", cut"), "REF") != c.want || answer.Shape != mcp.Result {
			t.Errorf("%s: %v, %+v", name, p.asked, e)
		}
		if c.want == c.params {
			if e.Hold != "" || e.Verdict != "clear" {
				t.Errorf("%s: %+v", name, e)
			}
			continue
		}
		if content, err := v.Content(e.Hold); err != nil || string(content) != c.params || e.Verdict == "clear" {
			t.Errorf("%s: kept %s, %v", name, content, err)
		}
	}
}

// The questions of the stateless era, which travel in a result.
func TestInputRequestsAreCut(t *testing.T) {
	u := newServer(tool("it"))
	u.rev = mcp.Rev20260728
	h, _, v := guarded(t, u, policy.Personal)
	s := h.shown(newPerson())
	asks := func(params string) string {
		return `{"resultType":"input_required","requestState":"s","inputRequests":{"q":{"method":"elicitation/create","params":` + params + `}}}`
	}
	u.answer(asks(`{"message":"a\nSUSPECT","requestedSchema":{"type":"object"}}`))
	a := run(s)
	if m, _ := mcp.GetString(a.Result, "inputRequests", "q", "params", "message"); !strings.HasPrefix(m, "a\n[removed by pratique: call_") {
		t.Errorf("%s", a.Bytes())
	}
	if _, content, e := heldBack(t, h, v); e.Detail != "cut" || !strings.Contains(content, "SUSPECT") {
		t.Errorf("%+v: %s", e, content)
	}
	for _, params := range []string{`{"message":"HOSTILE"}`, `{"message":"a","url":"SUSPECT"}`, `{"message":"a","requestedSchema":{"properties":{"SUSPECT":{}}}}`} {
		u.answer(asks(params))
		if a := run(s); !strings.Contains(string(a.Bytes()), "blocked_by_policy") || strings.Contains(string(a.Bytes()), "SUSPECT") || strings.Contains(string(a.Bytes()), "HOSTILE") {
			t.Errorf("%s: %s", params, a.Bytes())
		}
	}
	rules, err := policy.Load([]byte("rules:\n  - {name: a, allow: [it], results: mark}\n"))
	if err != nil {
		t.Fatal(err)
	}
	h.gw.Reload(Reload{Policy: policy.Of(rules)}) // of marks a person who is asked knows nothing
	u.answer(asks(`{"message":"b c\nSUSPECT","requestedSchema":{"type":"object"}}`))
	if m, _ := mcp.GetString(run(s).Result, "inputRequests", "q", "params", "message"); !strings.HasPrefix(m, "b c\n[removed by pratique: call_") {
		t.Errorf("marked: %s", m)
	}
	u.answer(strings.Replace(asks(`{"message":"a"}`), `"s"`, `"SUSPECT"`, 1)) // a state is what it is, or nothing
	if a := run(s); reason(a) != "result_held" {
		t.Errorf("state: %s", a.Bytes())
	}
}
