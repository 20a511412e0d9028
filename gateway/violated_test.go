package gateway

import (
	"testing"
	"time"

	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/observed"
	"github.com/pratique-dev/pratique/registry/runs"
)

// forgives releases what was seen of a tool, in another process, as `pratique
// quarantine release` does.
func (st *street) forgives(s *Session, name string) {
	st.Helper()
	e, there, _ := s.keeper.Peek(gate.Tool, name)
	if !there {
		st.Fatalf("no tool %s", name)
	}
	time.Sleep(2 * time.Millisecond)
	seen, _ := st.seen(baseline.NewMemory(baseline.Options{}))
	if err := seen.Place(s.g.place.Origin.String()).Release(observed.SubjectOf(&e), time.Now()); err != nil {
		st.Fatal(err)
	}
}

// TestReleaseTakesNothingBack: an operator who releases a version that contradicted
// its declaration says what may come of it from now on. What was read before stays
// withdrawn, though nobody looked at the run in between, until that is cleared; what
// is read afterwards is as any other result.
func TestReleaseTakesNothingBack(t *testing.T) {
	st := newStreet(t)
	s := st.house.shown(newPerson())
	_, id := st.use(s, "leaves")
	st.breaks(s)
	st.forgives(s, "leaves")
	if why, _ := st.use(s, "stays"); why != string(policy.Withdrawn) {
		t.Fatalf("released: %q", why)
	}
	v, err := s.who.run.Look()
	if err != nil {
		t.Fatal(err)
	}
	if w := v.Withdrawn(); len(w) != 1 || w[0].Why != runs.WhyViolated || len(w[0].Results) != 1 || w[0].Results[0] != id {
		t.Errorf("%+v", w)
	}
	st.ends(s, id)
	for _, name := range []string{"leaves", "stays", "leaves"} {
		if why, _ := st.use(s, name); why != "" {
			t.Errorf("released and cleared: %s: %q", name, why)
		}
	}
}

// TestContradictionThatNobodyRead: a result that contradicts is held, so that a tool
// by it alone closes no run that has read nothing of it.
func TestContradictionThatNobodyRead(t *testing.T) {
	st := newStreet(t)
	s := st.house.shown(newPerson())
	if why, _ := st.use(s, "stays"); why != "" {
		t.Fatal(why)
	}
	st.breaks(s)
	if why, _ := st.use(s, "stays"); why != "" {
		t.Errorf("%q", why)
	}
	if w := withdrawals(st); len(w) != 0 {
		t.Errorf("%+v", w)
	}
}
