package policy

import (
	"github.com/pratique-dev/pratique/labels/guard"
)

// Listed implements Policy.
func (p *layered) Listed(f Facts) bool {
	f.Target = "" // a template is listed for what may be read through it
	if f.Profile == Watch && watchable(&f) && p.intent == nil {
		return true
	}
	if floor(&f) != "" || p.intent != nil && p.intent.outside(&f) != "" {
		return false
	}
	j := judgingOf(&f)
	defer j.done()
	if p.profile && p.intent == nil && profileSays(f.Profile).verb == Deny {
		return false
	}
	if p.intent != nil && p.intent.Rules == nil && p.intent.say(&f).verb == Deny {
		return false
	}
	for _, l := range p.layers {
		if !l.rules.listed(j) {
			return false
		}
	}
	return true
}

// listed tells whether some call to the item could get through the layer: nothing that
// holds whatever the arguments are forbids it, and something permits it or asks.
func (r *Rules) listed(j *judging) bool {
	some := false
	for verb := Deny; verb <= Allow; verb++ {
		for _, s := range r.slots(&j.f) {
			if s == nil {
				continue
			}
			for _, rl := range s.bind[verb] {
				if verb == Deny && rl.always(j) {
					return false
				}
				some = some || verb != Deny && rl.may(j)
			}
		}
	}
	return some
}

// always tells whether the rule fires whatever the arguments and the moment are.
func (r *rule) always(j *judging) bool {
	return r.speaks(j, false) && r.per == nil && r.fresh == nil && r.set == nil &&
		(r.when == nil || r.when.use.still() && r.when.holds(&j.scope) != untrue)
}

// may tells whether the rule opens the item for some arguments, at some moment.
func (r *rule) may(j *judging) bool {
	return r.speaks(j, true) && (r.verb == Allow || r.steady()) &&
		(r.when == nil || !r.when.use.still() || r.when.holds(&j.scope) == isTrue)
}

// defaultGuards are those of a layer that says nothing of guards.
func defaultGuards() *guard.Set {
	s, err := guard.Compile(nil)
	if err != nil {
		return nil // which refuses every call
	}
	return s
}
