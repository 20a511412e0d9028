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
func Members(object jsontext.Value) iter.Seq2[string, jsontext.Value] { panic("to be written") }

// Get is the value at a path of member names; false if there is none.
func Get(object jsontext.Value, path ...string) (jsontext.Value, bool) { panic("to be written") }

// Elements are the elements of an array. Of anything else there are none.
func Elements(array jsontext.Value) iter.Seq[jsontext.Value] { panic("to be written") }

// String is the text of a JSON string; false for any other value.
func String(v jsontext.Value) (string, bool) { panic("to be written") }

// GetString is the text at a path; false if there is none, or no string.
func GetString(object jsontext.Value, path ...string) (string, bool) { panic("to be written") }

// Quote is a text as a JSON string. Invalid UTF-8 becomes U+FFFD.
func Quote(s string) jsontext.Value { panic("to be written") }

// Object makes an object of members. Nil values are left out.
func Object(members ...Member) jsontext.Value { panic("to be written") }

// Array makes an array of values.
func Array(values ...jsontext.Value) jsontext.Value { panic("to be written") }

// Edit sets and drops members of an object: a member of the set replaces the
// value of the one with its name, in its place, or is added at the end; of the
// others, those go for which drop (nil: none) says so. A nil object is an empty
// one. ErrNotObject.
func Edit(object jsontext.Value, set []Member, drop func(name string) bool) (jsontext.Value, error) {
	panic("to be written")
}

// SetMeta is Edit on the object's member _meta, which is made if there is
// something to set and dropped if nothing is left in it and something was
// dropped. ErrNotObject also where _meta is there and no object.
func SetMeta(object jsontext.Value, set []Member, drop func(name string) bool) (jsontext.Value, error) {
	panic("to be written")
}
