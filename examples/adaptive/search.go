package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/pratique-dev/pratique/quarantine"
)

// rounds is how often what is still detected is rewritten; width is how many forms
// of a payload go on into the next round.
const (
	rounds = 5
	width  = 4
)

// An outcome is what became of one payload of the base set.
type outcome struct {
	form     form // as it slipped past, or the least noticed one
	start    place
	detected bool // before anything was rewritten
	slipped  int  // the round in which it got past the inspector; 0: never, or it was not detected at first
	tried    int  // forms
}

// passes tells whether the inspector has nothing to say of the form.
func (o *outcome) passes() bool { return !o.detected || o.slipped > 0 }

// attack rewrites every payload that is detected until it is not, or the rounds are
// over. It is deterministic: the same inspector gives the same outcomes.
func attack(ins quarantine.Inspector) []outcome {
	var out []outcome
	for i := range orders {
		for _, p := range starts {
			out = append(out, search(ins, form{order: &orders[i], place: p, text: orders[i].text}))
		}
	}
	return out
}

type scored struct {
	form
	verdict  quarantine.Verdict
	findings int
}

func search(ins quarantine.Inspector, f form) outcome {
	o := outcome{form: f, start: f.place, tried: 1}
	v, n := f.verdict(ins)
	if o.detected = v != quarantine.Clear; !o.detected {
		return o
	}
	beam := []scored{{f, v, n}}
	for round := 1; round <= rounds; round++ {
		var next []scored
		for _, b := range beam {
			for _, g := range all(b.form) {
				v, n := g.verdict(ins)
				o.tried++
				if v == quarantine.Clear {
					o.form, o.slipped = g, round
					return o
				}
				next = append(next, scored{g, v, n})
			}
		}
		if len(next) == 0 {
			break
		}
		slices.SortStableFunc(next, func(a, b scored) int {
			return cmp.Or(cmp.Compare(rank(a.verdict), rank(b.verdict)), cmp.Compare(a.findings, b.findings))
		})
		beam = next[:min(width, len(next))]
		o.form = beam[0].form
	}
	return o
}

func rank(v quarantine.Verdict) int {
	if v == quarantine.Suspect {
		return 0
	}
	return 1
}

// report says how many slip past the inspector, by round and by the last rewrite.
func report(w io.Writer, engine string, all []outcome) {
	detected, missed := 0, 0
	byRound := [rounds + 1]int{}
	last := map[string]int{}
	tried := 0
	for _, o := range all {
		tried += o.tried
		switch {
		case !o.detected:
			missed++
			continue
		case o.slipped > 0:
			byRound[o.slipped]++
			last[o.form.steps[len(o.form.steps)-1]]++
		}
		detected++
	}
	fmt.Fprintf(w, "engine %s\n", engine)
	fmt.Fprintf(w, "%d payloads, %d detected as they are, %d not; %d forms tried\n", len(all), detected, missed, tried)
	sum := 0
	for r := 1; r <= rounds; r++ {
		sum += byRound[r]
		fmt.Fprintf(w, "after round %d: %d of %d detected ones slip past the inspector (%.0f %%)\n", r, sum, detected, 100*float64(sum)/float64(max(detected, 1)))
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "LAST REWRITE\tSLIPPED\t")
	names := make([]string, 0, len(last))
	for n := range last {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(last[b], last[a]), strings.Compare(a, b)) })
	for _, n := range names {
		fmt.Fprintf(t, "%s\t%d\t\n", n, last[n])
	}
	t.Flush()
}
