package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

func topologyNoun() noun {
	site := func() *option {
		return &option{name: "origin", arg: "ORIGIN", usage: "web origin of the site", required: true}
	}
	return noun{name: "topology", usage: "what sites say about who may publish their tools", verbs: []verb{
		{
			name: "read", usage: "have the registry read a site's topology now",
			about: "Anybody may ask; what counts is what the registry itself finds at the site.",
			flags: actorFlags("whoever asks", site()), out: topologyOutput{}, run: readTopology,
		},
		{name: "show", usage: "show what the registry knows of a site", flags: registryFlags(site()), out: topologyOutput{}, run: showTopology},
		{
			name: "check", usage: "check a topology document before a site serves it", args: "FILE",
			about: "Checks signatures, claims, rows and times as a registry does at the first reading. No network is used.",
			flags: []*option{site()}, out: topologyCheck{}, run: checkTopology,
		},
		{
			name: "condemn", usage: "operator: show nothing of an origin any more",
			flags: actorFlags("the operator", site(), reasonFlag(), yesFlag()), out: topologyOutput{}, run: condemnOrigin,
		},
	}}
}

// topologyOutput is what the registry knows of one origin.
type topologyOutput struct{ registry.TopologyView }

func (o topologyOutput) show(w io.Writer) {
	pairs(w, "origin", o.Origin, "version", strconv.FormatUint(o.Version, 10), "site key", string(o.Site), "expires", moment(o.Expires),
		"condemned", yesNo(o.Condemned), "ledger index", strconv.FormatUint(o.Index, 10), "tools revoked", strconv.Itoa(o.Revoked))
	showRows(w, o.Rows)
}

func showRows(w io.Writer, rows jsontext.Value) {
	if rows != nil {
		r := rows.Clone()
		_ = r.Indent()
		fmt.Fprintf(w, "rows\n%s\n", r)
	}
}

func readTopology(c *call) (any, error) {
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	v, err := a.ReadTopology(ctx, c.str("origin"))
	return or(topologyOutput{v}, err)
}

func showTopology(c *call) (any, error) {
	cl, err := c.client()
	if err != nil {
		return nil, err
	}
	v, err := cl.Topology(c, c.str("origin"))
	return or(topologyOutput{v}, err)
}

func condemnOrigin(c *call) (any, error) {
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	if err := c.sure("Condemn " + c.str("origin") + " and every tool of it?"); err != nil {
		return nil, err
	}
	v, err := a.CondemnOrigin(ctx, c.str("origin"), c.str("reason"))
	return or(topologyOutput{v}, err)
}

// topologyCheck is what topology check found.
type topologyCheck struct {
	OK      bool              `json:"ok"`
	Reason  string            `json:"reason,omitzero" doc:"why a registry would not take it"`
	Origin  string            `json:"origin"`
	Version uint64            `json:"version,omitzero"`
	Site    credentials.KeyID `json:"site,omitzero" doc:"thumbprint of the site key, which registries pin"`
	Expires time.Time         `json:"expires,omitzero"`
	Rows    jsontext.Value    `json:"rows,omitzero"`
}

func (o topologyCheck) show(w io.Writer) {
	pairs(w, "good", yesNo(o.OK), "reason", o.Reason, "origin", o.Origin, "version", strconv.FormatUint(o.Version, 10), "site key", string(o.Site), "expires", moment(o.Expires))
	showRows(w, o.Rows)
}

var errTopology = errors.New("the topology does not hold")

func checkTopology(c *call) (any, error) {
	org, err := origin.Parse(c.str("origin"))
	if err != nil {
		return nil, usagef("--origin: %v", err)
	}
	raw, err := c.readFile(c.args[0], labels.MaxTopology)
	if err != nil {
		return nil, err
	}
	out := topologyCheck{Origin: org.String()}
	t, err := labels.OpenTopology(org, raw, labels.Known{}, c.now())
	if err != nil {
		out.Reason = err.Error()
		return out, &coded{exitRefused, fmt.Errorf("%w: %w", errTopology, err)}
	}
	out.OK, out.Version, out.Site, out.Expires = true, t.Ver, t.Site, t.Expires
	out.Rows, err = t.RowsJSON()
	return or(out, err)
}
