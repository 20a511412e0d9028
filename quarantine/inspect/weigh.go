package inspect

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pratique-dev/pratique/quarantine"
)

// near is how many words apart two rules may match in returned text to count
// together: returned text is long and speaks of many things.
const near = 60

// A spot is a hit that is weighed with the others of the batch.
type spot struct {
	hit
	at int // of the specimen
}

// settle judges the wording of one specimen, or keeps it for the end.
//
// In metadata a strong rule is hostile, and two weak ones in one item are
// suspect. In returned text a strong rule is suspect, since texts about attacks
// quote them, and hostile with another rule near it, in this specimen or the
// next.
func (j *judge) settle() {
	for _, h := range j.hits {
		r := &rules[h.rule]
		switch {
		case j.returned:
			if h.deep {
				h.pos = h.from / 6 // its words are counted in another view: about so many are before it
			}
			h.pos += j.passed
			j.spots = append(j.spots, spot{h, j.at})
		case r.strong:
			j.find(r.category, quarantine.Hostile, int(h.from), int(h.to))
		case h.deep, j.s.Kind == quarantine.KindName, j.s.Kind == quarantine.KindTitle, j.s.Kind == quarantine.KindValue && j.place != exampleValue:
			j.find(r.category, quarantine.Suspect, int(h.from), int(h.to)) // not even a little of it belongs there
		default:
			j.spots = append(j.spots, spot{h, j.at})
		}
	}
	j.passed += int32(j.words) + 1
}

// weigh counts what was kept.
func (j *judge) weigh() {
	slices.SortStableFunc(j.spots, func(a, b spot) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.pos, b.pos))
	})
	var last *spot
	var first map[string]string // group of the first weak hit, by item
	for i := range j.spots {
		s := &j.spots[i]
		if j.set[s.at].Kind.Returned() {
			last = j.beside(s, last)
			continue
		}
		group, item := rules[s.rule].together(), itemOf(j.set[s.at].Path)
		if g, ok := first[item]; !ok {
			if first == nil {
				first = map[string]string{}
			}
			first[item] = group
		} else if g != group {
			j.findAt(s.at, rules[s.rule].category, quarantine.Suspect, int(s.from), int(s.to))
		}
	}
}

// beside judges a hit in returned text by the one before, and returns the one to
// hold the next against.
func (j *judge) beside(s, last *spot) *spot {
	r := &rules[s.rule]
	together := last != nil && last.rule != s.rule && s.pos-last.pos <= near
	switch {
	case together && (r.strong || rules[last.rule].strong):
		j.findAt(s.at, r.category, quarantine.Hostile, int(s.from), int(s.to))
	case r.strong || together:
		j.findAt(s.at, r.category, quarantine.Suspect, int(s.from), int(s.to))
	}
	if last == nil || last.rule != s.rule || s.pos-last.pos > near {
		return s
	}
	return last
}

// itemOf is the item of a path, where a set is of several: their paths begin
// with KIND[NAME]. Elsewhere all is one item.
func itemOf(path string) string {
	open := strings.IndexByte(path, '[')
	if open < 0 {
		return ""
	}
	switch path[:open] {
	case "tool", "prompt", "resource", "template", "instructions", "server":
		if end := strings.Index(path, "]."); end > 0 {
			return path[:end+1]
		}
	}
	return ""
}
