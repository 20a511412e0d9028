// Package arch keeps the shape of the module: which package may import which,
// with a reason beside each import that is forbidden, and the limits on files,
// functions, interfaces and names. Only its test uses it.
//
// The rules are data (Layers, Rules) over a graph that Load reads from the
// source and from go list; the test runs them over this module, and over small
// made-up graphs to show that each rule can fail.
package arch

import (
	"fmt"
	"slices"
	"strings"
)

// A Package is one package of the module. Paths inside the module are relative
// to it ("credentials/keyset", "." for the root); others are import paths.
type Package struct {
	Path    string
	Imports []string // by any file that is not a test, whatever its build tags
	Tests   []string // by test files besides
	Reaches []string // Imports and what they import, and so on, standard library included
}

// A Graph is all packages of the module by path.
type Graph map[string]*Package

// A Violation is one thing that must not be.
type Violation struct {
	Package string
	What    string
	Reason  string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s %s: %s", v.Package, v.What, v.Reason)
}

// A Rule forbids imports to some packages.
type Rule struct {
	Of     []string // the packages it binds; a pattern is a path, or a path and "/..." for all below too
	Except []string // of those, the ones that it does not bind
	Never  []string // what they must not import
	// Reach forbids getting there over other packages too. Without it only a
	// direct import counts, of tests too if Tests is set.
	Reach  bool
	Tests  bool
	Reason string
}

// match reports whether path is one of the patterns. "..." alone is everything.
func match(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		base, below := strings.CutSuffix(p, "/...")
		return p == "..." || path == base || below && strings.HasPrefix(path, base+"/")
	})
}

// Check runs the rules and the layers over a graph.
func Check(g Graph, rules []Rule) []Violation {
	var out []Violation
	for _, path := range slices.Sorted(keys(g)) {
		p := g[path]
		for _, r := range rules {
			out = append(out, r.check(p)...)
		}
		out = append(out, checkLayers(p)...)
	}
	return out
}

func keys(g Graph) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range g {
			if !yield(k) {
				return
			}
		}
	}
}

func (r Rule) check(p *Package) []Violation {
	if !match(r.Of, p.Path) || match(r.Except, p.Path) {
		return nil
	}
	from, verb := p.Imports, "imports"
	if r.Reach {
		from, verb = p.Reaches, "reaches"
	}
	if r.Tests {
		from = append(slices.Clone(from), p.Tests...)
	}
	var out []Violation
	for _, imp := range from {
		if match(r.Never, imp) {
			out = append(out, Violation{p.Path, verb + " " + imp, r.Reason})
		}
	}
	return out
}

// noun is the first element of a path inside the module.
func noun(path string) string {
	if Programs[path] {
		return "cmd"
	}
	n, _, _ := strings.Cut(path, "/")
	return n
}

// checkLayers lets imports inside the module go one way only. Tests may look
// down as well, but not up either.
func checkLayers(p *Package) []Violation {
	own, ok := Layers[noun(p.Path)]
	if !ok {
		return []Violation{{p.Path, "belongs to no layer", "every package has a place in the order of imports (DESIGN.md section 4)"}}
	}
	var out []Violation
	for _, imp := range append(slices.Clone(p.Imports), p.Tests...) {
		there, ok := Layers[noun(imp)]
		switch {
		case !ok || noun(imp) == noun(p.Path):
		case there > own:
			out = append(out, Violation{p.Path, "imports " + imp, "imports go one way: " + Order})
		case there == own:
			out = append(out, Violation{p.Path, "imports " + imp, "packages of one layer do not know each other: " + Order})
		}
	}
	return out
}

// CheckPairs finds packages that import something of both lists, tests
// included.
func CheckPairs(g Graph, a, b []string, reason string) []Violation {
	var out []Violation
	for _, path := range slices.Sorted(keys(g)) {
		all := append(slices.Clone(g[path].Imports), g[path].Tests...)
		hasA := slices.ContainsFunc(all, func(i string) bool { return match(a, i) })
		hasB := slices.ContainsFunc(all, func(i string) bool { return match(b, i) })
		if hasA && hasB {
			out = append(out, Violation{path, "imports both " + a[0] + " and " + b[0], reason})
		}
	}
	return out
}
