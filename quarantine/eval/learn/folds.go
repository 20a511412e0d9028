package learn

import (
	"cmp"
	"slices"
)

// Folds deals the groups of examples out to n folds, or each to one of its own
// where n is 0, and gives the fold of each example. Large groups are dealt first,
// each to the fold that has least, attacks counted before honest items.
func Folds(examples []*Example, n int) []int {
	type group struct {
		name  string
		count [2]int
		fold  int
	}
	var groups []*group
	byName := map[string]*group{}
	for _, e := range examples {
		g := byName[e.Group]
		if g == nil {
			g = &group{name: e.Group}
			byName[e.Group] = g
			groups = append(groups, g)
		}
		g.count[number(e.Attack)]++
	}
	slices.SortFunc(groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.count[1], a.count[1]), cmp.Compare(b.count[0], a.count[0]), cmp.Compare(a.name, b.name))
	})
	each := n <= 0 || n >= len(groups)
	if each {
		n = len(groups)
	}
	held := make([][2]int, n)
	for i, g := range groups {
		by := number(g.count[1] > 0)
		for f := range held {
			if held[f][by] < held[g.fold][by] {
				g.fold = f
			}
		}
		if each {
			g.fold = i
		}
		held[g.fold][0] += g.count[0]
		held[g.fold][1] += g.count[1]
	}
	out := make([]int, len(examples))
	for i, e := range examples {
		out[i] = byName[e.Group].fold
	}
	return out
}
