package guard_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/labels/guard"
)

// TestConstraints: each word, what holds (check) and what may hold (may), which are
// not opposites.
func TestConstraints(t *testing.T) {
	for _, c := range []struct {
		rule, args string
		holds, may bool
	}{
		{"a: {equals: x}", `{"a":"x"}`, true, true},
		{"a: {equals: x}", `{"a":"X"}`, false, true},
		{"a: {equals: x}", `{"a":" x"}`, false, true},
		{"a: {equals: x}", `{"a":"y"}`, false, false},
		{"a: {equals: x}", `{"a":["x"]}`, true, true},
		{"a: {equals: x}", `{"a":["x","y"]}`, false, true},
		{"a: {equals: x}", `{"a":[]}`, false, false},
		{"a: {equals: x}", `{"a":{"x":1}}`, false, false},
		{"a: {equals: x}", `{}`, false, true},
		{"a: {equals: x}", `{"a":null}`, false, true},
		{"a: {equals: x}", `{"b":{"a":"x"}}`, false, true},
		{"a: {equals: x, optional: true}", `{}`, true, false},
		{"a: {equals: x, optional: true}", `{"b":{"a":"y"}}`, false, false},
		{"a: {equals: x}", `{"a":"x","A":"y"}`, false, true},
		{"a: {equals: x}", `{"A":"x"}`, false, true},
		{"a: {equals: x}", `{"a":"x","o":"{\"a\":\"y\"}"}`, false, true},
		{"a: {equals: x}", `{"a":"x","o":[{"a":"y"}]}`, false, true},
		{"a: {equals: x}", `{"a":"y","o":[{"a":"x"}]}`, false, true},
		{"a_b: {equals: x}", `{"a_b":"x","aB":"y"}`, false, true},
		{"a: {equals: 10}", `{"a":1e1}`, true, true},
		{"a: {equals: 10}", `{"a":"10"}`, false, true},
		{"a: {equals: 9007199254740993}", `{"a":9007199254740992}`, false, false},
		{"a: {equals: 9007199254740993}", `{"a":9007199254740993.0}`, true, true},
		{"a: {equals: true}", `{"a":true}`, true, true},
		{"a: {equals: true}", `{"a":"true"}`, false, true},
		{"a: {equals: true}", `{"a":false}`, false, false},
		{"a: {equals: null}", `{"a":null}`, true, true},
		{"a: {equals: null}", `{"a":1}`, false, false},
		{"a: {equals: [1, x]}", `{"a":[1.0,"x"]}`, true, true},
		{"a: {equals: [1, x]}", `{"a":["x",1]}`, false, false},
		{"a: {equals: {k: [1], l: null}}", `{"a":{"l":null,"k":[1]}}`, true, true},
		{"a: {equals: {k: 1}}", `{"a":{"k":1,"l":2}}`, false, false},
		{"a: {one_of: [x, 3]}", `{"a":3}`, true, true},
		{"a: {one_of: [x, 3]}", `{"a":["x",3]}`, true, true},
		{"a: {one_of: [x, 3]}", `{"a":4}`, false, false},
		{"a: {min: 1, max: 10}", `{"a":10}`, true, true},
		{"a: {min: 1, max: 10}", `{"a":10.0000000000000000000001}`, false, false},
		{"a: {min: 1, max: 10}", `{"a":"7"}`, true, true},
		{"a: {min: 1, max: 10}", `{"a":"1e0"}`, false, true},
		{"a: {min: 1, max: 10}", `{"a":" 7"}`, false, true},
		{"a: {min: 1, max: 10}", `{"a":"NaN"}`, false, true},
		{"a: {min: 1, max: 10}", `{"a":"70"}`, false, false},
		{"a: {min: 1, max: 10}", `{"a":0.5}`, false, false},
		{"a: {min: 1, max: 10}", `{"a":true}`, false, true},
		{"a: {min: 1, max: 10}", `{"a":[5,50]}`, false, true},
		{"a: {min: 1}", `{"a":1e99999999999999999999}`, false, true},
		{"a: {max: 9007199254740992}", `{"a":9007199254740993}`, false, false},
		{"a: {before: 2026-06-01}", `{"a":"2026-05-31"}`, true, true},
		{"a: {before: 2026-06-01}", `{"a":"2026-06-01"}`, false, false},
		{"a: {before: 2026-06-01}", `{"a":"2026-05-31T20:00:00Z"}`, false, true},
		{"a: {before: 2026-06-01, after: 2026-01-01}", `{"a":"2025-05-31"}`, false, false},
		{"a: {after: 2026-06-01}", `{"a":"soon"}`, false, true},
		{"a: {after: 2026-06-01}", `{"a":1767225600}`, false, true},
		{"a: {longest: 3}", `{"a":"abc"}`, true, true},
		{"a: {longest: 3}", `{"a":"äb€"}`, false, false},
		{"a: {longest: 2}", `{"a":[1,2,3]}`, false, false},
		{"a: {longest: 2}", `{"a":7}`, false, true},
		{"a: {refs: [feat/*]}", `{"a":"feat/x"}`, true, true},
		{"a: {refs: [feat/*]}", `{"a":"main"}`, false, false},
		{"a: {refs: [feat/*]}", `{"a":"Feat/x"}`, false, true},
		{"a: {refs: [main]}", `{"a":"x:refs/heads/main"}`, true, true},
		{"a: {refs: [main]}", `{"a":["feat/x",":main"]}`, false, true},
		{"a: {refs: [main]}", `{"a":"HEAD"}`, false, true},
		{"a: {not_refs: [main]}", `{"a":"feat/x"}`, true, true},
		{"a: {not_refs: [main]}", `{"a":"+main"}`, false, false},
		{"a: {not_refs: [main]}", `{"a":"MAIN"}`, false, true},
		{"args: {not_refs: [main]}", `{"args":["push","-u","origin","feat/x"]}`, true, true},
		{"args: {not_refs: [main]}", `{"args":["push","-u","origin","HEAD:main"]}`, false, true},
		{"a: {not_refs: [main]}", `{"a":7}`, false, true},
		{"a: {within: src}", `{"a":"src/x"}`, true, true},
		{"a: {within: src}", `{"a":"lib/x"}`, false, false},
		{"a: {within: src}", `{"a":"lib/../src/x"}`, false, true},
		{"a: {within: src}", `{"a":["src/x","src/../y"]}`, false, true},
		{`a: {within: 'C:\work'}`, `{"a":"C:\\work\\x"}`, true, true},
		{"a: {hosts: [h.example]}", `{"a":"https://h.example/x"}`, true, true},
		{"a: {hosts: [h.example]}", `{"a":"https://h.example.evil.example/x"}`, false, false},
		{"a: {hosts: [h.example]}", `{"a":"https://h.example@evil.example/x"}`, false, true},
		{`a: {recipients: ["@corp.example"]}`, `{"a":"Ann <ann@corp.example>"}`, true, true},
		{`a: {recipients: ["@corp.example"]}`, `{"a":["ann@corp.example","eve@evil.example"]}`, false, true},
		{`a: {recipients: ["@corp.example"]}`, `{"a":[{"name":"Ann","email":"ann@corp.example"}]}`, true, true},
		{`a: {recipients: ["@corp.example"]}`, `{"a":[{"name":"eve@evil.example","email":"ann@corp.example"}]}`, false, true},
		{`a: {recipients: ["@corp.example"]}`, `{"a":[{"emailAddress":{"address":"eve@evil.example"}}]}`, false, false},
		{`a: {recipients: ["@corp.example"]}`, `{"a":[{"name":"Ann"}]}`, false, false},
		{`a: {recipients: ["@corp.example"]}`, `{"a":"eve@evil.example"}`, false, false},
		{"/o/a: {equals: x}", `{"o":{"a":"x"},"a":"y"}`, true, true},
		{"/o/a: {equals: x}", `{"o":{"a":"x","A":"y"}}`, false, true},
		{"/o/a: {equals: x}", `{"O":{"a":"x"}}`, false, true},
		{"/o/a: {equals: x}", `{"o":"{\"a\":\"x\"}"}`, true, true},
		{"/o/a: {equals: x}", `{"o":{}}`, false, true},
		{"/o/a: {equals: x, optional: true}", `{"o":{}}`, true, false},
		{"/o/1/a: {equals: x}", `{"o":[{"a":"y"},{"a":"x"}]}`, true, true},
		{"/o/1/a: {equals: x}", `{"o":[{"a":"x"},{"a":"y"}]}`, false, false},
		{`"/a~1b/~0": {equals: x}`, `{"a/b":{"~":"x"}}`, true, true},
		{"a: {equals: x}\nb: {equals: y}", `{"a":"x","b":"z"}`, false, false},
		{"a: {equals: x, longest: 1}", `{"a":"x"}`, true, true},
		{"{}", `{"a":1}`, true, true},
	} {
		s := constrain(t, c.rule)
		if got := s.Check(call(t, "x", c.args)); (len(got) == 0) != c.holds {
			t.Errorf("%s of %s: %v", c.rule, c.args, got)
		}
		if got := s.May(call(t, "x", c.args)); got != c.may {
			t.Errorf("%s may of %s: %t", c.rule, c.args, got)
		}
	}
}

// TestViolationsNamePlaces: guard, place and rule, and no value.
func TestViolationsNamePlaces(t *testing.T) {
	s := constrain(t, "a: {max: 5}\n/b/c~1d: {equals: x}")
	got := s.Check(call(t, "x", `{"o":{"a":[1,9]}}`))
	want := []guard.Violation{
		{Guard: "value", Path: "/b/c~1d", Why: guard.WhyAbsent, Rule: "args./b/c~1d"},
		{Guard: "number", Path: "/o/a/1", Why: "The number is larger than is allowed.", Rule: "args.a"},
		{Guard: "number", Path: "/a", Why: guard.WhyAbsent, Rule: "args.a"},
	}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%+v", got)
	}
	many := config(t, "").Check(call(t, "x", `{"branch":["main"`+strings.Repeat(`,"main"`, 100)+`]}`))
	if len(many) != 16 {
		t.Errorf("%d violations", len(many))
	}
}

func TestConstraintsThatAreNone(t *testing.T) {
	for _, text := range []string{
		"a: {}", "a: {optional: true}", "'': {equals: 1}", "'_': {equals: 1}", "a: {min: x}", "a: {min: '5'}", "a: {min: 5, max: 4}", "a: {min: 0x10}", "a: {min: .inf}", "a: {min: 1_000}", "a: {min: true}", "a: {equals: 1, one_of: [2]}", "a: {one_of: []}",
		"a: {before: soon}", "a: {before: 2026-01-01, after: 2026-01-01}", "a: {longest: -1}", "a: {refs: []}", "a: {refs: [HEAD]}", "a: {not_refs: ['a b']}", "a: {within: []}", "a: {within: ../x}", "a: {hosts: []}", "a: {hosts: ['a b']}", "a: {recipients: []}", "a: {recipients: ['a b@c']}",
		"a: {within: 5}", "a: {within: [true]}", "a: {nonsense: 1}", "a: {min: 1, min: 2}", "a: {equals: .nan}", "a: {equals: 0o17}", "a: {before: 5}", "/" + strings.Repeat("a/", 20) + ": {equals: 1}",
	} {
		if _, err := readArgs(text); err == nil {
			t.Errorf("%s is taken", text)
		} else if strings.Contains(err.Error(), "soon") {
			t.Errorf("%v repeats a value", err)
		}
	}
	if _, err := guard.Constrain(map[string]guard.Constraint{"a": {}}); !errors.Is(err, guard.ErrConfig) {
		t.Error(err)
	}
}

// TestWordsWithoutAValue: what is left empty is not read as nothing asked.
func TestWordsWithoutAValue(t *testing.T) {
	for _, text := range []string{"a: {longest: 5, within: }", "a: {longest: 5, min: null}", "a: {longest: 5, one_of: ~}", "a:"} {
		if _, err := readArgs(text); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
	for _, text := range []string{"hosts: {allow: }", "refs:", "paths: {within: null}", "refs: {keys: {a: }}"} {
		if err := unmarshal(text, &guard.Config{}); !errors.Is(err, guard.ErrConfig) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestConfigsThatAreNone(t *testing.T) {
	for _, c := range []guard.Config{
		{Off: guard.Words{"all"}}, {Off: guard.Words{"refs", "refs"}}, {Off: guard.Words{"refs"}, Refs: &guard.RefConfig{}}, {Refs: &guard.RefConfig{Protected: guard.Words{}}}, {Refs: &guard.RefConfig{Protected: guard.Words{"a b"}}},
		{Refs: &guard.RefConfig{Keys: map[string]guard.Words{"": {"a"}}}}, {Refs: &guard.RefConfig{Keys: map[string]guard.Words{"t": {"a", "A"}}}}, {Refs: &guard.RefConfig{Keys: map[string]guard.Words{"t": {"/a"}}}},
		{Paths: &guard.PathConfig{Within: guard.Words{}}}, {Paths: &guard.PathConfig{Within: guard.Words{"a/../b"}}}, {Hosts: &guard.HostConfig{Allow: guard.Words{}}}, {Hosts: &guard.HostConfig{Allow: guard.Words{"a b"}}},
	} {
		if _, err := guard.Compile(&c); !errors.Is(err, guard.ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestLiteralsKeepTheirDigits: through YAML and JSON and back.
func TestLiteralsKeepTheirDigits(t *testing.T) {
	for _, c := range []struct{ yaml, json string }{
		{"9007199254740993", "9007199254740993"}, {"1.10", "1.10"}, {"-0", "-0"}, {"1e3", "1e3"}, {"1E5", "1E5"}, {"-1.5e+10", "-1.5e+10"}, {"123456789012345678901234567890", "123456789012345678901234567890"}, {"0.10000000000000000000001", "0.10000000000000000000001"}, {"'1'", `"1"`}, {"yes", `"yes"`}, {"null", "null"}, {"~", "null"}, {"true", "true"}, {"2026-01-01", `"2026-01-01"`},
		{"[1, [x]]", `[1,["x"]]`}, {"{a: {b: 1}}", `{"a":{"b":1}}`}, {"\"a\\tb\"", `"a\tb"`},
	} {
		var m map[string]guard.Constraint
		if err := unmarshal("a: {equals: "+c.yaml+"}", &m); err != nil {
			t.Errorf("%s: %v", c.yaml, err)
			continue
		}
		b, err := json.Marshal(m["a"])
		want := `{"equals":` + c.json + `}`
		if err != nil || string(b) != want {
			t.Errorf("%s: %s, want %s", c.yaml, b, want)
		}
		var back guard.Constraint
		if err := json.Unmarshal(b, &back); err != nil {
			t.Errorf("%s: %v", b, err)
		} else if again, err := json.Marshal(back); err != nil || string(again) != want {
			t.Errorf("%s: %v %s", b, err, again)
		}
	}
}

func TestCommonCallIsFree(t *testing.T) {
	s := config(t, "off: [secrets]") // content is a guard of its own
	c := call(t, "create_or_update_file", common)
	c.Index = guard.Read(c.Args)
	if n := testing.AllocsPerRun(100, func() {
		if s.Check(c) != nil {
			t.Fail()
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestCommonRuleIsFree(t *testing.T) {
	s := constrain(t, "file_path: {within: src}\nbranch: {refs: [feat/*]}")
	c := call(t, "create_or_update_file", common)
	c.Index = guard.Read(c.Args)
	if n := testing.AllocsPerRun(100, func() {
		if s.Check(c) != nil || !s.May(c) {
			t.Fail()
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

var common = `{"project_id":"group/project","file_path":"src/components/menu/index.ts","branch":"feat/upgrade-lodash","commit_message":"Upgrade lodash","start_line":12,"author":{"name":"Ann","id":7},"labels":["a","b"],"encoding":"text","last_commit_id":"4b1f0c9e8d7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c","content":"` + strings.Repeat("export const x = 1; ", 35) + `"}`

func BenchmarkCheck(b *testing.B) {
	s := config(b, "off: [secrets, hosts]")
	c := call(b, "create_or_update_file", common)
	b.ReportAllocs()
	for b.Loop() {
		s.Check(c)
	}
}

func BenchmarkCheckShared(b *testing.B) {
	s := config(b, "off: [secrets, hosts]")
	c := call(b, "create_or_update_file", common)
	c.Index = guard.Read(c.Args)
	b.ReportAllocs()
	for b.Loop() {
		s.Check(c)
	}
}

func BenchmarkCheckDefaults(b *testing.B) {
	s := config(b, "")
	c := call(b, "create_or_update_file", common)
	b.ReportAllocs()
	for b.Loop() {
		s.Check(c)
	}
}

func BenchmarkConstraint(b *testing.B) {
	s := constrain(b, "file_path: {within: src}\nbranch: {refs: [feat/*]}")
	c := call(b, "create_or_update_file", common)
	b.ReportAllocs()
	for b.Loop() {
		s.Check(c)
	}
}
