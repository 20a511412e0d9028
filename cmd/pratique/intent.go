package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels/policy/advise"
	"github.com/pratique-dev/pratique/quarantine/intent"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/runs"
)

func intentNoun() noun {
	return noun{name: "intent", usage: "operator: what an agent may do in one run, sealed before it reads anything", verbs: []verb{
		{
			name: "seal", usage: "seal an intent for a credential that was never presented, or narrow the one that it has",
			about: "Resolves what FILE names to the versions that are cleared now, shows the intent, and signs it with the operator's key. It binds the credential for life: what it does not name is denied, tools that appear later and versions that change too. After the first presentation nothing is sealed, replaced or widened: that is refused, and on record. A file that is provably narrower than what is sealed takes its place at any time, and running gateways follow with the next call.",
			args:  "FILE", flags: intentFlags(append(lookFlags(), agentFlag("agent that is bound: its name, or its id; default: what FILE says"),
				&option{name: "key", arg: "FILE", usage: "key file of the operator (default: operator.jwk in the data folder)"},
				&option{name: "key-passphrase-file", arg: "FILE", usage: "private file that holds the passphrase of that key"}, yesFlag())...),
			out: intentOutput{}, run: sealIntent,
		},
		{
			name: "show", usage: "show the intents that are sealed, and what became of them",
			about: "States: waiting, for a credential that was not presented yet; bound, of a run that goes on; expired; revoked, with its credential; over, when the run that it was sealed for has ended; damaged. In all but waiting and bound nothing is allowed.",
			flags: intentFlags(agentFlag("only this agent's")), out: intentsOutput{}, run: showIntents,
		},
		{
			name: "check", usage: "read an intent and resolve what it names, without sealing anything",
			about: "What in the rules is likely not meant is said as `policy check` says it, and is exit code 5 without --agent. With --agent it is held against what is sealed for that agent: the answer says whether it is narrower, and if not, why.",
			args:  "FILE", flags: intentFlags(append(lookFlags(), agentFlag("hold it against the intent of this agent"))...),
			out: checkedIntent{}, run: checkIntent,
		},
		runVerb(), draftVerb(),
	}}
}

func intentFlags(more ...*option) []*option { return surfaceFlags(more...) }

func agentFlag(usage string) *option { return &option{name: "agent", arg: "AGENT", usage: usage} }

func lookFlags() []*option {
	return []*option{{name: "look", kind: toggle, usage: "of an upstream of the configuration that was never seen: start or reach it once, list what it shows, and pin that as first seen"}}
}

// sealedName is one item of an intent.
type sealedName struct {
	Kind   intent.Kind        `json:"kind"`
	Name   string             `json:"name"`
	ID     credentials.ToolID `json:"id"`
	Digest credentials.Digest `json:"digest" doc:"of the version"`
}

// intentView is an intent, for people and programs.
type intentView struct {
	Task     string             `json:"task"`
	Expires  time.Time          `json:"expires"`
	Digest   credentials.Digest `json:"digest,omitzero"`
	Upstream string             `json:"upstream" doc:"the upstream's origin"`
	Items    []sealedName       `json:"items"`
	Rules    jsontext.Value     `json:"rules" doc:"in their canonical spelling"`
}

func viewOf(i *intent.Intent) intentView {
	v := intentView{Task: i.Task(), Expires: i.Expires(), Digest: i.Digest(), Items: []sealedName{}, Rules: i.Rules().Text()}
	for _, it := range i.Items() {
		v.Upstream = it.Origin
		v.Items = append(v.Items, sealedName{it.Kind, it.Name, it.ID, it.Digest})
	}
	return v
}

func (v intentView) show(w io.Writer) {
	digest := ""
	if !v.Digest.IsZero() {
		digest = v.Digest.String()
	}
	pairs(w, "task", plain(v.Task), "until", moment(v.Expires), "upstream", plain(v.Upstream), "digest", digest)
	for _, i := range v.Items {
		fmt.Fprintf(w, "  %s %s (%s, %s)\n", i.Kind, baseline.Visible(i.Name), i.ID, i.Digest)
	}
	for line := range strings.Lines(rulesText(v.Rules)) {
		fmt.Fprint(w, "  "+plainLines(line))
	}
}

// intentOutput is an intent that was sealed or narrowed.
type intentOutput struct {
	intentView
	Agent credentials.AgentID `json:"agent"`
	Name  string              `json:"name,omitzero" doc:"the operator's word for the agent"`
	Op    string              `json:"op" doc:"intent.seal, intent.narrow"`
	By    credentials.KeyID   `json:"by" doc:"the operator's key"`
	Loose bool                `json:"unprotected,omitzero" doc:"that key lies unencrypted, and the seal is recorded as that"`

	Unchanged bool `json:"unchanged,omitzero" doc:"exactly this was sealed already: nothing was signed or recorded, and op and by are of then"`
}

func (o intentOutput) show(w io.Writer) {
	what := "sealed"
	if o.Op == intent.OpNarrow {
		what = "narrowed"
	}
	if o.Unchanged {
		what = "nothing changed"
	}
	pairs(w, what, strings.TrimSpace(o.Name+" "+string(o.Agent)))
	o.intentView.show(w)
	if o.Loose {
		fmt.Fprintln(w, "the operator's key lies unencrypted: the seal is recorded as unprotected")
	}
}

// intentRow is an intent with what became of it.
type intentRow struct {
	intentView
	Agent  credentials.AgentID `json:"agent"`
	Name   string              `json:"name,omitzero"`
	Launch bool                `json:"launch,omitzero" doc:"of a launch on stdio, which has no credential"`
	State  string              `json:"state" doc:"waiting, bound, expired, revoked, over, damaged"`
	Run    string              `json:"run,omitzero" doc:"that it binds now"`
	Seals  []runs.Sealing      `json:"seals" doc:"the sealing, then what narrowed it"`
	Why    string              `json:"why,omitzero" doc:"of a damaged one"`
}

type intentsOutput struct {
	Intents []intentRow `json:"intents"`
}

func (o intentsOutput) show(w io.Writer) {
	if len(o.Intents) == 0 {
		fmt.Fprintln(w, "no intent is sealed")
	}
	for _, r := range o.Intents {
		kind := "agent"
		if r.Launch {
			kind = "launch"
		}
		pairs(w, kind, strings.TrimSpace(r.Name+" "+string(r.Agent)), "state", r.State, "run", r.Run)
		if r.Why != "" {
			fmt.Fprintln(w, "  "+plain(r.Why))
			continue
		}
		r.intentView.show(w)
		for _, s := range r.Seals {
			note := ""
			if s.Loose {
				note = ", unprotected"
			}
			fmt.Fprintf(w, "  %s %s by %s%s\n", s.Op, s.Intent, s.By, note)
		}
	}
}

func showIntents(c *call) (any, error) {
	return c.onWard(false, func(w *ward) (any, error) {
		s, err := w.n.Runs()
		if err != nil {
			return nil, err
		}
		all, err := s.Standings()
		if err != nil {
			return nil, err
		}
		var only *bearer
		if c.has("agent") {
			if only, err = w.bearer(s, c.str("agent")); err != nil {
				return nil, err
			}
		}
		out := intentsOutput{Intents: []intentRow{}}
		for _, x := range all {
			if only == nil || only.id == x.Agent {
				out.Intents = append(out.Intents, w.rowOf(x))
			}
		}
		return out, nil
	})
}

func (w *ward) rowOf(x runs.Standing) intentRow {
	r := intentRow{Agent: x.Agent, Run: x.Run, State: "waiting", Seals: []runs.Sealing{}}
	revoked := false
	if a, err := w.view.Agent(x.Agent); err == nil {
		r.Name, revoked = a.Name, a.Revoked
	}
	if x.Err != nil || x.Bound == nil {
		r.State, r.Why = "damaged", fmt.Sprint(x.Err)
		return r
	}
	r.intentView, r.Seals, r.Launch = viewOf(x.Bound.Intent), x.Bound.Seals, x.Bound.Intent.Launch()
	switch {
	case x.Bound.Over:
		r.State = "over"
	case revoked:
		r.State = "revoked"
	case !w.now().Before(x.Bound.Intent.Expires()):
		r.State = "expired"
	case x.Run != "":
		r.State = "bound"
	}
	return r
}

// A bearer is whom an intent is for.
type bearer struct {
	id      credentials.AgentID
	name    string
	launch  bool
	profile string
	bound   *runs.Bound // what is sealed; nil: nothing
	bad     error       // why that cannot be read
}

// word is how the agent is called to people.
func (b *bearer) word() string { return strings.TrimSpace(b.name + " " + string(b.id)) }

// errAgent says that a word means no agent, or several.
var errAgent = errors.New("no agent of that name or id that is not revoked, or several; `pratique agents list` shows them")

// bearer finds an agent by its id, or by a name that no other has.
func (w *ward) bearer(s *runs.Store, word string) (*bearer, error) {
	b := &bearer{}
	for a := range w.view.Agents() {
		if a.Revoked || string(a.ID) != word && a.Name != word {
			continue
		}
		if b.id != "" {
			return nil, &coded{exitNotFound, fmt.Errorf("%s: %w", plain(word), errAgent)}
		}
		b.id, b.name, b.profile = a.ID, a.Name, a.Profile
	}
	if b.id == "" {
		id, err := credentials.ParseAgentID(word)
		if err != nil {
			return nil, &coded{exitNotFound, fmt.Errorf("%s: %w", plain(word), errAgent)}
		}
		b.id = id
	}
	b.bound, b.bad = s.Sealed(b.id)
	if b.profile == "" { // of no credential: then only a launch that is sealed
		if b.bound == nil || !b.bound.Intent.Launch() {
			return nil, &coded{exitNotFound, fmt.Errorf("%s: %w", plain(word), errAgent)}
		}
		b.launch = true
	}
	return b, nil
}

// checkedIntent is what an intent would come to.
type checkedIntent struct {
	intentView
	Agent    string          `json:"agent,omitzero" doc:"whose it is, as --agent or else FILE says; absent: neither does"`
	Launch   string          `json:"launch,omitzero" doc:"the server whose launch it is for, as FILE says"`
	Narrower string          `json:"narrower,omitzero" doc:"with --agent: yes, or why it is not"`
	Findings []policyFinding `json:"findings" doc:"what in its rules is likely not meant, as policy check finds it"`
}

func (o checkedIntent) show(w io.Writer) {
	pairs(w, "agent", plain(o.Agent), "launch", plain(o.Launch))
	o.intentView.show(w)
	for _, f := range o.Findings {
		f.show(w)
	}
	if o.Narrower != "" {
		pairs(w, "narrower than what is sealed", plain(oneLine(o.Narrower)))
	}
}

// errNotNarrower follows the report of a check.
var errNotNarrower = errors.New("it would not take the place of what is sealed")

func checkIntent(c *call) (any, error) {
	return c.planned(false, func(w *ward, p *intent.Plan, at string, items []intent.Item) (any, error) {
		b := &bearer{id: "agt_00000000000000000000000000"}
		if c.has("agent") {
			s, err := w.n.Runs()
			if err != nil {
				return nil, err
			}
			if b, err = w.bearer(s, c.str("agent")); err != nil {
				return nil, err
			}
			switch {
			case b.bad != nil:
				return nil, b.bad
			case b.bound == nil:
				return nil, runs.ErrUnbound
			}
			p.Before(b.bound.Intent.Expires(), c.now())
		}
		i, err := p.Seal(b.id, b.launch, items, c.now())
		if err != nil {
			return nil, err
		}
		out := checkedIntent{intentView: viewOf(i), Agent: p.Agent, Launch: p.Launch}
		if out.Findings, err = w.unmeant(i, at); err != nil {
			return nil, err
		}
		if b.bound != nil {
			out.Agent = b.word()
		}
		if b.bound == nil {
			out.Digest = credentials.Digest{} // which names the agent too
			return out, found(out.Findings)
		}
		if err := intent.Narrower(b.bound.Intent, i); err != nil {
			out.Narrower = err.Error()
			return out, &coded{exitRefused, errNotNarrower}
		}
		out.Narrower = "yes" // what is taken away by it is meant
		return out, nil
	})
}

// unmeant is what in the rules of an intent is likely not meant, held against the items
// that it names.
func (w *ward) unmeant(i *intent.Intent, at string) ([]policyFinding, error) {
	known, err := w.known(at)
	if err != nil {
		return nil, err
	}
	var items []advise.Item
	for _, it := range i.Items() {
		for k := range known {
			if e := &known[k]; string(e.Kind) == string(it.Kind) && e.Name == it.Name {
				items = append(items, itemNamed(string(e.Kind), jsontext.Value(e.Canonical)))
			}
		}
	}
	return findings(i.Rules(), items), nil
}
