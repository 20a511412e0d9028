package gateway

import (
	"testing"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/policy"
)

// TestAnEndedRunCallsNothing: once an operator has ended a run, nothing of its
// open sessions goes upstream, also what needs no list.
func TestAnEndedRunCallsNothing(t *testing.T) {
	u := newServer(tool("it"))
	u.lists[methodTemplates] = []string{`{"uriTemplate":"x://{id}","name":"t"}`}
	u.lists[methodPrompts] = []string{`{"name":"p"}`}
	u.answer(`{"content":[{"type":"resource_link","uri":"link://a","name":"a"}]}`)
	h := newHouse(t, u, policy.Personal)
	s := h.shown(newPerson())
	s.Handle(ctx, ask(methodCall, callIt), newPerson())
	calls := []mcp.Frame{
		ask(methodRead, `{"uri":"link://a"}`), ask(methodLevel, `{"level":"debug"}`), ask(methodRead, `{"uri":"x://1"}`),
		ask(methodComplete, `{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"secret"}}`), ask(methodCall, callIt),
	}
	for _, f := range calls {
		if a := s.Handle(ctx, f, newPerson()); a.Shape == mcp.Failure {
			t.Fatalf("before: %s", a.Bytes())
		}
	}
	if err := h.opt.Runs.End(s.who.ID, "operator"); err != nil {
		t.Fatal(err)
	}
	before := u.executed(methodRead, "*") + u.executed(methodLevel, "*") + u.executed(methodComplete, "*") + u.executed(methodCall, "*")
	for _, f := range calls {
		if a := s.Handle(ctx, f, newPerson()); reason(a) != string(policy.Revoked) {
			t.Errorf("after: %s", a.Bytes())
		}
	}
	after := u.executed(methodRead, "*") + u.executed(methodLevel, "*") + u.executed(methodComplete, "*") + u.executed(methodCall, "*")
	if before != after || len(u.did) != 1+len(calls) {
		t.Errorf("executed %d, then %d", before, after)
	}
}
