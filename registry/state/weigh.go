package state

import (
	"fmt"
	"iter"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

// weigh fills in what the record's evidence says of its standing. It reads no
// clock: where a topology attests, the row says until when.
func (v *View) weigh(x *registry.Tool) {
	e := labels.Evidence{Row: labels.RowNone}
	x.Level = credentials.LevelPoP // every registration was proved by a key
	since := x.Reset
	for _, k := range []credentials.KeyID{x.Owner, x.Publisher} {
		if p, err := v.Principal(k.Principal()); err == nil && p.Condemned {
			e.PrincipalCondemned = true
		}
	}
	x.Attested = 0
	reread, listed := false, false
	if o := v.siteOf(x.Origin); o != nil {
		e.OriginCondemned = o.Condemned
		if o.Topology != nil {
			// Whose the name is, the rows say of the owner; what a delegate put there
			// rests on what they say of the delegate.
			f := o.rows.find(x.Name, x.Owner, true, false)
			e.Row, x.Level = f.Outcome, f.Level
			if x.Publisher != x.Owner {
				listed = o.rows.find(x.Name, x.Publisher, true, false).Outcome == labels.RowMet
			}
			x.Attested = o.Topology.Exp
			reread = o.Index > since
		}
	}
	if o, err := v.Origin(x.Origin); err == nil && o.Condemned {
		e.OriginCondemned = true
	}
	if p, err := v.Principal(x.Publisher.Principal()); err == nil {
		at, ok := p.EnrolledFor(x.Origin)
		e.Enrolled = ok && at > since
	}
	// A delegate's version rests on the delegate's own evidence, or on none.
	delegated := x.Publisher != x.Owner && !e.Enrolled && !listed
	e.Used = x.Used > since
	e.Reset = since > 0 && !e.Enrolled && !reread && !e.Used || delegated
	e.Level = x.Level
	w := labels.StandingOf(e)
	if w.Reason != labels.ReasonRowMet {
		x.Attested = 0
	}
	x.Standing, x.Withheld = w.Standing, w.Withheld
	if x.Condemned {
		x.Content, x.Until = labels.Violated, 0
	}
}

// siteOf is the record of the web origin whose topology speaks for an origin,
// or nil.
func (v *View) siteOf(name string) *Origin {
	o, err := origin.Parse(name)
	if err != nil {
		return nil
	}
	w, ok := o.WebOrigin()
	if !ok {
		return nil
	}
	site, err := v.Origin(w.String())
	if err != nil {
		return nil
	}
	return site
}

func speaksFor(site, name string) bool {
	o, err := origin.Parse(name)
	if err != nil {
		return false
	}
	w, ok := o.WebOrigin()
	return ok && w.String() == site
}

// Claim is what an origin's topology says of a name before it is registered.
type Claim struct {
	Violated bool // the name is others'
	Attested bool // the topology gives it to this publisher
}

// Weigh asks an origin's topology about a registration.
func (v *View) Weigh(at, name string, publisher credentials.KeyID, now time.Time) Claim {
	o := v.siteOf(at)
	if o == nil || o.Topology == nil {
		return Claim{}
	}
	out := o.rows.find(name, publisher, false, false).Outcome
	return Claim{
		Violated: out == labels.RowViolated,
		Attested: out == labels.RowMet && now.Unix() < o.Topology.Exp,
	}
}

// AtSite walks the tools that hold a name at a web origin or at an endpoint
// for which it speaks.
func (v *View) AtSite(site string) iter.Seq[*registry.Tool] {
	return func(yield func(*registry.Tool) bool) {
		it, err := v.txn.LowerBound(tableTools, "name", []byte(site))
		if err != nil {
			return
		}
		for o := it.Next(); o != nil; o = it.Next() {
			t := o.(*registry.Tool)
			if len(t.Origin) < len(site) || t.Origin[:len(site)] != site {
				return
			}
			if !speaksFor(site, t.Origin) {
				continue // https://a.example:8443 begins like https://a.example
			}
			if !yield(t) {
				return
			}
		}
	}
}

// reweigh weighs tools anew after an event about something else; where that
// changes a tool's row, its label is of this event.
func (t *Txn) reweigh(index uint64, at int64, tools iter.Seq[*registry.Tool], keep func(*registry.Tool) bool) error {
	for _, old := range collect(tools, func(x *registry.Tool) bool { return x.Live && (keep == nil || keep(x)) }) {
		x := *old
		t.weigh(&x)
		if x.Standing == old.Standing && x.Withheld == old.Withheld && x.Attested == old.Attested && x.Content == old.Content {
			continue
		}
		x.Seq = index
		if err := t.lower(old, &x, at); err != nil {
			return err
		}
		if err := t.put(tableTools, &x); err != nil {
			return err
		}
	}
	return nil
}

// lower puts a tool on the list of lowered labels where a label of the old
// record shows a better tier than one of the new, or is another generation's:
// the list's digest stands in every statement of freshness, so that nobody
// goes on with the better label (RULES.md 24).
func (t *Txn) lower(old, x *registry.Tool, at int64) error {
	now := time.UnixMilli(at)
	if x.Tier(now) >= old.Tier(now) && x.Gen == old.Gen {
		return nil
	}
	it, err := t.txn.Get(tableLowered, "until_prefix", []byte(nil))
	if err != nil {
		return fmt.Errorf("state: %s: %w", tableLowered, err)
	}
	var gone []*labels.Lower
	for o := it.Next(); o != nil && len(gone) < 2; o = it.Next() {
		l := o.(*labels.Lower)
		if l.Until >= now.Unix() {
			break
		}
		gone = append(gone, l)
	}
	for _, l := range gone {
		if err := t.drop(tableLowered, l); err != nil {
			return err
		}
	}
	l := labels.Fell(x.Row.Tool, x.Seq, now)
	return t.put(tableLowered, &l)
}
