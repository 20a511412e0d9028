package policy

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
)

// Bounds of a condition. The work of a condition is estimated when it is loaded, for
// arguments and names of up to assumedBytes; where that estimate is over maxCost, and
// for larger arguments, it is counted while the condition is evaluated.
const (
	maxExpression = 4096    // bytes
	maxNodes      = 500     // of one condition, macros expanded
	maxFileNodes  = 300_000 // of all conditions of a file
	maxDepth      = 40
	maxRegex      = 300       // instructions of a compiled pattern
	maxLoops      = 2         // inside of each other
	maxCost       = 100_000   // of one evaluation, in units of CEL: about 1 for an operation and 1 for 10 bytes of text
	maxToolCost   = 4_000_000 // of all conditions that one call may need, by their estimates; maxMatch is what their patterns may
	assumedBytes  = 8 << 10
)

// errCondition is what is wrong with the text of a condition. It repeats no value.
var errCondition = errors.New("when")

// A condition is an expression that was compiled once. It is immutable.
type condition struct {
	text    string
	plain   plain       // nil: there is only the program
	quick   cel.Program // does not count its cost
	counted func() (cel.Program, error)
	cost    uint64 // at most, where nothing is larger than assumedBytes
	use     uses
}

// compile reads a condition.
func compile(text string) (*condition, error) {
	env, err := environment()
	if err != nil {
		return nil, err
	}
	if text, err = plainExpression(text); err != nil {
		return nil, err
	}
	checked, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, fault(issues)
	}
	if t := checked.OutputType(); !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("%w: it is %s, and not a bool", errCondition, t)
	}
	c := &condition{text: text, plain: plainly(checked.NativeRep().Expr())}
	if c.use, err = read(checked.NativeRep(), text); err != nil {
		return nil, err
	}
	if c.cost, err = estimate(env, checked); err != nil {
		return nil, err
	}
	if c.quick, err = env.Program(checked, cel.CustomDecoratorV2(strict), cel.EvalOptions(cel.OptOptimize)); err != nil {
		return nil, fmt.Errorf("%w: it cannot be evaluated", errCondition)
	}
	c.counted = sync.OnceValues(func() (cel.Program, error) {
		return env.Program(checked, cel.CustomDecoratorV2(strict), cel.EvalOptions(cel.OptOptimize), cel.CostLimit(maxCost))
	})
	return c, nil
}

// plainExpression bounds the text and takes what shows, in one spelling of line ends.
func plainExpression(text string) (string, error) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	switch {
	case text == "":
		return "", fmt.Errorf("%w: it is empty", errCondition)
	case len(text) > maxExpression:
		return "", fmt.Errorf("%w: more than %d bytes", errCondition, maxExpression)
	case strings.IndexFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }) >= 0:
		return "", fmt.Errorf("%w: it has characters that do not show", errCondition)
	}
	return text, nil
}

// fault is the first error with its place, in CEL's words. Those name variables,
// functions and types; they quote the expression only where it is not one.
func fault(issues *cel.Issues) error {
	e := issues.Errors()[0]
	text, _, _ := strings.Cut(e.Message, "\n")
	if strings.HasPrefix(text, "Syntax error") {
		text = "not an expression of CEL"
	}
	if len(text) > 160 {
		text = strings.ToValidUTF8(text[:160], "") + "…"
	}
	if e.Location.Line() < 1 { // of the whole
		return fmt.Errorf("%w: %s", errCondition, text)
	}
	return fmt.Errorf("%w: line %d, column %d: %s", errCondition, e.Location.Line(), e.Location.Column()+1, text)
}

// An outcome of a condition.
type truth uint8

const (
	broken truth = iota // it errs, is no bool or costs too much
	untrue
	isTrue
)

// holds evaluates the condition. large: something is larger than assumedBytes.
func (c *condition) holds(s *scope) truth {
	p := c.quick
	switch {
	case c.cost <= maxCost && !s.large && c.plain != nil:
		if t := c.plain(s); t != elsewhere {
			return t
		}
	case c.cost > maxCost || s.large:
		var err error
		if p, err = c.counted(); err != nil {
			return broken
		}
	}
	s.steps, s.judges = maxSteps, c.use.judges
	out, _, err := p.Eval(s)
	if err != nil {
		return broken
	}
	switch b, ok := out.(types.Bool); {
	case !ok:
		return broken
	case bool(b):
		return isTrue
	}
	return untrue
}
