package gateway

import (
	"bytes"
	"hash/maphash"
	"path"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"

	"github.com/pratique-dev/pratique/internal/marks"
)

// An oldGuard is the guard as it was written first, which looks at each text of a value
// anew. The present one has to find what it finds, and nothing else.
type oldGuard struct{ *guard }

// names tells whether a value (any JSON) names what is ours.
func (g *oldGuard) names(v jsontext.Value) bool {
	if g == nil || len(v) == 0 {
		return false
	}
	s := newOldSweep(g)
	return s.value(v) || s.again().value(v)
}

// namesText is names of a plain text.
func (g *oldGuard) namesText(text string) bool {
	if g == nil || text == "" {
		return false
	}
	s := newOldSweep(g)
	return s.text(text, 0) || s.again().text(text, 0)
}

// A oldSweep is one look through one value.
type oldSweep struct {
	g      *oldGuard
	left   int      // look-ups of paths inside of texts
	values int      // and of texts that are paths
	above  []string // folders above ours that were named
	second bool     // of two looks: what is relative is held against above

	seen map[uint64]int // sums of texts that came of another one → at which layer
}

// before tells whether a text came up already with as many layers left: encodings
// undone in another order mostly end in the same text.
func (s *oldSweep) before(v string, layer int) bool {
	if layer == 0 {
		return false
	}
	sum := maphash.String(seed, v)
	if at, ok := s.seen[sum]; ok && at <= layer {
		return true
	}
	if s.seen == nil {
		s.seen = map[uint64]int{}
	}
	s.seen[sum] = layer
	return false
}

func newOldSweep(g *oldGuard) *oldSweep { return &oldSweep{g: g, left: maxLookup, values: maxValues} }

// again is the second look: a folder above ours and the rest of the way may stand
// in two arguments, as a working folder and a path.
func (s *oldSweep) again() *oldSweep {
	if len(s.above) == 0 {
		return nil
	}
	return &oldSweep{g: s.g, above: s.above, second: true}
}

// value looks through one value of strict JSON. What cannot be read names nothing: it
// is not forwarded either, since frames are read strictly before.
func (s *oldSweep) value(v []byte) bool {
	if s == nil {
		return false
	}
	return s.walk(string(v), v, 0)
}

func (s *oldSweep) walk(text string, b []byte, layer int) bool {
	w := oldLookout{s: s, text: text, b: b, layer: layer}
	i := marks.Space(b, 0)
	if i >= len(b) {
		return false
	}
	pair := oldPairing{g: s.g}
	_, found := w.member(i, &pair)
	return found
}

// A oldLookout goes through one JSON text at one layer.
type oldLookout struct {
	s     *oldSweep
	text  string // that b is; empty: what is looked at is copied
	b     []byte
	layer int
	from  int // of a value that is not looked at here
	to    int // its end; 0: there is none
}

// inside looks through the object or array that begins at i.
func (w *oldLookout) inside(i int) (end int, found bool) {
	pair := oldPairing{g: w.s.g}
	end = marks.Parts(w.b, i, func(name []byte, at int) int {
		if name != nil && oldClasses(name)&(oldSlash|oldColon|oldPercent) != 0 { // what is escaped has a backslash
			n := w.string(cap(w.b)-cap(name), name) // where the name is in b
			if oldClasses(n)&(oldSlash|oldColon|oldPercent) != 0 && w.s.text(n, w.layer) {
				found = true
				return -1
			}
		}
		if w.to > 0 && at == w.from {
			return w.to
		}
		var next int
		if next, found = w.member(at, &pair); found {
			return -1
		}
		return next
	})
	if !found && len(pair.ports) > 0 {
		marks.Parts(w.b, i, func(_ []byte, at int) int {
			next := marks.Value(w.b, at)
			if c := w.b[at]; c == '"' {
				pair.host(w.string(at, w.b[at:next]))
			} else if c == '-' || c >= '0' && c <= '9' {
				pair.host(string(w.b[at:next]))
			}
			return next
		})
		found = pair.found()
	}
	if end < 0 {
		end = len(w.b) // it is found, or cannot be read on
	}
	return end, found
}

// string is what stands in the quotes that begin at i.
func (w *oldLookout) string(i int, quoted []byte) string {
	if w.text != "" && bytes.IndexByte(quoted, '\\') < 0 && len(quoted) > 1 {
		return w.text[i+1 : i+len(quoted)-1]
	}
	return string(marks.Text(quoted))
}

// member looks at one value in an object or array.
func (w *oldLookout) member(i int, pair *oldPairing) (end int, found bool) {
	switch c := w.b[i]; {
	case c == '"':
		end = marks.String(w.b, i)
		v := w.string(i, w.b[i:end])
		pair.port(v)
		return end, w.s.text(v, w.layer)
	case c == '{', c == '[':
		return w.inside(i)
	case c == '-', c >= '0' && c <= '9':
		end = marks.Scalar(w.b, i)
		pair.port(string(w.b[i:end]))
		return end, false
	}
	return max(marks.Scalar(w.b, i), i+1), false
}

// What is in a text, as far as it matters here.
const (
	oldSlash   = 1 << iota // of either kind, or a tilde: without, a text is a bare word
	oldColon               //
	oldPercent             //
	oldBack                // a backslash
	oldHigh                // something outside of ASCII
	oldApart               // what words are apart by
)

var oldClassOf = func() (t [256]uint8) {
	for c, class := range map[byte]uint8{'/': oldSlash, '\\': oldSlash | oldBack, '~': oldSlash, ':': oldColon, '%': oldPercent} {
		t[c] = class
	}
	for c := range len(t) {
		if c >= 0x80 {
			t[c] = oldHigh | oldApart
		} else if separates(rune(c)) {
			t[c] |= oldApart
		}
	}
	return t
}()

// classes is what is in a text.
func oldClasses[T string | []byte](v T) (c uint8) {
	for i := range len(v) {
		c |= oldClassOf[v[i]]
	}
	return c
}

// text looks at one text in all its readings.
func (s *oldSweep) text(v string, layer int) bool {
	if s == nil || len(v) < 2 || s.before(v, layer) {
		return false
	}
	c := oldClasses(v)
	if c&oldColon != 0 && s.g.namesListener(v) || (c&oldSlash != 0 || s.bare()) && s.namesFolder(v, c) {
		return true
	}
	if layer >= maxLayers {
		return false
	}
	if c&(oldPercent|oldHigh|oldBack) != 0 && s.unwrapped(v, layer, c) {
		return true
	}
	for v[0] == ' ' || v[0] == '\t' || v[0] == '\r' || v[0] == '\n' {
		if v = v[1:]; v == "" {
			return false
		}
	}
	return (v[0] == '{' || v[0] == '[' || v[0] == '"') && jsontext.Value(v).IsValid() && s.walk(v, []byte(v), layer+1)
}

// unwrapped looks at a text with each encoding undone that it may have.
func (s *oldSweep) unwrapped(v string, layer int, c uint8) bool {
	for _, u := range [...]struct {
		class uint8
		undo  func(string) (string, bool)
	}{{oldPercent, oldUnescapePercent}, {oldHigh, oldCompatible}, {oldBack, oldUnescapeSlashes}} {
		if c&u.class == 0 {
			continue
		}
		if w, changed := u.undo(v); changed && s.text(w, layer+1) {
			return true
		}
	}
	return false
}

// unescapePercent undoes percent escapes, those that are whole.
func oldUnescapePercent(s string) (string, bool) {
	if strings.IndexByte(s, '%') < 0 {
		return s, false
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(n))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b), len(b) != len(s)
}

// compatible is the text with full-width letters and the like made plain.
func oldCompatible(s string) (string, bool) {
	for i := range len(s) {
		if s[i] >= 0x80 {
			n := norm.NFKC.String(s)
			n = strings.Map(func(r rune) rune {
				switch {
				case r == '\u3002' || r == '\uff61':
					return '.'
				case r == '\u2044' || r == '\u2215':
					return '/'
				case r == '\u200b' || r == '\u200c' || r == '\u200d' || r == '\u2060' || r == '\ufeff':
					return -1
				}
				return r
			}, n)
			return n, n != s
		}
	}
	return s, false
}

// unescapeSlashes takes the backslashes out that shells and C-like languages
// put before a character, and resolves \xNN and \uNNNN.
func oldUnescapeSlashes(s string) (string, bool) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, false
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 >= len(s) {
			b = append(b, s[i])
			continue
		}
		if n := map[byte]int{'x': 2, 'u': 4}[s[i+1]]; n > 0 && i+2+n <= len(s) {
			if r, err := strconv.ParseUint(s[i+2:i+2+n], 16, 32); err == nil {
				b = append(b, string(rune(r))...)
				i += 1 + n
				continue
			}
		}
		b = append(b, s[i+1])
		i++
	}
	return string(b), true
}

// within tells whether the clean path p is f or inside of it, element by
// element: trailing dots and blanks do not count, and an element with wildcards
// is what it matches.
func (g *oldGuard) within(p, f string) bool {
	for {
		fe, frest, fmore := strings.Cut(strings.TrimPrefix(f, "/"), "/")
		pe, prest, pmore := strings.Cut(strings.TrimPrefix(p, "/"), "/")
		if !g.same(pe, fe) {
			return false
		}
		if !fmore {
			return true
		}
		if !pmore {
			return false
		}
		f, p = frest, prest
	}
}

func (g *oldGuard) same(pe, fe string) bool {
	if pe == fe {
		return true
	}
	if t := strings.TrimRight(pe, ". "); t != "" {
		pe = t
	}
	if g.fold {
		pe, fe = strings.ToLower(pe), strings.ToLower(fe)
	}
	if pe == fe {
		return true
	}
	if strings.Trim(pe, "*?") == "" || !strings.ContainsAny(pe, "*?[") {
		return false // a wildcard alone names everything, and so nothing
	}
	ok, err := path.Match(pe, fe)
	return err == nil && ok
}
