package policy_test

import (
	"sync"
	"testing"

	"github.com/pratique-dev/pratique/labels/policy"
)

// TestConcurrent: one policy decides for many at once, and each decision is the one
// that it is alone.
func TestConcurrent(t *testing.T) {
	c := chanceOf(99)
	p := policy.Layers{
		Organisation: mustLoad(t, []byte(fileOf(c.lines(6)))), Origin: mustLoad(t, []byte(fileOf(c.lines(3)))),
		Intent: c.sealed(mustLoad(t, []byte("rules:\n  - {name: r, allow: [t, u], when: 'within(args.p, [\"docs\", \"notes\"]) && args.l.all(x, x in args.l)'}\n"))),
	}.Policy()
	var calls []policy.Facts
	var want []string
	for range 200 {
		f := c.facts()
		if c.odds(2) {
			f.Args = []byte(`{"p":"docs/a","l":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18]}`)
		}
		calls, want = append(calls, f), append(want, told(p.Decide(f)))
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i, f := range calls {
				if got := told(p.Decide(f)); got != want[i] {
					t.Errorf("%s, and alone %s", got, want[i])
				}
				p.Listed(f)
				policy.Explain(p, f)
			}
		})
	}
	wg.Wait()
}
