package policy

import (
	"errors"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
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

// Of is the policy of one organisation: the profile of the agent that calls,
// with the operator's rules, where there are any, in place of what the profile
// permits. Rules never loosen what the profile's floor refuses: the state of the
// item, a Red label, a text without a clear verdict. nil: no rules.
func Of(rules *Rules) Policy {
	p := &organisation{rules: rules, digest: canon.Digest(DigestContext, []byte("profiles"))}
	if rules != nil {
		d := rules.Digest()
		p.digest = canon.Digest(DigestContext, append([]byte("rules"), d[:]...))
	}
	return p
}

type organisation struct {
	rules  *Rules
	digest credentials.Digest
}

// Digest implements Policy.
func (p *organisation) Digest() credentials.Digest { return p.digest }

// Needs implements Policy.
func (p *organisation) Needs(Facts) Needs { return Needs{} }

// Decide implements Policy: what the profile and the rules say, then what is
// left of an Ask that nobody could answer.
func (p *organisation) Decide(f Facts) Decision {
	d := p.judge(f)
	if d.verb == Ask && !f.Channel {
		d.verb, d.way = Deny, Hold
		if d.reason != Withdrawn { // which names a remedy of its own
			d.reason = NoChannel
		}
	}
	if f.Profile == Watch && watchable(f) {
		d = Decision{verb: Allow, reason: Watched, rule: profileRule(Watch), loose: true, would: &judged{d.verb, d.Reason(), d.rule, d.Results()}, way: Mark}
	}
	d.policy = p.digest
	return d
}

// Listed implements Policy.
func (p *organisation) Listed(f Facts) bool {
	f.Target = "" // a template is listed for what may be read through it
	return f.Profile == Watch && watchable(f) || p.judge(f).verb != Deny
}

// watchable tells whether there is an item that a call could be recorded and let
// through for. What was never shown has no digest, so not even watch lets it
// through.
func watchable(f Facts) bool { return f.Gate > Incomplete && f.Gate <= Cleared }

// judge is the straight line of one decision: floor, permission, caps. Out of a
// context at its worst every call asks (RULES.md 9), whatever rules and labels say.
func (p *organisation) judge(f Facts) Decision {
	if r := floor(f); r != "" {
		return Decision{reason: r, rule: profileRule(f.Profile)}
	}
	d := p.permit(f)
	if d.verb == Allow {
		d = capped(d, f)
	}
	if d.verb > Deny && f.Context.worst() {
		return Decision{verb: Ask, reason: Withdrawn, rule: withdrawnRule, way: least(d.way, Cut)}
	}
	return d
}

// floor are the refusals that no rule takes back.
func floor(f Facts) Reason {
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
func tier(f Facts) labels.Tier {
	if !f.Tier.Valid() {
		return labels.Red
	}
	return min(f.Tier, labels.Synthesize(f.Standing, f.Content))
}

// permit is the organisation's layer: the rules where there are any, else the
// profile.
func (p *organisation) permit(f Facts) Decision {
	if p.rules != nil {
		return p.rules.decide(f.Method, f.Tool, f.Target)
	}
	if f.Profile == Strict {
		return Decision{reason: NoRule, rule: profileRule(Strict)}
	}
	return Decision{verb: Allow, reason: ReasonCleared, rule: profileRule(f.Profile), way: Cut}
}

// capped is what becomes of an Allow of an item that is not beyond doubt
// (RULES.md 20, 23, 31): a text without a clear verdict asks in every profile; a
// Yellow tool asks in strict only, since in personal the operator's launch line
// stands for that answer.
func capped(d Decision, f Facts) Decision {
	switch {
	case f.Content < labels.Inspected:
		return Decision{verb: Ask, reason: Doubtful, rule: profileRule(f.Profile), way: least(d.way, Cut)}
	case f.Profile == Strict && needed(f) < labels.Green:
		return Decision{verb: Ask, reason: ProfileAsk, rule: profileRule(Strict), way: d.way}
	}
	return d
}

// needed is the tier that a call is judged by. What a tool earned by its conduct
// lowers nothing that a call out of an untrusted context needs (RULES.md 20), and
// whatever an agent has read is untrusted.
func needed(f Facts) labels.Tier {
	if f.Content == labels.Consistent && f.Context != Clean {
		f.Content = labels.Inspected
	}
	return tier(f)
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
