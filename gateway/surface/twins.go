package surface

import (
	"slices"
	"sync"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/quarantine/inspect"
	"github.com/pratique-dev/pratique/registry/baseline"
)

// twins makes tools suspect whose names look like another origin's, where that one
// was accepted first: an agent that has both would take one for the other. The
// names of one origin are compared by the inspector.
func (k *Keeper) twins(in *gate.Input) error {
	if k.opt.Elsewhere == nil {
		return nil
	}
	others, err := k.opt.Elsewhere()
	if err != nil || len(others) == 0 {
		return err
	}
	for i := range in.Items {
		it := &in.Items[i]
		if it.Kind != gate.Tool || it.Fault != gate.NoFault {
			continue
		}
		since := in.Now.UnixMilli()
		if a := in.Baseline.Items[it.Key]; a != nil {
			since = a.At
		}
		if slices.ContainsFunc(others[inspect.Shape(it.Name)], func(o Stranger) bool { return o.At <= since && inspect.Twin(o.Name, it.Name) }) {
			it.Verdict = quarantine.Worse(it.Verdict, quarantine.Suspect)
			it.Findings = append(slices.Clip(it.Findings), quarantine.Finding{
				Category: quarantine.TwinName, Verdict: quarantine.Suspect, Path: "name", Span: quarantine.Span{From: 0, To: len(it.Name)},
			})
		}
	}
	return nil
}

// Elsewhere are the tools in a store that were accepted of other origins than one,
// for Options.
func Elsewhere(s *baseline.Store, origin string) func() (map[string][]Stranger, error) {
	var mu sync.Mutex // owns what follows
	var from []*baseline.Baseline
	var known map[string][]Stranger
	return func() (map[string][]Stranger, error) {
		bs, err := s.Others(origin)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		if known != nil && slices.Equal(bs, from) {
			return known, nil
		}
		from, known = bs, map[string][]Stranger{}
		for _, b := range bs {
			for _, a := range b.Items() {
				if a.Kind != baseline.Tool || b.Accepted(a.Key) == nil {
					continue
				}
				if shape := inspect.Shape(a.Name); shape != "" {
					known[shape] = append(known[shape], Stranger{a.Name, a.At})
				}
			}
		}
		return known, nil
	}
}
