package policy

import (
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// strict puts our comparison in the place of CEL's, in ==, != and in. CEL's says of two
// values of different types that they are not equal; but a server may take "true", 1 or
// ["force"] for what a rule compares with, so that it cannot be told, and is an error
// (RULES.md 30). Only against a null that stands in the file everything can be compared.
// It puts a matching in the place of matches, too.
func strict(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	call, ok := i.(interpreter.InterpretableCall)
	if !ok {
		return i, nil
	}
	switch call.Function() {
	case operators.Equals, operators.NotEquals, operators.In:
	case overloads.Matches:
		return matchingOf(call)
	default:
		return i, nil
	}
	args := call.Args()
	c := &comparison{call: call, left: args[0], right: args[1], function: call.Function()}
	if c.function == operators.In {
		_, c.literal = args[1].(interpreter.InterpretableConst)
	} else {
		c.literal = isNull(args[0]) || isNull(args[1])
	}
	return c, nil
}

func isNull(i interpreter.InterpretableV2) bool {
	c, ok := i.(interpreter.InterpretableConst)
	return ok && c.Value() == ref.Val(types.NullValue)
}

// A comparison is ==, != or in. literal says that a null of it stands in the file. It
// shows nothing of the call that it was, which CEL's optimizer would put a set in place of.
type comparison struct {
	call        interpreter.InterpretableCall
	left, right interpreter.InterpretableV2
	function    string
	literal     bool
}

// ID implements interpreter.Interpretable.
func (c *comparison) ID() int64 { return c.call.ID() }

// Exec implements interpreter.InterpretableV2.
func (c *comparison) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	l := c.left.Exec(frame)
	if types.IsUnknownOrError(l) {
		return l
	}
	r := c.right.Exec(frame)
	if types.IsUnknownOrError(r) {
		return r
	}
	var t truth
	switch {
	case c.function == operators.In:
		t = among(l, r, c.literal)
	case c.literal && (kindOf(l) == nullKind) != (kindOf(r) == nullKind):
		t = untrue
	default:
		t = same(l, r)
	}
	if c.function == operators.NotEquals {
		t = t.not()
	}
	v := t.val()
	if costs := frame.CostTracker(); costs != nil {
		costs.EvalBinary(frame, c.ID(), c.call, l, r, v)
	}
	return v
}

// Eval implements interpreter.Interpretable.
func (c *comparison) Eval(a interpreter.Activation) ref.Val {
	return interpreter.EvalActivation(a, c.Exec)
}

func (t truth) not() truth {
	switch t {
	case isTrue:
		return untrue
	case untrue:
		return isTrue
	}
	return t
}

// A kind is what values are compared among.
type kind uint8

const (
	otherKind kind = iota
	nullKind
	boolKind
	textKind
	numberKind
	listKind
	mapKind
	timeKind
	spanKind
)

func kindOf(v ref.Val) kind {
	switch v.(type) {
	case types.String:
		return textKind
	case types.Int, types.Uint, types.Double:
		return numberKind
	case types.Bool:
		return boolKind
	case types.Null:
		return nullKind
	case types.Timestamp:
		return timeKind
	case types.Duration:
		return spanKind
	case traits.Mapper:
		return mapKind
	case traits.Lister:
		return listKind
	}
	return otherKind
}

// same tells whether two values are equal; of two kinds that cannot be told.
func same(l, r ref.Val) truth {
	switch k := kindOf(l); {
	case k != kindOf(r) || k == otherKind:
		return broken
	case k == listKind:
		return sameList(l.(traits.Lister), r.(traits.Lister))
	case k == mapKind:
		return sameMap(l.(traits.Mapper), r.(traits.Mapper))
	case types.Equal(l, r) == types.True:
		return isTrue
	}
	return untrue
}

func sameList(l, r traits.Lister) truth {
	n, _ := l.Size().(types.Int)
	if l.Size() != r.Size() {
		return untrue
	}
	sum := isTrue
	for i := range n {
		switch same(l.Get(i), r.Get(i)) {
		case untrue:
			return untrue
		case broken:
			sum = broken
		}
	}
	return sum
}

func sameMap(l, r traits.Mapper) truth {
	if l.Size() != r.Size() {
		return untrue
	}
	sum := isTrue
	for it := l.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		x, _ := l.Find(key)
		y, found := r.Find(key)
		if !found || x == nil {
			return untrue
		}
		switch same(x, y) {
		case untrue:
			return untrue
		case broken:
			sum = broken
		}
	}
	return sum
}

// among tells whether a list has an element that is equal, or a map a member of the
// name. literal says that the list stands in the file: what is no null is then none of
// its nulls.
func among(v, in ref.Val, literal bool) truth {
	if m, ok := in.(traits.Mapper); ok {
		name, ok := v.(types.String)
		if !ok {
			return broken
		}
		_, found := m.Find(name)
		return truthOf(found)
	}
	list, ok := in.(traits.Lister)
	if !ok {
		return broken
	}
	n, _ := list.Size().(types.Int)
	sum := untrue
	for i := range n {
		x := list.Get(i)
		switch same(v, x) {
		case isTrue:
			return isTrue
		case broken:
			if !literal || kindOf(x) != nullKind {
				sum = broken
			}
		}
	}
	return sum
}

func truthOf(b bool) truth {
	if b {
		return isTrue
	}
	return untrue
}
