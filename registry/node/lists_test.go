package node

import (
	"context"
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

// TestListsAreBounded: however many are named, their files take bounded room,
// and the newest is among them.
func TestListsAreBounded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lowered")
	now := time.Now()
	l := &lists{dir: dir, bytes: 2000}
	var falls []labels.Lower
	var last labels.Lowered
	for i := range 50 {
		falls = append(falls, labels.Fell(credentials.ToolID(fmt.Sprintf("tool_01JB2Z6T4E9W8K3Q5R7X%06d", i)), uint64(i), now))
		now = now.Add(61 * time.Second / 2)
		last = labels.NewLowered(falls, now)
		if err := l.keep(last, now); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) > 4 {
		t.Errorf("%d files are left, %v", len(files), err)
	}
	other := &lists{dir: dir}
	if _, err := other.get(last.Digest()); err != nil {
		t.Errorf("the newest: %v", err)
	}
}

// TestListIsBuiltWhenTheLogMoved: asking for the key set again and again builds
// no list anew where nothing has happened, and one a second where it has.
func TestListIsBuiltWhenTheLogMoved(t *testing.T) {
	ctx := context.Background()
	n, err := Open(ctx, Config{Data: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0", Admin: "off"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	now := time.Now().Truncate(time.Minute)
	at := func(d time.Duration) {
		t.Helper()
		if _, err := n.keys.Document(ctx, now.Add(d)); err != nil {
			t.Fatal(err)
		}
	}
	for d := time.Duration(0); d < 30*time.Second; d += 100 * time.Millisecond {
		at(d)
	}
	if n.keys.builds != 1 {
		t.Errorf("%d lists built while nothing happened", n.keys.builds)
	}
	for i := range 20 { // an event and a request, twenty times within a second
		cmd := &registry.RecordRestore{Size: uint64(i)}
		cmd.ID, cmd.Caller = commandID(n.opt.Rand), registry.UnsafeLocal("")
		cmd.Req = sumOf(cmd.ID)
		if _, err := n.record.Do(ctx, cmd); err != nil {
			t.Fatal(err)
		}
		at(32*time.Second + time.Duration(i)*40*time.Millisecond)
	}
	if n.keys.builds > 2 {
		t.Errorf("%d lists built within a second", n.keys.builds)
	}
}
