package gateway

import (
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/observe"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry/observed"
)

// movedOn holds what the upstream lists against what was accepted of it: where it
// says that it is the same version of itself, and a tool reads otherwise, that
// version's label was given for something else (labels/observe, metadata_moved).
func (s *Session) movedOn(kind gate.Kind) {
	p := s.g.o.Conduct
	if p == nil || kind != gate.Tool {
		return
	}
	f := s.keeper.Surface()
	if f == nil || !f.Complete() || !sameServer(f) {
		return
	}
	all := f.Entries(gate.Tool)
	for i := range all {
		e := &all[i]
		if e.Was.IsZero() || e.Tool == "" || p.Knows(e.Key, e.Tool, e.Digest) {
			continue
		}
		k := [2]credentials.Digest{e.Was, e.Digest}
		s.mu.Lock()
		seen := s.conduct.moved[k]
		if s.conduct.moved == nil || len(s.conduct.moved) > maxLate {
			s.conduct.moved = map[[2]credentials.Digest]bool{}
		}
		s.conduct.moved[k] = true
		s.mu.Unlock()
		if seen {
			continue
		}
		of := observed.SubjectOf(e)
		of.Digest = e.Was
		s.give(&ended{of: of, owner: e.Owner, o: observe.Observation{At: s.g.o.Now().UnixMilli(),
			Seen: []observe.Sighting{{Sign: observe.MetadataMoved, Link: observe.Own}}}})
	}
}

// sameServer tells whether the upstream says of itself what it said when it was
// accepted, with a version.
func sameServer(f *gate.Surface) bool {
	for _, e := range f.Entries(gate.Server) {
		v, ok := mcp.GetString(e.Raw, "version")
		return ok && v != "" && e.Was.IsZero() && e.Listed == policy.Cleared
	}
	return false
}
