package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// touched are the rules that what is built so far has a part in.
var touched = []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20", "21", "22", "23", "24", "25", "26", "27", "28", "29", "30", "31", "32", "34", "35", "36", "37", "39", "40"}

var (
	ruleRow  = regexp.MustCompile(`(?m)^\| (\d+) \|[^|]*\|([^|]*)\|$`)
	testName = regexp.MustCompile("`(Test[A-Za-z0-9_]*)`")
	testFunc = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]*)\(`)
)

// TestEveryRuleHasItsTests keeps docs/rules.md complete: each rule has a row,
// each row names tests, and each test named exists.
func TestEveryRuleHasItsTests(t *testing.T) {
	root := filepath.Join("..", "..")
	doc, err := os.ReadFile(filepath.Join(root, "docs", "rules.md"))
	if err != nil {
		t.Fatal(err)
	}
	have := testsIn(t, root)
	var rows []string
	for _, row := range ruleRow.FindAllStringSubmatch(string(doc), -1) {
		rows = append(rows, row[1])
		names := testName.FindAllStringSubmatch(row[2], -1)
		if len(names) == 0 {
			t.Errorf("rule %s names no test", row[1])
		}
		for _, n := range names {
			if !have[n[1]] {
				t.Errorf("rule %s: there is no test %s", row[1], n[1])
			}
		}
	}
	if !slices.Equal(rows, touched) {
		t.Errorf("rules.md has the rules %v, want %v", rows, touched)
	}
}

// testsIn are the names of all tests of the tree.
func testsIn(t *testing.T, root string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(path)
		for _, m := range testFunc.FindAllStringSubmatch(string(src), -1) {
			out[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// localCallers may act as the service itself, without a proof: the node on its
// own folder, and the reading of a topology that the service made itself.
var localCallers = []string{"registry/api/origins.go", "registry/node/credential.go", "registry/node/decisions.go", "registry/node/keys.go", "registry/node/ledger.go", "registry/node/node.go", "registry/node/observed.go", "registry/node/quarantine.go", "registry/node/review.go"}

// TestWhoActsWithoutProof lists every caller of registry.UnsafeLocal: a request
// that came over a wire must never become a command of the service.
func TestWhoActsWithoutProof(t *testing.T) {
	root := filepath.Join("..", "..")
	var got []string
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		src, err := os.ReadFile(path)
		if strings.Contains(string(src), "registry.UnsafeLocal(") {
			rel, _ := filepath.Rel(root, path)
			got = append(got, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, localCallers) {
		t.Errorf("registry.UnsafeLocal is called in %v, allowed are %v", got, localCallers)
	}
}
