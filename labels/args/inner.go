package args

import "strings"

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
// white space or a byte order mark around it; false where it holds none. As servers
// take what we would refuse, two members of one name are both there, and half a
// surrogate pair is U+FFFD. Documents stand at most 4 deep in each other; see Cut.
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
		return v.t.inners[x.Extra-known].Root(), true
	}
}

// mayOpen are the bytes that a string with a document in it may begin with, as it is
// written: brackets, white space, what is escaped, and the mark.
var mayOpen = [256]bool{'{': true, '[': true, ' ': true, '\t': true, '\r': true, '\n': true, '\\': true, 0xef: true}

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
	v.t.inners = append(v.t.inners, in)
	v.t.doc.Nodes[v.n].Extra = uint32(known + len(v.t.inners) - 1)
	return in.Root(), true
}

func trim(s string) string {
	return strings.Trim(strings.TrimPrefix(strings.TrimLeft(s, " \t\r\n"), "\ufeff"), " \t\r\n")
}

// framed tells whether a text begins and ends as an object or array does.
func framed(s string) bool {
	if len(s) < 2 {
		return false
	}
	return s[0] == '{' && s[len(s)-1] == '}' || s[0] == '[' && s[len(s)-1] == ']'
}
