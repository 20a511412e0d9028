package gate

import (
	"testing"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
)

// TestConductIsNotWashedOff: what was seen of an accepted version stands against
// whatever comes in its place, until a person accepts that; the wording rule does
// not, though the words are clear.
func TestConductIsNotWashedOff(t *testing.T) {
	it, worded := toolItem("a", "x"), toolItem("a", "y")
	for _, c := range []struct {
		seen labels.Content
		want Act
	}{
		{labels.Violated, Pend}, {labels.Suspect, Pend}, {labels.Inspected, Accept}, {labels.Consistent, Accept},
	} {
		in := Input{Complete: true, Items: []Judged{clear(worded)}, Baseline: accepted(it), Standing: labels.Pinned,
			Observed: func(e *Entry) (labels.Content, bool) {
				return c.seen, e.Digest == it.Digest && e.Tool == "tool_1" && e.Gen == 1 && e.Ver == 1
			}}
		if moves := Settle(in, true); len(moves) != 1 || moves[0].Act != c.want {
			t.Errorf("%v: %+v", c.seen, moves)
		}
		in.Baseline.Pending = map[Key]Pending{}
		in.Items = []Judged{clear(it)} // and the version itself is what it was
		if e := Build(in).Entries("")[0]; e.Was != (credentials.Digest{}) || e.Content != c.seen {
			t.Errorf("%v: %v", c.seen, e.Content)
		}
	}
}
