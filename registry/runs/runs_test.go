package runs_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/runs"
)

const (
	alice = credentials.AgentID("agt_01J00000000000000000000000")
	bob   = credentials.AgentID("agt_01J00000000000000000000001")
	place = "stdio:files"
)

var (
	a, b   = baseline.Key{Kind: baseline.Tool, Name: "a"}, baseline.Key{Kind: baseline.Prompt, Name: "a"}
	v1, v2 = credentials.Digest{1}, credentials.Digest{2}
)

func Example() {
	s := runs.NewMemory(runs.Options{})
	r, began, _ := s.Current(alice, "personal")
	again, second, _ := s.Current(alice, "personal")
	fmt.Println(began, second, r.ID() == again.ID())
	// Output: true false true
}

func open(t *testing.T, dir string) *runs.Store {
	t.Helper()
	s, err := runs.Open(dir, runs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func current(t *testing.T, s *runs.Store, agent credentials.AgentID) *runs.Run {
	t.Helper()
	r, _, err := s.Current(agent, "personal")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func shown(t *testing.T, r *runs.Run, k baseline.Key) credentials.Digest {
	t.Helper()
	d, _, err := r.Shown(place, k)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestRunOutlivesProcesses: every process of a credential joins the one run and
// sees what each other showed; another agent has its own (RULES.md 1).
func TestRunOutlivesProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	one := current(t, open(t, dir), alice)
	two := current(t, open(t, dir), alice)
	if one.ID() != two.ID() {
		t.Fatalf("two runs: %s %s", one.ID(), two.ID())
	}
	if err := one.Show(t.Context(), place, map[baseline.Key]credentials.Digest{a: v1, b: v2}); err != nil {
		t.Fatal(err)
	}
	if shown(t, two, a) != v1 || shown(t, current(t, open(t, dir), alice), b) != v2 {
		t.Error("what one showed another does not know")
	}
	if d := shown(t, current(t, open(t, dir), bob), a); !d.IsZero() {
		t.Error("another agent was shown it too")
	}
	if err := two.Forget(t.Context(), place, a); err != nil || !shown(t, one, a).IsZero() || shown(t, one, b) != v2 {
		t.Errorf("forgotten: %v", err)
	}
	if err := two.Replace(t.Context(), place, baseline.Prompt, map[string]credentials.Digest{"x": v1}); err != nil || !shown(t, one, b).IsZero() {
		t.Errorf("replaced: %v", err)
	}
	all, err := one.All(place)
	if err != nil || len(all[baseline.Prompt]) != 1 {
		t.Errorf("all: %v %v", all, err)
	}
}

// TestRunEnds: an ended run shows and remembers nothing; the next is another.
func TestRunEnds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	s := open(t, dir)
	r := current(t, s, alice)
	r.Show(t.Context(), place, map[baseline.Key]credentials.Digest{a: v1})
	if err := open(t, dir).End(alice, "operator"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Shown(place, a); !errors.Is(err, runs.ErrEnded) {
		t.Errorf("shown after the end: %v", err)
	}
	if err := r.Show(t.Context(), place, map[baseline.Key]credentials.Digest{a: v1}); !errors.Is(err, runs.ErrEnded) {
		t.Errorf("show after the end: %v", err)
	}
	next := current(t, s, alice)
	if next.ID() == r.ID() || !shown(t, next, a).IsZero() || r.Open() == nil {
		t.Error("the run went on")
	}
	if err := s.End(bob, "none is open"); err != nil {
		t.Error(err)
	}
}

// TestRunDamage: a damaged, older or vanished file is an error by name until the
// operator ends the run; it is never a new run by itself.
func TestRunDamage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	s := open(t, dir)
	r := current(t, s, alice)
	file := filepath.Join(dir, string(alice)+".run")
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Show(t.Context(), place, map[baseline.Key]credentials.Digest{a: v1}); err != nil {
		t.Fatal(err)
	}
	good, _ := os.ReadFile(file)
	for i := range good {
		bad := append([]byte{}, good...)
		bad[i] ^= 1
		os.WriteFile(file, bad, 0o600)
		if _, _, err := open(t, dir).Current(alice, "personal"); !errors.Is(err, runs.ErrDamaged) {
			t.Fatalf("byte %d: %v", i, err)
		}
		if _, _, err := r.Shown(place, a); !errors.Is(err, runs.ErrDamaged) {
			t.Fatalf("byte %d, in a run: %v", i, err)
		}
	}
	os.WriteFile(file, old, 0o600)
	if _, _, err := r.Shown(place, a); !errors.Is(err, runs.ErrDamaged) {
		t.Errorf("an older file: %v", err)
	}
	os.Remove(file)
	if _, _, err := s.Current(alice, "personal"); !errors.Is(err, runs.ErrDamaged) {
		t.Errorf("a file that vanished: %v", err)
	}
	os.WriteFile(file, []byte("x"), 0o600)
	if err := open(t, dir).End(alice, "damaged"); err != nil {
		t.Fatal(err)
	}
	if n := current(t, open(t, dir), alice); n.ID() == r.ID() {
		t.Error("the same run")
	}
}

// TestRunConcurrent: many processes begin one run, and lose none of each other's
// items.
func TestRunConcurrent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	var all sync.WaitGroup
	for i := range 4 {
		s := open(t, dir)
		all.Go(func() {
			r, _, err := s.Current(alice, "personal")
			for j := 0; j < 10 && err == nil; j++ {
				k := baseline.Key{Kind: baseline.Tool, Name: fmt.Sprint(i, "-", j)}
				err = r.Show(t.Context(), place, map[baseline.Key]credentials.Digest{k: v1})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	m, err := current(t, open(t, dir), alice).All(place)
	if err != nil || len(m[baseline.Tool]) != 40 {
		t.Errorf("%d items, %v", len(m[baseline.Tool]), err)
	}
}

// TestRunOfLaunch: each launch has an agent and a run of its own, and leaves no
// file.
func TestRunOfLaunch(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	s := open(t, dir)
	x, err1 := s.Launch("personal")
	y, err2 := s.Launch("personal")
	if err := errors.Join(err1, err2); err != nil || x.ID() == y.ID() || x.Agent() == y.Agent() {
		t.Fatal("two launches are one", err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("left behind: %v", files)
	}
	if _, _, err := s.Current("agt_../../x", "personal"); err == nil {
		t.Error("an id that is none was taken for a file name")
	}
}

func TestRunBounds(t *testing.T) {
	r := current(t, runs.NewMemory(runs.Options{}), alice)
	set := map[baseline.Key]credentials.Digest{}
	for i := range runs.MaxItems + 1 {
		set[baseline.Key{Kind: baseline.Tool, Name: fmt.Sprint(i)}] = v1
	}
	if err := r.Show(t.Context(), place, set); !errors.Is(err, runs.ErrLimit) {
		t.Errorf("%v", err)
	}
}
