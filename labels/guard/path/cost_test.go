package path

import (
	"strings"
	"testing"
)

// TestReadingsAreJudgedOnce: a path that can be read in many ways is read in each of them
// once, whatever the order of the steps to it.
func TestReadingsAreJudgedOnce(t *testing.T) {
	r, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, start := range []string{"docs/e%EF%BC%85'q'$x;y/", "./a;b/'c'$d?e#f/", "%2525252e/", "a%20b'$c';d/", "\uff0e'$x%2541;/"} {
		for _, tail := range []string{"", strings.Repeat("a/", 500), strings.Repeat("a;'b'$c/", 100)} {
			text := start + tail
			x := &reader{Rule: r}
			why := x.readings(text, scan(text), 0, false)
			if len(x.seen) > 40 {
				t.Errorf("%.40q: %d readings, %q", text, len(x.seen), why)
			}
		}
	}
}
