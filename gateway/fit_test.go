package gateway

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry"
)

const commitTool = `{"name":"commit","description":"Commits.","inputSchema":{"type":"object","properties":{
	"branch":{"type":"string"},"id":{"type":"integer"},"force":{"type":["boolean","null"]},
	"options":{"type":"object","properties":{"author":{"type":"object","properties":{"name":{"type":"string"}}}}},
	"actions":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}},
	"labels":{"type":"object"},"twins":{"type":"object","properties":{"id":{},"ID":{}}}},"required":["branch"]}}`

// What a tool's schema does not list is refused at its place, and never goes on; what
// it lists, or leaves open, passes byte for byte.
func TestClosedArguments(t *testing.T) {
	deep := func(n int) string {
		return `{"branch":"a","labels":` + strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) + `}`
	}
	cases := []struct{ name, args, want, at string }{
		{"what is listed", `{"branch":"a","id":9007199254740993,"force":null,"options":{"author":{"name":"n"}},"actions":[{"path":"p"}],"labels":{"x.y":{"z":1}}}`, "", ""},
		{"both spellings that the schema has", `{"branch":"a","twins":{"id":1,"ID":2}}`, "", ""},
		{"escaped and the same", `{"br\u0061nch":"a"}`, "", ""},
		{"null where null may be", `{"branch":"a","force":null}`, "", ""},
		{"unknown", `{"branch":"a","extra":1}`, "unfit", "/extra"},
		{"unknown below", `{"branch":"a","options":{"author":{"name":"n","mail":"m"}}}`, "unfit", "/options/author/mail"},
		{"unknown in an array", `{"branch":"a","actions":[{"path":"p"},{"path":"p","mode":"x"}]}`, "unfit", "/actions/1/mode"},
		{"another case alone", `{"branch":"a","Options":{}}`, "unfit", "/Options"},
		{"another letter that looks alike", `{"branch":"a","iԁ":1}`, "unfit", "/iԁ"},
		{"full width", `{"branch":"a","ｂranch":"main"}`, "unfit", "/ｂranch"},
		{"invisible", `{"branch":"a","branch\u200b":"main"}`, "unfit", "/branch\u200b"},
		{"a dotted key", `{"branch":"a","options.author":{}}`, "unfit", "/options.author"},
		{"a key like a pointer", `{"branch":"a","options/author":{}}`, "unfit", "/options~1author"},
		{"an empty key", `{"branch":"a","":1}`, "unfit", "/"},
		{"a key that is special elsewhere", `{"branch":"a","__proto__":{"force":true}}`, "unfit", "/__proto__"},
		{"missing", `{"id":1}`, "unfit", "/branch"},
		{"nothing", `{}`, "unfit", "/branch"},
		{"null for all", `null`, "unfit", "/branch"},
		{"null for text", `{"branch":null}`, "unfit", "/branch"},
		{"a list for text", `{"branch":["a"]}`, "unfit", "/branch"},
		{"text for a number", `{"branch":"a","id":"1"}`, "unfit", "/id"},
		{"NaN as text", `{"branch":"a","id":"NaN"}`, "unfit", "/id"},
		{"a fraction", `{"branch":"a","id":1.5}`, "unfit", "/id"},
		{"a list for an object", `{"branch":"a","options":[]}`, "unfit", "/options"},
		{"deep and open", deep(127), "", ""},
		{"too deep", deep(128), "arguments", ""},
		{"twins", `{"branch":"a","Branch":"main"}`, "arguments", ""},
		{"twins in what is open", `{"branch":"a","labels":{"x":1,"X":2}}`, "arguments", ""},
		{"no object", `[]`, "arguments", ""},
	}
	u := newServer(commitTool)
	h := newHouse(t, u, policy.Personal)
	s := h.shown(newPerson())
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			before := u.executed(methodCall, "commit")
			a := s.Handle(ctx, ask(methodCall, `{"name":"commit","arguments":`+c.args+`}`), newPerson())
			if got := reason(a); got != c.want {
				t.Fatalf("%q: %s", got, a.Bytes())
			}
			switch sent := u.executed(methodCall, "commit") - before; {
			case c.want != "" && sent != 0:
				t.Error("it went on")
			case c.want == "":
				if got, _ := mcp.Get(u.last().Params, "arguments"); string(got) != c.args || sent != 1 {
					t.Errorf("the upstream saw %s", got)
				}
			}
			if c.want != "unfit" {
				return
			}
			paths, _ := mcp.Get(a.Result, "structuredContent", "paths")
			if string(paths) != `[`+string(mcp.Quote(c.at))+`]` {
				t.Errorf("the paths are %s, want %q", paths, c.at)
			}
			if text := string(a.Bytes()); !strings.Contains(text, "What is wrong is at ") || strings.Contains(text, ": . ") {
				t.Errorf("it says %s", text)
			}
			if e := h.book.of(refusals); len(e) == 0 || len(e[len(e)-1].Paths) != 1 || e[len(e)-1].Paths[0] != c.at || e[len(e)-1].Reason != string(policy.ReasonUnfit) {
				t.Errorf("the record has %+v", e)
			}
		})
	}
}

// It is so in every profile but watch, where it is on record.
func TestClosedInEveryProfile(t *testing.T) {
	rules, err := policy.Load([]byte("rules:\n  - name: commits\n    allow: [commit]\n")) // no rule loosens it
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []policy.Profile{policy.Personal, policy.Strict, policy.Watch} {
		u := newServer(commitTool)
		h := newHouse(t, u, p, func(o *Options) { o.Policy = policy.Of(rules) })
		s := h.shown(newPerson())
		a := s.Handle(ctx, ask(methodCall, `{"name":"commit","arguments":{"branch":"a","extra":"secret"}}`), newPerson())
		if strings.Contains(string(a.Bytes()), "secret") {
			t.Errorf("%s repeats a value: %s", p, a.Bytes())
		}
		want := 0
		if p == policy.Watch {
			want = 1
		}
		if u.executed(methodCall, "*") != want {
			t.Errorf("%s: executed %d times", p, u.executed(methodCall, "*"))
		}
		found := h.book.of(func(e registry.Entry) bool {
			return e.Reason == string(policy.ReasonUnfit) && e.Fit == policy.Unfit.String() && len(e.Paths) == 1 && e.Paths[0] == "/extra"
		})
		if len(found) == 0 {
			t.Errorf("%s: not on record", p)
		}
	}
}

// Absent arguments are none.
func TestAbsentArgumentsAreHeldAgainstTheSchema(t *testing.T) {
	u := newServer(commitTool, `{"name":"free","inputSchema":{"type":"object","properties":{"a":{}}}}`)
	s := newHouse(t, u, policy.Personal).shown(newPerson())
	for params, want := range map[string]string{`{"name":"commit"}`: "unfit", `{"name":"free"}`: "", `{"name":"free","arguments":null}`: ""} {
		if a := s.Handle(ctx, ask(methodCall, params), newPerson()); reason(a) != want {
			t.Errorf("%s: %s", params, a.Bytes())
		}
	}
}

// A prompt takes the arguments that it declares, all of them text.
func TestPromptsAreClosed(t *testing.T) {
	u := newServer()
	u.set(methodPrompts, `{"name":"sum","arguments":[{"name":"a","required":true},{"name":"b\"c"}]}`, `{"name":"bare"}`)
	s := newHouse(t, u, policy.Personal).shown(newPerson())
	for _, c := range []struct{ params, want string }{
		{`{"name":"sum","arguments":{"a":"x","b\"c":"y"}}`, ""}, {`{"name":"bare"}`, ""}, {`{"name":"bare","arguments":{}}`, ""},
		{`{"name":"sum","arguments":{"a":"x","d":"y"}}`, "unfit"}, {`{"name":"sum","arguments":{"b\"c":"y"}}`, "unfit"},
		{`{"name":"sum","arguments":{"a":1}}`, "unfit"}, {`{"name":"bare","arguments":{"a":"x"}}`, "unfit"}, {`{"name":"sum"}`, "unfit"},
	} {
		if a := s.Handle(ctx, ask(methodPrompt, c.params), newPerson()); reason(a) != c.want {
			t.Errorf("%s: %s", c.params, a.Bytes())
		}
	}
}

// A schema that cannot be used lets nothing pass.
func TestSchemasThatCannotBeUsed(t *testing.T) {
	h := newHouse(t, newServer(tool("it")), policy.Personal)
	for i, schema := range []string{`{"$ref":"https://a.example/s"}`, `{"type":1}`, `{"properties":[]}`, `{"$ref":"#"}`, `{"minimum":1e99999}`} {
		var e gate.Entry
		e.Kind, e.Raw = gate.Tool, fmt.Appendf(nil, `{"name":"x","inputSchema":%s}`, schema)
		e.Digest[0] = byte(i)
		tree, err := args.Parse([]byte(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		if fit, at := h.gw.fit(methodCall, &e, tree); fit != policy.Unchecked || at != "" {
			t.Errorf("%s: %v at %q", schema, fit, at)
		}
		if fit, _ := h.gw.fit(methodPrompt, &e, tree); fit != policy.Unchecked {
			t.Errorf("%s as a prompt: %v", schema, fit)
		}
		if fit, _ := h.gw.fit(methodRead, &e, tree); fit != policy.Fits {
			t.Errorf("%s as a resource: %v", schema, fit)
		}
		tree.Release()
	}
}
