package surface

import (
	"errors"
	"hash/maphash"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/state"
)

// A Snapshot gives the registry's view that may be acted on, with the size of
// its log; registry.ErrStaleView where there is none, and then nothing is shown.
type Snapshot func() (v *state.View, size uint64, err error)

// View is the registry's word on the tools of an origin.
func View(at origin.Origin, now Snapshot) Registrants {
	return &view{at: at.String(), site: site(at), now: now, seed: maphash.MakeSeed()}
}

func site(at origin.Origin) string {
	w, ok := at.WebOrigin()
	if !ok {
		return ""
	}
	return w.String()
}

type view struct {
	at, site string
	now      Snapshot
	seed     maphash.Seed

	mu   sync.Mutex // owns size and head
	size uint64
	head uint64
}

// Head implements Registrants. The log grows with every anchor of a decision log;
// what it says of this origin is looked at again then, but only if that moved is
// the head another.
func (r *view) Head() (uint64, error) {
	v, size, err := r.now()
	if err != nil {
		return 0, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if size == r.size {
		return r.head, nil
	}
	var h maphash.Hash
	h.SetSeed(r.seed)
	for t := range v.AtOrigin(r.at, "") {
		maphash.WriteComparable(&h, t.Row)
		h.WriteString(t.Name)
	}
	if d := r.declared(v); d != nil {
		maphash.WriteComparable(&h, [2]int64{int64(d.Ver), d.Expires.Unix()})
	}
	r.size, r.head = size, h.Sum64()
	return r.head, nil
}

func (r *view) declared(v *state.View) *labels.Topology {
	if r.site == "" {
		return nil
	}
	o, err := v.Origin(r.site)
	if err != nil {
		return nil
	}
	return o.Declared()
}

// Of implements Registrants. A row counts only while it is attested (RULES.md
// 17); beside a topology, what it does not attest is not shown (RULES.md 19).
func (r *view) Of(name string, now time.Time) (*gate.Row, bool, error) {
	v, _, err := r.now()
	if err != nil {
		return nil, false, err
	}
	t, err := v.Named(r.at, name)
	switch {
	case errors.Is(err, registry.ErrNotFound):
		return nil, r.declared(v) == nil, nil
	case err != nil:
		return nil, false, err
	}
	if t.Live && t.StandingAt(now) == labels.Attested {
		return &t.Row, !t.Withheld, nil
	}
	return nil, r.declared(v) == nil, nil
}
