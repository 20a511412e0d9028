package main

import (
	"testing"

	"github.com/pratique-dev/pratique/examples/unattended"
)

// TestDirect: without Pratique every attack works, and so does every call of the
// agent's work. An attack that does nothing would prove nothing by being blocked.
func TestDirect(t *testing.T) {
	w := newGitLab(t)
	d := unattended.Sit(t, w.command(t), w)
	if len(d.Tools) != 262 {
		t.Errorf("%d tools, want 262", len(d.Tools))
	}
	for _, v := range vectors(t, "testdata/attacks.jsonl") {
		if o := d.Try(v); !o.Worked() || !o.Proves(v.Proof) || o.Requests == 0 || o.Heard != 1 {
			t.Errorf("%s does nothing: %v %v %.300q, changes %q, %d requests, heard %d", v.Name, o.Result, o.Err, o.Text, o.Changes, o.Requests, o.Heard)
		}
	}
	for _, v := range vectors(t, "testdata/benign.jsonl") {
		if o := d.Try(v); !o.Worked() {
			t.Errorf("%s does not work: %v %v %.300q", v.Name, o.Result, o.Err, o.Text)
		}
	}
}
