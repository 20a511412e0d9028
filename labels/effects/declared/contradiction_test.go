package declared_test

import (
	"testing"

	"github.com/pratique-dev/pratique/labels/effects/declared"
)

func TestContradictions(t *testing.T) {
	if found, _, of := measure(t, "contradiction.jsonl", declared.Contradiction); of < 40 || found*10 < of*9 {
		t.Errorf("%d of %d", found, of)
	}
}

// These were written after the rules were fixed.
func TestContradictionsLater(t *testing.T) {
	measure(t, "contradiction-later.jsonl", declared.Contradiction)
}
