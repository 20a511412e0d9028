package guard

import "github.com/pratique-dev/pratique/labels/guard/ref"

// Spent is how many bytes the commands of a call cost the default guard of refs.
func (s *Set) Spent(c Call) int {
	x := Read(c.Args)
	defer x.Release()
	var b ref.Budget
	w := walker{set: s, call: c, index: x}
	w.commands(&b)
	return b.Spent()
}
