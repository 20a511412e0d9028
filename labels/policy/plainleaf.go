package policy

import (
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
)

// leaf is a function of a member or variable and a literal.
func leaf(c ast.CallExpr) plain {
	switch name := c.FunctionName(); name {
	case operators.Equals, operators.NotEquals:
		left, right := c.Args()[0], c.Args()[1]
		if left.Kind() == ast.LiteralKind {
			left, right = right, left
		}
		is := equal(left, right)
		if is == nil || name == operators.Equals {
			return is
		}
		return func(s *scope) truth { return is(s).not() }
	case operators.In:
		return oneOf(c.Args()[0], c.Args()[1])
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		return ordered(c.Args()[0], c.Args()[1], name)
	case overloads.StartsWith:
		return texted(c, strings.HasPrefix)
	case overloads.EndsWith:
		return texted(c, strings.HasSuffix)
	case overloads.Contains:
		return texted(c, strings.Contains)
	}
	return nil
}

// A phrase is what is read as a text: a member or a variable. state is isTrue where there
// is one.
type phrase func(s *scope) (t string, state truth)

func phraseOf(e ast.Expr) phrase {
	if path, ok := pathOf(e); ok && !testOnly(e) {
		return func(s *scope) (string, truth) {
			v := s.at(path)
			if v.Kind() != '"' {
				return "", broken
			}
			return v.Text(), isTrue
		}
	}
	if e.Kind() != ast.IdentKind {
		return nil
	}
	name := strings.TrimPrefix(e.AsIdent(), ".")
	if _, _, ok := wordOf(&Facts{}, name); !ok {
		return nil
	}
	return func(s *scope) (string, truth) {
		t, known, _ := wordOf(s.f, name)
		if !known {
			return "", broken
		}
		return t, isTrue
	}
}

func testOnly(e ast.Expr) bool { return e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() }

// texted holds a text against a literal one.
func texted(c ast.CallExpr, f func(s, word string) bool) plain {
	if !c.IsMemberFunction() || len(c.Args()) != 1 {
		return nil
	}
	of := phraseOf(c.Target())
	word, ok := text(c.Args()[0])
	if of == nil || !ok {
		return nil
	}
	return func(s *scope) truth {
		t, state := of(s)
		if state != isTrue {
			return state
		}
		return truthOf(f(t, word))
	}
}

// equal compares with a literal. What is of another type is an error; see strict.
func equal(e, literal ast.Expr) plain {
	if literal.Kind() != ast.LiteralKind {
		return nil
	}
	switch want := literal.AsLiteral().(type) {
	case types.String:
		of := phraseOf(e)
		if of == nil {
			return nil
		}
		return func(s *scope) truth {
			t, state := of(s)
			if state != isTrue {
				return state
			}
			return truthOf(t == string(want))
		}
	case types.Bool:
		return flagIs(e, truthOf(bool(want)))
	case types.Null:
		path, ok := pathOf(e)
		if !ok || testOnly(e) {
			return nil
		}
		return func(s *scope) truth {
			switch v := s.at(path); v.Kind() {
			case 0:
				return broken
			case '0': // it may be one that cannot be told
				return elsewhere
			default:
				return truthOf(v.Kind() == 'n')
			}
		}
	case types.Int:
		return ordered(e, literal, operators.Equals)
	}
	return nil
}

// flagIs compares a truth with a literal one.
func flagIs(e ast.Expr, want truth) plain {
	var is plain
	switch e.Kind() {
	case ast.IdentKind:
		is = flagged(e.AsIdent())
	case ast.SelectKind:
		is = member(e)
	}
	if is == nil {
		return nil
	}
	return func(s *scope) truth {
		t := is(s)
		if t == isTrue || t == untrue {
			return truthOf(t == want)
		}
		return t
	}
}

// oneOf is a text in a list of literal ones.
func oneOf(e, list ast.Expr) plain {
	of := phraseOf(e)
	if of == nil || list.Kind() != ast.ListKind || list.AsList().Size() == 0 {
		return nil
	}
	var words []string
	for _, x := range list.AsList().Elements() {
		w, ok := text(x)
		if !ok {
			return nil
		}
		words = append(words, w)
	}
	return func(s *scope) truth {
		t, state := of(s)
		if state != isTrue {
			return state
		}
		for _, w := range words {
			if t == w {
				return isTrue
			}
		}
		return untrue
	}
}

// ordered compares a whole number, or a size, with a literal one.
func ordered(e, literal ast.Expr, operator string) plain {
	if literal.Kind() != ast.LiteralKind {
		return nil
	}
	want, ok := literal.AsLiteral().(types.Int)
	of := numberOf(e)
	if !ok || of == nil {
		return nil
	}
	return func(s *scope) truth {
		n, state := of(s)
		if state != isTrue {
			return state
		}
		switch operator {
		case operators.Less:
			return truthOf(n < int64(want))
		case operators.LessEquals:
			return truthOf(n <= int64(want))
		case operators.Greater:
			return truthOf(n > int64(want))
		case operators.GreaterEquals:
			return truthOf(n >= int64(want))
		}
		return truthOf(n == int64(want))
	}
}

// numberOf is a member that is a number, or the size of a member.
func numberOf(e ast.Expr) func(s *scope) (int64, truth) {
	if path, ok := pathOf(e); ok && !testOnly(e) {
		return func(s *scope) (int64, truth) {
			v := s.at(path)
			if v.Kind() != '0' {
				return 0, broken
			}
			if n, ok := v.Int64(); ok {
				return n, isTrue
			}
			return 0, elsewhere
		}
	}
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != overloads.Size {
		return nil
	}
	c := e.AsCall()
	of := c.Target()
	if !c.IsMemberFunction() {
		of = c.Args()[0]
	}
	path, ok := pathOf(of)
	if !ok || testOnly(of) {
		return nil
	}
	return func(s *scope) (int64, truth) {
		switch v := s.at(path); v.Kind() {
		case '"':
			return int64(utf8.RuneCountInString(v.Text())), isTrue
		case '[', '{':
			return int64(v.Len()), isTrue
		}
		return 0, broken
	}
}
