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
	"github.com/pratique-dev/pratique/registry/observed"
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

// Withdrawn is the word of registry, operator and conduct on what items returned
// earlier, of any upstream of the data folder.
type Withdrawn struct {
	now  Snapshot
	base *baseline.Store
	seen *observed.Store
	seed maphash.Seed
}

// NewWithdrawn asks a registry's view, the baselines, and the accounts of what items
// did, nil where none are kept.
func NewWithdrawn(now Snapshot, base *baseline.Store, seen *observed.Store) *Withdrawn {
	return &Withdrawn{now: now, base: base, seen: seen, seed: maphash.MakeSeed()}
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
		if w.seen == nil {
			continue
		}
		n, err := w.seen.Place(o).Breaches()
		if err != nil {
			return 0, err
		}
		maphash.WriteComparable(&h, n)
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
	case t.Content == labels.Violated && t.Ver == src.Ver:
		return runs.WhyViolated, nil
	}
	if why, err := w.broke(&src); why != "" || err != nil {
		return why, err
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

// broke is the word of this deployment's own accounts: they know of versions that the
// registry has forgotten, since they were replaced or released meanwhile.
func (w *Withdrawn) broke(src *runs.Held) (why string, err error) {
	if w.seen == nil || src.Kind != runs.KindTool || src.Tool == "" {
		return "", nil
	}
	v := observed.Version{Key: gate.Key{Kind: gate.Tool, Name: src.Name}, Tool: src.Tool, Gen: src.Gen, Ver: src.Ver}
	if bad, err := w.seen.Place(src.Origin).Broke(v, src.Since); !bad || err != nil {
		return "", err
	}
	return runs.WhyViolated, nil
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
