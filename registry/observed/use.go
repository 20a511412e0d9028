package observed

import (
	"maps"
	"slices"
)

// A Use is a version that this process carried a call of which counts.
type Use struct {
	Place *Place
	Subject
	Origin string
	View   uint64 // how much of the registry's log its decision saw, in entries
}

// Carried notes a call that counts, decided on so many entries of the registry's
// log. It is for the registry's own label, and not kept: what is lost with the
// process the next call says again.
func (p *Place) Carried(s Subject, view uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.uses[s]; p.uses == nil || !known && len(p.uses) >= MaxAccounts {
		p.uses = map[Subject]uint64{}
	}
	p.uses[s] = max(p.uses[s], view)
}

// Uses are the calls since Uses was last asked, the newest of each version.
func (s *Store) Uses() (out []Use) {
	for _, p := range s.all() {
		p.mu.Lock()
		for _, of := range slices.SortedFunc(maps.Keys(p.uses), Subject.compare) {
			out = append(out, Use{p, of, p.origin, p.uses[of]})
		}
		p.uses = nil
		p.mu.Unlock()
	}
	return out
}
