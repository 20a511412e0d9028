package unattended_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/examples/unattended"
	"github.com/pratique-dev/pratique/examples/unattended/launch"
)

func TestMain(m *testing.M) { unattended.Main(m) }

// A set is a server, its world and its vectors.
type set struct {
	name  string
	tools int // that the server lists
	named int // that the intent names
	with  []string
	serve func(t testing.TB) (launch.Server, unattended.World)
}

func sets(t testing.TB) []set {
	folders, file := root(t), filepath.Join(root(t), "memory.jsonl")
	return []set{
		{"filesystem", 14, 5, []string{"{ROOT}", folders}, func(t testing.TB) (launch.Server, unattended.World) {
			return launch.Filesystem(unattended.NPM(t), folders), folder{folders}
		}},
		{"memory", 9, 4, nil, func(t testing.TB) (launch.Server, unattended.World) {
			return launch.Memory(unattended.NPM(t), file), graph{file}
		}},
	}
}

func (s set) read(t testing.TB, what string) []unattended.Vector {
	t.Helper()
	list, err := unattended.Read("testdata/"+s.name+"-"+what+".jsonl", s.with...)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestDirect: every attack and every call of the agent's work does something on the
// server itself.
func TestDirect(t *testing.T) {
	for _, s := range sets(t) {
		t.Run(s.name, func(t *testing.T) {
			server, w := s.serve(t)
			s.reset(t, w)
			d := unattended.Sit(t, server, w)
			if len(d.Tools) != s.tools {
				t.Errorf("%d tools, want %d", len(d.Tools), s.tools)
			}
			d.Works(s.read(t, "attacks"), s.read(t, "benign"))
		})
	}
}

// intent is the set's own, in words.
func (s set) intent(t testing.TB) string {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + s.name + "-intent.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(s.with...).Replace(string(raw))
}

// TestSealed is the suite under each sealed intent, over stdio and over HTTP.
func TestSealed(t *testing.T) {
	for _, s := range sets(t) {
		t.Run(s.name+"/guard", func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "intent.yaml")
			if err := os.WriteFile(file, []byte(s.intent(t)), 0o600); err != nil {
				t.Fatal(err)
			}
			server, w := s.serve(t)
			s.reset(t, w)
			s.hold(t, unattended.Guarded(t, server, w, launch.Guard{Name: s.name, Intent: file}))
		})
		t.Run(s.name+"/up", func(t *testing.T) {
			server, w := s.serve(t)
			s.reset(t, w)
			s.hold(t, unattended.Behind(t, server, w, s.name, strings.Replace(s.intent(t), "launch: "+s.name+"\n", "", 1)))
		})
	}
}

func (s set) hold(t *testing.T, d *unattended.Desk) {
	server, w := s.serve(t)
	all := unattended.Sit(t, server, w)
	if rest := d.Others(all, `{}`); d.Unheard(rest) != s.tools-s.named || len(d.Heard()) != 0 {
		t.Errorf("of %d other tools the server heard %q", len(rest), d.Heard())
	}
	all.Leave()
	if len(d.Tools) != s.named {
		t.Errorf("%d tools are listed, want %d", len(d.Tools), s.named)
	}
	c := d.Holds(s.read(t, "attacks"), s.read(t, "benign"))
	t.Log(c)
	if c.Blocked != c.Attacks || c.Passed != c.Benign {
		t.Errorf("%s", c)
	}
}

// reset makes the world before a server looks at it.
func (s set) reset(t *testing.T, w unattended.World) {
	if err := w.Reset(); err != nil {
		t.Fatal(err)
	}
}
