package policy_test

import (
	"slices"
	"testing"

	"github.com/pratique-dev/pratique/labels/policy"
)

// TestFit: arguments that do not fit, or that nobody held against a schema, are refused
// below every rule and in every profile but watch.
func TestFit(t *testing.T) {
	rules := mustLoad(t, []byte("rules:\n  - {name: all, allow: [\"*\"], methods: [tools/call, prompts/get, resources/read]}\n"))
	for _, p := range []policy.Policy{policy.Of(nil), policy.Of(rules)} {
		for _, profile := range []policy.Profile{policy.Personal, policy.Strict} {
			for _, method := range []string{"tools/call", "prompts/get", "resources/read"} {
				for fit := policy.Unchecked; fit <= policy.Fits+1; fit++ {
					f := good()
					f.Profile, f.Method, f.Fit, f.UnfitAt = profile, method, fit, "/a"
					d := p.Decide(f)
					if d.Reason() == policy.NoRule { // told first: nobody allows it, whatever its arguments are
						if p.Digest() == policy.Of(rules).Digest() {
							t.Errorf("%s %s: no rule", profile, method)
						}
						continue
					}
					if refused := method != "resources/read" && fit != policy.Fits; refused != (d.Reason() == policy.ReasonUnfit) || refused && d.Verb() != policy.Deny {
						t.Errorf("%s %s %v: %v %s", profile, method, fit, d.Verb(), d.Reason())
					}
					if d.Reason() == policy.ReasonUnfit && (d.Guard() != "closed" || !slices.Equal(d.Paths(), []string{"/a"})) {
						t.Errorf("%s %v", d.Guard(), d.Paths())
					}
				}
			}
		}
	}
	f := good()
	f.Profile, f.Fit, f.UnfitAt = policy.Watch, policy.Unfit, "/a"
	d := policy.Of(nil).Decide(f)
	if d.Verb() != policy.Allow || d.Would().Reason() != policy.ReasonUnfit || d.Enforced() {
		t.Errorf("watch: %v, would be %s", d.Verb(), d.Would().Reason())
	}
	if w := d.Would(); w.Guard() != "closed" || !slices.Equal(w.Paths(), []string{"/a"}) || w.Why() != d.Why() {
		t.Errorf("watch: it would be refused at %q by %q", w.Paths(), w.Guard())
	}
	f = good()
	f.Fit, f.Gate = policy.Unchecked, policy.Withheld // what is not shown is told first
	if d := policy.Of(nil).Decide(f); d.Reason() != policy.ReasonWithheld {
		t.Error(d.Reason())
	}
}
