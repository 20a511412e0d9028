package surface

import (
	"slices"
	"time"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry/baseline"
)

// A Weight is what stands beside a baseline when an item of it is judged. Nil members
// are unknown.
type Weight struct {
	Registry Registrants
	Standing labels.Standing
	Observed Observations
	Effect   func(*gate.Entry) labels.Effect
	Now      time.Time
}

// Known are the items of an upstream as its baseline has them, without asking the
// upstream: those that were accepted, each as an agent would be shown it if the
// upstream lists it unchanged. One in whose place something else waits is Changed.
func Known(b *baseline.Baseline, w Weight) ([]gate.Entry, error) {
	in := gate.Input{Complete: true, Baseline: converted(b), Standing: w.Standing, Effect: w.Effect, Now: w.Now,
		Registered: map[string]*gate.Row{}, Uncovered: map[string]bool{}}
	if w.Observed != nil {
		in.Observed = func(e *gate.Entry) (labels.Content, bool) { return w.Observed.Of(e, w.Now) }
	}
	for _, a := range b.Items() {
		if b.Accepted(a.Key) == nil {
			continue
		}
		it := gate.Judged{Item: gate.Decode(gate.Kind(a.Kind), a.Raw), Verdict: quarantine.Clear}
		if v, err := quarantine.ParseVerdict(a.Released); err == nil {
			it.Verdict = v
		}
		in.Items = append(in.Items, it)
		if it.Kind != gate.Tool || w.Registry == nil {
			continue
		}
		row, covered, err := w.Registry.Of(it.Name, w.Now)
		if err != nil {
			return nil, err
		}
		in.Uncovered[it.Name] = !covered
		if row != nil {
			in.Registered[it.Name] = row
		}
	}
	s := gate.Build(in)
	out := slices.Clone(s.Entries(""))
	for i := range out {
		if e := &out[i]; e.Listed == policy.Cleared && b.Pending(baseline.Key{Kind: baseline.Kind(e.Kind), Name: e.Name}) != nil {
			e.Listed = policy.Changed
		}
	}
	return out, nil
}
