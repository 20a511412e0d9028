// Package flat reads JSON once, strictly and within bounds, into one array of nodes.
// Nothing is decoded before somebody asks for it, numbers keep their digits, and no
// memory is taken for a single value.
package flat

// Bounds of one reading. What is beyond them is refused, not read in part.
const (
	maxSize  = 1 << 28
	MaxDepth = 128     // of objects and arrays in each other
	MaxNodes = 1 << 18 // values
)

// A Node is one value. Those below it follow it at once, in the order of the text.
type Node struct {
	Kind    byte   // '{', '[', '"', '0', 't', 'f' or 'n'
	NameEsc bool   // the name is Texts[Name]
	TextEsc bool   // the string has to be decoded
	Marks   uint8  // MarkName, MarkText: the name or string, decoded, may be of one of the Classes; else it is of none
	Name    uint32 // where the name begins, behind its quote
	NameEnd uint32
	At, End uint32 // of the value, quotes and brackets included
	Parent  uint32 // of the root 0
	Stop    uint32 // the first node that is neither this one nor below it
	Count   uint32 // of members or elements
	Text    uint32 // of a string: 1 + index into Texts, once it is decoded
	Extra   uint32 // of whoever holds the document; 0 at first
}

// What is marked of a node.
const (
	MarkName = 1 << iota
	MarkText
)

// A Doc is one text that was read. The zero value reads nothing yet.
type Doc struct {
	Raw   []byte
	Src   string // the same, for NameOf and TextOf; empty: nobody asks for those
	Nodes []Node
	Texts []string // what had to be decoded
	Near  bool     // two names in one object may differ in case only; else none do
	Deep  int      // how many objects and arrays stand in each other

	loose bool
	table []uint32 // of twiceInMany
	buf   []byte   // of keep
}

// Read reads the one value in raw, into the memory of what was read before. It is the
// strict reader: what it lets through is what jsontext does, within bounds and with at
// most so many nodes. A loose reading lets pass what servers take all the same: two
// members of one name, half surrogate pairs, control characters in strings, and NaN,
// Infinity and -Infinity as numbers. src is raw as a string, or empty. False leaves nothing that may be used.
func (d *Doc) Read(raw []byte, src string, nodes int, loose bool) bool {
	end := d.first(raw, nodes, loose)
	d.Src = src
	s := scan{b: raw, i: end}
	s.space()
	return end > 0 && s.i == len(raw)
}

// ReadFirst is Read of the value that raw begins with, strictly; end is how long it is,
// 0 where it is none. Src is made of it.
func (d *Doc) ReadFirst(raw []byte, nodes int) (end int) {
	if end = d.first(raw, nodes, false); end > 0 {
		d.Raw = raw[:end:end]
		d.Src = string(d.Raw)
	}
	return end
}

// first is the index behind the first value; 0: there is none.
func (d *Doc) first(raw []byte, nodes int, loose bool) int {
	d.Raw, d.Nodes, d.Texts, d.Near, d.loose = raw, d.Nodes[:0], d.Texts[:0], false, loose
	if len(raw) > maxSize {
		return 0
	}
	s := scan{t: d, b: raw, nodes: d.Nodes, left: nodes}
	s.space()
	ok := s.value(0, 0) && s.inside()
	d.Nodes, d.Deep = s.nodes, s.deepest
	if !ok {
		return 0
	}
	return s.i
}

// Reset forgets the text, and keeps the memory where it is not too much.
func (d *Doc) Reset(most int) {
	clear(d.Texts[:cap(d.Texts)])
	kept := Doc{Nodes: d.Nodes[:0], Texts: d.Texts[:0], table: d.table[:0], buf: d.buf[:0]}
	if cap(kept.Nodes) > most || cap(kept.Texts) > most || cap(kept.table) > most || cap(kept.buf) > 16*most {
		kept = Doc{}
	}
	*d = kept
}

// NameOf is the decoded name of a node; of elements and the root empty.
func (d *Doc) NameOf(n uint32) string {
	x := &d.Nodes[n]
	if x.NameEsc {
		return d.Texts[x.Name]
	}
	return d.Src[x.Name:x.NameEnd]
}

// TextOf is a string, decoded; what is decoded is kept.
func (d *Doc) TextOf(n uint32) string {
	x := &d.Nodes[n]
	if !x.TextEsc {
		return d.Src[x.At+1 : x.End-1]
	}
	if x.Text == 0 {
		x.Text = 1 + d.keep(d.Raw[x.At:x.End])
	}
	return d.Texts[x.Text-1]
}

// A scan goes through a text once.
type scan struct {
	t    *Doc
	b    []byte
	i    int
	at   uint32 // node of the object or array around
	left int    // nodes that may still be made
	deep int

	nodes   []Node
	deepest int
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
		parent := &s.nodes[s.at]
		object := parent.Kind == '{'
		c := s.peek()
		if c == '}' && object || c == ']' && !object {
			if !s.leave() {
				return false
			}
			continue
		}
		if parent.Count > 0 {
			if c != ',' {
				return false
			}
			s.i++
			c = s.peek()
		}
		parent.Count++
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
	esc, mark, ok := s.text()
	if !ok {
		return false
	}
	to := s.i - 1
	if s.peek() != ':' {
		return false
	}
	s.i++
	s.peek()
	n := len(s.nodes)
	if !s.value(uint32(from), uint32(to)) {
		return false
	}
	if mark {
		s.nodes[n].Marks |= MarkName
	}
	if esc {
		x := &s.nodes[n]
		x.NameEsc, x.Name = true, s.t.keep(s.b[from-1:to+1])
	}
	return true
}

// leave ends the object or array around.
func (s *scan) leave() bool {
	s.i++
	x := &s.nodes[s.at]
	x.End, x.Stop = uint32(s.i), uint32(len(s.nodes))
	if x.Kind == '{' && x.Count > 1 && !s.t.loose {
		if s.t.Nodes = s.nodes; s.t.twice(s.at) {
			return false
		}
	}
	s.deep--
	s.at = x.Parent
	return true
}

// value reads a scalar, or enters an object or array.
func (s *scan) value(name, nameEnd uint32) bool {
	if s.i >= len(s.b) || s.left <= 0 {
		return false
	}
	s.left--
	n := uint32(len(s.nodes))
	s.nodes = append(s.nodes, Node{Kind: s.b[s.i], Name: name, NameEnd: nameEnd, At: uint32(s.i), Parent: s.at, Stop: n + 1})
	x := &s.nodes[n]
	ok := true
	switch x.Kind {
	case '{', '[':
		s.deep++
		s.deepest = max(s.deepest, s.deep)
		s.i++
		s.at = n
		return s.deep <= MaxDepth
	case '"':
		var mark bool
		if x.TextEsc, mark, ok = s.text(); mark {
			x.Marks = MarkText
		}
	case 't':
		ok = s.word("true")
	case 'f':
		ok = s.word("false")
	case 'n':
		ok = s.word("null")
	default:
		x.Kind = '0'
		ok = s.t.loose && s.noNumber() || s.number()
	}
	x.End = uint32(s.i)
	return ok
}

// noNumber reads what Python and its like write for numbers that JSON does not have.
func (s *scan) noNumber() bool {
	return s.word("NaN") || s.word("Infinity") || s.word("-Infinity")
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
