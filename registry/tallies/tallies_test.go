package tallies

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/labels/policy"
)

// A clock that stands still until it is moved.
type clock struct{ atomic.Int64 }

func (c *clock) now() time.Time { return time.Unix(c.Load(), 0) }

func newClock() *clock {
	c := &clock{}
	c.Store(1_800_000_000)
	return c
}

var alice = Subject{Agent: "agt_1", Run: "run_1", Item: "mcp:x tools/call send"}

// call lets a call through and is what its decision saw.
func call(t *testing.T, s *Store, sub Subject, v Values) (seen policy.Counts) {
	t.Helper()
	if err := s.Decide(context.Background(), sub, v, func(c policy.Counts) bool { seen = c; return true }); err != nil {
		t.Fatal(err)
	}
	return seen
}

// look is what a call would see that is then refused.
func look(s *Store, sub Subject, v Values) (seen policy.Counts, err error) {
	err = s.Decide(context.Background(), sub, v, func(c policy.Counts) bool { seen = c; return false })
	return seen, err
}

// TestCounts: calls that were let through count, in their run, minute, hour and day,
// and in no store's memory alone.
func TestCounts(t *testing.T) {
	c := newClock()
	dir := filepath.Join(t.TempDir(), "tallies")
	open := func() *Store {
		s, err := Open(dir, c.now, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	want := func(run, minute, hour, day uint64) {
		t.Helper()
		got, err := look(open(), alice, nil)
		if err != nil || !got.Known || got.Run != run || got.Minute != minute || got.Hour != hour || got.Day != day {
			t.Errorf("counts %+v (%v), want run %d, minute %d, hour %d, day %d", got, err, run, minute, hour, day)
		}
	}
	want(0, 0, 0, 0)
	for range 3 {
		call(t, open(), alice, nil)
	}
	want(3, 3, 3, 3)
	c.Add(5 * 60)
	want(3, 0, 3, 3)
	second := alice
	second.Run = "run_2"
	if got := call(t, open(), second, nil); got.Run != 0 || got.Hour != 3 {
		t.Errorf("a new run sees %+v", got)
	}
	c.Add(2 * 3600)
	want(3, 0, 0, 4)
	c.Add(25 * 3600)
	want(3, 0, 0, 0)
	other := alice
	other.Agent = "agt_2"
	if got := call(t, open(), other, nil); got.Day != 0 {
		t.Errorf("another agent sees %+v", got)
	}
}

// TestRunsTakeTurns: calls of another run do not make those of this one forgotten, as
// long as there are not very many.
func TestRunsTakeTurns(t *testing.T) {
	s := NewMemory(newClock().now, rand.Reader)
	other := alice
	other.Run = "run_2"
	for want := range uint64(5) {
		for _, sub := range []Subject{alice, other} {
			if got := call(t, s, sub, nil); got.Run != want {
				t.Errorf("%s: %d calls, want %d", sub.Run, got.Run, want)
			}
		}
	}
	for i := range MaxRuns {
		other.Run = fmt.Sprint("run_", i+3)
		call(t, s, other, nil)
	}
	if got, err := look(s, alice, nil); err != nil || got.Run != 0 || !got.Known {
		t.Errorf("beyond the bound: %+v (%v)", got, err)
	}
}

// TestClockPutBack: calls in the future still count, so that putting the clock back
// does not make room.
func TestClockPutBack(t *testing.T) {
	c := newClock()
	s := NewMemory(c.now, rand.Reader)
	call(t, s, alice, nil)
	c.Add(-24 * 3600)
	if got := call(t, s, alice, nil); got.Minute != 1 {
		t.Errorf("after the clock was put back: %+v", got)
	}
}

// TestKnownValues: a value is new until a call with it was let through, for its place
// and agent alone.
func TestKnownValues(t *testing.T) {
	s := NewMemory(newClock().now, rand.Reader)
	if got := call(t, s, alice, Values{"to": {"a@example.test"}}); len(got.New) != 1 {
		t.Error("the first value is not new")
	}
	if got := call(t, s, alice, Values{"to": {"a@example.test"}}); len(got.New) != 0 {
		t.Error("a known value is new")
	}
	for name, v := range map[string]Values{
		"another value":      {"to": {"b@example.test"}},
		"one of two is new":  {"to": {"a@example.test", "c@example.test"}},
		"another place":      {"cc": {"a@example.test"}},
		"not seen":           {"to": nil},
		"one is not seen":    {"to": {"a@example.test"}, "cc": nil},
		"all are absent":     {"to": {}, "cc": {}},
		"another spelling":   {"to": {"A@example.test"}},
		"more than are kept": {"to": make([]string, MaxValues+1)},
	} {
		if got, err := look(s, alice, v); err != nil || len(got.New) == 0 {
			t.Errorf("%s: known (%v)", name, err)
		}
	}
	if got, err := look(s, alice, Values{"to": {"a@example.test"}, "cc": {}}); err != nil || len(got.New) != 0 {
		t.Errorf("a known value beside an absent place: %+v (%v)", got, err)
	}
	for _, v := range []Values{{"to": {"b@example.test"}}, {"to": {"a@example.test"}}} { // what was refused was not learnt
		if got, _ := look(s, alice, v); (len(got.New) == 0) != (v["to"][0] == "a@example.test") {
			t.Errorf("%v after refusals: %+v", v, got)
		}
	}
}

// TestNothingOfAValueIsKept: the folder holds no value.
func TestNothingOfAValueIsKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tallies")
	s, err := Open(dir, newClock().now, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	call(t, s, alice, Values{"to": {"canary-value@example.test"}})
	raw, err := os.ReadFile(filepath.Join(dir, "agt_1"+suffix))
	if err != nil || strings.Contains(string(raw), "canary-value") {
		t.Errorf("the file holds the value (%v)", err)
	}
}

// TestDamagedCountsAsWorst: what cannot be read is the zero Counts, and an error.
func TestDamagedCountsAsWorst(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tallies")
	s, err := Open(dir, newClock().now, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	call(t, s, alice, nil)
	for _, bad := range []string{"", "{", `{"v":2,"items":{}}`, `{"v":1,"items":{"x":null}}`, `{"v":1,"items":{},"more":1}`} {
		if err := os.WriteFile(filepath.Join(dir, "agt_1"+suffix), []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := look(s, alice, nil); !errors.Is(err, ErrDamaged) || got.Known {
			t.Errorf("%q: %v, counts %+v", bad, err, got)
		}
	}
}

// TestOneSeesTheOther: of calls at once, through two stores, each sees those before.
func TestOneSeesTheOther(t *testing.T) {
	c := newClock()
	dir := filepath.Join(t.TempDir(), "tallies")
	var passed atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		s, err := Open(dir, c.now, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			wg.Go(func() {
				for range 5 {
					_ = s.Decide(context.Background(), alice, nil, func(c policy.Counts) bool {
						if c.Minute >= 10 {
							return false
						}
						passed.Add(1)
						return true
					})
				}
			})
		}
	}
	wg.Wait()
	if passed.Load() != 10 {
		t.Errorf("%d of 10 passed", passed.Load())
	}
}

// TestBounds: an agent's file does not grow without end, and one that is full counts
// as worst.
func TestBounds(t *testing.T) {
	c := newClock()
	s := NewMemory(c.now, rand.Reader)
	d := &document{V: 1, Items: map[string]*tally{}}
	for i := range MaxItems {
		d.Items[fmt.Sprint(i)] = &tally{Runs: []runCount{{"run_1", 1}}, Per: []minute{{c.Load() / 60, 1}}}
	}
	raw, err := d.bytes()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.files.Write(alice.Agent+suffix, raw); err != nil {
		t.Fatal(err)
	}
	over := alice
	over.Item = "one more"
	if got, err := look(s, over, nil); !errors.Is(err, ErrLimit) || got.Known {
		t.Errorf("over the bound: %v, %+v", err, got)
	}
	c.Add(30 * 3600)
	over.Run = "run_2"
	if got := call(t, s, over, nil); !got.Known { // those of yesterday made room
		t.Error("nothing made room")
	}
	for at := 0; at <= MaxKnown; at += MaxValues {
		var list []string
		for i := range MaxValues {
			list = append(list, fmt.Sprint(at+i))
		}
		call(t, s, alice, Values{"to": list})
	}
	if got, _ := look(s, alice, Values{"to": {"0"}}); len(got.New) == 0 {
		t.Error("the oldest value is known for ever")
	}
}
