package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/labels/policy/advise"
	"github.com/pratique-dev/pratique/registry/baseline"
)

// maxCases is how large a file of cases may be, in bytes.
const maxCases = 4 << 20

func policyTestVerb() verb {
	return verb{
		name: "test", usage: "hold rules against cases that say what they have to decide",
		about: "FILE names cases as data: the call, and what has to become of it. Nothing is started and nobody is asked. What a case leaves out is ordinary: a cleared tool of a pinned server, an agent of profile personal, arguments that fit, nothing counted yet, a channel that could answer. The rules are those that FILE names under policy, or --policy.",
		args:  "FILE",
		flags: []*option{{name: "policy", arg: "RULES", usage: "rule file; default: the one that FILE names"}},
		out:   testedOutput{}, run: testPolicy,
	}
}

// testedCase is one case with what came out.
type testedCase struct {
	Name   string   `json:"name"`
	OK     bool     `json:"ok"`
	Want   string   `json:"want" doc:"deny, ask, allow"`
	Verb   string   `json:"verb" doc:"deny, ask, allow"`
	Reason string   `json:"reason"`
	Rule   string   `json:"rule"`
	Paths  []string `json:"paths,omitzero" doc:"JSON Pointers of what a guard refuses"`
	Why    string   `json:"why,omitzero" doc:"what the guard found"`
}

// testedOutput says which cases hold.
type testedOutput struct {
	Cases  []testedCase `json:"cases"`
	Failed int          `json:"failed"`
}

func (o testedOutput) show(w io.Writer) {
	rows := [][]string{{"OK", "CASE", "WANTED", "IS", "REASON", "RULE", "AT"}}
	for _, c := range o.Cases {
		rows = append(rows, []string{yesNo(c.OK), baseline.Visible(c.Name), c.Want, c.Verb, c.Reason, c.Rule, firstOf(c.Paths)})
	}
	table(w, rows)
	fmt.Fprintf(w, "%d cases, %d failed\n", len(o.Cases), o.Failed)
}

func firstOf(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return baseline.Visible(paths[0])
}

func testPolicy(c *call) (any, error) {
	var p policy.Policy
	if c.has("policy") {
		r, err := c.rules(c.str("policy"))
		if err != nil {
			return nil, err
		}
		p = policy.Of(r)
	}
	cases, own, err := c.casesOf(c.args[0], p == nil)
	if err != nil {
		return nil, err
	}
	if p == nil {
		p = own
	}
	out := testedOutput{Cases: []testedCase{}}
	for _, r := range advise.Test(p, cases) {
		d := r.Decision.Would()
		if !r.OK {
			out.Failed++
		}
		out.Cases = append(out.Cases, testedCase{r.Case.Name, r.OK, r.Case.Verb, d.Verb().String(), string(d.Reason()), d.Rule(), d.Paths(), d.Why()})
	}
	if out.Failed > 0 {
		return out, &coded{exitConflict, fmt.Errorf("%d of %d cases are not decided as they have to be", out.Failed, len(out.Cases))}
	}
	return out, nil
}

// beside is a path that a file names: relative to it.
func beside(file, path string) string {
	if filepath.IsAbs(path) || file == "-" {
		return path
	}
	return filepath.Join(filepath.Dir(file), path)
}
