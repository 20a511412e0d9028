package gate

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/quarantine"
)

// Settle says what a complete sight moves in a baseline: the first one pins what
// is clear; afterwards a difference is pending until somebody accepts it, where
// an attested registrant's signature and, if wording is set, the wording rule
// accept by themselves. It is a pure function; an incomplete sight moves
// nothing, and neither does a first one with a verdict missing.
func Settle(in Input, wording bool) []Move {
	if !in.Complete || in.Baseline == nil {
		return nil
	}
	items := merge(in.Items)
	if !in.Baseline.Seen {
		for i := range items {
			if items[i].late() {
				return nil // an inspector that was late must not make it "new" for ever
			}
		}
	}
	var moves []Move
	live := make(map[Key]bool, len(items))
	for i := range items {
		live[items[i].Key] = true
		if m := in.move(&items[i], wording); m.Act != NoAct {
			moves = append(moves, m)
		}
	}
	for k, p := range in.Baseline.Pending {
		if !live[k] {
			moves = append(moves, Move{Act: Unpend, Item: Item{Key: k, Digest: p.Digest}, Why: "gone"})
		}
	}
	slices.SortStableFunc(moves, func(a, b Move) int { return a.Key.Compare(b.Key) })
	if !in.Baseline.Seen {
		moves = append(moves, Move{Act: Sighted})
	}
	return moves
}

func (in *Input) move(it *Judged, wording bool) Move {
	m := Move{Item: it.Item, Verdict: it.Verdict}
	acc, row := in.accepted(it.Key), in.registered(it.Key)
	condemned := false // after what was condemned, or misbehaved, nothing is accepted but by a person
	if acc != nil {
		m.Was, condemned = acc.Digest, in.Baseline.condemned(acc.Key, acc.Digest) || in.misbehaved(acc)
	}
	same := acc != nil && acc.Digest == it.Digest
	clear := it.Fault == NoFault && in.cleared(it) && !(it.Kind == Tool && in.Uncovered[it.Name])
	pending, isPending := in.Baseline.Pending[it.Key]
	switch {
	case clear && same:
		if isPending {
			m.Act, m.Why = Unpend, "back"
		}
	case clear && !condemned && row != nil && row.Live && !row.Withheld && row.Digest == it.Digest:
		m.Act, m.By = Accept, ByRegistrant
	case clear && !in.Baseline.Seen && row == nil:
		m.Act, m.By = Pin, ByFirstSight
	case clear && !condemned && row == nil && acc != nil && wording && Wording(it.Kind, acc.Canonical, it.Canonical):
		m.Act, m.By = Accept, ByWording
	case isPending && pending.Digest == it.Digest && (pending.Verdict == it.Verdict || it.late()):
		// known already
	case same && (it.Fault != NoFault || it.Verdict == quarantine.Clear || it.late()):
		// nothing that an operator could say more of
	default:
		m.Act, m.Why, m.Found = Pend, why(it, acc), it.Findings
	}
	return m
}

// misbehaved tells whether what was seen of the accepted version speaks against it:
// another description must not wash that off.
func (in *Input) misbehaved(acc *Accepted) bool {
	if in.Observed == nil {
		return false
	}
	e := Entry{Tool: acc.Tool, Gen: acc.Gen, Ver: acc.Ver}
	e.Key, e.Digest = acc.Key, acc.Digest
	c, ok := in.Observed(&e)
	return ok && c < labels.Inspected
}

func why(it *Judged, acc *Accepted) string {
	switch {
	case it.Fault != NoFault:
		return string(it.Fault)
	case it.Verdict != quarantine.Clear:
		return it.Verdict.String()
	case acc == nil:
		return "new"
	}
	return "changed"
}

// Wording tells whether two items of one name differ in nothing but their own
// description. A title is what people know an item by, annotations are claims
// about its effect, a schema's texts say what to put where, and instructions and
// serverInfo are nothing but wording: changes there are for a person.
func Wording(kind Kind, before, after []byte) bool {
	switch kind {
	case Tool, Prompt, Resource, Template:
	default:
		return false
	}
	a, okA := withoutDescription(before)
	b, okB := withoutDescription(after)
	return okA && okB && bytes.Equal(a, b)
}

// withoutDescription is the canonical object's members less its description.
func withoutDescription(c []byte) ([]byte, bool) {
	d := jsontext.NewDecoder(bytes.NewReader(c))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, false
	}
	var out []byte
	for d.PeekKind() == '"' {
		name, err := d.ReadValue()
		if err != nil {
			return nil, false
		}
		skip := string(name) == `"description"`
		if !skip {
			out = append(append(out, name...), ':')
		}
		v, err := d.ReadValue()
		if err != nil || skip && v.Kind() != '"' {
			return nil, false
		}
		if !skip {
			out = append(append(out, v...), ',')
		}
	}
	return out, true
}
