package surface_test

import (
	"testing"
	"time"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/effects"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// TestEffectEnds: what somebody said of an effect until a time is not believed after
// it, although the upstream and all else stay as they are.
func TestEffectEnds(t *testing.T) {
	b := newBench(t)
	end := b.now().Add(time.Hour)
	b.effect = func(e *gate.Entry) labels.Effect {
		if b.now().Before(end) {
			e.EffectBy = effects.ByCatalogue
			return labels.Read
		}
		return labels.Unclassified
	}
	b.ends = func(now time.Time) int64 {
		if now.Before(end) {
			return end.Unix()
		}
		return 0
	}
	k := b.keeper(newServer(tool("a", "x")))
	mustList(t, k, gate.Tool)
	look := func(when string, want labels.Effect, by effects.Source) {
		t.Helper()
		e, err := k.Look(t.Context(), gate.Tool, "a")
		if err != nil || e.Effect != want || e.EffectBy != by {
			t.Errorf("%s: %v by %q, %v", when, e.Effect, e.EffectBy, err)
		}
	}
	look("before", labels.Read, effects.ByCatalogue)
	b.pass(time.Hour)
	look("after", labels.Unclassified, effects.ByRule)
}
