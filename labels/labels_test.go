package labels_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/quick"

	"github.com/pratique-dev/pratique/labels"
)

func ExampleSynthesize() {
	fmt.Println(labels.Synthesize(labels.Attested, labels.Inspected))
	fmt.Println(labels.Synthesize(labels.Unknown, labels.Consistent))
	fmt.Println(labels.Synthesize(labels.Pinned, labels.Violated))
	// Output:
	// green
	// yellow
	// red
}

// Every cell of the table of DESIGN.md section 7, written out a second time.
func TestSynthesizeEveryCell(t *testing.T) {
	const r, y, g = labels.Red, labels.Yellow, labels.Green
	want := map[labels.Standing][5]labels.Tier{
		labels.Vetoed:   {r, r, r, r, r},
		labels.Unknown:  {r, r, y, y, y},
		labels.Pinned:   {r, y, y, y, g},
		labels.Attested: {r, y, y, g, g},
	}
	for s, row := range want {
		for c, tier := range row {
			if got := labels.Synthesize(s, labels.Content(c)); got != tier {
				t.Errorf("Synthesize(%v, %v) = %v, want %v", s, labels.Content(c), got, tier)
			}
		}
	}
}

// Worse evidence never improves the tier, and what is outside the vocabulary
// is Red: all 65,536 pairs, and the order over every pair of neighbours.
func TestSynthesizeIsTotalAndMonotone(t *testing.T) {
	for s := range 256 {
		for c := range 256 {
			st, co := labels.Standing(s), labels.Content(c)
			got := labels.Synthesize(st, co)
			if (!st.Valid() || !co.Valid()) && got != labels.Red {
				t.Fatalf("Synthesize(%v, %v) = %v, want red", st, co, got)
			}
			if !got.Valid() {
				t.Fatalf("Synthesize(%v, %v) = %v", st, co, got)
			}
		}
	}
	worseNeverImproves := func(s1, s2, c1, c2 uint8) bool {
		a, b := labels.Standing(s1%4), labels.Standing(s2%4)
		x, y := labels.Content(c1%5), labels.Content(c2%5)
		return labels.Synthesize(min(a, b), min(x, y)) <= labels.Synthesize(max(a, b), max(x, y))
	}
	if err := quick.Check(worseNeverImproves, nil); err != nil {
		t.Error(err)
	}
}

func TestZeroIsTheWorst(t *testing.T) {
	var (
		tier labels.Tier
		s    labels.Standing
		c    labels.Content
	)
	if tier != labels.Red || s != labels.Vetoed || c != labels.Violated || labels.Synthesize(s, c) != labels.Red {
		t.Error("a zero value is not the worst of its kind")
	}
}

func TestWordsRoundTrip(t *testing.T) {
	type all struct {
		T labels.Tier
		S labels.Standing
		C labels.Content
	}
	for i := range 5 {
		in := all{labels.Tier(min(i, 2)), labels.Standing(min(i, 3)), labels.Content(i)}
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var out all
		if err := json.Unmarshal(b, &out); err != nil || in != out {
			t.Errorf("%s: got %v, %v", b, out, err)
		}
	}
	for in, want := range map[string]error{
		`{"T":"Green"}`: labels.ErrTier, `{"S":""}`: labels.ErrStanding, `{"C":"consistent "}`: labels.ErrContent,
	} {
		out := all{labels.Green, labels.Attested, labels.Consistent}
		if err := json.Unmarshal([]byte(in), &out); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", in, err, want)
		}
	}
	for _, bad := range []any{labels.Tier(3), labels.Standing(4), labels.Content(5)} {
		if b, err := json.Marshal(bad); err == nil {
			t.Errorf("%v marshalled to %s", bad, b)
		}
	}
}
