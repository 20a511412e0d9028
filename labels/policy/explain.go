package policy

import (
	"cmp"
	"slices"

	"github.com/pratique-dev/pratique/labels/guard"
)

// An Explanation is a decision with everything that was looked at on the way. It is for
// operators: it repeats no argument, but says which rules there are.
type Explanation struct {
	Decision Decision
	Floor    Reason            // that refuses whatever rules say; empty: none does
	Outside  Reason            // why the intent does not include the call; empty: it does, or there is none
	Unfit    bool              // the arguments do not fit the cleared schema, or nobody looked
	Guards   []guard.Violation // what the guards of all layers refuse
	Layers   []LayerSays
}

// LayerSays is one layer of an Explanation.
type LayerSays struct {
	Layer      string // profile, organisation, origin or intent
	Shadow     bool   // it only records
	Decision   Decision
	Candidates []Candidate // the rules about the item, by name
}

// A Candidate is a rule that names the item.
type Candidate struct {
	Rule  Rule
	Fires bool
	Why   string // of a closed set: the first thing that keeps it from firing, or makes it fire
	Paths []string
}

// Why a rule fires or does not.
const (
	WhyAll     = "everything that it asks for holds"
	WhyMethod  = "it is about other methods"
	WhyOrigin  = "it is about other origins"
	WhyAgent   = "it is about other agents"
	WhyEffect  = "it is about other effects"
	WhyRate    = "there were no more calls than it begins with"
	WhyKnown   = "no value that it looks at is new"
	WhyUnknown = "earlier calls were not counted, which counts as over every threshold"
	WhyFalse   = "its condition is false"
	WhyErrs    = "its condition errs, which counts as true in an ask or never and as false in an allow"
	WhyArgs    = "an argument is not what it asks for"
	WhyNobody  = "it fires for what is bad or not known, and nothing allows the call"
)

// Explain decides a call and says why. Of a policy that Layers did not make there is the
// decision alone.
func Explain(p Policy, f Facts) Explanation {
	x := Explanation{Decision: p.Decide(f)}
	l, ok := p.(*layered)
	if !ok {
		return x
	}
	j := judgingOf(&f)
	defer j.done()
	x.Floor = floor(&f)
	if l.intent != nil {
		x.Outside = l.intent.outside(&f)
	}
	x.Unfit = closed(f.Method) && f.Fit != Fits
	for _, s := range l.sets {
		x.Guards = append(x.Guards, j.refuses(s)...)
	}
	if l.profile && (f.Profile != Strict || l.intent == nil) {
		if d := profileSays(f.Profile); f.Gate == Cleared || d.verb != Allow { // what is not cleared it does not allow
			x.Layers = append(x.Layers, LayerSays{Layer: "profile", Decision: d})
		}
	}
	for _, r := range []struct {
		name  string
		rules *Rules
	}{{"organisation", l.given.Organisation}, {"origin", l.given.Origin}} {
		if r.rules != nil {
			x.Layers = append(x.Layers, r.rules.explain(j, r.name, r.rules.shadow))
		}
	}
	switch {
	case l.intent == nil:
	case l.intent.Rules == nil:
		x.Layers = append(x.Layers, LayerSays{Layer: "intent", Decision: l.intent.say(&f)})
	default:
		x.Layers = append(x.Layers, l.intent.Rules.explain(j, "intent", false))
	}
	return x
}

func (r *Rules) explain(j *judging, name string, shadow bool) LayerSays {
	defer j.scope.record(j.scope.record(shadow))
	says := LayerSays{Layer: name, Shadow: shadow, Decision: r.decide(j)}
	j.scope.record(true) // what follows takes nothing from the layers to come
	seen := map[string]bool{}
	for _, s := range r.slots(&j.f) {
		if s == nil {
			continue
		}
		for _, list := range s.watch {
			for _, rl := range list {
				if !seen[rl.name] {
					seen[rl.name] = true
					says.Candidates = append(says.Candidates, rl.explain(j, says.Decision))
				}
			}
		}
	}
	slices.SortFunc(says.Candidates, func(a, b Candidate) int { return cmp.Compare(a.Rule.Name, b.Rule.Name) })
	return says
}

func (r *rule) explain(j *judging, d Decision) Candidate {
	c := Candidate{Rule: r.view()}
	var alone []guard.Violation
	c.Fires, alone = r.matches(j)
	for _, v := range alone {
		c.Paths = append(c.Paths, v.Path)
	}
	c.Why = r.why(j, c.Fires)
	if c.Fires && r.verb == Ask && d.verb == Deny && d.reason == NoRule {
		c.Why = WhyNobody
	}
	return c
}

// why follows matches, and says where it ends.
func (r *rule) why(j *judging, fires bool) string {
	f := &j.f
	if !r.speaks(j, false) {
		bare := *r
		for _, x := range []struct {
			why  string
			drop func()
		}{{WhyEffect, func() { bare.effects = 0 }}, {WhyAgent, func() { bare.agents = nil }}, {WhyOrigin, func() { bare.origins = nil }}} {
			if x.drop(); bare.speaks(j, false) {
				return x.why
			}
		}
		return WhyMethod
	}
	if !r.over(&f.Counts) {
		if r.per != nil && r.per(&f.Counts) < r.rate {
			return WhyRate
		}
		return WhyKnown
	}
	if r.when != nil {
		switch t := r.when.holds(&j.scope); {
		case t == untrue:
			return WhyFalse
		case t == broken:
			return WhyErrs
		}
	}
	switch {
	case !fires:
		return WhyArgs
	case (r.per != nil || r.fresh != nil) && !f.Counts.Known:
		return WhyUnknown
	}
	return WhyAll
}
