package policy

import (
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/guard"
)

// Layers are what a call has to pass (DESIGN.md §10). Each that is there must itself
// allow, and the result is the strictest. A file that says shadow is no layer: what it
// would decide is recorded and binds nothing; the rules of an intent always bind.
type Layers struct {
	Organisation *Rules  // nil: the profile is that layer
	Origin       *Rules  // a site's own file, for its own tools; nil: none
	Intent       *Sealed // nil: the run has none
}

// Prefixes of the names of rules that are not the organisation's, in decisions.
const (
	originPrefix = "origin:"
	intentPrefix = "intent:"
)

// Policy is the policy of the layers: the profile of the agent that calls, with the
// layers in place of what the profile permits. Nothing loosens what the profile's floor
// refuses: the state of the item, a Red label, a text without a clear verdict. What is
// in the layers is not changed after.
func (l Layers) Policy() Policy {
	p := &layered{profile: true, given: l}
	add := func(r *Rules, prefix string) {
		if r.shadow {
			p.watched = append(p.watched, layer{r, prefix})
			return
		}
		p.layers = append(p.layers, layer{r, prefix})
	}
	if l.Organisation != nil {
		p.profile = l.Organisation.shadow
		add(l.Organisation, "")
	}
	if l.Origin != nil {
		add(l.Origin, originPrefix)
	}
	if l.Intent != nil {
		p.intent = sealedOf(l.Intent)
		if r := l.Intent.Rules; r != nil {
			p.layers = append(p.layers, layer{r, intentPrefix})
		}
	}
	p.sets = p.guards()
	p.digest = p.name()
	return p
}

// Of is the policy of one organisation. nil: no rules, so that the profile decides.
func Of(rules *Rules) Policy { return Layers{Organisation: rules}.Policy() }

// Under is the policy for a run that was sealed: the same layers, and the intent besides.
// Of a policy that Layers did not make, or that has an intent, it is the strictest of
// both.
func Under(p Policy, s *Sealed) Policy {
	if l, ok := p.(*layered); ok && l.intent == nil {
		given := l.given
		given.Intent = s
		return given.Policy()
	}
	return Strictest(p, Layers{Intent: s}.Policy())
}

// layered is what Layers make.
type layered struct {
	given   Layers
	profile bool    // it decides as a layer of its own
	layers  []layer // that bind
	watched []layer // that only record
	intent  *sealed // nil: none
	sets    []*guard.Set
	digest  credentials.Digest
}

type layer struct {
	rules  *Rules
	prefix string
}

// guards are those of all layers, each once: the profile's where there is no file.
func (p *layered) guards() []*guard.Set {
	var sets []*guard.Set
	if p.profile {
		sets = append(sets, guard.Profile())
	}
	if p.intent != nil && p.intent.Rules == nil {
		sets = append(sets, defaultGuards())
	}
	for _, l := range p.layers {
		sets = append(sets, l.rules.set)
	}
	return unique(sets)
}

func unique(sets []*guard.Set) []*guard.Set {
	var list []*guard.Set
	seen := map[*guard.Set]bool{}
	for _, s := range sets {
		if !seen[s] {
			seen[s] = true
			list = append(list, s)
		}
	}
	return list
}

// name is the digest of the layers. That of an organisation alone is as it was before
// there were others.
func (p *layered) name() credentials.Digest {
	switch {
	case p.given == Layers{}:
		return canon.Digest(DigestContext, []byte("profiles"))
	case p.given.Origin == nil && p.given.Intent == nil:
		d := p.given.Organisation.Digest()
		return canon.Digest(DigestContext, append([]byte("rules"), d[:]...))
	}
	return canon.Digest(DigestContext+"/layers", p.text())
}

// Digest implements Policy.
func (p *layered) Digest() credentials.Digest { return p.digest }

// Needs implements Policy.
func (p *layered) Needs(f Facts) Needs {
	var n Needs
	for _, list := range [][]layer{p.layers, p.watched} {
		for _, l := range list {
			l.rules.needs(&f, &n)
		}
	}
	return n
}

// rulesSay joins what the layers say: the smallest verb, with the reason of the first
// layer that gave it.
func (p *layered) rulesSay(j *judging) Decision {
	var d Decision
	first, from := true, "" // whose rule it is
	join := func(n Decision, prefix string) {
		if first || n.verb < d.verb {
			from = prefix
		}
		if first {
			d, first = n, false
			return
		}
		d = stricter(d, n)
	}
	if p.profile && (j.f.Profile != Strict || p.intent == nil) {
		join(profileSays(j.f.Profile), "")
	}
	if p.intent != nil && p.intent.Rules == nil {
		join(p.intent.say(&j.f), "")
	}
	for _, l := range p.layers {
		n := l.rules.decide(j)
		for i := range n.shadow {
			n.shadow[i].Rule = l.prefix + n.shadow[i].Rule
		}
		join(n, l.prefix)
	}
	if from != "" {
		d.rule = from + d.rule
	}
	return d
}

// stricter is the smaller of two verbs, with the stricter way with results, the most
// assurance that is asked for, and all that is recorded.
func stricter(d, n Decision) Decision {
	way, need, shadow := least(d.Results(), n.Results()), max(d.least, n.least), d.shadow
	if n.verb < d.verb {
		d = n
	}
	d.way = way
	if d.verb == Ask {
		d.least = need
	}
	if len(n.shadow) > 0 || len(shadow) > 0 {
		d.shadow = append(shadow[:len(shadow):len(shadow)], n.shadow...)
	}
	return d
}

// watch is what the files say that only record.
func (p *layered) watch(j *judging) []Shadowed {
	var list []Shadowed
	defer j.scope.record(j.scope.record(true))
	for _, l := range p.watched {
		n := l.rules.decide(j)
		if n.verb > Deny {
			if what := j.refuses(l.rules.set); len(what) > 0 {
				n = refusedBy(what)
			}
		}
		list = append(list, Shadowed{n.verb, n.reason, l.prefix + n.rule})
	}
	return list
}

// profileSays is the layer of a profile without rules.
func profileSays(p Profile) Decision {
	if p == Strict {
		return Decision{reason: NoRule, rule: profileRule(Strict)}
	}
	return Decision{verb: Allow, reason: ReasonCleared, rule: profileRule(p), way: Cut}
}

// Strictest joins policies: each must itself allow, and the result is the
// smallest verb of all, with the reason of the first that gave it; so are
// results. None at all refuses. An enforced one is not loosened by one that is not.
func Strictest(layers ...Policy) Policy {
	var names []byte
	for _, l := range layers {
		d := l.Digest()
		names = append(names, d[:]...)
	}
	return &strictest{layers, canon.Digest(DigestContext+"/layers", names)}
}

type strictest struct {
	layers []Policy
	digest credentials.Digest
}

// Digest implements Policy.
func (s *strictest) Digest() credentials.Digest { return s.digest }

// Decide implements Policy.
func (s *strictest) Decide(f Facts) Decision {
	var d Decision
	var way Results
	var need labels.Assurance
	shut := false // one refuses whatever anybody answers
	for i, l := range s.layers {
		n := l.Decide(f)
		if i == 0 || n.verb < d.verb || n.verb == d.verb && d.loose && !n.loose && n.verb != Allow {
			d = n
		}
		if way = least(way, n.Results()); i == 0 {
			way = n.Results()
		}
		need, shut = max(need, n.least), shut || n.verb == Deny && n.least == labels.AssuranceNone
	}
	d.policy, d.way = s.digest, way
	switch {
	case shut:
		d.least = labels.AssuranceNone
	case d.verb < Allow:
		d.least = need
	}
	return d
}

// Listed implements Policy.
func (s *strictest) Listed(f Facts) bool {
	for _, l := range s.layers {
		if !l.Listed(f) {
			return false
		}
	}
	return len(s.layers) > 0
}

// Needs implements Policy.
func (s *strictest) Needs(f Facts) Needs {
	var n Needs
	for _, l := range s.layers {
		m := l.Needs(f)
		n.Counts = n.Counts || m.Counts
		n.New = append(n.New, m.New...)
	}
	return n
}
