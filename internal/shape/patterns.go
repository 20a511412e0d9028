package shape

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Bounds of regular expressions. ^.{1,1000}$ has 2,000 instructions, and real servers
// have such; what is larger makes its schema one that cannot be used.
const (
	maxPattern  = 1 << 10 // bytes of one; a longer one cannot be decided on
	maxProgram  = 1 << 11 // instructions of one
	maxPrograms = 1 << 15 // and of all of a schema

	instructionBytes = 64 // about what one takes in memory
)

// worth is how many instructions, each for one byte of a text, a step buys. A machine
// of Go's takes 10 to 15 ns for one at its worst.
const worth = 64

var errProgram = errors.New("shape: an expression is too large")

// expressions compiles the regular expressions of one schema.
type expressions struct {
	left   int
	meter  *meter
	made   map[string]*expression
	size   int  // instructions of all
	large  bool // one or all are too large
	sealed bool // the schema is compiled: what the library asks for now is in a value
}

// compile fails for an expression that is too large. What else it cannot compile
// cannot be decided on, if it comes to that.
func (x *expressions) compile(s string) (jsonschema.Regexp, error) {
	if x.sealed { // the format regex, which is a note as others are
		return nil, nil
	}
	if e := x.made[s]; e != nil { // the library asks twice: for the schema of schemas, too
		return e, nil
	}
	e := &expression{text: s, meter: x.meter}
	if x.left--; x.left >= 0 && len(s) <= maxPattern {
		tree, err := syntax.Parse(s, syntax.Perl)
		if err == nil {
			e.size = program(tree)
			if x.size += e.size; e.size > maxProgram || x.size > maxPrograms {
				x.large = true
				return nil, errProgram
			}
			e.re, _ = regexp.Compile(s)
		}
		e.spaces = strings.Contains(s, `\s`) || strings.Contains(s, `\S`)
	}
	x.made[s] = e
	return e, nil
}

// program is how many instructions an expression has once it is compiled, or a few
// more. Compiling one to count them may take 128 MiB.
func program(tree *syntax.Regexp) int { return 2 + instructions(tree) }

func instructions(re *syntax.Regexp) int {
	n := 0
	for _, sub := range re.Sub {
		n += instructions(sub)
	}
	switch re.Op {
	case syntax.OpLiteral:
		n = max(len(re.Rune), 1)
	case syntax.OpRepeat: // x{2,4} is xx(x(x)?)?, and x{2,} is xx+
		if n *= max(re.Min, re.Max, 1); re.Max > re.Min {
			n += re.Max - re.Min
		}
		n += 2 // at most
	case syntax.OpAlternate:
		n += len(re.Sub)
	case syntax.OpConcat:
		n = max(n, 1)
	case syntax.OpPlus, syntax.OpQuest:
		n++
	case syntax.OpStar, syntax.OpCapture:
		n += 2
	default: // an empty place or one character
		n = 1
	}
	return min(n, 1<<20)
}

type expression struct {
	text   string
	re     *regexp.Regexp // nil: not one of those of Go
	size   int            // instructions
	spaces bool           // \s, which outside of ASCII means something else in ECMA-262
	meter  *meter
}

// cost is what it takes to hold a text of so many bytes against the expression, in
// steps. Go's work is linear in both.
func (e *expression) cost(bytes int) int { return 1 + (bytes+1)*e.size/worth }

// tells tells whether Go's expression says what the schema's does, of this text.
func (e *expression) tells(s string) bool { return e.re != nil && (!e.spaces || ascii(s)) }

// String implements fmt.Stringer.
func (e *expression) String() string { return e.text }

var errOtherwise = errors.New("shape: the expression means something else here")

// MatchString implements jsonschema.Regexp.
func (e *expression) MatchString(s string) bool {
	if !e.tells(s) {
		if e.meter.loose {
			return true
		}
		panic(errOtherwise)
	}
	e.meter.spend(1)
	if !e.meter.patterns.spend(e.cost(len(s))) {
		panic(errSpent)
	}
	return e.re.MatchString(s)
}

// A purse is what the expressions of one check may still cost, in steps, however often
// the value is gone through.
type purse struct{ left int }

// spend tells whether there was so much left.
func (p *purse) spend(steps int) bool {
	p.left -= steps
	return p.left >= 0
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
