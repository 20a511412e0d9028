package policy

import "slices"

// A Reason says in one word why a decision is what it is. Reasons are stable:
// they stand in logs, refusals and vectors, and the page module shares them.
type Reason string

// Why a call is let through.
const (
	ReasonCleared Reason = "cleared"    // the profile personal: a cleared, unchanged item
	RuleAllow     Reason = "rule_allow" // a rule of the operator's allows it
	Watched       Reason = "watched"    // the profile watch records and lets through
)

// Why a person has to say yes.
const (
	RuleAsk    Reason = "rule_ask"    // a rule of the operator's asks
	ProfileAsk Reason = "profile_ask" // the profile asks for a tier below green
	Doubtful   Reason = "doubtful"    // released although its text has no clear verdict
	Withdrawn  Reason = "withdrawn"   // the run holds a result that was withdrawn; without a channel it is a refusal
)

// Why a call is refused before anything is forwarded.
const (
	Undecided        Reason = "undecided"        // nobody decided
	UnknownProfile   Reason = "profile"          // the agent's profile is none that we know
	ReasonNotShown   Reason = "not_shown"        // no such item was shown to this agent
	ReasonIncomplete Reason = "incomplete"       // the upstream's lists are not completely collected
	ReasonWithheld   Reason = "withheld"         // its text was not cleared
	ReasonChanged    Reason = "changed"          // not what was accepted
	ReasonNew        Reason = "new"              // came after what was accepted
	ReasonRed        Reason = "red"              // its label is red
	ReasonLabel      Reason = "label"            // its label cannot be verified
	NoRule           Reason = "no_rule"          // no rule and no intent allows it
	RuleNever        Reason = "rule_never"       // a rule of the operator's forbids it
	NoChannel        Reason = "no_channel"       // a person would have to be asked and cannot be
	Shut             Reason = "shut"             // the gate has not opened yet
	Stale            Reason = "stale"            // what is known is too old and could not be renewed
	Unrecorded       Reason = "unrecorded"       // the decision could not be recorded
	ReasonUnfit      Reason = "unfit"            // the arguments do not fit the schema that was cleared
	ReasonGuard      Reason = "guard"            // a guard refuses an argument
	OutsideIntent    Reason = "outside_intent"   // the run's sealed intent does not name it, or not so
	IntentExpired    Reason = "intent_expired"   // the run's sealed intent has ended
	OwnGuard         Reason = "own_guard"        // the arguments name Pratique's own data or listeners
	Arguments        Reason = "arguments"        // the arguments are not what the method takes
	Method           Reason = "method"           // the method is not carried
	Question         Reason = "question"         // an upstream asked outside of an open call
	RequestState     Reason = "state"            // the state of a retry is not ours, expired, spent or for another call
	Revoked          Reason = "revoked"          // the agent's credential or run has ended
	Quota            Reason = "quota"            // too many at once, or in the time
	Cancelled        Reason = "cancelled"        // the agent gave up before the call was forwarded
	UpstreamDown     Reason = "upstream_down"    // the upstream cannot be reached; nothing was sent
	TooLarge         Reason = "too_large"        // the request is over a bound
	UnknownUpstream  Reason = "unknown_upstream" // no such upstream is configured
)

// Why the answer to a call that was forwarded does not reach the agent.
const (
	UpstreamLost    Reason = "upstream_lost"    // the connection broke while the call was open
	UpstreamTimeout Reason = "upstream_timeout" // no answer within the deadline
	UpstreamInvalid Reason = "upstream_invalid" // the answer is not what the protocol allows
	ResultHeld      Reason = "result_held"      // the result's text is hostile
	ResultTooLarge  Reason = "result_too_large" // the result is over the bound
	ChangedAfter    Reason = "changed_after"    // the item changed while the call was open
)

// A Meaning is what a reason stands for.
type Meaning struct {
	Reason    Reason `json:"reason"`
	Verb      string `json:"verb"`      // of the decision that carries it
	Invoked   string `json:"invoked"`   // no, yes, unknown: whether the upstream had the call
	Retryable bool   `json:"retryable"` // whether the same call, later and unchanged, may succeed without a person's act
	Text      string `json:"text"`      // one sentence that an agent may read
}

var meanings = []Meaning{
	{ReasonCleared, "allow", "yes", false, "The tool is cleared and has not changed."},
	{RuleAllow, "allow", "yes", false, "A rule of the operator allows it."},
	{Watched, "allow", "yes", false, "The profile watch records and does not block."},

	{RuleAsk, "ask", "no", false, "A rule of the operator wants a person to approve this call."},
	{ProfileAsk, "ask", "no", false, "The profile wants a person to approve calls of a tool whose label is not green."},
	{Doubtful, "ask", "no", false, "The tool was released although its text was not found clear, so a person has to approve its calls."},
	{Withdrawn, "ask", "no", false, "A result that this run holds was withdrawn, so a person has to approve every call until its deletion is confirmed, the operator clears the run, or a new run begins."},

	{Undecided, "deny", "no", false, "Nothing decided this call, so it was refused."},
	{UnknownProfile, "deny", "no", false, "The agent has no known profile."},
	{ReasonNotShown, "deny", "no", false, "There is no such item on this agent's list."},
	{ReasonIncomplete, "deny", "no", true, "The upstream's lists are not completely known, so nothing of it is shown."},
	{ReasonWithheld, "deny", "no", false, "The item is withheld until the operator has reviewed it."},
	{ReasonChanged, "deny", "no", false, "The item changed after it was accepted and waits for the operator's review."},
	{ReasonNew, "deny", "no", false, "The item is new and waits for the operator's review."},
	{ReasonRed, "deny", "no", false, "The item's label is red."},
	{ReasonLabel, "deny", "no", true, "The item's label could not be verified."},
	{NoRule, "deny", "no", false, "No rule allows this call."},
	{RuleNever, "deny", "no", false, "A rule of the operator forbids this call."},
	{NoChannel, "deny", "no", false, "A person would have to approve this call, and there is no approval channel; the operator can allow the tool by a rule."},
	{Shut, "deny", "no", true, "The upstream's surface has not been cleared yet; try again soon."},
	{Stale, "deny", "no", true, "What is known of the upstream or the registry is too old and could not be renewed."},
	{Unrecorded, "deny", "no", true, "The decision could not be recorded, so the call was not made."},
	{ReasonUnfit, "deny", "no", false, "The arguments do not fit the tool's schema, or have names that it does not know."},
	{ReasonGuard, "deny", "no", false, "A guard refuses an argument."},
	{OutsideIntent, "deny", "no", false, "The task that this run was sealed for does not include this call."},
	{IntentExpired, "deny", "no", false, "The intent that this run was sealed for has ended."},
	{OwnGuard, "deny", "no", false, "The arguments name the gateway's own data or addresses."},
	{Arguments, "deny", "no", false, "The arguments are not what the method takes."},
	{Method, "deny", "no", false, "The method is not carried."},
	{Question, "deny", "no", false, "An upstream may ask only while a call to it is open."},
	{RequestState, "deny", "no", false, "The request state is unknown, expired, already used or made for another call."},
	{Revoked, "deny", "no", false, "The agent's credential or run has ended."},
	{Quota, "deny", "no", true, "Too many calls at once; try again later."},
	{Cancelled, "deny", "no", true, "The call was cancelled before it was forwarded."},
	{UpstreamDown, "deny", "no", true, "The upstream cannot be reached."},
	{TooLarge, "deny", "no", false, "The request is larger than the gateway carries."},
	{UnknownUpstream, "deny", "no", false, "There is no such upstream."},

	{UpstreamLost, "deny", "unknown", false, "The upstream was lost while the call was open; whether it was executed is not known."},
	{UpstreamTimeout, "deny", "unknown", false, "The upstream did not answer in time; whether the call was executed is not known."},
	{UpstreamInvalid, "deny", "unknown", false, "The upstream's answer is not valid and was not passed on."},
	{ResultHeld, "deny", "yes", false, "The call was executed; its result is held until the operator has reviewed it."},
	{ResultTooLarge, "deny", "yes", false, "The call was executed; its result is larger than the gateway carries."},
	{ChangedAfter, "deny", "yes", false, "The call was executed; the item changed meanwhile, so its result is held."},
}

// Meanings lists all reasons, in a stable order.
func Meanings() []Meaning { return slices.Clone(meanings) }

// Meaning is what a reason stands for. An unknown reason has the meaning of
// Undecided.
func (r Reason) Meaning() Meaning {
	for _, m := range meanings {
		if m.Reason == r {
			return m
		}
	}
	return Undecided.Meaning()
}

// Known tells whether r is one of the closed set.
func (r Reason) Known() bool { return r == Undecided || r.Meaning().Reason != Undecided }

// Retryable tells whether the same call may succeed later without a person's
// act.
func (r Reason) Retryable() bool { return r.Meaning().Retryable }
