package main

import (
	"testing"

	"github.com/pratique-dev/pratique/examples/unattended"
)

// TestDirect: without Pratique every attack works, and so does every call of the
// agent's work.
func TestDirect(t *testing.T) {
	w := newGitLab(t)
	d := unattended.Sit(t, w.command(t), w)
	if len(d.Tools) != 262 {
		t.Errorf("%d tools, want 262", len(d.Tools))
	}
	d.Works(vectors(t, "testdata/attacks.jsonl"), vectors(t, "testdata/benign.jsonl"))
}
