// Package policy is what is decided of a call, and why: decisions, their reason
// codes, the profiles that give a start and the operator's rule files. It decides
// from facts that others established and touches nothing.
//
// Deny is the zero value everywhere: a decision that nobody made refuses.
package policy

import (
	"errors"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
)

// A Verb is what becomes of a call. The zero value denies. A larger value
// permits more; the result of several layers is the smallest.
type Verb uint8

// The verbs. Their text forms are "deny", "ask" and "allow".
const (
	Deny Verb = iota
	Ask
	Allow
)

// A Decision is a verb with one reason code and the rule that fired. Its
// maker is a Policy; the zero value denies for no reason, and is shown as
// "undecided".
type Decision struct {
	verb   Verb
	reason Reason
	rule   string
	policy credentials.Digest
	loose  bool
	would  *judged
	way    Results // with a suspect result; of a refusal Hold
}

// judged is what would have been decided, inside a decision that does not bind.
type judged struct {
	verb   Verb
	reason Reason
	rule   string
	way    Results
}

// Refuse is a refusal for a reason that no policy judges: a guard, a bound, a
// record that cannot be written. It refuses whatever the reason.
func Refuse(r Reason, rule string) Decision { return Decision{reason: r, rule: rule} }

// Would is what would have been decided if the decision were enforced: under
// watch what personal, or the rules, say; else the decision itself.
func (d Decision) Would() Decision {
	if d.would == nil {
		return d
	}
	return Decision{verb: d.would.verb, reason: d.would.reason, rule: d.would.rule, policy: d.policy, way: d.would.way}
}

// Verb is what becomes of the call.
func (d Decision) Verb() Verb { return d.verb }

// Reason is the one reason code.
func (d Decision) Reason() Reason {
	if d.reason == "" {
		return Undecided
	}
	return d.reason
}

// Rule is the name of the rule that fired, "profile:personal" for a profile.
func (d Decision) Rule() string { return d.rule }

// Policy is the digest of the layers that were evaluated.
func (d Decision) Policy() credentials.Digest { return d.policy }

// Results is what becomes of a suspect result of the call; of a refusal it is
// Hold. It binds where the decision does: see Enforced.
func (d Decision) Results() Results {
	if d.verb == Deny {
		return Hold
	}
	return d.way
}

// Enforced tells whether the verb binds. Only the profile watch gives decisions
// that do not; entries say so (RULES.md 12).
func (d Decision) Enforced() bool { return !d.loose }

// Facts are what a decision is made on. The zero value is the worst case.
type Facts struct {
	Profile  Profile // of the agent's credential or launch, never of a message
	Method   string  // MCP method of the call
	Tool     string  // the upstream's own name of tool, prompt or resource
	Target   string  // the URI that is read, where Tool is the template that it matched; else empty
	ID       credentials.ToolID
	Origin   string          // text form of the upstream's origin
	Tier     labels.Tier     // of the verified label
	Standing labels.Standing //
	Content  labels.Content  //
	Effect   labels.Effect   //
	Gate     State           // of the item on the surface that this agent was shown
	Context  Context         // what the run has read so far, seen from Origin
	Args     []byte          // the arguments as they will be forwarded: strict JSON
	Channel  bool            // whether an approval channel could answer; without, an Ask is a Deny
}

// A State is where an item of a surface stands. The zero value is worst.
type State uint8

// The states of an item. Only what is Cleared is shown and may be called.
const (
	NotShown   State = iota // unknown, or never shown to this agent
	Incomplete              // the surface is not, or no longer, completely collected
	Withheld                // its verdict is suspect or hostile, or its label is Red
	Changed                 // not the digest that was accepted
	New                     // not part of what was accepted
	Cleared
)

var (
	verbNames  = [...]string{"deny", "ask", "allow"}
	stateNames = [...]string{"not_shown", "incomplete", "withheld", "changed", "new", "cleared"}
)

// String is the text form; that of an unknown value is "deny".
func (v Verb) String() string {
	if int(v) < len(verbNames) {
		return verbNames[v]
	}
	return verbNames[Deny]
}

// String is the text form; that of an unknown value is "not_shown".
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return stateNames[NotShown]
}

// ParseState reads the text form.
func ParseState(s string) (State, error) {
	for i, n := range stateNames {
		if n == s {
			return State(i), nil
		}
	}
	return NotShown, ErrState
}

// ErrState says that a text names no state.
var ErrState = errors.New("state is not one of not_shown, incomplete, withheld, changed, new, cleared")
