package policy

import (
	"errors"
	"regexp"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// maxMatch is how much all patterns of one decision may do, in bytes of text times
// instructions of the compiled pattern. A machine of Go's takes 10 to 15 ns for one of
// those at its worst, so that this is about 100 ms of a core, and once more where rules
// only record. The largest pattern (maxRegex) has room for texts of assumedBytes three
// times, an ordinary one of 16 instructions for 512 KiB.
const maxMatch = 1 << 23

// fewMatch is what is not worth remembering.
const fewMatch = 1 << 12

// A purse is what patterns have cost in a decision, and what they said of texts: rules
// are asked more than once.
type purse struct {
	spent int
	said  map[held]bool
}

// A held is a text that was held against a pattern.
type held struct{ pattern, text string }

// errDear is one error for all, as those of scope.spend.
var errDear = interpreter.EvalCancelledError{Cause: interpreter.CostLimitExceeded, Message: "patterns cost more than they may"}

// holds tells whether a text matches. Too much of it ends the evaluation with an error
// before the pattern is run.
func (p *purse) holds(m *matching, text string) bool {
	cost := (len(text) + 1) * m.size
	key := held{string(m.pattern), text}
	if b, ok := p.said[key]; ok {
		return b
	}
	if cost > maxMatch-p.spent {
		panic(errDear)
	}
	p.spent += cost
	b := m.re.MatchString(text)
	if cost > fewMatch {
		if p.said == nil {
			p.said = map[held]bool{}
		}
		p.said[key] = b
	}
	return b
}

// record takes the purse of rules that only record, or of those that bind, from which
// the others take nothing. was is whose it was before.
func (s *scope) record(only bool) (was bool) {
	if was = s.only; was != only {
		s.match, s.aside, s.only = s.aside, s.match, only
	}
	return was
}

// A matching is a call of matches with a pattern that stands in the file. CEL runs a
// pattern before it counts what that cost.
type matching struct {
	call    interpreter.InterpretableCall
	text    interpreter.InterpretableV2
	pattern types.String
	re      *regexp.Regexp
	size    int // instructions
}

var errPattern = errors.New("a pattern of matches has to stand in the file")

func matchingOf(call interpreter.InterpretableCall) (interpreter.InterpretableV2, error) {
	args := call.Args()
	c, ok := args[len(args)-1].(interpreter.InterpretableConst)
	if !ok || len(args) != 2 {
		return nil, errPattern
	}
	m := &matching{call: call, text: args[0]}
	if m.pattern, ok = c.Value().(types.String); !ok {
		return nil, errPattern
	}
	var err error
	if m.re, err = regexp.Compile(string(m.pattern)); err != nil {
		return nil, err
	}
	m.size, err = types.RegexProgramSize(string(m.pattern))
	return m, err
}

// ID implements interpreter.Interpretable.
func (m *matching) ID() int64 { return m.call.ID() }

var errNoText = types.NewErrWithNodeID(shared, "not a text")

// Exec implements interpreter.InterpretableV2.
func (m *matching) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	l := m.text.Exec(frame)
	if types.IsUnknownOrError(l) {
		return l
	}
	var v ref.Val = errNoText
	t, isText := l.(types.String)
	if of, _ := frame.ResolveName(scopeName); isText {
		if s, ok := of.(*scope); ok {
			v = types.Bool(s.match.holds(m, string(t)))
		}
	}
	if costs := frame.CostTracker(); costs != nil {
		costs.EvalBinary(frame, m.ID(), m.call, l, m.pattern, v)
	}
	return v
}

// Eval implements interpreter.Interpretable.
func (m *matching) Eval(a interpreter.Activation) ref.Val {
	return interpreter.EvalActivation(a, m.Exec)
}
