package args

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of one reading. What is beyond them is refused, not read in part.
const (
	maxSize  = 1 << 28
	maxDepth = 128
	maxNodes = 1 << 18
)

// A node is one value. Those below it follow it at once, in the order of the text.
type node struct {
	kind    byte
	nameEsc bool   // the name is texts[name]
	textEsc bool   // the text has to be decoded
	name    uint32 // where the name begins, behind its quote
	nameEnd uint32
	at, end uint32 // of the value, quotes and brackets included
	parent  uint32
	stop    uint32 // the first node that is neither this one nor below it
	count   uint32 // of members or elements
	text    uint32 // of a string: 1 + index into texts, once it is decoded
	inner   uint32 // of a string: see Inner
}

// read makes the nodes of the one value in t.raw. It is the strict reader: what it
// lets through is what jsontext does.
func (t *Tree) read(budget int) bool {
	if len(t.raw) > maxSize {
		return false
	}
	s := scan{t: t, b: t.raw, left: budget}
	s.space()
	if !s.value(0, 0) {
		return false
	}
	if !s.inside() {
		return false
	}
	s.space()
	return s.i == len(s.b)
}

// A scan goes through a text once.
type scan struct {
	t    *Tree
	b    []byte
	i    int
	at   uint32 // node of the object or array around
	left int    // nodes that may still be made
	deep int
}

func (s *scan) space() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\n' || s.b[s.i] == '\r' || s.b[s.i] == '\t') {
		s.i++
	}
}

// peek is the byte behind white space; 0 at the end, where no text may have one.
func (s *scan) peek() byte {
	if s.i < len(s.b) && s.b[s.i] > ' ' {
		return s.b[s.i]
	}
	s.space()
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

// inside reads what the object or array that was just entered holds, to its end.
func (s *scan) inside() bool {
	for s.deep > 0 {
		parent := &s.t.nodes[s.at]
		object := parent.kind == '{'
		c := s.peek()
		if c == '}' && object || c == ']' && !object {
			if !s.leave() {
				return false
			}
			continue
		}
		if parent.count > 0 {
			if c != ',' {
				return false
			}
			s.i++
			c = s.peek()
		}
		parent.count++
		if !s.part(object, c) {
			return false
		}
	}
	return true
}

// part reads one member or element, or enters it.
func (s *scan) part(object bool, c byte) bool {
	if !object {
		return s.value(0, 0)
	}
	if c != '"' {
		return false
	}
	from := s.i + 1
	esc, ok := s.text()
	if !ok {
		return false
	}
	to := s.i - 1
	if s.peek() != ':' {
		return false
	}
	s.i++
	s.peek()
	n := len(s.t.nodes)
	if !s.value(uint32(from), uint32(to)) {
		return false
	}
	if esc {
		x := &s.t.nodes[n]
		x.nameEsc, x.name = true, s.t.keep(s.b[from-1:to+1])
	}
	return true
}

// leave ends the object or array around.
func (s *scan) leave() bool {
	s.i++
	x := &s.t.nodes[s.at]
	x.end, x.stop = uint32(s.i), uint32(len(s.t.nodes))
	if x.kind == '{' && x.count > 1 && !s.t.loose && s.t.twice(s.at) {
		return false
	}
	s.deep--
	s.at = x.parent
	return true
}

// value reads a scalar, or enters an object or array.
func (s *scan) value(name, nameEnd uint32) bool {
	if s.i >= len(s.b) || s.left <= 0 {
		return false
	}
	s.left--
	n := uint32(len(s.t.nodes))
	s.t.nodes = append(s.t.nodes, node{kind: s.b[s.i], name: name, nameEnd: nameEnd, at: uint32(s.i), parent: s.at, stop: n + 1})
	x := &s.t.nodes[n]
	ok := true
	switch x.kind {
	case '{', '[':
		s.deep++
		s.i++
		s.at = n
		return s.deep <= maxDepth
	case '"':
		x.textEsc, ok = s.text()
	case 't':
		ok = s.word("true")
	case 'f':
		ok = s.word("false")
	case 'n':
		ok = s.word("null")
	default:
		x.kind = '0'
		ok = s.number()
	}
	x.end = uint32(s.i)
	return ok
}

func (s *scan) word(w string) bool {
	if len(s.b)-s.i < len(w) || string(s.b[s.i:s.i+len(w)]) != w {
		return false
	}
	s.i += len(w)
	return true
}

func (s *scan) digits() bool {
	from := s.i
	for s.i < len(s.b) && s.b[s.i]-'0' <= 9 {
		s.i++
	}
	return s.i > from
}

func (s *scan) is(c byte) bool { return s.i < len(s.b) && s.b[s.i] == c }

func (s *scan) number() bool {
	if s.is('-') {
		s.i++
	}
	if s.is('0') {
		s.i++
	} else if !s.digits() {
		return false
	}
	if s.is('.') {
		if s.i++; !s.digits() {
			return false
		}
	}
	if s.is('e') || s.is('E') {
		if s.i++; s.is('+') || s.is('-') {
			s.i++
		}
		return s.digits()
	}
	return true
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special has the high bit of each byte of w set, from the lowest on up to the first
// that is right, that ends the plain part of a string: a quote, a backslash, a
// control character or the beginning of something outside of ASCII.
func special(w uint64) uint64 {
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	return (w | (w-ones*0x20)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & highs
}

// text reads a string; esc tells whether something in it is escaped.
func (s *scan) text() (esc, ok bool) {
	b, i := s.b, s.i+1
	for i < len(b) {
		if i+8 <= len(b) {
			m := special(binary.LittleEndian.Uint64(b[i:]))
			if m == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(m) / 8
		}
		switch c := b[i]; {
		case c == '"':
			s.i = i + 1
			return esc, true
		case c == '\\':
			esc = true
			n := s.escape(b[i:])
			if n == 0 {
				return esc, false
			}
			i += n
		case c < ' ':
			return esc, false
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n == 1 {
				return esc, false
			}
			i += n
		}
	}
	return esc, false
}

// escape is how long what is escaped at the beginning of b is; 0: it is none. Half a
// surrogate pair is none, but where a lenient server would take it.
func (s *scan) escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
	default:
		return 0
	}
	r, ok := hex4(b[2:])
	switch {
	case !ok:
		return 0
	case r < 0xd800 || r > 0xdfff:
		return 6
	case r < 0xdc00 && len(b) >= 12 && b[6] == '\\' && b[7] == 'u':
		if low, ok := hex4(b[8:]); ok && low >= 0xdc00 && low <= 0xdfff {
			return 12
		}
	}
	if s.t.loose {
		return 6
	}
	return 0
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// keep decodes what stands in quotes, and is where in texts that is.
func (t *Tree) keep(quoted []byte) uint32 {
	out, _ := jsontext.AppendUnquote(nil, quoted) // half surrogate pairs come out as U+FFFD
	t.texts = append(t.texts, string(out))
	return uint32(len(t.texts) - 1)
}

// few is up to how many members are compared each with each.
const few = 16

// twice tells whether two members of an object have one name.
func (t *Tree) twice(object uint32) bool {
	x := &t.nodes[object]
	var seen uint64 // a bit for some names each
	meet := false
	for n := object + 1; n < x.stop; n = t.nodes[n].stop {
		name := t.nameOf(n)
		bit := uint64(1) << (hint(name) & 63)
		meet = meet || seen&bit != 0
		seen |= bit
	}
	switch {
	case !meet:
		return false
	case x.count > few:
		return t.twiceInMany(object)
	}
	for n := object + 1; n < x.stop; n = t.nodes[n].stop {
		name := t.nameOf(n)
		for m := t.nodes[n].stop; m < x.stop; m = t.nodes[m].stop {
			if t.nameOf(m) == name {
				return true
			}
		}
	}
	return false
}

// hint differs for most names that differ.
func hint(name string) uint {
	n := uint(len(name))
	if n == 0 {
		return 0
	}
	return n*7 + uint(name[0])*31 + uint(name[n-1])*13 + uint(name[n/2])*5
}

var seed = maphash.MakeSeed()

// twiceInMany looks names up by a hash whose collisions nobody outside can make.
func (t *Tree) twiceInMany(object uint32) bool {
	x := &t.nodes[object]
	size := 1 << bits.Len32(2*x.count)
	if cap(t.table) < size {
		t.table = make([]uint32, size)
	}
	table := t.table[:size]
	clear(table)
	for n := object + 1; n < x.stop; n = t.nodes[n].stop {
		name := t.nameOf(n)
		at := maphash.String(seed, name) & uint64(size-1)
		for ; table[at] != 0; at = (at + 1) & uint64(size-1) {
			if t.nameOf(table[at]) == name {
				return true
			}
		}
		table[at] = n
	}
	return false
}
