package observed_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/observe"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry/observed"
)

const place = "https://tools.example/mcp"

func subject(name string) observed.Subject {
	return observed.Subject{Key: gate.Key{Kind: gate.Tool, Name: name}, Tool: "tool_01JB2Z6T4E9W8K3Q5R7XAAAAAA", Gen: 1, Ver: 1, Digest: canon.Digest("test", []byte(name))}
}

func entry(s observed.Subject) *gate.Entry {
	e := &gate.Entry{Tool: s.Tool, Gen: s.Gen, Ver: s.Ver}
	e.Key, e.Digest = s.Key, s.Digest
	return e
}

func good(i int, at time.Time) observe.Observation {
	return observe.Observation{Call: fmt.Sprintf("call_%d", i), Run: fmt.Sprintf("run_%d", i%4), At: at.UnixMilli(), Good: true}
}

func bad(at time.Time) observe.Observation {
	return observe.Observation{Call: "call_bad", Run: "run_1", At: at.UnixMilli(), Good: true,
		Seen: []observe.Sighting{{Sign: observe.OutputUnfit, Link: observe.Own}}}
}

func open(t testing.TB, dir string, o observed.Options) *observed.Store {
	t.Helper()
	s, err := observed.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func add(t testing.TB, p *observed.Place, s observed.Subject, owner credentials.KeyID, o observe.Observation) {
	t.Helper()
	if err := p.Add(s, owner, o, observed.Cite{Spool: "spool_x", Entry: 3}); err != nil {
		t.Fatal(err)
	}
}

func of(t testing.TB, p *observed.Place, e *gate.Entry, now time.Time) string {
	t.Helper()
	c, ok := p.Of(e, now)
	if !ok {
		return "nothing"
	}
	return c.String()
}

func head(t testing.TB, p *observed.Place) uint64 {
	t.Helper()
	h, err := p.Head()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func ExamplePlace_Of() {
	s, err := observed.NewMemory(observed.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, tool := s.Place(place), subject("pay")
	fmt.Println(p.Add(tool, "", bad(time.Now()), observed.Cite{}))
	c, seen := p.Of(entry(tool), time.Now())
	fmt.Println(c, seen)
	// Output:
	// <nil>
	// violated true
}

// A contradiction turns the label at once, in every process that shares the
// folder, and after a restart; of exactly the version that it was seen of.
func TestContradictionIsSeenEverywhere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "observed")
	a, b := open(t, dir, observed.Options{}), open(t, dir, observed.Options{})
	now := time.Now()
	s := subject("pay")
	before := head(t, b.Place(place))
	add(t, a.Place(place), s, "", bad(now))
	for name, st := range map[string]*observed.Store{"itself": a, "another": b, "a new one": open(t, dir, observed.Options{})} {
		p := st.Place(place)
		if got := of(t, p, entry(s), now); got != "violated" {
			t.Errorf("%s: %s", name, got)
		}
		if name != "itself" && head(t, p) == before {
			t.Errorf("%s: the head stays", name)
		}
		for what, change := range map[string]func(*observed.Subject){
			"another version": func(s *observed.Subject) { s.Ver++ }, "another generation": func(s *observed.Subject) { s.Gen++ },
			"another digest": func(s *observed.Subject) { s.Digest[0]++ }, "another tool": func(s *observed.Subject) { s.Name = "x" },
		} {
			y := s
			change(&y)
			if got := of(t, p, entry(y), now); got != "nothing" {
				t.Errorf("%s: %s: %s", name, what, got)
			}
		}
		if got := of(t, st.Place("https://other.example"), entry(s), now); got != "nothing" {
			t.Errorf("%s: another origin: %s", name, got)
		}
	}
	if got, err := a.Places(); err != nil || len(got) != 1 || got[0] != place {
		t.Errorf("%v, %v", got, err)
	}
}

// Praise costs no write for each call; it is written every so often and at the
// end, and does not move the head unless a content does. What dies with a process
// is praise alone.
func TestPraiseIsWrittenSometimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "observed")
		a := open(t, dir, observed.Options{Every: time.Minute})
		p, s := a.Place(place), subject("pay")
		start := time.Now()
		was := head(t, p)
		for i := range 100 {
			add(t, p, s, "", good(i, start))
		}
		other := func() uint64 {
			acc, err := open(t, dir, observed.Options{}).Place(place).Account(s)
			if err != nil {
				t.Fatal(err)
			}
			return acc.Calls
		}
		if n := other(); n != 0 {
			t.Errorf("%d are written at once", n)
		}
		if acc, err := p.Account(s); err != nil || acc.Calls != 100 {
			t.Errorf("%+v, %v", acc, err)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if n := other(); n != 100 {
			t.Errorf("%d are written after a while", n)
		}
		if head(t, p) != was {
			t.Error("praise that changes nothing moves the head")
		}
		add(t, p, s, "", good(1, start))
		// A process that dies here loses one call. One that is closed does not.
		if n := other(); n != 100 {
			t.Errorf("%d", n)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		if n := other(); n != 101 {
			t.Errorf("%d after the end", n)
		}
		if err := p.Add(s, "", good(1, start), observed.Cite{}); !errors.Is(err, observed.ErrClosed) {
			t.Errorf("after the end: %v", err)
		}
	})
}

// RULES.md 20: consistent needs what it needs from all processes together,
// expires by itself, and ends at once.
func TestConsistentOverProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "observed")
	now := time.Now()
	clock := func() time.Time { return now }
	a, b := open(t, dir, observed.Options{Now: clock}), open(t, dir, observed.Options{Now: clock})
	s := subject("pay")
	pa, pb := a.Place(place), b.Place(place)
	was := head(t, pa)
	for i := range 60 {
		p := pa
		if i%2 == 1 {
			p = pb
		}
		add(t, p, s, "", good(i, now.Add(time.Duration(i)*4*time.Hour)))
	}
	now = now.Add(10 * 24 * time.Hour)
	if got := of(t, pa, entry(s), now); got != "nothing" {
		t.Errorf("by half of it: %s", got)
	}
	if err := errors.Join(a.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
	c := open(t, dir, observed.Options{Now: clock})
	p := c.Place(place)
	if got := of(t, p, entry(s), now); got != "consistent" {
		t.Errorf("together: %s", got)
	}
	full := head(t, p)
	if full == was {
		t.Error("the head stays")
	}
	strict := open(t, dir, observed.Options{Now: clock, Thresholds: observe.Thresholds{Calls: 61}})
	if got := of(t, strict.Place(place), entry(s), now); got != "nothing" {
		t.Errorf("configured upwards: %s", got)
	}
	now = now.Add(40 * 24 * time.Hour)
	if got := of(t, p, entry(s), now); got != "nothing" || head(t, p) == full {
		t.Errorf("expired: %s", got)
	}
	now = now.Add(-40 * 24 * time.Hour)
	add(t, open(t, dir, observed.Options{}).Place(place), s, "", bad(now))
	if got := of(t, p, entry(s), now); got != "violated" {
		t.Errorf("contradicted: %s", got)
	}
	if err := p.Release(s, now.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if got := of(t, p, entry(s), now); got != "consistent" {
		t.Errorf("released: %s", got)
	}
	if _, err := observed.Open(filepath.Join(t.TempDir(), "observed"), observed.Options{Thresholds: observe.Thresholds{Calls: 1}}); !errors.Is(err, observe.ErrThresholds) {
		t.Errorf("looser thresholds: %v", err)
	}
}

// What a registrant signed for is the registry's to speak of, once it was told.
func TestRegistered(t *testing.T) {
	st, err := observed.NewMemory(observed.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, s, now := st.Place(place), subject("pay"), time.Now()
	owner := credentials.KeyID(strings.Repeat("A", 43))
	e := entry(s)
	e.Owner = owner
	due := func() []observed.Due {
		d, err := p.Due()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for i := range 60 {
		add(t, p, s, owner, good(i, now.Add(time.Duration(i-60)*4*time.Hour)))
	}
	if got := of(t, p, e, now); got != "nothing" {
		t.Errorf("consistent without the registry: %s", got)
	}
	d := due()
	if len(d) != 1 || d[0].Content != labels.Consistent || d[0].At.Spool != "spool_x" || !d[0].Until.After(now) {
		t.Fatalf("%+v", d)
	}
	if err := d[0].Told(); err != nil || len(due()) != 0 {
		t.Errorf("%v, %v", err, due())
	}
	add(t, p, s, owner, good(99, now.Add(24*time.Hour)))
	if len(due()) != 0 {
		t.Error("prolonged by a day")
	}
	add(t, p, s, owner, bad(now))
	if got := of(t, p, e, now); got != "violated" {
		t.Errorf("before the registry knows: %s", got)
	}
	h := head(t, p)
	d = due()
	if len(d) != 1 || d[0].Content != labels.Violated || d[0].Subject != s {
		t.Fatalf("%+v", d)
	}
	if err := d[0].Told(); err != nil {
		t.Fatal(err)
	}
	if got := of(t, p, e, now); got != "nothing" || head(t, p) == h || len(due()) != 0 {
		t.Errorf("afterwards: %s, %v", got, due())
	}
	add(t, p, s, owner, bad(now.Add(time.Second)))
	if got := of(t, p, e, now); got != "violated" || len(due()) != 1 {
		t.Errorf("again: %s", got)
	}
	e.Owner = "" // the registration does not count any more: the account speaks
	if err := due()[0].Told(); err != nil {
		t.Fatal(err)
	}
	if got := of(t, p, e, now); got != "violated" {
		t.Errorf("unregistered: %s", got)
	}
}

// A file that was changed, cut, swapped with another's, taken away or put back to
// an older one is not believed: nothing is shown then.
func TestDamage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "observed")
	key := []byte("the node's key")
	seal := observed.Options{
		Sign: func(m []byte) ([]byte, error) { s := canon.Digest("seal", append(key, m...)); return s[:], nil },
		Verify: func(m, sig []byte) error {
			if s := canon.Digest("seal", append(key, m...)); string(s[:]) != string(sig) {
				return errors.New("no")
			}
			return nil
		},
	}
	st := open(t, dir, seal)
	now := time.Now()
	p, s := st.Place(place), subject("pay")
	add(t, p, s, "", bad(now))
	files, err := filepath.Glob(filepath.Join(dir, "*.observed"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	first, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	add(t, st.Place("https://other.example"), s, "", bad(now))
	add(t, p, subject("other"), "", bad(now))
	second, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	unsealed := open(t, filepath.Join(t.TempDir(), "observed"), observed.Options{})
	add(t, unsealed.Place(place), s, "", good(1, now))
	if err := unsealed.Close(); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"changed": []byte(strings.Replace(string(second), "output_unfit", "output_unfiT", 1)), "cut": second[:len(second)-2], "empty": {},
		"nothing": []byte("pratique-observed/1\nsum:\n{}"), "older": first, "gone": nil,
	} {
		if data == nil {
			err = os.Remove(files[0])
		} else {
			err = os.WriteFile(files[0], data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Head(); !errors.Is(err, observed.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if got := of(t, p, entry(s), now); got != "suspect" {
			t.Errorf("%s: %s", name, got)
		}
		if err := p.Add(s, "", bad(now), observed.Cite{}); !errors.Is(err, observed.ErrDamaged) {
			t.Errorf("%s: added, %v", name, err)
		}
		if err := os.WriteFile(files[0], second, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := of(t, p, entry(s), now); got != "violated" {
			t.Errorf("%s, and back: %s", name, got)
		}
	}
}

// Many goroutines and stores at once: nothing is lost, nothing is counted twice.
func TestTogether(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "observed")
	now := time.Now()
	var wg sync.WaitGroup
	for g := range 4 {
		st := open(t, dir, observed.Options{Every: time.Millisecond})
		for range 2 {
			wg.Go(func() {
				for i := range 40 {
					add(t, st.Place(place), subject(fmt.Sprint(i%5)), "", good(i, now))
					if i == 20 {
						add(t, st.Place(place), subject(fmt.Sprint("bad", g)), "", bad(now))
					}
					if _, err := st.Place(place).Head(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		t.Cleanup(func() { st.Close() })
	}
	wg.Wait()
	st := open(t, dir, observed.Options{})
	deadline := time.Now().Add(10 * time.Second)
	for {
		calls, against := uint64(0), 0
		all, err := st.Place(place).All(now)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range all {
			calls += x.Account.Calls
			if x.Content == labels.Violated {
				against++
			}
		}
		if calls == 320 && against == 4 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d calls, %d against", calls, against)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestKnows(t *testing.T) {
	st, err := observed.NewMemory(observed.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, s := st.Place(place), subject("pay")
	if p.Knows(s.Key, s.Tool, s.Digest) {
		t.Error("known before")
	}
	add(t, p, s, "", good(1, time.Now()))
	if !p.Knows(s.Key, s.Tool, s.Digest) || p.Knows(s.Key, s.Tool, subject("x").Digest) {
		t.Error("by digest")
	}
}
