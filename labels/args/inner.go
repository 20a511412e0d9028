package args

import (
	"strings"
	"unicode"
)

// maxLevel is how deep documents may stand in strings of documents.
const maxLevel = 4

// What is known of the document in a string: nothing yet, that there is none, or 2 and
// its index in inners.
const (
	unread = iota
	none
	known
)

// Inner is the root of the object or array that a string holds as JSON, perhaps with
// white space or a byte order mark around it, or as JSON text that was quoted once more;
// false where it holds none. As servers take what we would refuse, two members of one
// name are both there, half a surrogate pair is U+FFFD, control characters may stand in
// strings, and NaN, Infinity and -Infinity are numbers, though none that Int64 or
// arithmetic knows. Documents stand at most 4 deep in each other; see Cut.
func (v Value) Inner() (Value, bool) {
	if v.Kind() != '"' {
		return Value{}, false
	}
	switch x := &v.t.doc.Nodes[v.n]; x.Extra {
	case none:
		return Value{}, false
	case unread:
		return v.open()
	default:
		return v.t.inners[x.Extra-known].first()
	}
}

// mayOpen are the bytes that a string with a document in it may begin with, as it is
// written: brackets, white space, what is escaped, and the mark.
var mayOpen = [256]bool{'{': true, '[': true, ' ': true, '\t': true, '\r': true, '\n': true, '\\': true,
	0xc2: true, 0xe1: true, 0xe2: true, 0xe3: true, 0xef: true} // of the white space of Unicode, and of the mark

// open reads the document in a string for the first time.
func (v Value) open() (Value, bool) {
	x := &v.t.doc.Nodes[v.n]
	x.Extra = none
	if x.End-x.At < 4 || !mayOpen[v.t.doc.Raw[x.At+1]] {
		return Value{}, false
	}
	text := trim(v.Text())
	if !framed(text) {
		return Value{}, false
	}
	top := v.t
	for top.up.t != nil {
		top = top.up.t
	}
	if v.t.level == maxLevel {
		top.cut = true
		return Value{}, false
	}
	in := trees.Get().(*Tree)
	in.loose, in.up, in.level = true, v, v.t.level+1
	ok := in.doc.Read([]byte(text), text, top.left, true)
	top.left -= len(in.doc.Nodes)
	if !ok {
		top.cut = top.cut || top.left <= 0
		in.Release()
		return Value{}, false
	}
	if in.doc.Nodes[0].Kind == '"' {
		if _, ok := in.Root().Inner(); !ok { // a word in quotes
			in.Release()
			return Value{}, false
		}
	}
	v.t.inners = append(v.t.inners, in)
	v.t.doc.Nodes[v.n].Extra = uint32(known + len(v.t.inners) - 1)
	return in.first()
}

// first is the object or array of a document: the root, or what stands in the root if
// that is a string.
func (t *Tree) first() (Value, bool) {
	if r := t.Root(); r.Kind() != '"' {
		return r, true
	}
	return t.Root().Inner()
}

func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r == '\ufeff' || unicode.IsSpace(r) })
}

// framed tells whether a text begins and ends as an object, an array or a string does.
func framed(s string) bool {
	if len(s) < 2 {
		return false
	}
	last := s[len(s)-1]
	return s[0] == '{' && last == '}' || s[0] == '[' && last == ']' || s[0] == '"' && last == '"' && len(s) >= 4
}
