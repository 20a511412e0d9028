package cases

import (
	"os"
	"slices"
	"testing"

	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
)

// The intent of the case, as a policy: sealing one, and d (a second, wider one for the
// same session), come later.
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
			later()
			s.hidden(h, a)
			s.runs(h, a, "get_ticket", `{"id":"t-1"}`)
			os.Remove(h.RulesFile())
			later()
			s.hidden(h, a)
			s.runs(h, a, "get_ticket", `{"id":"t-1"}`)
		})
	})
}
