package policy

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/internal/yamltext"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/guard"
)

// Rules are the rules of one layer, as Load read them. They are immutable. Their
// order does not matter: never beats ask beats allow, and nothing matching means Deny.
type Rules struct {
	rules    []rule // sorted by name
	index    map[string]*slot
	alike    map[string]*slot // asks and nevers, by what a resource comes to in every spelling
	every    *slot            // all of alike
	shadow   bool             // the file only records
	watching bool             // some rule does
	needy    bool             // some rule wants to know of earlier calls
	config   *guard.Config
	set      *guard.Set // of the file
	text     []byte
	digest   credentials.Digest
}

// Any is the word for every name, in rules. It stands alone: patterns of names
// are not part of this format, and a rule that seems to use one is refused.
const Any = "*"

// A rule permits, asks for or forbids some names in some methods, under conditions.
type rule struct {
	name    string
	verb    Verb     // Deny is never
	names   []string // sorted
	methods []string // sorted; nil: of an allow tools/call, of an ask or never all
	mask    uint8    // of methods
	way     Results  // with suspect results; only with said
	said    bool     // whether it says something of results
	say     string   // to people
	origins []string // sorted; nil: every
	agents  []string // sorted, ids or names; nil: every
	effects labels.Effect
	when    *condition // nil: always
	args    map[string]guard.Constraint
	set     *guard.Set // of args; nil: none
	rate    uint64     // of calls before, with per
	per     func(*Counts) uint64
	period  string
	fresh   []string // sorted; nil: whether values are new or not
	least   labels.Assurance
	shadow  bool
	takes   bool // it fires for another spelling, so that it opens nothing by itself
}

// A slot is the rules about one name, by verb, sorted by name.
type slot struct {
	bind  [Allow + 1][]*rule
	watch [Allow + 1][]*rule
	needs Needs
	cost  uint64
}

func (s *slot) binding(v Verb) []*rule  { return s.bind[v] }
func (s *slot) watching(v Verb) []*rule { return s.watch[v] }

// slots are those of the item, of what is read through it, of any, and what asks and
// nevers say of a resource in another spelling; nil where there is none.
func (r *Rules) slots(f *Facts) [4]*slot {
	list := [4]*slot{r.index[f.Tool], nil, r.index[Any]}
	if f.Target != "" {
		list[1] = r.index[f.Target]
	}
	if r.every != nil && resourceBits&methodBit(f.Method) != 0 {
		list[3] = r.spelled(f)
	}
	return list
}

// callMethods are the methods that carry agent-chosen values upstream, and so
// are decided (RULES.md 4).
var callMethods = []string{
	"completion/complete", "prompts/get", "resources/read", "resources/subscribe", "resources/unsubscribe", "tools/call",
}

// Methods lists the methods that rules can name.
func Methods() []string { return slices.Clone(callMethods) }

// Len is how many rules there are.
func (r *Rules) Len() int { return len(r.rules) }

// Shadow tells whether the file is one that only records.
func (r *Rules) Shadow() bool { return r.shadow }

// Digest names the rules by what they say: order, comments and spelling of the
// file do not matter.
func (r *Rules) Digest() credentials.Digest { return r.digest }

// Text is a rule file, in its one canonical spelling, that Load reads as these
// rules: what replay keeps (RULES.md 29).
func (r *Rules) Text() []byte { return slices.Clone(r.text) }

// newRules sorts and indexes. The names of rules are unique.
func newRules(list []rule, shadow bool, config *guard.Config) (*Rules, error) {
	r := &Rules{rules: list, index: map[string]*slot{}, shadow: shadow, config: config}
	var err error
	if r.set, err = guard.Compile(config); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRules, err)
	}
	slices.SortFunc(list, func(a, b rule) int { return cmp.Compare(a.name, b.name) })
	for i := range list {
		r.add(&list[i])
	}
	any := r.index[Any]
	for _, index := range []map[string]*slot{r.index, r.alike} {
		for _, s := range index {
			if cost := s.cost + anyCost(any, s); cost > maxToolCost {
				return nil, fmt.Errorf("%w: the conditions of one tool cost too much together", ErrRules)
			}
		}
	}
	if r.text, err = canon.Marshal(r.form()); err != nil {
		return nil, fmt.Errorf("%w: a name has no canonical form", ErrRules)
	}
	if err := r.readable(); err != nil {
		return nil, err
	}
	r.digest = canon.Digest(DigestContext+"/rules", r.text)
	return r, nil
}

func anyCost(any, s *slot) uint64 {
	if any == nil || any == s {
		return 0
	}
	return any.cost
}

// readable refuses a text with characters that a rule file must not have: written by
// escapes, they would stand in the canonical spelling as they are.
func (r *Rules) readable() error {
	if _, err := yamltext.Clean(r.text); err == nil {
		return nil
	}
	for i := range r.rules {
		f := r.rules[i].form()
		if text, err := canon.Marshal(&f); err == nil {
			_, err = yamltext.Clean(text)
			if err != nil {
				return fmt.Errorf("%w: rule %s: a text has a character that ends, moves or hides a line for some programs only", ErrRules, f.Name)
			}
		}
	}
	return fmt.Errorf("%w: guards: a text has a character that ends, moves or hides a line for some programs only", ErrRules)
}

// RuleName tells whether a text has the form of a rule's name.
func RuleName(s string) bool { return ruleName.MatchString(s) }

// Watches tells whether the file or one of its rules only records.
func (r *Rules) Watches() bool { return r.shadow || r.watching }

func (r *Rules) add(rl *rule) {
	r.watching = r.watching || rl.shadow
	for _, n := range rl.names {
		s := r.index[n]
		if s == nil {
			s = &slot{}
			r.index[n] = s
		}
		s.add(rl)
		r.needy = r.needy || s.needs.Counts || len(s.needs.New) > 0
	}
	if rl.verb != Allow && (rl.methods == nil || rl.mask&resourceBits != 0) {
		r.addAlike(rl)
	}
}

// add adds a rule to those that speak of one name.
func (s *slot) add(rl *rule) {
	s.watch[rl.verb] = append(s.watch[rl.verb], rl)
	if !rl.shadow {
		s.bind[rl.verb] = append(s.bind[rl.verb], rl)
	}
	s.needs.Counts = s.needs.Counts || rl.per != nil || rl.when != nil && rl.when.use.counts()
	s.needs.New = append(s.needs.New, rl.fresh...)
	if rl.when != nil {
		s.needs.New = append(s.needs.New, rl.when.use.fresh...)
		s.cost += min(rl.when.cost, maxCost)
	}
	slices.Sort(s.needs.New)
	s.needs.New = slices.Compact(s.needs.New)
}

// needs adds what the rules about an item want to know.
func (r *Rules) needs(f *Facts, n *Needs) {
	if !r.needy {
		return
	}
	for _, s := range r.slots(f) {
		if s == nil {
			continue
		}
		n.Counts = n.Counts || s.needs.Counts
		switch {
		case len(s.needs.New) == 0:
		case n.New == nil:
			n.New = s.needs.New
		default:
			both := append(slices.Clone(n.New), s.needs.New...)
			slices.Sort(both)
			n.New = slices.Compact(both)
		}
	}
}

var ruleReasons = [...]Reason{Deny: RuleNever, Ask: RuleAsk, Allow: RuleAllow}
