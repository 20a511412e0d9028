package labels

import (
	"slices"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/credentials"
)

// A Registration is what there is to hold against a topology. Script and Signer
// are evidence of the runtime that saw the script register, never of the page.
type Registration struct {
	Name      string
	Publisher credentials.KeyID // whose proof put the version there; empty: a bearer
	Script    string            // "sha384-…", if a runtime saw it
	Signer    string            // "ed25519-…", if a runtime verified it
	Held      bool              // it is in the registry already
	Enrolled  bool              // an operator enrolled Publisher for the origin
}

// level is what p and r have in common: the attribution that p gives, and
// whether it gives any.
func (p Publisher) level(r *Registration, site credentials.KeyID) (credentials.Level, bool) {
	s := string(p)
	if h, ok := strings.CutPrefix(s, "sri:"); ok {
		return credentials.LevelSRI, r.Script != "" && h == r.Script
	}
	if k, ok := strings.CutPrefix(s, "sig:"); ok {
		return credentials.LevelSig, r.Signer != "" && k == r.Signer
	}
	if r.Publisher == "" {
		return credentials.LevelNone, false
	}
	if s == "server" {
		return credentials.LevelSrv, r.Publisher == site
	}
	if k, ok := strings.CutPrefix(s, "server:"); ok {
		return credentials.LevelSrv, credentials.KeyID(k) == r.Publisher
	}
	return credentials.LevelPoP, credentials.KeyID(s) == r.Publisher
}

// A Measure is what the registry does about a registration. The zero value is
// the strictest.
type Measure uint8

// The measures, strictest first.
const (
	Refuse   Measure = iota // a new registration: it is refused
	Revoke                  // held, and the site gives the name to others: it is revoked
	Veto                    // held, and the conflict is a person's to solve: it stays and is Red
	Withhold                // it stands and is not shown
	Accept                  // it stands
)

var measureNames = [...]string{"refuse", "revoke", "veto", "withhold", "accept"}

// String is the measure's name.
func (m Measure) String() string { return name(uint8(m), "measure", measureNames[:]) }

// A Finding is what a topology says of a registration.
type Finding struct {
	Outcome  Outcome
	Row      int               // index of the row that decided, -1 if none did
	Level    credentials.Level // how well the registrant is known
	Standing Standing          // from the topology and enrolment alone
	Measure  Measure
	Actions  []credentials.Action // what a handle may carry at most; nil if the topology does not say
	Reason   Reason
	Until    time.Time // when an attestation by row ends; zero otherwise
}

// Evaluate holds a registration against the topology. Where several rows cover
// a name, every one of them must be met: a further row never permits more than
// there was without it, and a narrow row is no exception to a wide one. A row is
// met when one of its publishers fits and gives at least the row's level; the
// level that counts is the least over the rows of the best in each.
//
// An expired topology attests nothing and goes on restricting: what would be
// met is RowExpired, what is violated or uncovered stays so.
//
// A violated row refuses what is new. What is held is revoked if the row gives
// the name to others and no operator enrolled the key (unattested names are
// held, not owned); else it is vetoed.
func (t *Topology) Evaluate(r Registration, now time.Time) Finding {
	f := Finding{Outcome: RowNone, Row: -1, Level: credentials.LevelNone}
	if r.Publisher != "" {
		f.Level = credentials.LevelPoP
	}
	listed := true
	if t != nil {
		proved := f.Level
		listed = t.match(&r, &f)
		switch {
		case f.Outcome == RowMet && !now.Before(t.Expires):
			f.Outcome, f.Level = RowExpired, proved
		case f.Outcome == RowMet:
			f.Until = t.Expires
		}
	}
	w := StandingOf(Evidence{Row: f.Outcome, Enrolled: r.Enrolled, Level: f.Level})
	f.Standing, f.Reason = w.Standing, w.Reason
	switch {
	case f.Outcome == RowViolated && !r.Held:
		f.Measure = Refuse
	case f.Outcome == RowViolated && !listed && !r.Enrolled:
		f.Measure = Revoke
	case f.Outcome == RowViolated:
		f.Measure = Veto
	case f.Outcome == RowUncovered:
		f.Measure = Withhold
	default:
		f.Measure = Accept
	}
	return f
}

// match fills f with what the rows say, time aside, and reports whether the
// row that decided lists the registrant at all.
func (t *Topology) match(r *Registration, f *Finding) (listed bool) {
	f.Outcome = RowUncovered
	least := credentials.LevelSrv
	for i := range t.Rows {
		row := &t.Rows[i]
		if !row.Name.Match(r.Name) {
			continue
		}
		best, found := credentials.LevelNone, false
		for _, p := range row.Publishers {
			if l, ok := p.level(r, t.Site); ok {
				best, found = max(best, l), true
			}
		}
		if !found || best < row.Level {
			// A row that does not list the registrant goes before one that only
			// wants more of it: look on for one.
			if f.Outcome != RowViolated || listed && !found {
				f.Outcome, f.Row, listed = RowViolated, i, found
				f.Actions = nil
			}
			continue
		}
		if f.Outcome == RowViolated {
			continue
		}
		if f.Outcome == RowUncovered {
			f.Outcome, f.Row, f.Actions = RowMet, i, slices.Clone(row.Actions)
		} else {
			f.Actions = slices.DeleteFunc(f.Actions, func(a credentials.Action) bool { return !slices.Contains(row.Actions, a) })
		}
		least = min(least, best)
	}
	if f.Outcome == RowMet {
		f.Level, listed = least, true
	}
	return listed
}
