package policy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/policy"
)

// TestMisread: an error says in which line, of which rule, under which key what is
// wrong. It repeats no value.
func TestMisread(t *testing.T) {
	const head = "rules:\n  - name: first\n    allow: [x]\n  - name: secretive\n    never: [y]\n" // line 6 is next
	for text, want := range map[string]string{
		head + "    when: true\n":                               "line 6: rule secretive: when: it is read as a number, true or false, and has to be a text; put it in quotes",
		head + "    say: 5\n":                                   "line 6: rule secretive: say: it is read as a number, true or false, and has to be a text; put it in quotes",
		head + "    say: [hidden]\n":                            "line 6: rule secretive: say: it has to be a text, and is a list",
		head + "    origins: hidden\n":                          "line 6: rule secretive: origins: it has to be a list, and is a text; put it in [ ]",
		head + "    origins: {hidden: 1}\n":                     "line 6: rule secretive: origins: it has to be a list, and is keys with values",
		head + "    agents:\n      - hidden\n      - 5\n":       "line 8: rule secretive: agents: it is read as a number, true or false, and has to be a text; put it in quotes",
		head + "    shadow: \"yes hidden\"\n":                   "line 6: rule secretive: shadow: it has to be true or false, and is a text",
		head + "    wehn: 'hidden'\n":                           "line 6: rule secretive: unknown key; is when meant?",
		head + "    hidden: 1\n":                                "line 6: rule secretive: unknown key; there are name, allow, ask, never, methods,",
		head + "    rate: {over: 1, pre: hidden}\n":             "line 6: rule secretive: rate: unknown key; there are over, per",
		head + "    rate: hidden\n":                             "line 6: rule secretive: rate: it has to be keys with values, and is a text",
		head + "    rate:\n      over: 1\n      per: 7\n":       "line 8: rule secretive: rate.per: it is read as",
		head + "    args: {hidden: {witin: [a]}}\n":             "line 6: rule secretive: args.name 1: unknown key; is within meant?",
		head + "    args: {a: {max: 1}, hidden: {within: 5}}\n": "line 6: rule secretive: args.name 2.within: it is read as",
		head + "    args: {hidden: {within: [a, 5]}}\n":         "line 6: rule secretive: args.name 1.within: it is read as",
		head + "    args: {hidden: {longest: many}}\n":          "line 6: rule secretive: args.name 1.longest: it has to be a whole number, and is a text",
		head + "    args: {hidden: {max: 0x10}}\n":              "line 6: rule secretive: args.name 1.max: it is no value as JSON has them; put text in quotes",
		head + "    args: [hidden]\n":                           "line 6: rule secretive: args: it has to be keys with values, and is a list",
		head + "    say: hidden\n    say: hidden\n":             "line 7: rule secretive: say: it is given twice",
		head + "    never: [hidden]\n":                          "line 6: rule secretive: never: it is given twice",
		"rules: []\nguards: {refs: {keys: {hidden: [5]}}}\n":    "line 2: guards.refs.keys.name 1: it is read as",
		"rules: []\nguards: {refs: {protect: [hidden]}}\n":      "line 2: guards.refs: unknown key; is protected meant?",
		"rules: []\nguards: {content: {secret: hidden}}\n":      "line 2: guards.content: unknown key; is secrets meant?",
		"rules: []\nguards: [hidden]\n":                         "line 2: guards: it has to be keys with values, and is a list",
		"rules:\n  - allow: hidden\n":                           "line 2: rule 1: allow: it has to be a list, and is a text; put it in [ ]",
		"rules:\n  - hidden\n":                                  "line 2: rule 1: it has to be keys with values, and is a text",
		"rules: hidden\n":                                       "line 1: rules: it has to be a list, and is a text; put it in [ ]",
		"rule:\n  - {name: a, allow: [hidden]}\n":               "line 1: unknown key; is rules meant?",
		"hidden: 1\n": "line 1: unknown key; there are default, shadow, guards, rules",
		"- hidden\n":  "line 1: it has to be keys with values, and is a list",
		"default: deny\ndefault: deny\nrules: []\n":      "line 2: default: it is given twice",
		head + "    args: {b: {equals: {c: 1, c: 2}}}\n": "line 6: repeated key",
	} {
		r, err := policy.Load([]byte(text))
		if r != nil || !errors.Is(err, policy.ErrRules) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s%v\nwant %s", text, err, want)
		}
	}
}

// TestRuleLine: what is found when the text is read already is said with the line where
// the rule begins, in whatever way rules are written.
func TestRuleLine(t *testing.T) {
	const head = "# a comment\r\ndefault: deny\nrules:\n  - {name: first, allow: [x]}\n\n"
	for text, want := range map[string]string{
		head + "  - name: second\n    allow: [y]\n    args: {}\n":                                 "line 6: rule second: args is empty; leave it out",
		head + "  - name: first\n    allow: [y]\n":                                                "line 6: rule first: the name is taken",
		head + "  - name: a hidden name\n    allow: [y]\n":                                        "line 6: rule 2: name must be ",
		head + "  - {name: second, ask: [y], when: 'hidden =='}\n":                                "line 6: rule second: when",
		head + "  - ask: [y]\n    name: second\n    rate: {over: -1, per: hour}\n":                "line 6: rule second: rate has over",
		head + "  -\n    name: second\n    allow: [\"hidden*\"]\n":                                "line 7: rule second: patterns are not taken",
		head + "  - name: second\n    allow: [y]\n    args: {a: {within: []}}\n":                  "line 6: rule second: args: ",
		"rules: [{name: first, allow: [x]},\n{name: second, allow: []}]\n":                        "line 2: rule second: it names nothing",
		"{\"rules\":[{\"allow\":[\"x\"],\"name\":\"first\"},{\"allow\":[],\"name\":\"second\"}]}": "policy file: rule second: it names nothing",
	} {
		r, err := policy.Load([]byte(text))
		if r != nil || !errors.Is(err, policy.ErrRules) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s%v\nwant %s", text, err, want)
		}
	}
}

// TestNoValue: a key without a value is an error wherever it stands, not a condition
// that asks for nothing: an allow would then be one without conditions.
func TestNoValue(t *testing.T) {
	const rule = "rules:\n  - name: a\n    allow: [x]\n"
	for _, null := range []string{"", " ~", " null"} {
		for _, key := range []string{"when", "args", "agents", "origins", "effects", "methods", "results", "say", "rate", "new", "assurance", "shadow"} {
			want := "line 4: rule a: " + key + ": it has no value; leave the key out"
			if _, err := policy.Load([]byte(rule + "    " + key + ":" + null + "\n")); !errors.Is(err, policy.ErrRules) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s:%s: %v", key, null, err)
			}
		}
		for _, key := range []string{"guards", "default", "shadow"} {
			if _, err := policy.Load([]byte(key + ":" + null + "\n" + rule)); !errors.Is(err, policy.ErrRules) || !strings.Contains(err.Error(), "line 1: "+key+": it has no value") {
				t.Errorf("%s:%s: %v", key, null, err)
			}
		}
	}
	for _, rest := range []string{"args: {}", "args: {a: {within: null}}", "args: {a: {longest: }}", "args: {a: }", "agents: [null]"} {
		if _, err := policy.Load([]byte(rule + "    " + rest + "\n")); !errors.Is(err, policy.ErrRules) || !strings.Contains(err.Error(), "rule a: ") {
			t.Errorf("%s: %v", rest, err)
		}
	}
	if _, err := policy.Load([]byte(rule + "    args: {a: {equals: null}}\n")); err != nil {
		t.Errorf("null is a value of equals: %v", err)
	}
}
