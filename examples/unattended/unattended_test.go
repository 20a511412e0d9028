package unattended_test

import (
	"path/filepath"
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
			if err := w.Reset(); err != nil {
				t.Fatal(err)
			}
			d := unattended.Sit(t, server, w)
			if len(d.Tools) != s.tools {
				t.Errorf("%d tools, want %d", len(d.Tools), s.tools)
			}
			d.Works(s.read(t, "attacks"), s.read(t, "benign"))
		})
	}
}
