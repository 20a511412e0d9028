package gateway

import (
	"bytes"
	"hash/maphash"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"

	"github.com/pratique-dev/pratique/internal/flat"
	"github.com/pratique-dev/pratique/internal/marks"
)

// A guard finds values that name Pratique's own data folder or listeners
// (RULES.md 13), whatever tool they are for. No policy and no profile switches it
// off.
//
// It looks at every string and member name at any depth: as it stands, as JSON
// inside of a string, with percent escapes undone, and in compatibility form
// (NFKC). Paths are compared by their text, and where the file system is ours by
// the files themselves. It finds names, not effects: a tool that walks a folder
// above ours, or a host name that somebody points to this machine, gets by.
type guard struct {
	folders []string // data folder, as configured and with links resolved; slashes
	lasts   []string // last elements of folders: what has none of them in it names none of them
	needles []needle // the same in lower case, for long texts
	home    string
	root    string // folder that relative paths start from; empty: not known
	fold    bool   // file names have no case here
	stat    func(path string) (same, ok bool)
	ports   map[string][]string // port → hosts of our listeners, in canonical form
	sizes   uint32              // bit n: some port has n bytes
	firsts  [256]bool           // what some port begins with
}

const (
	maxLayers = 4       // of encodings undone inside one another
	maxShort  = 4 << 10 // bytes of text whose paths are also looked up
	maxLookup = 4 << 10 // paths inside of texts that are looked up for one request
	maxValues = 1 << 16 // and that are texts of their own: a request with more is refused
)

// names tells whether a value (any JSON) names what is ours.
func (g *guard) names(v jsontext.Value) bool {
	if g == nil || len(v) == 0 {
		return false
	}
	s := newSweep(g)
	return s.value(v) || s.again().value(v)
}

// namesText is names of a plain text.
func (g *guard) namesText(text string) bool {
	if g == nil || text == "" {
		return false
	}
	s := newSweep(g)
	return s.text(text, 0) || s.again().text(text, 0)
}

// A sweep is one look through one value.
type sweep struct {
	g      *guard
	left   int      // look-ups of paths inside of texts
	values int      // and of texts that are paths
	above  []string // folders above ours that were named
	second bool     // of two looks: what is relative is held against above

	seen map[uint64]int // sums of texts that came of another one → at which layer
}

var seed = maphash.MakeSeed()

// before tells whether a text came up already with as many layers left: encodings
// undone in another order mostly end in the same text.
func (s *sweep) before(v string, layer int) bool {
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

func newSweep(g *guard) *sweep { return &sweep{g: g, left: maxLookup, values: maxValues} }

// again is the second look: a folder above ours and the rest of the way may stand
// in two arguments, as a working folder and a path.
func (s *sweep) again() *sweep {
	if len(s.above) == 0 {
		return nil
	}
	return &sweep{g: s.g, above: s.above, second: true}
}

// value looks through one value of strict JSON. What cannot be read names nothing: it
// is not forwarded either, since frames are read strictly before.
func (s *sweep) value(v []byte) bool {
	if s == nil {
		return false
	}
	return s.walk(string(v), v, 0)
}

func (s *sweep) walk(text string, b []byte, layer int) bool {
	w := lookout{s: s, text: text, b: b, layer: layer}
	i := marks.Space(b, 0)
	if i >= len(b) {
		return false
	}
	pair := pairing{g: s.g}
	_, found := w.member(i, &pair)
	return found
}

// A lookout goes through one JSON text at one layer.
type lookout struct {
	s     *sweep
	text  string // that b is; empty: what is looked at is copied
	b     []byte
	layer int
	from  int // of a value that is not looked at here
	to    int // its end; 0: there is none
}

// inside looks through the object or array that begins at i.
func (w *lookout) inside(i int) (end int, found bool) {
	pair := pairing{g: w.s.g}
	end = marks.Parts(w.b, i, func(name []byte, at int) int {
		if name != nil && flat.Classes(name)&(slash|colon|percent) != 0 { // what is escaped has a backslash
			n := w.string(cap(w.b)-cap(name), name) // where the name is in b
			if flat.Classes(n)&(slash|colon|percent) != 0 && w.s.text(n, w.layer) {
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
func (w *lookout) string(i int, quoted []byte) string {
	if w.text != "" && bytes.IndexByte(quoted, '\\') < 0 && len(quoted) > 1 {
		return w.text[i+1 : i+len(quoted)-1]
	}
	return string(marks.Text(quoted))
}

// member looks at one value in an object or array.
func (w *lookout) member(i int, pair *pairing) (end int, found bool) {
	switch c := w.b[i]; {
	case c == '"':
		end = marks.String(w.b, i)
		if w.s.idle(flat.Classes(w.b[i:end]), w.b[i+1:end]) {
			return end, false
		}
		v := w.string(i, w.b[i:end])
		pair.port(v)
		return end, w.s.text(v, w.layer)
	case c == '{', c == '[':
		return w.inside(i)
	case c == '-', c >= '0' && c <= '9':
		if end = marks.Scalar(w.b, i); w.s.g.portSize(end - i) {
			pair.port(string(w.b[i:end]))
		}
		return end, false
	}
	return max(marks.Scalar(w.b, i), i+1), false
}

// What is in a text, as far as it matters here. Without a slash it is a bare word.
const (
	slash   = flat.Slash
	colon   = flat.Colon
	percent = flat.Percent
	back    = flat.Back
	high    = flat.High
)

// begins are the bytes that JSON inside of a string, a port, or anything that is
// escaped, may begin with.
var begins = func() (t [256]bool) {
	for _, c := range []byte(" \t\r\n{[\"0123456789\\") {
		t[c] = true
	}
	return t
}()

// idle tells whether nothing can be made of a string: it is a bare word where those name
// nothing, has nothing to undo, and is neither JSON nor a port. has is what may be in it;
// inside is what stands behind its quote, not decoded.
func (s *sweep) idle(has uint8, inside []byte) bool {
	return has == 0 && !s.bare() && (len(inside) == 0 || !begins[inside[0]])
}

// text looks at one text in all its readings.
func (s *sweep) text(v string, layer int) bool {
	if s == nil || len(v) < 2 || s.before(v, layer) {
		return false
	}
	c := flat.Classes(v)
	if c&colon != 0 && s.g.namesListener(v) || (c&slash != 0 || s.bare()) && s.namesFolder(v, c) {
		return true
	}
	if layer >= maxLayers {
		return false
	}
	if c&(percent|high|back) != 0 && s.unwrapped(v, layer, c) {
		return true
	}
	if !jsonish(v) {
		return false
	}
	b := []byte(v)
	i := marks.Space(b, 0)
	return jsontext.Value(b[i:]).IsValid() && s.walk(v[i:], b[i:], layer+1)
}

// jsonish tells whether a text begins and ends as an object, an array or a string does.
func jsonish(v string) bool {
	i, j := 0, len(v)-1
	for i < j && (v[i] == ' ' || v[i] == '\t' || v[i] == '\r' || v[i] == '\n') {
		i++
	}
	if c := v[i]; c != '{' && c != '[' && c != '"' {
		return false
	}
	for j > i && (v[j] == ' ' || v[j] == '\t' || v[j] == '\r' || v[j] == '\n') {
		j--
	}
	switch v[i] {
	case '{':
		return v[j] == '}'
	case '[':
		return v[j] == ']'
	}
	return v[j] == '"'
}

// unwrapped looks at a text with each encoding undone that it may have.
func (s *sweep) unwrapped(v string, layer int, c uint8) bool {
	for _, u := range [...]struct {
		class uint8
		undo  func(string) (string, bool)
	}{{percent, unescapePercent}, {high, compatible}, {back, unescapeSlashes}} {
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
func unescapePercent(s string) (string, bool) {
	from := 0
	var b []byte
	for i := strings.IndexByte(s, '%'); i >= 0 && i+2 < len(s); {
		size := 1
		if n, ok := hex(s[i+1 : i+3]); ok {
			if b == nil {
				b = make([]byte, 0, len(s))
			}
			b = append(append(b, s[from:i]...), byte(n))
			size = 3
			from = i + size
		}
		next := strings.IndexByte(s[i+size:], '%')
		if next < 0 {
			break
		}
		i += size + next
	}
	if b == nil {
		return s, false
	}
	return string(append(b, s[from:]...)), true
}

// hex is a number of hexadecimal digits and nothing else.
func hex(s string) (n rune, ok bool) {
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		n = n<<4 | rune(c)
	}
	return n, true
}

// compatible is the text with full-width letters and the like made plain.
func compatible(s string) (string, bool) {
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
func unescapeSlashes(s string) (string, bool) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, false
	}
	b := make([]byte, 0, len(s))
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 == len(s) {
			return string(append(b, s...)), true
		}
		b = append(b, s[:i]...)
		c, n := s[i+1], 0
		s = s[i+2:]
		switch c {
		case 'x':
			n = 2
		case 'u':
			n = 4
		}
		if r, ok := hex(s[:min(n, len(s))]); ok && n > 0 && n <= len(s) {
			b = append(b, string(r)...)
			s = s[n:]
		} else {
			b = append(b, c)
		}
	}
}
