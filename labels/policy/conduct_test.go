package policy_test

import (
	"testing"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
)

// TestConsistentLowersNothing is RULES.md 20: conduct makes a pinned tool Green, and
// that lowers nothing that a call out of an untrusted context needs.
func TestConsistentLowersNothing(t *testing.T) {
	p := policy.Of(mustLoad(t, []byte("rules:\n  - {name: all, allow: [a]}\n")))
	for c := policy.Worst; c <= policy.Clean; c++ {
		f := policy.Facts{Fit: policy.Fits, Profile: policy.Strict, Method: "tools/call", Tool: "a", Tier: labels.Green, Standing: labels.Pinned, Content: labels.Consistent,
			Gate: policy.Cleared, Channel: true, Context: c}
		g := f
		g.Content, g.Tier = labels.Inspected, labels.Yellow
		got, inspected := p.Decide(f).Verb(), p.Decide(g).Verb()
		if c == policy.Clean && got != policy.Allow {
			t.Errorf("clean: %v", got)
		}
		if c != policy.Clean && got != inspected {
			t.Errorf("%v: %v, and what was only inspected %v", c, got, inspected)
		}
	}
}
