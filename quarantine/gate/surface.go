package gate

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/effects"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine"
)

// Errors of items. Agents learn of the first two by one answer (RULES.md 10).
var (
	ErrNotShown   = errors.New("gate: no such item was shown to this agent")
	ErrWithheld   = errors.New("gate: the item is withheld")
	ErrChanged    = errors.New("gate: the item is not the one that was accepted and shown")
	ErrNew        = errors.New("gate: the item was not there when the upstream was accepted")
	ErrIncomplete = errors.New("gate: the upstream's surface could not be read completely") // retryable
	ErrShut       = errors.New("gate: the surface has not been cleared yet")                // retryable
	ErrOtherItem  = errors.New("gate: the params name another item")
)

// A Judged item is one with its verdict.
type Judged struct {
	Item
	Verdict  quarantine.Verdict
	Findings []quarantine.Finding // for operators only
	Partial  bool                 // a stage was late or failed: the verdict stands for now, and is asked for again
}

// late tells whether the inspector has not said its word yet.
func (it *Judged) late() bool {
	return it.Fault == NoFault && (it.Verdict == quarantine.Missing || it.Partial && it.Verdict != quarantine.Clear)
}

// Input is everything that a surface is built from. The zero value shows
// nothing.
type Input struct {
	Complete   bool     // every list was read to its end
	Items      []Judged // of all kinds, in any order
	Baseline   *Baseline
	Shown      Shown                        // nil: nothing was shown
	Epoch      *Epoch                       // ends passes when the upstream may have changed; nil: never
	Standing   labels.Standing              // of the place: what an item has that nobody registered
	Registered map[string]*Row              // tools that a registrant of this attested origin signed, by name
	Uncovered  map[string]bool              // tools whose names the origin's topology gives to nobody here
	Linked     func(uri string) bool        // whether this upstream linked a URI in a result; nil: none
	Effect     func(e *Entry) labels.Effect // of tools, it may set EffectBy; nil: effects.Rule
	// Observed is what the conduct of an item's version comes to: what is worse than
	// its text lowers its content, and Consistent raises what was inspected. ok is
	// false where nothing was observed; nil: nothing was of any.
	Observed func(e *Entry) (c labels.Content, ok bool)
	Now      time.Time
	// UnsafeWatch tells states and lets none of them bind: the profile watch, which
	// records and never blocks (RULES.md 12).
	UnsafeWatch bool
}

// An Entry is one item of a surface, as far as one agent goes. It is a value:
// what it says holds for the surface that it was taken from.
type Entry struct {
	Judged
	State    policy.State // towards this agent, from Look and Readable only: Cleared if it was shown with this digest
	Listed   policy.State // without regard to what was shown: only Cleared is listed
	Standing labels.Standing
	Content  labels.Content
	Effect   labels.Effect
	EffectBy effects.Source     // who decided it
	Tool     credentials.ToolID // of the registration or the baseline; empty: neither has it
	Gen, Ver uint64
	Owner    credentials.KeyID  // a registrant's; empty: nobody registered it
	Attested int64              // seconds since the epoch until which an attested standing holds; 0: no end
	Was      credentials.Digest // what was accepted, where that is another digest
	Release  Release            // of exactly this version
	Link     bool               // no item: a URI that the upstream linked in a result
}

// Tier is the tier of the entry's label at a time.
func (e *Entry) Tier(now time.Time) labels.Tier {
	r := Row{Live: true, Standing: e.Standing, Content: e.Content, Until: math.MaxInt64, Attested: e.Attested} // the content is as of the surface
	return r.Tier(now)
}

// Err is why an agent may not use the entry, or nil.
func (e *Entry) Err() error { return stateErr(e.State) }

func stateErr(s policy.State) error {
	switch s {
	case policy.Cleared:
		return nil
	case policy.Incomplete:
		return ErrIncomplete
	case policy.Withheld:
		return ErrWithheld
	case policy.Changed:
		return ErrChanged
	case policy.New:
		return ErrNew
	}
	return ErrNotShown
}

// A Surface is everything that one agent can read of one upstream, judged. It is
// an immutable value, and the only maker of passes; what the agent was shown is
// asked for at each look-up.
//
// Its order is by kind, then by the bytes of the name: it depends on nothing but
// the items themselves, so that it is the same for every agent, after every
// restart, and not for the upstream to choose what is read first.
type Surface struct {
	in        Input
	entries   []Entry
	index     map[Key]int32
	templates []boundTemplate
	digest    credentials.Digest
}

type boundTemplate struct {
	t *URITemplate
	i int32
}

// maxTemplates bounds what looking a URI up costs, all templates together: those
// beyond it, in the order of the surface, open nothing.
const maxTemplates = 256 << 10

// Build makes a surface. It is a pure function of its input.
func Build(in Input) *Surface {
	items := merge(in.Items)
	s := &Surface{in: in, entries: make([]Entry, len(items)), index: make(map[Key]int32, len(items))}
	size := 0
	for i := range items {
		e := &s.entries[i]
		e.Judged = items[i]
		in.fill(e)
		s.index[e.Key] = int32(i)
		if e.Kind == Template && e.Fault == NoFault {
			if t, err := ParseTemplate(e.Name); err == nil && size+t.size <= maxTemplates {
				size += t.size
				s.templates = append(s.templates, boundTemplate{t, int32(i)})
			}
		}
	}
	s.digest = s.sum()
	return s
}

// merge sorts the items and folds those of one name into one. What is there twice
// with one digest is one item, as when pages overlap; what differs is withheld in
// all its forms, since the name does not tell which one a call would reach.
func merge(items []Judged) []Judged {
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b Judged) int { return a.Key.Compare(b.Key) })
	out := items[:0]
	for _, it := range items {
		if n := len(out); n > 0 && out[n-1].Key == it.Key {
			if out[n-1].Digest != it.Digest && out[n-1].Fault == NoFault {
				out[n-1].Fault = FaultTwice
			}
			continue
		}
		out = append(out, it)
	}
	return out
}

// fill says what is known of an item, and whether it may be listed.
func (in *Input) fill(e *Entry) {
	e.Standing, e.Release = in.Standing, in.Baseline.Released(&e.Item)
	acc := in.accepted(e.Key)
	if acc != nil {
		e.Tool, e.Gen, e.Ver = acc.Tool, acc.Gen, acc.Ver
		if acc.Digest != e.Digest {
			e.Was = acc.Digest
		}
	}
	row := in.registered(e.Key)
	if row != nil {
		e.Tool, e.Gen, e.Ver, e.Owner = row.Tool, row.Gen, row.Ver, row.Owner
		e.Standing, e.Attested, e.Was = row.StandingAt(in.Now), row.Attested, credentials.Digest{}
		if row.Digest != e.Digest {
			e.Was = row.Digest
		}
	}
	e.Content = in.content(e, row)
	e.Listed = in.listed(e, acc, row)
	switch {
	case e.Kind != Tool:
		e.Effect = labels.Read
	case e.Fault != NoFault: // what cannot be read is not known
	case in.Effect != nil:
		e.Effect = in.Effect(e)
	default:
		e.Effect = effects.Rule(e.Standing, e.Canonical)
	}
}

func (in *Input) accepted(k Key) *Accepted {
	if in.Baseline == nil {
		return nil
	}
	return in.Baseline.Items[k]
}

func (in *Input) registered(k Key) *Row {
	if k.Kind != Tool {
		return nil
	}
	return in.Registered[k.Name]
}

// listed is the straight line from an item to whether it may be shown.
func (in *Input) listed(e *Entry, acc *Accepted, row *Row) policy.State {
	switch {
	case !in.Complete, in.Baseline == nil, !in.Baseline.Seen:
		return policy.Incomplete
	case e.Fault != NoFault, !in.cleared(&e.Judged):
		return policy.Withheld
	case e.Kind == Tool && in.Uncovered[e.Name]:
		return policy.Withheld
	case row != nil && (!row.Live || row.Withheld):
		return policy.Withheld
	case row == nil && acc == nil:
		return policy.New
	case e.Was != credentials.Digest{}:
		return policy.Changed
	case e.Tier(in.Now) == labels.Red:
		return policy.Withheld
	}
	return policy.Cleared
}

// cleared tells whether the text of an item may be shown: an inspector found it
// clear, or an operator released exactly this (RULES.md 20, 35). What is condemned
// never is.
func (in *Input) cleared(it *Judged) bool {
	return !in.Baseline.condemned(it.Key, it.Digest) &&
		(it.Verdict == quarantine.Clear || in.Baseline.Released(&it.Item) != NotReleased)
}

// content is what is known of an item's conduct and text together: the worst of
// what inspector, operator, registry and observation say, where a release stands
// for the inspector's word, and observation alone makes consistent.
func (in *Input) content(e *Entry, row *Row) labels.Content {
	if in.Baseline.condemned(e.Key, e.Digest) {
		return labels.Violated
	}
	c := contentOf(e.Verdict)
	switch {
	case e.Verdict == quarantine.Clear || e.Release == NotReleased:
	case e.Verdict == quarantine.Hostile || e.Release == ReleasedHostile:
		c = labels.Suspect
	default:
		c = labels.Inspected
	}
	switch {
	case row == nil:
	case e.Verdict == quarantine.Clear:
		c = row.ContentAt(in.Now)
	default:
		c = min(c, row.ContentAt(in.Now))
	}
	if in.Observed == nil {
		return c
	}
	seen, ok := in.Observed(e)
	switch {
	case !ok:
	case seen == labels.Consistent && c == labels.Inspected && row == nil: // of a registered one the registry says it
		c = seen
	case seen < c:
		c = seen
	}
	return c
}

func contentOf(v quarantine.Verdict) labels.Content {
	switch v {
	case quarantine.Clear:
		return labels.Inspected
	case quarantine.Suspect:
		return labels.Suspect
	case quarantine.Hostile:
		return labels.Violated
	}
	return labels.Uninspected
}

// sum digests what a list may return.
func (s *Surface) sum() (d credentials.Digest) {
	h := sha256.New()
	h.Write([]byte("pratique/surface/v1\x00"))
	for i := range s.entries {
		e := &s.entries[i]
		if e.Listed != policy.Cleared {
			continue
		}
		var n [4]byte
		binary.BigEndian.PutUint32(n[:], uint32(len(e.Name)))
		h.Write([]byte{byte(e.Kind.rank())})
		h.Write(n[:])
		h.Write([]byte(e.Name))
		h.Write(e.Digest[:])
	}
	h.Sum(d[:0])
	return d
}

// Digest is over kind, name and digest of everything that may be listed.
func (s *Surface) Digest() credentials.Digest { return s.digest }

// Complete tells whether every list was read to its end, and the upstream's first
// sight is over. Otherwise nothing is shown.
func (s *Surface) Complete() bool {
	return s.in.Complete && s.in.Baseline != nil && s.in.Baseline.Seen
}

// Len is the number of entries.
func (s *Surface) Len() int { return len(s.entries) }

// Entries are the entries of a kind in their order, whatever their state; they
// are shared and never changed in place. An empty kind means all.
func (s *Surface) Entries(kind Kind) []Entry {
	if kind == "" {
		return s.entries
	}
	lo, _ := slices.BinarySearchFunc(s.entries, kind.rank(), func(e Entry, r int) int { return e.Kind.rank() - r })
	hi, _ := slices.BinarySearchFunc(s.entries, kind.rank()+1, func(e Entry, r int) int { return e.Kind.rank() - r })
	return s.entries[lo:hi:hi]
}

// Lists tells whether a list may return the entry.
func (s *Surface) Lists(e *Entry) bool {
	return e.Listed == policy.Cleared || s.in.UnsafeWatch && e.Listed != policy.Incomplete
}
