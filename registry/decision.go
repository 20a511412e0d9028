package registry

import (
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
)

// An EntryType names what an entry of the decision log says. The names are
// stable: they stand in logs.
type EntryType string

// The entries of the decision log, one log per spool. They are read with an
// operator's proof and never published (RULES.md 29).
const (
	EntryDecision  EntryType = "call.decided"     // before the effect
	EntryOutcome   EntryType = "call.finished"    // after it
	EntryDropped   EntryType = "frame.dropped"    // a frame that was neither judged nor forwarded
	EntrySurface   EntryType = "surface.moved"    // an item was pinned, withheld, changed, accepted, went away
	EntryLaunch    EntryType = "launch.started"   // an upstream process or endpoint, and its pin
	EntryRun       EntryType = "run.started"      // a run began or ended, with agent and profile
	EntryWithdraw  EntryType = "result.withdrawn" // results that a run holds count no longer: why, and which
	EntryClear     EntryType = "run.cleared"      // they are out of the run's context: who says so
	EntryReleased  EntryType = "hold.released"    // an operator handed on what was withheld: one digest of an item or a result
	EntryCondemned EntryType = "hold.condemned"   // an operator condemned it, and the version of the tool that it is of
	EntrySealed    EntryType = "intent.sealed"    // an operator sealed an intent for a run, or narrowed the one it has
	EntryUnsealed  EntryType = "intent.refused"   // sealing, replacing or widening one came too late, or was not the operator's
	EntryRecover   EntryType = "spool.adopted"    // a spool whose process died: what was open is lost
)

// Outcomes of a call, in entries and in metrics.
const (
	OutcomeReturned  = "returned"  // the upstream's result reached the agent
	OutcomeError     = "error"     // the upstream answered with an error, passed on
	OutcomeHeld      = "held"      // executed; the result was kept from the agent
	OutcomeRefused   = "refused"   // never forwarded
	OutcomeCancelled = "cancelled" // forwarded, then given up by the agent
	OutcomeLost      = "lost"      // forwarded; no answer, so whether it was executed is not known
)

// An Entry is one record of the decision log. Which members are set depends on
// Type. It holds no value of any call: arguments and results by digest under a
// key of their own, which can be erased.
type Entry struct {
	V    int       `json:"v"` // 1
	Type EntryType `json:"type"`
	At   int64     `json:"at"` // milliseconds since the epoch

	Run   string              `json:"run,omitzero"`
	Agent credentials.AgentID `json:"agent,omitzero"`
	N     uint64              `json:"n,omitzero"`    // entries of this run, from 1
	Last  uint64              `json:"last,omitzero"` // index of the run's entry before, plus one; 0: none in this spool

	Call     string             `json:"call,omitzero"` // call_ and a ULID: joins the entries of one call; the ref of a refusal
	Era      string             `json:"era,omitzero"`  // revision on the agent's side
	Way      string             `json:"way,omitzero"`  // stdio, http
	Method   string             `json:"method,omitzero"`
	Upstream string             `json:"upstream,omitzero"` // the operator's name for it
	Origin   string             `json:"origin,omitzero"`
	Kind     string             `json:"kind,omitzero"` // of the item: tool, prompt, resource, template, instructions, server
	Name     string             `json:"name,omitzero"` // the upstream's name of the item, cut at 256 bytes
	Tool     credentials.ToolID `json:"tool,omitzero"`
	Gen      uint64             `json:"gen,omitzero"`
	Ver      uint64             `json:"ver,omitzero"`
	Mdg      credentials.Digest `json:"mdg,omitzero"` // of the item as it was shown
	Was      credentials.Digest `json:"was,omitzero"` // surface.moved: the digest before

	Owner    credentials.KeyID  `json:"owner,omitzero"` // a registrant's key, where there is one
	Tier     string             `json:"tier,omitzero"`
	Standing string             `json:"standing,omitzero"`
	Content  string             `json:"content,omitzero"`
	Effect   labels.Effect      `json:"effect,omitzero"`
	Gate     string             `json:"gate,omitzero"`    // state of the item towards this agent
	Context  string             `json:"context,omitzero"` // of the run, as the decision saw it: worst, untrusted, own, clean
	Surface  credentials.Digest `json:"surface,omitzero"` // of all that this agent was shown
	Profile  string             `json:"profile,omitzero"`
	Policy   credentials.Digest `json:"policy,omitzero"`
	Verb     string             `json:"verb,omitzero"`
	Reason   string             `json:"reason,omitzero"`
	Rule     string             `json:"rule,omitzero"`
	Needs    labels.Assurance   `json:"needs,omitzero"`    // the least that an answer to the ask has to be, or would have had to be where nobody could answer
	Enforced *bool              `json:"enforced,omitzero"` // false under watch
	Invoked  string             `json:"invoked,omitzero"`  // upstream invoked: yes, no, unknown
	Args     credentials.Digest `json:"args,omitzero"`     // keyed digest
	Params   credentials.Digest `json:"params,omitzero"`   // keyed digest of all params, where more than arguments goes upstream
	View     uint64             `json:"view,omitzero"`     // size of the registry log that the decision saw

	Named  string             `json:"named,omitzero"`  // the operator's name for the agent, as the decision saw it
	Fit    string             `json:"fit,omitzero"`    // of the arguments, with the cleared schema: fits, unfit, unchecked
	Guard  string             `json:"guard,omitzero"`  // that refused
	Paths  []string           `json:"paths,omitzero"`  // JSON Pointers of the arguments that it refused; never a value
	Line   uint64             `json:"line,omitzero"`   // from 1, of the text at the first of Paths, decoded; 0: not known, or all of it
	Intent credentials.Digest `json:"intent,omitzero"` // that the run is sealed to
	Counts *EntryCounts       `json:"counts,omitzero"` // as the decision saw them; nil: it asked for none
	Shadow []EntryShadow      `json:"shadow,omitzero"` // what rules that only watch would have decided

	Outcome string             `json:"outcome,omitzero"`
	Verdict string             `json:"verdict,omitzero"` // of the result: clear, suspect, hostile, missing
	Result  credentials.Digest `json:"result,omitzero"`  // keyed digest
	Millis  int64              `json:"ms,omitzero"`

	Hold      string `json:"hold,omitzero"`      // hold_ and a ULID: what was withheld, or cut out, lies there
	Delivered string `json:"delivered,omitzero"` // res_ and a ULID: of the result that the agent was given
	By        string `json:"by,omitzero"`        // surface.moved: first-sight, operator, registrant, wording; decision: file or catalogue that named the effect
	Act       string `json:"act,omitzero"`       // the operator's act, a compact token
	Detail    string `json:"detail,omitzero"`    // ours, never an upstream's or an agent's words

	Whole string `json:"-"` // what Params is the digest of; never written
}

// EntryCounts are the calls of the agent to the item that went before.
type EntryCounts struct {
	Run    uint64   `json:"run"`
	Minute uint64   `json:"minute"`
	Hour   uint64   `json:"hour"`
	Day    uint64   `json:"day"`
	New    []string `json:"new,omitzero"` // places in the arguments whose value was new; never a value
}

// EntryShadow is what a rule that only watches would have decided.
type EntryShadow struct {
	Verb   string `json:"verb"`
	Reason string `json:"reason"`
	Rule   string `json:"rule"`
}
