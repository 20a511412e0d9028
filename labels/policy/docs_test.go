package policy_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/labels/policy/advise"
)

var fenced = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestGuide: every example of the guide is read as what it is.
func TestGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	files, cases := 0, 0
	for _, m := range fenced.FindAllSubmatch(text, -1) {
		if strings.Contains("\n"+string(m[1]), "\ncases:") {
			cases++
			if _, err := advise.ReadCases(m[1]); err != nil {
				t.Errorf("%v:\n%s", err, m[1])
			}
			continue
		}
		files++
		if _, err := policy.Load(m[1]); err != nil {
			t.Errorf("%v:\n%s", err, m[1])
		}
	}
	if files < 4 || cases < 1 {
		t.Errorf("only %d files and %d of cases", files, cases)
	}
}

// TestGuideConditions: the guide's table of what is taken in which rule says so.
func TestGuideConditions(t *testing.T) {
	text, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("`([^`]+)`")
	n := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !slices.Contains([]string{"label, context", "effect", "counts"}, strings.TrimSpace(cells[1])) {
			continue
		}
		for i, verb := range []string{"allow", "never"} {
			for _, m := range code.FindAllStringSubmatch(cells[2+i], -1) {
				n++
				when(t, verb, m[1])
				if _, err := policy.Load([]byte("rules:\n  - name: r\n    " + map[string]string{"allow": "never", "never": "allow"}[verb] + ": [t]\n    when: |\n      " + m[1] + "\n")); err == nil {
					t.Errorf("%s is taken both ways", m[1])
				}
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d conditions", n)
	}
}
