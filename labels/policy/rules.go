package policy

import (
	"slices"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
)

// Rules are an operator's rules for one organisation, as Load read them. They are
// immutable. Their order does not matter: never beats ask beats allow, and
// nothing matching means Deny.
type Rules struct {
	rules  []rule // sorted by name
	index  map[string][]int
	text   []byte
	digest credentials.Digest
}

// Any is the word for every name, in rules. It stands alone: patterns of names
// are not part of this format, and a rule that seems to use one is refused.
const Any = "*"

// A rule permits, asks for or forbids some names in some methods.
type rule struct {
	name    string
	verb    Verb     // Deny is never
	names   []string // sorted
	methods []string // sorted; nil: see covers
	way     Results  // with suspect results; only with said
	said    bool     // whether it says something of results
}

// callMethods are the methods that carry agent-chosen values upstream, and so
// are decided (RULES.md 4).
var callMethods = []string{
	"completion/complete", "prompts/get", "resources/read", "resources/subscribe", "resources/unsubscribe", "tools/call",
}

// Methods lists the methods that rules can name.
func Methods() []string { return slices.Clone(callMethods) }

// covers tells whether the rule speaks of the method. A rule that names no
// method is read in the way that permits less: an allow is about tools/call
// alone, an ask or a never about every method.
func (r *rule) covers(method string) bool {
	if r.methods == nil {
		return r.verb != Allow || method == "tools/call"
	}
	return slices.Contains(r.methods, method)
}

// Len is how many rules there are.
func (r *Rules) Len() int { return len(r.rules) }

// Digest names the rules by what they say: order, comments and spelling of the
// file do not matter.
func (r *Rules) Digest() credentials.Digest { return r.digest }

// Text is a rule file, in its one canonical spelling, that Load reads as these
// rules: what replay keeps (RULES.md 29).
func (r *Rules) Text() []byte { return slices.Clone(r.text) }

// newRules sorts and indexes. The names of rules are unique.
func newRules(list []rule) (*Rules, error) {
	r := &Rules{rules: list, index: map[string][]int{}}
	for i := range list {
		slices.Sort(list[i].names)
		slices.Sort(list[i].methods)
	}
	slices.SortFunc(list, func(a, b rule) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	for i, rl := range list {
		for _, n := range rl.names {
			r.index[n] = append(r.index[n], i)
		}
	}
	b, err := canon.Marshal(r.form())
	if err != nil {
		return nil, err
	}
	r.text, r.digest = b, canon.Digest(DigestContext+"/rules", b)
	return r, nil
}

// decide looks at the rules that name the item, or what is read through it, and
// at those for any. The strictest that matches fires; among equals the first by
// name. What becomes of results is the strictest that any matching rule says, and
// Cut where none says anything.
func (r *Rules) decide(method, name, target string) Decision {
	best := Decision{reason: NoRule, rule: "default"}
	found, way := false, Mark+1
	look := func(i int) {
		rl := &r.rules[i]
		if !rl.covers(method) {
			return
		}
		if rl.said {
			way = min(way, rl.way)
		}
		if found && (rl.verb > best.verb || rl.verb == best.verb && rl.name >= best.rule) {
			return
		}
		found = true
		best = Decision{verb: rl.verb, reason: ruleReasons[rl.verb], rule: rl.name}
	}
	for _, n := range []string{name, target, Any} {
		for _, i := range r.index[n] {
			look(i)
		}
	}
	if best.way = way; way > Mark {
		best.way = Cut
	}
	return best
}

var ruleReasons = map[Verb]Reason{Allow: RuleAllow, Ask: RuleAsk, Deny: RuleNever}

// form is the rule file that the digest is made over.
type form struct {
	Default string     `json:"default"`
	Rules   []ruleForm `json:"rules"`
}

type ruleForm struct {
	Name    string   `json:"name"`
	Allow   []string `json:"allow,omitzero"`
	Ask     []string `json:"ask,omitzero"`
	Never   []string `json:"never,omitzero"`
	Methods []string `json:"methods,omitzero"`
	Results string   `json:"results,omitzero"`
}

func (r *Rules) form() *form {
	f := &form{Default: "deny", Rules: []ruleForm{}}
	for _, rl := range r.rules {
		rf := ruleForm{Name: rl.name, Methods: rl.methods}
		if rl.said {
			rf.Results = rl.way.String()
		}
		switch rl.verb {
		case Allow:
			rf.Allow = rl.names
		case Ask:
			rf.Ask = rl.names
		default:
			rf.Never = rl.names
		}
		f.Rules = append(f.Rules, rf)
	}
	return f
}
