package cases_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/labels/policy/cases"
)

const rules = `
rules:
  - name: pages
    allow: [get_page]
  - name: mail
    ask: [send_mail]
    rate: {over: 3, per: hour}
  - name: some-mail
    allow: [send_mail]
    args: {to: {recipients: ["@example.test"]}}
`

const file = `policy: rules.yaml
cases:
  - {name: a page, tool: get_page, want: allow, rule: pages}
  - name: mail to us
    tool: send_mail
    args: '{"to": "a@example.test"}'
    want: allow
  - {name: mail to others, tool: send_mail, args: '{"to": "a@other.test"}', want: deny, path: /to}
  - {name: much mail, tool: send_mail, args: '{"to": "a@example.test"}', hour: 4, want: ask, reason: rule_ask}
  - {name: much mail and nobody to ask, tool: send_mail, args: '{"to": "a@example.test"}', hour: 4, nobody: true, want: deny, reason: no_channel}
  - {name: unknown, tool: delete_page, want: deny, reason: no_rule}
  - {name: arguments that do not fit, tool: get_page, fit: unfit, want: deny, reason: unfit}
`

// TestHolds: cases that are right hold, and each of them fails once it wants something
// else.
func TestHolds(t *testing.T) {
	r, err := policy.Load([]byte(rules))
	if err != nil {
		t.Fatal(err)
	}
	f, err := cases.Load([]byte(file))
	if err != nil || f.Policy != "rules.yaml" || len(f.Cases) != 7 {
		t.Fatalf("%+v, %v", f, err)
	}
	for _, c := range f.Cases {
		d := policy.Of(r).Decide(c.Facts)
		if !c.Holds(d) {
			t.Errorf("%s: %s %s by %s at %q", c.Name, d.Verb(), d.Reason(), d.Rule(), d.Paths())
		}
		for _, spoil := range []func(*cases.Want){
			func(w *cases.Want) { w.Verb = (w.Verb + 1) % 3 }, func(w *cases.Want) { w.Reason = policy.Stale },
			func(w *cases.Want) { w.Rule = "another" }, func(w *cases.Want) { w.Path = "/another" },
		} {
			other := c
			if spoil(&other.Want); other.Holds(d) {
				t.Errorf("%s holds whatever it wants: %+v", c.Name, other.Want)
			}
		}
	}
}

// TestLoadRefuses: a file that is not right is refused by a name of ours.
func TestLoadRefuses(t *testing.T) {
	one := func(members string) string {
		return "cases:\n  - {name: secret, tool: t, want: allow, " + members + "}\n"
	}
	for name, text := range map[string]string{
		"empty": "", "no cases": "cases: []", "no name": "cases: [{tool: t, want: allow}]", "no tool": "cases: [{name: n, want: allow}]",
		"nothing wanted": "cases: [{name: n, tool: t}]", "an unknown verb": "cases: [{name: n, tool: t, want: never}]",
		"a name twice":      "cases:\n  - {name: n, tool: t, want: deny}\n  - {name: n, tool: t, want: deny}\n",
		"an unknown member": one("secret: x"), "args that are no object": one("args: '[]'"), "args that are no JSON": one("args: '{'"),
		"args with a name twice": one(`args: '{"a":1,"a":2}'`), "args as YAML": one("args: {a: 1}"), "an unknown effect": one("effect: secret"),
		"an unknown reason": one("reason: secret"), "an unknown context": one("context: secret"), "no time": one("at: secret"), "a profile": one("profile: secret"),
		"an anchor": "cases: &secret []", "too large": strings.Repeat("#", cases.MaxBytes+1), "not UTF-8": "\xff",
	} {
		_, err := cases.Load([]byte(text))
		if !errors.Is(err, cases.ErrCases) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(file)
	f.Add("cases: [{name: n, tool: t, want: deny, args: '{\"a\":[1e999]}'}]")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := cases.Load([]byte(text))
		if (err == nil) == (got == nil) || err != nil && !errors.Is(err, cases.ErrCases) {
			t.Fatalf("%v, %v", got, err)
		}
	})
}
