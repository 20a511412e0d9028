package surface

import (
	"context"
	"sync"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/runs"
)

// Store is the baseline of an origin in a store.
func Store(s *baseline.Store, origin string) Baseline { return &stored{store: s, origin: origin} }

type stored struct {
	store  *baseline.Store
	origin string

	mu   sync.Mutex // owns from and to
	from *baseline.Baseline
	to   *gate.Baseline
}

// Load implements Baseline.
func (s *stored) Load() (*gate.Baseline, error) {
	b, err := s.store.Get(s.origin)
	if err != nil {
		return nil, err
	}
	return s.convert(b), nil
}

func (s *stored) convert(b *baseline.Baseline) *gate.Baseline {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b != s.from || s.to == nil {
		s.from, s.to = b, converted(b)
	}
	return s.to
}

func converted(b *baseline.Baseline) *gate.Baseline {
	out := &gate.Baseline{Seen: b.Seen(), Items: map[gate.Key]*gate.Accepted{}, Pending: map[gate.Key]gate.Pending{}, Condemned: map[gate.Version]bool{}}
	for _, a := range b.Items() {
		if b.Accepted(a.Key) == nil {
			continue // gone, or its acceptance does not verify
		}
		k := gate.Key{Kind: gate.Kind(a.Kind), Name: a.Name}
		out.Items[k] = &gate.Accepted{
			Key: k, Tool: a.ID, Gen: a.Gen, Ver: a.Ver, Digest: a.Digest,
			Canonical: a.Raw, By: a.By, Act: a.Act, At: a.At, Release: releaseOf(a.Released),
		}
	}
	for _, p := range b.Waiting() {
		v, err := quarantine.ParseVerdict(p.Verdict)
		if err != nil {
			v = quarantine.Missing
		}
		out.Pending[gate.Key{Kind: gate.Kind(p.Kind), Name: p.Name}] = gate.Pending{Digest: p.Digest, Verdict: v}
	}
	for _, c := range b.Condemnations() {
		out.Condemned[gate.Version{Key: gate.Key{Kind: gate.Kind(c.Kind), Name: c.Name}, Digest: c.Digest}] = true
	}
	return out
}

// releaseOf is a release by the verdict in spite of which it was made. What was
// released although it was clear was condemned before, and is no more than clear.
func releaseOf(verdict string) gate.Release {
	switch verdict {
	case "", quarantine.Clear.String():
		return gate.NotReleased
	case quarantine.Suspect.String(), quarantine.Missing.String():
		return gate.ReleasedSuspect
	}
	return gate.ReleasedHostile
}

// Settle implements Baseline.
func (s *stored) Settle(ctx context.Context, moves func(*gate.Baseline) ([]gate.Move, error)) (*gate.Baseline, error) {
	b, err := s.store.Update(ctx, s.origin, func(d *baseline.Draft) error {
		ms, err := moves(converted(&d.Baseline))
		if err != nil {
			return err
		}
		for i := range ms {
			if err := apply(d, &ms[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.convert(b), nil
}

func apply(d *baseline.Draft, m *gate.Move) error {
	k := key(m.Key)
	switch m.Act {
	case gate.Pin, gate.Accept:
		_, err := d.Pin(k, m.Digest, m.Canonical, m.By)
		return err
	case gate.Pend:
		if m.Canonical != nil { // what has no canonical form can never be accepted
			d.Observe(k, m.Digest, m.Canonical, m.Verdict, m.Found...)
		}
	case gate.Unpend:
		d.Settle(k)
	case gate.Sighted:
		d.Complete()
	}
	return nil
}

func key(k gate.Key) baseline.Key {
	return baseline.Key{Kind: baseline.Kind(k.Kind), Name: k.Name}
}

// Run is what a run was shown of an origin.
func Run(r *runs.Run, origin string) Shown { return run{r, origin} }

type run struct {
	r      *runs.Run
	origin string
}

// Shown implements gate.Shown.
func (r run) Shown(k gate.Key) (credentials.Digest, bool, error) {
	return r.r.Shown(r.origin, key(k))
}

// Show implements Shown.
func (r run) Show(ctx context.Context, set map[gate.Key]credentials.Digest) error {
	out := make(map[baseline.Key]credentials.Digest, len(set))
	for k, d := range set {
		out[key(k)] = d
	}
	return r.r.Show(ctx, r.origin, out)
}

// Forget implements Shown.
func (r run) Forget(ctx context.Context, keys []gate.Key) error {
	out := make([]baseline.Key, len(keys))
	for i, k := range keys {
		out[i] = key(k)
	}
	return r.r.Forget(ctx, r.origin, out...)
}
