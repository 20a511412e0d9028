package main

import (
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/runs"
)

func agentsNoun() noun {
	return noun{name: "agents", usage: "operator: credentials of agents", verbs: []verb{
		{
			name: "new", usage: "issue a credential for one agent, bound to one profile",
			flags: actorFlags("the operator", &option{name: "name", arg: "NAME", usage: "name of the agent", required: true},
				&option{name: "profile", arg: "PROFILE", usage: "profile that it is bound to: watch, personal or strict", required: true},
				&option{name: "out", arg: "FILE", usage: "new file for the credential, which is then not printed"}),
			out: agentOutput{}, run: newAgent,
		},
		{name: "list", usage: "list the agents", flags: actorFlags("the operator"), out: agentsOutput{}, run: listAgents},
		{
			name: "revoke", usage: "end an agent's credential",
			flags: actorFlags("the operator", &option{name: "id", arg: "AGENT", usage: `agent ("agt_...")`, required: true}),
			out:   agentOutput{}, run: revokeAgent,
		},
		{
			name: "end", usage: "end an agent's run: what hangs on it is forgotten, and its next request begins another",
			about: "Works on the data folder. Gateways that are running act on it at once; the credential stays good.",
			flags: []*option{
				{name: "data", arg: "DIR", usage: "data folder; default: what the configuration says, the folder of --config, or pratique in the user's data folder"}, configFlag(),
				{name: "id", arg: "AGENT", usage: `agent ("agt_...")`, required: true}, reasonFlag(),
			},
			out: endedRun{}, run: endRun,
		},
	}}
}

// agentOutput is one agent; the credential is in it once, when it was issued.
type agentOutput struct {
	registry.AgentView
	File string `json:"file,omitzero" doc:"the file that holds the credential"`
}

func (o agentOutput) show(w io.Writer) {
	pairs(w, "agent", string(o.ID), "name", o.Name, "profile", o.Profile, "credential", o.Credential, "file", o.File)
}

func newAgent(c *call) (any, error) {
	if _, err := policy.ParseProfile(c.str("profile")); err != nil {
		return nil, usagef("--profile: %v", err)
	}
	file := c.str("out")
	if file != "" && exists(file) {
		return nil, usagef("--out %s exists", file)
	}
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	v, err := a.CreateAgent(ctx, c.str("name"), c.str("profile"))
	if err != nil {
		return nil, err
	}
	out := agentOutput{v, file}
	if file != "" {
		if err := durable.WriteFile(file, []byte(v.Credential+"\n"), 0o600); err != nil {
			return nil, err
		}
		out.Credential = ""
	}
	return out, nil
}

// agentsOutput are the agents, without their credentials.
type agentsOutput struct{ registry.AgentList }

func (o agentsOutput) show(w io.Writer) {
	rows := [][]string{{"ID", "NAME", "PROFILE", "CREATED", "REVOKED"}}
	for _, a := range o.Agents {
		rows = append(rows, []string{string(a.ID), a.Name, a.Profile, moment(a.Created), yesNo(a.Revoked)})
	}
	table(w, rows)
}

func listAgents(c *call) (any, error) {
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	list, err := a.Agents(ctx)
	if list == nil {
		list = []registry.AgentView{}
	}
	return or(agentsOutput{registry.AgentList{Agents: list}}, err)
}

func revokeAgent(c *call) (any, error) {
	id, err := credentials.ParseAgentID(c.str("id"))
	if err != nil {
		return nil, usagef("--id: %v", err)
	}
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	v, err := a.RevokeAgent(ctx, id)
	return or(agentOutput{AgentView: v}, err)
}

// endedRun says whose run has ended.
type endedRun struct {
	ID credentials.AgentID `json:"id"`
}

func endRun(c *call) (any, error) {
	id, err := credentials.ParseAgentID(c.str("id"))
	if err != nil {
		return nil, usagef("--id: %v", err)
	}
	cfg, err := c.config()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(cfg.Data, runsFolder)
	if !exists(dir) {
		return nil, fmt.Errorf("%s: %w", dir, fs.ErrNotExist)
	}
	s, err := runs.Open(dir, runs.Options{Now: c.now})
	if err != nil {
		return nil, err
	}
	return endedRun{id}, s.End(id, c.str("reason"))
}
