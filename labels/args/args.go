// Package args reads the arguments of a call once, into a flat tree that guards and
// conditions look at. Nothing is decoded before somebody asks for it, numbers keep
// their digits, and the JSON that stands inside of a string is a document of its own
// for whoever looks below it.
//
// A Tree belongs to one decision: what is decoded on the way is kept in it, so it is
// not for concurrent use.
package args

import (
	"errors"
	"iter"
)

// ErrArgs says that a text is not the arguments of a call: not an object, not strict
// JSON, or over a bound.
var ErrArgs = errors.New("args: not an object of strict JSON within bounds")

// A Tree is one reading of a call's arguments. It does not change; it is not for
// concurrent use.
type Tree struct{}

// A Value is one value in a tree. The zero value is no value: it has no kind, no
// name, no text and no parts.
type Value struct{}

// Parse reads an object of strict JSON: names that stand twice in one object, broken
// UTF-8 and anything behind the object are refused. raw must not be changed as long as
// Raw is used. The error is ErrArgs.
func Parse(raw []byte) (*Tree, error) { return nil, ErrArgs }

// Release gives the memory of the tree back. Neither the tree nor a Value of it may
// be used after; strings that came from them may.
func (t *Tree) Release() {}

// Root is the object of the arguments; of a nil tree no value.
func (t *Tree) Root() Value { return Value{} }

// Raw are the bytes that were read.
func (t *Tree) Raw() []byte { return nil }

// Cut tells whether a document inside of a string was left unread so far because it
// is nested too deeply or too large together with the others. Whoever refuses by what
// stands below has to refuse then.
func (t *Tree) Cut() bool { return false }

// Kind is '{', '[', '"', '0' for numbers, 't', 'f' or 'n'; 0 of no value.
func (v Value) Kind() byte { return 0 }

// Name is the decoded name of a member; empty of elements and roots.
func (v Value) Name() string { return "" }

// Key is the name of the member that the value is, or is an element of, at whatever
// depth of arrays and of documents inside of strings; empty of a root.
func (v Value) Key() string { return "" }

// Text is a string, decoded; empty of other values. It costs no memory where nothing
// is escaped.
func (v Value) Text() string { return "" }

// Number are the digits of a number as they stand; nil of other values.
func (v Value) Number() []byte { return nil }

// Int64 is a number that is written as an integer of that range: digits, perhaps
// behind a minus sign.
func (v Value) Int64() (int64, bool) { return 0, false }

// Len is the number of members or elements; 0 of other values.
func (v Value) Len() int { return 0 }

// Get is the member of exactly that name. In a document inside of a string there may
// be two of one name, of which Get gives none.
func (v Value) Get(name string) (Value, bool) { return Value{}, false }

// At is the member or element at a place, from 0; no value beyond the last.
func (v Value) At(i int) Value { return Value{} }

// First is the first member or element; no value where there is none.
func (v Value) First() Value { return Value{} }

// Next is the member or element behind this one; no value behind the last.
func (v Value) Next() Value { return Value{} }

// All are the members or elements, with their names.
func (v Value) All() iter.Seq2[string, Value] {
	return func(func(string, Value) bool) {}
}

// Parent is the object or array around the value; of the root of a document inside of
// a string that string; of the root of all no value.
func (v Value) Parent() Value { return Value{} }

// Pointer is the JSON Pointer of the value. Below a document inside of a string it
// goes on behind a "!": /options!/commit/branch.
func (v Value) Pointer() string { return "" }

// Raw is the text of the value as it stands in its document.
func (v Value) Raw() []byte { return nil }

// Inner is the root of the object or array that a string holds as JSON, perhaps with
// white space or a byte order mark around it; false where it holds none. As servers
// take what we would refuse, two members of one name are both there, and half a
// surrogate pair is U+FFFD.
func (v Value) Inner() (Value, bool) { return Value{}, false }

// Walk calls f with the value and every value below it, documents inside of strings
// included, parents first, until f is false. It is false if f was.
func (v Value) Walk(f func(Value) bool) bool { return true }
