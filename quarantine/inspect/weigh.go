package inspect

import (
	"strings"

	"github.com/pratique-dev/pratique/quarantine"
)

// near is how many words apart two rules may match in returned text to count
// together: returned text is long and speaks of many things.
const near = 60

// settle judges the wording of one specimen.
//
// In metadata a strong rule is hostile, and two weak ones in one item are
// suspect (weigh). In returned text a strong rule is suspect, since texts about
// attacks quote them, and hostile with another rule near it.
func (j *judge) settle() {
	var last *hit
	for i := range j.hits {
		h := &j.hits[i]
		r := &rules[h.rule]
		if !j.returned {
			if r.strong {
				j.find(r.category, quarantine.Hostile, int(h.from), int(h.to))
			} else {
				j.weak(h)
			}
			continue
		}
		together := last != nil && last.rule != h.rule && h.pos-last.pos <= near
		switch {
		case together && (r.strong || rules[last.rule].strong):
			j.find(r.category, quarantine.Hostile, int(h.from), int(h.to))
		case r.strong || together:
			j.find(r.category, quarantine.Suspect, int(h.from), int(h.to))
		}
		if last == nil || last.rule != h.rule || h.pos-last.pos > near {
			last = h
		}
	}
}

// weak remembers a weak hit, or counts it at once where not even a little of
// such wording belongs.
func (j *judge) weak(h *hit) {
	switch j.kind {
	case quarantine.KindName, quarantine.KindTitle, quarantine.KindValue:
		j.find(rules[h.rule].category, quarantine.Suspect, int(h.from), int(h.to))
	default:
		j.spots = append(j.spots, spot{*h, j.path, j.at})
	}
}

// weigh counts the weak hits, item by item: two honest tools with one each are
// two honest tools.
func (j *judge) weigh() {
	first := map[string]string{}
	for _, s := range j.spots {
		group, item := rules[s.rule].together(), itemOf(s.path)
		if g, ok := first[item]; !ok {
			first[item] = group
		} else if g != group {
			j.path, j.at = s.path, s.at
			j.find(rules[s.rule].category, quarantine.Suspect, int(s.from), int(s.to))
		}
	}
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
			return path[:end]
		}
	}
	return ""
}

// padding finds text that is pushed out of sight: behind fifteen empty lines or
// eighty blanks.
func (j *judge) padding(text string) {
	lines, blanks := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\n':
			lines++
			blanks = 0
		case ' ', '\t', '\r':
			blanks++
		default:
			if lines >= 15 || blanks >= 80 {
				j.find(quarantine.Padding, quarantine.Suspect, i, len(text))
				return
			}
			lines, blanks = 0, 0
		}
	}
}

// comment finds an HTML comment with words in it: a renderer hides it, a model
// reads it.
func (j *judge) comment(text string) {
	from := strings.Index(text, "<!--")
	if from < 0 {
		return
	}
	end := strings.Index(text[from:], "-->")
	if end < 0 {
		end = len(text) - from
	}
	if len(strings.Fields(text[from:from+end])) > 3 {
		j.find(quarantine.Invisible, quarantine.Suspect, from, from+end)
	}
}

// reference finds a schema that is to be fetched from somewhere. References are
// never followed, so cycles cost nothing.
func (j *judge) reference(text string) {
	for _, k := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if j.path == k || strings.HasSuffix(j.path, "."+k) {
			if !strings.HasPrefix(text, "#") && !j.ids[text] {
				j.find(quarantine.Reference, quarantine.Suspect, 0, len(text))
			}
			return
		}
	}
}

// misplaced finds sentences where a name, a title or a value belongs.
func (j *judge) misplaced(text string) {
	orders := 0
	for _, t := range j.reader.tokens {
		if t.class&(cMust|cAlways|cBefore|cIgnore|cNot|cYou|cInstead|cWithout|cTell) != 0 {
			orders++
		}
	}
	words := int(j.reader.pos)
	bad := false
	switch j.kind {
	case quarantine.KindName:
		bad = len(text) > 128 || words > 8 && orders >= 2 || strings.Count(text, " ") >= 8
	case quarantine.KindTitle:
		bad = words > 10 && orders >= 2 || words > 30
	case quarantine.KindValue:
		bad = words > 8 && orders >= 2
	}
	if bad {
		j.find(quarantine.Prose, quarantine.Suspect, 0, len(text))
	}
}
