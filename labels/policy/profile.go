package policy

import (
	"errors"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
)

// ErrProfile says that a text names no profile.
var ErrProfile = errors.New("profile is not one of personal, strict, watch")

// A Profile is a start for who has no rules.
type Profile string

// The profiles. The empty one refuses everything.
const (
	Watch    Profile = "watch"    // records, never blocks, and says so
	Personal Profile = "personal" // a cleared, unchanged tool may be called
	Strict   Profile = "strict"   // nothing without a rule or an intent
)

// ParseProfile reads a profile by its name.
func ParseProfile(s string) (Profile, error) {
	switch p := Profile(s); p {
	case Watch, Personal, Strict:
		return p, nil
	}
	return "", ErrProfile
}

// A Policy decides. It is pure and safe for concurrent use.
type Policy interface {
	// Decide judges one call.
	Decide(f Facts) Decision
	// Listed tells whether the item is shown to the agent: whether any arguments
	// at all would be allowed, now or after a person's approval. List and call are
	// judged separately; being listed permits nothing.
	Listed(f Facts) bool
	// Needs is what has to be looked up for Facts.Counts before Decide: it depends on
	// method and names alone. What is not looked up counts as worst.
	Needs(f Facts) Needs
	// Digest names all that decides here.
	Digest() credentials.Digest
}

// DigestContext is the digest context of policies.
const DigestContext = "pratique/policy/v1"

// Decide implements Policy: what the floor, the guards and the layers say, then what is
// left of an Ask that nobody could answer.
func (p *layered) Decide(f Facts) Decision {
	j := judgingOf(&f)
	defer j.done()
	d := p.judge(j)
	if d.verb == Ask && !f.Channel {
		d.verb, d.way = Deny, Hold
		if d.reason != Withdrawn { // which names a remedy of its own
			d.reason = NoChannel
		}
	}
	if f.Profile == Watch && watchable(&f) {
		if d, loose := p.loosened(j, d); loose {
			return d
		}
	}
	d.policy = p.digest
	return d
}

// loosened is what is left under watch: everything that is an item goes through, and
// the decision says what would have been. An intent binds all the same: it was sealed
// for this run, and nobody seals what is not to hold.
func (p *layered) loosened(j *judging, d Decision) (Decision, bool) {
	if p.intent != nil && d.verb < Allow {
		return d, false
	}
	would := &judged{d.verb, d.Reason(), d.rule, d.Results(), d.least}
	return Decision{verb: Allow, reason: Watched, rule: profileRule(Watch), policy: p.digest, loose: true, would: would, way: Mark, shadow: d.shadow,
		guard: d.guard, paths: d.paths, line: d.line, why: d.why}, true
}

// watchable tells whether there is an item that a call could be recorded and let
// through for. What was never shown has no digest, so not even watch lets it
// through.
func watchable(f *Facts) bool { return f.Gate > Incomplete && f.Gate <= Cleared }

// judge is the straight line of one decision: floor, intent, layers, schema, guards,
// caps. Out of a context at its worst every call asks (RULES.md 9), whatever rules and
// labels say.
func (p *layered) judge(j *judging) Decision {
	f := &j.f
	if r := floor(f); r != "" {
		return Decision{reason: r, rule: profileRule(f.Profile)}
	}
	d := p.permit(j)
	if d.verb == Allow {
		d = capped(d, f)
	}
	if f.Content < labels.Inspected { // whoever asked
		d.way = least(d.way, Cut)
	}
	if d.verb > Deny && f.Context.worst() {
		d = Decision{verb: Ask, reason: Withdrawn, rule: withdrawnRule, way: least(d.way, Cut), least: d.least, shadow: d.shadow}
	}
	if d.verb == Ask {
		d.least = max(d.least, labels.AssuranceTap) // less is no answer
	}
	if len(p.watched) > 0 {
		d.shadow = append(p.watch(j), d.shadow...)
	}
	return d
}

// permit is what intent, layers, schema and guards say. The layers are heard first, so
// that a call that nobody allows is refused for that, whatever its arguments are.
func (p *layered) permit(j *judging) Decision {
	f := &j.f
	if p.intent != nil {
		if r := p.intent.outside(f); r != "" {
			return Decision{reason: r, rule: intentRule}
		}
	}
	if j.tree == nil {
		return Decision{reason: Arguments, rule: "arguments"}
	}
	d := p.rulesSay(j)
	if d.verb == Deny {
		return d
	}
	if f.Fit != Fits && closed(f.Method) {
		return d.refused(unfit(f.UnfitAt))
	}
	for _, s := range p.sets {
		if what := j.refuses(s); len(what) > 0 {
			return d.refused(refusedBy(what))
		}
	}
	return d
}

// refused is r in place of d, with what is recorded of d.
func (d Decision) refused(r Decision) Decision {
	r.shadow = d.shadow
	return r
}

func unfit(at string) Decision {
	d := Decision{reason: ReasonUnfit, rule: fitRule, guard: "closed"}
	if at != "" {
		d.paths = []string{at}
	}
	return d
}

// fitRule is the rule that arguments have to fit the schema that was cleared, with no
// name in them that it does not know.
const fitRule = "fit"

// closed tells whether a method has arguments with a schema or a list of names.
func closed(method string) bool { return method == "tools/call" || method == "prompts/get" }

// floor are the refusals that no rule takes back.
func floor(f *Facts) Reason {
	if _, err := ParseProfile(string(f.Profile)); err != nil {
		return UnknownProfile
	}
	switch f.Gate {
	case Cleared:
	case Incomplete:
		return ReasonIncomplete
	case Withheld:
		return ReasonWithheld
	case Changed:
		return ReasonChanged
	case New:
		return ReasonNew
	default:
		return ReasonNotShown
	}
	if tier(f) == labels.Red {
		return ReasonRed
	}
	return ""
}

// tier is the label's, but never better than what standing and content come to.
func tier(f *Facts) labels.Tier {
	if !f.Tier.Valid() {
		return labels.Red
	}
	return min(f.Tier, labels.Synthesize(f.Standing, f.Content))
}

// capped is what becomes of an Allow of an item that is not beyond doubt
// (RULES.md 20, 23, 31): a text without a clear verdict asks in every profile; a
// Yellow tool asks in strict only, since in personal the operator's launch line
// stands for that answer.
func capped(d Decision, f *Facts) Decision {
	switch {
	case f.Content < labels.Inspected:
		return Decision{verb: Ask, reason: Doubtful, rule: profileRule(f.Profile), way: d.way, shadow: d.shadow}
	case f.Profile == Strict && needed(f) < labels.Green:
		return Decision{verb: Ask, reason: ProfileAsk, rule: profileRule(Strict), way: d.way, shadow: d.shadow}
	}
	return d
}

// needed is the tier that a call is judged by. What a tool earned by its conduct
// lowers nothing that a call out of an untrusted context needs (RULES.md 20), and
// whatever an agent has read is untrusted.
func needed(f *Facts) labels.Tier {
	if !f.Tier.Valid() {
		return labels.Red
	}
	return min(f.Tier, labels.Synthesize(f.Standing, content(f)))
}

func profileRule(p Profile) string {
	switch p { // the known ones cost no memory
	case "":
		return "profile"
	case Personal:
		return "profile:personal"
	case Strict:
		return "profile:strict"
	case Watch:
		return "profile:watch"
	}
	return "profile:" + string(p)
}
