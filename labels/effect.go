package labels

import (
	"errors"
	"strings"
)

// ErrEffect says that a text names no effect.
var ErrEffect = errors.New("effect is not one of read, write, egress, execute, destructive, unclassified")

// An Effect is what a call does, by our own classification: a set. A tool's
// annotations are claims and never make it smaller. The zero value is
// unclassified, which counts as every effect at once (RULES.md 3).
type Effect uint8

// The effects. A call is consequential unless it is known to be a read.
const (
	Unclassified Effect = 0
	Read         Effect = 1 << iota >> 1
	Write
	Egress
	Execute
	Destructive
)

// AllEffects is what an unclassified effect counts as.
const AllEffects = Read | Write | Egress | Execute | Destructive

var effectNames = []string{"read", "write", "egress", "execute", "destructive"}

// Counts is the set that a decision is made on: an unclassified effect counts
// as all.
func (e Effect) Counts() Effect {
	if e == Unclassified {
		return AllEffects
	}
	return e
}

// Consequential tells whether a call with the effect needs its entry durable
// before it is forwarded: whatever is not known to be nothing but a read.
func (e Effect) Consequential() bool { return e != Read }

// Has tells whether the effect counts as one of those in x.
func (e Effect) Has(x Effect) bool { return e.Counts()&x != 0 }

// String is the text form: names joined by "+", in the order of the constants.
func (e Effect) String() string {
	if e == Unclassified {
		return "unclassified"
	}
	var names []string
	for i, n := range effectNames {
		if e&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return strings.Join(names, "+")
}

// ParseEffect reads the text form.
func ParseEffect(s string) (Effect, error) {
	if s == "unclassified" {
		return Unclassified, nil
	}
	var e Effect
	for part := range strings.SplitSeq(s, "+") {
		bit := Unclassified
		for i, n := range effectNames {
			if n == part {
				bit = 1 << i
			}
		}
		if bit == Unclassified || e&bit != 0 {
			return Unclassified, ErrEffect
		}
		e |= bit
	}
	return e, nil
}

// MarshalText implements encoding.TextMarshaler.
func (e Effect) MarshalText() ([]byte, error) {
	if e&^AllEffects != 0 {
		return nil, ErrEffect
	}
	return []byte(e.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (e *Effect) UnmarshalText(b []byte) (err error) {
	*e, err = ParseEffect(string(b))
	return err
}
