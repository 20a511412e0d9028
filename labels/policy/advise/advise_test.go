package advise_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/labels/policy/advise"
)

func load(t *testing.T, text string) *policy.Rules {
	t.Helper()
	r, err := policy.Load([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func ExampleCheck() {
	rules, err := policy.Load([]byte("rules:\n  - {name: notes, allow: [get_note, get_notes]}\n  - {name: all, never: [get_note]}\n"))
	if err != nil {
		panic(err)
	}
	for _, f := range advise.Check(rules, []advise.Item{{Kind: "tool", Name: "get_note"}}) {
		fmt.Println(f.Rule, f.Kind, f.Item, f.Text)
	}
	// Output: notes unknown_item get_notes No upstream has an item of the name get_notes.
}

var items = []advise.Item{
	{Kind: "tool", Name: "write", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"},"mode":{"type":"string"},"options":{"type":"object","properties":{"branch":{"type":"string"},"a/b":{}}}},"required":["path"]}`)},
	{Kind: "tool", Name: "open", Schema: []byte(`{"type":"object"}`)},
	{Kind: "tool", Name: "more", Schema: []byte(`{"properties":{"a":{}},"additionalProperties":true}`)},
	{Kind: "tool", Name: "joined", Schema: []byte(`{"allOf":[{"properties":{"x":{}}},{"properties":{"y":{}}}]}`)},
	{Kind: "tool", Name: "unread"},
	{Kind: "tool", Name: "some", Schema: []byte(`{"type":"object","properties":{"x":{}},"anyOf":[{"required":["x"]}]}`)},
	{Kind: "tool", Name: "nested", Schema: []byte(`{"type":"object","properties":{"o":{"type":"object","properties":{"x":{},"y":{}},"required":["x"]}},"required":["o"]}`)},
	{Kind: "prompt", Name: "review"}, {Kind: "template", Name: "file:///{p}"},
}

// TestCheck: each kind of finding, and what is none.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		rules string
		want  []string // rule kind item
	}{
		{`- {name: a, allow: [write, open, more, joined, unread]}`, nil},
		{`- {name: a, allow: ["*"]}`, nil},
		{`- {name: a, allow: [wirte, open]}`, []string{"a unknown_item wirte"}},
		{`- {name: a, allow: [write], args: {path: {longest: 9}, branch: {longest: 9, optional: true}, "/options/a~1b": {longest: 9}}}`, nil},
		{`- {name: a, allow: [write], args: {pth: {longest: 9}}}`, []string{"a unknown_argument write"}},
		{`- {name: a, allow: [write], args: {"/branch": {longest: 9}}}`, []string{"a unknown_argument write"}},
		{`- {name: a, allow: [write, open], args: {branch: {longest: 9}}}`, nil},
		{`- {name: a, allow: [more, unread, open], args: {zzz: {longest: 9}}}`, nil},
		{`- {name: a, allow: [joined], args: {x: {longest: 9}, "/y": {longest: 9}, z: {longest: 9}}}`, []string{"a unknown_argument joined"}},
		{`- {name: a, ask: [write], new: [pth]}`, []string{"a lone_ask ", "a unknown_argument write"}},
		{`- {name: a, allow: [write], when: 'args.pth == "x"'}`, []string{"a unknown_argument write"}},
		{`- {name: a, allow: [write], when: 'args.options.brnch == "x"'}`, []string{"a unknown_argument write"}},
		{`- {name: a, allow: [write], when: 'args.mode == "x"'}`, nil},
		{`- {name: a, never: [write], when: 'args.path == "x"'}`, nil},
		{`- {name: a, never: [write], when: 'args.mode == "x"'}`, []string{"a absent_argument write"}},
		{`- {name: a, never: [write], when: 'has(args.mode) && args.mode == "x"'}`, nil},
		{`- {name: a, never: [write], when: 'has(args.options) && has(args.options.branch) && args.options.branch == "x"'}`, nil},
		{"- {name: a, allow: [write, open]}\n  - {name: b, never: [\"*\"]}", []string{"a unreachable "}},
		{"- {name: a, allow: [write, open]}\n  - {name: b, never: [open]}", nil},
		{"- {name: a, allow: [write]}\n  - {name: b, never: [write], methods: [prompts/get]}", []string{"b unreachable write"}},
		{"- {name: a, allow: [write]}\n  - {name: b, never: [write], effects: [write]}", nil},
		{"- {name: a, allow: [write]}\n  - {name: b, never: [write], shadow: true}", nil},
		{"- {name: a, ask: [write]}\n  - {name: b, never: [write]}", []string{"a shadowed_ask "}},
		{"- {name: a, ask: [write], when: 'args.path == \"x\"'}\n  - {name: b, ask: [write]}", []string{"a shadowed_ask "}},
		{"- {name: a, ask: [write], when: 'args.path == \"x\"', assurance: passkey}\n  - {name: b, ask: [write]}", nil},
		{"- {name: a, ask: [write], effects: [write]}\n  - {name: b, ask: [open]}", nil},
		{"- {name: a, ask: [write], when: 'effect.write'}", []string{"a lone_ask "}},
		{"- {name: a, ask: [write], when: 'effect.write'}\n  - {name: b, allow: [open]}", []string{"a lone_ask "}},
		{"- {name: a, ask: [write], when: 'effect.write'}\n  - {name: b, allow: [write]}", nil},
		{"- {name: a, ask: [\"*\"], rate: {over: 1, per: day}}\n  - {name: b, allow: [write]}", nil},
		{"- {name: a, allow: [write]}\n  - {name: b, allow: [\"*\"]}", []string{"a redundant "}},
		{"- {name: a, allow: [write]}\n  - {name: b, allow: [write]}", []string{"b redundant "}},
		{"- {name: a, allow: [write], results: mark}\n  - {name: b, allow: [\"*\"]}", nil},
		{"- {name: a, never: [write], when: 'args.path == \"x\"'}\n  - {name: b, never: [write]}", []string{"a redundant "}},

		// The same conditions on both, or fewer on the one that goes before.
		{"- {name: a, allow: [write], when: 'args.path == \"x\"'}\n  - {name: b, never: [write], when: 'args.path == \"x\"'}", []string{"a unreachable "}},
		{"- {name: a, allow: [write], when: 'size(args.path) < 9 && args.path == \"x\"'}\n  - {name: b, never: [write], when: 'args.path == \"x\"'}", []string{"a unreachable "}},
		{"- {name: a, allow: [write], when: 'args.path == \"x\"'}\n  - {name: b, never: [write], when: 'size(args.path) < 9 && args.path == \"x\"'}", nil},
		{"- {name: a, allow: [write], when: 'args.path == \"x\" || size(args.path) < 9'}\n  - {name: b, never: [write], when: 'args.path == \"x\"'}", nil},
		{"- {name: a, allow: [write], when: 'args.path == \"x && y\"'}\n  - {name: b, never: [write], when: 'args.path == \"x\"'}", nil},
		{"- {name: a, ask: [write], when: 'args.path == \"x\" && size(args.path) < 9'}\n  - {name: b, never: [write], when: 'args.path == \"x\"'}", []string{"a shadowed_ask "}},
		{"- {name: a, ask: [write], when: 'size(args.path) < 9 && args.path == \"x\"'}\n  - {name: b, never: [write], when: 'args.path == \"x\"'}", nil}, // the first may cost too much
		{"- {name: a, allow: [write], args: {path: {within: docs}}}\n  - {name: b, never: [write], args: {path: {within: docs}}}", []string{"a unreachable "}},
		{"- {name: a, allow: [write], args: {path: {within: docs}, mode: {equals: x}}}\n  - {name: b, never: [write], args: {path: {within: docs}}}", []string{"a unreachable "}},
		{"- {name: a, allow: [write], args: {path: {within: docs, optional: true}}}\n  - {name: b, never: [write], args: {path: {within: docs, optional: true}}}", nil}, // where it is absent
		{"- {name: a, ask: [write], args: {path: {within: docs, optional: true}}}\n  - {name: b, never: [write], args: {path: {within: docs, optional: true}}}", []string{"a shadowed_ask "}},
		{"- {name: a, allow: [write], args: {path: {within: docs}}}\n  - {name: b, never: [write], args: {path: {within: src}}}", nil},
		{"- {name: a, allow: [write], agents: [x]}\n  - {name: b, never: [write], agents: [x, y]}", []string{"a unreachable "}},
		{"- {name: a, allow: [write], agents: [x, y]}\n  - {name: b, never: [write], agents: [x]}", nil},
		{"- {name: a, allow: [write]}\n  - {name: b, never: [write], origins: [\"stdio:x\"]}", nil},
		{"- {name: a, allow: [write], origins: [\"stdio:x\"]}\n  - {name: b, never: [write], origins: [\"stdio:x\"]}", []string{"a unreachable "}},
		{"- {name: a, allow: [write], effects: [read]}\n  - {name: b, never: [write], effects: [read, write]}", []string{"a unreachable "}},
		{"- {name: a, ask: [write], rate: {over: 9, per: hour}}\n  - {name: b, never: [write], rate: {over: 3, per: hour}}\n  - {name: c, allow: [write]}", []string{"a shadowed_ask "}},
		{"- {name: a, ask: [write], rate: {over: 3, per: hour}}\n  - {name: b, never: [write], rate: {over: 9, per: hour}}\n  - {name: c, allow: [write]}", nil},
		{"- {name: a, ask: [write], new: [path]}\n  - {name: b, never: [write], new: [path, mode]}\n  - {name: c, allow: [write]}", []string{"a shadowed_ask "}},
		// An unconditional ask goes before an allow.
		{"- {name: a, allow: [write]}\n  - {name: b, ask: [write]}", []string{"a unreachable "}},
		{"- {name: a, allow: [write, open]}\n  - {name: b, ask: [write]}", nil},
		{"- {name: a, allow: [write]}\n  - {name: b, ask: [write], when: 'effect.write'}", nil},
		{"- {name: a, allow: [write], results: mark}\n  - {name: b, ask: [write]}", nil},
		// Constants.
		{"- {name: a, allow: [write], when: 'false'}", []string{"a unreachable "}},
		{"- {name: a, never: [write], when: 'false'}", []string{"a unreachable "}},
		{"- {name: a, allow: [write], when: 'args.path == \"x\" && false'}", []string{"a unreachable "}},
		{"- {name: a, never: [write], when: 'args.path == \"x\" && false'}", nil},
		{"- {name: a, allow: [write]}\n  - {name: b, never: [write], when: 'true'}", []string{"a unreachable "}},
		{"- {name: a, allow: [write], when: 'true'}", nil},
		// Several together.
		{"- {name: a, allow: [write]}\n  - {name: b, never: [write], effects: [read, write]}\n  - {name: c, never: [\"*\"], effects: [egress, execute, destructive]}", []string{"a unreachable "}},
		{"- {name: a, allow: [write]}\n  - {name: b, never: [write], effects: [read, write]}\n  - {name: c, never: [\"*\"], effects: [egress, execute]}", nil},
		{"- {name: a, allow: [write, open]}\n  - {name: b, never: [write]}\n  - {name: c, never: [open]}", []string{"a unreachable "}},
		{"- {name: a, allow: [write], effects: [read, write]}\n  - {name: b, never: [write], effects: [read]}\n  - {name: c, ask: [write], effects: [write]}", []string{"a unreachable "}},
		{"- {name: a, ask: [write], methods: [tools/call]}\n  - {name: b, never: [write], effects: [read, write]}\n  - {name: c, never: [write], effects: [egress, execute, destructive]}", []string{"a shadowed_ask "}},
		// Methods that the item is not used by.
		{"- {name: a, allow: [write], methods: [prompts/get]}", []string{"a unreachable write"}},
		{"- {name: a, allow: [write, review], methods: [prompts/get, tools/call]}", nil},
		{"- {name: a, allow: [review]}", []string{"a unreachable review"}},
		{"- {name: a, never: [review]}", nil},
		{"- {name: a, allow: [\"file:///x\"], methods: [resources/read]}", nil}, // through the template
		// Arguments of args.
		{"- {name: a, never: [write], args: {mode: {equals: force}}}", []string{"a absent_argument write"}},
		{"- {name: a, ask: [write], args: {mode: {equals: force}}}", []string{"a absent_argument write"}},
		{"- {name: a, never: [write], args: {mode: {equals: force, optional: true}}}", nil},
		{"- {name: a, never: [write], args: {path: {within: docs}}}", nil},
		{"- {name: a, allow: [write], args: {mode: {equals: force}}}", nil},
		{"- {name: a, never: [write], args: {branch: {equals: main}}}", []string{"a absent_argument write"}}, // which stands below options alone
		{"- {name: a, never: [write], args: {\"/options/branch\": {equals: main}}}", []string{"a absent_argument write"}},
		{"- {name: a, never: [nested], args: {\"/o/x\": {equals: 1}}}", nil},
		{"- {name: a, never: [nested], args: {\"/o/y\": {equals: 1}}}", []string{"a absent_argument nested"}},
		{"- {name: a, never: [nested], when: 'args.o.y == 1'}", []string{"a absent_argument nested"}},
		{"- {name: a, never: [nested], when: 'args.o.x == 1'}", nil},
		{"- {name: a, never: [unread], args: {mode: {equals: force}}}", nil}, // nobody knows
		{"- {name: a, never: [joined], args: {x: {equals: 1}}}", []string{"a absent_argument joined"}},
		{"- {name: a, never: [some], args: {x: {equals: 1}}}", nil},
		{"- {name: a, never: [write], args: {mdoe: {equals: force}}}", []string{"a unknown_argument write"}},
	} {
		var got []string
		for _, f := range advise.Check(load(t, "rules:\n  "+c.rules+"\n"), items) {
			got = append(got, fmt.Sprintf("%s %s %s", f.Rule, f.Kind, f.Item))
			if !strings.HasSuffix(f.Text, ".") || !strings.Contains(f.Text, f.Item) {
				t.Errorf("%q does not say that it is about %s", f.Text, f.Item)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.rules, got, c.want)
		}
	}
	if got := advise.Check(load(t, "rules:\n  - {name: a, allow: [nobody]}\n"), nil); len(got) != 0 {
		t.Errorf("without items: %v", got)
	}
}

// TestCheckKeys: names that guards are given for single tools are held against the tools
// and their arguments, as guards compare names.
func TestCheckKeys(t *testing.T) {
	for _, c := range []struct {
		guards string
		want   []string
	}{
		{"refs: {keys: {write: [branch]}}", nil},
		{"refs: {keys: {write: []}}", nil},
		{"refs: {keys: {write: [Bran-ch, MODE]}}", nil},
		{"refs: {keys: {write: ['-branch', '-MO_DE']}}", nil},
		{"refs: {keys: {write: ['-bra']}}", []string{"guards.refs.keys unknown_argument write"}},
		{"refs: {keys: {nosuch: [branch], write: [bra]}}", []string{"guards.refs.keys unknown_item nosuch", "guards.refs.keys unknown_argument write"}},
		{"paths: {keys: {wirte: [path]}}, hosts: {keys: {write: [mode, url]}}", []string{"guards.paths.keys unknown_item wirte", "guards.hosts.keys unknown_argument write"}},
		{"paths: {keys: {more: [zzz], open: [x], unread: [y]}}", nil}, // which may take others
		{"paths: {keys: {review: [x]}}", []string{"guards.paths.keys unknown_item review"}},
	} {
		var got []string
		for _, f := range advise.Check(load(t, "guards: {"+c.guards+"}\nrules: [{name: a, allow: [write]}]\n"), items) {
			got = append(got, fmt.Sprintf("%s %s %s", f.Rule, f.Kind, f.Item))
			if !strings.HasSuffix(f.Text, ".") || !strings.Contains(f.Text, f.Item) {
				t.Errorf("%q does not say that it is about %s", f.Text, f.Item)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.guards, got, c.want)
		}
	}
	var got []string
	for _, f := range advise.Check(load(t, "guards: {refs: {keys: {nosuch: [x], write: [bra, '-bre', '-branch']}}}\nrules: [{name: a, allow: [write]}]\n"), items) {
		got = append(got, f.Text)
	}
	if want := []string{
		"No upstream has a tool of the name nosuch; what is said of it holds for no tool.",
		"write has no argument bra; saying bra does nothing, and the default names go on to count.",
		"write has no argument bre; saying -bre does nothing, and the default names go on to count.",
	}; !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if got := advise.Check(load(t, "guards: {refs: {keys: {nosuch: [x]}}}\nrules: [{name: a, allow: [write]}]\n"), nil); got != nil {
		t.Errorf("without items: %v", got)
	}
}

// TestSuggest: what is suggested allows what was done, and what was not done it does not.
func TestSuggest(t *testing.T) {
	calls := []advise.Call{
		{Method: "tools/call", Tool: "list"}, {Method: "tools/call", Tool: "ping", Args: []byte(`{}`)},
		{Method: "prompts/get", Tool: "review", Args: []byte(`null`)},
		{Method: "resources/read", Tool: "file:///{p}", Target: "file:///a"},
	}
	for i := range 12 {
		calls = append(calls, advise.Call{Method: "tools/call", Tool: "write", Args: fmt.Appendf(nil,
			`{"path":"docs/notes/%d.md","branch":"feat/x","size":%d,"content":"%s","tags":[1,2],"options":{"x":%d},"id":19158835881748060581}`, i, 10+i, strings.Repeat("word ", 30+i), i)})
	}
	calls[5].Args = []byte(`{"path":"docs/a.md","branch":"feat/x","size":3,"content":"x","tags":[],"options":{},"force":true,"id":19158835881748060581}`)
	s, err := advise.Suggest(calls)
	if err != nil {
		t.Fatal(err)
	}
	p := policy.Of(load(t, string(s.Text)))
	decide := func(c advise.Call) policy.Decision {
		f := policy.Facts{Profile: policy.Personal, Method: c.Method, Tool: c.Tool, Target: c.Target, Args: c.Args, Gate: policy.Cleared, Fit: policy.Fits, Context: policy.Clean, Tier: 2, Standing: 3, Content: 3}
		return p.Decide(f)
	}
	for _, c := range calls {
		if d := decide(c); d.Verb() != policy.Allow {
			t.Errorf("%s %s: %v %s by %s %v\n%s", c.Tool, c.Args, d.Verb(), d.Reason(), d.Rule(), d.Paths(), s.Text)
		}
	}
	if s.Rules != 4 || !slices.Equal(s.Open, []string{"write /options"}) {
		t.Errorf("%d rules, open %v\n%s", s.Rules, s.Open, s.Text)
	}
	for _, change := range [][2]string{{"docs/a.md", "src/a.go"}, {"docs/a.md", "docs/../src/a.go"}, {"feat/x", "main"}, {`"size":3`, `"size":30`}, {`"content":"x"`, `"content":"` + strings.Repeat("x", 300) + `"`},
		{`"tags":[]`, `"tags":[1,2,3]`}, {"060581", "060582"}, {`"force":true`, `"force":false`}, {`"branch":"feat/x",`, ""}} {
		c := calls[5]
		c.Args = []byte(strings.Replace(string(c.Args), change[0], change[1], 1))
		if d := decide(c); d.Verb() == policy.Allow {
			t.Errorf("%s is allowed too\n%s", c.Args, s.Text)
		}
	}
	for _, c := range []advise.Call{{Method: "tools/call", Tool: "other"}, {Method: "prompts/get", Tool: "list"}, {Method: "resources/read", Tool: "file:///{p}", Target: "file:///b"}} {
		if d := decide(c); d.Verb() == policy.Allow {
			t.Errorf("%+v is allowed too", c)
		}
	}
	slices.Reverse(calls)
	again, err := advise.Suggest(calls)
	if err != nil || string(again.Text) != string(s.Text) {
		t.Errorf("another order, another suggestion: %v", err)
	}
	for _, bad := range [][]advise.Call{nil, {{Method: "tools/call", Tool: "a", Args: []byte(`[]`)}}, {{Method: "tools/call", Tool: "a", Args: []byte(`{"a":1,"a":2}`)}}} {
		if s, err := advise.Suggest(bad); !errors.Is(err, advise.ErrCalls) || s != nil {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if s, err := advise.Suggest([]advise.Call{{Method: "tools/call", Tool: "bad\u200bname"}}); err == nil || s != nil {
		t.Error("a name that no rule takes")
	}
}

func ExampleTest() {
	rules, err := policy.Load([]byte("rules:\n  - {name: docs, allow: [write_file], args: {path: {within: docs}}}\n"))
	if err != nil {
		panic(err)
	}
	cases, err := advise.ReadCases([]byte("cases:\n  - {name: notes, tool: write_file, args: {path: docs/a.md}, want: allow}\n  - {name: code, tool: write_file, args: {path: src/a.go}, want: deny, reason: guard}\n"))
	if err != nil {
		panic(err)
	}
	for _, r := range advise.Test(policy.Of(rules), cases.Cases) {
		fmt.Println(r.Case.Name, r.OK, r.Decision.Verb())
	}
	// Output:
	// notes true allow
	// code true deny
}

// TestOrdinary: what a case does not say is ordinary, not at its best: a tool that no
// one has named for a read is none, so what guards say of writes is tested too.
func TestOrdinary(t *testing.T) {
	f, err := advise.ReadCases([]byte(`policy: rules.yaml
cases:
  - {name: a branch, tool: commit, args: {branch: feat/x}, want: allow, rule: all}
  - {name: main, tool: commit, args: {branch: main}, want: deny, reason: guard, at: /branch}
  - {name: elsewhere, tool: commit, args: {branch: main}, want: deny, at: /other}
  - {name: unfit, tool: commit, args: {branch: feat/x}, fit: unfit, want: deny, reason: unfit}
`))
	if err != nil || f.Policy != "rules.yaml" {
		t.Fatal(f, err)
	}
	var ok []bool
	for _, r := range advise.Test(policy.Of(load(t, "rules:\n  - {name: all, allow: [commit]}\n")), f.Cases) {
		ok = append(ok, r.OK)
		if r.Case.Facts.Tier != labels.Yellow || r.Case.Facts.Effect != labels.Unclassified || r.Case.Facts.Context != policy.Own {
			t.Errorf("%+v", r.Case.Facts)
		}
	}
	if !slices.Equal(ok, []bool{true, true, false, true}) {
		t.Error(ok)
	}
}

// TestCases: what a case says of a call reaches the decision.
func TestCases(t *testing.T) {
	p := policy.Of(load(t, `rules:
  - {name: ok, allow: [t]}
  - {name: agent, never: [t], agents: [mallory]}
  - {name: origin, never: [t], origins: ["https://x.example"]}
  - {name: effect, never: [t], effects: [write]}
  - {name: label, never: [t], when: 'label.tier != "green" || label.standing != "attested" || label.content in ["violated", "suspect"]'}
  - {name: context, never: [t], when: 'provenance.context != "clean"'}
  - {name: way, never: [t], when: 'channel.way == "http"'}
  - {name: time, never: [t], when: 'time.getHours() == 3'}
  - {name: rate, never: [t], rate: {over: 5, per: hour}}
  - {name: fresh, ask: [t], new: [to]}
  - {name: args, never: [t], when: 'has(args.n) && args.n == 9007199254740993'}
  - {name: method, allow: [t], methods: [prompts/get]}
`))
	for text, want := range map[string]string{
		"": "ok", "agent: mallory": "agent", `origin: "https://x.example"`: "origin", "effect: read+write": "effect", "tier: yellow": "label", "standing: pinned": "label",
		"content: suspect": "label", "context: untrusted": "context", "way: http": "way", `time: "2026-01-01T03:00:00Z"`: "time", "calls: 5": "rate", "calls: 4": "ok", "new: [to]": "fresh",
		"args: {n: 9007199254740993}": "args", "args: {n: 9007199254740992}": "ok", "method: prompts/get": "method", "profile: watch": "profile:watch", "new: [to], alone: true": "fresh",
	} {
		verb := "deny"
		switch want {
		case "ok", "method", "profile:watch":
			verb = "allow"
		case "fresh":
			if verb = "ask"; strings.Contains(text, "alone") {
				verb = "deny"
			}
		}
		best := ""
		for _, m := range []string{"effect: read", "tier: green", "standing: attested", "context: clean"} {
			if name, _, _ := strings.Cut(m, ":"); !strings.Contains(text, name+":") {
				best += ", " + m
			}
		}
		if text = best + ", " + text; text == best+", " {
			text = best
		}
		cases, err := advise.ReadCases([]byte("\xef\xbb\xbfcases:\r\n  - {name: c, tool: t, want: " + verb + ", rule: \"" + want + "\"" + text + "}\r\n"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if r := advise.Test(p, cases.Cases)[0]; !r.OK {
			t.Errorf("%s: %v by %s", text, r.Decision.Verb(), r.Decision.Rule())
		}
	}
	for _, text := range []string{"", "cases: []", "cases: [{}]", "cases: [{name: a, tool: t}]", "cases: [{name: a, tool: t, want: maybe}]", "cases: [{name: a, want: deny}]", "cases: [{tool: t, want: deny}]",
		"cases: [{name: a, tool: t, want: deny, tier: blue}]", "cases: [{name: a, tool: t, want: deny, calls: many}]", "cases: [{name: a, tool: t, want: deny, calls: -1}]", "cases: [{name: a, tool: t, want: deny, time: noon}]",
		"cases: [{name: a, tool: t, want: deny, profile: lax}]", "cases: [{name: a, tool: t, want: deny, reason: because}]", "cases: [{name: a, tool: t, want: deny, unknown: x}]", "cases: [{name: a, tool: t, want: deny, effect: fly}]",
		"cases: [{name: a, tool: t, want: deny, context: dirty}]", "cases: &a [*a]", "cases:\n" + strings.Repeat("  - {name: a, tool: t, want: deny}\n", 10_001), strings.Repeat("#", 1<<20+1)} {
		if c, err := advise.ReadCases([]byte(text)); !errors.Is(err, advise.ErrCases) || c != nil {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}
