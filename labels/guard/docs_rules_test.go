package guard_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/pratique-dev/pratique/labels/policy"
)

// TestDocsOfRules: each example of docs/guards.md is a rule file.
func TestDocsOfRules(t *testing.T) {
	b, err := os.ReadFile("../../docs/guards.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(b), -1)
	if len(blocks) < 3 {
		t.Fatalf("%d examples", len(blocks))
	}
	for i, block := range blocks {
		if _, err := policy.Load([]byte(block[1])); err != nil {
			t.Errorf("example %d: %v", i+1, err)
		}
	}
}
