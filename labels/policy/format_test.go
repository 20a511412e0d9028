package policy_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
)

// everything has every member that a rule file knows.
const everything = `default: deny
guards:
  off: [secrets]
rules:
  - name: reading
    allow: [get_file, list_files]
    methods: [tools/call, completion/complete]
    say: Reads files of the project.
    origins: ["stdio:x", "https://b.example"]
    agents: [bot, agt_1]
    effects: [read]
    when: |
      args.path.startsWith("docs/") &&
      provenance.context != "worst"
    args: {path: {longest: 100}, "/options/n": {optional: true, max: 19158835881748060581}}
  - name: mail
    ask: [send_mail]
    say: Sends mail to somebody new.
    assurance: passkey
    results: hold
    new: [to, "/options/cc"]
    rate: {over: 10, per: hour}
  - {name: tried, never: ["*"], shadow: true, when: 'effect.destructive'}
`

// TestCanonicalText: the text of rules is read as the same rules, whatever their file
// looked like, and another rule has another digest.
func TestCanonicalText(t *testing.T) {
	r := mustLoad(t, []byte(everything))
	again := mustLoad(t, r.Text())
	if again.Digest() != r.Digest() || !bytes.Equal(again.Text(), r.Text()) {
		t.Errorf("read again, the rules are others:\n%s\n%s", r.Text(), again.Text())
	}
	other := "\xef\xbb\xbf" + strings.ReplaceAll("# a comment\n"+everything, "\n", "\r\n")
	if mustLoad(t, []byte(other)).Digest() != r.Digest() {
		t.Error("a byte order mark, CRLF or a comment is part of the digest")
	}
	seen := map[string]string{}
	for what, change := range map[string][2]string{
		"say": {"Reads files of the project.", "Reads."}, "origins": {`"stdio:x", `, ""}, "agents": {"[bot, agt_1]", "[bot]"}, "effects": {"[read]", "[read, write]"},
		"when": {`"docs/"`, `"doc/"`}, "args": {"longest: 100", "longest: 101"}, "digits": {"19158835881748060581", "19158835881748060582"}, "optional": {"optional: true, ", ""},
		"assurance": {"passkey", "two-person"}, "new": {`[to, "/options/cc"]`, "[to]"}, "rate": {"over: 10", "over: 11"}, "per": {"per: hour", "per: day"},
		"shadow": {"shadow: true, ", ""}, "guards": {"off: [secrets]", "off: [hosts]"}, "file": {"default: deny\n", "default: deny\nshadow: true\n"},
	} {
		text := strings.Replace(everything, change[0], change[1], 1)
		if text == everything {
			t.Fatalf("%s: nothing changed", what)
		}
		d := mustLoad(t, []byte(text)).Digest().String()
		if d == r.Digest().String() || seen[d] != "" {
			t.Errorf("%s is not part of the digest, or the same as %s", what, seen[d])
		}
		seen[d] = what
	}
}

// TestOldDigests: files without the newer members keep their digests, which entries
// name.
func TestOldDigests(t *testing.T) {
	r := mustLoad(t, []byte("rules:\n  - {name: a, allow: [x], results: mark}\n  - {name: b, never: [y], methods: [tools/call]}\n"))
	const want = `{"default":"deny","rules":[{"allow":["x"],"name":"a","results":"mark"},{"methods":["tools/call"],"name":"b","never":["y"]}]}`
	if string(r.Text()) != want {
		t.Errorf("%s", r.Text())
	}
}

func TestMemberErrors(t *testing.T) {
	rule := func(text string) string { return "rules:\n  - {name: a, " + text + "}\n" }
	for name, text := range map[string]string{
		"say of two lines":      "rules:\n  - name: a\n    allow: [x]\n    say: |\n      one\n      two\n",
		"say that hides":        rule("allow: [x], say: \"a\u202eb\""),
		"say nothing":           rule(`allow: [x], say: ""`),
		"say much":              rule("allow: [x], say: " + strings.Repeat("x", 301)),
		"say a number":          rule("allow: [x], say: 5"),
		"no origins":            rule("allow: [x], origins: []"),
		"any origin":            rule(`allow: [x], origins: ["*"]`),
		"origin twice":          rule("allow: [x], origins: [a, a]"),
		"a word for agents":     rule("allow: [x], agents: a"),
		"no effects":            rule("allow: [x], effects: []"),
		"unknown effect":        rule("allow: [x], effects: [reads]"),
		"unclassified":          rule("allow: [x], effects: [unclassified]"),
		"joined effects":        rule("allow: [x], effects: [read+write]"),
		"effect twice":          rule("allow: [x], effects: [read, read]"),
		"assurance of an allow": rule("allow: [x], assurance: tap"),
		"assurance none":        rule("ask: [x], assurance: none"),
		"assurance notify":      rule("ask: [x], assurance: notify"),
		"assurance nonsense":    rule("ask: [x], assurance: sure"),
		"rate of an allow":      rule("allow: [x], rate: {over: 1, per: hour}"),
		"new of an allow":       rule("allow: [x], new: [to]"),
		"rate without per":      rule("ask: [x], rate: {over: 1}"),
		"rate without over":     rule("ask: [x], rate: {per: hour}"),
		"rate per week":         rule("ask: [x], rate: {over: 1, per: week}"),
		"rate below zero":       rule("ask: [x], rate: {over: -1, per: hour}"),
		"rate of text":          rule(`ask: [x], rate: {over: "10", per: hour}`),
		"half a call":           rule("ask: [x], rate: {over: 1.5, per: hour}"),
		"rate too large":        rule("ask: [x], rate: {over: 18446744073709551616, per: hour}"),
		"rate with more":        rule("ask: [x], rate: {over: 1, per: hour, burst: 2}"),
		"rate null":             rule("ask: [x], rate: {over: null, per: hour}"),
		"no new":                rule("ask: [x], new: []"),
		"any new":               rule(`ask: [x], new: ["*"]`),
		"shadow of a word":      rule(`ask: [x], shadow: "yes"`),
		"when a bool":           rule("allow: [x], when: true"),
		"args a list":           rule("allow: [x], args: [a]"),
		"args unknown word":     rule("allow: [x], args: {a: {like: b}}"),
		"args twice":            rule("allow: [x], args: {a: {longest: 1}, a: {longest: 2}}"),
		"held allow with when":  rule(`allow: [x], results: hold, when: 'args.a == 1'`),
		"held allow with args":  rule("allow: [x], results: hold, args: {a: {longest: 1}}"),
		"held allow of effects": rule("allow: [x], results: hold, effects: [read]"),
		"guards a list":         "guards: [refs]\nrules:\n  - {name: a, allow: [x]}\n",
		"guards unknown":        "guards: {pathes: {}}\nrules:\n  - {name: a, allow: [x]}\n",
		"shadow null as text":   "shadow: \"true\"\nrules:\n  - {name: a, allow: [x]}\n",
	} {
		r, err := policy.Load([]byte(text))
		if err == nil || r != nil || !errors.Is(err, policy.ErrRules) {
			t.Errorf("%s: %v", name, err)
		} else if strings.Contains(err.Error(), "\n") || len(err.Error()) > 250 {
			t.Errorf("%s: error text: %q", name, err)
		}
	}
}

// TestSelectors: a rule is about the calls that it names. What is not known speaks for
// an ask or never, and against an allow.
func TestSelectors(t *testing.T) {
	for _, c := range []struct {
		what          string
		selector      string
		change        func(*policy.Facts)
		allows, never bool // whether it fires
	}{
		{"origin", `origins: ["stdio:x"]`, func(*policy.Facts) {}, true, true},
		{"other origin", `origins: ["stdio:y"]`, func(*policy.Facts) {}, false, false},
		{"no origin", `origins: ["stdio:y"]`, func(f *policy.Facts) { f.Origin = "" }, false, true},
		{"agent by name", `agents: [bot]`, func(*policy.Facts) {}, true, true},
		{"agent by id", `agents: [agt_1]`, func(*policy.Facts) {}, true, true},
		{"other agent", `agents: [cat]`, func(*policy.Facts) {}, false, false},
		{"no agent", `agents: [cat]`, func(f *policy.Facts) { f.Agent, f.AgentName = "", "" }, false, true},
		{"no name", `agents: [cat]`, func(f *policy.Facts) { f.AgentName = "" }, false, true},
		{"effect", `effects: [write]`, func(*policy.Facts) {}, true, true},
		{"one of two effects", `effects: [write]`, func(f *policy.Facts) { f.Effect = labels.Write | labels.Egress }, false, true},
		{"both effects", `effects: [write, egress]`, func(f *policy.Facts) { f.Effect = labels.Write | labels.Egress }, true, true},
		{"other effect", `effects: [write]`, func(f *policy.Facts) { f.Effect = labels.Read }, false, false},
		{"unclassified", `effects: [read]`, func(f *policy.Facts) { f.Effect = labels.Unclassified }, false, true},
		{"all effects", `effects: [read, write, egress, execute, destructive]`, func(f *policy.Facts) { f.Effect = labels.Unclassified }, true, true},
		{"other method", `methods: [prompts/get]`, func(*policy.Facts) {}, false, false},
		{"unknown method", `methods: [prompts/get]`, func(f *policy.Facts) { f.Method = "tools/cal" }, false, false},
	} {
		f := good()
		c.change(&f)
		for verb, want := range map[string]bool{"allow": c.allows, "never": c.never, "ask": c.never} {
			text := "rules:\n  - {name: r, " + verb + ": [t], " + c.selector + "}\n"
			if verb == "ask" { // see TestAskStands
				text += "  - {name: s, allow: [t], methods: [tools/call, prompts/get]}\n"
			}
			p := policy.Of(mustLoad(t, []byte(text)))
			if got := p.Decide(f).Rule() == "r"; got != want {
				t.Errorf("%s, %s: fires %v", c.what, verb, got)
			}
			if got := p.Listed(f); verb == "allow" && got != want || verb == "never" && got {
				t.Errorf("%s, %s: listed %v", c.what, verb, got)
			}
		}
	}
}

// TestThresholds: a rule about rates fires beyond them, one about new values where one
// is new; both where nobody counted. Needs says so beforehand.
func TestThresholds(t *testing.T) {
	p := policy.Of(mustLoad(t, []byte(`rules:
  - {name: ok, allow: [t, u, v]}
  - {name: many, ask: [t], rate: {over: 10, per: hour}}
  - {name: fresh, ask: [t], new: [to, cc]}
  - {name: worn, never: [t], when: 'counts.day >= 100'}
  - {name: first, ask: [v], when: '"to" in counts.new'}
`)))
	for _, c := range []struct {
		counts policy.Counts
		want   string
	}{
		{policy.Counts{Known: true}, "ok"},
		{policy.Counts{Known: true, Hour: 9}, "ok"},
		{policy.Counts{Known: true, Hour: 10}, "many"},
		{policy.Counts{Known: true, Run: 99, Minute: 99, Day: 99}, "ok"},
		{policy.Counts{Known: true, New: []string{"cc"}}, "fresh"},
		{policy.Counts{Known: true, New: []string{"bcc"}}, "ok"},
		{policy.Counts{Known: true, Day: 100}, "worn"},
		{policy.Counts{}, "worn"},
	} {
		f := good()
		f.Counts = c.counts
		if d := p.Decide(f); d.Rule() != c.want {
			t.Errorf("%+v: %s, want %s", c.counts, d.Rule(), c.want)
		}
	}
	for tool, want := range map[string]string{"t": "true [cc to]", "u": "false []", "v": "false [to]", "w": "false []"} {
		f := good()
		f.Tool = tool
		if n := p.Needs(f); fmt.Sprint(n.Counts, n.New) != want {
			t.Errorf("%s needs %v", tool, n)
		}
	}
	f := good()
	f.Tool = "v"
	if d := p.Decide(f); d.Rule() != "ok" {
		t.Error(d.Rule())
	}
	f.Counts.New = []string{"to"}
	if d := p.Decide(f); d.Rule() != "first" {
		t.Error(d.Rule())
	}
}

// TestAssurance: an ask wants the most that any of its rules asks for, and a tap at
// least.
func TestAssurance(t *testing.T) {
	one := mustLoad(t, []byte("rules:\n  - {name: a, ask: [t]}\n  - {name: b, ask: [t], assurance: passkey, say: Pays.}\n  - {name: c, allow: [t, u]}\n  - {name: d, ask: [v], say: Looks.}\n"))
	two := mustLoad(t, []byte("rules:\n  - {name: a, ask: [v], assurance: two-person}\n  - {name: b, allow: [t, u]}\n"))
	for _, c := range []struct {
		p     policy.Policy
		tool  string
		least labels.Assurance
	}{
		{policy.Of(one), "t", labels.AssurancePasskey},
		{policy.Of(one), "v", labels.AssuranceTap},
		{policy.Of(one), "u", labels.AssuranceNone},
		{policy.Layers{Organisation: one, Origin: two}.Policy(), "v", labels.AssuranceTwoPerson},
		{policy.Layers{Organisation: one, Origin: two}.Policy(), "t", labels.AssurancePasskey},
		{policy.Strictest(policy.Of(one), policy.Of(two)), "v", labels.AssuranceTwoPerson},
	} {
		f := good()
		f.Tool = c.tool
		if d := c.p.Decide(f); d.Assurance() != c.least {
			t.Errorf("%s: %v by %s", c.tool, d.Assurance(), d.Rule())
		}
	}
	f := good()
	if d := policy.Of(one).Decide(f); d.Rule() != "a" || d.Sentence() != "" {
		t.Errorf("%s %q", d.Rule(), d.Sentence())
	}
	f.Tool = "v"
	if d := policy.Of(one).Decide(f); d.Sentence() != "Looks." {
		t.Errorf("%q", d.Sentence())
	}
}

// TestAssuranceOfADeny: what an answer would have had to be is told of an ask that nobody
// could answer, also where nothing binds, and of no refusal that an answer would not change.
func TestAssuranceOfADeny(t *testing.T) {
	one := mustLoad(t, []byte("rules:\n  - {name: a, ask: [t]}\n  - {name: b, ask: [t], assurance: passkey}\n  - {name: c, never: [n]}\n  - {name: d, ask: [n], assurance: passkey}\n  - {name: e, allow: [u]}\n  - {name: f, ask: [v]}\n"))
	two := mustLoad(t, []byte("rules:\n  - {name: a, ask: [t], assurance: two-person}\n  - {name: b, allow: [u]}\n"))
	both := policy.Layers{Organisation: one, Origin: two}.Policy()
	for _, c := range []struct {
		name   string
		p      policy.Policy
		tool   string
		reason policy.Reason
		least  labels.Assurance
		joined bool // of policies, which under watch are not joined
	}{
		{"two asks", policy.Of(one), "t", policy.NoChannel, labels.AssurancePasskey, false},
		{"an ask that says nothing", policy.Of(one), "v", policy.NoChannel, labels.AssuranceTap, false},
		{"a never besides", policy.Of(one), "n", policy.RuleNever, labels.AssuranceNone, false},
		{"an allow", policy.Of(one), "u", policy.RuleAllow, labels.AssuranceNone, false},
		{"two layers", both, "t", policy.NoChannel, labels.AssuranceTwoPerson, false},
		{"a layer that denies", both, "v", policy.NoRule, labels.AssuranceNone, false},
		{"two policies", policy.Strictest(policy.Of(one), policy.Of(two)), "t", policy.NoChannel, labels.AssuranceTwoPerson, true},
		{"the first denies", policy.Strictest(policy.Of(two), policy.Of(one)), "v", policy.NoRule, labels.AssuranceNone, true},
		{"the second denies", policy.Strictest(policy.Of(one), policy.Of(two)), "v", policy.NoChannel, labels.AssuranceNone, true},
	} {
		f := good()
		f.Tool, f.Channel = c.tool, false
		if d := c.p.Decide(f); d.Reason() != c.reason || d.Assurance() != c.least {
			t.Errorf("%s: %s %v", c.name, d.Reason(), d.Assurance())
		}
		if f.Profile = policy.Watch; c.joined {
			continue
		}
		if d := c.p.Decide(f); d.Enforced() || d.Assurance() != labels.AssuranceNone || d.Would().Reason() != c.reason || d.Would().Assurance() != c.least {
			t.Errorf("%s, watched: %v, would %s %v", c.name, d.Assurance(), d.Would().Reason(), d.Would().Assurance())
		}
	}
}

// TestManyRules: ten thousand rules, each with a condition of its own, are read and
// decided by; what is too much together is refused.
func TestManyRules(t *testing.T) {
	var b strings.Builder
	b.WriteString("rules:\n")
	for i := range policy.MaxRules {
		fmt.Fprintf(&b, "  - {name: r%d, allow: [t%d], when: 'args.n == %d'}\n", i, i, i)
	}
	p := policy.Of(mustLoad(t, []byte(b.String())))
	f := good()
	f.Tool, f.Args = "t7777", []byte(`{"n":7777}`)
	if d := p.Decide(f); d.Rule() != "r7777" {
		t.Error(d.Rule())
	}
	if r, err := policy.Load([]byte(b.String() + "  - {name: more, allow: [x]}\n")); err == nil || r != nil {
		t.Error("one more is taken")
	}
	b.Reset()
	b.WriteString("rules:\n")
	for i := range 200 {
		fmt.Fprintf(&b, "  - {name: r%d, allow: [\"*\"], when: 'args.a.all(x, x.contains(args.b) && x != \"%d\")'}\n", i, i)
	}
	if r, err := policy.Load([]byte(b.String())); err == nil || r != nil || !strings.Contains(err.Error(), "together") {
		t.Errorf("the conditions of one tool cost what they like: %v", err)
	}
	b.Reset()
	b.WriteString("rules:\n")
	for i := range 900 {
		fmt.Fprintf(&b, "  - {name: r%d, allow: [t%d], when: 'args.a == %d%s'}\n", i, i, i, strings.Repeat(" || args.a == 1", 60))
	}
	if _, err := policy.Load([]byte(b.String())); err != nil {
		t.Errorf("large conditions: %v", err)
	}
}
