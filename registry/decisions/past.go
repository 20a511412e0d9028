package decisions

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry"
)

// count is how far a run has come in one spool.
type count struct {
	from uint64 // number of its first entry here: more than 1 where it began in a spool before
	n    uint64 // of its latest entry
	last uint64 // index of its latest entry, plus one
}

// opened is a call whose outcome has not been put on record.
type opened struct {
	run   string
	agent credentials.AgentID
	index uint64
}

// A past is what a spool's entries come to. The same fold serves the writer, an
// adoption and a verification.
type past struct {
	runs map[string]count
	open map[string]opened
	base map[string]uint64 // number of a run's latest entry in this process's spools before
}

func newPast() past { return past{runs: map[string]count{}, open: map[string]opened{}} }

// parse reads a record, strictly.
func parse(b []byte) (registry.Entry, error) {
	var e registry.Entry
	if err := json.Unmarshal(b, &e, json.RejectUnknownMembers(true)); err != nil {
		return e, fmt.Errorf("%w: %w", ErrEntry, err)
	}
	if e.V != 1 || e.Type == "" {
		return e, fmt.Errorf("%w: version %d", ErrEntry, e.V)
	}
	return e, nil
}

// next numbers an entry of a run.
func (p *past) next(run string) count {
	c, here := p.runs[run]
	if !here {
		c = count{from: p.base[run] + 1, n: p.base[run]}
	}
	c.n++
	return c
}

// carry is what the next spool of this process counts on: the outcomes of open
// calls have their numbers already, and stand here. Entries of no run are counted
// by spool.
func (p *past) carry() map[string]uint64 {
	base := maps.Clone(p.base)
	if base == nil {
		base = map[string]uint64{}
	}
	for run, c := range p.runs {
		base[run] = c.n
	}
	for _, o := range p.open {
		base[o.run]++
	}
	delete(base, "")
	return base
}

// take folds an entry that stands at an index. The error says that the run's
// counts do not go on from what came before.
func (p *past) take(index uint64, e *registry.Entry) (err error) {
	want := p.next(e.Run)
	if _, here := p.runs[e.Run]; !here && e.Run != "" && e.N > 0 && p.base == nil {
		want.from, want.n = e.N, e.N // that a spool before has the others is seen over all of them
	}
	if e.N != want.n || e.Last != want.last {
		err = fmt.Errorf("entry %d of run %q says it is number %d after entry %d; it is number %d after %d",
			index, e.Run, e.N, int64(e.Last)-1, want.n, int64(want.last)-1)
	}
	p.runs[e.Run] = count{from: want.from, n: e.N, last: index + 1}
	switch {
	case e.Type == registry.EntryDecision && e.Outcome == "":
		p.open[e.Call] = opened{run: e.Run, agent: e.Agent, index: index}
	case e.Type == registry.EntryOutcome:
		delete(p.open, e.Call)
	}
	return err
}

// lost are the open calls in the order in which they were decided.
func (p *past) lost() []string {
	var out []string
	for call := range p.open {
		out = append(out, call)
	}
	slices.SortFunc(out, func(a, b string) int {
		if p.open[a].index < p.open[b].index {
			return -1
		}
		return 1
	})
	return out
}
