// Package advise looks at rules instead of deciding by them: what is wrong with a file
// for the tools that there are, what cases say of it, and which rules would allow what
// a run did. It decides nothing and touches nothing.
package advise

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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
	Unreachable     Kind = "unreachable"      // a rule that another always beats
	ShadowedAsk     Kind = "shadowed_ask"     // an ask that another rule always beats
	LoneAsk         Kind = "lone_ask"         // an ask that takes from nothing
	Redundant       Kind = "redundant"        // a rule that changes nothing
	AbsentArgument  Kind = "absent_argument"  // an ask or never that fires where an optional argument is absent
)

// A Finding is one thing that is likely not meant.
type Finding struct {
	Rule string
	Kind Kind
	Item string // that it is about; empty: all that the rule names
	Text string // one sentence
}

// Check holds rules against the items there are. No items: only what the rules say of
// each other is looked at. The findings are by rule, and stable.
func Check(rules *policy.Rules, items []Item) []Finding {
	all := rules.All()
	known := make(map[string][]schema, len(items))
	for _, it := range items {
		known[it.Name] = append(known[it.Name], schemaOf(it.Schema))
	}
	var out []Finding
	for i, r := range all {
		out = append(out, against(r, i, all)...)
		if len(items) == 0 {
			continue
		}
		for _, name := range r.Names {
			if name == policy.Any {
				continue
			}
			list, ok := known[name]
			if !ok {
				out = append(out, Finding{r.Name, UnknownItem, name, "No upstream has an item of this name."})
				continue
			}
			out = append(out, arguments(r, name, list)...)
		}
	}
	return out
}

// against compares a rule with the others.
func against(r policy.Rule, at int, all []policy.Rule) []Finding {
	if r.Shadow {
		return nil
	}
	var out []Finding
	if by := coveredBy(r, at, all, policy.Deny); by != "" {
		kind := Unreachable
		switch r.Verb {
		case policy.Ask:
			kind = ShadowedAsk
		case policy.Deny:
			kind = Redundant
		}
		return append(out, Finding{r.Name, kind, "", "The never " + by + " always beats it."})
	}
	if r.Verb == policy.Ask {
		if by := coveredBy(r, at, all, policy.Ask); by != "" {
			out = append(out, Finding{r.Name, ShadowedAsk, "", "The ask " + by + " asks for all that it asks for."})
		}
		if (r.Moves || r.Rate || len(r.New) > 0) && !allowed(r, all) {
			out = append(out, Finding{r.Name, LoneAsk, "", "It takes from what others allow, and no rule allows what it names, so it never asks."})
		}
	}
	if r.Verb == policy.Allow && !r.Results {
		if by := coveredBy(r, at, all, policy.Allow); by != "" {
			out = append(out, Finding{r.Name, Redundant, "", "The allow " + by + " allows all that it allows."})
		}
	}
	return out
}

// coveredBy is an unconditional rule of a verb for all names and methods of r.
func coveredBy(r policy.Rule, at int, all []policy.Rule, verb policy.Verb) string {
	for i, o := range all {
		if i == at || o.Verb != verb || o.Shadow || o.Conditional() || o.Assurance < r.Assurance && verb == policy.Ask {
			continue
		}
		twins := o.Verb == r.Verb && !r.Conditional() && names(r, o) && methods(r, o)
		if names(o, r) && methods(o, r) && !(twins && i > at) { // of two that are the same, the second
			return o.Name
		}
	}
	return ""
}

func names(o, r policy.Rule) bool {
	return slices.Contains(o.Names, policy.Any) || !slices.ContainsFunc(r.Names, func(n string) bool { return !slices.Contains(o.Names, n) })
}

func methods(o, r policy.Rule) bool {
	have, want := methodsOf(o), methodsOf(r)
	return !slices.ContainsFunc(want, func(m string) bool { return !slices.Contains(have, m) })
}

func methodsOf(r policy.Rule) []string {
	switch {
	case len(r.Methods) > 0:
		return r.Methods
	case r.Verb == policy.Allow:
		return []string{"tools/call"}
	}
	return policy.Methods()
}

// allowed tells whether some rule may allow something that r names.
func allowed(r policy.Rule, all []policy.Rule) bool {
	return slices.ContainsFunc(all, func(o policy.Rule) bool {
		if o.Shadow || o.Verb == policy.Deny || o.Verb == policy.Ask && (o.Name == r.Name || o.Moves || o.Rate || len(o.New) > 0) {
			return false
		}
		return slices.Contains(o.Names, policy.Any) || slices.ContainsFunc(r.Names, func(n string) bool { return n == policy.Any || slices.Contains(o.Names, n) })
	})
}

// arguments holds what a rule says of arguments against the schemas of an item.
func arguments(r policy.Rule, item string, list []schema) []Finding {
	var out []Finding
	unknown := map[string]bool{}
	note := func(place string, has func(schema) bool) {
		if !unknown[place] && !slices.ContainsFunc(list, has) {
			unknown[place] = true
			out = append(out, Finding{r.Name, UnknownArgument, item, "It has no argument " + place + "."})
		}
	}
	for _, name := range slices.Concat(r.Args, r.New) {
		if path, ok := pointer(name); ok {
			note(name, func(s schema) bool { return s.hasPath(path) })
			continue
		}
		note("/"+name, func(s schema) bool { return s.hasName(name) })
	}
	for _, p := range r.Reads {
		place := "/" + strings.Join(p.Path, "/")
		note(place, func(s schema) bool { return s.hasPath(p.Path) })
		if r.Verb == policy.Allow || p.Tested || unknown[place] || tested(r, p.Path) {
			continue
		}
		if slices.ContainsFunc(list, func(s schema) bool { return !s.required[p.Path[0]] }) {
			unknown[place] = true
			out = append(out, Finding{r.Name, AbsentArgument, item, "It fires where " + place + " is absent, which the schema permits; say has(args." + strings.Join(p.Path, ".") + ") if it should not."})
		}
	}
	return out
}

// tested tells whether the rule asks whether the place, or what is around it, is there.
func tested(r policy.Rule, path []string) bool {
	return slices.ContainsFunc(r.Reads, func(p policy.Reading) bool {
		return p.Tested && len(p.Path) <= len(path) && slices.Equal(p.Path, path[:len(p.Path)])
	})
}

func pointer(name string) ([]string, bool) {
	rest, ok := strings.CutPrefix(name, "/")
	if !ok {
		return nil, false
	}
	path := strings.Split(rest, "/")
	for i, p := range path {
		path[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(p)
	}
	return path, true
}

// A schema is what is known of an item's arguments.
type schema struct {
	top      map[string]bool // names of the object
	deep     map[string]bool // and of everything below
	required map[string]bool
	open     bool // it takes others too, or it cannot be told
}

func (s schema) hasName(name string) bool { return s.open || s.deep[name] }

func (s schema) hasPath(path []string) bool {
	if s.open {
		return true
	}
	for i, p := range path {
		if i == 0 && !s.top[p] || !s.deep[p] {
			return false
		}
	}
	return true
}

// schemaOf reads a schema. One that puts others together is known by all names in it.
func schemaOf(raw jsontext.Value) schema {
	s := schema{top: map[string]bool{}, deep: map[string]bool{}, required: map[string]bool{}}
	var doc map[string]any
	if len(raw) == 0 || json.Unmarshal(raw, &doc) != nil {
		s.open = true
		return s
	}
	s.gather(doc, 0)
	props, listed := doc["properties"].(map[string]any)
	for name := range props {
		s.top[name] = true
	}
	if list, ok := doc["required"].([]any); ok {
		for _, x := range list {
			if name, ok := x.(string); ok {
				s.required[name] = true
			}
		}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf", "$ref", "if", "dependentSchemas"} {
		if _, ok := doc[key]; ok {
			s.top, listed = s.deep, true
		}
	}
	more, said := doc["additionalProperties"]
	_, patterns := doc["patternProperties"]
	s.open = !listed || patterns || said && more != false
	return s
}

// gather takes the names of properties at any depth.
func (s *schema) gather(v any, depth int) {
	if depth > 64 {
		s.open = true
		return
	}
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			s.gather(x, depth+1)
		}
	case map[string]any:
		if props, ok := v["properties"].(map[string]any); ok {
			for name := range props {
				s.deep[name] = true
			}
		}
		for _, x := range v {
			s.gather(x, depth+1)
		}
	}
}
