package observe_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/observe"
)

// TestTableIsDocumented: every sign stands in the design record with its weight and
// what makes it certain.
func TestTableIsDocumented(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "design", "observe.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, r := range observe.Table() {
		if row := fmt.Sprintf("| `%s` | %s | %s | ", r.Sign, r.Weight, r.Needs); !strings.Contains(text, row) {
			t.Errorf("docs/design/observe.md has no row %s…", row)
		}
	}
	if n := strings.Count(text, "\n| `"); n != len(observe.Table()) {
		t.Errorf("%d rows of %d signs", n, len(observe.Table()))
	}
}
