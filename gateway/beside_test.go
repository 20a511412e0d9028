package gateway

import (
	"testing"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry"
)

// TestWhatGoesBesideArgumentsIsInTheRecord: unknown members, _meta and the answers
// to questions go upstream, so the entry commits to them (RULES.md 5, 6).
func TestWhatGoesBesideArgumentsIsInTheRecord(t *testing.T) {
	for params, want := range map[string]bool{
		`{"name":"it","arguments":{"a":1}}`:                                         false,
		`{"name":"it","arguments":{"a":1},"_meta":{"progressToken":1}}`:             false,
		`{"name":"it","arguments":{"a":1},"_meta":{"baggage":"x=1"}}`:               false,
		`{"name":"it","arguments":{"a":1},"_meta":{"com.example/x":"secret"}}`:      true,
		`{"name":"it","arguments":{"a":1},"extra":"secret"}`:                        true,
		`{"name":"it","arguments":{"a":1},"inputResponses":{"q":{"action":"yes"}}}`: true,
	} {
		h := newHouse(t, newServer(tool("it")), policy.Personal)
		if a := h.shown(newPerson()).Handle(ctx, ask(methodCall, params), newPerson()); a.Shape != mcp.Result {
			t.Fatalf("%s: %s", params, a.Bytes())
		}
		got := h.book.of(func(e registry.Entry) bool { return e.Type == registry.EntryDecision && e.Method == methodCall })
		if len(got) != 1 || got[0].Params.IsZero() == want || got[0].Args.IsZero() {
			t.Errorf("%s: %+v", params, got)
		}
	}
}

// TestMembersOfTheEnvelopeAreJudged: what stands beside params goes upstream too,
// so it is in the record and under our own guard.
func TestMembersOfTheEnvelopeAreJudged(t *testing.T) {
	h := newHouse(t, newServer(tool("it")), policy.Personal)
	s := h.shown(newPerson())
	f := ask(methodCall, `{"name":"it","arguments":{"a":1}}`)
	f.Rest = []mcp.Member{{Name: "x-top", Value: []byte(`"secret"`)}}
	if a := s.Handle(ctx, f, newPerson()); a.Shape != mcp.Result {
		t.Fatalf("%s", a.Bytes())
	}
	got := h.book.of(func(e registry.Entry) bool { return e.Type == registry.EntryDecision && e.Method == methodCall })
	if len(got) != 1 || got[0].Params.IsZero() {
		t.Errorf("not in the record: %+v", got)
	}
	f.Rest = []mcp.Member{{Name: "x-top", Value: []byte(`{"p":"/srv/own-data/keys"}`)}}
	if a := s.Handle(ctx, f, newPerson()); reason(a) != "own_guard" {
		t.Errorf("%s", a.Bytes())
	}
}
