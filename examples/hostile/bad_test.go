package main

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
	"github.com/pratique-dev/pratique/registry"
)

type registryEntry = registry.Entry

// testEndless: a server that lists for ever shows nothing, in bounded time and
// requests, and says so to the agent and the operator.
func testEndless(t *testing.T) {
	for _, how := range []string{"same", "new", "items"} {
		scenes(t, "endless "+how, func(s *scene) {
			script := innocent()
			script.Tools.Endless = how
			h := stage.New(s, s.way, script, stage.Options{})
			a := h.Agent(s.rev)
			a.Start()
			n := h.Up.Requests("tools/list")
			if how != "items" && n > 10 {
				s.Errorf("%d list requests", n)
			}
			if m := a.Request("tools/list", ""); !m.IsError() && len(m.Names()) != 0 {
				s.Errorf("an incomplete list was shown: %.300s", m.Raw)
			}
			refused := stage.Refused(s, a.Call("add", `{}`), "incomplete", "not_shown")
			s.tally(row{vector: "list without an end, " + how, tries: 1, done: h.Up.Executed("add"), note: refused.Reason})
			h.Recorded(refused)
			h.Up.Set(func(s *mcptest.Script) { s.Tools.Endless = "" })
			h.Up.Changed()
		})
	}
}

// testAnswers: bad answers reach no agent, and what comes after them works.
func testAnswers(t *testing.T) {
	scenes(t, "answers", func(s *scene) {
		script := innocent()
		for name, a := range map[string]mcptest.Answer{
			"deep": {Deep: 10_000}, "utf8": {Utf8: true}, "big": {Big: 20 << 20}, "huge": {Big: 40 << 20}, "wrong": {WrongID: true},
			"twice": {Raw: []byte(`{"jsonrpc":"2.0","id":%ID%,"result":{"content":[],"content":[{"type":"text","text":"second"}]}}`)},
			"both":  {Raw: []byte(`{"jsonrpc":"2.0","id":%ID%,"result":{"content":[]},"error":{"code":1,"message":"m"}}`)},
		} {
			script.Tools.Items = append(script.Tools.Items, mcptest.Tool(name, "Answers."))
			script.Answers[name] = a
		}
		h := stage.New(s, s.way, script, stage.Options{})
		a := s.started(h)
		delivered := 0
		for _, name := range []string{"deep", "utf8", "huge", "twice", "both"} {
			m := a.Call(name, `{}`)
			r, ok := stage.RefusalOf(m)
			if !ok || !m.IsError() || r.Invoked == "false" || r.Reason != "upstream_invalid" && r.Reason != "result_too_large" {
				s.Errorf("%s: %+v: %.300s", name, r, m.Raw)
			}
			if len(m.Raw) > 4096 || bytes.Contains(m.Raw, []byte("second")) {
				s.Errorf("%s: the answer went through: %.300s", name, m.Raw)
				delivered++
			}
			if es := h.Find(func(e registryEntry) bool { return e.Call == r.Ref }); len(es) != 2 || es[1].Invoked == "no" {
				s.Errorf("%s: the record says %+v", name, es)
			}
			s.works(h, a, "add")
		}
		s.tally(row{vector: "deep, big, not UTF-8, ambiguous answers", tries: 5, done: delivered, note: "delivered to the agent is counted"})
		// 20 MiB are below the bound for a result of 32 MiB: all of it or nothing.
		if m := a.Call("big", `{}`); m.IsError() || len(m.Text()) != 20<<20 || mcptest.Path(m.Result, "_meta", "dev.pratique/label") == nil {
			s.Errorf("20 MiB: %d came: %.300s", len(m.Text()), m.Raw)
		}
		s.works(h, a, "add")
		id := a.Begin("tools/call", `{"name":"wrong","arguments":{}}`)
		h.Up.WaitCall(s, "wrong", 1)
		s.works(h, a, "add")
		if !s.way.Remote() { // over HTTP the stream ends without an answer, and that is one
			if s.modern() && !s.way.Guarded() {
				return // cancelled by closing, which the agent of this kit does at its end
			}
			a.Cancel(id)
		} else if m := a.Wait(id); !m.IsError() {
			s.Errorf("an answer to another id: %s", m.Raw)
		}
		s.works(h, a, "add")
	})
}

// testSchemas: references are not followed, wherever they lead.
func testSchemas(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var seen atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			seen.Add(1)
			c.Close()
		}
	}()
	t.Run("schemas", func(t *testing.T) {
		scenes(t, "schemas", func(s *scene) {
			far := `{"type":"object","properties":{"x":{"$ref":"http://` + l.Addr().String() + `/x.json"}}}`
			script := innocent()
			script.Tools.Items = append(script.Tools.Items, mcptest.Texts(
				`{"name":"far","inputSchema":`+far+`}`,
				`{"name":"far_out","inputSchema":{"type":"object"},"outputSchema":`+far+`}`,
				`{"name":"far_id","inputSchema":{"$id":"http://`+l.Addr().String()+`/","type":"object","properties":{"x":{"$ref":"x.json"}}}}`,
				`{"name":"cycle","inputSchema":{"type":"object","properties":{"x":{"$ref":"#/$defs/A"}},"$defs":{"A":{"$ref":"#/$defs/B"},"B":{"$ref":"#/$defs/A"}}}}`,
				`{"name":"tree","inputSchema":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#"}}}}}`)...)
			h := stage.New(s, s.way, script, stage.Options{})
			a := s.started(h)
			tries, n := 0, 0
			for _, name := range []string{"far", "far_out", "far_id"} {
				stage.Refused(s, a.Call(name, `{"x":1}`), "not_shown")
				tries++
				n += h.Up.Executed(name)
			}
			s.tally(row{vector: "remote $ref", tries: tries, done: n, note: "never fetched"})
			a.Call("cycle", `{"x":1}`) // either way, but at once
			s.works(h, a, "tree")
			s.works(h, a, "add")
		})
	})
	l.Close()
	<-done
	if n := seen.Load(); n != 0 {
		t.Errorf("%d connections were made for a schema", n)
	}
}

// testAgents: agents that misbehave.
func testAgents(t *testing.T) {
	calls := 2_000
	if everything {
		calls = 10_000
	}
	scenes(t, "unknown tools", func(s *scene) {
		h := stage.New(s, s.way, innocent(), stage.Options{})
		a := s.started(h)
		if s.way.Guarded() {
			calls := 10_000
			const open = 100 // at once
			for from := 0; from < calls; from += open {
				var b strings.Builder
				for i := range open {
					fmt.Fprintf(&b, "{\"jsonrpc\":\"2.0\",\"id\":\"u%d\",\"method\":\"tools/call\",\"params\":%s}\n", from+i, a.Params(fmt.Sprintf(`{"name":"tool_%d","arguments":{}}`, from+i)))
				}
				a.Send(strings.TrimSuffix(b.String(), "\n"))
				for i := range open {
					stage.Refused(s, a.Wait(fmt.Sprintf(`"u%d"`, from+i)), "not_shown")
				}
			}
			s.tally(row{vector: "10,000 unknown tools", tries: calls, done: h.Up.Requests("tools/call")})
		} else {
			for i := range calls {
				stage.Refused(s, a.Call(fmt.Sprintf("tool_%d", i), `{}`))
			}
			s.tally(row{vector: fmt.Sprintf("%d unknown tools", calls), tries: calls, done: h.Up.Requests("tools/call")})
		}
		s.works(h, a, "add")
	})
	scenes(t, "closes mid-call", func(s *scene) {
		script := innocent()
		script.Answers["add"] = mcptest.Answer{Gate: "never"}
		h := stage.New(s, s.way, script, stage.Options{})
		a := s.started(h)
		a.Begin("tools/call", `{"name":"add","arguments":{}}`)
		h.Up.WaitCall(s, "add", 1)
		a.Close()
		h.Up.Open("never")
		b := s.started(h)
		s.works(h, b, "list_notes")
		if n := h.Up.Executed("add"); n != 1 {
			s.Errorf("executed %d times", n)
		}
		es := h.Find(func(e registryEntry) bool { return e.Name == "add" && e.Method == "tools/call" })
		if len(es) == 0 || es[0].Type != registry.EntryDecision || es[0].Verb != "allow" {
			s.Errorf("the record says %+v", es)
		}
	})
	scenes(t, "another's session", func(s *scene) {
		if s.way.Guarded() || s.modern() {
			return // no session has an id there
		}
		h := stage.New(s, s.way, innocent(), stage.Options{})
		a := s.started(h)
		if a.Session() == "" {
			s.Fatal("no session id")
		}
		thief := h.Other(s.rev, "thief")
		thief.SetSession(a.Session())
		for _, call := range []string{"tools/list", "tools/call"} {
			if m := thief.Request(call, `{"name":"add","arguments":{}}`); m.Status != 404 {
				s.Errorf("%s in another's session: %d %s", call, m.Status, m.Raw)
			}
		}
		s.tally(row{vector: "another's session id", tries: 2, done: h.Up.Executed("add"), note: "404"})
		s.works(h, a, "add")
	})
}
