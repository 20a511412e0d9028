package intent_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine/intent"
)

// TestNothingIsDropped: what a person writes as a rule binds, or the file is refused with
// line and rule.
func TestNothingIsDropped(t *testing.T) {
	const head = "task: a\nexpires: 1h\ntools: [push, write]\n"
	for text, want := range map[string]string{
		"rules:\n- {name: a, allow: [push]}\n- name: b\n  never: [write]\n  shadow: true\n": "line 8: rule b: the rules of an intent always bind",
		"rules:\n- {never: [write], shadow: yes}\n":                                         "line 5: rule 1: the rules of an intent always bind",
		"rules:\n- {name: b, never: [write], shadow: }\n":                                   "line 5: rule b: the rules of an intent always bind",
		"rules:\n- {name: b, never: [write], agents: [x]}\n":                                "line 5: rule b: an intent is for one agent",
		"rules:\n- {name: b, never: [write], origins: [x]}\n":                               "line 5: rule b: an intent is for one agent",
		"rules:\n- {name: named, never: [write]}\n":                                         "line 5: rule named: the name is that of",
		"rules:\n- {name: named, allow: [push, write]}\n":                                   "line 5: rule named: the name is that of",
		"rules:\n- {name: named.resources, never: [write]}\n":                               "line 5: rule named.resources: the name is that of",
		"rules:\n- {name: default, never: [write]}\n":                                       "rule default: the name is taken",
		"rules:\n- {name: \"intent:named\", never: [write]}\n":                              "name must be",
		"rules:\n- {name: \"guard:refs\", never: [write]}\n":                                "name must be",
		"shadow: true\n":  "unknown key",
		"tools: [push]\n": "line 4: tools: it is given twice, first in line 3",
		"task: b\n":       "line 4: task: it is given twice",
		"prompts: x\n":    "line 4: prompts: it has to be a list",
		"guards: {}\nrules:\n- {name: a, never: [push]}\nguards: {off: [refs]}\n":                                                        "guards: it is given twice",
		"rules:\n- {name: a, never: [push]}\nrules:\n- {name: b, allow: [push]}\n":                                                       "rules: it is given twice",
		"rules:\n- {name: a, never: [push], never: [write]}\n":                                                                           "rule a: never: it is given twice",
		"rules:\n- {name: a, never: push}\n":                                                                                             "rule a: never: it has to be a list",
		"rules:\n- {name: a, never: [push], when: '\"br\u0430nch\" in args'}\n":                                                          "rule a: a word has letters",
		"rules:\n- {name: a, never: [push], args: {\"\u0441\": {equals: x}}}\n":                                                          "rule a: a word has letters",
		"guards: {refs: {keys: {push: [br\u0430nch]}}}\n":                                                                                "guards: a word has letters",
		"prompts: [a] # only\rresources: [b]\n":                                                                                          "line 4: a character",
		"rules:\n- {name: a, never: [push]} # c\u2028- {name: b, allow: [write]}\n":                                                      "line 5: a character",
		"rules:\n- {name: a, never: [push], when: 'args.x == \"\\u2028\"'}\n- {name: b, never: [write], when: \"args.x == '\u2029'\"}\n": "line 6: a character",
		"rules:\n- {name: b, never: [write], args: {x: {equals: \"\\u2029\"}}}\n":                                                        "rule b: a text has a character",
	} {
		_, err := intent.Parse([]byte(head + text))
		if !errors.Is(err, intent.ErrFile) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s%v, want %s", text, err, want)
		}
	}
	for _, name := range []string{"named-none", "none", "intent", "fit", "personal", "Named", "named.tools"} {
		for _, verb := range []string{"never", "ask"} {
			i := seal(t, head+"rules:\n- {name: "+name+", "+verb+": [push]}\n")
			if got := decide(i, "tools/call", "push").Verb(); got == policy.Allow {
				t.Errorf("%s of the name %s: %v\n%s", verb, name, got, i.Text())
			}
			if got := decide(i, "tools/call", "write"); got.Verb() != policy.Allow || got.Rule() != "profile:personal" {
				t.Errorf("beside it: %v %s", got.Verb(), got.Rule())
			}
		}
	}
	for _, more := range []string{"guards: {off: [refs]}\n", "default: deny\n", "rules:\n- {name: a, allow: [push], shadow: false}\n", "rules:\n- {name: a, ask: [push], say: \"Толкнуть в ветку? а это о чём\", args: {x: {one_of: [größe, ветка]}}}\n"} {
		i := seal(t, head+more)
		if strings.Contains(string(i.Text()), "none") || decide(i, "tools/call", "write").Verb() != policy.Allow {
			t.Errorf("%s: %s", more, i.Text())
		}
	}
	text := string(seal(t, head+"rules:\n- {name: a, never: [push]}\n").Text())
	for _, x := range [][2]string{{`"never":["push"]`, `"never":["push"],"shadow":true`}, {`"rules":{"default":"deny",`, `"rules":{"default":"deny","shadow":true,`}} {
		if other := strings.Replace(text, x[0], x[1], 1); other == text {
			t.Errorf("no %s in %s", x[0], text)
		} else if _, err := intent.Read([]byte(sortKeys(t, other))); !errors.Is(err, intent.ErrText) || !strings.Contains(err.Error(), "shadow") {
			t.Errorf("%s: %v", other, err)
		}
	}
}

func sortKeys(t *testing.T, text string) string {
	t.Helper()
	v := jsontext.Value(text)
	if err := v.Canonicalize(); err != nil {
		t.Fatal(err)
	}
	return string(v)
}

// TestKeysAreWhereTheySeem: no text of several lines goes on over a key at the margin, so
// that each part of the file is what it looks like.
func TestKeysAreWhereTheySeem(t *testing.T) {
	for name, text := range map[string]string{
		"a quoted task": "task: \"Do x\nrules:\n- {name: a, never: [push]}\nagent: y\"\ntools: [push]\nexpires: 1h\n",
		"a single one":  "task: 'Do x\nagent: y'\ntools: [push]\nexpires: 1h\n",
		"a list":        "task: a\ntools: [push,\nexpires: 1h\n]\n",
		"a condition":   "task: a\nexpires: 1h\ntools: [push]\nrules:\n- name: a\n  never: [push]\n  say: \"x\nguards:\n  off: [refs]\n  y\"\n",
		"plain":         "task: a\nexpires: 1h\ntools: [push]\nagent: x\n  y: z\n",
	} {
		if p, err := intent.Parse([]byte(text)); !errors.Is(err, intent.ErrFile) {
			t.Errorf("%s: %+v %v", name, p, err)
		}
	}
	i := seal(t, "task: |\n  Do x:\n  tools: [write]\nexpires: 1h\ntools:\n- push\n# words\nrules:\n- name: a\n  say: >-\n    One\n    sentence.\n  ask: [push]\n")
	if i.Task() != "Do x:\ntools: [write]" || len(i.Items()) != 1 {
		t.Errorf("%s", i.Text())
	}
}

func factsOf(method, name, args string) policy.Facts {
	i := item(name, 1)
	f := policy.Facts{Profile: policy.Personal, Method: method, Tool: name, ID: i.ID, Digest: i.Digest, Origin: place, Agent: agent, Gate: policy.Cleared, Args: []byte(args), Channel: true,
		Fit: policy.Fits, Context: policy.Clean, At: now}
	f.Tier, f.Standing, f.Content = labels.Green, labels.Attested, labels.Inspected
	return f
}

func decide(i *intent.Intent, method, name string) policy.Decision {
	return policy.Layers{Intent: i.Sealed()}.Policy().Decide(factsOf(method, name, `{}`))
}

// drawRules draws the rules of a file, as a person writes them and as members of each.
func drawRules(r *rand.Rand, names []string) (text string, rules []map[string]string) {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	for n := range r.IntN(5) {
		verb := pick("allow", "allow", "ask", "never")
		m := map[string]string{"name": fmt.Sprintf(`"%s%d"`, pick("r", "named-none", "intent", "x."), n), verb: `["` + pick(append(slices.Clone(names), "*")...) + `"]`}
		if r.IntN(3) == 0 {
			m["methods"] = pick(`["tools/call"]`, `["prompts/get"]`, `["prompts/get","tools/call"]`)
		}
		if r.IntN(3) == 0 {
			m["args"] = pick(`{"x":{"equals":"1"}}`, `{"x":{"one_of":["1","2"],"optional":true}}`, `{"p":{"within":["docs"]}}`, `{"b":{"refs":["bot/*"]}}`)
		}
		if r.IntN(3) == 0 {
			m["say"] = `"One sentence."`
		}
		if r.IntN(4) == 0 {
			m["when"] = pick(`"counts.hour < 5"`, `"size(args) < 2"`, `"label.tier == \"green\""`)
			if verb != "allow" {
				m["when"] = pick(`"counts.hour >= 5"`, `"size(args) > 1"`, `"label.tier != \"green\""`)
			}
		}
		if verb != "allow" && r.IntN(4) == 0 {
			m["rate"] = `{"over":3,"per":"hour"}`
		}
		if verb == "allow" && r.IntN(5) == 0 {
			m["results"] = `"mark"`
		}
		if verb == "ask" && r.IntN(4) == 0 {
			m["assurance"] = pick(`"tap"`, `"passkey"`)
		}
		if r.IntN(5) == 0 {
			m["effects"] = pick(`["read"]`, `["write","egress"]`)
		}
		rules = append(rules, m)
		for i, k := range slices.Sorted(maps.Keys(m)) {
			text += []string{"  ", "- "}[min(1, max(0, 1-i))] + k + ": " + m[k] + "\n"
		}
	}
	if text != "" {
		text = "rules:\n" + text
	}
	return text, rules
}

// TestSealedIsWritten: the canonical text, which is what people are shown, has every item,
// every rule with all that it says, and the end, and nothing else but the rule for what is
// only named; and it decides as the rules do that were written.
func TestSealedIsWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(32, 6))
	rounds := 1500
	if testing.Short() {
		rounds = 150
	}
	calls := []string{`{}`, `{"x":"1"}`, `{"x":"2","p":"docs/a"}`, `{"p":"etc/a"}`, `{"b":"main"}`, `{"b":"bot/a"}`}
	all := []string{"a", "b", "c"}
	for range rounds {
		names := all[:1+r.IntN(3)]
		rulesText, rules := drawRules(r, names)
		guards := []string{"", "", "guards:\n  off: [refs]\n", "guards:\n  paths: {within: [docs]}\n"}[r.IntN(4)]
		head := "task: Do it\nexpires: 1h\ntools: [" + strings.Join(names, ", ") + "]\n"
		file := []string{head + rulesText + guards, head + guards + rulesText, guards + rulesText + head}[r.IntN(3)]
		i := seal(t, file)
		var form struct {
			V       int            `json:"v"`
			Task    string         `json:"task"`
			Agent   string         `json:"agent"`
			Items   []intent.Item  `json:"items"`
			Rules   jsontext.Value `json:"rules"`
			Expires int64          `json:"expires"`
		}
		if err := json.Unmarshal(i.Text(), &form, json.RejectUnknownMembers(true)); err != nil {
			t.Fatal(err)
		}
		if form.V != 1 || form.Task != i.Task() || form.Agent != string(agent) || form.Expires != i.Expires().Unix() || !slices.Equal(form.Items, i.Items()) || len(form.Items) != len(names) ||
			string(form.Rules) != string(i.Rules().Text()) {
			t.Fatalf("%s\n%s", file, i.Text())
		}
		sameRules(t, file, rules, form.Rules, guards)
		written, err := policy.Load([]byte(guards + rulesText + "\n"))
		if rulesText == "" {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		p, q := policy.Of(i.Rules()), policy.Of(written)
		for _, name := range names {
			spoken := slices.ContainsFunc(rules, func(m map[string]string) bool {
				return (m["allow"]+m["ask"] == `["`+name+`"]`) || m["allow"]+m["ask"] == `["*"]`
			})
			for _, args := range calls {
				f := factsOf("tools/call", name, args)
				f.Effect = labels.Read
				x, y := p.Decide(f), q.Decide(f)
				if spoken && (x.Verb() != y.Verb() || x.Results() != y.Results()) || !spoken && y.Reason() == policy.RuleNever && x.Verb() != policy.Deny {
					t.Fatalf("%s %s: %v, and the rules say %v\n%s\n%s", name, args, x.Verb(), y.Verb(), file, i.Text())
				}
			}
		}
	}
}

// sameRules wants each rule that was written in the canonical text, word for word.
func sameRules(t *testing.T, file string, rules []map[string]string, text jsontext.Value, guards string) {
	t.Helper()
	var form struct {
		Default string                      `json:"default"`
		Guards  jsontext.Value              `json:"guards"`
		Rules   []map[string]jsontext.Value `json:"rules"`
	}
	if err := json.Unmarshal(text, &form, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	if (len(form.Guards) > 0) != (guards != "") {
		t.Fatalf("%s\n%s", file, text)
	}
	more := 0
	for _, got := range form.Rules {
		if string(got["name"]) == `"named"` && len(got) == 2 && got["allow"] != nil {
			more++
			continue
		}
		want := slices.IndexFunc(rules, func(m map[string]string) bool { return m["name"] == string(got["name"]) })
		if want < 0 || len(rules[want]) != len(got) {
			t.Fatalf("%s\n%s", file, text)
		}
		for k, v := range rules[want] {
			if g := string(got[k]); g != v && g != sortKeys(t, v) {
				t.Fatalf("%s of %s is %s\n%s", k, got["name"], g, file)
			}
		}
	}
	if len(form.Rules) != len(rules)+more || more > 1 {
		t.Fatalf("%d rules of %d\n%s\n%s", len(form.Rules), len(rules), file, text)
	}
}

// TestSpellingsOfResources: a never of an intent about a resource holds for its other
// spellings through a template, and an intent that drops it is narrower only when nothing
// is left that could be the same.
func TestSpellingsOfResources(t *testing.T) {
	const rule = "rules:\n- {name: n, never: [\"file:///w/secret.txt\"]}\n"
	const head = "task: a\nexpires: 1h\n"
	i := seal(t, head+"templates: [\"file:///w/{path}\"]\nresources: [\"file:///w/secret.txt\"]\n"+rule)
	p := policy.Layers{Intent: i.Sealed()}.Policy()
	for uri, want := range map[string]policy.Verb{"file:///w/a": policy.Allow, "file:///w/secret.txt": policy.Deny, "file:///w/%73ecret.txt": policy.Deny, "file:///w/SECRET.txt": policy.Deny, "file:///w/.//secret.txt": policy.Deny} {
		f := factsOf("resources/read", "file:///w/{path}", `{}`)
		f.Target = uri
		if got := p.Decide(f).Verb(); got != want {
			t.Errorf("%s: %v", uri, got)
		}
	}
	was := seal(t, head+"resources: [\"file:///w/secret.txt\", \"file:///w/%73ecret.txt\", \"file:///w/b\"]\n"+rule)
	if err := intent.Narrower(was, seal(t, head+"resources: [\"file:///w/%73ecret.txt\", \"file:///w/b\"]\nrules:\n- {name: named-x, never: [\"file:///w/b\"]}\n")); !errors.Is(err, intent.ErrWider) || !strings.Contains(err.Error(), "rule n is gone") {
		t.Errorf("another spelling is left: %v", err)
	}
	if err := intent.Narrower(was, seal(t, head+"resources: [\"file:///w/b\"]\n")); err != nil {
		t.Errorf("nothing is left of it: %v", err)
	}
}
