package state

import (
	"fmt"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

// Pins reports whether a cleared use pins a tool as it is now: its standing is
// unknown, and would be pinned by that alone (RULES.md 19). What is not inspected,
// or is doubted, is not cleared; where somebody else claims the name too, or a
// delegate put the version there, a use does not say whose tool was used.
func (v *View) Pins(x *registry.Tool) bool {
	if !x.Live || x.Withheld || x.Condemned || x.Standing != labels.Unknown || x.Content < labels.Inspected ||
		x.Publisher != x.Owner || v.Contested(x.Origin, x.Name) > 0 {
		return false
	}
	y := *x
	y.Used = x.Index + 1
	v.weigh(&y)
	return y.Standing == labels.Pinned
}

// applyUsed folds the first cleared use of a tool under the key that holds it. Only
// the service itself says that, and only where it changes the label.
func (t *Txn) applyUsed(index uint64, e *registry.Event) error {
	var d registry.UsedData
	if err := e.Decode(&d); err != nil {
		return err
	}
	old, err := t.Tool(d.Tool)
	if err != nil {
		return fmt.Errorf("%w: tool %s: %w", ErrApply, d.Tool, err)
	}
	if d.N != old.Events+1 || d.Last != old.Index || d.Gen != old.Gen || e.By != "" || !t.Pins(old) {
		return fmt.Errorf("%w: use of tool %s, which it does not pin", ErrApply, d.Tool)
	}
	x := touched(old, index, e)
	x.Used, x.Seq = index, index
	return t.storeTool(old, x)
}
