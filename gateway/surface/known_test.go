package surface_test

import (
	"testing"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway/surface"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry/baseline"
)

// TestKnown: what a baseline says without its upstream is what an agent would be shown
// of it: the same ids, versions and states.
func TestKnown(t *testing.T) {
	b := newBench(t)
	digest := func(raw string) credentials.Digest { return gate.Decode(gate.Tool, []byte(raw)).Digest }
	signed, other := tool("signed", "one"), tool("overtaken", "one")
	row := func(raw string) *gate.Row {
		return &gate.Row{Tool: "tool_r", Gen: 1, Ver: 1, Digest: digest(raw), Standing: labels.Attested, Content: labels.Inspected, Live: true, Owner: "key"}
	}
	r := &registrants{rows: map[string]*gate.Row{"signed": row(signed), "overtaken": row(other)}, uncovered: map[string]bool{}}
	b.registry = r
	s := newServer(signed, other, tool("free", "y"), tool("moved", "y"), tool("odd", "ODD"), tool("squat", "x"))
	s.set("prompts/list", `{"name":"greet"}`)
	k := b.keeper(s)
	mustList(t, k, gate.Tool)
	mustList(t, k, gate.Prompt)
	s.set("tools/list", signed, other, tool("free", "y"), `{"name":"moved","title":"T","inputSchema":{"type":"object"}}`, tool("odd", "ODD"), tool("squat", "x"))
	k.Stale(gate.Tool)
	mustList(t, k, gate.Tool)
	r.rows["overtaken"], r.uncovered["squat"], r.head = row(tool("overtaken", "two")), true, 9
	k.Stale(gate.Tool)
	mustList(t, k, gate.Tool)

	base, err := b.store.Get(place)
	if err != nil {
		t.Fatal(err)
	}
	known, err := surface.Known(base, surface.Weight{Registry: r, Standing: b.standing, Now: b.now()})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]policy.State{"signed": policy.Cleared, "overtaken": policy.Changed, "free": policy.Cleared, "moved": policy.Changed, "squat": policy.Withheld, "greet": policy.Cleared}
	found := 0
	for i := range known {
		e := &known[i]
		if e.Kind != gate.Tool && e.Kind != gate.Prompt {
			continue
		}
		state, ok := want[e.Name]
		if !ok || e.Listed != state {
			t.Errorf("%s %s: %v, want %v", e.Kind, e.Name, e.Listed, state)
		}
		found++
		for _, live := range k.Surface().Entries(e.Kind) {
			if live.Name != e.Name {
				continue
			}
			if live.Listed != e.Listed || live.Tool != e.Tool || live.Gen != e.Gen || e.Listed == policy.Cleared && (live.Digest != e.Digest || live.Ver != e.Ver || live.Tier(b.now()) != e.Tier(b.now())) {
				t.Errorf("%s: %+v, an agent is shown %+v", e.Name, e, live)
			}
		}
	}
	if found != len(want) { // what is suspect was never accepted
		t.Errorf("%d items are known, want %d", found, len(want))
	}
	r.err = baseline.ErrDamaged
	if _, err := surface.Known(base, surface.Weight{Registry: r, Now: b.now()}); err == nil {
		t.Error("known although the registry cannot be asked")
	}
}
