package gateway

import (
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/args"
)

const prose = "The form asks for a name and an address. It says at once what is missing, and sends nothing before.\n"

const code = "func (s *Server) Serve(w http.ResponseWriter, r *http.Request) {\n\tif r.URL.Path == \"/healthz\" {\n\t\tfmt.Fprintf(w, \"ok: %d%%\\n\", s.n)\n\t\treturn // see https://example.test/a\n\t}\n}\n"

// texts are arguments as tools of all kinds have them.
var texts = map[string]string{
	"merge request": `{"project_id":"group/project","title":"Add the form for new accounts","source_branch":"feature/new-accounts","target_branch":"develop",` +
		`"assignee_ids":[1204,977],"reviewer_ids":[35],"labels":["accounts","frontend"],"draft":false,"squash":true,"milestone_id":null,"branch":"feature/new-accounts",` +
		`"actions":[{"action":"create","file_path":"src/accounts/form.ts","content":"export const fields = ['name', 'mail'];\n","encoding":"text"},` +
		`{"action":"update","file_path":"docs/accounts.md","content":"# Accounts\n\nNew accounts are made with a form.\n","encoding":"text"}],"description":` + q(strings.Repeat(prose, 2)) + `}`,
	"path":      `{"path":"/home/agent/work/src/accounts/form.ts","recursive":true}`,
	"URL":       `{"url":"https://example.test/a/b?c=d%20e","method":"GET"}`,
	"prose":     `{"body":` + q(strings.Repeat(prose, 30)) + `}`,
	"code":      `{"path":"src/a.go","content":` + q(strings.Repeat(code, 12)) + `}`,
	"long code": `{"path":"src/a.go","content":` + q(strings.Repeat(code, 120)) + `}`,
	"JSON":      `{"body":` + q(`{"a":[`+strings.Repeat(`{"name":"word","n":12,"path":"src/a.ts"},`, 20)+`{}]}`) + `}`,
}

// BenchmarkNamesCall is the search for what is ours in a call, of a remote upstream and
// of one that runs here, in a folder.
func BenchmarkNamesCall(b *testing.B) {
	own := Own{Data: "/tmp/benchpolicy-1234567890", Listeners: []string{"127.0.0.1:7070"}, Home: "/home/agent"}
	for name, s := range texts {
		params := `{"name":"create_merge_request","arguments":` + s + `,"_meta":{"progressToken":7}}`
		f := ask(methodCall, params)
		p, err := readParams(&f, 1<<24)
		if err != nil {
			b.Fatal(err)
		}
		for where, g := range map[string]*guard{"remote": newGuard(own, "", false), "folder": newGuard(own, "/work", false)} {
			b.Run(name+"/"+where, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					tree, err := args.Parse(p.args)
					if err != nil || g.namesCall(&p, tree) {
						b.Fatal("found, or not read")
					}
					tree.Release()
				}
			})
		}
		b.Run(name+"/reading", func(b *testing.B) {
			for b.Loop() {
				tree, _ := args.Parse(p.args)
				tree.Release()
			}
		})
	}
}
