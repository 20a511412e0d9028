package cases

import (
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
)

const rulesO03 = `default: deny
guards:
  refs: {protected: [main]}
rules:
- name: notes
  allow: [read_note, write_file, write_any, twins]
- name: kept
  never: [delete_note]
`

func TestCaseO03(t *testing.T) {
	frames := []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_note","Name":"delete_note","arguments":{"id":"n1"}META}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"NAME":"delete_note","name":"read_note","arguments":{"id":"n1"}META}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/list","Method":"tools/call","params":{"name":"delete_note","arguments":{"id":"n1"}META}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"read_note","arguments":{"id":"n1"}META},"param\u017f":{"name":"delete_note","arguments":{"id":"n1"}META}}`,
		"{\"jsonrpc\":\"2.0\",\"id\":41,\"method\":\"tools/call\",\"params\":{\"name\":\"read_note\",\"arguments\":{\"id\":\"n1\"}META},\"param\u017f\":{\"name\":\"delete_note\",\"arguments\":{\"id\":\"n1\"}META}}",
	}
	const five = `{"jsonrpc":"2.0","id":5,"meth\u006fd":"tools/call","params":{"n\u0061me":"delete_note","arguments":{"id":"n1"}META}}`
	// Two names that differ in case only are refused together, and alone one that the
	// schema does not know. Of a tool that takes any object the guard looks at each.
	const six = `{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"a.txt","Branch":"main","branch":"feat/x"}META}}`
	scenes(t, both, func(s *scene) {
		script := mcptest.Script{Tools: mcptest.List{Items: append([]mcptest.JSON{mcptest.Tool("read_note", "Reads a note."), mcptest.Tool("write_any", "Writes what it is told."), mcptest.Tool("delete_note", "Deletes a note.")}, mcptest.Texts(
			`{"name":"write_file","description":"Writes a file.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"branch":{"type":"string"}}}}`,
			`{"name":"twins","description":"Has two fields.","inputSchema":{"type":"object","properties":{"id":{"type":"string"},"ID":{"type":"string"}}}}`)...)},
			Answers: map[string]mcptest.Answer{"twins": {Echo: true}}}
		h := stage.New(s, s.way, script, stage.Options{Rules: rulesO03})
		a := s.started(h)
		for i, f := range frames {
			m := a.Do(strings.ReplaceAll(f, "META", meta(a)))
			if m.Code() != -32600 && m.Code() != -32602 {
				s.Errorf("frame %d: %s (HTTP %d)", i+1, m.Raw, m.Status)
			}
		}
		denied := stage.Refused(s, a.Do(strings.ReplaceAll(five, "META", meta(a))))
		s.audited(h, denied)
		s.audited(h, stage.Refused(s, a.Do(strings.ReplaceAll(six, "META", meta(a))), "arguments"))
		s.audited(h, stage.Refused(s, a.Do(strings.ReplaceAll(strings.Replace(six, "write_file", "write_any", 1), "META", meta(a))), "arguments"))
		s.audited(h, stage.Refused(s, a.Call("write_file", `{"path":"a.txt","Branch":"feat/x"}`), "unfit"))
		for name, at := range map[string]string{"branch": "/branch", "Branch": "/Branch", "BRANCH": "/BRANCH", `br\u0061nch`: "/branch"} {
			s.guarded(h, a, "write_any", `{"path":"a.txt","`+name+`":"main"}`, "ref", at, "main")
		}
		s.guarded(h, a, "write_file", `{"path":"a.txt","branch":"main"}`, "ref", "/branch", "main")
		s.never(h, "delete_note", "write_file", "write_any")
		for _, text := range []string{"delete_note", "NAME", "Method", "Branch"} {
			if h.Up.Mentions(text) {
				s.Errorf("%s reached the server", text)
			}
		}
		s.runs(h, a, "read_note", `{"id":"n1"}`)
		s.runs(h, a, "write_file", `{"path":"a.txt","branch":"feat/x"}`)
		s.runs(h, a, "write_any", `{"path":"a.txt","Branch":"feat/x"}`)
		if m := s.runs(h, a, "twins", `{"id":"a","ID":"b"}`); m.Text() != `{"id":"a","ID":"b"}` {
			s.Errorf("twins: %s", m.Raw)
		}
	})
}
