package policy_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
)

func sealed(t *testing.T, rules string) *policy.Sealed {
	t.Helper()
	s := &policy.Sealed{
		Expires: time.Date(2026, 11, 30, 16, 0, 0, 0, time.UTC), Digest: credentials.Digest{9}, Agent: "agt_1",
		Items: []policy.SealedItem{
			{Origin: "stdio:x", Kind: "tool", Name: "t", Digest: credentials.Digest{1}},
			{Origin: "stdio:x", Kind: "tool", Name: "u", ID: "tool_1", Digest: credentials.Digest{2}},
			{Origin: "stdio:x", Kind: "prompt", Name: "p", Digest: credentials.Digest{3}},
			{Origin: "stdio:x", Kind: "template", Name: "file:///{path}", Digest: credentials.Digest{4}},
			{Origin: "stdio:x", Kind: "tool", Name: "blank"},
		},
	}
	if rules != "" {
		s.Rules = mustLoad(t, []byte(rules))
	}
	return s
}

// TestSealed: a run that was sealed does what its intent includes, in that version, by
// that agent, until its end, and nothing else (RULES.md 4, 32).
func TestSealed(t *testing.T) {
	plain := policy.Layers{Intent: sealed(t, "")}.Policy()
	ruled := policy.Layers{Intent: sealed(t, `rules:
  - {name: write, allow: [t, u], when: 'args.path != "x"'}
  - {name: read, allow: ["file:///{path}"], methods: [resources/read]}
  - {name: tidy, ask: [p], methods: [prompts/get]}
`)}.Policy()
	in := good()
	in.Digest, in.Args = credentials.Digest{1}, []byte(`{"path":"y"}`)
	for _, c := range []struct {
		what   string
		change func(*policy.Facts)
		plain  policy.Reason
		ruled  policy.Reason
		listed bool // under the plain one
	}{
		{"a tool of it", func(*policy.Facts) {}, policy.ReasonCleared, policy.ReasonCleared, true},
		{"an argument that a rule leaves out", func(f *policy.Facts) { f.Args = []byte(`{"path":"x"}`) }, policy.ReasonCleared, policy.NoRule, true},
		{"a changed version", func(f *policy.Facts) { f.Digest = credentials.Digest{7} }, policy.OutsideIntent, policy.OutsideIntent, false},
		{"no version", func(f *policy.Facts) { f.Digest = credentials.Digest{} }, policy.OutsideIntent, policy.OutsideIntent, false},
		{"an item without a version", func(f *policy.Facts) { f.Tool, f.Digest = "blank", credentials.Digest{} }, policy.OutsideIntent, policy.OutsideIntent, false},
		{"another tool", func(f *policy.Facts) { f.Tool = "later" }, policy.OutsideIntent, policy.OutsideIntent, false},
		{"a name with a blank", func(f *policy.Facts) { f.Tool = "t " }, policy.OutsideIntent, policy.OutsideIntent, false},
		{"a name of other case", func(f *policy.Facts) { f.Tool = "T" }, policy.OutsideIntent, policy.OutsideIntent, false},
		{"another origin", func(f *policy.Facts) { f.Origin = "stdio:y" }, policy.OutsideIntent, policy.OutsideIntent, false},
		{"another id", func(f *policy.Facts) { f.ID = "tool_2" }, policy.OutsideIntent, policy.OutsideIntent, false},
		{"its id", func(f *policy.Facts) { f.Tool, f.ID, f.Digest = "u", "tool_1", credentials.Digest{2} }, policy.ReasonCleared, policy.ReasonCleared, true},
		{"no id", func(f *policy.Facts) { f.Tool, f.Digest = "u", credentials.Digest{2} }, policy.OutsideIntent, policy.OutsideIntent, false},
		{"another agent", func(f *policy.Facts) { f.Agent = "agt_2" }, policy.OutsideIntent, policy.OutsideIntent, false},
		{"no agent", func(f *policy.Facts) { f.Agent = "" }, policy.OutsideIntent, policy.OutsideIntent, false},
		{"its end", func(f *policy.Facts) { f.At = time.Date(2026, 11, 30, 16, 0, 0, 0, time.UTC) }, policy.IntentExpired, policy.IntentExpired, false},
		{"no time", func(f *policy.Facts) { f.At = time.Time{} }, policy.IntentExpired, policy.IntentExpired, false},
		{"a tool as a prompt", func(f *policy.Facts) { f.Method = "prompts/get" }, policy.OutsideIntent, policy.OutsideIntent, false},
		{"a prompt", func(f *policy.Facts) { f.Method, f.Tool, f.Digest = "prompts/get", "p", credentials.Digest{3} }, policy.ReasonCleared, policy.RuleAsk, true},
		{"a completion", func(f *policy.Facts) { f.Method, f.Tool, f.Digest = "completion/complete", "p", credentials.Digest{3} }, policy.NoRule, policy.NoRule, false},
		{"a template", func(f *policy.Facts) {
			f.Method, f.Tool, f.Target, f.Digest = "resources/read", "file:///{path}", "file:///a", credentials.Digest{4}
		}, policy.NoRule, policy.ReasonCleared, false},
		{"a withheld tool", func(f *policy.Facts) { f.Gate = policy.Withheld }, policy.ReasonWithheld, policy.ReasonWithheld, false},
		{"a red one", func(f *policy.Facts) { f.Tier = labels.Red }, policy.ReasonRed, policy.ReasonRed, false},
	} {
		f := in
		c.change(&f)
		if d := plain.Decide(f); d.Reason() != c.plain {
			t.Errorf("%s: %s by %s, want %s", c.what, d.Reason(), d.Rule(), c.plain)
		}
		if d := ruled.Decide(f); d.Reason() != c.ruled {
			t.Errorf("%s, with rules: %s by %s, want %s", c.what, d.Reason(), d.Rule(), c.ruled)
		}
		if plain.Listed(f) != c.listed {
			t.Errorf("%s: listed %v", c.what, !c.listed)
		}
		f.Profile = policy.Watch // an intent ends watching
		if d := plain.Decide(f); d.Verb() == policy.Allow != (c.plain == policy.ReasonCleared) || d.Verb() != policy.Allow && !d.Enforced() {
			t.Errorf("%s, under watch: %v %s", c.what, d.Verb(), d.Reason())
		}
		if plain.Listed(f) != c.listed {
			t.Errorf("%s, under watch: listed %v", c.what, !c.listed)
		}
	}
	if d := (policy.Layers{Intent: &policy.Sealed{}}).Policy().Decide(in); d.Reason() != policy.IntentExpired {
		t.Errorf("the zero intent: %s", d.Reason())
	}
}

// TestStrictNeedsALayer: strict permits nothing without rules or an intent, and a file
// of the origin is no permission of the operator.
func TestStrictNeedsALayer(t *testing.T) {
	rules := mustLoad(t, []byte("rules:\n  - {name: all, allow: [\"*\"]}\n"))
	shadow := mustLoad(t, []byte("shadow: true\nrules:\n  - {name: all, allow: [\"*\"]}\n"))
	f := good()
	f.Profile, f.Digest = policy.Strict, credentials.Digest{1}
	for what, c := range map[string]struct {
		l    policy.Layers
		want policy.Verb
	}{
		"nothing":             {policy.Layers{}, policy.Deny},
		"the origin's file":   {policy.Layers{Origin: rules}, policy.Deny},
		"a file that watches": {policy.Layers{Organisation: shadow}, policy.Deny},
		"rules":               {policy.Layers{Organisation: rules}, policy.Allow},
		"an intent":           {policy.Layers{Intent: sealed(t, "")}, policy.Allow},
		"both":                {policy.Layers{Organisation: rules, Origin: rules, Intent: sealed(t, "")}, policy.Allow},
	} {
		p := c.l.Policy()
		if d := p.Decide(f); d.Verb() != c.want || p.Listed(f) != (c.want == policy.Allow) {
			t.Errorf("%s: %v, listed %v", what, d.Verb(), p.Listed(f))
		}
	}
}

// TestLayerNames: the result is the strictest, with the reason of the first layer that
// gave it, whose rules are told apart by their layer.
func TestLayerNames(t *testing.T) {
	f := good()
	f.Digest = credentials.Digest{1}
	load := func(verb string) *policy.Rules { return mustLoad(t, []byte("rules:\n  - {name: r, "+verb+": [t]}\n")) }
	for _, c := range []struct{ org, origin, intent, verb, rule string }{
		{"allow", "allow", "allow", "allow", "r"},
		{"allow", "ask", "allow", "ask", "origin:r"},
		{"allow", "ask", "never", "deny", "intent:r"},
		{"ask", "ask", "allow", "ask", "r"},
		{"never", "never", "never", "deny", "r"},
	} {
		s := sealed(t, "")
		s.Rules = load(c.intent)
		p := policy.Layers{Organisation: load(c.org), Origin: load(c.origin), Intent: s}.Policy()
		if d := p.Decide(f); d.Verb().String() != c.verb || d.Rule() != c.rule {
			t.Errorf("%+v: %v by %s", c, d.Verb(), d.Rule())
		}
		under := policy.Under(policy.Layers{Organisation: load(c.org), Origin: load(c.origin)}.Policy(), s)
		if under.Digest() != p.Digest() {
			t.Error("the intent under the other layers is another policy")
		}
	}
	// Two intents, and a policy that others made, are held together.
	if d := policy.Under(refuser{}, sealed(t, "")).Decide(f); d.Verb() != policy.Deny {
		t.Error("an intent loosens")
	}
	other := sealed(t, "")
	other.Items = other.Items[1:]
	if d := policy.Under(policy.Layers{Intent: sealed(t, "")}.Policy(), other).Decide(f); d.Reason() != policy.OutsideIntent {
		t.Error("a second intent widens the first")
	}
}

// TestShadow: what only watches is recorded and changes nothing.
func TestShadow(t *testing.T) {
	const base = "  - {name: ok, allow: [t, u]}\n  - {name: no, never: [v]}\n"
	rules := mustLoad(t, []byte("rules:\n"+base+"  - {name: a, never: [t], when: 'args.x == 1', shadow: true}\n  - {name: b, ask: [u], shadow: true}\n  - {name: c, allow: [w, v], shadow: true}\n"))
	file := mustLoad(t, []byte("shadow: true\nrules:\n  - {name: s, ask: [t]}\n"))
	plain := policy.Of(mustLoad(t, []byte("rules:\n"+base)))
	for _, c := range []struct {
		tool, args string
		want       []policy.Shadowed
	}{
		{"t", `{"x":1}`, []policy.Shadowed{{Verb: policy.Deny, Reason: policy.RuleNever, Rule: "a"}}},
		{"t", `{"x":2}`, nil},
		{"u", `{}`, []policy.Shadowed{{Verb: policy.Ask, Reason: policy.RuleAsk, Rule: "b"}}},
		{"v", `{}`, nil},
		{"w", `{}`, []policy.Shadowed{{Verb: policy.Allow, Reason: policy.RuleAllow, Rule: "c"}}},
	} {
		f := good()
		f.Tool, f.Args = c.tool, []byte(c.args)
		d, want := policy.Of(rules).Decide(f), plain.Decide(f)
		if d.Verb() != want.Verb() || d.Reason() != want.Reason() || d.Rule() != want.Rule() || policy.Of(rules).Listed(f) != plain.Listed(f) {
			t.Errorf("%s: a shadow rule changes the verdict to %v by %s", c.tool, d.Verb(), d.Rule())
		}
		if got := d.Shadow(); len(got) != len(c.want) || len(got) > 0 && got[0] != c.want[0] {
			t.Errorf("%s %s: shadow %v, want %v", c.tool, c.args, got, c.want)
		}
	}
	f := good()
	d := policy.Of(file).Decide(f)
	if d.Verb() != policy.Allow || d.Rule() != "profile:personal" || len(d.Shadow()) != 1 || d.Shadow()[0] != (policy.Shadowed{Verb: policy.Ask, Reason: policy.RuleAsk, Rule: "s"}) {
		t.Errorf("a file that watches: %v by %s, %v", d.Verb(), d.Rule(), d.Shadow())
	}
	f.Tool = "other"
	d = policy.Layers{Origin: file}.Policy().Decide(f)
	if d.Verb() != policy.Allow || len(d.Shadow()) != 1 || d.Shadow()[0] != (policy.Shadowed{Verb: policy.Deny, Reason: policy.NoRule, Rule: "origin:default"}) {
		t.Errorf("a file that watches: %v by %s, %v", d.Verb(), d.Rule(), d.Shadow())
	}
	if policy.Of(file).Digest() == policy.Of(nil).Digest() {
		t.Error("a file that watches is no part of the digest")
	}
	s := sealed(t, "")
	s.Rules = file // of an intent, it binds
	f = good()
	f.Digest = credentials.Digest{1}
	if d := (policy.Layers{Intent: s}).Policy().Decide(f); d.Verb() != policy.Ask {
		t.Errorf("an intent that watches: %v", d.Verb())
	}
}

// TestText: the text of layers is read as the same policy.
func TestText(t *testing.T) {
	org, site := mustLoad(t, []byte(everything)), mustLoad(t, []byte("shadow: true\nrules:\n  - {name: s, ask: [t]}\n"))
	seen := map[credentials.Digest]bool{}
	for _, l := range []policy.Layers{
		{}, {Organisation: org}, {Origin: org}, {Intent: sealed(t, "")}, {Organisation: site}, {Organisation: org, Origin: site},
		{Organisation: org, Origin: site, Intent: sealed(t, everything)}, {Organisation: site, Origin: org, Intent: sealed(t, everything)},
	} {
		p := l.Policy()
		text := policy.Text(p)
		again, err := policy.Read(text)
		if err != nil || again.Digest() != p.Digest() || !bytes.Equal(policy.Text(again), text) {
			t.Errorf("%s: %v", text, err)
		}
		if seen[p.Digest()] {
			t.Errorf("%s: the same digest as others", text)
		}
		seen[p.Digest()] = true
	}
	other := sealed(t, "")
	other.Expires = other.Expires.Add(time.Nanosecond)
	if (policy.Layers{Intent: other}).Policy().Digest() == (policy.Layers{Intent: sealed(t, "")}).Policy().Digest() {
		t.Error("the end of an intent is no part of the digest")
	}
	if policy.Text(refuser{}) != nil {
		t.Error("a text of nobody's policy")
	}
	for _, text := range []string{``, `{"layers":`, `{"layers":{"other":{}}}`, `{"layers":{"organisation":{}}}`, `{"layers":{"intent":{"items":[],"expires":"never","digest":""}}}`,
		`{"layers":{"intent":{"items":[],"expires":"2026-11-30T16:00:00Z","digest":"x"}}}`, `{"layers":{},"more":1}`, `{"layers":{}}{}`} {
		if p, err := policy.Read([]byte(text)); err == nil || p != nil {
			t.Errorf("%s is taken", text)
		}
	}
}
