package cases

import (
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
)

// A hold is an ask, which without a channel that could answer is a refusal that names
// the remedy. Left for approvals: send_mail waiting for a person in each of the shapes.
const rulesO02 = `default: deny
rules:
- name: fine
  allow: [ping_tool]
- name: records
  never: [delete_record]
- name: mail
  ask: [send_mail]
`

// smuggled are the frames of the case, with the ids that need an answer where the
// revision has batches; META stands for the _meta that the era wants.
var smuggled = []struct {
	name, frame string
	batch       bool
}{
	{"one", `[{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "delete_record", "arguments": {"id": "r-17"}META}}]`, true},
	{"two", `[{"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "ping_tool", "arguments": {}META}}, {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "send_mail", "arguments": {"to": "x@example.test"}META}}]`, true},
	{"nested", `[[{"jsonrpc": "2.0", "id": 10, "method": "tools/call", "params": {"name": "delete_record", "arguments": {"id": "r-18"}META}}]]`, true},
	{"empty", `[]`, true},
	{"orphan response", `{"jsonrpc": "2.0", "id": 4711, "result": {"action": "accept", "content": {"ok": true}}}`, false},
	{"call without an id", `{"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "delete_record", "arguments": {"id": "r-19"}META}}`, false},
	{"one, after blanks", " \t  " + `[{"jsonrpc": "2.0", "id": 11, "method": "tools/call", "params": {"name": "delete_record", "arguments": {"id": "r-17"}META}}]`, true},
	{"one, after newlines", "\n\r\n \n" + `[{"jsonrpc": "2.0", "id": 12, "method": "tools/call", "params": {"name": "delete_record", "arguments": {"id": "r-17"}META}}]`, true},
	{"one, after a byte order mark", "\ufeff" + `[{"jsonrpc": "2.0", "id": 13, "method": "tools/call", "params": {"name": "delete_record", "arguments": {"id": "r-17"}META}}]`, true},
}

// meta is the _meta that an agent of the era sends, as one more member of params.
func meta(a *mcptest.Agent) string {
	if v := mcptest.Path(a.Params(`{}`), "_meta"); v != nil {
		return `,"_meta":` + string(v)
	}
	return ""
}

func TestCaseO02(t *testing.T) {
	scenes(t, append([]string{"2025-03-26"}, both...), func(s *scene) {
		script := mcptest.Script{Tools: mcptest.List{Items: []mcptest.JSON{
			mcptest.Tool("ping_tool", "Answers."), mcptest.Tool("delete_record", "Deletes a record."), mcptest.Tool("send_mail", "Sends a mail."),
		}}}
		h := stage.New(s, s.way, script, stage.Options{Rules: rulesO02})
		a := s.started(h)
		pings := 0
		batches := s.rev == "2025-03-26"
		for _, f := range smuggled {
			records := func() int {
				return len(h.Find(func(e entry) bool { return e.Type == "frame.dropped" || e.Outcome == "refused" }))
			}
			before := records()
			frame := strings.ReplaceAll(f.frame, "META", meta(a))
			n := len(a.Frames())
			a.Send(frame)
			if m := a.Call("ping_tool", `{}`); m.IsError() || m.Text() != "ok" { // the session survives
				s.Errorf("%s: ping_tool: %s", f.name, m.Raw)
			}
			if f.batch && !batches {
				m := a.Wait("")
				if m.Code() != -32600 && m.Status < 400 {
					s.Errorf("%s: %s", f.name, m.Raw)
				}
			}
			for _, m := range a.Frames()[n:] {
				if strings.Contains(string(m.Raw), "delete_record") || m.ID == "7" && !m.IsError() {
					s.Errorf("%s: the agent got %s", f.name, m.Raw)
				}
			}
			pings++
			if batches && f.name == "two" {
				pings++ // id 8 is a member of its own
			}
			s.await(f.name+" is on record", func() bool { return records() > before }) // over HTTP its answer may be on its way still
		}
		s.never(h, "delete_record", "send_mail")
		for _, text := range []string{"delete_record", "send_mail", "r-17", "r-18", "r-19", "4711", "x@example.test"} {
			if h.Up.Mentions(text) {
				s.Errorf("%s reached the server", text)
			}
		}
		if n := h.Up.Executed("ping_tool"); n != pings {
			s.Errorf("ping_tool was executed %d times, not %d", n, pings)
		}
		mail := stage.Refused(s, a.Call("send_mail", `{"to":"x@example.test"}`))
		stop := stage.Refused(s, a.Call("delete_record", `{"id":"r-1"}`))
		s.audited(h, mail, stop)
		s.never(h, "delete_record", "send_mail")
	})
}
