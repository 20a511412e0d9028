// Package args reads the arguments of a call once, into a flat tree that guards and
// conditions look at. Nothing is decoded before somebody asks for it, numbers keep
// their digits, and the JSON that stands inside of a string is a document of its own
// for whoever looks below it.
package args

import "errors"

// ErrArgs says that a text is not the arguments of a call: not an object, not strict
// JSON, or over a bound.
var ErrArgs = errors.New("args: not an object of strict JSON within bounds")

// A Tree is one reading of a call's arguments. It is not changed once it is read, and
// may be shared.
type Tree struct{}

// A Value is one value in a tree. The zero value is no value.
type Value struct{}
