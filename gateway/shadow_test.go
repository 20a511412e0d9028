package gateway

import (
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels"
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

// TestNeedsIsRecorded: what an answer to an ask would have had to be, the most that any
// rule wants, is in the entry and in the refusal; of what was never shown the agent is
// told nothing of it, and where no answer would help nothing is there.
func TestNeedsIsRecorded(t *testing.T) {
	const text = `rules:
- {name: plain, ask: [it]}
- {name: sure, ask: [it], assurance: passkey, say: Spends money.}
- {name: no, never: [other]}
- {name: hide, ask: [gone], assurance: passkey}
`
	rules, err := policy.Load([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, profile := range []policy.Profile{policy.Personal, policy.Watch} {
		u := newServer(tool("it"), tool("other"))
		h := newHouse(t, u, profile, func(o *Options) { o.Policy = policy.Of(rules) })
		s := h.shown(newPerson())
		watched := profile == policy.Watch
		for _, c := range []struct {
			name   string
			reason policy.Reason
			needs  labels.Assurance
			told   string
		}{
			{"it", policy.NoChannel, labels.AssurancePasskey, "passkey"}, {"other", policy.RuleNever, labels.AssuranceNone, ""},
			{"gone", policy.ReasonNotShown, labels.AssuranceNone, ""},
		} {
			a := s.Handle(ctx, ask(methodCall, `{"name":"`+c.name+`","arguments":{}}`), newPerson())
			e := h.book.of(func(e registry.Entry) bool { return e.Type == registry.EntryDecision && e.Name == c.name })
			if len(e) != 1 || e[0].Reason != string(c.reason) || e[0].Needs != c.needs {
				t.Errorf("%s of %s: %+v", c.name, profile, e)
			}
			if watched {
				continue
			}
			needs, _ := mcp.GetString(a.Result, "structuredContent", "needs")
			sentence := strings.Contains(string(a.Result), "An answer would have to be at least: "+c.told+".")
			if needs != c.told || sentence != (c.told != "") || strings.Contains(string(a.Result), "Spends money") {
				t.Errorf("%s: %s", c.name, a.Result)
			}
		}
	}
}

// TestLineIsTold: of a text that is refused for what stands in it entry and refusal name
// the line.
func TestLineIsTold(t *testing.T) {
	u := newServer(`{"name":"write_file","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}}}}`)
	rules, err := policy.Load([]byte("rules:\n- {name: yes, allow: [write_file]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse(t, u, policy.Personal, func(o *Options) { o.Policy = policy.Of(rules) })
	s := h.shown(newPerson())
	token := "glpat-" + "Zx8kQ2mN5vB7cT4rW9yL"
	a := s.Handle(ctx, ask(methodCall, `{"name":"write_file","arguments":{"path":"a.txt","content":"a\nb\n`+token+`\n"}}`), newPerson())
	e := h.book.of(func(e registry.Entry) bool { return e.Type == registry.EntryDecision && e.Name == "write_file" })
	if len(e) != 1 || e[0].Guard != "content" || e[0].Line != 3 || !strings.Contains(string(a.Result), "What is wrong at /content, line 3: ") {
		t.Errorf("%+v: %s", e, a.Result)
	}
}
