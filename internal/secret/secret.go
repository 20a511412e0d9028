// Package secret holds values that never print.
//
// A Value shows as "[secret]" through fmt, slog and errors, refuses to be
// marshalled, and cannot be compared with ==. The bytes stay behind a function,
// so that printing a struct with an unexported Value in it shows an address:
// there fmt calls no method of ours, and it follows pointers when the verb does
// not fit. It is a guard against accidents, not
// against code that wants the bytes: Reveal gives them and is easy to grep for.
package secret

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// Hidden is what a secret prints as.
const Hidden = "[secret]"

// ErrMarshal refuses to write a secret into any document.
var ErrMarshal = errors.New("a secret cannot be marshalled")

// A Value is a secret. The zero value is no secret and equals nothing.
type Value struct {
	get func(wipe bool) []byte // also makes Value incomparable
}

// New takes over b: the caller must not use it afterwards.
func New(b []byte) Value {
	return Value{get: func(wipe bool) []byte {
		if wipe {
			clear(b)
			b = nil
		}
		return b
	}}
}

// FromString copies s. The string itself stays in memory until collected, so
// prefer New for what was read from a file or descriptor.
func FromString(s string) Value { return New([]byte(s)) }

// Reveal is the secret itself, not a copy; nil for no secret.
func (v Value) Reveal() []byte {
	if v.get == nil {
		return nil
	}
	return v.get(false)
}

// IsZero reports whether there is no secret, or an empty or wiped one.
func (v Value) IsZero() bool { return len(v.Reveal()) == 0 }

// Equal compares in constant time for equal lengths; no secret equals none.
func (v Value) Equal(b []byte) bool {
	return !v.IsZero() && subtle.ConstantTimeCompare(v.Reveal(), b) == 1
}

// Wipe overwrites the secret in all copies of v, which are none afterwards. It
// must not run while another goroutine uses one.
func (v Value) Wipe() {
	if v.get != nil {
		v.get(true)
	}
}

// Format implements fmt.Formatter for every verb.
func (Value) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Hidden) }

// String implements fmt.Stringer.
func (Value) String() string { return Hidden }

// GoString implements fmt.GoStringer.
func (Value) GoString() string { return Hidden }

// LogValue implements slog.LogValuer.
func (Value) LogValue() slog.Value { return slog.StringValue(Hidden) }

// MarshalText implements encoding.TextMarshaler and always refuses.
func (Value) MarshalText() ([]byte, error) { return nil, ErrMarshal }

// MarshalJSON implements json.Marshaler and always refuses.
func (Value) MarshalJSON() ([]byte, error) { return nil, ErrMarshal }

// MarshalBinary implements encoding.BinaryMarshaler and always refuses.
func (Value) MarshalBinary() ([]byte, error) { return nil, ErrMarshal }
