package cases

import (
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
)

// Left out: echo under HOLD with id 1 approved, and the limits on ad; approvals and
// rules on arguments come later.
func TestCaseO04(t *testing.T) {
	const one = `{"order_id": 9007199254740993, "ad": 1915883588174806058, "max": 9223372036854775807, "price": 0.1, "note": "9007199254740993", "opt": null, "sep": "a\u2028b", "who": "\ud83d\udc69\u200d\ud83d\ude80"}`
	scenes(t, both, func(s *scene) {
		h := stage.New(s, s.way, mcptest.Script{Tools: mcptest.List{Items: []mcptest.JSON{mcptest.Tool("echo", "Echoes.")}},
			Answers: map[string]mcptest.Answer{"echo": {Echo: true}}}, stage.Options{})
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
	})
}
