package arch

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
)

// Pure are the packages whose results may depend on their arguments only.
var Pure = []string{"internal/canon", "credentials", "credentials/envelope", "credentials/keyset", "labels/...", "quarantine/cut", "quarantine/gate", "quarantine/inspect/...", "quarantine/intent", "registry/state"}

// ReasonPure says why.
const ReasonPure = "time and randomness arrive as arguments: replay, replicas and tests must come to the same result"

// impure are the names by which a package gets at the clock or at randomness.
var impure = map[string][]string{
	"time":         {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
	"crypto/rand":  {"Reader", "Read", "Text", "Int", "Prime"},
	"math/rand/v2": nil, // nil: every name
	"os":           {"Getenv", "LookupEnv", "Environ", "Hostname", "Getpid"},
}

// CheckPure finds what gets at the clock, randomness or the environment in the
// packages that must be pure; tests may.
func CheckPure(files []File, pure []string) []Violation {
	var out []Violation
	for _, f := range files {
		if f.Test || !match(pure, f.Dir()) {
			continue
		}
		named := imports(f.AST)
		ast.Inspect(f.AST, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			id, ok := sel.X.(*ast.Ident)
			if !ok {
				return true
			}
			if names, ok := impure[named[id.Name]]; ok && (names == nil || slices.Contains(names, sel.Sel.Name)) {
				out = append(out, Violation{f.Path, "uses " + id.Name + "." + sel.Sel.Name, ReasonPure})
			}
			return true
		})
	}
	return out
}

// imports are the import paths of a file by the name that the file uses.
func imports(f *ast.File) map[string]string {
	m := map[string]string{}
	for _, d := range f.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok || gen.Tok != token.IMPORT {
			continue
		}
		for _, s := range gen.Specs {
			spec := s.(*ast.ImportSpec)
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue
			}
			name := path.Base(p)
			if name == "v2" {
				name = path.Base(path.Dir(p))
			}
			if spec.Name != nil {
				name = spec.Name.Name
			}
			m[name] = p
		}
	}
	return m
}
