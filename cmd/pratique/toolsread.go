package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry"
)

func toolsReadVerbs() []verb {
	return []verb{
		{
			name: "list", usage: "list tools",
			flags: registryFlags(&option{name: "origin", arg: "ORIGIN", usage: "of this origin"}, &option{name: "owner", arg: "PRINCIPAL", usage: "of this registrant"},
				&option{name: "name", arg: "NAME", usage: "of this name"}, &option{name: "status", arg: "STATUS", usage: "live or revoked"},
				&option{name: "limit", arg: "N", usage: "at most so many; 0: all", kind: number}),
			out: listOutput{}, run: listTools,
		},
		{
			name: "show", usage: "show one tool with its metadata",
			flags: registryFlags(toolFlag(), &option{name: "metadata", arg: "FILE", usage: "also write the metadata here, for labels verify"}),
			out:   toolOutput{}, run: showTool,
		},
		{name: "versions", usage: "list the events of one tool, newest first", flags: registryFlags(toolFlag()), out: registry.VersionList{}, run: listVersions},
	}
}

// toolOutput is one tool.
type toolOutput struct{ registry.ToolView }

func (o toolOutput) show(w io.Writer) {
	pairs(w, "tool", string(o.ID), "name", o.Name, "origin", o.Origin, "owner", string(o.Owner), "status", o.Status,
		"generation", strconv.FormatUint(o.Generation, 10), "version", strconv.FormatUint(o.Version, 10), "digest", o.Digest.String(),
		"attribution", o.Level.String(), "ledger index", strconv.FormatUint(o.Index, 10), "changed", moment(o.Changed))
	if o.Metadata != nil {
		m := o.Metadata.Clone()
		_ = m.Indent()
		fmt.Fprintf(w, "metadata\n%s\n", m)
	}
}

// listOutput are the tools found.
type listOutput struct {
	Tools []registry.ToolView `json:"tools"`
	More  bool                `json:"more" doc:"--limit cut the list"`
}

func (o listOutput) show(w io.Writer) {
	rows := [][]string{{"ID", "NAME", "ORIGIN", "STATUS", "GEN", "VER", "OWNER"}}
	for _, t := range o.Tools {
		rows = append(rows, []string{string(t.ID), t.Name, t.Origin, t.Status, strconv.FormatUint(t.Generation, 10), strconv.FormatUint(t.Version, 10), string(t.Owner)})
	}
	table(w, rows)
	if o.More {
		fmt.Fprintln(w, "… and more (--limit)")
	}
}

func listTools(c *call) (any, error) {
	cl, err := c.client()
	if err != nil {
		return nil, err
	}
	q := client.ToolQuery{Origin: c.str("origin"), Owner: credentials.PrincipalID(c.str("owner")), Name: c.str("name"), Status: c.str("status")}
	switch q.Status {
	case "", "live", "revoked":
	default:
		return nil, usagef("--status wants live or revoked")
	}
	if q.Owner != "" {
		if q.Owner, err = c.principalID("owner"); err != nil {
			return nil, err
		}
	}
	limit := int(c.num("limit"))
	out := listOutput{Tools: []registry.ToolView{}}
	step, end := c.progress("reading", -1)
	defer end()
	for t, err := range cl.Tools(c, q) {
		if err != nil {
			return nil, err
		}
		if limit > 0 && len(out.Tools) == limit {
			out.More = true
			break
		}
		out.Tools = append(out.Tools, t)
		step(1)
	}
	return out, nil
}

func showTool(c *call) (any, error) {
	id, err := c.toolID()
	if err != nil {
		return nil, err
	}
	cl, err := c.client()
	if err != nil {
		return nil, err
	}
	v, err := cl.Tool(c, id)
	if err != nil {
		return nil, err
	}
	if f := c.str("metadata"); f != "" {
		if err := writeNew(f, append([]byte(v.Metadata), '\n')); err != nil {
			return nil, err
		}
	}
	return toolOutput{v}, nil
}

func listVersions(c *call) (any, error) {
	id, err := c.toolID()
	if err != nil {
		return nil, err
	}
	cl, err := c.client()
	if err != nil {
		return nil, err
	}
	out := versionsOutput{registry.VersionList{ID: id, Versions: []registry.VersionView{}}}
	for v, err := range cl.Versions(c, id) {
		if err != nil {
			return nil, err
		}
		out.Versions = append(out.Versions, v)
	}
	return out, nil
}

type versionsOutput struct{ registry.VersionList }

func (o versionsOutput) show(w io.Writer) {
	rows := [][]string{{"INDEX", "AT", "EVENT", "GEN", "VER", "DIGEST"}}
	for _, v := range o.Versions {
		rows = append(rows, []string{strconv.FormatUint(v.Index, 10), moment(v.At), string(v.Event), strconv.FormatUint(v.Generation, 10), strconv.FormatUint(v.Version, 10), v.Digest.String()})
	}
	table(w, rows)
}
