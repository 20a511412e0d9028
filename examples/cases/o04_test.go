package cases

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
	"github.com/pratique-dev/pratique/registry"
)

// The limit of the case on ad, by a condition and by a word, at the number and one
// below it.
const rulesO04 = `rules:
- {name: echoes, allow: [echo]}
- {name: up-to, allow: [up_to], when: args.ad <= 1915883588174806058}
- {name: up-to-word, allow: [up_to_word], args: {ad: {max: 1915883588174806058}}}
- {name: below, allow: [below], when: args.ad <= 1915883588174806057}
- {name: below-word, allow: [below_word], args: {ad: {max: 1915883588174806057}}}
- {name: below-never, never: [never_above], when: args.ad > 1915883588174806057}
- {name: above, allow: [never_above]}
`

// Left for approvals (the text that a person is shown): echo under HOLD, and id 1
// approved.
func TestCaseO04(t *testing.T) {
	const one = `{"order_id": 9007199254740993, "ad": 1915883588174806058, "max": 9223372036854775807, "price": 0.1, "note": "9007199254740993", "opt": null, "sep": "a\u2028b", "who": "\ud83d\udc69\u200d\ud83d\ude80"}`
	scenes(t, both, func(s *scene) {
		script := mcptest.Script{Answers: map[string]mcptest.Answer{}}
		for _, name := range []string{"echo", "up_to", "up_to_word", "below", "below_word", "never_above"} {
			script.Tools.Items = append(script.Tools.Items, mcptest.Tool(name, "Echoes."))
			script.Answers[name] = mcptest.Answer{Echo: true}
		}
		h := stage.New(s, s.way, script, stage.Options{Rules: rulesO04})
		a := s.started(h)
		m := s.runs(h, a, "echo", one)
		if m.Text() != one || string(mcptest.Path(m.Result, "structuredContent")) != one {
			s.Errorf("id 1: %s", m.Raw)
		}
		if got := string(mcptest.Path(h.Up.Last("echo").Params, "arguments")); got != one {
			s.Errorf("id 1 at the server: %s", got)
		}
		for _, e := range h.Find(func(e entry) bool { return e.Type == "call.decided" && e.Name == "echo" }) {
			if e.Args == (credentials.Digest{}) || e.Verb != "allow" {
				s.Errorf("the record: %+v", e) // values stand in the vault, digests here
			}
		}
		s.runs(h, a, "echo", "")
		if got := string(mcptest.Path(h.Up.Last("echo").Params, "arguments")); got != "" && got != "{}" {
			s.Errorf("id 2: %s", got)
		}
		s.runs(h, a, "echo", "{}")
		if got := string(mcptest.Path(h.Up.Last("echo").Params, "arguments")); got != "{}" {
			s.Errorf("id 3: %s", got)
		}
		n := h.Up.Executed("echo")
		if m := a.Call("echo", "null"); m.IsError() {
			if !strings.Contains(string(m.Raw), "arguments") || h.Up.Executed("echo") != n {
				s.Errorf("id 4: %s", m.Raw)
			}
		} else if got := string(mcptest.Path(h.Up.Last("echo").Params, "arguments")); got != "{}" && got != "" {
			s.Errorf("id 4: %s", got)
		}
		n = h.Up.Executed("echo")
		if m := a.Call("echo", "[]"); m.Code() != -32602 || h.Up.Executed("echo") != n {
			s.Errorf("id 5: %s", m.Raw)
		}
		s.runs(h, a, "echo", one)
		s.limited(h, a, one)
	})
}

// limited: id 1 is at the limit, and one above the other one, on record too.
func (s *scene) limited(h *stage.House, a *mcptest.Agent, one string) {
	s.Helper()
	for _, tool := range []string{"up_to", "up_to_word"} {
		if m := s.runs(h, a, tool, one); m.Text() != one {
			s.Errorf("%s: %s", tool, m.Raw)
		}
	}
	for tool, reason := range map[string]string{"below": "no_rule", "below_word": "guard", "never_above": "rule_never"} {
		s.audited(h, stage.Refused(s, a.Call(tool, one), reason))
	}
	s.never(h, "below", "below_word", "never_above")
	exact := strings.Replace(one, "1915883588174806058", "1915883588174806057", 1)
	for _, tool := range []string{"below", "below_word", "never_above"} {
		s.runs(h, a, tool, exact)
	}
	// What is on record is the same number: the decision that is made again from it is
	// the same too.
	for _, e := range h.Find(func(e entry) bool { return e.Type == registry.EntryDecision && e.Name != "" && e.Name != "echo" }) {
		var again struct {
			Same   bool `json:"same"`
			Cannot bool `json:"cannot_replay"`
		}
		out, errs, code := h.Run("replay", "--data", h.Data, "--json", e.Call)
		if err := json.Unmarshal([]byte(out), &again, json.RejectUnknownMembers(false)); err != nil || code != 0 || !again.Same || again.Cannot {
			s.Errorf("%s, %s: replay gives %d: %s%s", e.Name, e.Reason, code, out, errs)
		}
	}
}
