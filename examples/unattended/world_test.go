package unattended_test

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// A folder is the world of server-filesystem.
type folder struct{ root string }

// Reset implements unattended.World.
func (f folder) Reset() error {
	entries, err := os.ReadDir(f.root)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(f.root, e.Name())); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{
		"share/a.md": "Anna sails at noon.\n", "share/sub/b.md": "Berta waits.\n", "share/v1..2.md": "Two dots.\n", "share/two words.md": "A blank.\n",
		"share/share-secret.md": "No secret.\n", "share-secret/loot.md": "the loot\n", "private/key.txt": "the key\n", "out/draft.md": "draft\n",
	} {
		path := filepath.Join(f.root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	for name, to := range map[string]string{"share/link": "../private", "share/keylink": "../private/key.txt", "share/inner": "sub/b.md", "out/back": "../private"} {
		if err := os.Symlink(to, filepath.Join(f.root, name)); err != nil {
			return err
		}
	}
	return nil
}

// State implements unattended.World.
func (f folder) State() (list []string, err error) {
	err = fs.WalkDir(os.DirFS(f.root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		line := path
		if d.Type().IsRegular() {
			raw, err := os.ReadFile(filepath.Join(f.root, path))
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %q", raw)
		}
		list = append(list, line)
		return nil
	})
	slices.Sort(list)
	return list, err
}

// Requests implements unattended.World: what a server reads of a folder leaves no
// trace.
func (f folder) Requests() int { return 0 }

// A graph is the world of server-memory: the file that it keeps.
type graph struct{ file string }

// Reset implements unattended.World.
func (g graph) Reset() error {
	return os.WriteFile(g.file, []byte(`{"type":"entity","name":"Anna","entityType":"ship","observations":["sails at noon"]}
{"type":"entity","name":"Berta","entityType":"ship","observations":["waits"]}
{"type":"entity","name":"credentials","entityType":"secret","observations":["the harbour key"]}
{"type":"relation","from":"Berta","to":"Anna","relationType":"follows"}
`), 0o600)
}

// State implements unattended.World.
func (g graph) State() (list []string, err error) {
	f, err := os.Open(g.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var l struct {
			Type, Name, EntityType, From, To, RelationType string
			Observations                                   []string
		}
		if err := json.Unmarshal(s.Bytes(), &l, json.MatchCaseInsensitiveNames(true)); err != nil {
			return nil, err
		}
		if l.Type == "entity" {
			list = append(list, fmt.Sprintf("entity %s %s %s", l.Name, l.EntityType, l.Observations))
		} else {
			list = append(list, strings.Join([]string{l.Type, l.From, l.RelationType, l.To}, " "))
		}
	}
	slices.Sort(list)
	return list, nil
}

// Requests implements unattended.World.
func (g graph) Requests() int { return 0 }

func root(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
