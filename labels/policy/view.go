package policy

import (
	"maps"
	"slices"

	"github.com/pratique-dev/pratique/labels"
)

// A Rule is what one rule says, for who looks at rules and does not decide by them.
// Its slices are shared and must not be changed.
type Rule struct {
	Name      string
	Verb      Verb     // Deny is never
	Names     []string // of items, or Any
	Methods   []string // empty: of an allow tools/call, else every method
	Origins   []string // empty: every
	Agents    []string // empty: every; names or ids
	Effects   labels.Effect
	Say       string
	When      string   // empty: always
	Args      []string // names or JSON Pointers that are constrained
	New       []string
	Rate      bool
	Assurance labels.Assurance
	Shadow    bool
	Reads     []Reading
	Moves     bool // the condition looks at a label, context, effect or count
	Results   bool // it says what becomes of results
}

// A Reading is a place of the arguments that a condition names.
type Reading struct {
	Path   []string // names from the root
	Tested bool     // only whether it is there
}

// Conditional tells whether the rule fires for some calls to its names only.
func (r Rule) Conditional() bool {
	return r.When != "" || len(r.Args) > 0 || len(r.New) > 0 || r.Rate || len(r.Origins) > 0 || len(r.Agents) > 0 || r.Effects != labels.Unclassified
}

// All are the rules, by name.
func (r *Rules) All() []Rule {
	list := make([]Rule, len(r.rules))
	for i := range r.rules {
		list[i] = r.rules[i].view()
	}
	return list
}

func (r *rule) view() Rule {
	v := Rule{
		Name: r.name, Verb: r.verb, Names: r.names, Methods: r.methods, Origins: r.origins, Agents: r.agents, Effects: r.effects, Say: r.say,
		New: r.fresh, Rate: r.per != nil, Results: r.said, Assurance: r.least, Shadow: r.shadow, Args: slices.Sorted(maps.Keys(r.args)),
	}
	if r.when == nil {
		return v
	}
	v.When, v.Moves = r.when.text, r.when.use.trend != still
	v.New = append(slices.Clone(v.New), r.when.use.fresh...)
	for _, p := range r.when.use.args {
		v.Reads = append(v.Reads, Reading{p.path, p.tested})
	}
	return v
}
