package arch

import (
	"fmt"
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

// limitsIn are the rows, and what is wrong with those that are none.
func limitsIn(doc string) (out []limit, wrong []string) {
	for line := range strings.SplitSeq(doc, "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| limit |") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), " | ")
		name := limitName.FindStringSubmatch(strings.TrimSpace(cells[0]))
		if len(cells) != 4 || name == nil {
			wrong = append(wrong, "not a row of limit, state, what is left and tests: "+line)
			continue
		}
		l := limit{name: name[1], state: strings.TrimSpace(cells[1])}
		for _, n := range testName.FindAllStringSubmatch(cells[3], -1) {
			l.tests = append(l.tests, n[1])
		}
		out = append(out, l)
	}
	return out, wrong
}

// checkLimits says what is wrong with docs/limits.md, beside SECURITY.md and the tests
// that there are.
func checkLimits(doc, security string, have map[string]bool) []string {
	limits, wrong := limitsIn(doc)
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	rows, named := map[string]bool{}, map[string]bool{}
	for _, l := range limits {
		if rows[l.name] {
			say("%s has two rows", l.name)
		}
		rows[l.name] = true
		if !slices.Contains([]string{"closed", "narrowed", "open"}, l.state) {
			say("%s has the state %q", l.name, l.state)
		}
		if l.state != "open" && len(l.tests) == 0 {
			say("%s is %s and names no test", l.name, l.state)
		}
		for _, n := range l.tests {
			if named[n] = true; !have[n] {
				say("%s: there is no test %s", l.name, n)
			}
		}
	}
	for _, name := range inherited {
		if !rows[name] {
			say("%s has no row", name)
		}
	}
	for n := range have {
		if shows.MatchString(n) && !named[n] {
			say("%s shows a limit that has no row", n)
		}
	}
	_, list, _ := strings.Cut(security, "\n## What is not caught\n")
	list, _, _ = strings.Cut(list, "\n## ")
	titles := uncaught.FindAllStringSubmatch(list, -1)
	if len(titles) == 0 {
		say("SECURITY.md says nothing of what is not caught")
	}
	for _, title := range titles {
		if !strings.Contains(doc, title[1]) {
			say("SECURITY.md says that this is not caught, and it has no row: %s", title[1])
		}
	}
	return wrong
}

func readDoc(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestEveryLimitHasARow keeps docs/limits.md complete and true: each limit has a
// state, what it claims has tests that exist, each demonstration has a row, and so
// has whatever SECURITY.md says is not caught.
func TestEveryLimitHasARow(t *testing.T) {
	for _, wrong := range checkLimits(readDoc(t, "docs/limits.md"), readDoc(t, "SECURITY.md"), testsIn(t, filepath.Join("..", ".."))) {
		t.Error(wrong)
	}
}

// A check that cannot fail shows nothing.
func TestRowsOfLimitsCanFail(t *testing.T) {
	doc, security, have := readDoc(t, "docs/limits.md"), readDoc(t, "SECURITY.md"), testsIn(t, filepath.Join("..", ".."))
	for want, x := range map[string][2]string{
		"Extensions has the state":                {"stands above the page | open |", "stands above the page | solved |"},
		"Bearer handles is closed and names no":   {"`TestForeignActs`, `TestOwnersWay`, `TestCheckRefuses` |", "|"},
		"there is no test TestNobodyWroteThis":    {"`TestOwnersWay`", "`TestNobodyWroteThis`"},
		"Sealed surface has no row":               {"**Sealed surface.**", "**Sealed.**"},
		"Extensions has two rows":                 {"**Sealed surface.**", "**Extensions.**"},
		"TestLimitSplit shows a limit":            {"`TestLimitSplit`, ", ""},
		"it has no row: A process that leaves":    {"A process that leaves its group", "A process"},
		"not a row of limit, state, what is left": {"| **Sealed surface.**", "| Sealed surface."},
	} {
		spoilt := strings.Replace(doc, x[0], x[1], 1)
		got := checkLimits(spoilt, security, have)
		if spoilt == doc || !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("%s: said %q", want, got)
		}
	}
}
