package policy

import (
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
)

// Layers are what a call has to pass (DESIGN.md §10). Each that is there must itself
// allow, and the result is the strictest.
type Layers struct {
	Organisation *Rules  // nil: the profile is that layer
	Origin       *Rules  // a site's own file, for its own tools; nil: none
	Intent       *Sealed // nil: the run has none
}

// Policy is the policy of the layers. What is in them is not changed after.
func (l Layers) Policy() Policy {
	if l.Origin == nil && l.Intent == nil {
		return Of(l.Organisation)
	}
	return Strictest(Of(l.Organisation))
}

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

// Needs implements Policy.
func (s *strictest) Needs(f Facts) Needs {
	var n Needs
	for _, l := range s.layers {
		m := l.Needs(f)
		n.Counts = n.Counts || m.Counts
		n.New = append(n.New, m.New...)
	}
	return n
}
