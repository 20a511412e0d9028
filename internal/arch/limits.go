package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// The limits of CONVENTIONS.md, so that a stranger finds any rule in a minute.
const (
	maxFile      = 400 // lines, tests aside
	maxFunction  = 50  // lines from func to the closing brace, tests aside
	maxInterface = 5   // methods
)

// emptyNames say nothing about what a package is for.
var emptyNames = []string{"util", "utils", "common", "types", "service", "services", "manager", "helpers", "misc", "base"}

// CheckLimits holds all files against the limits.
func CheckLimits(fset *token.FileSet, files []File) []Violation {
	var out []Violation
	for _, f := range files {
		name := strings.TrimSuffix(f.AST.Name.Name, "_test")
		if slices.Contains(emptyNames, name) {
			out = append(out, Violation{f.Path, "is in package " + name, "a package is named for what it holds"})
		}
		if f.Test {
			continue
		}
		if n := fset.File(f.AST.FileStart).LineCount(); n > maxFile {
			out = append(out, Violation{f.Path, fmt.Sprintf("has %d lines", n), fmt.Sprintf("a file has at most %d", maxFile)})
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			out = append(out, checkNode(fset, f.Path, n)...)
			return true
		})
	}
	return out
}

func checkNode(fset *token.FileSet, path string, n ast.Node) []Violation {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if n.Body == nil {
			return nil
		}
		if lines := fset.Position(n.End()).Line - fset.Position(n.Pos()).Line + 1; lines > maxFunction {
			what := fmt.Sprintf("has function %s of %d lines", n.Name.Name, lines)
			return []Violation{{path, what, fmt.Sprintf("a function has at most %d", maxFunction)}}
		}
	case *ast.TypeSpec:
		t, ok := n.Type.(*ast.InterfaceType)
		if !ok {
			return nil
		}
		methods := 0
		for _, m := range t.Methods.List {
			methods += max(1, len(m.Names))
		}
		if methods > maxInterface {
			what := fmt.Sprintf("has interface %s of %d methods", n.Name.Name, methods)
			return []Violation{{path, what, fmt.Sprintf("an interface has at most %d", maxInterface)}}
		}
	}
	return nil
}

// CheckWords wants a doc comment on each package and, but for internal ones, test
// kits and commands, an Example.
func CheckWords(files []File) []Violation {
	type words struct{ doc, example, code bool }
	seen := map[string]*words{}
	for _, f := range files {
		w := seen[f.Dir()]
		if w == nil {
			w = &words{}
			seen[f.Dir()] = w
		}
		if !f.Test {
			w.code = true
			w.doc = w.doc || f.AST.Doc != nil
		}
		for _, d := range f.AST.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.Test && strings.HasPrefix(fn.Name.Name, "Example") {
				w.example = true
			}
		}
	}
	var out []Violation
	for dir, w := range seen {
		if w.code && !w.doc {
			out = append(out, Violation{dir, "has no package comment", "a package says what it is for"})
		}
		if w.code && !w.example && wantsExample(dir) {
			out = append(out, Violation{dir, "has no Example", "a package shows how it is used, in code that runs"})
		}
	}
	slices.SortFunc(out, func(a, b Violation) int { return strings.Compare(a.String(), b.String()) })
	return out
}

func wantsExample(dir string) bool {
	first := noun(dir)
	return first != "cmd" && first != "examples" && first != "internal" && first != "docs" && dir != "." &&
		!strings.Contains(dir, "/internal/") && !strings.HasSuffix(dir, "test")
}
