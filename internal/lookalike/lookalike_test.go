package lookalike_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/internal/lookalike"
)

func Example() {
	fmt.Printf("%s %s\n", lookalike.Fold(nil, "Branch"), lookalike.Fold(nil, "br\u0430n\u200bch"))
	// Output: branch branch
}

func TestFold(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""}, {"main", "main"}, {"MAIN/x_1", "main/x_1"},
		{"m\u0430in", "main"}, {"ma\u0131n", "main"}, {"\uff4d\uff41\uff49\uff4e", "main"}, {"\U0001d426ain", "main"},
		{"mai\u0301n", "main"}, {"ma\u00adin", "main"}, {"ma\ufeffin", "main"}, {"ma\U000e0061in", "main"},
		{"param\u017f", "params"}, {"\u212aey", "key"}, {"refs\u2044heads\u2044main", "refs/heads/main"}, {"a\u2024b", "a.b"},
		{"\u6771\u4eac", "\u6771\u4eac"}, {"a\xffb", "a\ufffdb"},
	} {
		if got := string(lookalike.Fold(nil, c.text)); got != c.want {
			t.Errorf("Fold(%+q) = %+q, want %+q", c.text, got, c.want)
		}
	}
}

// TestFoldOfASCIIIsFree: names are ASCII nearly always, and cost no memory then.
func TestFoldOfASCIIIsFree(t *testing.T) {
	s := strings.Repeat("Some_Name", 4)
	if n := testing.AllocsPerRun(100, func() {
		var buf [64]byte
		if len(lookalike.Fold(buf[:0], s)) != len(s) {
			t.Fail()
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzFold(f *testing.F) {
	f.Add("m\u0430in\u200b")
	f.Fuzz(func(t *testing.T, s string) {
		once := lookalike.Fold(nil, s)
		if len(once) > 16*len(s) {
			t.Errorf("%d bytes of %d", len(once), len(s))
		}
		for _, c := range string(once) {
			if 'A' <= c && c <= 'Z' || lookalike.Unseen(c) {
				t.Errorf("Fold(%q) holds %q", s, c)
			}
		}
	})
}
