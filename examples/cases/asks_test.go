package cases

import (
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
)

// tasks are honest pieces of work with a server that somebody launched, as calls with
// what they send. A read begins with get, list or search.
var tasks = []struct {
	name  string
	calls [][2]string
}{
	{"look something up", [][2]string{{"search_docs", `{"q":"opening hours"}`}, {"get_doc", `{"id":"d-7"}`}}},
	{"answer a ticket", [][2]string{{"get_ticket", `{"id":"t-1"}`}, {"list_comments", `{"id":"t-1"}`}, {"add_comment", `{"id":"t-1","text":"We are looking into it."}`}}},
	{"raise a dependency", [][2]string{{"get_file", `{"path":"package.json"}`}, {"create_branch", `{"name":"bot/left-pad"}`}, {"write_file", `{"path":"package.json","branch":"bot/left-pad","content":"{}"}`}, {"create_merge_request", `{"source_branch":"bot/left-pad","target_branch":"main"}`}}},
	{"keep notes", [][2]string{{"list_notes", `{}`}, {"write_note", `{"path":"notes/monday.md","text":"Call Ann."}`}, {"get_note", `{"path":"notes/monday.md"}`}}},
	{"invite somebody", [][2]string{{"list_people", `{}`}, {"send_mail", `{"to":["ann@corp.example"],"subject":"Lunch","text":"At one?"}`}}},
	{"plan a week", [][2]string{{"list_events", `{"from":"2026-12-01"}`}, {"create_event", `{"title":"Retrospective","at":"2026-12-04T10:00:00Z"}`}, {"delete_event", `{"id":"e-3"}`}}},
}

// TestRule39Asks counts the questions that honest work raises under the default
// profile, without a rule of anybody's: at most one in five tasks, and none for a read.
// Without a channel a question is a refusal, and counts.
func TestRule39Asks(t *testing.T) {
	scenes(t, both[1:], func(s *scene) {
		script := mcptest.Script{Answers: map[string]mcptest.Answer{}}
		for _, task := range tasks {
			for _, c := range task.calls {
				script.Tools.Items = append(script.Tools.Items, mcptest.Tool(c[0], "Does "+strings.ReplaceAll(c[0], "_", " ")+"."))
				script.Answers[c[0]] = mcptest.Answer{Result: mcptest.TextResult("Opening hours are nine to five; ask Ann about the rest.")}
			}
		}
		with := stage.Options{}
		if s.modern() { // and the guards that stand in every rule file ask and refuse nothing either
			with.Rules = "rules:\n- name: all\n  allow: [\"*\"]\n"
		}
		h := stage.New(s, s.way, script, with)
		a := s.started(h)
		for _, task := range tasks {
			for _, c := range task.calls {
				s.runs(h, a, c[0], c[1])
			}
		}
		asked, reads, calls := 0, 0, 0
		for _, e := range h.Find(func(e entry) bool { return e.Type == "call.decided" }) {
			calls++
			if e.Verb != "ask" && e.Reason != "no_channel" {
				continue
			}
			asked++
			if verb, _, _ := strings.Cut(e.Name, "_"); verb == "get" || verb == "list" || verb == "search" {
				reads++
			}
		}
		if reads > 0 || float64(asked) > 0.2*float64(len(tasks)) || calls < 17 {
			s.Errorf("%d questions in %d tasks of %d calls, %d of them for reads", asked, len(tasks), calls, reads)
		}
		s.Logf("%d questions in %d tasks of %d calls", asked, len(tasks), calls)
	})
}
