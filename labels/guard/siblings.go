package guard

import (
	"slices"

	"github.com/pratique-dev/pratique/labels/args"
)

// siblings judges the recipients that a rule has no word on, where it says of some
// whom they may be: cc and bcc beside a rule about to. They have to be right for one of
// those.
func (s *Set) siblings(w *walker, root args.Value) {
	if len(s.mail) == 0 || w.index.all&isMail == 0 {
		return
	}
	placed := s.placed(root)
	for i := range w.index.list {
		m := &w.index.list[i]
		if m.kind&isMail == 0 || isNone(m.value) || placed[m.value] || s.names(w.index.name(m)) {
			continue
		}
		if !slices.ContainsFunc(s.mail, func(wd *word) bool { return w.passes(wd, m.value) }) {
			s.mail[0].check(m.value, w.call.Files, true, w)
		}
		if len(w.out) == maxViolations {
			return
		}
	}
}

// passes tells whether a word refuses nothing of a value.
func (w *walker) passes(wd *word, v args.Value) bool {
	try := walker{set: w.set, call: w.call, index: w.index, tries: true}
	wd.check(v, w.call.Files, true, &try)
	return !try.failed
}

// isNone tells whether a value names nobody.
func isNone(v args.Value) bool {
	switch v.Kind() {
	case 'n', 'f':
		return true
	case '"':
		return v.Text() == ""
	}
	return v.Kind() == '[' && v.Len() == 0
}

// placed are the values that constraints on a place are about; nil: none.
func (s *Set) placed(root args.Value) (found map[args.Value]bool) {
	for i := range s.args {
		if c := &s.args[i]; c.name == "" {
			c.at(root, c.place, true, func(v args.Value, _ bool) bool {
				if found == nil {
					found = map[args.Value]bool{}
				}
				found[v] = true
				return true
			})
		}
	}
	return found
}

// names tells whether a constraint is about a squashed name.
func (s *Set) names(name []byte) bool {
	return slices.ContainsFunc(s.args, func(c constraint) bool { return c.name != "" && c.name == string(name) })
}
