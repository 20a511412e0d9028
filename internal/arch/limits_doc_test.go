package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// inherited are the limits that the systems state which this one joins. Each has a
// row, by the beginning of its name.
var inherited = []string{
	"Trust bootstrap", "The gateway is a trusted party", "Paraphrase", "Textual taint", "Content of allowed writes", "Same-origin scripts",
	"Bearer handles", "Attribution to a subject", "Emulated guard", "Unevaluated parts", "First-order effects", "Attribution collisions", "Premature calls",
	"Adaptive rewriting", "Residual content", "Sealed surface", "Same-origin frames", "No authenticator", "A real click", "Extensions", "Coarse tiers",
}

var (
	limitName = regexp.MustCompile(`^\*\*([^*]+?)\.?\*\*`)
	uncaught  = regexp.MustCompile(`(?m)^\* \*\*([^*]+?)\.?\*\*`)
	// shows are the tests that are there for a limit's sake.
	shows = regexp.MustCompile(`^Test(Limit[A-Z]|Sleepers)`)
)

// A limit is one row of docs/limits.md.
type limit struct {
	name, state string
	tests       []string
}

func limitsIn(t *testing.T, doc string) (out []limit) {
	t.Helper()
	for _, line := range strings.Split(doc, "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| limit |") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), " | ")
		name := limitName.FindStringSubmatch(strings.TrimSpace(cells[0]))
		if len(cells) != 4 || name == nil {
			t.Errorf("not a row of limit, state, what is left and tests: %s", line)
			continue
		}
		l := limit{name: name[1], state: strings.TrimSpace(cells[1])}
		for _, n := range testName.FindAllStringSubmatch(cells[3], -1) {
			l.tests = append(l.tests, n[1])
		}
		out = append(out, l)
	}
	return out
}

// TestEveryLimitHasARow keeps docs/limits.md complete and true: each limit has a
// state, what it claims has tests that exist, each demonstration has a row, and so
// has whatever SECURITY.md says is not caught.
func TestEveryLimitHasARow(t *testing.T) {
	root := filepath.Join("..", "..")
	read := func(name string) string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	doc, have := read("docs/limits.md"), testsIn(t, root)
	rows, named := map[string]bool{}, map[string]bool{}
	for _, l := range limitsIn(t, doc) {
		if rows[l.name] {
			t.Errorf("%s has two rows", l.name)
		}
		rows[l.name] = true
		if !slices.Contains([]string{"closed", "narrowed", "open"}, l.state) {
			t.Errorf("%s has the state %q", l.name, l.state)
		}
		if l.state != "open" && len(l.tests) == 0 {
			t.Errorf("%s is %s and names no test", l.name, l.state)
		}
		for _, n := range l.tests {
			if named[n] = true; !have[n] {
				t.Errorf("%s: there is no test %s", l.name, n)
			}
		}
	}
	for _, name := range inherited {
		if !rows[name] {
			t.Errorf("%s has no row", name)
		}
	}
	for n := range have {
		if shows.MatchString(n) && !named[n] {
			t.Errorf("%s shows a limit that has no row", n)
		}
	}
	_, list, ok := strings.Cut(read("SECURITY.md"), "\n## What is not caught\n")
	list, _, _ = strings.Cut(list, "\n## ")
	titles := uncaught.FindAllStringSubmatch(list, -1)
	if !ok || len(titles) == 0 {
		t.Fatal("SECURITY.md says nothing of what is not caught")
	}
	for _, title := range titles {
		if !strings.Contains(doc, title[1]) {
			t.Errorf("SECURITY.md says that this is not caught, and it has no row: %s", title[1])
		}
	}
}
