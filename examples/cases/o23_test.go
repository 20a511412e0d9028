package cases

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
)

// The rules of the case; ROOT is a folder of the test, since links are about real
// files.
const rulesO23 = `rules:
- name: share
  allow: [read_file]
  args: {path: {within: ROOT/srv/share}}
- name: manifest
  allow: [write_file]
  args: {file_path: {file: package.json}}
`

// rowsO23 are the rows of the case in its order; at is the argument that the refusal
// names.
var rowsO23 = []struct{ tool, args, at string }{
	{"read_file", `{"path":"ROOT/srv/share/a.md"}`, ""},
	{"read_file", `{"path":"ROOT/srv/share/./sub//b.md"}`, ""},
	{"read_file", `{"path":"ROOT/srv/share-secret/loot.md"}`, "/path"},
	{"read_file", `{"path":"ROOT/srv/share/../share-secret/loot.md"}`, "/path"},
	{"read_file", `{"path":"ROOT/srv/share/sub/../../../etc/passwd"}`, "/path"},
	{"read_file", `{"path":"file://ROOT/srv/share/../../etc/passwd"}`, "/path"},
	{"read_file", `{"path":"ROOT/srv/share/a.md\u0000.png"}`, "/path"},
	{"read_file", `{"path":""}`, "/path"},
	{"write_file", `{"file_path":"package.json"}`, ""},
	{"write_file", `{"file_path":"./package.json"}`, ""},
	{"write_file", `{"file_path":"package.json/../.env"}`, "/file_path"},
	{"write_file", `{"file_path":"package.json","options":{"target":{"file_path":"../.env"}}}`, "/options/target/file_path"},
}

// linksO23 are paths whose letters lie in the folder, and whose links lead out of it.
var linksO23 = []string{"ROOT/srv/share/link/passwd", "ROOT/srv/share/li%6ek/passwd", "ROOT/srv/share/new.md", "ROOT/srv/share/loop/a"}

// layO23 lays the folder out.
func layO23(t testing.TB) string {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"srv/share/a.md", "srv/share/sub/b.md", "srv/share-secret/loot.md", "etc/passwd"} {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"srv/share/link": "../../etc", "srv/share/new.md": "../share-secret/new.md", "srv/share/loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(root, from)); err != nil {
			t.Skip("no links here")
		}
	}
	return filepath.ToSlash(root)
}

func TestCaseO23(t *testing.T) {
	scenes(t, both, func(s *scene) {
		root := layO23(s)
		here := func(text string) string { return strings.ReplaceAll(text, "ROOT", root) }
		script := mcptest.Script{Tools: mcptest.List{Items: []mcptest.JSON{mcptest.Tool("read_file", "Reads a file."), mcptest.Tool("write_file", "Writes a file.")}}}
		h := stage.New(s, s.way, script, stage.Options{Rules: here(rulesO23)})
		a := s.started(h)
		for _, row := range rowsO23 {
			args := here(row.args)
			if row.at != "" {
				s.guardedO23(h, a, row.tool, args, row.at)
				continue
			}
			s.runs(h, a, row.tool, args)
			calls := slices.DeleteFunc(h.Up.Received(), func(m mcptest.Message) bool { return m.Method != "tools/call" })
			if sent := mcptest.Path(calls[len(calls)-1].Params, "arguments"); !equal(sent, mcptest.JSON(args)) {
				s.Errorf("%s was forwarded as %s", args, sent)
			}
		}
		// What is far away has files of its own: there a path is judged by its letters.
		for _, p := range linksO23 {
			if args := `{"path":"` + here(p) + `"}`; s.way == stage.HTTPHTTP {
				s.runs(h, a, "read_file", args)
			} else {
				s.guardedO23(h, a, "read_file", args, "/path")
			}
		}
	})
}

// guardedO23 wants the call refused by the guard of paths, with the place of the
// argument and without its text, and the server not asked.
func (s *scene) guardedO23(h *stage.House, a *mcptest.Agent, tool, args, at string) {
	s.Helper()
	n := h.Up.Executed(tool)
	m := a.Call(tool, args)
	r := stage.Refused(s, m, "guard")
	if h.Up.Executed(tool) != n || strings.Contains(string(m.Raw), "/srv/") || strings.Contains(string(m.Raw), ".env") {
		s.Errorf("%s: executed, or the refusal repeats the path: %.600s", args, m.Raw)
	}
	for _, e := range h.Recorded(r) {
		if e.Guard != "path" || !slices.Equal(e.Paths, []string{at}) {
			s.Errorf("%s: the record has %s %q", args, e.Guard, e.Paths)
		}
	}
}
