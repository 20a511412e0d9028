package eval

import (
	"cmp"
	"slices"
	"time"

	"github.com/pratique-dev/pratique/quarantine"
)

// A Report is what was measured.
type Report struct {
	Corpus   string    `json:"corpus" doc:"SHA-256 over its files"`
	Items    int       `json:"items"`
	Attacks  int       `json:"attacks"`
	Honest   int       `json:"honest"`
	LeftOut  int       `json:"left_out" doc:"items whose text cannot give them away: in no figure"`
	Split    Split     `json:"split" doc:"source: whole sources held out; random: items held out, which flatters; none: the embedded model, which may have seen the items"`
	Folds    int       `json:"folds"`
	Engine   string    `json:"engine" doc:"stages; the model is one per fold unless split is none"`
	Headline []Line    `json:"headline" doc:"by standing: what is real, and what is not, apart"`
	Rows     []Row     `json:"rows" doc:"by kind, class, source and language; real items, and attacks derived or authored under their class"`
	Flagged  []Flagged `json:"flagged" doc:"honest items that are not clear, and why"`
	Missed   []Missed  `json:"missed" doc:"attacks that are clear, by class and source"`
}

// A Line is the share of some items that are not clear.
type Line struct {
	Name    string  `json:"name"`
	Label   string  `json:"label" doc:"attack or benign"`
	Flagged Rate    `json:"flagged" doc:"suspect or hostile"`
	Hostile Rate    `json:"hostile"`
	Rules   Rate    `json:"rules" doc:"not clear by the rules alone"`
	Model   Rate    `json:"model" doc:"not clear by the model alone"`
	Aim     float64 `json:"aim,omitzero" doc:"of flagged: at least, of attacks; at most, of honest items"`
}

// A Row is how attacks and honest items of one kind of place are told apart.
type Row struct {
	By      string  `json:"by" doc:"kind, class, source or language"`
	Name    string  `json:"name"`
	Kind    string  `json:"kind" doc:"tool, return or name"`
	Attacks Rate    `json:"attacks" doc:"not clear"`
	Honest  Rate    `json:"honest" doc:"not clear"`
	AUC     float64 `json:"auc,omitzero" doc:"against the real honest items of the kind"`
	At1     Rate    `json:"at_1_percent" doc:"recall at 1 % false positives among them"`
	At01    Rate    `json:"at_0_1_percent" doc:"recall at 0.1 %"`
	Micros  float64 `json:"micros" doc:"per item, mean, in microseconds"`
}

// A Flagged is an honest item that is not clear. Nothing of its text is here.
type Flagged struct {
	ID       string   `json:"id"`
	Source   string   `json:"source"`
	Class    string   `json:"class"`
	Standing Standing `json:"standing"`
	Verdict  string   `json:"verdict"`
	Why      []Why    `json:"why"`
}

// A Why is one reason.
type Why struct {
	Category quarantine.Category `json:"category"`
	Verdict  string              `json:"verdict"`
	Path     string              `json:"path" doc:"of the specimen"`
	From     int                 `json:"from" doc:"bytes of it"`
	To       int                 `json:"to"`
}

// A Missed counts attacks that are clear.
type Missed struct {
	Kind   string   `json:"kind"`
	Class  string   `json:"class"`
	Source string   `json:"source"`
	Count  int      `json:"count"`
	Of     int      `json:"of"`
	IDs    []string `json:"ids" doc:"the first ten"`
}

func (j *judged) flagged() bool { return j.report.Verdict != quarantine.Clear }

// by tells whether a finding of the model, or of the rules, makes it not clear.
func (j *judged) by(learned bool) bool {
	return slices.ContainsFunc(j.report.Findings, func(f quarantine.Finding) bool { return (f.Category == quarantine.Learned) == learned })
}

func report(c *Corpus, o Options, folds int, all []judged) *Report {
	r := &Report{Corpus: c.Digest, Items: len(all), Split: o.Split, Folds: folds}
	var in []*judged
	for i := range all {
		j := &all[i]
		if j.Attack() {
			r.Attacks++
		} else {
			r.Honest++
		}
		if j.standing == Inseparable {
			r.LeftOut++
			continue
		}
		in = append(in, j)
		r.Engine = stages(j.report.Engine, o.Split)
	}
	r.Headline = headline(in)
	r.Rows = rows(in)
	r.Flagged, r.Missed = flagged(in), missed(in)
	return r
}

func rate(in []*judged, is func(*judged) bool) Rate {
	hits := 0
	for _, j := range in {
		if is(j) {
			hits++
		}
	}
	return NewRate(hits, len(in))
}

func some(in []*judged, want func(*judged) bool) (out []*judged) {
	for _, j := range in {
		if want(j) {
			out = append(out, j)
		}
	}
	return out
}

func scores(in []*judged) (out []float64) {
	for _, j := range in {
		out = append(out, j.score)
	}
	return out
}

func micros(in []*judged) float64 {
	var sum time.Duration
	for _, j := range in {
		sum += j.took
	}
	if len(in) == 0 {
		return 0
	}
	return float64(sum.Nanoseconds()) / 1e3 / float64(len(in))
}

func flagged(in []*judged) []Flagged {
	out := []Flagged{}
	for _, j := range in {
		if j.Attack() || !j.flagged() {
			continue
		}
		f := Flagged{ID: j.ID, Source: j.Source, Class: j.Class, Standing: j.standing, Verdict: j.report.Verdict.String()}
		for _, w := range j.report.Findings {
			f.Why = append(f.Why, Why{w.Category, w.Verdict.String(), w.Path, w.Span.From, w.Span.To})
		}
		out = append(out, f)
	}
	return out
}

func missed(in []*judged) []Missed {
	type key struct{ kind, class, source string }
	at := map[key]int{}
	out := []Missed{}
	for _, j := range in {
		if !j.Attack() {
			continue
		}
		k := key{j.Place(), j.Class, j.Source}
		if _, ok := at[k]; !ok {
			at[k] = len(out)
			out = append(out, Missed{Kind: k.kind, Class: k.class, Source: k.source})
		}
		m := &out[at[k]]
		m.Of++
		if j.flagged() {
			continue
		}
		m.Count++
		if len(m.IDs) < 10 {
			m.IDs = append(m.IDs, j.ID)
		}
	}
	out = slices.DeleteFunc(out, func(m Missed) bool { return m.Count == 0 })
	slices.SortStableFunc(out, func(a, b Missed) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Source, b.Source))
	})
	return out
}
