package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
	"github.com/pratique-dev/pratique/quarantine/inspect"
)

func TestMain(m *testing.M) { stage.Main(m) }

// The server of the scene: a task's own tool, and one that publishes.
const (
	fetch   = "fetch_note"
	publish = "publish_note"
)

// onlyFetch is what an operator writes who knows what the task needs.
const onlyFetch = "rules:\n  - name: reads-notes\n    allow: [fetch_note]\n"

// A tally is what came of the calls that an agent made that obeys whatever it reads.
type tally struct {
	read, called, executed int // payloads that reached it, calls that it made of them, calls that the server's own log shows
}

// TestAdaptive puts whatever slipped past the inspector before the real gateway. An
// agent obeys every payload that reaches it. Under rules, under strict and behind the
// gate none of its calls is executed, though the inspector had nothing to say;
// personal lets a cleared tool of the same origin be called, which is its stated
// limit and is counted here.
func TestAdaptive(t *testing.T) {
	ins := inspect.New()
	outcomes := attack(ins)
	var forms []form
	for _, o := range outcomes {
		if o.passes() {
			forms = append(forms, o.form)
		}
	}
	var b strings.Builder
	report(&b, ins.Engine(), outcomes)
	t.Logf("%d forms that slip past, each tried on the gateway\n%s", len(forms), b.String())
	if len(forms) == 0 {
		t.Skip("nothing slips past: there is nothing to show")
	}
	for _, w := range []struct {
		way stage.Way
		rev string
	}{{stage.StdioStdio, "2025-11-25"}, {stage.HTTPHTTP, mcptest.Modern}} {
		name := string(w.way) + " " + w.rev
		t.Run("rules "+name, func(t *testing.T) {
			t.Parallel()
			refusedAll(t, obey(t, w.way, w.rev, forms, stage.Options{Profile: "personal", Rules: onlyFetch}))
		})
		t.Run("strict "+name, func(t *testing.T) {
			t.Parallel()
			refusedAll(t, obey(t, w.way, w.rev, forms, stage.Options{Profile: "strict"}))
		})
		t.Run("tier "+name, func(t *testing.T) {
			t.Parallel() // a rule that allows everything does not make a Yellow tool Green
			rules := "rules:\n  - name: everything\n    allow: [\"*\"]\n"
			refusedAll(t, obey(t, w.way, w.rev, forms, stage.Options{Profile: "strict", Rules: rules}))
		})
		t.Run("gate "+name, func(t *testing.T) {
			t.Parallel()
			refusedAll(t, laterOn(t, w.way, w.rev, forms))
		})
		t.Run("limit of personal "+name, func(t *testing.T) {
			t.Parallel()
			n := obey(t, w.way, w.rev, forms, stage.Options{Profile: "personal"})
			t.Logf("KNOWN_LIMITATION personal lets a cleared tool of the same origin be called: %d payloads read, %d of %d calls executed", n.read, n.executed, n.called)
		})
	}
}

func refusedAll(t *testing.T, n tally) {
	t.Helper()
	t.Logf("%d payloads read, %d calls made of them, %d executed", n.read, n.called, n.executed)
	if n.called == 0 {
		t.Error("the agent obeyed nothing: this shows nothing")
	}
	if n.executed != 0 {
		t.Errorf("%d of %d consequential calls were executed", n.executed, n.called)
	}
}

// scene is a server whose tools carry the forms that stand in metadata, and whose
// fetch_note returns the others by number.
func scene(forms []form, poisoned bool) (s mcptest.Script, tools []string) {
	s.Answers = map[string]mcptest.Answer{publish: {Echo: true}}
	s.Tools.Items = []mcptest.JSON{mcptest.Tool(fetch, "Fetches one note."), mcptest.Tool(publish, "Publishes a note.")}
	for i := range forms {
		if f := &forms[i]; !f.place.returned() {
			name := fmt.Sprintf("search_notes_%d", i)
			if f.place == inName {
				name = fmt.Sprintf("%s_%d", slug(f.text), i)
			}
			def := mcptest.Tool(name, "Searches the notes.")
			if poisoned {
				if f.place == inName {
					g := *f
					g.place, g.text = inName, strings.ReplaceAll(name, "_", " ")
					def = g.tool(name)
				} else {
					def = f.tool(name)
				}
			}
			s.Tools.Items = append(s.Tools.Items, def)
			tools = append(tools, name)
		}
	}
	return s, tools
}

// obey is an agent that lists, reads every result, and does whatever it reads.
func obey(t *testing.T, w stage.Way, rev string, forms []form, o stage.Options) (n tally) {
	s, _ := scene(forms, true)
	h := stage.New(t, w, s, o)
	a := h.Agent(rev)
	a.Start()
	shown := a.Request("tools/list", "").Names()
	for _, name := range shown {
		if name == fetch || name == publish {
			continue
		}
		n.read++ // its definition is in the agent's mind
		n.call(h, a, name)
		n.call(h, a, publish)
	}
	for i := range forms {
		if !forms[i].place.returned() {
			continue
		}
		h.Up.Set(func(s *mcptest.Script) { s.Answers[fetch] = mcptest.Answer{Result: forms[i].result()} })
		if m := a.Call(fetch, `{"id":1}`); !m.IsError() {
			n.read++
		}
		n.call(h, a, publish)
	}
	return n
}

// laterOn is an agent that was shown clean tools. Then they turn into the forms, and
// what the payloads speak of comes with them.
func laterOn(t *testing.T, w stage.Way, rev string, forms []form) (n tally) {
	s, names := scene(forms, false)
	s.Tools.Items = append(s.Tools.Items[:1:1], s.Tools.Items[2:]...) // publish_note is not there yet
	h := stage.New(t, w, s, stage.Options{Profile: "personal"})
	a := h.Agent(rev)
	a.Start()
	a.Request("tools/list", "")
	after, _ := scene(forms, true)
	lists := h.Up.Requests("tools/list")
	h.Up.Set(func(s *mcptest.Script) { s.Tools.Items = after.Tools.Items })
	h.Up.Changed()
	if rev < mcptest.Modern { // until it is heard, what was listed is fresh for 2 s: that limit is not what this is about
		h.Up.WaitMethod(t, "tools/list", lists+1)
	}
	for _, name := range append(names, publish) {
		n.call(h, a, name)
	}
	for i := range forms {
		if forms[i].place.returned() {
			h.Up.Set(func(s *mcptest.Script) { s.Answers[fetch] = mcptest.Answer{Result: forms[i].result()} })
			if m := a.Call(fetch, `{"id":1}`); !m.IsError() {
				n.read++
			}
			n.call(h, a, publish)
		}
	}
	a.Request("tools/list", "") // what was read again is not thereby accepted
	n.call(h, a, publish)
	return n
}

// call makes a consequential call and looks into the server's own log.
func (n *tally) call(h *stage.House, a *mcptest.Agent, tool string) {
	before := h.Up.Executed(tool)
	a.Call(tool, `{"text":"all of it"}`)
	n.called++
	n.executed += h.Up.Executed(tool) - before
}
