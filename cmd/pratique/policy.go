package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/labels/policy/advise"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/node"
)

func policyNoun() noun {
	return noun{name: "policy", usage: "operator: check, test, explain and suggest rules", verbs: []verb{
		{
			name: "check", usage: "read a rule file as a start does, and say what in it is likely not meant",
			about: "Types, conditions and guards are checked as at a start. Then: rules that another always beats, asks that never ask, rules that change nothing, asks and nevers that fire where an argument that may be absent is; and, held against the tools that are known, names and arguments that no tool has, under guards too. A rule that is called unreachable decides no call at all. Known are the accepted tools of the data folder, if there is one, or those of --tools.",
			args:  "FILE",
			flags: surfaceFlags(&option{name: "tools", arg: "FILE", usage: "answer to tools/list, in the place of the data folder"}),
			out:   checkedPolicy{}, run: checkPolicy,
		},
		policyTestVerb(),
		policyExplainVerb(),
		policySuggestVerb(),
	}}
}

// checkedPolicy says what was found in a rule file.
type checkedPolicy struct {
	Rules    int             `json:"rules"`
	Digest   string          `json:"digest" doc:"of the rules"`
	Known    int             `json:"known" doc:"tools, prompts and resources that the rules were held against"`
	Findings []policyFinding `json:"findings"`
}

// policyFinding is one thing that is likely not meant.
type policyFinding struct {
	Rule string `json:"rule" doc:"or the key of guards: guards.refs.keys"`
	Kind string `json:"kind" doc:"unknown_item, unknown_argument, unreachable, shadowed_ask, lone_ask, redundant, absent_argument"`
	Item string `json:"item,omitzero" doc:"that it is about; empty: all that the rule names"`
	Text string `json:"text"`
}

func (f policyFinding) show(w io.Writer) {
	fmt.Fprintf(w, "%s: %s: %s\n", f.Rule, f.Kind, baseline.Visible(f.Text))
}

func (o checkedPolicy) show(w io.Writer) {
	for _, f := range o.Findings {
		f.show(w)
	}
	against := "no tools are known, so the names were held against none"
	if o.Known > 0 {
		against = fmt.Sprintf("held against %d tools, prompts and resources", o.Known)
	}
	fmt.Fprintf(w, "%d rules, %d findings; %s\n", o.Rules, len(o.Findings), against)
}

var errUnmeant = errors.New("there are findings: what they say is likely not meant")

func checkPolicy(c *call) (any, error) {
	rules, err := c.rules(c.args[0])
	if err != nil {
		return nil, err
	}
	items, err := c.knownItems()
	if err != nil {
		return nil, err
	}
	out := checkedPolicy{Rules: rules.Len(), Digest: rules.Digest().String(), Known: len(items), Findings: findings(rules, items)}
	return out, found(out.Findings)
}

// findings are what is likely not meant.
func findings(rules *policy.Rules, items []advise.Item) []policyFinding {
	list := []policyFinding{}
	for _, f := range advise.Check(rules, items) {
		list = append(list, policyFinding{f.Rule, string(f.Kind), f.Item, f.Text})
	}
	return list
}

// found is the error that goes with findings; nil: there are none.
func found(list []policyFinding) error {
	if len(list) == 0 {
		return nil
	}
	return &coded{exitConflict, errUnmeant}
}

// rules reads a rule file once; "-" is standard input.
func (c *call) rules(path string) (*policy.Rules, error) {
	raw, err := c.readFile(path, policy.MaxRulesBytes)
	if err != nil {
		return nil, err
	}
	r, err := policy.Load(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// knownItems are what rules can name: of --tools, or what was accepted in the data
// folder. Where there is no folder nothing is known.
func (c *call) knownItems() ([]advise.Item, error) {
	if c.has("tools") {
		raw, err := c.readFile(c.str("tools"), maxText)
		if err != nil {
			return nil, err
		}
		list, err := listOf(raw)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", errInput, c.str("tools"), err)
		}
		tools, _ := mcp.Get(list.result, "tools")
		var items []advise.Item
		for t := range mcp.Elements(tools) {
			it := itemNamed("tool", t)
			if t.Kind() != '{' || it.Name == "" {
				return nil, fmt.Errorf("%w: %s: tool %d is no object with a name", errInput, c.str("tools"), len(items)+1)
			}
			items = append(items, it)
		}
		return items, nil
	}
	cfg, err := c.config()
	if err != nil {
		return nil, err
	}
	if !exists(cfg.Data) && !c.has("data") {
		return nil, nil
	}
	var items []advise.Item
	_, err = c.onSurface(func(_ *node.Node, _ string, _ *baseline.Store, bs []*baseline.Baseline, damaged []string) (any, error) {
		if damaged != nil {
			return nil, baseline.ErrDamaged
		}
		for _, b := range bs {
			for _, i := range b.Items() {
				items = append(items, itemNamed(string(i.Kind), i.Raw))
			}
		}
		return nil, nil
	})
	return items, err
}

// itemNamed is an item as rules name it.
func itemNamed(kind string, raw jsontext.Value) advise.Item {
	it := advise.Item{Kind: kind}
	member := map[string]string{"tool": "name", "prompt": "name", "resource": "uri", "template": "uriTemplate"}[kind]
	it.Name, _ = mcp.GetString(raw, member)
	if kind == "tool" {
		it.Schema, _ = mcp.Get(raw, "inputSchema")
	}
	return it
}
