package policy

import (
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"

	"github.com/pratique-dev/pratique/labels"
)

// An order of a variable's values.
type order uint8

const (
	free   order = iota // none
	flag                // true is worse
	words               // words, worst first: see ranks
	number              // more is worse
	list                // what is in it is worse than what is not
)

// ranks are the words of what has an order, worst first.
var ranks = map[string][]string{
	"label.tier":         names(labels.Red, labels.Yellow, labels.Green),
	"label.standing":     names(labels.Vetoed, labels.Unknown, labels.Pinned, labels.Attested),
	"label.content":      names(labels.Violated, labels.Suspect, labels.Uninspected, labels.Inspected, labels.Consistent),
	"provenance.context": names(Worst, Untrusted, Own, Clean),
}

func names[T interface{ String() string }](list ...T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = v.String()
	}
	return out
}

// A trend is how the truth of an expression moves while what has an order gets worse.
// A condition of an allow may only fall, and one of an ask or never only rise: so a
// worse label, context, effect or count never permits more, whatever people write
// (RULES.md 30). An error counts as lying between false and true, which is how the
// operators of CEL treat it.
type trend uint8

const (
	still   trend = iota // it does not move
	falling              // true becomes false
	rising               // false becomes true
	mixed                // both, or it cannot be told
)

func (t trend) not() trend {
	switch t {
	case falling:
		return rising
	case rising:
		return falling
	}
	return t
}

func (t trend) and(u trend) trend {
	switch {
	case t == still || t == u:
		return u
	case u == still:
		return t
	}
	return mixed
}

// trend reads an expression that is a truth.
func (r *reader) trend(e ast.Expr) (trend, error) {
	switch e.Kind() {
	case ast.IdentKind:
		if v := r.ordered(e); v != nil && v.order == flag {
			return rising, nil
		} else if v != nil {
			return mixed, nil
		}
		return still, nil
	case ast.ComprehensionKind:
		return r.loopTrend(e.AsComprehension())
	case ast.CallKind:
		return r.callTrend(e)
	}
	if r.moves(e) {
		return mixed, nil
	}
	return still, nil
}

func (r *reader) callTrend(e ast.Expr) (trend, error) {
	c := e.AsCall()
	args := c.Args()
	switch c.FunctionName() {
	case operators.LogicalNot:
		t, err := r.trend(args[0])
		return t.not(), err
	case operators.LogicalAnd, operators.LogicalOr:
		return r.joined(args)
	case operators.Conditional:
		if r.moves(args[0]) {
			return mixed, nil
		}
		return r.joined(args[1:])
	case operators.NotStrictlyFalse:
		return r.trend(args[0])
	case operators.Equals, operators.NotEquals, operators.In:
		if t, ok, err := r.wordTrend(c.FunctionName(), args); ok || err != nil {
			return t, err
		}
		if c.FunctionName() == operators.In && r.named(args[1], "counts.new") && !r.moves(args[0]) {
			return rising, nil
		}
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		if t, ok := r.countTrend(c.FunctionName(), args); ok {
			return t, nil
		}
	}
	if r.moves(e) {
		return mixed, nil
	}
	return still, nil
}

func (r *reader) joined(list []ast.Expr) (trend, error) {
	t := still
	for _, e := range list {
		u, err := r.trend(e)
		if err != nil {
			return mixed, err
		}
		t = t.and(u)
	}
	return t, nil
}

// loopTrend is that of all, exists and exists_one, whose step joins what was before
// with the body.
func (r *reader) loopTrend(c ast.ComprehensionExpr) (trend, error) {
	if r.moves(c.IterRange()) || r.moves(c.AccuInit()) {
		return mixed, nil
	}
	n := len(r.vars)
	r.vars = append(r.vars, c.AccuVar(), c.IterVar(), c.IterVar2())
	defer func() { r.vars = r.vars[:n] }()
	if r.moves(c.LoopCondition()) || r.moves(c.Result()) {
		return mixed, nil
	}
	return r.trend(c.LoopStep())
}

// wordTrend reads v == "word", v != "word" and v in ["word", …]. A word that v never
// is is an error: it is a slip of the pen, and no rule would ever say so.
func (r *reader) wordTrend(function string, args []ast.Expr) (trend, bool, error) {
	v, other := args[0], args[1]
	if r.ordered(v) == nil && function != operators.In {
		v, other = other, v
	}
	o := r.ordered(v)
	if o == nil || o.order != words {
		return still, false, nil
	}
	given := []ast.Expr{other}
	if function == operators.In {
		if other.Kind() != ast.ListKind {
			return mixed, true, nil
		}
		given = other.AsList().Elements()
	}
	rank := ranks[o.name]
	meant := make([]bool, len(rank))
	for _, e := range given {
		w, ok := text(e)
		if !ok {
			return mixed, true, nil
		}
		i := slices.Index(rank, w)
		if i < 0 {
			return mixed, false, r.bad(e, o.name+" is one of "+strings.Join(rank, ", "))
		}
		meant[i] = true
	}
	t := steps(meant)
	if function == operators.NotEquals {
		t = t.not()
	}
	return t, true, nil
}

// steps is how a truth moves over ranks, from best to worst.
func steps(meant []bool) trend {
	t := still
	for i := len(meant) - 1; i > 0; i-- {
		switch {
		case meant[i] && !meant[i-1]:
			t = t.and(falling)
		case !meant[i] && meant[i-1]:
			t = t.and(rising)
		}
	}
	return t
}

// countTrend reads comparisons of a count with what does not move.
func (r *reader) countTrend(function string, args []ast.Expr) (trend, bool) {
	up := function == operators.Greater || function == operators.GreaterEquals
	a, b := r.ordered(args[0]), r.ordered(args[1])
	switch {
	case a != nil && a.order == number && !r.moves(args[1]):
	case b != nil && b.order == number && !r.moves(args[0]):
		up = !up
	default:
		return still, false
	}
	if up {
		return rising, true
	}
	return falling, true
}

// ordered is the variable with an order that an expression is; nil: it is none.
func (r *reader) ordered(e ast.Expr) *variable {
	if e.Kind() != ast.IdentKind || slices.Contains(r.vars, e.AsIdent()) {
		return nil
	}
	if v := known()[strings.TrimPrefix(e.AsIdent(), ".")]; v != nil && v.order != free {
		return v
	}
	return nil
}

// moves tells whether anything with an order stands in an expression.
func (r *reader) moves(e ast.Expr) bool {
	found := false
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) { found = found || r.ordered(e) != nil }))
	return found
}
