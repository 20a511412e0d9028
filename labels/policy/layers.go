package policy

import (
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
)

// Strictest joins layers: each must itself allow, and the result is the
// smallest verb of all, with the reason of the first layer that gave it; so are
// results. No layer at all refuses. An enforced layer is not loosened by one that is not.
func Strictest(layers ...Policy) Policy {
	var names []byte
	for _, l := range layers {
		d := l.Digest()
		names = append(names, d[:]...)
	}
	return &strictest{layers, canon.Digest(DigestContext+"/layers", names)}
}

type strictest struct {
	layers []Policy
	digest credentials.Digest
}

// Digest implements Policy.
func (s *strictest) Digest() credentials.Digest { return s.digest }

// Decide implements Policy.
func (s *strictest) Decide(f Facts) Decision {
	var d Decision
	var way Results
	for i, l := range s.layers {
		n := l.Decide(f)
		if i == 0 || n.verb < d.verb || n.verb == d.verb && d.loose && !n.loose && n.verb != Allow {
			d = n
		}
		if way = least(way, n.Results()); i == 0 {
			way = n.Results()
		}
	}
	d.policy, d.way = s.digest, way
	return d
}

// Listed implements Policy.
func (s *strictest) Listed(f Facts) bool {
	for _, l := range s.layers {
		if !l.Listed(f) {
			return false
		}
	}
	return len(s.layers) > 0
}
