package mcp

import (
	"errors"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
)

// ErrNotObject says that a value to read or splice is no JSON object.
var ErrNotObject = errors.New("mcp: not a JSON object")

// The functions below take values that a strict decode let through (those of a
// Frame), and answer nonsense, but never panic, on others. They copy what they
// change: the bytes of all other members, space between them included, stay as
// they are.

// Members are the members of an object in their order, names unescaped. Of
// anything but an object there are none.
func Members(object jsontext.Value) iter.Seq2[string, jsontext.Value] {
	return func(yield func(string, jsontext.Value) bool) {
		w, ok := walk(object)
		if !ok || !w.object {
			return
		}
		for {
			s, ok := w.next()
			if !ok || !yield(w.name(s), object[s.value:s.valueEnd:s.valueEnd]) {
				return
			}
		}
	}
}

// Get is the value at a path of member names; false if there is none.
func Get(object jsontext.Value, path ...string) (jsontext.Value, bool) {
	for _, name := range path {
		v, ok := get(object, name)
		if !ok {
			return nil, false
		}
		object = v
	}
	return object, object != nil
}

func get(object jsontext.Value, name string) (jsontext.Value, bool) {
	w, ok := walk(object)
	if !ok || !w.object {
		return nil, false
	}
	for {
		s, ok := w.next()
		if !ok {
			return nil, false
		}
		if w.is(s, name) {
			return object[s.value:s.valueEnd:s.valueEnd], true
		}
	}
}

// Elements are the elements of an array. Of anything else there are none.
func Elements(array jsontext.Value) iter.Seq[jsontext.Value] {
	return func(yield func(jsontext.Value) bool) {
		w, ok := walk(array)
		if !ok || w.object {
			return
		}
		for {
			s, ok := w.next()
			if !ok || !yield(array[s.value:s.valueEnd:s.valueEnd]) {
				return
			}
		}
	}
}

// String is the text of a JSON string; false for any other value.
func String(v jsontext.Value) (string, bool) {
	if len(v) < 2 || v[0] != '"' {
		return "", false
	}
	return unquote(v), true
}

// GetString is the text at a path; false if there is none, or no string.
func GetString(object jsontext.Value, path ...string) (string, bool) {
	v, _ := Get(object, path...)
	return String(v)
}

// Quote is a text as a JSON string. Invalid UTF-8 becomes U+FFFD.
func Quote(s string) jsontext.Value { return appendQuote(nil, s) }

func appendQuote(dst []byte, s string) []byte {
	out, _ := jsontext.AppendQuote(dst, s) // its error only says that U+FFFD stands for something
	return out
}

// Object makes an object of members. Nil values are left out.
func Object(members ...Member) jsontext.Value {
	out := []byte{'{'}
	for _, m := range members {
		if m.Value == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = appendMember(out, m)
	}
	return append(out, '}')
}

func appendMember(dst []byte, m Member) []byte {
	dst = append(appendQuote(dst, m.Name), ':')
	return append(dst, m.Value...)
}

// Array makes an array of values.
func Array(values ...jsontext.Value) jsontext.Value {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// Edit sets and drops members of an object: a member of the set replaces the
// value of the one with its name, in its place, or is added at the end; of the
// others, those go for which drop (nil: none) says so. A nil object is an empty
// one. ErrNotObject.
func Edit(object jsontext.Value, set []Member, drop func(name string) bool) (jsontext.Value, error) {
	if object == nil {
		return Object(set...), nil
	}
	w, ok := walk(object)
	if !ok || !w.object {
		return nil, ErrNotObject
	}
	size := len(object) + 1
	for _, m := range set {
		size += len(m.Name) + len(m.Value) + 4
	}
	out := append(make([]byte, 0, size), '{')
	placed := make([]bool, len(set)) // what stood in the object
	f := newFinder(set)
	for {
		s, ok := w.next()
		if !ok {
			break
		}
		name := w.name(s)
		i := f.index(name)
		if i < 0 && drop != nil && drop(name) {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		if i < 0 {
			out = append(out, object[s.from:s.to]...)
			continue
		}
		placed[i] = true
		out = append(out, object[s.from:s.value]...)
		out = append(out, set[i].Value...)
		out = append(out, object[s.valueEnd:s.to]...)
	}
	for i, m := range set {
		if placed[i] {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = appendMember(out, m)
	}
	return append(out, '}'), nil
}

// A finder finds members of a set by name: many of them without a search through
// all, since both sets and objects are as long as an upstream makes them.
type finder struct {
	set []Member
	by  map[string]int // nil: the set is small
}

const fewMembers = 8

func newFinder(set []Member) finder {
	f := finder{set: set}
	if len(set) <= fewMembers {
		return f
	}
	f.by = make(map[string]int, len(set))
	for i, m := range set {
		if _, ok := f.by[m.Name]; !ok { // the first of a name
			f.by[m.Name] = i
		}
	}
	return f
}

func (f *finder) index(name string) int {
	if f.by != nil {
		if i, ok := f.by[name]; ok {
			return i
		}
		return -1
	}
	for i, m := range f.set {
		if m.Name == name {
			return i
		}
	}
	return -1
}

// SetMeta is Edit on the object's member _meta, which is made if there is
// something to set, and dropped if it is left empty by what was dropped. Where
// nothing is to be done, the object itself comes back. ErrNotObject also where _meta is there and no object.
func SetMeta(object jsontext.Value, set []Member, drop func(name string) bool) (jsontext.Value, error) {
	meta, ok := Get(object, "_meta")
	if ok && meta.Kind() == 'n' {
		meta, ok = nil, false
	}
	if !ok && len(set) == 0 {
		if object != nil && object.Kind() != '{' {
			return nil, ErrNotObject
		}
		return object, nil
	}
	edited, err := Edit(meta, set, drop)
	if err != nil {
		return nil, err
	}
	if isEmpty(edited) && !isEmpty(meta) {
		return Edit(object, nil, func(name string) bool { return name == "_meta" })
	}
	return Edit(object, []Member{{"_meta", edited}}, nil)
}

func isEmpty(object jsontext.Value) bool {
	w, ok := walk(object)
	if !ok {
		return object == nil
	}
	_, some := w.next()
	return !some
}
