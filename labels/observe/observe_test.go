package observe_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/observe"
)

const day = int64(24 * time.Hour / time.Millisecond)

var t0 = time.UnixMilli(1_800_000_000_000)

// good is n calls that count, spread over runs and days from t0.
func good(n, runs int, days int64) (a observe.Account) {
	for i := range n {
		at := t0.UnixMilli() + days*day*int64(i)/int64(max(1, n-1))
		a = a.Add(observe.Observation{Call: fmt.Sprintf("call_%04d", i), Run: fmt.Sprintf("run_%d", i%runs), At: at, Good: true})
	}
	return a
}

func ExampleAccount() {
	a := good(50, 3, 7)
	now := t0.Add(8 * 24 * time.Hour)
	fmt.Println(a.Content(labels.Inspected, now, observe.Least()))
	a = a.Add(observe.Observation{Call: "call_x", Run: "run_0", At: now.UnixMilli(), Good: true,
		Seen: []observe.Sighting{{Sign: observe.OutputUnfit, Link: observe.Own}}})
	fmt.Println(a.Content(labels.Inspected, now, observe.Least()))
	// Output:
	// consistent
	// violated
}

// RULES.md 20: at least 50 calls in 3 runs over 7 days, no longer than it lasts,
// and only of what was inspected.
func TestConsistent(t *testing.T) {
	now := t0.Add(8 * 24 * time.Hour)
	later := good(50, 3, 7)
	strays := good(50, 3, 7)
	for i := range 6 {
		strays = strays.Add(observe.Observation{Call: fmt.Sprint(i), Run: "run_0", At: now.UnixMilli(), Good: true,
			Seen: []observe.Sighting{{Sign: observe.UserAsked, Link: observe.Alone}}})
	}
	murky := good(50, 3, 7)
	for i := range 600 {
		murky = murky.Add(observe.Observation{Call: fmt.Sprint(i), Run: "run_9", At: now.UnixMilli(), Good: true,
			Seen: []observe.Sighting{{Sign: observe.UserAsked}}})
	}
	higher := observe.Thresholds{Calls: 51, Runs: 3, Span: 7 * 24 * time.Hour, Expiry: time.Hour}
	for _, c := range []struct {
		name string
		a    observe.Account
		base labels.Content
		now  time.Time
		th   observe.Thresholds
		want labels.Content
	}{
		{"enough", good(50, 3, 7), labels.Inspected, now, observe.Least(), labels.Consistent},
		{"49 calls", good(49, 3, 7), labels.Inspected, now, observe.Least(), labels.Inspected},
		{"2 runs", good(50, 2, 7), labels.Inspected, now, observe.Least(), labels.Inspected},
		{"6 days", good(50, 3, 6), labels.Inspected, now, observe.Least(), labels.Inspected},
		{"many calls of one day", good(5000, 60, 0), labels.Inspected, now, observe.Least(), labels.Inspected},
		{"uninspected", good(50, 3, 7), labels.Uninspected, now, observe.Least(), labels.Uninspected},
		{"suspect", good(50, 3, 7), labels.Suspect, now, observe.Least(), labels.Suspect},
		{"violated", good(50, 3, 7), labels.Violated, now, observe.Least(), labels.Violated},
		{"expired", later, labels.Inspected, t0.Add(37*24*time.Hour + time.Second), observe.Least(), labels.Inspected},
		{"configured upwards", good(50, 3, 7), labels.Inspected, now, higher, labels.Inspected},
		{"configured to end sooner", good(51, 3, 7), labels.Inspected, t0.Add(7*24*time.Hour + 2*time.Hour), higher, labels.Inspected},
		{"thresholds of zero", good(50, 3, 7), labels.Inspected, now, observe.Thresholds{}, labels.Inspected},
		{"looser thresholds", good(10, 1, 7), labels.Inspected, now, observe.Thresholds{Calls: 1, Runs: 1, Expiry: time.Hour}, labels.Inspected},
		{"a tenth astray", strays, labels.Inspected, now, observe.Least(), labels.Inspected},
		{"ambiguous ones count for nothing", murky, labels.Inspected, now, observe.Least(), labels.Consistent},
		{"nothing seen", observe.Account{}, labels.Inspected, now, observe.Least(), labels.Inspected},
	} {
		if got := c.a.Content(c.base, c.now, c.th); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestThresholds(t *testing.T) {
	if got, err := (observe.Thresholds{}).Check(); err != nil || got != observe.Least() {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []observe.Thresholds{
		{Calls: 49}, {Runs: 2}, {Runs: 65}, {Span: 7*24*time.Hour - 1}, {Expiry: 31 * 24 * time.Hour}, {Expiry: -1},
	} {
		if got, err := bad.Check(); err == nil || got != observe.Least() {
			t.Errorf("%+v: %v, %v", bad, got, err)
		}
	}
}

// What does not show that a tool stays within what it declared does not count.
func TestWhatCounts(t *testing.T) {
	at := t0.UnixMilli()
	for _, c := range []struct {
		name string
		o    observe.Observation
		want observe.Account
	}{
		{"good", observe.Observation{Call: "c", Run: "r", At: at, Good: true}, observe.Account{Calls: 1, Runs: []string{"r"}, First: at, Last: at}},
		{"an error", observe.Observation{Call: "c", Run: "r", At: at}, observe.Account{Other: 1}},
		{"of no run", observe.Observation{Call: "c", At: at, Good: true}, observe.Account{Other: 1}},
		{"of no call", observe.Observation{Run: "r", At: at, Good: true}, observe.Account{}},
		{"ambiguous", observe.Observation{Call: "c", Run: "r", At: at, Good: true, Seen: []observe.Sighting{{Sign: observe.ListMoved}}}, observe.Account{Ambiguous: 1}},
		{"certain and ambiguous", observe.Observation{Call: "c", Run: "r", At: at, Good: true, Seen: []observe.Sighting{{Sign: observe.ListMoved}, {Sign: observe.UserAsked, Link: observe.Alone}}},
			observe.Account{Strayed: 1, Signs: map[observe.Sign]observe.Tally{observe.UserAsked: {N: 1, First: at, Last: at, Call: "c"}}}},
		{"not on the call's own stream", observe.Observation{Call: "c", Run: "r", At: at, Good: true, Seen: []observe.Sighting{{Sign: observe.ReadWrote, Link: observe.Alone}}}, observe.Account{Ambiguous: 1}},
		{"a version", observe.Observation{At: at, Seen: []observe.Sighting{{Sign: observe.MetadataMoved, Link: observe.Own}}},
			observe.Account{Signs: map[observe.Sign]observe.Tally{observe.MetadataMoved: {N: 1, First: at, Last: at}}}},
	} {
		if got := (observe.Account{}).Add(c.o); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// Every sign lowers a consistent version as its weight says, at once, if it is
// certain, and not at all if not. One that is not known is the worst.
func TestEverySign(t *testing.T) {
	now := t0.Add(8 * 24 * time.Hour)
	want := map[observe.Weight]labels.Content{observe.Contradicts: labels.Violated, observe.Doubts: labels.Suspect, observe.Strays: labels.Consistent}
	signs := append(observe.Table(), observe.Row{Sign: "from_the_future", Needs: observe.Unlinked})
	for _, r := range signs {
		for link := observe.Unlinked; link <= observe.Own; link++ {
			a := good(60, 3, 7).Add(observe.Observation{Call: "call_x", Run: "run_0", At: now.UnixMilli(), Good: true, Seen: []observe.Sighting{{Sign: r.Sign, Link: link}}})
			expect := want[r.Weight]
			if link < r.Needs {
				expect = labels.Consistent
			}
			if got := a.Content(labels.Inspected, now, observe.Least()); got != expect {
				t.Errorf("%s, %v: %v, want %v", r.Sign, link, got, expect)
			}
			if calls := a.Calls; calls != 60 {
				t.Errorf("%s, %v: the call counts", r.Sign, link)
			}
		}
	}
}

func TestRelease(t *testing.T) {
	at := t0.UnixMilli()
	seen := func(at int64) observe.Observation {
		return observe.Observation{Call: "c", Run: "r", At: at, Seen: []observe.Sighting{{Sign: observe.OutputUnfit, Link: observe.Own}}}
	}
	a := observe.Account{}.Add(seen(at)).Release(at + 10)
	if c, ok := a.Worst(); ok {
		t.Errorf("released, and %v", c)
	}
	if c, ok := a.Add(seen(at + 11)).Worst(); !ok || c != labels.Violated {
		t.Error("a release forgives what comes after it")
	}
	if c, ok := a.Release(at - 5).Worst(); ok {
		t.Errorf("an older release: %v", c)
	}
}

type rnd struct{ *rand.Rand }

func (r rnd) observation(i int) observe.Observation {
	o := observe.Observation{Call: fmt.Sprintf("call_%d", r.IntN(1000)), Run: fmt.Sprintf("run_%d", r.IntN(80)),
		At: t0.UnixMilli() + int64(r.IntN(9*24))*3_600_000, Good: r.IntN(8) > 0}
	if r.IntN(12) == 0 {
		o.Call = ""
	}
	for r.IntN(20) == 0 {
		o.Seen = append(o.Seen, observe.Sighting{Sign: observe.Table()[r.IntN(len(observe.Table()))].Sign, Link: observe.Link(r.IntN(3))})
	}
	return o
}

func (r rnd) strays(i int) observe.Observation {
	o := r.observation(i)
	o.Seen = slices.DeleteFunc(o.Seen, func(s observe.Sighting) bool { row, _ := observe.RowOf(s.Sign); return row.Weight != observe.Strays })
	return o
}

func fold(os []observe.Observation) (a observe.Account) {
	for _, o := range os {
		a = a.Add(o)
	}
	return a
}

// The order of observations, and how they were spread over processes and merged,
// changes nothing.
func TestOrderIsIrrelevant(t *testing.T) {
	r := rnd{rand.New(rand.NewPCG(1, 2))}
	for range 12_000 {
		os := make([]observe.Observation, r.IntN(90))
		for i := range os {
			os[i] = r.observation(i)
		}
		want := fold(os)
		r.Shuffle(len(os), func(i, j int) { os[i], os[j] = os[j], os[i] })
		at := r.IntN(len(os) + 1)
		parts := []observe.Account{fold(os[:at]), fold(os[at:])}
		got := parts[1].Merge(parts[0])
		if released := int64(r.IntN(3)) * t0.UnixMilli(); released > 0 {
			want, got = want.Release(released), parts[1].Merge(parts[0].Release(released))
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v\n%+v", got, want)
		}
		if again := got.Merge(observe.Account{}); !reflect.DeepEqual(again, got) {
			t.Fatalf("nothing is something: %+v", again)
		}
	}
}

// Worse observations never give a better content: one sign more, a surer link, a
// call that does not count instead of one that does, a worse sign, a worse base,
// a later time.
func TestWorseNeverBetters(t *testing.T) {
	r := rnd{rand.New(rand.NewPCG(3, 4))}
	consistent := 0
	for range 12_000 {
		os := make([]observe.Observation, 40+r.IntN(60))
		for i := range os {
			if os[i] = r.strays(i); r.IntN(400) == 0 {
				os[i] = r.observation(i)
			}
		}
		base := labels.Content(r.IntN(5))
		now := t0.Add(time.Duration(r.IntN(45*24)) * time.Hour)
		before := fold(os).Content(base, now, observe.Least())
		if before == labels.Consistent {
			consistent++
		}
		worse := slices.Clone(os)
		i := r.IntN(len(os))
		o := worse[i]
		o.Seen = slices.Clone(o.Seen)
		switch r.IntN(5) {
		case 0:
			o.Seen = append(o.Seen, observe.Sighting{Sign: observe.Table()[r.IntN(len(observe.Table()))].Sign, Link: observe.Link(r.IntN(3))})
		case 1:
			if len(o.Seen) > 0 {
				o.Seen[0].Link = observe.Own
			}
		case 2:
			o.Good = false
		case 3:
			if len(o.Seen) > 0 {
				o.Seen[0] = observe.Sighting{Sign: "from_the_future", Link: observe.Unlinked}
			}
		case 4:
			if base > 0 && base != labels.Consistent {
				base--
			}
		}
		worse[i] = o
		if after := fold(worse).Content(base, now, observe.Least()); after > before {
			t.Fatalf("%v became %v by %+v instead of %+v", before, after, o, os[i])
		}
		// One observation more that is not good never betters, either.
		more := r.observation(0)
		if len(more.Seen) == 0 {
			more.Good = false
		}
		if after := fold(append(slices.Clone(os), more)).Content(base, now, observe.Least()); after > before && after > base {
			t.Fatalf("%v became %v by one more: %+v", before, after, more)
		}
	}
	if consistent < 500 {
		t.Errorf("the property was tried on %d consistent accounts only", consistent)
	}
}

func TestTable(t *testing.T) {
	seen := map[observe.Sign]bool{}
	for _, r := range observe.Table() {
		if seen[r.Sign] {
			t.Errorf("%s is there twice", r.Sign)
		}
		seen[r.Sign] = true
		if r.Weight == observe.Contradicts && r.Needs != observe.Own {
			t.Errorf("%s turns a label on less than certain", r.Sign)
		}
		if r.Weight == observe.Strays && r.Reported {
			t.Errorf("%s is nothing that an observer could make a tool suspect by", r.Sign)
		}
	}
	if observe.Reportable("from_the_future") || !slices.Contains(slices.Collect(maps.Keys(seen)), observe.EgressUnsaid) {
		t.Error("the set is not closed")
	}
}
