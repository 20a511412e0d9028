package vectors_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/labels/policy/vectors"
)

func Example() {
	all, err := vectors.All()
	if err != nil {
		panic(err)
	}
	v := all[slices.IndexFunc(all, func(v vectors.Vector) bool { return v.Name == "personal, settled, clear, pinned origin" })]
	f, err := v.Facts()
	if err != nil {
		panic(err)
	}
	p, err := v.Policy()
	if err != nil {
		panic(err)
	}
	d := p.Decide(f)
	fmt.Println(d.Verb(), d.Reason(), d.Rule())
	// Output: allow cleared profile:personal
}

// uses are the methods that an item of a kind is for: it is listed for any of them.
var uses = map[string][]string{
	"tool": {"tools/call"}, "prompt": {"prompts/get", "completion/complete"},
	"resource": {"resources/read", "resources/subscribe", "resources/unsubscribe", "completion/complete"},
	"template": {"resources/read", "resources/subscribe", "resources/unsubscribe", "completion/complete"},
}

func listed(p policy.Policy, f policy.Facts, kind string) bool {
	for _, f.Method = range uses[kind] {
		if p.Listed(f) {
			return true
		}
	}
	return false
}

// The vectors come out as they should.
func TestVectors(t *testing.T) {
	all, err := vectors.All()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Fatalf("%d vectors", len(all))
	}
	seen := map[string]bool{}
	for _, v := range all {
		t.Run(v.Name, func(t *testing.T) {
			if seen[v.Name] {
				t.Fatal("the name is taken")
			}
			seen[v.Name] = true
			f, err := v.Facts()
			if err != nil {
				t.Fatal(err)
			}
			p, err := v.Policy()
			if err != nil {
				t.Fatal(err)
			}
			d := p.Decide(f)
			if d.Verb().String() != v.Want.Verb || d.Reason() != v.Want.Reason || d.Rule() != v.Want.Rule {
				t.Errorf("%v %s by %s, want %+v", d.Verb(), d.Reason(), d.Rule(), v.Want)
			}
			if want := cmp.Or(v.Want.Results, "cut"); d.Enforced() && d.Verb() != policy.Deny && d.Results().String() != want {
				t.Errorf("results %v, want %s", d.Results(), want)
			}
			if d.Would().Guard() != v.Want.Guard || !slices.Equal(d.Would().Paths(), v.Want.At) {
				t.Errorf("guard %q at %q, want %q at %q", d.Would().Guard(), d.Would().Paths(), v.Want.Guard, v.Want.At)
			}
			if got := listed(p, f, v.Kind); got != v.Want.Listed {
				t.Errorf("listed %v", got)
			}
			if v.Want.Would == nil {
				if !d.Enforced() {
					t.Error("not enforced")
				}
				return
			}
			w := d.Would()
			if d.Enforced() || w.Verb().String() != v.Want.Would.Verb || w.Reason() != v.Want.Would.Reason || w.Rule() != v.Want.Would.Rule {
				t.Errorf("would have been %v %s by %s, want %+v", w.Verb(), w.Reason(), w.Rule(), *v.Want.Would)
			}
		})
	}
}
