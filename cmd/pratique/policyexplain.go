package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pratique-dev/pratique/labels"
	guards "github.com/pratique-dev/pratique/labels/guard"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/labels/policy/advise"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/decisions"
	"github.com/pratique-dev/pratique/registry/decisions/replay"
)

func policyExplainVerb() verb {
	return verb{
		name: "explain", usage: "say how a call is decided: each layer, each rule about it, each guard",
		about: "CALL is the reference of a refusal or entry (call_...), or its index in a spool: CALL, or INDEX and SPOOL, of `ledger show --data`; with --cases it is the name of a case. A recorded call is judged again on what was recorded, under the policy of then, or under --policy instead. No argument is shown, only where in the arguments something was refused.",
		args:  "CALL",
		flags: []*option{
			{name: "data", arg: "DIR", usage: "data folder; default: what the configuration says, the folder of --config, or pratique in the user's data folder"}, configFlag(),
			{name: "passphrase-file", arg: "FILE", usage: "private file with the passphrase of the key ring"},
			{name: "spool", arg: "NAME", usage: "spool of an index, where there are several"},
			{name: "cases", arg: "FILE", usage: "file of cases, in the place of the record"},
			{name: "policy", arg: "RULES", usage: "rule file to explain it under"},
		},
		out: explainedOutput{}, run: explainPolicy,
	}
}

// explainedOutput is a decision with everything that was looked at on the way.
type explainedOutput struct {
	Call    string            `json:"call"`
	Verb    string            `json:"verb" doc:"deny, ask, allow"`
	Reason  string            `json:"reason"`
	Rule    string            `json:"rule"`
	Means   string            `json:"means" doc:"the reason, in a sentence"`
	Needs   string            `json:"needs,omitzero" doc:"of an ask, also of one that nobody could answer, the least that an answer has to be: tap, passkey, two-person"`
	Floor   string            `json:"floor,omitzero" doc:"reason that no rule takes back"`
	Outside string            `json:"outside,omitzero" doc:"why the sealed intent does not include the call"`
	Unfit   bool              `json:"unfit" doc:"the arguments do not fit the cleared schema"`
	UnfitAt []string          `json:"unfit_at,omitzero" doc:"JSON Pointers of what does not fit, of a recorded call"`
	Guards  []guardSays       `json:"guards"`
	Layers  []explainedLayer  `json:"layers"`
	Shadow  []explainedShadow `json:"shadow,omitzero" doc:"what rules that only record would have decided"`
}

type guardSays struct {
	Guard string `json:"guard"`
	Path  string `json:"path" doc:"JSON Pointer of the argument"`
	Line  int    `json:"line,omitzero" doc:"of the text there, decoded, from 1"`
	Why   string `json:"why"`
	Rule  string `json:"rule"`
}

type explainedLayer struct {
	Layer  string          `json:"layer" doc:"profile, organisation, origin, intent"`
	Shadow bool            `json:"shadow,omitzero" doc:"it only records"`
	Verb   string          `json:"verb"`
	Reason string          `json:"reason"`
	Rules  []explainedRule `json:"rules"`
}

type explainedRule struct {
	Name   string   `json:"name"`
	Verb   string   `json:"verb" doc:"allow, ask, never"`
	Shadow bool     `json:"shadow,omitzero" doc:"it only records"`
	Fires  bool     `json:"fires"`
	Why    string   `json:"why"`
	Paths  []string `json:"paths,omitzero"`
	Says   string   `json:"says,omitzero" doc:"the rule's own sentence"`
}

type explainedShadow struct {
	Verb   string `json:"verb"`
	Reason string `json:"reason"`
	Rule   string `json:"rule"`
}

func (o explainedOutput) show(w io.Writer) {
	fmt.Fprintf(w, "%s: %s (%s) by %s: %s\n", baseline.Visible(o.Call), o.Verb, o.Reason, o.Rule, o.Means)
	if o.Needs != "" {
		fmt.Fprintln(w, "an answer has to be at least:", o.Needs)
	}
	for _, l := range o.Layers {
		note := ""
		if l.Shadow {
			note = ", which only records"
		}
		fmt.Fprintf(w, "layer %s%s: %s (%s)\n", l.Layer, note, l.Verb, l.Reason)
		for _, r := range l.Rules {
			verb, fires := r.Verb, "does not fire"
			if r.Shadow {
				verb += ", only records"
			}
			if r.Fires {
				fires = "fires"
			}
			fmt.Fprintf(w, "  %s (%s) %s: %s%s\n", r.Name, verb, fires, r.Why, at(r.Paths))
			if r.Says != "" {
				fmt.Fprintf(w, "    %s\n", baseline.Visible(r.Says))
			}
		}
	}
	if o.Floor != "" {
		fmt.Fprintln(w, "no rule takes back:", o.Floor)
	}
	if o.Outside != "" {
		fmt.Fprintln(w, "the sealed intent does not include it:", o.Outside)
	}
	if o.Unfit {
		fmt.Fprintf(w, "the arguments do not fit the cleared schema%s\n", at(o.UnfitAt))
	}
	for _, g := range o.Guards {
		fmt.Fprintf(w, "guard %s, by %s%s: %s\n", g.Guard, g.Rule, lineAt(g), g.Why)
	}
	for _, s := range o.Shadow {
		fmt.Fprintf(w, "recorded only: %s (%s) by %s\n", s.Verb, s.Reason, s.Rule)
	}
}

// lineAt is where a guard refuses, with the line of the text there.
func lineAt(g guardSays) string {
	if g.Line == 0 || g.Path == "" {
		return at([]string{g.Path})
	}
	return fmt.Sprintf("%s, line %d", at([]string{g.Path}), g.Line)
}

// at is where in the arguments something stands.
func at(paths []string) string {
	var shown []string
	for _, p := range paths {
		if p != "" {
			shown = append(shown, baseline.Visible(p))
		}
	}
	if len(shown) == 0 {
		return ""
	}
	return ", at " + strings.Join(shown, ", ")
}

func explainPolicy(c *call) (any, error) {
	var other policy.Policy
	if c.has("policy") {
		r, err := c.rules(c.str("policy"))
		if err != nil {
			return nil, err
		}
		other = policy.Of(r)
	}
	if c.has("cases") {
		return c.explainCase(other)
	}
	return c.onDecision(func(r *decisions.Record, src replay.Sources, ins quarantine.Inspector) (any, error) {
		p, f, err := replay.Facts(c, r, src, ins)
		if errors.Is(err, replay.ErrMissing) {
			return nil, &coded{exitPrecondition, err}
		}
		if err != nil {
			return nil, err
		}
		if other != nil {
			p = other
		}
		out := explained(r.Entry.Call, policy.Explain(p, f))
		if out.Unfit && r.Entry.Reason == out.Reason {
			out.UnfitAt = r.Entry.Paths
		}
		return out, nil
	})
}

// explainCase explains one case of a file.
func (c *call) explainCase(p policy.Policy) (any, error) {
	f, own, err := c.casesOf(c.str("cases"), p == nil)
	if err != nil {
		return nil, err
	}
	if p == nil {
		p = own
	}
	for i := range f {
		if f[i].Name == c.args[0] {
			return explained(f[i].Name, policy.Explain(p, f[i].Facts)), nil
		}
	}
	return nil, fmt.Errorf("%w: no case of that name", registry.ErrNotFound)
}

func explained(call string, x policy.Explanation) explainedOutput {
	d := x.Decision.Would()
	out := explainedOutput{Call: call, Verb: d.Verb().String(), Reason: string(d.Reason()), Rule: d.Rule(), Means: d.Reason().Meaning().Text,
		Floor: string(x.Floor), Outside: string(x.Outside), Unfit: x.Unfit && x.Floor != policy.ReasonNotShown, Guards: guardsSay(x.Guards), Layers: []explainedLayer{}}
	if need := d.Assurance(); need != labels.AssuranceNone {
		out.Needs = need.String()
	}
	for _, l := range x.Layers {
		e := explainedLayer{Layer: l.Layer, Shadow: l.Shadow, Verb: l.Decision.Verb().String(), Reason: string(l.Decision.Reason()), Rules: []explainedRule{}}
		for _, r := range l.Candidates {
			e.Rules = append(e.Rules, explainedRule{r.Rule.Name, word(r.Rule.Verb), r.Rule.Shadow, r.Fires, r.Why, r.Paths, r.Rule.Say})
		}
		out.Layers = append(out.Layers, e)
	}
	for _, s := range x.Decision.Shadow() {
		out.Shadow = append(out.Shadow, explainedShadow{s.Verb.String(), string(s.Reason), s.Rule})
	}
	return out
}

// word is a rule's own word for what becomes of a call.
func word(v policy.Verb) string {
	if v == policy.Deny {
		return "never"
	}
	return v.String()
}

func guardsSay(list []guards.Violation) []guardSays {
	out := []guardSays{}
	for _, v := range list {
		out = append(out, guardSays{v.Guard, v.Path, v.Line, v.Why, v.Rule})
	}
	return out
}

// casesOf reads a file of cases, and with rules the policy that it names.
func (c *call) casesOf(file string, rules bool) ([]advise.Case, policy.Policy, error) {
	raw, err := c.readFile(file, maxCases)
	if err != nil {
		return nil, nil, err
	}
	f, err := advise.ReadCases(raw)
	if err != nil {
		return nil, nil, err
	}
	if !rules {
		return f.Cases, nil, nil
	}
	if f.Policy == "" {
		return nil, nil, usagef("%s names no rule file under policy; give one with --policy", file)
	}
	r, err := c.rules(beside(file, f.Policy))
	if err != nil {
		return nil, nil, err
	}
	return f.Cases, policy.Of(r), nil
}
