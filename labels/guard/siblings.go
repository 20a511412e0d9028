package guard

import "github.com/pratique-dev/pratique/labels/args"

// siblings judges the recipients that a rule has no word on, where it says of some
// whom they may be: cc and bcc beside a rule about to. They have to be right for one of
// those.
func (s *Set) siblings(w *walker, root args.Value) {
	if len(s.mail) == 0 || w.index.all&isMail == 0 {
		return
	}
	for i := range w.index.list {
		m := &w.index.list[i]
		if m.kind&isMail == 0 || isNone(m.value) || s.speaksOf(w.index, m, root) {
			continue
		}
		rest, first := w.out, []Violation(nil)
		for n, wd := range s.mail {
			w.out = nil
			wd.check(m.value, w.call.Files, true, w)
			if len(w.out) == 0 {
				first = nil
				break
			}
			if n == 0 {
				first = w.out
			}
		}
		w.out = rest
		for _, v := range first {
			w.add(v)
		}
	}
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

// speaksOf tells whether a constraint of the rule is about a member.
func (s *Set) speaksOf(x *Index, m *member, root args.Value) bool {
	for i := range s.args {
		c := &s.args[i]
		if c.name != "" {
			if string(x.name(m)) == c.name {
				return true
			}
			continue
		}
		found := false
		c.at(root, c.place, true, func(v args.Value, _ bool) bool {
			found = found || v == m.value
			return !found
		})
		if found {
			return true
		}
	}
	return false
}
