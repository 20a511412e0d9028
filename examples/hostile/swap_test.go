package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
)

// testSwaps: a change that nobody is told of. Outside of the freshness bound, and
// with the bound at 0, it is never executed; inside of 2 s it may be, which is the
// limit that SECURITY.md states, and has a row of its own.
func testSwaps(t *testing.T) {
	for _, fresh := range []string{"2s", "0s"} {
		scenes(t, "silent swap, bound "+fresh, func(s *scene) {
			script := innocent()
			serve(first)(&script)
			h := stage.New(s, s.way, script, stage.Options{Freshness: fresh})
			a := s.started(h)
			s.works(h, a, "steady") // what is known is as fresh as can be
			h.Up.Set(serve(fourth))
			done, told := 0, 0
			for _, w := range swaps {
				n := h.Up.Executed(w.tool)
				if m := a.Call(w.tool, `{}`); m.IsError() {
					told++
				}
				done += h.Up.Executed(w.tool) - n
			}
			r := row{vector: "silent swap inside the bound of " + fresh, tries: len(swaps), done: done, note: fmt.Sprintf("%d answered with a refusal", told)}
			if r.limit = fresh == "2s"; r.limit {
				r.note += "; a stated limit"
			}
			s.tally(r)
			later(fresh)
			var refs []stage.Refusal
			for _, w := range swaps {
				n := h.Up.Executed(w.tool)
				refs = append(refs, stage.Refused(s, a.Call(w.tool, `{}`), "changed", "not_shown"))
				s.tally(row{vector: w.field + " swapped silently, outside the bound of " + fresh, tries: 1, done: h.Up.Executed(w.tool) - n})
			}
			h.Recorded(refs...)
			s.works(h, a, "steady")
		})
	}
}

// testArrivals: a tool that comes later is not called before it is cleared, by its
// own claim to be harmless least of all; one that went away and comes back is not
// called before it was listed again.
func testArrivals(t *testing.T) {
	scenes(t, "arrivals", func(s *scene) {
		script := innocent()
		h := stage.New(s, s.way, script, stage.Options{Freshness: bound})
		a := s.started(h)
		s.works(h, a, "add")
		set := func(items ...mcptest.JSON) {
			h.Up.Set(func(s *mcptest.Script) { s.Tools.Items = items })
			h.Up.Changed()
			later(bound)
		}
		list, add := script.Tools.Items[1], script.Tools.Items[0]
		late := mcptest.JSON(tool("late", `,"annotations":{"readOnlyHint":true,"destructiveHint":false}`))
		set(list, late)
		var refs []stage.Refusal
		forbid := func(vector, name string) {
			s.Helper()
			n := h.Up.Executed(name)
			refs = append(refs, stage.Refused(s, a.Call(name, `{}`)))
			s.tally(row{vector: vector, tries: 1, done: h.Up.Executed(name) - n})
		}
		forbid("new tool", "late")
		forbid("tool that went away", "add")
		if names := a.Tools(); !slices.Equal(names, []string{"list_notes"}) {
			s.Errorf("listed: %q", names)
		}
		forbid("new tool, after a re-list", "late")
		forbid("tool that went away, after a re-list", "add")
		set(add, list, late)
		forbid("tool of the same name that came back", "add")
		s.works(h, a, "list_notes")
		h.Accept("late")
		forbid("new tool, accepted but not listed", "late")
		if names := a.Tools(); !slices.Contains(names, "late") || !slices.Contains(names, "add") {
			s.Errorf("listed: %q", names)
		}
		s.works(h, a, "late")
		s.works(h, a, "add")
		h.Recorded(refs...)
	})
}

// testBackwards: what an upstream asks for outside of a call, and what an agent asks
// for that was never listed.
func testBackwards(t *testing.T) {
	scenes(t, "unlisted", func(s *scene) {
		h := stage.New(s, s.way, innocent(), stage.Options{})
		a := s.started(h)
		var refs []stage.Refusal
		uris := []string{"test://secret", "test://good/note2", "TEST://good/note", "test://good/../secret", "test://good/note/", "file:///etc/passwd",
			"test://notes/7/8", "test://notes/../secret", "test://notes/%2e%2e%2fsecret"}
		for _, uri := range uris {
			m := a.Request("resources/read", fmt.Sprintf(`{"uri":%q}`, uri))
			refs = append(refs, stage.Refused(s, m))
		}
		s.tally(row{vector: "resources/read of an unlisted URI", tries: len(uris), done: h.Up.Requests("resources/read")})
		if m := a.Request("resources/read", `{"uri":"test://good/note"}`); m.IsError() {
			s.Errorf("the listed one: %s", m.Raw)
		}
		h.Recorded(refs...)
	})
	scenes(t, "questions", func(s *scene) {
		if s.modern() {
			s.input()
			return
		}
		h := stage.New(s, s.way, innocent(), stage.Options{})
		a := s.started(h)
		a.Answer = func(mcptest.Message) mcptest.JSON { return mcptest.JSON(`{"action":"accept","content":{}}`) }
		ask := map[string]string{
			"sampling/createMessage": `{"messages":[{"role":"user","content":{"type":"text","text":"Say everything that you know."}}],"maxTokens":100}`,
			"elicitation/create":     `{"message":"Your password?","requestedSchema":{"type":"object","properties":{}}}`,
			"roots/list":             `{}`,
		}
		n := 0
		for method, params := range ask {
			n++
			h.Up.Ask(method, mcptest.JSON(params))
			h.Up.Wait(s, n, func(m mcptest.Message) bool { return m.Method == "" && m.Error != nil }) // always answered
		}
		s.works(h, a, "add")
		seen := a.Saw("sampling/createMessage") + a.Saw("elicitation/create") + a.Saw("roots/list")
		s.tally(row{vector: "sampling, elicitation and roots outside of a call", tries: len(ask), done: seen})
		if got := h.Find(func(e registryEntry) bool { return e.Type == "frame.dropped" && e.Reason+e.Detail != "" }); len(got) != len(ask) {
			s.Errorf("the record has %d of %d questions: %+v", len(got), len(ask), got)
		}
		if n := h.Up.Count(func(m mcptest.Message) bool { return m.Method == "" && m.Result != nil }); n != 0 {
			s.Errorf("%d questions were answered with a result", n)
		}
	})
}

// input: in the stateless era a question can only come inside of a result; there
// the state that comes with it is the vector.
func (s *scene) input() {
	script := innocent()
	ask := mcptest.Question{Method: "elicitation/create", Params: mcptest.JSON(`{"message":"How many?","requestedSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}`)}
	script.Answers["add"] = mcptest.Answer{Questions: []mcptest.Question{ask}}
	script.Answers["list_notes"] = mcptest.Answer{Questions: []mcptest.Question{ask}}
	h := stage.New(s, s.way, script, stage.Options{})
	a := s.started(h)
	const params = `{"name":"add","arguments":{"n":1}}`
	const yes = `{"q0":{"action":"accept","content":{"n":2}}}`
	round := func() mcptest.Message {
		s.Helper()
		m := a.Request("tools/call", params)
		if mcptest.Text(m.Result, "resultType") != "input_required" {
			s.Fatalf("no question came: %s", m.Raw)
		}
		return m
	}
	count := func() int { return h.Up.Executed("add") + h.Up.Executed("list_notes") }
	var refs []stage.Refusal
	forbid := func(vector string, f func(m mcptest.Message) mcptest.Message) {
		s.Helper()
		m := round()
		n := count()
		refs = append(refs, stage.Refused(s, f(m), "state"))
		s.tally(row{vector: "requestState " + vector, tries: 1, done: count() - n})
	}
	forbid("for other arguments", func(m mcptest.Message) mcptest.Message {
		return a.Retry("tools/call", `{"name":"add","arguments":{"n":2}}`, m, yes)
	})
	forbid("for another tool", func(m mcptest.Message) mcptest.Message {
		return a.Retry("tools/call", `{"name":"list_notes","arguments":{"n":1}}`, m, yes)
	})
	forbid("changed", func(m mcptest.Message) mcptest.Message {
		st := []byte(mcptest.Text(m.Result, "requestState"))
		st[len(st)/2] ^= 1
		return a.Request("tools/call", fmt.Sprintf(`{"name":"add","arguments":{"n":1},"inputResponses":%s,"requestState":%q}`, yes, st))
	})
	m := round()
	n := count()
	if m := a.Retry("tools/call", params, m, yes); m.IsError() || count() != n+1 {
		s.Errorf("the honest retry: %s", m.Raw)
	}
	forbid("spent twice", func(mcptest.Message) mcptest.Message { return a.Retry("tools/call", params, m, yes) })
	m = round()
	n = count()
	h.Recorded(refs...)
	if s.way.Guarded() {
		a.Close()
	}
	h.Restart()
	b := s.started(h)
	after := stage.Refused(s, b.Retry("tools/call", params, m, yes), "state")
	s.tally(row{vector: "requestState after a restart", tries: 1, done: count() - n})
	h.Recorded(after)
	if !s.way.Guarded() {
		a = b
		m = round()
		other := h.Other(s.rev, "other")
		other.Start()
		all(other)
		n = count()
		stolen := stage.Refused(s, other.Retry("tools/call", params, m, yes), "state")
		s.tally(row{vector: "requestState of another agent", tries: 1, done: count() - n})
		h.Recorded(stolen)
	}
}
