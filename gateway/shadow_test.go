package gateway

import (
	"slices"
	"testing"

	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry"
)

// TestShadowIsRecorded: what rules that only watch would have decided is in the entry of
// the call that they let be.
func TestShadowIsRecorded(t *testing.T) {
	rules, err := policy.Load([]byte("rules:\n- {name: yes, allow: [it]}\n- {name: soon, never: [it], shadow: true}\n"))
	if err != nil {
		t.Fatal(err)
	}
	u := newServer(tool("it"))
	h := newHouse(t, u, policy.Personal, func(o *Options) { o.Policy = policy.Of(rules) })
	s := h.shown(newPerson())
	if a := s.Handle(ctx, ask(methodCall, callIt), newPerson()); reason(a) != "" || u.executed(methodCall, "it") != 1 {
		t.Fatalf("%s", a.Bytes())
	}
	e := h.book.of(func(e registry.Entry) bool { return e.Type == registry.EntryDecision && e.Name == "it" })
	want := []registry.EntryShadow{{Verb: "deny", Reason: string(policy.RuleNever), Rule: "soon"}}
	if len(e) != 1 || e[0].Verb != "allow" || e[0].Rule != "yes" || !slices.Equal(e[0].Shadow, want) {
		t.Errorf("%+v", e)
	}
}
