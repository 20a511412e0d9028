package cases

import (
	"os"
	"path/filepath"
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
		if s.way == stage.HTTPHTTP {
			root = "" // as the case is written
		}
		here := func(text string) string { return strings.ReplaceAll(text, "ROOT", root) }
		script := mcptest.Script{Tools: mcptest.List{Items: []mcptest.JSON{mcptest.Tool("read_file", "Reads a file."), mcptest.Tool("write_file", "Writes a file.")}}}
		h := stage.New(s, s.way, script, stage.Options{Rules: here(rulesO23)})
		a := s.started(h)
		for _, row := range rowsO23 {
			args := here(row.args)
			if row.at != "" {
				s.guarded(h, a, row.tool, args, "path", row.at, "/srv/", ".env")
				continue
			}
			s.runs(h, a, row.tool, args)
			if sent := mcptest.Path(h.Up.Last(row.tool).Params, "arguments"); string(sent) != args { // what is judged, byte for byte
				s.Errorf("%s was forwarded as %s", args, sent)
			}
		}
		// What is far away has files of its own: there a path is judged by its letters.
		for _, p := range linksO23 {
			if args := `{"path":"` + here(p) + `"}`; s.way == stage.HTTPHTTP {
				s.runs(h, a, "read_file", args)
			} else {
				s.guarded(h, a, "read_file", args, "path", "/path", "/srv/")
			}
		}
	})
}
