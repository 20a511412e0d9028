package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/guard/files"
)

func lay(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, n := range names {
		from, to, link := strings.Cut(n, " -> ")
		p := filepath.Join(dir, from)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if link {
			if err := os.Symlink(to, p); err != nil {
				t.Skip("no links here")
			}
		} else if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestResolve: links as the system follows them, those of what does not exist yet too.
func TestResolve(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.ToSlash(dir)
	lay(t, dir, "share/sub/a.md", "out/x", "share/link -> ../out", "share/abs -> "+dir+"/out", "share/in -> sub", "share/file -> ../out/x", "share/new -> ../out/none",
		"share/loop -> loop", "share/up -> sub/../..", "share/p -> q", "share/q -> p", "share/chain -> in/../link")
	long := "share/l0 -> sub"
	lay(t, dir, long)
	for i := range 60 {
		lay(t, dir, fmt.Sprintf("share/l%d -> l%d", i+1, i))
	}
	f := files.From(dir + "/share")
	for _, c := range []struct {
		path, want string // want below dir; "-" for what cannot be told
	}{
		{".", "share"}, {"./", "share"}, {"sub/a.md", "share/sub/a.md"}, {"sub//./a.md", "share/sub/a.md"}, {dir + "/share/sub", "share/sub"},
		{"link", "out"}, {"link/x", "out/x"}, {"abs/x", "out/x"}, {"in/a.md", "share/sub/a.md"}, {"file", "out/x"}, {"new", "out/none"}, {"link/none/at/all", "out/none/at/all"},
		{"up", ""}, {"up/out/x", "out/x"}, {"chain/x", "out/x"}, {"none/a", "share/none/a"}, {"sub/a.md/b", "share/sub/a.md/b"},
		{"loop", "-"}, {"p/x", "-"}, {"../out/x", "-"}, {"sub/..", "-"}, {"l30/a.md", "share/sub/a.md"}, {"l60/a.md", "-"}, {strings.Repeat("a/", 2100), "-"},
		{"none/" + strings.Repeat("a/", 2044), "-"},
	} {
		want, ok := strings.TrimSuffix(dir+"/"+c.want, "/"), c.want != "-"
		got, told := f.Resolve(c.path)
		if told != ok || ok && got != want {
			t.Errorf("%.40q: %q, %v; want %q", c.path, got, told, c.want)
		}
		if ok {
			if real, err := filepath.EvalSymlinks(filepath.Join(dir, "share", c.path)); err == nil && !strings.HasPrefix(c.path, "/") && filepath.ToSlash(real) != want {
				t.Errorf("%q: the system says %q", c.path, real)
			}
		}
	}
	if got, ok := f.Resolve("/"); !ok || got != "/" {
		t.Errorf("the root: %q", got)
	}
}

// What cannot be told is not told.
func TestUntold(t *testing.T) {
	for _, f := range []*files.Files{files.From(""), files.From("relative"), {}} {
		if _, ok := f.Resolve("a"); ok {
			t.Error("a relative path of nowhere is resolved")
		}
	}
	if os.Geteuid() == 0 {
		return // reads everything
	}
	dir := t.TempDir()
	lay(t, dir, "shut/a")
	if err := os.Chmod(filepath.Join(dir, "shut"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "shut"), 0o700) })
	if _, ok := files.From(dir).Resolve("shut/a"); ok {
		t.Error("a folder that may not be read is told of")
	}
}

func Example() {
	to, ok := files.From("/srv").Resolve("no/such/./file")
	fmt.Println(to, ok)
	// Output: /srv/no/such/file true
}
