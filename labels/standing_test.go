package labels_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
)

func ExampleStandingOf() {
	e := labels.Evidence{Row: labels.RowNone, Level: credentials.LevelPoP}
	fmt.Println(labels.StandingOf(e))
	e.Used = true
	fmt.Println(labels.StandingOf(e))
	e.Row = labels.RowUncovered // the site published a topology without this name
	fmt.Println(labels.StandingOf(e))
	// Output:
	// {unknown false not_used_yet}
	// {pinned false pinned_since_first_use}
	// {unknown true row_uncovered}
}

// bits are the yes-or-no parts of the evidence; good ones are better when true.
var bits = []struct {
	name string
	good bool
	of   func(*labels.Evidence) *bool
}{
	{"principal condemned", false, func(e *labels.Evidence) *bool { return &e.PrincipalCondemned }},
	{"origin condemned", false, func(e *labels.Evidence) *bool { return &e.OriginCondemned }},
	{"key revoked", false, func(e *labels.Evidence) *bool { return &e.KeyRevoked }},
	{"proof forged", false, func(e *labels.Evidence) *bool { return &e.ProofForged }},
	{"launch broken", false, func(e *labels.Evidence) *bool { return &e.LaunchBroken }},
	{"launch unpinned", false, func(e *labels.Evidence) *bool { return &e.LaunchUnpinned }},
	{"reset", false, func(e *labels.Evidence) *bool { return &e.Reset }},
	{"enrolled", true, func(e *labels.Evidence) *bool { return &e.Enrolled }},
	{"used", true, func(e *labels.Evidence) *bool { return &e.Used }},
}

// every is every combination of evidence: 2^9 x 5 outcomes x 5 levels, and one
// value past the end of each enumeration.
func every(yield func(labels.Evidence)) {
	for m := range 1 << len(bits) {
		for row := range labels.RowMet + 2 {
			for level := range credentials.LevelSrv + 2 {
				e := labels.Evidence{Row: row, Level: level}
				for i, b := range bits {
					*b.of(&e) = m>>i&1 == 1
				}
				yield(e)
			}
		}
	}
}

// want is the table of RULES.md 16 to 19 said in the words of the rules rather
// than in the order of the code.
func want(e labels.Evidence) labels.Weighed {
	vetoed := e.PrincipalCondemned || e.OriginCondemned || e.KeyRevoked || e.ProofForged || e.LaunchBroken ||
		e.Row == labels.RowViolated || e.Row > labels.RowMet
	attested := (e.Row == labels.RowMet || e.Enrolled) && !e.Reset && e.Row != labels.RowUncovered
	holdsKey := e.Level >= credentials.LevelPoP && e.Level <= credentials.LevelSrv
	pinned := holdsKey && e.Used && !e.Reset && !e.LaunchUnpinned && e.Row != labels.RowUncovered
	w := labels.Weighed{Standing: labels.Unknown}
	switch {
	case vetoed:
		w.Standing = labels.Vetoed
	case attested:
		w.Standing = labels.Attested
	case pinned:
		w.Standing = labels.Pinned
	}
	w.Withheld = !vetoed && e.Row == labels.RowUncovered
	return w
}

func TestStandingOfEveryCombination(t *testing.T) {
	n, reasons := 0, map[labels.Reason]bool{}
	every(func(e labels.Evidence) {
		n++
		got, w := labels.StandingOf(e), want(e)
		reasons[got.Reason] = true
		if got.Standing != w.Standing || got.Withheld != w.Withheld || got.Reason == "" {
			t.Fatalf("%+v: got %+v, want %+v", e, got, w)
		}
	})
	if n != 512*6*6 {
		t.Errorf("walked %d combinations", n)
	}
	golden(t, "testdata/reasons", reasons)
}

// golden compares the reasons that occur with the kept list: a code that is
// renamed or never given shows here.
func golden(t *testing.T, file string, got map[labels.Reason]bool) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for r := range got {
		all = append(all, string(r))
	}
	slices.Sort(all)
	if g := strings.Join(all, "\n") + "\n"; g != string(b) {
		t.Errorf("%s holds\n%s\nwant\n%s", file, b, g)
	}
}

// shown orders what a Weighed lets an agent see.
func noBetter(worse, better labels.Weighed) bool {
	return worse.Standing <= better.Standing && (worse.Standing == labels.Vetoed || !better.Withheld || worse.Withheld)
}

// Worse evidence never improves: every single step for the worse, from every
// combination.
func TestStandingOfIsMonotone(t *testing.T) {
	every(func(e labels.Evidence) {
		if e.Row > labels.RowMet || e.Level > credentials.LevelSrv {
			return
		}
		better := labels.StandingOf(e)
		check := func(step string, w labels.Evidence) {
			if worse := labels.StandingOf(w); !noBetter(worse, better) {
				t.Fatalf("%s: %+v gives %+v, better than %+v of %+v", step, w, worse, better, e)
			}
		}
		for _, b := range bits {
			w := e
			*b.of(&w) = !b.good
			check(b.name, w)
		}
		for row := range e.Row {
			w := e
			w.Row = row
			check("row", w)
		}
		for level := range e.Level {
			w := e
			w.Level = level
			check("level", w)
		}
	})
}

func TestNoEvidenceIsVetoed(t *testing.T) {
	if w := labels.StandingOf(labels.Evidence{}); w.Standing != labels.Vetoed {
		t.Errorf("evidence that nobody filled gives %+v", w)
	}
	if (labels.Weighed{}).Standing != labels.Vetoed {
		t.Error("the zero Weighed is not vetoed")
	}
}
