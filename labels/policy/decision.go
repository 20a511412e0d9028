// Package policy is what is decided of a call, and why: decisions, their reason
// codes, the profiles that give a start and the operator's rule files. It decides
// from facts that others established and touches nothing.
//
// Deny is the zero value everywhere: a decision that nobody made refuses.
package policy

import (
	"errors"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/guard"
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

	guard  string   // that refuses; empty: none did
	paths  []string // of the arguments that it refuses
	line   int      // of the text at the first of paths; 0: not known, or all of it
	why    string   // in words of ours
	say    string   // what the rule says to people
	least  labels.Assurance
	shadow []Shadowed
}

// A Shadowed is what a rule or layer that only watches would have made of the call.
type Shadowed struct {
	Verb   Verb
	Reason Reason
	Rule   string
}

// judged is what would have been decided, inside a decision that does not bind.
type judged struct {
	verb   Verb
	reason Reason
	rule   string
	way    Results
	least  labels.Assurance
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
	return Decision{verb: d.would.verb, reason: d.would.reason, rule: d.would.rule, policy: d.policy, way: d.would.way, least: d.would.least,
		guard: d.guard, paths: d.paths, line: d.line, why: d.why}
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

// Guard is the guard that refuses: closed, path, ref, host and so on; empty where
// none did.
func (d Decision) Guard() string { return d.guard }

// Paths are the JSON Pointers of the arguments that the guard refuses. They are
// shared and must not be changed.
func (d Decision) Paths() []string { return d.paths }

// Line is the line, from 1, of the text at the first of Paths that the guard refuses; 0
// where it is not known, or is all of the text.
func (d Decision) Line() int { return d.line }

// Why is what the guard found, in a sentence of ours without any value; empty where
// no guard refused.
func (d Decision) Why() string { return d.why }

// Sentence is what the rule that fired says to people; empty where it says nothing.
func (d Decision) Sentence() string { return d.say }

// Assurance is the least that an answer to the Ask has to be; of a Deny the least that
// one would have had to be, where only nobody to ask stood in the way. Of every other
// decision it is none: no answer changes it.
func (d Decision) Assurance() labels.Assurance { return d.least }

// Shadow is what rules that only watch would have decided. It is for the record and
// binds nothing; it is shared and must not be changed.
func (d Decision) Shadow() []Shadowed { return d.shadow }

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

	Agent     credentials.AgentID
	AgentName string // the operator's word for it
	Run       string
	Ver       uint64             // of the item
	Digest    credentials.Digest // of the item's version
	Way       string             // how the request came: stdio, http
	At        time.Time          // of the decision
	Fit       Fit                // of the arguments, with the schema that was cleared
	UnfitAt   string             // JSON Pointer of what does not fit; empty: not known
	Counts    Counts
	Tree      *args.Tree  // the reading of Args; nil: it is read where it is needed
	Beside    *args.Tree  // of what goes upstream beside the arguments; nil: nothing does
	Files     guard.Files // what can be seen of the upstream's file system; nil: nothing
}

// A Fit says whether arguments fit the cleared schema, with no name in them that it
// does not know. The zero value is worst.
type Fit uint8

// The fits. Of methods without a schema of arguments it is Fits.
const (
	Unchecked Fit = iota // nobody looked, or it could not be told within bounds
	Unfit
	Fits
)

// Counts are what rules about amounts and rates look at: the calls of this agent to
// this item that were let through before. The zero value is worst: over every rate,
// and everything new.
type Counts struct {
	Known             bool // they are counted
	Run               uint64
	Minute, Hour, Day uint64
	New               []string // of the places that the policy needs (see Needs), those whose value this agent has not sent there before
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
