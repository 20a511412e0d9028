// Package advise looks at rules instead of deciding by them: what is wrong with a file
// for the tools that there are, what cases say of it, and which rules would allow what
// a run did. It decides nothing and touches nothing.
package advise

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/labels/guard"
	"github.com/pratique-dev/pratique/labels/policy"
)

// An Item is something that rules can name: of one upstream, as it was cleared.
type Item struct {
	Kind   string         // tool, prompt, resource or template
	Name   string         // the upstream's own
	Schema jsontext.Value // of a tool's arguments; nil: not known
}

// A Kind says what is wrong.
type Kind string

// The kinds of findings.
const (
	UnknownItem     Kind = "unknown_item"     // a name that no upstream has
	UnknownArgument Kind = "unknown_argument" // an argument that the item does not have
	Unreachable     Kind = "unreachable"      // a rule that never decides
	ShadowedAsk     Kind = "shadowed_ask"     // an ask that another rule always beats
	LoneAsk         Kind = "lone_ask"         // an ask that takes from nothing
	Redundant       Kind = "redundant"        // a rule that changes nothing
	AbsentArgument  Kind = "absent_argument"  // an ask or never that fires where an argument that may be absent is
)

// A Finding is one thing that is likely not meant.
type Finding struct {
	Rule string // or, of what is said under guards, the key: guards.refs.keys
	Kind Kind
	Item string // that it is about; empty: all that the rule names
	Text string // one sentence, which names the item where there is one
}

// Check holds rules against the items there are. No items: only what the rules say of
// each other is looked at. The findings are by rule, and stable. One that says that a
// rule is unreachable is exact: there is no call for which the rule decides.
func Check(rules *policy.Rules, items []Item) []Finding {
	file := read(rules)
	known, templates := make(map[string][]known, len(items)), false
	for _, it := range items {
		templates = templates || it.Kind == "template"
		known[it.Name] = append(known[it.Name], knownOf(it))
	}
	var out []Finding
	for i := range file.rules {
		r := &file.rules[i]
		out = append(out, file.against(i)...)
		if len(items) == 0 {
			continue
		}
		for _, name := range r.Names {
			if name == policy.Any {
				continue
			}
			list, ok := known[name]
			if !ok && templates && strings.Contains(name, ":") {
				continue // an address that may be read through one
			}
			if !ok {
				out = append(out, Finding{r.Name, UnknownItem, name, "No upstream has an item of the name " + name + "."})
				continue
			}
			out = append(out, used(r, name, list)...)
			out = append(out, arguments(r, name, list)...)
		}
	}
	if len(items) > 0 {
		out = append(out, file.keys(known)...)
	}
	return out
}

// A rule is one rule with all that its text says.
type rule struct {
	policy.Rule
	args   map[string]string // what is asked of each argument, in its canonical spelling
	free   map[string]bool   // arguments that are optional
	over   uint64            // with per
	per    string            // empty: no rate
	fresh  []string
	joined []string // what the condition joins with &&; nil: it has none
}

// A file is the rules with what they say of guards.
type file struct {
	rules  []rule
	guards *guard.Config
}

// read takes the rules as they are spelled when they are kept.
func read(rules *policy.Rules) *file {
	var text struct {
		Guards *guard.Config `json:"guards"`
		Rules  []struct {
			Args map[string]jsontext.Value `json:"args"`
			New  []string                  `json:"new"`
			Rate *struct {
				Over uint64 `json:"over"`
				Per  string `json:"per"`
			} `json:"rate"`
		} `json:"rules"`
	}
	all := rules.All()
	if json.Unmarshal(rules.Text(), &text) != nil || len(text.Rules) != len(all) {
		return &file{}
	}
	f := &file{guards: text.Guards}
	for i, v := range all {
		t := text.Rules[i]
		r := rule{Rule: v, fresh: t.New, args: map[string]string{}, free: map[string]bool{}, joined: conjuncts(v.When)}
		for name, raw := range t.Args {
			var c guard.Constraint
			r.args[name], r.free[name] = string(raw), json.Unmarshal(raw, &c) == nil && c.Optional
		}
		if t.Rate != nil {
			r.over, r.per = t.Rate.Over, t.Rate.Per
		}
		f.rules = append(f.rules, r)
	}
	return f
}
