package observed

import (
	"hash/maphash"
	"slices"
	"time"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/observe"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// says is what a record says of a version by itself: Violated, Suspect or
// Consistent, the last until a time; Inspected is nothing. Of what somebody
// registered it says only what the registry's log was not told yet: afterwards the
// registry's row speaks, which an operator may release.
func (s *Store) says(r *record, now time.Time) (c labels.Content, until time.Time) {
	if w, bad := r.Account.Worst(); bad {
		if r.Owner != "" && lastBad(r.Account) <= r.Told.Bad {
			return labels.Inspected, until
		}
		return w, until
	}
	if until = r.Account.Consistent(s.opt.Thresholds); r.Owner == "" && now.Before(until) {
		return labels.Consistent, until
	}
	return labels.Inspected, time.Time{}
}

// lastBad is when the account was last lowered, in milliseconds since the epoch.
func lastBad(a observe.Account) (at int64) {
	for s, t := range a.Signs {
		if r, _ := observe.RowOf(s); r.Weight != observe.Strays {
			at = max(at, t.Last)
		}
	}
	return at
}

// each calls f with everything that is known. mu is held.
func (p *Place) each(f func(s Subject, r *record)) {
	for s := range p.whole {
		r, _ := p.at(s)
		f(s, &r)
	}
	for s, r := range p.fresh {
		if _, ok := p.whole[s]; !ok {
			f(s, &r)
		}
	}
}

var seed = maphash.MakeSeed()

// Head implements surface.Observations: it changes whenever an answer of Of may
// have, by what was seen, in any process, or by time. Praise counts from when it
// is written.
func (p *Place) Head() (uint64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.read(); err != nil {
		return 0, err
	}
	p.refresh()
	return p.head, nil
}

// refresh makes what is derived from the records that of now. mu is held, and read
// was called.
func (p *Place) refresh() {
	now := p.s.opt.Now()
	if !p.old && (p.next.IsZero() || now.Before(p.next)) {
		return
	}
	type said struct {
		Subject
		c labels.Content
	}
	p.old, p.next, p.head, p.broken = false, time.Time{}, 0, breaches{}
	p.each(func(s Subject, r *record) {
		c, until := p.s.says(r, now)
		p.broken.take(s, r, c)
		if c == labels.Inspected {
			return
		}
		if c == labels.Consistent && (p.next.IsZero() || until.Before(p.next)) {
			p.next = until
		}
		p.head += maphash.Comparable(seed, said{s, c})
	})
}

// Of implements surface.Observations: what the conduct of an entry's version comes
// to. What cannot be read is suspect.
func (p *Place) Of(e *gate.Entry, now time.Time) (labels.Content, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.read() != nil {
		return labels.Suspect, true
	}
	r, ok := p.at(SubjectOf(e))
	if !ok {
		return 0, false
	}
	r.Owner = e.Owner // whether a registrant's row speaks for it now
	c, _ := p.s.says(&r, now)
	return c, c != labels.Inspected
}

// A Standing is one version with its account, for people.
type Standing struct {
	Subject
	Account observe.Account
	Content labels.Content // violated, suspect or consistent; else inspected: nothing
	Until   time.Time      // consistent until then
}

// All are all versions of which anything is known, in the order of a surface.
func (p *Place) All(now time.Time) ([]Standing, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.read(); err != nil {
		return nil, err
	}
	var out []Standing
	p.each(func(s Subject, r *record) {
		c, until := p.s.says(r, now)
		out = append(out, Standing{s, r.Account, c, until})
	})
	slices.SortFunc(out, func(a, b Standing) int { return a.Subject.compare(b.Subject) })
	return out, nil
}

// A Due is something that the registry's log is to be told of a version that
// somebody registered.
type Due struct {
	Place *Place
	Subject
	Content labels.Content // Violated, Suspect, or Consistent until Until
	Until   time.Time
	At      Cite
	as      Told
}

// Told notes that the log says it, or that it never will of this version.
func (d *Due) Told() error { return d.Place.tell(d.Subject, d.as) }

// prolong is how much longer a version must be consistent than the log says for
// that to be worth an event.
const prolong = 4 * 24 * time.Hour

// Due are what the registry's log is to be told of this origin now.
func (p *Place) Due() ([]Due, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.read(); err != nil {
		return nil, err
	}
	now := p.s.opt.Now()
	var out []Due
	p.each(func(s Subject, r *record) {
		if r.Owner == "" || s.Kind != gate.Tool {
			return
		}
		if w, bad := r.Account.Worst(); bad {
			if at := lastBad(r.Account); at > r.Told.Bad && r.Bad != (Cite{}) {
				out = append(out, Due{Place: p, Subject: s, Content: w, At: r.Bad, as: Told{Bad: at}})
			}
			return
		}
		until := r.Account.Consistent(p.s.opt.Thresholds)
		if now.Before(until) && until.Sub(time.Unix(r.Told.Good, 0)) >= prolong && r.Good != (Cite{}) {
			out = append(out, Due{Place: p, Subject: s, Content: labels.Consistent, Until: until, At: r.Good, as: Told{Good: until.Unix()}})
		}
	})
	slices.SortFunc(out, func(a, b Due) int { return a.Subject.compare(b.Subject) })
	return out, nil
}

// sorted are records as they are stored, in one order.
func sorted(all map[Subject]record) []stored {
	out := make([]stored, 0, len(all))
	for s, r := range all {
		out = append(out, stored{s.Kind, s.Name, s.Tool, s.Gen, s.Ver, s.Digest, r})
	}
	slices.SortFunc(out, func(a, b stored) int { return a.subject().compare(b.subject()) })
	return out
}

// trim drops what is beyond MaxAccounts: what nothing speaks against, the oldest
// first; and only if that is not enough the rest, oldest versions first.
func trim(all map[Subject]record) {
	if len(all) <= MaxAccounts {
		return
	}
	list := sorted(all)
	age := func(x *stored) (bad bool, at int64) {
		_, bad = x.Account.Worst()
		return bad, max(x.Account.Last, lastBad(x.Account))
	}
	slices.SortStableFunc(list, func(a, b stored) int {
		badA, atA := age(&a)
		badB, atB := age(&b)
		switch {
		case badA != badB && badA:
			return 1
		case badA != badB:
			return -1
		}
		return int(min(1, max(-1, atA-atB)))
	})
	for i := range list[:len(list)-MaxAccounts] {
		delete(all, list[i].subject())
	}
}
