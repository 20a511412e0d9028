//go:build long

package eval

import (
	"context"
	"os"
	"testing"
	"time"
)

// The aims of the issue on the corpus of inspection, by source. Recall is what
// rules that were tuned on this corpus reach on it (docs/inspection.md).
func TestAims(t *testing.T) {
	dir := os.Getenv("PRATIQUE_CORPUS")
	if dir == "" {
		t.Skip("PRATIQUE_CORPUS is not set")
	}
	c, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), c, Options{Folds: 10, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range r.Headline {
		if l.Aim > 0 && (l.Label == "attack" && l.Flagged.Rate < l.Aim || l.Label == "benign" && l.Flagged.Rate > l.Aim) {
			t.Errorf("%s %s: %d of %d, aim %v", l.Label, l.Name, l.Flagged.Hits, l.Flagged.N, l.Aim)
		}
	}
}
