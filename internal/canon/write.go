package canon

import (
	"bytes"
	"slices"
)

// A writer reads in once, from left to right, and appends the canonical form to
// out. Members of an object are put in order when the object closes.
type writer struct {
	in  []byte
	pos int
	lim Limits
	out []byte

	depth   int
	members []member // of all open objects, innermost last
	names   []byte   // their names, unescaped
	scratch []byte   // for reordering one object
}

// A member is one member of an open object: where its canonical text
// ("name":value, without comma) lies in out, and where its name lies in names.
// It holds no pointers, so that sorting is cheap.
type member struct {
	start, end         uint32
	nameStart, nameEnd uint32
}

func (w *writer) name(m member) []byte { return w.names[m.nameStart:m.nameEnd] }

func (w *writer) document() error {
	if bytes.HasPrefix(w.in, []byte("\xef\xbb\xbf")) || bytes.HasPrefix(w.in, []byte("\xff\xfe")) ||
		bytes.HasPrefix(w.in, []byte("\xfe\xff")) {
		return ErrBOM
	}
	w.space()
	if w.pos == len(w.in) {
		return ErrEmpty
	}
	if err := w.value(); err != nil {
		return err
	}
	w.space()
	if w.pos == len(w.in) {
		return nil
	}
	if w.in[w.pos] == 0 {
		return ErrNUL
	}
	return ErrTrailing
}

func (w *writer) space() {
	for w.pos < len(w.in) {
		switch w.in[w.pos] {
		case ' ', '\t', '\n', '\r':
			w.pos++
		default:
			return
		}
	}
}

// next skips space and returns the byte there without taking it; 0 at the end.
func (w *writer) next() byte {
	w.space()
	if w.pos == len(w.in) {
		return 0
	}
	return w.in[w.pos]
}

func (w *writer) value() error {
	switch c := w.next(); {
	case c == '{':
		return w.object()
	case c == '[':
		return w.array()
	case c == '"':
		_, err := w.str(false)
		return err
	case c == '-' || '0' <= c && c <= '9':
		return w.number()
	case c == 't':
		return w.literal("true")
	case c == 'f':
		return w.literal("false")
	case c == 'n' && w.lim.NoNull:
		return ErrNull
	case c == 'n':
		return w.literal("null")
	case c == 0 && w.pos < len(w.in):
		return ErrNUL
	case c == 0xef && bytes.HasPrefix(w.in[w.pos:], []byte("\xef\xbb\xbf")):
		return ErrBOM
	}
	return ErrSyntax
}

func (w *writer) literal(s string) error {
	if !bytes.HasPrefix(w.in[w.pos:], []byte(s)) {
		return ErrSyntax
	}
	w.pos += len(s)
	w.out = append(w.out, s...)
	return nil
}

// open enters an array or object, whose first byte it takes.
func (w *writer) open() error {
	if w.depth++; w.depth > w.lim.Depth {
		return ErrDepth
	}
	w.out = append(w.out, w.in[w.pos])
	w.pos++
	return nil
}

// more reports, after an element, whether another follows; it takes the comma
// or the closing byte.
func (w *writer) more(closer byte) (bool, error) {
	switch w.next() {
	case ',':
		w.pos++
		return true, nil
	case closer:
		w.pos++
		w.depth--
		w.out = append(w.out, closer)
		return false, nil
	}
	return false, ErrSyntax
}

func (w *writer) array() error {
	if err := w.open(); err != nil {
		return err
	}
	if w.next() == ']' {
		_, err := w.more(']')
		return err
	}
	for {
		if err := w.value(); err != nil {
			return err
		}
		again, err := w.more(']')
		if err != nil || !again {
			return err
		}
		w.out = append(w.out, ',')
	}
}

func (w *writer) object() error {
	if err := w.open(); err != nil {
		return err
	}
	if w.next() == '}' {
		_, err := w.more('}')
		return err
	}
	first, firstName := len(w.members), len(w.names)
	for {
		if err := w.member(); err != nil {
			return err
		}
		if w.next() == ',' {
			w.pos++
			w.out = append(w.out, ',')
			continue
		}
		if err := w.order(first); err != nil {
			return err
		}
		w.names = w.names[:firstName]
		w.members = w.members[:first]
		_, err := w.more('}')
		return err
	}
}

func (w *writer) member() error {
	if w.next() != '"' {
		return ErrSyntax
	}
	m := member{start: uint32(len(w.out)), nameStart: uint32(len(w.names))}
	name, err := w.str(true)
	if err != nil {
		return err
	}
	w.names = append(w.names, name...)
	m.nameEnd = uint32(len(w.names))
	if w.next() != ':' {
		return ErrSyntax
	}
	w.pos++
	w.out = append(w.out, ':')
	if err := w.value(); err != nil {
		return err
	}
	m.end = uint32(len(w.out))
	w.members = append(w.members, m)
	return nil
}

// order sorts the members from first on, which are the tail of out, by the
// UTF-16 code units of their names (RFC 8785 section 3.2.3).
func (w *writer) order(first int) error {
	ms := w.members[first:]
	sorted := true
	for i := 1; i < len(ms); i++ {
		switch c := compareUTF16(w.name(ms[i-1]), w.name(ms[i])); {
		case c == 0:
			return ErrDuplicate
		case c > 0:
			sorted = false
		}
	}
	if sorted {
		return nil
	}
	base := ms[0].start
	slices.SortFunc(ms, func(a, b member) int { return compareUTF16(w.name(a), w.name(b)) })
	w.scratch = w.scratch[:0]
	for i, m := range ms {
		if i > 0 {
			if bytes.Equal(w.name(ms[i-1]), w.name(m)) {
				return ErrDuplicate
			}
			w.scratch = append(w.scratch, ',')
		}
		w.scratch = append(w.scratch, w.out[m.start:m.end]...)
	}
	w.out = append(w.out[:base], w.scratch...)
	return nil
}

// compareUTF16 compares two valid UTF-8 texts by their UTF-16 code units. That
// is the order of bytes, except that characters beyond the basic plane (first
// byte 0xF0 and up; their units start at 0xD800) come before U+E000 to U+FFFF
// (first byte 0xEE or 0xEF).
func compareUTF16(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		if (x >= 0xf0) != (y >= 0xf0) && x >= 0xee && y >= 0xee {
			return int(y) - int(x)
		}
		return int(x) - int(y)
	}
	return len(a) - len(b)
}
