package arch

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/pratique-dev/pratique"

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func report(t *testing.T, vs []Violation) {
	t.Helper()
	for _, v := range vs {
		t.Error(v)
	}
}

func TestImportsGoOneWay(t *testing.T) {
	dir := root(t)
	_, files, err := Parse(dir)
	if err != nil {
		t.Fatal(err)
	}
	g, err := Load(dir, module, files)
	if err != nil {
		t.Fatal(err)
	}
	if len(g) < 10 || g["credentials/keyset"] == nil || len(g["credentials/keyset"].Reaches) < 50 {
		t.Fatalf("the graph has %d packages: it was not read right", len(g))
	}
	report(t, Check(g, Rules))
	report(t, CheckPairs(g, JosePair[0], JosePair[1], PairReason))
}

func TestLimitsOfConventions(t *testing.T) {
	fset, files, err := Parse(root(t))
	if err != nil {
		t.Fatal(err)
	}
	report(t, CheckLimits(fset, files))
	report(t, CheckWords(files))
	report(t, CheckPure(files, Pure))
}

func TestEveryRuleHasAReason(t *testing.T) {
	for i, r := range Rules {
		if len(r.Reason) < 40 || len(r.Of) == 0 || len(r.Never) == 0 {
			t.Errorf("rule %d binds nothing, forbids nothing or gives no reason: %+v", i, r)
		}
	}
}

// One made-up package per rule: what each rule is there to catch, it catches.
func TestRulesCanFail(t *testing.T) {
	const jose, jwx = "github.com/go-jose/go-jose/v4", "github.com/lestrrat-go/jwx/v2"
	for _, c := range []struct {
		name string
		p    Package
		want string // part of the violation; "" for none
	}{
		{"up a layer", Package{Path: "credentials/proof", Imports: []string{"registry"}}, "imports go one way"},
		{"up a layer, in a test", Package{Path: "labels", Tests: []string{"registry/api"}}, "imports go one way"},
		{"internal knows nobody", Package{Path: "internal/canon", Imports: []string{"credentials"}}, "imports go one way"},
		{"across a layer", Package{Path: "client", Imports: []string{"gateway"}}, "do not know each other"},
		{"web and client", Package{Path: "web/console", Imports: []string{"client"}}, "do not know each other"},
		{"cmd imported", Package{Path: "registry/api", Imports: []string{"cmd/pratique"}}, "imports go one way"},
		{"a new noun", Package{Path: "utils/strings"}, "belongs to no layer"},
		{"down", Package{Path: "registry/api", Imports: []string{"labels", "internal/problem", "registry/state", "net/http"}}, ""},
		{"within a noun", Package{Path: "registry/writer", Imports: []string{"registry/state", "registry/store"}}, ""},

		{"ledger that knows tools", Package{Path: "registry/ledger", Imports: []string{"registry"}}, "keep bytes"},
		{"engine that knows labels", Package{Path: "registry/store/sqlite", Imports: []string{"labels"}}, "keep bytes"},
		{"engine and its store", Package{Path: "registry/store/sqlite", Imports: []string{"registry/store", "registry/ledger", "internal/durable"}}, ""},
		{"memdb elsewhere", Package{Path: "registry/writer", Imports: []string{"github.com/hashicorp/go-memdb"}}, "unique"},
		{"memdb in a test elsewhere", Package{Path: "registry/api", Tests: []string{"github.com/hashicorp/go-memdb"}}, "unique"},
		{"memdb in its place", Package{Path: "registry/state", Imports: []string{"github.com/hashicorp/go-memdb"}}, ""},
		{"CEL elsewhere", Package{Path: "gateway", Imports: []string{"cel.dev/cel-go/cel"}}, "conditions are compiled"},
		{"CEL in its place", Package{Path: "labels/policy", Imports: []string{"cel.dev/cel-go/cel"}}, ""},
		{"cli elsewhere", Package{Path: "client", Imports: []string{"github.com/urfave/cli/v2"}}, "parses flags"},
		{"cli in its place", Package{Path: "cmd/pratique", Imports: []string{"github.com/urfave/cli/v2"}}, ""},
		{"go-jose elsewhere", Package{Path: "registry/api", Imports: []string{jose}}, "pre-check only"},
		{"go-jose in keyset", Package{Path: "credentials/keyset", Tests: []string{jose}}, "pre-check only"},
		{"go-jose's jwt", Package{Path: "credentials/envelope", Imports: []string{jose + "/jwt"}}, "tolerates 60 s"},
		{"jwx elsewhere", Package{Path: "client", Imports: []string{jwx + "/jws"}}, "confined"},
		{"jwx in envelope", Package{Path: "credentials/envelope", Tests: []string{jwx + "/jwk"}}, "confined"},
		{"jwx's jwt", Package{Path: "credentials/keyset", Imports: []string{jwx + "/jwt"}}, "without exp"},
		{"inspector with a network", Package{Path: "quarantine/inspect", Reaches: []string{"fmt", "net"}}, "hostile content"},
		{"inspector with HTTP, over another", Package{Path: "quarantine/inspect/model", Reaches: []string{"internal/problem", "net/http", "net"}}, "hostile content"},
		{"inspector that starts processes", Package{Path: "quarantine/inspect", Reaches: []string{"os/exec"}}, "hostile content"},
		{"inspector with keys", Package{Path: "quarantine/inspect", Reaches: []string{"credentials/keyring"}}, "hostile content"},
		{"inspector with the record", Package{Path: "quarantine/inspect", Reaches: []string{"registry/state"}}, "hostile content"},
		{"inspector as it should be", Package{Path: "quarantine/inspect", Imports: []string{"unicode"}, Reaches: []string{"unicode", "os"}}, ""},
		{"client that holds a store", Package{Path: "client", Reaches: []string{"registry/store"}}, "does not pull in"},
		{"client with the state, over another", Package{Path: "client/labels", Reaches: []string{"github.com/hashicorp/go-memdb"}}, "does not pull in"},
		{"keys elsewhere", Package{Path: "client", Imports: []string{"credentials/keyring"}}, "private keys"},
		{"keys in quarantine", Package{Path: "quarantine/approval", Imports: []string{"credentials/keyring"}}, "private keys"},
		{"keys in the service", Package{Path: "registry/api", Imports: []string{"credentials/keyring"}}, ""},
		{"labels over the network", Package{Path: "labels", Reaches: []string{"net/http"}}, "pure function"},
		{"HTTP below the API", Package{Path: "registry/writer", Imports: []string{"net/http"}}, "no HTTP below"},
		{"lax JSON", Package{Path: "registry/state", Imports: []string{"encoding/json"}}, "folds case"},
		{"lax JSON in a test", Package{Path: "registry/state", Tests: []string{"encoding/json"}}, ""},
		{"half a pre-check", Package{Path: "credentials/proof", Imports: []string{"credentials/internal/form"}}, "half a pre-check"},
		{"test kit in the product", Package{Path: "registry/writer", Imports: []string{"registry/store/storetest"}}, "for tests"},
		{"test kit in a test", Package{Path: "registry/writer", Tests: []string{"registry/store/storetest"}}, ""},
		{"old randomness", Package{Path: "client", Tests: []string{"math/rand"}}, "math/rand/v2"},
		{"ground that starts processes", Package{Path: "internal/canon", Reaches: []string{"os/exec"}}, "starts nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			vs := Check(Graph{c.p.Path: &c.p}, Rules)
			if c.want == "" {
				report(t, vs)
				return
			}
			for _, v := range vs {
				if strings.Contains(v.String(), c.want) {
					return
				}
			}
			t.Errorf("not caught: %+v; found %v", c.p, vs)
		})
	}
}

func TestLibrariesNeverMeet(t *testing.T) {
	g := Graph{"x": {Path: "x", Imports: []string{"github.com/go-jose/go-jose/v4"}, Tests: []string{"github.com/lestrrat-go/jwx/v2/jws"}}}
	if len(CheckPairs(g, JosePair[0], JosePair[1], PairReason)) != 1 {
		t.Error("both libraries in one package were not caught")
	}
}

func TestLimitsCanFail(t *testing.T) {
	long := strings.Repeat("\n", 401)
	for _, c := range []struct{ name, path, src, want string }{
		{"long file", "labels/a.go", "package labels" + long, "lines"},
		{"long test file", "labels/a_test.go", "package labels" + long, ""},
		{"long function", "labels/a.go", "package labels\nfunc f() {" + strings.Repeat("\n", 50) + "}", "function f"},
		{"function at the limit", "labels/a.go", "package labels\nfunc f() {" + strings.Repeat("\n", 49) + "}", ""},
		{"wide interface", "labels/a.go", "package labels\ntype I interface{ A(); B(); C(); D(); E(); F() }", "interface I"},
		{"interface at the limit", "labels/a.go", "package labels\ntype I interface{ A(); B(); C(); D(); E() }", ""},
		{"empty name", "labels/util/a.go", "package util", "named for what it holds"},
		{"empty name of a test package", "labels/common/a_test.go", "package common_test", "named for what it holds"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fset := token.NewFileSet()
			parsed, err := parser.ParseFile(fset, c.path, c.src, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			vs := CheckLimits(fset, []File{{Path: c.path, Test: strings.HasSuffix(c.path, "_test.go"), AST: parsed}})
			if c.want == "" {
				report(t, vs)
			} else if len(vs) != 1 || !strings.Contains(vs[0].String(), c.want) {
				t.Errorf("got %v, want %q", vs, c.want)
			}
		})
	}
}

func TestWordsCanFail(t *testing.T) {
	parse := func(path, src string) File {
		parsed, err := parser.ParseFile(token.NewFileSet(), path, src, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		return File{Path: path, Test: strings.HasSuffix(path, "_test.go"), AST: parsed}
	}
	if vs := CheckWords([]File{parse("labels/a.go", "package labels")}); len(vs) != 2 {
		t.Errorf("neither comment nor Example: %v", vs)
	}
	good := []File{
		parse("labels/a.go", "// Package labels says.\npackage labels"),
		parse("labels/e_test.go", "package labels_test\nfunc Example() {}"),
	}
	report(t, CheckWords(good))
}

func TestPureCanFail(t *testing.T) {
	for src, want := range map[string]bool{
		`import "time"; var _ = time.Now()`:                     true,
		`import clock "time"; var _ = clock.Since`:              true,
		`import "crypto/rand"; var _ = rand.Reader`:             true,
		`import "math/rand/v2"; var _ = rand.IntN(3)`:           true,
		`import "os"; var _ = os.Getenv("X")`:                   true,
		`import "time"; var _ = time.Unix(1, 0).Add(time.Hour)`: false,
		`import "example.org/time"; var _ = time.Now()`:         false,
	} {
		parsed, err := parser.ParseFile(token.NewFileSet(), "a.go", "package state;"+src, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(CheckPure([]File{{Path: "registry/state/a.go", AST: parsed}}, Pure)) > 0; got != want {
			t.Errorf("%s: caught %v, want %v", src, got, want)
		}
		if len(CheckPure([]File{{Path: "registry/api/a.go", AST: parsed}}, Pure)) > 0 {
			t.Errorf("%s: caught where it is allowed", src)
		}
	}
}
