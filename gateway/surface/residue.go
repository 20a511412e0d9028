package surface

import (
	"context"
	"errors"
	"hash/maphash"

	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/runs"
	"github.com/pratique-dev/pratique/registry/state"
)

// Reach lists again and tells whether the upstream answers, with all of its lists.
// Nothing that it lists counts as shown.
func (k *Keeper) Reach(ctx context.Context) error {
	for _, kind := range []gate.Kind{gate.Tool, gate.Prompt, gate.Resource} {
		if err := k.fresh(ctx, kind); err != nil {
			return err
		}
	}
	return nil
}

// Withdrawn is the word of registry and operator on what items returned earlier, of
// any upstream of the data folder.
type Withdrawn struct {
	now  Snapshot
	base *baseline.Store
	seed maphash.Seed
}

// NewWithdrawn asks a registry's view and the baselines.
func NewWithdrawn(now Snapshot, base *baseline.Store) *Withdrawn {
	return &Withdrawn{now: now, base: base, seed: maphash.MakeSeed()}
}

// Head changes whenever an answer of Of about one of these origins may have.
func (w *Withdrawn) Head(origins []string) (uint64, error) {
	var h maphash.Hash
	h.SetSeed(w.seed)
	_, size, err := w.now()
	if err != nil {
		return 0, err
	}
	maphash.WriteComparable(&h, size)
	for _, o := range origins {
		b, err := w.base.Get(o)
		if err != nil {
			return 0, err
		}
		maphash.WriteComparable(&h, b)
	}
	return h.Sum64(), nil
}

// Of tells why what a source returned counts no longer; empty: nobody withdrew it.
func (w *Withdrawn) Of(src runs.Held) (why string, err error) {
	v, _, err := w.now()
	if err != nil {
		return "", err
	}
	if originCondemned(v, src.Origin) {
		return runs.WhyCondemned, nil
	}
	switch t, err := v.Tool(src.Tool); {
	case src.Tool == "" || errors.Is(err, registry.ErrNotFound):
	case err != nil:
		return "", err
	case t.Condemned || t.Standing == labels.Vetoed:
		return runs.WhyCondemned, nil
	case !t.Live:
		return runs.WhyRevoked, nil
	}
	b, err := w.base.Get(src.Origin)
	if err != nil {
		return "", err
	}
	if src.Kind != runs.KindResource {
		if b.CondemnedVersion(baseline.Key{Kind: baseline.Kind(src.Kind), Name: src.Name}, src.Gen, src.Ver) {
			return runs.WhyCondemned, nil
		}
		return "", nil
	}
	for _, c := range b.Condemnations() { // of resources it is not known which were read: all are withdrawn
		if (c.Key.Kind == baseline.Resource || c.Key.Kind == baseline.Template) && c.At >= src.Since {
			return runs.WhyCondemned, nil
		}
	}
	return "", nil
}

// originCondemned tells whether an operator condemned the origin, or the site that
// speaks for it.
func originCondemned(v *state.View, at string) bool {
	names := []string{at}
	if o, err := origin.Parse(at); err == nil {
		if s := site(o); s != "" {
			names = append(names, s)
		}
	}
	for _, name := range names {
		if o, err := v.Origin(name); err == nil && o.Condemned {
			return true
		}
	}
	return false
}
