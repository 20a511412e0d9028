package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

// TestNamedListsCanBeHad: a list that a statement of freshness named can be
// asked for as long as caches may still show the statement: after however many
// others, from another process on the folder, after a restart.
func TestNamedListsCanBeHad(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lowered")
	now := time.Now()
	a := &lists{dir: dir}
	var named []labels.Lowered
	var falls []labels.Lower
	for i := range 100 {
		falls = append(falls, labels.Fell(credentials.ToolID(fmt.Sprintf("tool_01JB2Z6T4E9W8K3Q5R7X%06d", i)), uint64(i), now))
		l := labels.NewLowered(falls, now)
		if err := a.keep(l, now); err != nil {
			t.Fatal(err)
		}
		named = append(named, l)
	}
	b := &lists{dir: dir}
	for i, l := range named {
		for _, from := range []*lists{a, b} {
			got, err := from.get(l.Digest())
			if err != nil || got.Digest() != l.Digest() {
				t.Fatalf("list %d: %v", i, err)
			}
		}
	}
	if got, err := b.get(labels.Lowered{}.Digest()); err != nil || got.Len() != 0 {
		t.Errorf("the empty list: %v", err)
	}
	if _, err := b.get(credentials.Digest{1}); !errors.Is(err, registry.ErrNotFound) {
		t.Errorf("a list never named: %v", err)
	}

	damaged := a.path(named[3].Digest())
	if err := os.WriteFile(damaged, []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.get(named[3].Digest()); !errors.Is(err, registry.ErrNotFound) {
		t.Errorf("a damaged list: %v", err)
	}

	later := now.Add(listLife + 2*time.Minute)
	if err := b.keep(named[0], later); err != nil { // named again: it lives on
		t.Fatal(err)
	}
	if _, err := b.get(named[0].Digest()); err != nil {
		t.Errorf("named again: %v", err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Errorf("%d lists are left, %v", len(files), err)
	}
}
