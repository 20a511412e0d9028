package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/labels/policy/advise"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/decisions"
)

func policySuggestVerb() verb {
	return verb{
		name: "suggest", usage: "write the least rules that allow what a recorded run did",
		about: "Takes the calls of one run that were let through and not refused afterwards, with their arguments from the vault, and writes a rule file that allows them and little else: each item in the methods that were used, each argument as narrow as its values show. It is for a person to read: a run that was led astray suggests that it was right. Nothing is taken over.",
		flags: []*option{
			{name: "data", arg: "DIR", usage: "data folder; default: what the configuration says, the folder of --config, or pratique in the user's data folder"}, configFlag(),
			{name: "run", arg: "ID", usage: `run ("run_..."), as ` + "`ledger show --data`" + ` names it, and ` + "`runs list`" + ` while it goes on`, required: true},
			{name: "out", arg: "FILE", usage: "new file for the rules, which are then not printed"},
		},
		out: suggestedOutput{}, run: suggestPolicy,
	}
}

// suggestedOutput is a rule file that was suggested.
type suggestedOutput struct {
	Run     string   `json:"run"`
	Calls   int      `json:"calls" doc:"that the rules allow"`
	Missing int      `json:"missing" doc:"calls whose arguments are not kept any more: the rules do not know of them"`
	Rules   string   `json:"rules,omitzero" doc:"the rule file"`
	Open    []string `json:"open" doc:"arguments that nothing bounds: tool /argument"`
	File    string   `json:"file,omitzero"`
}

func (o suggestedOutput) show(w io.Writer) {
	fmt.Fprintf(w, "# %d calls of %s; %d whose arguments are not kept\n", o.Calls, o.Run, o.Missing)
	for _, a := range o.Open {
		fmt.Fprintf(w, "# nothing bounds %s\n", baseline.Visible(a))
	}
	if o.File != "" {
		fmt.Fprintln(w, "# written to", o.File)
		return
	}
	fmt.Fprint(w, o.Rules)
}

func suggestPolicy(c *call) (any, error) {
	file := c.str("out")
	if file != "" && exists(file) {
		return nil, usagef("--out %s exists", file)
	}
	cfg, err := c.config()
	if err != nil {
		return nil, err
	}
	if err := c.folder(cfg.Data); err != nil {
		return nil, err
	}
	out := suggestedOutput{Run: c.str("run"), Open: []string{}}
	calls, err := doneBy(cfg.Data, out.Run, &out.Missing)
	if err != nil {
		return nil, err
	}
	if len(calls) == 0 {
		return nil, fmt.Errorf("%w: no call of that run was let through, or its arguments are not kept", registry.ErrNotFound)
	}
	s, err := advise.Suggest(calls)
	if err != nil {
		return nil, err
	}
	if _, err := policy.Load(s.Text); err != nil {
		return nil, fmt.Errorf("what would be suggested is no rule file: %w", err)
	}
	out.Calls, out.Open = len(calls), append(out.Open, s.Open...)
	if file == "" {
		out.Rules = string(s.Text)
		return out, nil
	}
	out.File = file
	return out, durable.WriteFile(file, s.Text, 0o600)
}

// doneBy are the calls of a run that were let through, with their arguments. missing
// counts those whose arguments are not kept.
func doneBy(data, run string, missing *int) ([]advise.Call, error) {
	var calls []advise.Call
	for r, err := range decisions.Read(data, decisions.Query{Run: run}) {
		if err != nil {
			return nil, err
		}
		e := &r.Entry
		if e.Type != registry.EntryDecision || e.Outcome != "" || e.Verb != policy.Allow.String() || e.Kind == "" {
			continue
		}
		args, err := decisions.ArgsOf(data, &r)
		if errors.Is(err, decisions.ErrReplay) {
			*missing++
			continue
		}
		if err != nil {
			return nil, err
		}
		call := advise.Call{Method: e.Method, Tool: e.Name, Args: args}
		if e.Kind == "template" {
			call.Target = uriOf(args)
		}
		calls = append(calls, call)
	}
	return calls, nil
}

// uriOf is the address in the params of a read.
func uriOf(args []byte) string {
	var p struct {
		URI string `json:"uri"`
	}
	if json.Unmarshal(args, &p) != nil {
		return ""
	}
	return p.URI
}
