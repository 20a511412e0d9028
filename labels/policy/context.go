package policy

import "errors"

// A Context is what a run has read so far, in one word: the join of all of it
// (DESIGN.md §11). The zero value is worst, and a larger one never permits less.
type Context uint8

// The contexts. What an agent reads is untrusted whatever tool it came from
// (RULES.md 2); what is shown of cleared items is not part of it.
const (
	Worst     Context = iota // it holds a result that was withdrawn, or its record may be incomplete (RULES.md 1, 9)
	Untrusted                // results of other origins than the call's own
	Own                      // results of the call's own origin alone
	Clean                    // no result at all
)

var contextNames = [...]string{"worst", "untrusted", "own", "clean"}

// String is the text form; that of an unknown value is "worst".
func (c Context) String() string {
	if int(c) < len(contextNames) {
		return contextNames[c]
	}
	return contextNames[Worst]
}

// ErrContext says that a text names no context.
var ErrContext = errors.New("context is not one of worst, untrusted, own, clean")

// ParseContext reads the text form.
func ParseContext(s string) (Context, error) {
	for i, n := range contextNames {
		if n == s {
			return Context(i), nil
		}
	}
	return Worst, ErrContext
}

// withdrawnRule is the rule that fires while a context is at its worst.
const withdrawnRule = "context:withdrawn"

// worst tells whether nothing may be done out of the context without a person.
func (c Context) worst() bool { return c == Worst || c > Clean }
