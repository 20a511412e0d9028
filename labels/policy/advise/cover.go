package advise

import (
	"slices"
	"strings"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
)

// against compares a rule with the others. What it says of a rule that others beat holds
// for every call: see covers.
func (f *file) against(at int) (out []Finding) {
	r := &f.rules[at]
	if r.Shadow {
		return nil
	}
	if r.never() {
		return []Finding{{r.Name, Unreachable, "", "Its condition holds for no call."}}
	}
	if by := f.beaten(at, policy.Deny); by != nil {
		kind := Unreachable
		switch r.Verb {
		case policy.Ask:
			kind = ShadowedAsk
		case policy.Deny:
			kind = Redundant
		}
		return []Finding{{r.Name, kind, "", said("never", by, "always beats it", "together always beat it")}}
	}
	if r.Verb == policy.Ask {
		if by := f.same(at); by != "" {
			out = append(out, Finding{r.Name, ShadowedAsk, "", "The ask " + by + " asks for all that it asks for."})
		}
		if (r.Moves || r.per != "" || len(r.New) > 0) && !f.allowed(r) {
			out = append(out, Finding{r.Name, LoneAsk, "", "It takes from what others allow, and no rule allows what it names, so it never asks."})
		}
	}
	if r.Verb == policy.Allow && !r.Results {
		if by := f.beaten(at, policy.Ask); by != nil {
			return append(out, Finding{r.Name, Unreachable, "", said("ask", by, "asks for all that it allows", "together always beat it")})
		}
		if by := f.same(at); by != "" {
			out = append(out, Finding{r.Name, Redundant, "", "The allow " + by + " allows all that it allows."})
		}
	}
	return out
}

// said names one rule, or several.
func said(verb string, by []string, one, more string) string {
	if len(by) == 1 {
		return "The " + verb + " " + by[0] + " " + one + "."
	}
	return "The rules " + strings.Join(by[:len(by)-1], ", ") + " and " + by[len(by)-1] + " " + more + "."
}

// never tells whether the condition can hold for no call. What stands behind something
// that errs, or costs too much, may still make a never fire: then only the first counts.
func (r *rule) never() bool {
	i := slices.Index(r.joined, "false")
	return i == 0 || i > 0 && r.Verb == policy.Allow
}

// same is a rule of the same verb that fires wherever this one does, and wants as much.
// Of two that are the same it is the first.
func (f *file) same(at int) string {
	r := &f.rules[at]
	for i := range f.rules {
		o := &f.rules[i]
		if i == at || o.Verb != r.Verb || !o.does(r) {
			continue
		}
		if i > at && r.does(o) {
			continue
		}
		return o.Name
	}
	return ""
}

// does tells whether a rule of the same verb does all that another does.
func (o *rule) does(r *rule) bool {
	return o.Assurance >= r.Assurance && (o.Results || !r.Results) && o.covers(r) && o.covered(r)
}

// covered tells whether a rule speaks of all names, methods and effects of another.
func (o *rule) covered(r *rule) bool {
	if o.Effects != labels.Unclassified && (effectsOf(r)&^o.Effects != 0) {
		return false
	}
	return !slices.ContainsFunc(r.Names, func(n string) bool { return !o.names(n) }) &&
		!slices.ContainsFunc(methodsOf(r), func(m string) bool { return !slices.Contains(methodsOf(o), m) })
}

// beaten are rules that always beat the rule: for each of its names, methods and effects
// one of a verb of at most strictest. Several nevers may share them. A never that is
// beaten by others of its kind is so by one alone. nil: it may decide.
func (f *file) beaten(at int, strictest policy.Verb) []string {
	r := &f.rules[at]
	if strictest == r.Verb {
		if by := f.same(at); by != "" {
			return []string{by}
		}
		return nil
	}
	var over []*rule
	for i := range f.rules {
		if o := &f.rules[i]; i != at && o.Verb <= strictest && o.Verb < r.Verb && o.covers(r) {
			over = append(over, o)
		}
	}
	for _, o := range over {
		if o.covered(r) {
			return []string{o.Name}
		}
	}
	var by []string
	for _, n := range r.Names {
		for _, m := range methodsOf(r) {
			for e := labels.Read; e <= labels.AllEffects; e <<= 1 {
				if effectsOf(r)&e == 0 {
					continue
				}
				i := slices.IndexFunc(over, func(o *rule) bool {
					return o.names(n) && slices.Contains(methodsOf(o), m) && effectsOf(o)&e != 0
				})
				if i < 0 {
					return nil
				}
				if !slices.Contains(by, over[i].Name) {
					by = append(by, over[i].Name)
				}
			}
		}
	}
	slices.Sort(by)
	return by
}

// covers tells whether a rule fires wherever another does, as far as names, methods and
// effects go: everything else that it asks for the other asks for too. Arguments that
// are optional are no such thing between an allow, which is met where they are absent,
// and a never, which then is not.
func (o *rule) covers(r *rule) bool {
	switch {
	case o.Shadow,
		len(o.Origins) > 0 && !within(r.Origins, o.Origins), len(o.Agents) > 0 && !within(r.Agents, o.Agents),
		o.per != "" && (r.per != o.per || r.over < o.over), len(o.fresh) > 0 && !within(r.fresh, o.fresh):
		return false
	}
	for name, text := range o.args {
		if r.args[name] != text || o.free[name] && o.Verb != r.Verb && (o.Verb == policy.Allow || r.Verb == policy.Allow) {
			return false
		}
	}
	if len(o.joined) == 0 {
		return true
	}
	if r.Verb == policy.Allow { // all that it joins holds
		return within(o.joined, r.joined)
	}
	return len(o.joined) <= len(r.joined) && slices.Equal(o.joined, r.joined[:len(o.joined)])
}

// within tells whether a list is not empty and all of it is in another.
func within(list, other []string) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(s string) bool { return !slices.Contains(other, s) })
}

// conjuncts are what a condition joins with &&, but for what is true anyhow.
func conjuncts(when string) []string {
	return slices.DeleteFunc(joined(when), func(s string) bool { return s == "true" })
}

// joined takes a condition apart at its &&. One with anything in it that makes that more
// than a matter of signs is left whole.
func joined(when string) []string {
	if when == "" {
		return nil
	}
	whole := []string{when}
	var list []string
	depth, begin, quote := 0, 0, byte(0)
	for i := 0; i < len(when); i++ {
		switch c := when[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case depth > 0:
		case c == '?' || c == '|':
			return whole
		case c == '&':
			list = append(list, strings.TrimSpace(when[begin:i]))
			i++ // there is no & alone
			begin = i + 1
		}
	}
	if strings.ContainsAny(when, "\\`") || strings.Contains(when, "//") || strings.Contains(when, `"""`) || strings.Contains(when, "'''") {
		return whole
	}
	return append(list, strings.TrimSpace(when[begin:]))
}

func (o *rule) names(name string) bool {
	return slices.Contains(o.Names, policy.Any) || slices.Contains(o.Names, name)
}

// others stands for the methods that rules cannot name.
const others = ""

func methodsOf(r *rule) []string {
	switch {
	case len(r.Methods) > 0:
		return r.Methods
	case r.Verb == policy.Allow:
		return []string{"tools/call"}
	}
	return append(policy.Methods(), others)
}

// effectsOf are those that a call may have that the rule is about.
func effectsOf(r *rule) labels.Effect { return r.Effects.Counts() }

// allowed tells whether some rule may allow something that r names.
func (f *file) allowed(r *rule) bool {
	return slices.ContainsFunc(f.rules, func(o rule) bool {
		if o.Shadow || o.Verb == policy.Deny || o.Verb == policy.Ask && (o.Name == r.Name || o.Moves || o.Rate || len(o.New) > 0) {
			return false
		}
		return slices.Contains(o.Names, policy.Any) || slices.ContainsFunc(r.Names, func(n string) bool { return n == policy.Any || slices.Contains(o.Names, n) })
	})
}
