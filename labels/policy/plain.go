package policy

import (
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"github.com/pratique-dev/pratique/labels/args"
)

// A plain condition is one of those that most rules have: comparisons of a member of the
// arguments or of a variable with a literal, put together by &&, ||, ! and ?:. It says
// what CEL's program says, without a boxed value. Whatever it does not know of, it leaves
// to that program: by being nil, or by elsewhere.
type plain func(s *scope) truth

// elsewhere is the truth that only CEL's program can tell.
const elsewhere = isTrue + 1

// maxPlain is how many leaves a plain condition has. Each looks at one member of what is
// at most assumedBytes long, so that none of them comes near maxSteps.
const maxPlain = 16

// planner makes plain conditions.
type planner struct{ leaves int }

// plainly is the plain form of a checked expression; nil: it has none.
func plainly(e ast.Expr) plain {
	p := planner{}
	made := p.truth(e)
	if p.leaves > maxPlain {
		return nil
	}
	return made
}

func (p *planner) truth(e ast.Expr) plain {
	if e.Kind() == ast.CallKind {
		switch c := e.AsCall(); c.FunctionName() {
		case operators.LogicalAnd, operators.LogicalOr, operators.Conditional, operators.LogicalNot:
			return p.joined(c)
		}
	}
	if p.leaves++; p.leaves > maxPlain {
		return nil
	}
	switch e.Kind() {
	case ast.LiteralKind:
		if b, ok := e.AsLiteral().(types.Bool); ok {
			t := truthOf(bool(b))
			return func(*scope) truth { return t }
		}
	case ast.IdentKind:
		return flagged(e.AsIdent())
	case ast.SelectKind:
		return member(e)
	case ast.CallKind:
		return leaf(e.AsCall())
	}
	return nil
}

// joined is an expression of truths. As in CEL, an error of one side counts only where
// the other does not settle it.
func (p *planner) joined(c ast.CallExpr) plain {
	list := make([]plain, len(c.Args()))
	for i, x := range c.Args() {
		if list[i] = p.truth(x); list[i] == nil {
			return nil
		}
	}
	switch c.FunctionName() {
	case operators.LogicalNot:
		x := list[0]
		return func(s *scope) truth { return x(s).not() }
	case operators.Conditional:
		return func(s *scope) truth {
			switch t := list[0](s); t {
			case isTrue:
				return list[1](s)
			case untrue:
				return list[2](s)
			default:
				return t
			}
		}
	case operators.LogicalAnd:
		return every(list, untrue, isTrue)
	}
	return every(list, isTrue, untrue)
}

// every is settled by the first of the truths that is so, and else comes to rest.
func every(list []plain, settled, rest truth) plain {
	return func(s *scope) truth {
		sum := rest
		for _, x := range list {
			switch t := x(s); {
			case t == settled:
				return settled
			case t == elsewhere:
				return elsewhere
			case t == broken:
				sum = broken
			}
		}
		return sum
	}
}

// flagged is a variable that is a truth.
func flagged(name string) plain {
	name = strings.TrimPrefix(name, ".")
	if _, ok := flagOf(&Facts{}, name); !ok {
		return nil
	}
	return func(s *scope) truth {
		b, _ := flagOf(s.f, name)
		return truthOf(b)
	}
}

// member is a member that is a truth, or whether the arguments have one.
func member(e ast.Expr) plain {
	path, ok := pathOf(e)
	if !ok {
		return nil
	}
	if e.AsSelect().IsTestOnly() {
		if len(path) != 1 {
			return nil
		}
		return func(s *scope) truth {
			if s.root.v.Kind() != '{' {
				return broken
			}
			_, found := s.root.v.Get(path[0])
			return truthOf(found)
		}
	}
	return func(s *scope) truth { return s.at(path).truth() }
}

// truth is a JSON boolean; anything else is none.
func (v part) truth() truth {
	switch v.Kind() {
	case 't':
		return isTrue
	case 'f':
		return untrue
	}
	return broken
}

// A part is a member of the arguments; without a kind there is none.
type part struct{ args.Value }

// at is the member at a path of names.
func (s *scope) at(path []string) part {
	v := s.root.v
	for _, name := range path {
		var ok bool
		if v, ok = v.Get(name); !ok {
			return part{}
		}
	}
	return part{v}
}

// pathOf is args.a.b or args["a"].
func pathOf(e ast.Expr) ([]string, bool) {
	p, ok := (&reader{}).path(e)
	return p, ok && len(p) > 0
}
