package observe

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/pratique-dev/pratique/labels"
)

// Thresholds say when calls that stayed within what was declared make a version
// consistent (RULES.md 20), and for how long.
type Thresholds struct {
	Calls  uint64        // that count
	Runs   int           // in which they were
	Span   time.Duration // between the first and the last
	Expiry time.Duration // after the last; then it is inspected again, and no more
}

// MaxRuns is how many runs an account tells apart.
const MaxRuns = 64

var least = Thresholds{Calls: 50, Runs: 3, Span: 7 * 24 * time.Hour, Expiry: 30 * 24 * time.Hour}

// Least are the thresholds below which nothing is consistent.
func Least() Thresholds { return least }

// ErrThresholds says that thresholds are looser than Least.
var ErrThresholds = errors.New("observe: consistent needs at least 50 calls in 3 runs over 7 days, and lasts at most 30 days")

// Check fills in what is zero and refuses what is looser than Least: the
// thresholds go up only, and MaxRuns bounds one of them.
func (t Thresholds) Check() (Thresholds, error) {
	if t.Calls == 0 {
		t.Calls = least.Calls
	}
	if t.Runs == 0 {
		t.Runs = least.Runs
	}
	if t.Span == 0 {
		t.Span = least.Span
	}
	if t.Expiry == 0 {
		t.Expiry = least.Expiry
	}
	if t.Calls < least.Calls || t.Runs < least.Runs || t.Runs > MaxRuns || t.Span < least.Span || t.Expiry <= 0 || t.Expiry > least.Expiry {
		return least, ErrThresholds
	}
	return t, nil
}

// An Observation is what was seen of one call that this deployment carried, or,
// without a call, of a version.
type Observation struct {
	Call string // call_ and a ULID; empty: of no call
	Run  string // run_ and a ULID
	At   int64  // milliseconds since the epoch
	// Good says that the upstream answered with a result that was delivered as it
	// came: only then the call can count.
	Good bool
	Seen []Sighting
}

// A Tally is what an account keeps of one sign.
type Tally struct {
	N     uint64 `json:"n"`
	First int64  `json:"first"`         // milliseconds since the epoch
	Last  int64  `json:"last"`          //
	Call  string `json:"call,omitzero"` // the first one; of several at one time the smallest
}

// An Account is everything that was observed of one version of one tool. It is a
// value that is only added to: the order in which observations come does not
// matter, and neither do accounts that were kept apart and merged. The zero value
// has seen nothing.
type Account struct {
	Calls     uint64 `json:"calls,omitzero"`     // that count: they stayed within what was declared
	Strayed   uint64 `json:"strayed,omitzero"`   // that showed a certain sign
	Ambiguous uint64 `json:"ambiguous,omitzero"` // that could have caused a sign, and others could
	Other     uint64 `json:"other,omitzero"`     // that say nothing: errors, results that were held or cut

	Runs  []string `json:"runs,omitzero"`  // of the calls that count; sorted, the first MaxRuns of them
	First int64    `json:"first,omitzero"` // of the calls that count, milliseconds since the epoch
	Last  int64    `json:"last,omitzero"`

	Signs    map[Sign]Tally `json:"signs,omitzero"`    // certain ones
	Released int64          `json:"released,omitzero"` // when an operator last released the version: what was seen until then is forgiven
}

// Add is the account with one observation more.
func (a Account) Add(o Observation) Account {
	b := Account{}
	certain, ambiguous := false, false
	for _, s := range o.Seen {
		if !s.Certain() {
			ambiguous = true
			continue
		}
		certain = true
		if b.Signs == nil {
			b.Signs = map[Sign]Tally{}
		}
		b.Signs[s.Sign] = Tally{1, o.At, o.At, o.Call}
	}
	switch {
	case o.Call == "": // of no call: signs only
	case certain:
		b.Strayed = 1
	case ambiguous:
		b.Ambiguous = 1
	case !o.Good || o.Run == "":
		b.Other = 1
	default:
		b.Calls, b.Runs, b.First, b.Last = 1, []string{o.Run}, o.At, o.At
	}
	return a.Merge(b)
}

// Release is the account after an operator released the version at a time.
func (a Account) Release(at int64) Account {
	a.Released = max(a.Released, at)
	return a
}

// Merge is what two accounts saw together.
func (a Account) Merge(b Account) Account {
	out := Account{
		Calls: a.Calls + b.Calls, Strayed: a.Strayed + b.Strayed, Ambiguous: a.Ambiguous + b.Ambiguous, Other: a.Other + b.Other,
		First: earlier(a.First, b.First), Last: max(a.Last, b.Last), Released: max(a.Released, b.Released), Runs: mergeRuns(a.Runs, b.Runs),
	}
	if len(a.Signs)+len(b.Signs) == 0 {
		return out
	}
	out.Signs = maps.Clone(a.Signs)
	if out.Signs == nil {
		out.Signs = map[Sign]Tally{}
	}
	for s, t := range b.Signs {
		out.Signs[s] = out.Signs[s].merge(t)
	}
	return out
}

func (t Tally) merge(o Tally) Tally {
	if t.N == 0 {
		return o
	}
	first, call := t.First, t.Call
	if o.First < first || o.First == first && o.Call < call {
		first, call = o.First, o.Call
	}
	return Tally{t.N + o.N, first, max(t.Last, o.Last), call}
}

func earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

func mergeRuns(a, b []string) []string {
	switch {
	case len(b) == 0:
		return a
	case len(a) == 0:
		return b
	case len(b) == 1 && slices.Contains(a, b[0]):
		return a
	}
	out := slices.Concat(a, b)
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), MaxRuns):min(len(out), MaxRuns)]
}

// Worst is what the signs since the last release come to: violated, suspect, or,
// where ok is false, nothing.
func (a Account) Worst() (c labels.Content, ok bool) {
	for s, t := range a.Signs {
		if t.Last <= a.Released {
			continue
		}
		switch r, _ := RowOf(s); r.Weight {
		case Contradicts:
			return labels.Violated, true
		case Doubts:
			c, ok = labels.Suspect, true
		}
	}
	return c, ok
}

// Content is what the account makes of a content that metadata, operator and
// registry gave: never better, but for consistent in the place of inspected.
func (a Account) Content(base labels.Content, now time.Time, t Thresholds) labels.Content {
	if c, ok := a.Worst(); ok {
		return min(base, c)
	}
	if base == labels.Inspected && now.Before(a.Consistent(t)) {
		return labels.Consistent
	}
	return base
}

// Consistent is until when the account makes an inspected version consistent;
// the zero time where it does not.
func (a Account) Consistent(t Thresholds) time.Time {
	_, bad := a.Worst()
	switch {
	case bad, t.Calls < least.Calls, t.Runs < least.Runs, t.Span < least.Span, t.Expiry > least.Expiry:
		return time.Time{} // thresholds that Check did not give
	case a.Calls < t.Calls, len(a.Runs) < t.Runs, a.Last-a.First < t.Span.Milliseconds():
		return time.Time{}
	case a.Strayed > (a.Calls+a.Strayed)/10:
		return time.Time{}
	}
	return time.UnixMilli(a.Last).Add(t.Expiry)
}
