package decisions

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pratique-dev/pratique/registry"
)

// TestAdoptLooksAgain: what a spool was left with counts as it is once it is held, not
// as it was when somebody looked for spools to take over.
func TestAdoptLooksAgain(t *testing.T) {
	data := t.TempDir()
	opened := func() *Log {
		l, err := Open(data, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	wrote := func(l *Log) string {
		name := l.cur.spool.Name()
		if _, err := l.Decided(context.Background(), &registry.Entry{Run: "run_1", Method: "tools/call", Verb: "deny", Reason: "new", Outcome: registry.OutcomeRefused, Invoked: "no"}, nil, false); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return name
	}
	first := opened()
	second := opened() // cannot take the spool of the first, which lives
	name := wrote(first)
	if err := second.adopt(name, false); err != nil { // it was of the dead when it was looked at, and has ended in order since
		t.Fatal(err)
	}
	left, err := second.readLeft(name)
	if err != nil || left == nil || left.Size != 1 {
		t.Fatalf("the mark of its end is %+v: %v", left, err)
	}
	mark := filepath.Join(spoolDir(data, name), leftFile)
	old, err := os.ReadFile(mark)
	if err != nil {
		t.Fatal(err)
	}
	if third := opened(); wrote(third) != name {
		t.Fatal("it is not continued")
	}
	if left, err = second.readLeft(name); err != nil || left == nil || left.Size != 2 {
		t.Fatalf("the mark of its end is %+v: %v", left, err)
	}
	if err := os.WriteFile(mark, old, 0o600); err != nil { // an older one
		t.Fatal(err)
	}
	for _, keep := range []bool{true, false} {
		if err := second.adopt(name, keep); !errors.Is(err, ErrAnchor) {
			t.Errorf("keep %t: %v", keep, err)
		}
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
}
