package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/gateway/mcp/serve"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/node"
)

func guardNoun() noun {
	return noun{name: "guard", usage: "stand between one agent on stdio and one MCP server", verbs: []verb{{
		usage: "stand between one agent on stdio and one MCP server",
		about: "Give it as the command of a client's MCP entry, with the server's own command after `--`, or a remote server's --url. It needs no configuration: the first start makes the data folder, which any number of guards share. " +
			"What the server shows is inspected and pinned at first sight; what is changed, new or withheld afterwards is neither shown nor called until `pratique surface accept`. stdout carries only MCP. Settings come from --config or pratique.yaml in the data folder.",
		rest: "-- CMD ARGS...",
		flags: []*option{
			{name: "data", arg: "DIR", usage: "data folder; default: what the configuration says, the folder of --config, or pratique in the user's data folder"},
			configFlag(),
			{name: "profile", arg: "PROFILE", usage: "personal: cleared, unchanged tools may be called; strict: nothing without a rule; watch: records and enforces nothing (default: personal)"},
			{name: "name", arg: "NAME", usage: "word for this server; its baseline then belongs to the name, so that another command under it is a change (default: from the command line and folder)"},
			{name: "url", arg: "URL", usage: "streamable HTTP endpoint of a remote server, in the place of a command"},
			{name: "header-file", arg: "FILE", usage: `private file of "Name: value" lines that requests to the url carry`},
			{name: "policy", arg: "FILE", usage: "rule file in the place of the profile's own rules"},
			{name: "intent", arg: "FILE", usage: "intent that this launch is sealed to before its first byte is read: what it does not name is denied"},
			{name: "key", arg: "FILE", usage: "key file of the operator, who seals the intent (default: operator.jwk in the data folder)"},
			{name: "key-passphrase-file", arg: "FILE", usage: "private file that holds the passphrase of that key"},
			{name: "passphrase-file", arg: "FILE", usage: "private file; its content encrypts the keys at rest"},
			{name: "log-format", arg: "FORMAT", usage: "text or json"},
			{name: "log-level", arg: "LEVEL", usage: "debug, info, warn or error (default: warn)"},
		},
		run: guard,
	}}}
}

// guard runs until the agent closes its end, or SIGTERM.
func guard(c *call) (any, error) {
	cfg, u, err := c.guarded()
	if err != nil {
		return nil, err
	}
	profile, err := policy.ParseProfile(or1(c.str("profile"), cfg.Profile, string(policy.Personal)))
	if err != nil {
		return nil, usagef("--profile: %v", err)
	}
	plan, err := c.launchPlan()
	if err != nil {
		return nil, err
	}
	if err := makeParents(cfg.Data); err != nil {
		return nil, err
	}
	log := c.logger(cfg.Log)
	ins, err := c.inspector(cfg.Inspector, log)
	if err != nil {
		return nil, err
	}
	defer ins.Close()
	n, err := node.Open(c, cfg, node.Options{Quiet: true, Logger: log, Now: c.now, Version: buildVersion().Version})
	if err != nil {
		return nil, err
	}
	kept, stop := c.keepNode(n)
	end := func() error { stop(); return errors.Join(<-kept, n.Close()) }
	a, err := c.assemble(n, cfg, u, assemblyOptions{
		env: guardEnv(os.Environ()), named: c.has("name"), profile: profile, inspect: ins, notice: c.guardNote,
	})
	if err != nil {
		return nil, errors.Join(err, end())
	}
	c.greet(a, profile)
	if err = a.sealLaunch(plan, u.Name, profile); err == nil {
		err = serve.ServeStdio(c, a.gw, c.in, c.out, serve.Options{Name: u.Name, Log: a.log})
	}
	if errors.Is(err, context.Canceled) && c.Err() != nil {
		err = nil // SIGTERM: drained
	}
	down, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return nil, errors.Join(err, a.close(down), end())
}

// guarded is the configuration with the one upstream of the command line.
func (c *call) guarded() (cfg node.Config, u node.UpstreamConf, err error) {
	if cfg, err = c.config(); err != nil {
		return cfg, u, err
	}
	switch {
	case c.has("url") == c.rest:
		return cfg, u, usagef("either --url, or a command after --")
	case c.has("header-file") && !c.has("url"):
		return cfg, u, usagef("--header-file is for --url")
	case c.has("url"):
		u = node.UpstreamConf{URL: c.str("url"), HeadersFile: c.str("header-file")}
		u.Name = or1(c.str("name"), "remote")
	default:
		u = node.UpstreamConf{Command: c.args}
		u.Name = or1(c.str("name"), baseline.ShortName(c.args))
	}
	cfg.Upstreams = []node.UpstreamConf{u} // those of the file are for up
	if c.has("policy") {
		cfg.Policy = c.str("policy")
	}
	cfg.Profile = or1(c.str("profile"), cfg.Profile)
	if cfg.Log.Level == "" {
		cfg.Log.Level = "warn" // a client shows what we write as errors of the server
	}
	cfg = cfg.WithDefaults()
	return cfg, u, cfg.Check()
}

// or1 is the first text that is not empty.
func or1(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// guardEnv is what the server gets: all that the client gave us, as if it had
// started the server itself, but for what is ours.
func guardEnv(all []string) []string {
	out := []string{}
	for _, e := range all {
		if !strings.HasPrefix(e, "PRATIQUE_") {
			out = append(out, e)
		}
	}
	return out
}

// keepNode runs what a node does by itself.
func (c *call) keepNode(n *node.Node) (<-chan error, context.CancelFunc) {
	ctx, stop := context.WithCancel(context.Background())
	kept := make(chan error, 1)
	go func() { kept <- n.Serve(ctx) }()
	return kept, stop
}

func (c *call) guardNote(format string, args ...any) {
	c.note("pratique: "+format, args...)
}

// greet says what this does and does not do (RULES.md 31).
func (c *call) greet(a *assembly, p policy.Profile) {
	what := map[policy.Profile]string{
		policy.Personal: "stops poisoned, changed and cross-origin flows; does not stop misuse of a cleared tool on its own origin",
		policy.Strict:   "nothing may be called without a rule",
		policy.Watch:    "records and enforces nothing",
	}[p]
	if a.src != nil && p != policy.Watch {
		what = "what no rule of the policy file allows is denied; a cleared tool that is allowed may still be misused on its own origin"
	}
	c.guardNote("guard of %s, profile %s: %s", a.at, p, what)
	b, err := a.base.Get(a.at)
	if err != nil {
		c.guardNote("%v", err)
		return
	}
	if l := a.pin.Load(); l != nil && l.Unpinned && b.LaunchStanding(l) == labels.Unknown {
		c.guardNote("unpinned: the command fetches code without exact version and integrity, so its origin is unknown; to accept that: %s", a.remedy("surface accept", a.at, "--launch"))
	}
	if n := len(b.Waiting()); n > 0 {
		c.guardNote("%s", fmt.Sprintf("held back from before: %d; %s", n, a.remedy("surface diff", a.at)))
	}
}
