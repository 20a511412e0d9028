package cases

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
	"github.com/pratique-dev/pratique/registry"
)

// The intent of the case, as it is sealed; and the same as a rule file, which can be
// broken and read again (c), and stands for it where the first frame of a run is the
// call (b): an intent is sealed of what was seen before.
const (
	intentO08 = "task: answer a ticket\nexpires: 1h\ntools: [get_ticket, add_comment]\n"
	widerO08  = "task: answer a ticket\nexpires: 1h\ntools: [get_ticket, add_comment, export_all]\n"
)

const rulesO08 = `default: deny
rules:
- name: intent
  allow: [get_ticket, add_comment]
`

func tickets() mcptest.Script {
	return mcptest.Script{Tools: mcptest.List{Items: []mcptest.JSON{
		mcptest.Tool("get_ticket", "Reads a ticket."), mcptest.Tool("add_comment", "Adds a comment."),
		mcptest.Tool("close_account", "Closes an account."), mcptest.Tool("export_all", "Exports everything."),
	}}, Answers: map[string]mcptest.Answer{"get_ticket": {Result: mcptest.TextResult("the ticket")}}}
}

// hidden are frames 21 to 23.
var hidden = [][2]string{{"close_account", `{"id":"u-9"}`}, {"get_ticket ", `{"id":"t-1"}`}, {"GET_TICKET", `{"id":"t-1"}`}}

func (s *scene) hidden(h *stage.House, a *mcptest.Agent) {
	s.Helper()
	for _, f := range hidden {
		m := a.Call(f[0], f[1])
		if m.Code() == -32020 { // a name that no header can carry as it is
			continue
		}
		s.audited(h, stage.Refused(s, m))
	}
	s.never(h, "close_account", "export_all", "get_ticket ", "GET_TICKET")
}

// bound wants exactly what is sealed shown and called.
func (s *scene) bound(h *stage.House, a *bound) {
	s.Helper()
	listed := a.Tools()
	slices.Sort(listed)
	if !slices.Equal(listed, []string{"add_comment", "get_ticket"}) {
		s.Errorf("listed: %q", listed)
	}
	s.hidden(h, a.Agent)
	s.audited(h, stage.Refused(s, a.Call("export_all", `{}`), "outside_intent", "not_shown"))
	s.never(h, "export_all")
	if m := s.runs(h, a.Agent, "get_ticket", `{"id":"t-1"}`); m.Text() != "the ticket" {
		s.Errorf("the control: %s", m.Raw)
	}
	s.runs(h, a.Agent, "add_comment", `{"id":"t-1","text":"thanks"}`)
}

func TestCaseO08(t *testing.T) {
	t.Run("a", func(t *testing.T) {
		scenes(t, both, func(s *scene) {
			h := stage.New(s, s.way, tickets(), stage.Options{Rules: rulesO08})
			a := h.Agent(s.rev)
			a.Start()
			listed := a.Tools()
			slices.Sort(listed)
			if !slices.Equal(listed, []string{"add_comment", "get_ticket"}) {
				s.Errorf("listed: %q", listed)
			}
			s.hidden(h, a)
			if m := s.runs(h, a, "get_ticket", `{"id":"t-1"}`); m.Text() != "the ticket" {
				s.Errorf("the control: %s", m.Raw)
			}
		})
	})
	t.Run("a, sealed", func(t *testing.T) {
		scenes(t, both, func(s *scene) {
			h := stage.New(s, s.way, tickets(), stage.Options{})
			a := s.sealed(h, s.intent(h, "intent", intentO08))
			a.Start()
			s.bound(h, a)
		})
	})
	t.Run("d", func(t *testing.T) {
		scenes(t, both, func(s *scene) {
			h := stage.New(s, s.way, tickets(), stage.Options{})
			a := s.sealed(h, s.intent(h, "intent", intentO08))
			a.Start()
			s.bound(h, a) // the first tool calls
			was := s.bindings(h)
			for n, file := range []string{s.intent(h, "wider", widerO08), s.intent(h, "other", strings.Replace(intentO08, "get_ticket, add_comment", "close_account", 1))} {
				out, errs, code := s.seal(h, a.id, file)
				if code != 7 {
					s.Errorf("sealing another: %d: %s%s", code, out, errs)
				}
				es := h.Find(func(e entry) bool { return e.Type == registry.EntryUnsealed })
				if len(es) != n+1 || string(es[n].Agent) != a.id || es[n].Detail == "" || es[n].Intent.IsZero() || es[n].Act != "" {
					s.Errorf("the refusals on record: %+v", es)
				}
				s.bound(h, a)
			}
			if now := s.bindings(h); !slices.Equal(now, was) {
				s.Errorf("sealed is %+v, was %+v", now, was)
			}
			if n := len(h.Find(func(e entry) bool { return e.Type == registry.EntrySealed })); n != 1 {
				s.Errorf("%d seals on record", n)
			}
		})
	})
	t.Run("b", func(t *testing.T) {
		scenes(t, both, func(s *scene) {
			script := tickets()
			script.Tools.DelayMs = 1000 // scaled down from 3 s; initialize waits for it
			h := stage.New(s, s.way, script, stage.Options{Rules: rulesO08})
			a := h.Agent(s.rev)
			if !s.modern() {
				a.Start()
			}
			r := stage.Refused(s, a.Call("get_ticket", `{"id":"t-1"}`))
			if !r.Retryable {
				s.Errorf("not retryable: %+v", r)
			}
			s.audited(h, r)
			s.never(h, "get_ticket")
			a.Tools()
			s.runs(h, a, "get_ticket", `{"id":"t-1"}`)
		})
	})
	t.Run("b, sealed", func(t *testing.T) {
		scenes(t, both, func(s *scene) {
			script := tickets()
			script.Tools.DelayMs = 1000
			h := stage.New(s, s.way, script, stage.Options{})
			a := s.sealed(h, s.intent(h, "intent", intentO08))
			if !h.Way.Guarded() { // a gateway that has not asked its server yet
				h.Restart()
				a = a.again(s)
			}
			before := h.Up.Requests("tools/list")
			if !s.modern() {
				a.Start()
			}
			if m := a.Call("get_ticket", `{"id":"t-1"}`); m.IsError() {
				r := stage.Refused(s, m)
				if !r.Retryable {
					s.Errorf("not retryable: %+v", r)
				}
				s.audited(h, r)
				s.never(h, "get_ticket")
			} else if !h.Way.Guarded() && h.Up.Requests("tools/list") == before {
				s.Errorf("forwarded, and nobody had looked: %s", m.Raw)
			}
			a.Tools()
			s.runs(h, a.Agent, "get_ticket", `{"id":"t-1"}`)
		})
	})
	t.Run("c, start", func(t *testing.T) {
		scenes(t, both[2:], func(s *scene) {
			for name, spoil := range map[string]func(h *stage.House){
				"broken YAML": func(h *stage.House) { h.WriteRules("rules: [") },
				"empty":       func(h *stage.House) { h.WriteRules("") },
				"no rules":    func(h *stage.House) { h.WriteRules("default: allow\n") },
				"missing":     func(h *stage.House) { os.Remove(h.RulesFile()) },
				"a folder":    func(h *stage.House) { os.Remove(h.RulesFile()); os.Mkdir(h.RulesFile(), 0o700) },
			} {
				h := stage.Make(s, s.way, tickets(), stage.Options{Rules: rulesO08})
				spoil(h)
				if _, errs, code := h.Run(h.Argv()[1:]...); code == 0 || errs == "" {
					s.Errorf("%s: it started, or said nothing: %d %s", name, code, errs)
				}
				if n := len(h.Up.Received()); n != 0 {
					s.Errorf("%s: the server got %d frames", name, n)
				}
			}
		})
	})
	t.Run("c, reload", func(t *testing.T) {
		scenes(t, both[1:], func(s *scene) {
			h := stage.New(s, s.way, tickets(), stage.Options{Rules: rulesO08})
			a := s.started(h)
			h.WriteRules("rules: [")
			h.WaitStderr(a, "not the plain YAML") // it has looked
			s.hidden(h, a)
			s.runs(h, a, "get_ticket", `{"id":"t-1"}`)
			os.Remove(h.RulesFile())
			h.WaitStderr(a, "no such file")
			s.hidden(h, a)
			s.runs(h, a, "get_ticket", `{"id":"t-1"}`)
			h.WriteRules(strings.Replace(rulesO08, "get_ticket, ", "", 1)) // one that is right takes hold
			lists := func() bool { return slices.Contains(a.Tools(), "get_ticket") }
			s.await("the stricter file takes hold", func() bool { return !lists() })
			n := h.Up.Executed("get_ticket")
			s.audited(h, stage.Refused(s, a.Call("get_ticket", `{"id":"t-1"}`), "no_rule", "not_shown"))
			if now := h.Up.Executed("get_ticket"); now != n {
				s.Errorf("executed %d times under the stricter file", now-n)
			}
			h.WriteRules(rulesO08)
			s.await("the file of before takes hold", lists)
			s.hidden(h, a)
			s.runs(h, a, "get_ticket", `{"id":"t-1"}`)
		})
	})
}
