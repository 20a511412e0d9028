package policy

import (
	"fmt"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/functions"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/pratique-dev/pratique/labels/guard"
	"github.com/pratique-dev/pratique/labels/guard/host"
	"github.com/pratique-dev/pratique/labels/guard/path"
	guardref "github.com/pratique-dev/pratique/labels/guard/ref"
)

// A judge is what one function of conditions says of a text: whether it is what the
// guards' word means. Where guards cannot tell, it is an error, which closes what it
// can (RULES.md 30).
type judge func(text string, files guard.Files) truth

// judges make those of the functions: within(text, folder), refers(text, pattern) and
// hosted(text, host), each with a list of folders, patterns or hosts too. What they are
// held against stands in the file.
var judges = map[string]func(word string) (judge, error){
	"within": func(folder string) (judge, error) {
		r, err := path.New(path.Options{Within: []string{folder}})
		return func(text string, files guard.Files) truth {
			return told(r.Check(text, files), path.WhyOutside)
		}, err
	},
	"refers": func(pattern string) (judge, error) {
		may, err := guardref.Protect([]string{pattern})
		if err != nil {
			return nil, err
		}
		surely, err := guardref.Only([]string{pattern})
		return func(text string, _ guard.Files) truth {
			switch {
			case may.Check(text) == "":
				return untrue
			case surely.Check(text) == "":
				return isTrue
			}
			return broken
		}, err
	},
	"hosted": func(name string) (judge, error) {
		r, err := host.New(host.Options{Allow: []string{name}})
		return func(text string, _ guard.Files) truth {
			return told(r.Check(text), host.WhyOther)
		}, err
	},
}

// told reads a guard's answer: other is the one of a plain text that is something else.
func told(why, other string) truth {
	switch why {
	case "":
		return isTrue
	case other:
		return untrue
	}
	return broken
}

// judgeFunctions declare them. Their work is bounded by what guards look at.
func judgeFunctions() []cel.EnvOption {
	var opts []cel.EnvOption
	for name := range judges {
		opts = append(opts, cel.Function(name,
			cel.Overload(name+"_one", []*cel.Type{cel.DynType, cel.StringType}, cel.BoolType, cel.LateFunctionBinding()),
			cel.Overload(name+"_some", []*cel.Type{cel.DynType, cel.ListType(cel.StringType)}, cel.BoolType, cel.LateFunctionBinding())))
	}
	return opts
}

// judged compiles what a call of a function is held against.
func (r *reader) judged(e ast.Expr, name string) error {
	given := e.AsCall().Args()[1]
	list := []ast.Expr{given}
	if given.Kind() == ast.ListKind {
		list = given.AsList().Elements()
	}
	for _, x := range list {
		word, ok := text(x)
		if !ok {
			return r.bad(e, "what "+name+" is held against has to stand in the file")
		}
		j, err := judges[name](word)
		if err != nil {
			return r.bad(e, fmt.Sprintf("%s: what it is held against is not written plainly", name))
		}
		if r.uses.judges == nil {
			r.uses.judges = map[string]map[string]judge{}
		}
		if r.uses.judges[name] == nil {
			r.uses.judges[name] = map[string]judge{}
		}
		r.uses.judges[name][word] = j
	}
	return nil
}

// ResolveFunction implements cel.FunctionActivation.
func (s *scope) ResolveFunction(name string) (functions.LateBoundOp, bool) {
	known, ok := s.judges[name]
	if !ok {
		return nil, false
	}
	return func(_ string, values ...ref.Val) ref.Val { return s.judge(name == "within", known, values) }, true
}

// judge holds a text against one word or several: it is true if it surely is one of
// them, and false if it surely is none. A text that may be a list of paths is true if
// each of them is, and false if none is.
func (s *scope) judge(paths bool, known map[string]judge, values []ref.Val) ref.Val {
	t, ok := values[0].(types.String)
	if !ok {
		return types.NewErr("not a text")
	}
	words, ok := wordsOf(values[1])
	if !ok {
		return types.NewErr("not a text")
	}
	sum := s.some(known, words, string(t))
	if paths && sum != broken && !path.Listed(string(t), false, func(part string) bool {
		if s.some(known, words, part) != sum {
			sum = broken
		}
		return sum != broken
	}) {
		sum = broken
	}
	return sum.val()
}

// wordsOf are what a text is held against.
func wordsOf(v ref.Val) ([]string, bool) {
	if word, ok := v.(types.String); ok {
		return []string{string(word)}, true
	}
	list, ok := v.(traits.Lister)
	if !ok {
		return nil, false
	}
	n, _ := list.Size().(types.Int)
	words := make([]string, 0, n)
	for i := range n {
		word, _ := list.Get(i).(types.String)
		words = append(words, string(word))
	}
	return words, true
}

// some tells whether a text is one of the words.
func (s *scope) some(known map[string]judge, words []string, text string) truth {
	sum := untrue
	for _, word := range words {
		switch s.one(known[word], text) {
		case isTrue:
			return isTrue
		case broken:
			sum = broken
		}
	}
	return sum
}

func (s *scope) one(j judge, text string) truth {
	s.spend(16 + len(text)/textStep)
	if j == nil {
		return broken
	}
	return j(text, s.f.Files)
}

var errUntold = types.NewErrWithNodeID(shared, "it cannot be told")

func (t truth) val() ref.Val {
	switch t {
	case isTrue:
		return types.True
	case untrue:
		return types.False
	}
	return errUntold
}
