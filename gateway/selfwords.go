package gateway

import "strings"

// pathlike tells whether a word of a text without slashes may be a path: it begins with
// a dot.
func pathlike(v string) bool {
	for from := 0; ; {
		i := strings.IndexByte(v[from:], '.')
		if i < 0 {
			return false
		}
		if from += i; from == 0 || v[from-1] >= 0x80 || separates(rune(v[from-1])) {
			return true
		}
		from++
	}
}

// words looks at every word of the text that could be a path.
func (s *sweep) words(v string) bool {
	wanted := uint8(slash)
	if s.second {
		if wanted = each; !s.g.fold && !s.g.hasLast(v) {
			wanted = wilds // as mayEnd wants it
		}
	}
	for i := 0; i < len(v); {
		j, c := i, uint8(0)
		for ; j < len(v); j++ {
			t := wordOf[v[j]]
			if c |= t; t >= ends && (v[j] != 0xc2 || j+1 < len(v) && v[j+1] == 0xa0) {
				break
			}
		}
		if w := v[i:j]; w != "" && len(w) < len(v) && (c&wanted != 0 || w[0] == '.') && s.path(w, &s.left) {
			return true
		}
		if i = j + 1; j < len(v) && v[j] == 0xc2 {
			i++
		}
	}
	return false
}

// wordOf are slashes, wildcards, and what a word may end before: what separates, of
// which one is two bytes of UTF-8.
var wordOf = func() (t [256]uint8) {
	for c := range t {
		t[c] = each
		if c < 0x80 && separates(rune(c)) || c == 0xc2 {
			t[c] = each | ends
		}
	}
	for _, c := range []byte("*?[") {
		t[c] |= wilds
	}
	t['/'], t['\\'], t['~'] = each|slash, each|slash, each|slash
	return t
}()

const (
	each  = 1 << (iota + 5) // whatever it is
	wilds                   // wildcards
	ends                    // a word may end before it
)

func separates(r rune) bool {
	switch r {
	case ' ', '\t', '\n', '\r', '\v', '\f', '"', '\'', '`', '=', ';', '|', '&', '<', '>', '(', ')', ',', '{', '}', 0, '\u00a0':
		return true
	}
	return false
}
