package policy

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/guard"
)

func readRules(text []byte, rules []fileRule) ([]rule, error) {
	seen := map[string]bool{}
	total, nodes := 0, 0
	known := map[string]*condition{}
	var list []rule
	for i, fr := range rules {
		if !ruleName.MatchString(string(fr.Name)) {
			return nil, fmt.Errorf("%w: %srule %d: name must be 1 to 64 of A-Z a-z 0-9 _ . -", ErrRules, ruleLine(text, i), i+1)
		}
		if fr.Name == "default" || seen[string(fr.Name)] {
			return nil, fmt.Errorf("%w: %srule %s: the name is taken", ErrRules, ruleLine(text, i), fr.Name)
		}
		seen[string(fr.Name)] = true
		was := len(known)
		r, err := fr.read(known)
		if err != nil {
			return nil, fmt.Errorf("%w: %srule %s: %w", ErrRules, ruleLine(text, i), fr.Name, err)
		}
		if total += len(r.names); total > maxNames {
			return nil, fmt.Errorf("%w: more than %d names", ErrRules, maxNames)
		}
		if len(known) > was {
			if nodes += r.when.use.nodes; nodes > maxFileNodes {
				return nil, fmt.Errorf("%w: its conditions are too large together", ErrRules)
			}
		}
		list = append(list, r)
	}
	return list, nil
}

// read makes one rule. Its errors do not say which.
func (fr *fileRule) read(known map[string]*condition) (rule, error) {
	r := rule{name: string(fr.Name), shadow: fr.Shadow != nil && *fr.Shadow}
	for _, step := range []func(*rule) string{fr.verb, fr.methods, fr.results, fr.people, fr.selectors, fr.thresholds} {
		if what := step(&r); what != "" {
			return rule{}, errors.New(what)
		}
	}
	var err error
	if fr.Args != nil {
		if r.args = fr.Args; len(r.args) == 0 {
			return rule{}, errors.New("args is empty; leave it out")
		}
		if r.set, err = guard.Constrain(fr.Args); err != nil {
			return rule{}, fmt.Errorf("args: %w", err)
		}
	}
	if fr.When != nil {
		if r.when, err = once(known, string(*fr.When)); err != nil {
			return rule{}, err
		}
	}
	if what := r.wrong(); what != "" {
		return rule{}, errors.New(what)
	}
	return r, nil
}

// once compiles a condition that several rules may have.
func once(known map[string]*condition, text string) (*condition, error) {
	if c, ok := known[text]; ok {
		return c, nil
	}
	c, err := compile(text)
	if err != nil {
		return nil, err
	}
	known[text] = c
	return c, nil
}

// wrong is what the parts of a rule come to that must not be: something that lets a
// worse call through, or that lets more through where it cannot be told.
func (r *rule) wrong() string {
	switch {
	case r.when != nil && r.verb == Allow && r.when.use.trend > falling:
		return `when: what is worse must not permit more; an allow says things like label.tier == "green", counts.hour < 5, !effect.write`
	case r.when != nil && r.verb != Allow && r.when.use.trend != still && r.when.use.trend != rising:
		return `when: what is worse must not permit more; an ask or never says things like label.tier != "green", counts.hour >= 5, effect.write`
	case r.verb == Allow && r.said && r.way == Hold &&
		(r.when != nil || r.set != nil || r.origins != nil || r.agents != nil || r.effects != labels.Unclassified):
		return "results: hold of an allow has no conditions, since it would not hold where they are not met; put it into an ask, or leave them out"
	}
	return ""
}

func (fr *fileRule) verb(r *rule) string {
	given := 0
	for _, x := range []struct {
		verb  Verb
		names *[]word
	}{{Allow, fr.Allow}, {Ask, fr.Ask}, {Deny, fr.Never}} {
		if x.names != nil {
			given++
			r.verb, r.names = x.verb, stringsOf(*x.names)
		}
	}
	if given != 1 {
		return "exactly one of allow, ask and never"
	}
	if len(r.names) == 0 {
		return "it names nothing"
	}
	slices.Sort(r.names)
	return badName(r.names)
}

func (fr *fileRule) methods(r *rule) string {
	if fr.Methods == nil {
		return ""
	}
	r.methods = stringsOf(*fr.Methods)
	if len(r.methods) == 0 {
		return "methods is empty; leave it out"
	}
	for i, m := range r.methods {
		if !slices.Contains(callMethods, m) || slices.Contains(r.methods[:i], m) {
			return "methods are some of " + strings.Join(callMethods, ", ") + ", once each"
		}
		r.mask |= methodBit(m)
	}
	slices.Sort(r.methods)
	return ""
}

// maxSay is what a sentence to people may have, in bytes.
const maxSay = 300

// people reads what the rule says to people, and what their answer has to be.
func (fr *fileRule) people(r *rule) string {
	if fr.Say != nil {
		r.say = string(*fr.Say)
		if r.say == "" || len(r.say) > maxSay || !utf8.ValidString(r.say) || strings.IndexFunc(r.say, unprintable) >= 0 || r.say != strings.TrimSpace(r.say) {
			return "say is one sentence on one line, of at most 300 bytes that show"
		}
	}
	if fr.Assurance == nil {
		return ""
	}
	least, err := labels.ParseAssurance(string(*fr.Assurance))
	if err != nil || least < labels.AssuranceTap {
		return "assurance is tap, passkey or two-person"
	}
	if r.verb != Ask {
		return "assurance is for an ask"
	}
	r.least = least
	return ""
}

// selectors reads which calls the rule is about.
func (fr *fileRule) selectors(r *rule) string {
	for _, x := range []struct {
		key  string
		from *[]word
		to   *[]string
	}{{"origins", fr.Origins, &r.origins}, {"agents", fr.Agents, &r.agents}} {
		if x.from == nil {
			continue
		}
		*x.to = stringsOf(*x.from)
		if len(*x.to) == 0 {
			return x.key + " is empty; leave it out"
		}
		if what := badName(*x.to); what != "" {
			return x.key + ": " + what
		}
		if slices.Contains(*x.to, Any) {
			return x.key + ": leave it out for every one"
		}
		slices.Sort(*x.to)
	}
	if fr.Effects == nil {
		return ""
	}
	for _, w := range *fr.Effects {
		e, err := labels.ParseEffect(string(w))
		if err != nil || e == labels.Unclassified || strings.Contains(string(w), "+") || r.effects&e != 0 {
			return "effects are some of read, write, egress, execute, destructive, once each"
		}
		r.effects |= e
	}
	if r.effects == labels.Unclassified {
		return "effects is empty; leave it out"
	}
	return ""
}

// periods are those of a rate.
var periods = map[string]func(*Counts) uint64{
	"run":    func(c *Counts) uint64 { return c.Run },
	"minute": func(c *Counts) uint64 { return c.Minute },
	"hour":   func(c *Counts) uint64 { return c.Hour },
	"day":    func(c *Counts) uint64 { return c.Day },
}

// thresholds reads what the rule begins with. An allow has none: it would permit more
// to who has done more.
func (fr *fileRule) thresholds(r *rule) string {
	if fr.Rate != nil {
		const want = "rate has over, a number of calls, and per: run, minute, hour or day"
		if fr.Rate.Over == nil || fr.Rate.Per == nil {
			return want
		}
		n, err := strconv.ParseUint(string(fr.Rate.Over.Raw()), 10, 63)
		if r.rate, r.period = n, string(*fr.Rate.Per); err != nil || periods[r.period] == nil {
			return want
		}
		r.per = periods[r.period]
	}
	if fr.New != nil {
		r.fresh = stringsOf(*fr.New)
		if len(r.fresh) == 0 {
			return "new is empty; leave it out"
		}
		if what := badName(r.fresh); what != "" || slices.Contains(r.fresh, Any) {
			return "new names members of the arguments, or places by a JSON Pointer, once each"
		}
		slices.Sort(r.fresh)
	}
	if r.verb == Allow && (r.per != nil || r.fresh != nil) {
		return "rate and new are for an ask or a never"
	}
	return ""
}

// badName is what is wrong with one of the names; empty: nothing.
func badName(names []string) string {
	seen := make(map[string]bool, len(names))
	for _, n := range names {
		switch {
		case n == "" || len(n) > maxNameBytes:
			return "a name is empty or longer than 1024 bytes"
		case n != strings.TrimSpace(n) || strings.IndexFunc(n, unprintable) >= 0:
			return "a name has blanks at an end or characters that do not show; it could never be what it seems"
		case n != Any && strings.HasSuffix(n, Any):
			return "patterns are not taken: * stands alone, for every name"
		case seen[n]:
			return "a name is given twice"
		}
		seen[n] = true
	}
	return ""
}

// results reads what the rule says of results. Only an allow may loosen: a further
// ask or never permits no more of a result either (RULES.md 30).
func (fr *fileRule) results(r *rule) string {
	if fr.Results == nil {
		return ""
	}
	way, err := ParseResults(string(*fr.Results))
	switch {
	case err != nil || way == Cut:
		return "results is hold or mark; leave it out for cut"
	case r.verb == Deny:
		return "a never has no results"
	case way == Mark && r.verb != Allow:
		return "results: mark is for an allow"
	}
	r.way, r.said = way, true
	return ""
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }
