package policy

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// uses is what a condition looks at.
type uses struct {
	vars   map[string]bool
	args   []place                     // that are named in full, sorted
	fresh  []string                    // names that are looked up in counts.new, sorted
	judges map[string]map[string]judge // by function and word
	trend  trend
	nodes  int
}

// A place is a member of the arguments that a condition names.
type place struct {
	path   []string // from the root, by names
	tested bool     // only whether it is there
}

// counts tells whether earlier calls have to be counted for it.
func (u *uses) counts() bool {
	return u.vars["counts.run"] || u.vars["counts.minute"] || u.vars["counts.hour"] || u.vars["counts.day"]
}

// still tells whether it looks at nothing that differs between calls to one item.
func (u *uses) still() bool {
	for name := range u.vars {
		switch name {
		case "agent.id", "agent.name", "agent.profile", "tool.name", "tool.method", "tool.ver", "origin":
			continue
		}
		if !strings.HasPrefix(name, "effect.") {
			return false
		}
	}
	return true
}

// A reader walks a checked expression.
type reader struct {
	tree *ast.AST
	text []rune
	uses uses
	vars []string // of the loops around
}

// read checks what CEL's types do not: that nothing in the expression loses digits,
// that patterns stand in the file, and how its result moves with what has an order.
func read(tree *ast.AST, text string) (uses, error) {
	r := &reader{tree: tree, text: []rune(text), uses: uses{vars: map[string]bool{}}}
	if err := r.walk(tree.Expr()); err != nil {
		return uses{}, err
	}
	var err error
	if r.uses.trend, err = r.trend(tree.Expr()); err != nil {
		return uses{}, err
	}
	slices.Sort(r.uses.fresh)
	r.uses.fresh = slices.Compact(r.uses.fresh)
	slices.SortFunc(r.uses.args, func(a, b place) int { return slices.Compare(a.path, b.path) })
	return r.uses, nil
}

func (r *reader) walk(e ast.Expr) error {
	r.uses.nodes++
	switch e.Kind() {
	case ast.IdentKind:
		return r.ident(e)
	case ast.LiteralKind:
		return r.literal(e)
	case ast.SelectKind:
		if r.member(e) {
			return nil
		}
		return r.walk(e.AsSelect().Operand())
	case ast.CallKind:
		return r.call(e)
	case ast.ListKind:
		return r.all(e.AsList().Elements())
	case ast.MapKind:
		return r.bad(e, "maps are not taken")
	case ast.ComprehensionKind:
		return r.loop(e.AsComprehension())
	}
	return r.bad(e, "this is not taken")
}

func (r *reader) all(list []ast.Expr) error {
	for _, e := range list {
		if err := r.walk(e); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) ident(e ast.Expr) error {
	name := e.AsIdent()
	if !slices.Contains(r.vars, name) {
		r.uses.vars[strings.TrimPrefix(name, ".")] = true
	}
	return nil
}

// loop is a macro over a list or map.
func (r *reader) loop(c ast.ComprehensionExpr) error {
	for _, name := range []string{c.IterVar(), c.IterVar2()} {
		for i := range variables {
			if first, _, _ := strings.Cut(variables[i].name, "."); first == name {
				return fmt.Errorf("%w: %s is a variable already; give the one of the loop another name", errCondition, name)
			}
		}
	}
	if err := r.all([]ast.Expr{c.IterRange(), c.AccuInit()}); err != nil {
		return err
	}
	n := len(r.vars)
	r.vars = append(r.vars, c.AccuVar(), c.IterVar())
	if c.HasIterVar2() {
		r.vars = append(r.vars, c.IterVar2())
	}
	err := r.all([]ast.Expr{c.LoopCondition(), c.LoopStep(), c.Result()})
	r.vars = r.vars[:n]
	return err
}

// member notes a place of the arguments: args.a.b, args["a"], has(args.a).
func (r *reader) member(e ast.Expr) bool {
	p, ok := r.path(e)
	if ok && len(p) > 0 {
		r.uses.vars["args"] = true
		r.uses.args = append(r.uses.args, place{p, e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly()})
	}
	return ok && len(p) > 0
}

func (r *reader) path(e ast.Expr) ([]string, bool) {
	switch e.Kind() {
	case ast.IdentKind:
		return nil, e.AsIdent() == "args" && !slices.Contains(r.vars, "args")
	case ast.SelectKind:
		s := e.AsSelect()
		p, ok := r.path(s.Operand())
		return append(p, s.FieldName()), ok
	case ast.CallKind:
		c := e.AsCall()
		if c.FunctionName() != operators.Index {
			return nil, false
		}
		p, ok := r.path(c.Args()[0])
		name, isText := text(c.Args()[1])
		return append(p, name), ok && isText
	}
	return nil, false
}

// text is a literal string.
func text(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := e.AsLiteral().(types.String)
	return string(s), ok
}

// literal refuses a double that is not what its digits say, or so large that integers
// would not be told from it.
func (r *reader) literal(e ast.Expr) error {
	d, ok := e.AsLiteral().(types.Double)
	if !ok {
		return nil
	}
	if math.Abs(float64(d)) >= 1<<53 {
		return r.bad(e, "a number as large as that is written as an integer")
	}
	at, ok := r.tree.SourceInfo().GetOffsetRange(e.ID())
	if !ok || int(at.Start) >= len(r.text) {
		return r.bad(e, "a number without a place")
	}
	digits := strings.ReplaceAll(doubleLiteral.FindString(string(r.text[at.Start:])), " ", "")
	switch v := exactNumber([]byte(leadingZero(digits))).(type) {
	case types.Double:
		if v == d || v == -d {
			return nil
		}
	case types.Int: // 1.0, which CEL takes for a double
		if types.Double(v) == d || -types.Double(v) == d {
			return nil
		}
	}
	return r.bad(e, "a number with more digits than are kept")
}

// doubleLiteral is how CEL writes a double, after what may be its sign.
var doubleLiteral = regexp.MustCompile(`^-? *[0-9]*(\.[0-9]+)?([eE][-+]?[0-9]+)?`)

// leadingZero is a number of CEL as JSON writes it: .5 is 0.5.
func leadingZero(s string) string {
	if minus, ok := strings.CutPrefix(s, "-."); ok {
		return "-0." + minus
	}
	if strings.HasPrefix(s, ".") {
		return "0" + s
	}
	return s
}

func (r *reader) call(e ast.Expr) error {
	c := e.AsCall()
	switch c.FunctionName() {
	case operators.Index:
		if r.member(e) {
			return nil
		}
	case operators.Add, operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo, operators.Negate:
		for _, a := range c.Args() {
			if k := r.tree.GetType(a.ID()).Kind(); k == types.DynKind || k == types.DoubleKind || k == types.ListKind {
				return r.bad(e, "arithmetic is for integers, text and time: write int(args.n) for an argument")
			}
		}
	case "matches":
		if _, ok := text(c.Args()[len(c.Args())-1]); !ok {
			return r.bad(e, "a pattern of matches has to stand in the file")
		}
	case "within", "refers", "hosted":
		if err := r.judged(e, c.FunctionName()); err != nil {
			return err
		}
	case operators.In:
		if r.named(c.Args()[1], "counts.new") {
			name, ok := text(c.Args()[0])
			if !ok { // nobody would look it up
				return r.bad(e, "the name that is looked for in counts.new has to stand in the file")
			}
			r.uses.fresh = append(r.uses.fresh, name)
		}
	}
	if c.IsMemberFunction() {
		if err := r.walk(c.Target()); err != nil {
			return err
		}
	}
	return r.all(c.Args())
}

// named tells whether an expression is the variable of that name.
func (r *reader) named(e ast.Expr, name string) bool {
	return e.Kind() == ast.IdentKind && strings.TrimPrefix(e.AsIdent(), ".") == name && !slices.Contains(r.vars, e.AsIdent())
}

func (r *reader) bad(e ast.Expr, what string) error {
	l := r.tree.SourceInfo().GetStartLocation(e.ID())
	return fmt.Errorf("%w: line %d, column %d: %s", errCondition, l.Line(), l.Column()+1, what)
}
