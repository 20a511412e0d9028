package args

import (
	"iter"
	"strconv"
	"strings"

	"github.com/pratique-dev/pratique/internal/flat"
)

// A Value is one value in a tree. The zero value is no value: it has no kind, no
// name, no text and no parts.
type Value struct {
	t *Tree
	n uint32
}

// Kind is '{', '[', '"', '0' for numbers, 't', 'f' or 'n'; 0 of no value.
func (v Value) Kind() byte {
	if v.t == nil {
		return 0
	}
	return v.t.doc.Nodes[v.n].Kind
}

// Name is the decoded name of a member; empty of elements and roots.
func (v Value) Name() string {
	if v.t == nil {
		return ""
	}
	return v.t.doc.NameOf(v.n)
}

// Key is the name of the member that the value is, or is an element of, at whatever
// depth of arrays and of documents inside of strings; empty of the root of all.
func (v Value) Key() string {
	for v.t != nil {
		p := v.Parent()
		if p.Kind() == '{' {
			return v.Name()
		}
		v = p
	}
	return ""
}

// Text is a string, decoded; empty of other values. It costs no memory where nothing
// is escaped.
func (v Value) Text() string {
	if v.Kind() != '"' {
		return ""
	}
	return v.t.doc.TextOf(v.n)
}

// Written is a string as it stands between its quotes, escapes and all; empty of other
// values.
func (v Value) Written() string {
	if v.Kind() != '"' {
		return ""
	}
	x := &v.t.doc.Nodes[v.n]
	return v.t.doc.Src[x.At+1 : x.End-1]
}

// Marked tells of a string whether it may have one of / \ ~ : % or something outside of
// ASCII; if not, it has none.
func (v Value) Marked() bool { return v.t != nil && v.t.doc.Nodes[v.n].Marks&flat.MarkText != 0 }

// NameMarked is Marked of the name of a member.
func (v Value) NameMarked() bool { return v.t != nil && v.t.doc.Nodes[v.n].Marks&flat.MarkName != 0 }

// Number are the digits of a number as they stand; nil of other values.
func (v Value) Number() []byte {
	if v.Kind() != '0' {
		return nil
	}
	return v.Raw()
}

// Int64 is a number that is written as an integer of that range: digits, perhaps
// behind a minus sign.
func (v Value) Int64() (int64, bool) {
	if v.Kind() != '0' {
		return 0, false
	}
	x := &v.t.doc.Nodes[v.n]
	n, err := strconv.ParseInt(v.t.doc.Src[x.At:x.End], 10, 64)
	return n, err == nil
}

// Len is the number of members or elements; 0 of other values.
func (v Value) Len() int {
	if v.t == nil {
		return 0
	}
	return int(v.t.doc.Nodes[v.n].Count)
}

// Get is the member of exactly that name. In a document inside of a string there may
// be two of one name, of which Get gives none. It looks at each member.
func (v Value) Get(name string) (found Value, ok bool) {
	if v.Kind() != '{' {
		return Value{}, false
	}
	for n, stop := v.n+1, v.t.doc.Nodes[v.n].Stop; n < stop; n = v.t.doc.Nodes[n].Stop {
		if v.t.doc.NameOf(n) != name {
			continue
		}
		if !v.t.loose {
			return Value{v.t, n}, true
		}
		if ok {
			return Value{}, false
		}
		found, ok = Value{v.t, n}, true
	}
	return found, ok
}

// At is the member or element at a place, from 0; no value beyond the last. It goes
// through those before it.
func (v Value) At(i int) Value {
	if i < 0 || i >= v.Len() {
		return Value{}
	}
	x := v.First()
	for ; i > 0; i-- {
		x = x.Next()
	}
	return x
}

// First is the first member or element; no value where there is none.
func (v Value) First() Value {
	if v.Len() == 0 {
		return Value{}
	}
	return Value{v.t, v.n + 1}
}

// Next is the member or element behind this one; no value behind the last.
func (v Value) Next() Value {
	if v.t == nil {
		return Value{}
	}
	x := &v.t.doc.Nodes[v.n]
	if x.Stop >= v.t.doc.Nodes[x.Parent].Stop {
		return Value{}
	}
	return Value{v.t, x.Stop}
}

// All are the members or elements, with their names.
func (v Value) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for x := v.First(); x.t != nil; x = x.Next() {
			if !yield(x.Name(), x) {
				return
			}
		}
	}
}

// Parent is the object or array around the value; of the root of a document inside of
// a string that string; of the root of all no value.
func (v Value) Parent() Value {
	switch {
	case v.t == nil:
		return Value{}
	case v.n == 0:
		return v.t.up
	}
	return Value{v.t, v.t.doc.Nodes[v.n].Parent}
}

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// Pointer is the JSON Pointer of the value. Below a document inside of a string it
// goes on behind a "!": /options!/commit/branch. See Under.
func (v Value) Pointer() string {
	var steps []string // innermost first
	for v.t != nil {
		switch p := v.Parent(); p.Kind() {
		case '{':
			if p.t.under != nil && p.n == 0 {
				steps = append(steps, p.t.under(v.Name()))
			} else {
				steps = append(steps, "/"+escaper.Replace(v.Name()))
			}
		case '[':
			i := 0
			for x := p.First(); x.n != v.n; x = x.Next() {
				i++
			}
			steps = append(steps, "/"+strconv.Itoa(i))
		case '"':
			steps = append(steps, "!")
		}
		v = v.Parent()
	}
	var b strings.Builder
	for i := len(steps) - 1; i >= 0; i-- {
		b.WriteString(steps[i])
	}
	return b.String()
}

// Raw is the text of the value as it stands in its document; nil of no value.
func (v Value) Raw() []byte {
	if v.t == nil {
		return nil
	}
	x := &v.t.doc.Nodes[v.n]
	return v.t.doc.Raw[x.At:x.End:x.End]
}

// Offset is where the value begins in the text of its document, in bytes; 0 of no value.
func (v Value) Offset() int {
	if v.t == nil {
		return 0
	}
	return int(v.t.doc.Nodes[v.n].At)
}

// Visit calls f with the value and every value below it in the same document, parents
// first, until f is false.
func (v Value) Visit(f func(Value) bool) {
	if v.t == nil {
		return
	}
	for n, stop := v.n, v.t.doc.Nodes[v.n].Stop; n < stop && f(Value{v.t, n}); n++ {
	}
}

// Walk calls f with the value and every value below it, documents inside of strings
// included, parents first, until f is false. It is false if f was.
func (v Value) Walk(f func(Value) bool) bool {
	if v.t == nil {
		return true
	}
	for n, stop := v.n, v.t.doc.Nodes[v.n].Stop; n < stop; n++ {
		x := Value{v.t, n}
		if !f(x) {
			return false
		}
		if in, ok := x.Inner(); ok && !in.Walk(f) {
			return false
		}
	}
	return true
}
