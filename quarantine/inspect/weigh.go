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

// nearItem is the same in one item: a manual of many pages in a description is no
// one sentence.
const nearItem = 150

// A spot is a hit that is weighed with the others of the batch.
type spot struct {
	hit
	at    int   // of the specimen
	level level // as it was judged, of returned text
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
		if h.deep {
			n := h.last - h.pos
			h.pos = h.from / 6 // its words are counted in another view: about so many are before it
			h.last = h.pos + n
		}
		h.pos += j.passed
		h.last += j.passed
		switch {
		case j.returned:
			h.quoted = j.isQuoted(int(h.from), int(h.to))
			j.spots = append(j.spots, spot{hit: h, at: j.at})
		case r.level >= told:
			j.find(r.category, quarantine.Hostile, int(h.from), int(h.to))
		case clue(h.rule) && (j.s.Kind == quarantine.KindName || j.s.Kind == quarantine.KindTitle):
		case clue(h.rule):
			j.spots = append(j.spots, spot{hit: h, at: j.at})
		case r.level == firm, h.deep, j.s.Kind == quarantine.KindName, j.s.Kind == quarantine.KindTitle, j.s.Kind == quarantine.KindValue && j.place != exampleValue:
			j.find(r.category, quarantine.Suspect, int(h.from), int(h.to)) // not even a little of it belongs there
		default:
			j.spots = append(j.spots, spot{hit: h, at: j.at})
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
	for i := range j.spots {
		s := &j.spots[i]
		switch {
		case rules[s.rule].level == faint, rules[s.rule].level == slight && j.set[s.at].Kind.Returned():
		case j.set[s.at].Kind.Returned():
			last = j.beside(s, last)
		default:
			last = j.second(s, last)
		}
	}
	j.sums()
}

// second judges a weak hit in metadata by the one before, and returns the one to
// hold the next against.
func (j *judge) second(s, last *spot) *spot {
	if last == nil || s.pos-last.pos > nearItem || itemOf(j.set[s.at].Path) != itemOf(j.set[last.at].Path) {
		return s
	}
	if rules[s.rule].together() == rules[last.rule].together() {
		return last
	}
	j.findAt(s.at, rules[s.rule].category, quarantine.Suspect, int(s.from), int(s.to))
	return last
}

// beside judges a hit in returned text by the one before, and returns the one to
// hold the next against. The same words are not held against themselves.
func (j *judge) beside(s, last *spot) *spot {
	r := &rules[s.rule]
	s.level = r.level
	if s.quoted {
		s.level = weak
	}
	together := last != nil && s.pos > last.last && s.pos-last.pos <= near && r.together() != rules[last.rule].together() && !tells(s, last)
	switch {
	case together && (s.level == strong || last.level == strong):
		j.findAt(s.at, r.category, quarantine.Hostile, int(s.from), int(s.to))
	case s.level == strong || together:
		j.findAt(s.at, r.category, quarantine.Suspect, int(s.from), int(s.to))
	}
	if last == nil || s.pos-last.pos > near || s.level == strong && last.level < strong {
		return s
	}
	return last
}

// tells tells whether two hits are what a text about attacks has: two quotations,
// or two mentions of secrets without an order.
func tells(a, b *spot) bool {
	return a.quoted && b.quoted || a.level < strong && b.level < strong && rules[a.rule].category == secrets && rules[b.rule].category == secrets
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
