// Package replay judges a recorded call again: from its arguments, its item and
// the policy of then, with the inspector, the label rules and the policy's code of
// now. It has no upstream, no network and no process to call anything with, and
// it never repeats the recorded answer: where something is missing it says so.
//
// What was observed then, and cannot be judged again, comes from the entry: the
// agent's profile, the standing of the origin, how the item stood on the surface
// that the agent was shown, and the context of the run.
package replay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/effects"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/decisions"
)

// ErrMissing is decisions.ErrReplay: something that is needed is not there, or is
// not what the log has the digest of.
var ErrMissing = decisions.ErrReplay

// Sources are where a replay gets what the entry names by digest. Each returns
// an error where it has nothing.
type Sources struct {
	Args   func(r *decisions.Record) ([]byte, error)
	Policy func(d credentials.Digest) ([]byte, error)
	// Item is the content of an item of an upstream as it was sent, or its canonical
	// form. It is held against the digest.
	Item func(origin, kind string, d credentials.Digest) ([]byte, error)
}

// A Judged is a decision with what it was made on.
type Judged struct {
	Verb     string `json:"verb" doc:"deny, ask, allow"`
	Reason   string `json:"reason"`
	Rule     string `json:"rule"`
	Needs    string `json:"needs,omitzero" doc:"of an ask, the least that an answer has to be; not there in the record of an older program"`
	Enforced bool   `json:"enforced" doc:"false under watch"`
	Gate     string `json:"gate" doc:"of the item towards the agent"`
	Context  string `json:"context" doc:"of the run: worst, untrusted, own, clean"`
	Tier     string `json:"tier"`
	Content  string `json:"content"`
	Effect   string `json:"effect"`
}

// An Answer is a decision of then beside that of now.
type Answer struct {
	Then Judged `json:"then"`
	Now  Judged `json:"now"`
	Same bool   `json:"same" doc:"verb, reason, rule, needs and enforcement are the same"`
}

// facts are the evidence of an entry, read back.
type facts struct {
	policy.Facts
	kind gate.Kind
}

// Of judges a recorded decision again. ErrMissing says what it would need.
func Of(ctx context.Context, r *decisions.Record, src Sources, inspector quarantine.Inspector) (Answer, error) {
	e := &r.Entry
	if e.Type != registry.EntryDecision {
		return Answer{}, fmt.Errorf("%w: entry %d of %s is no decision", ErrMissing, r.Index, r.Spool)
	}
	f, p, byGate, err := again(ctx, r, src, inspector)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Then: Judged{Verb: e.Verb, Reason: e.Reason, Rule: e.Rule, Needs: needs(e.Needs), Enforced: e.Enforced == nil || *e.Enforced,
		Gate: e.Gate, Context: e.Context, Tier: e.Tier, Content: e.Content, Effect: e.Effect.String()}}
	d := p.Decide(f.Facts)
	if !byGate && d.Policy() != e.Policy {
		return Answer{}, fmt.Errorf("%w: policy: this program does not make that of the entry of the same text", ErrMissing)
	}
	would := d.Would()
	if e.Guard == "path" && would.Guard() != "path" { // where links led then is not kept
		return Answer{}, fmt.Errorf("%w: the file system as it was", ErrMissing)
	}
	a.Now = Judged{Verb: would.Verb().String(), Reason: string(would.Reason()), Rule: would.Rule(), Needs: needs(would.Assurance()), Enforced: d.Enforced(),
		Gate: f.Gate.String(), Context: f.Context.String(), Tier: f.Tier.String(), Content: f.Content.String(), Effect: f.Effect.String()}
	if f.kind == "" { // of no item
		a.Now.Tier, a.Now.Content, a.Now.Effect, a.Now.Context = a.Then.Tier, a.Then.Content, a.Then.Effect, a.Then.Context
	}
	if byGate { // the gate refused before any policy was asked, and has no rules by name
		a.Now.Rule, a.Now.Enforced = a.Then.Rule, a.Then.Enforced
	}
	a.Same = a.same()
	if !a.Same && !e.Params.IsZero() {
		return Answer{}, fmt.Errorf("%w: what stood beside the arguments, of which only a digest is kept", ErrMissing)
	}
	return a, nil
}

// same tells whether now is as then. An ask that was recorded without what an answer
// had to be is of an older program, which did not write it: that is not compared, and
// verb and reason still tell an ask from what is none.
func (a *Answer) same() bool {
	needs := a.Then.Needs == "" || a.Then.Needs == a.Now.Needs
	return needs && a.Then.Verb == a.Now.Verb && a.Then.Reason == a.Now.Reason && a.Then.Rule == a.Now.Rule && a.Then.Enforced == a.Now.Enforced
}

// needs is the word for an assurance; empty of none.
func needs(a labels.Assurance) string {
	if a == labels.AssuranceNone {
		return ""
	}
	return a.String()
}

// Facts are what a recorded decision would be made on now, and the policy of then:
// for whoever explains it. ErrMissing, as of Of.
func Facts(ctx context.Context, r *decisions.Record, src Sources, inspector quarantine.Inspector) (policy.Policy, policy.Facts, error) {
	if r.Entry.Type != registry.EntryDecision {
		return nil, policy.Facts{}, fmt.Errorf("%w: entry %d of %s is no decision", ErrMissing, r.Index, r.Spool)
	}
	f, p, _, err := again(ctx, r, src, inspector)
	return p, f.Facts, err
}

// again are facts and policy of a recorded decision. byGate: no policy was asked.
func again(ctx context.Context, r *decisions.Record, src Sources, inspector quarantine.Inspector) (f facts, p policy.Policy, byGate bool, err error) {
	if f, err = read(&r.Entry); err != nil {
		return f, nil, false, err
	}
	if p, byGate, err = decider(&r.Entry, src); err != nil {
		return f, nil, false, err
	}
	if !byGate {
		if f.Args, err = src.Args(r); err != nil {
			return f, nil, false, missing("arguments", err)
		}
	}
	return f, p, byGate, f.judge(ctx, &r.Entry, src, inspector)
}

func missing(what string, err error) error {
	if errors.Is(err, ErrMissing) {
		return err
	}
	return fmt.Errorf("%w: %s: %w", ErrMissing, what, err)
}

// read takes the evidence from an entry.
func read(e *registry.Entry) (facts, error) {
	f := facts{kind: gate.Kind(e.Kind)}
	f.Profile, f.Method, f.Tool, f.ID, f.Origin = policy.Profile(e.Profile), e.Method, e.Name, e.Tool, e.Origin
	if e.Kind == "" && e.Gate == "" && policy.Reason(e.Reason) == policy.ReasonNotShown {
		return f, nil // nothing was found by that name
	}
	var err error
	if f.Gate, err = policy.ParseState(e.Gate); err != nil {
		return f, missing("state of the item", err)
	}
	if (f.Gate == policy.NotShown || f.Gate == policy.Incomplete) && e.Kind == "" {
		return f, nil
	}
	if f.Standing, err = labels.ParseStanding(e.Standing); err != nil {
		return f, missing("standing", err)
	}
	if f.Content, err = labels.ParseContent(e.Content); err != nil {
		return f, missing("content", err)
	}
	if f.Tier, err = labels.ParseTier(e.Tier); err != nil {
		return f, missing("tier", err)
	}
	if f.Context, err = policy.ParseContext(e.Context); err != nil {
		return f, missing("context of the run", err)
	}
	f.Effect = e.Effect
	return f, f.observed(e)
}

// observed are the facts that nobody can find out again: who called, when and how,
// how the arguments fitted the schema of then, and what had been counted.
func (f *facts) observed(e *registry.Entry) (err error) {
	f.Agent, f.AgentName, f.Run, f.Way, f.At = e.Agent, e.Named, e.Run, e.Way, time.UnixMilli(e.At)
	f.Ver, f.Digest = e.Ver, e.Mdg
	switch {
	case e.Fit == "" && f.Gate == policy.Cleared && (e.Method == "tools/call" || e.Method == "prompts/get"):
		return fmt.Errorf("%w: fit of the arguments: an older program did not record it", ErrMissing)
	case e.Fit != "":
		if f.Fit, err = policy.ParseFit(e.Fit); err != nil {
			return missing("fit of the arguments", err)
		}
	}
	if f.Fit != policy.Fits && len(e.Paths) > 0 {
		f.UnfitAt = e.Paths[0]
	}
	if c := e.Counts; c != nil {
		f.Counts = policy.Counts{Known: true, Run: c.Run, Minute: c.Minute, Hour: c.Hour, Day: c.Day, New: c.New}
	}
	return nil
}

// decider is the policy of the entry. byGate: no policy was asked, since the
// item's state alone refused.
func decider(e *registry.Entry, src Sources) (p policy.Policy, byGate bool, err error) {
	none := policy.Of(nil)
	if e.Policy.IsZero() {
		switch policy.Reason(e.Reason) {
		case policy.ReasonNotShown, policy.ReasonIncomplete, policy.ReasonWithheld, policy.ReasonChanged, policy.ReasonNew:
			return none, true, nil
		}
		return nil, false, fmt.Errorf("%w: %q was decided before any policy was asked, on what is not kept", ErrMissing, policy.Reason(e.Reason))
	}
	if none.Decide(policy.Facts{Profile: policy.Profile(e.Profile)}).Policy() == e.Policy {
		return none, false, nil
	}
	text, err := src.Policy(e.Policy)
	if err != nil {
		return nil, false, missing("policy", err)
	}
	if p, err = policy.Read(text); err != nil {
		return nil, false, missing("policy", err)
	}
	return p, false, nil
}

// judge inspects, labels and classifies the item again.
func (f *facts) judge(ctx context.Context, e *registry.Entry, src Sources, inspector quarantine.Inspector) error {
	if f.kind == "" || f.Gate == policy.NotShown {
		return nil // of no item: a setting of the session, or a name that was not shown
	}
	if e.Mdg == canon.Digest("pratique/item/link/v1", []byte(e.Name)) {
		return nil // an address that a result linked: there is no item to read
	}
	raw, err := src.Item(e.Origin, e.Kind, e.Mdg)
	if err != nil {
		return missing("item", err)
	}
	item := gate.Decode(f.kind, raw)
	if item.Digest != e.Mdg || item.Digest.IsZero() {
		return fmt.Errorf("%w: item: its content is not that of the digest", ErrMissing)
	}
	f.Tool = item.Name // the entry's may be cut
	f.inspect(ctx, &item, inspector)
	f.classify(e, &item)
	return f.target()
}

func (f *facts) inspect(ctx context.Context, item *gate.Item, inspector quarantine.Inspector) {
	then, thenTier := f.Content, f.Tier
	verdict := quarantine.Hostile
	if item.Fault == gate.NoFault {
		set, err := quarantine.Specimens(string(f.kind), item.Canonical)
		if err == nil {
			verdict = inspector.Inspect(ctx, quarantine.Batch{Specimens: set}).Verdict
		}
	}
	switch verdict {
	case quarantine.Clear:
		f.Content = max(then, labels.Inspected) // consistent stays: it was observed
	case quarantine.Suspect:
		f.Content = labels.Suspect
	case quarantine.Hostile:
		f.Content = labels.Violated
	default:
		f.Content = labels.Uninspected
	}
	f.Tier = labels.Synthesize(f.Standing, f.Content)
	if thenTier < labels.Synthesize(f.Standing, then) {
		f.Tier = min(f.Tier, thenTier) // the label said less than its evidence: expired, or lowered
	}
	if f.Gate == policy.Cleared && f.Content < labels.Inspected && then >= labels.Inspected {
		f.Gate = policy.Withheld
	}
}

// classify is the effect by the rule of now. What a file or a catalogue of the
// operator named then is evidence like the standing, and comes from the entry.
func (f *facts) classify(e *registry.Entry, item *gate.Item) {
	switch {
	case f.kind != gate.Tool:
		f.Effect = labels.Read
	case item.Fault != gate.NoFault:
		f.Effect = labels.Unclassified
	case e.By == string(effects.ByRule):
		f.Effect = effects.Rule(f.Standing, item.Canonical)
	}
}

// target is the address that was read through a template.
func (f *facts) target() error {
	if f.kind != gate.Template || f.Method == "completion/complete" || len(f.Args) == 0 {
		return nil
	}
	var p struct {
		URI string `json:"uri"`
	}
	if err := json.Unmarshal(f.Args, &p); err != nil {
		return missing("address", err)
	}
	f.Target = p.URI
	return nil
}
