package main

import (
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/policy"
)

// TestRulesText: rules are shown in lines that a person can read, and that are read as
// the same rules.
func TestRulesText(t *testing.T) {
	r, err := policy.Load([]byte(`shadow: true
guards: {off: [secrets], refs: {keys: {a: [b], "no": []}}}
rules:
- {name: one, allow: [get_file, "yes", "12", "a: b", "*x"], say: "It says: \"so\"."}
- name: two
  ask: [send]
  when: |
    args.path.startsWith("docs/") &&
      size(args.text) < 9
  args: {"/options/x": {max: 19158835881748060581, equals: {b: [1, null, "true"], a: "x\ny"}}, path: {within: [docs, "C:\\work"]}, "a \\ b": {longest: 3}}
  rate: {over: 3, per: hour}
- {name: three, never: ["*"], effects: [write], when: 'effect.write'}
`))
	if err != nil {
		t.Fatal(err)
	}
	text := rulesText(r.Text())
	again, err := policy.Load([]byte(text))
	if err != nil || again.Digest() != r.Digest() {
		t.Fatalf("%v\n%s\n%s", err, text, r.Text())
	}
	for _, want := range []string{"\n- name: two\n", "\n  ask: [send]\n", "\n    path: {within: [docs, ", "\n    args.path.startsWith(\"docs/\") &&\n", "\n  rate: {over: 3, per: hour}\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
