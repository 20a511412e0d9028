package main

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/holds"
	"github.com/pratique-dev/pratique/registry/observed"
)

// things are the items and holds of the upstreams that the flags ask for. What is
// damaged is left out, and named.
func (w *ward) things(c *call) (out []heldThing, bad []error) {
	origins, err := w.base.Origins()
	if err != nil {
		bad = append(bad, err)
	}
	slices.Sort(origins)
	for _, o := range origins {
		if !c.wants(o, origins) {
			continue
		}
		b, err := w.base.Get(o)
		if err != nil {
			bad = append(bad, fmt.Errorf("%s: %w", o, err))
			continue
		}
		items := itemsHeld(b)
		if err := w.observe(o, items); err != nil {
			bad = append(bad, err)
		}
		out = append(out, items...)
	}
	if err := w.holds.Err(); err != nil {
		bad = append(bad, err)
	}
	list, err := w.holds.List()
	if err != nil {
		bad = append(bad, err)
	}
	for i := range list {
		h := &list[i]
		if c.wants(h.Origin, append(origins, h.Origin)) {
			out = append(out, w.holdThing(h))
		}
	}
	return out, bad
}

// itemsHeld are the items of an upstream: what waits and is not clear, what was
// released or condemned, and what is shown.
func itemsHeld(b *baseline.Baseline) (out []heldThing) {
	seen := map[string]bool{}
	put := func(t heldThing, k baseline.Key) {
		t.ID = itemID(b.Origin(), k, t.Digest)
		if seen[t.ID] {
			return
		}
		seen[t.ID] = true
		if cond := b.Condemned(k, t.Digest); cond != nil {
			t.State, t.By, t.Loose, t.Gen, t.Ver = stateCondemned, cond.By, cond.Loose, cond.Gen, cond.Ver
		}
		t.Upstream, t.Kind, t.Name, t.key, t.origin = baseline.Visible(b.Origin()), string(k.Kind), baseline.Visible(k.Name), k, b.Origin()
		out = append(out, t)
	}
	for _, p := range b.Waiting() {
		t := heldThing{State: stateWithheld, Digest: p.Digest, Verdict: p.Verdict, Categories: categoriesOf(p.Found), Size: int64(len(p.Raw)), Kept: true, At: ofMillis(p.At), found: p.Found, raw: p.Raw}
		t.Gen, t.Ver = b.Numbers(p.Key, p.Digest)
		if p.Verdict != quarantine.Clear.String() || b.Condemned(p.Key, p.Digest) != nil {
			put(t, p.Key)
		}
	}
	for _, a := range b.Items() {
		t := heldThing{State: stateShown, Tool: a.ID, Gen: a.Gen, Ver: a.Ver, Digest: a.Digest, Verdict: a.Released, Size: int64(len(a.Raw)), Kept: true, At: ofMillis(a.At), raw: a.Raw}
		if a.Released != "" && a.Released != quarantine.Clear.String() {
			if t.State, t.Loose = stateReleased, a.Loose; a.Broken {
				t.State = stateEnded
			}
		}
		if !a.Gone {
			put(t, a.Key)
		}
	}
	for _, cond := range b.Condemnations() { // of what is there no longer
		put(heldThing{Digest: cond.Digest, At: ofMillis(cond.At)}, cond.Key)
	}
	return out
}

// observe adds what was observed of the accepted items of an upstream. What
// contradicts its declaration is withheld whatever its text.
func (w *ward) observe(origin string, items []heldThing) error {
	s, err := w.n.Observed()
	if err != nil {
		return err
	}
	all, err := s.Place(origin).All(w.now())
	if err != nil {
		return fmt.Errorf("%s: %w", origin, err)
	}
	seen := map[observed.Subject]*observed.Standing{}
	for i := range all {
		seen[all[i].Subject] = &all[i]
	}
	for i := range items {
		t := &items[i]
		x := seen[w.subject(t)]
		if x == nil || x.Content >= labels.Inspected {
			continue
		}
		t.Conduct = x.Content.String()
		for s, tally := range x.Account.Signs {
			if tally.Last > x.Account.Released {
				t.Signs = append(t.Signs, s)
			}
		}
		slices.Sort(t.Signs)
		if t.State == stateShown && x.Content == labels.Violated {
			t.State = stateWithheld
		}
	}
	return nil
}

// subject is what an account of an item is of: the registration where it is that
// version, else the baseline.
func (w *ward) subject(t *heldThing) observed.Subject {
	s := observed.Subject{Key: gate.Key{Kind: gate.Kind(t.key.Kind), Name: t.key.Name}, Tool: t.Tool, Gen: t.Gen, Ver: t.Ver, Digest: t.Digest}
	if r := w.registered(t.origin, t.key); r != nil && r.Live && r.Digest == t.Digest {
		s.Tool, s.Gen, s.Ver = r.Row.Tool, r.Gen, r.Ver
	}
	return s
}

// itemID names one digest of one item. It is made of what it names, so that it
// stays the same wherever and whenever it is asked for.
func itemID(origin string, k baseline.Key, d credentials.Digest) string {
	h := sha256.New()
	for _, s := range []string{"pratique/quarantine-item/v1", origin, string(k.Kind), k.Name} {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	h.Write(d[:])
	return "item_" + base32.StdEncoding.EncodeToString(h.Sum(nil))[:26]
}

func (w *ward) holdThing(h *holds.Hold) heldThing {
	t := heldThing{
		ID: h.ID, State: stateWithheld, Upstream: baseline.Visible(h.Origin), Kind: string(h.Place()), Method: baseline.Visible(h.Method), Name: baseline.Visible(h.Name),
		Tool: h.Tool, Gen: h.Gen, Ver: h.Ver, Digest: h.Digest, Verdict: h.Verdict.String(), Categories: categoriesOf(h.Findings),
		Reason: baseline.Visible(h.Reason), Cut: h.Cut, Agent: h.Agent, Run: h.Run, Call: h.Call, Size: h.Size, Kept: h.Kept, At: ofMillis(h.At),
		found: h.Findings, hold: h,
	}
	st, err := w.holds.State(h.Subject)
	switch {
	case err != nil: // said once, of all
	case st.Op == holds.OpCondemn:
		t.State, t.By, t.Loose = stateCondemned, st.By, st.Loose
	case st.Op == holds.OpRelease && st.Ended:
		t.State, t.By, t.Loose = stateEnded, st.By, st.Loose
	case st.Op == holds.OpRelease:
		t.State, t.By, t.Loose = stateReleased, st.By, st.Loose
	}
	return t
}

// thing is the one that --id names.
func (w *ward) thing(c *call) (heldThing, error) {
	id := c.str("id")
	if !strings.HasPrefix(id, "hold_") && !strings.HasPrefix(id, "item_") {
		return heldThing{}, usagef(`--id %s is neither "hold_…" nor "item_…"`, id)
	}
	if strings.HasPrefix(id, "hold_") {
		h, err := w.holds.Get(id)
		if err != nil {
			return heldThing{}, err
		}
		return w.holdThing(&h), nil
	}
	things, bad := w.things(c)
	i := slices.IndexFunc(things, func(t heldThing) bool { return t.ID == id })
	if i < 0 {
		return heldThing{}, errors.Join(append(bad, fmt.Errorf("%w: %s", baseline.ErrMissing, id))...)
	}
	return things[i], nil
}
