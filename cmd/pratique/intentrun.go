package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"time"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine/intent"
	"github.com/pratique-dev/pratique/registry"
)

// What the agent that is started finds in its environment.
const (
	envURL        = "PRATIQUE_MCP_URL"    // works by itself: the credential is in it
	envCredential = "PRATIQUE_CREDENTIAL" // for clients that send it in a header
)

func runVerb() verb {
	return verb{
		name: "run", usage: "make a credential, seal an intent for it, then start the agent, or print its URL",
		about: "Works on the data folder of a running `pratique up`. The agent's command stands after FILE and `--`; " + envURL + " in its environment is the gateway's URL with the credential in it, " + envCredential +
			" the credential alone, both secrets. When the command ends the credential is revoked. Without a command both are printed, and `agents revoke` ends it. Under the profile strict a person has to approve each call of a tool whose label is not green.",
		args: "FILE", tail: "CMD ARGS...",
		flags: intentFlags(append(lookFlags(),
			&option{name: "registry", arg: "URL", usage: "external URL of the registry; default: that of the configuration, or of `up` without one"},
			&option{name: "name", arg: "NAME", usage: "name of the agent", def: "intent"},
			&option{name: "profile", arg: "PROFILE", usage: "profile of the credential: personal or strict", def: string(policy.Personal)},
			&option{name: "key", arg: "FILE", usage: "key file of the operator (default: operator.jwk in the data folder)"},
			&option{name: "key-passphrase-file", arg: "FILE", usage: "private file that holds the passphrase of that key"},
			timeoutFlag(), yesFlag())...),
		out: startedIntent{}, run: runIntent,
	}
}

// startedIntent is a sealed credential.
type startedIntent struct {
	intentOutput
	URL        string `json:"url,omitzero" doc:"for the agent, with the credential in it: a secret"`
	Credential string `json:"credential,omitzero" doc:"the credential alone: a secret"`
}

func (o startedIntent) show(w io.Writer) {
	o.intentOutput.show(w)
	pairs(w, "url", o.URL, "credential", o.Credential)
}

func runIntent(c *call) (any, error) {
	p, err := c.readPlan(c.args[0])
	if err != nil {
		return nil, err
	}
	profile, err := policy.ParseProfile(c.str("profile"))
	if err != nil || profile == policy.Watch {
		return nil, usagef("--profile: personal or strict; %v", errWatched)
	}
	if p.Agent != "" || p.Launch != "" {
		return nil, usagef("FILE says whose intent it is; `intent run` makes a credential for it")
	}
	var out startedIntent
	var revoke func() error
	_, err = c.onWard(true, func(w *ward) (any, error) {
		out, revoke, err = c.minted(w, p, profile)
		return nil, err
	})
	if err != nil {
		return nil, err
	}
	if len(c.tail) == 0 {
		return out, nil
	}
	c.note("pratique: sealed until %s for agent %s, intent %s", moment(out.Expires), out.Agent, out.Digest)
	return nil, errors.Join(c.agent(c.tail, out), revoke())
}

// minted is a new credential, sealed before anybody else has it. Where that fails the
// credential is revoked.
func (c *call) minted(w *ward, p *intent.Plan, profile policy.Profile) (out startedIntent, revoke func() error, err error) {
	at, err := c.upstreamOf(w, or1(c.str("upstream"), p.Upstream))
	if err != nil {
		return out, nil, err
	}
	known, err := w.known(at)
	if err != nil {
		return out, nil, err
	}
	items, err := resolve(p, at, known)
	if err != nil {
		return out, nil, err
	}
	a, base, err := c.operator(w)
	if err != nil {
		return out, nil, err
	}
	v, err := a.CreateAgent(c, c.str("name"), string(profile))
	if err != nil {
		return out, nil, err
	}
	revoke = func() error { return c.revoke(a, v.ID) }
	s, err := w.n.Runs()
	if err == nil {
		var sealed any
		if sealed, err = c.seal(w, s, &bearer{id: v.ID, name: v.Name, profile: v.Profile}, p, items); err == nil {
			out.intentOutput, out.Credential = sealed.(intentOutput), v.Credential
			out.URL, err = url.JoinPath(base, gatewayPath, v.Credential)
		}
	}
	if err != nil {
		return out, nil, errors.Join(err, revoke())
	}
	return out, revoke, nil
}

// operator is the registry's client with the operator's key, and the registry's URL.
func (c *call) operator(w *ward) (*client.Actor, string, error) {
	at := or1(c.str("registry"), w.n.URL())
	cl, err := client.New(at, &client.Options{Network: client.Network{Timeout: c.span("timeout")}})
	if err != nil {
		return nil, "", usagef("--registry: %v", err)
	}
	key, err := c.operatorKey(w.data)
	if err != nil {
		return nil, "", err
	}
	a, err := cl.As(key)
	return a, at, err
}

// revoke ends the credential, whatever became of the command.
func (c *call) revoke(a *client.Actor, id credentials.AgentID) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Context), 30*time.Second)
	defer cancel()
	if _, err := a.RevokeAgent(ctx, id); err != nil && !errors.Is(err, registry.ErrExists) {
		return fmt.Errorf("the credential of %s is not revoked: %w", id, err)
	}
	return nil
}

// agent runs the command until it ends, or we are told to: it is then asked to end
// first, and gets what we got.
func (c *call) agent(argv []string, o startedIntent) error {
	cmd := exec.CommandContext(c, argv[0], argv[1:]...)
	cmd.Env = append(guardEnv(os.Environ()), envURL+"="+o.URL, envCredential+"="+o.Credential)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.in, c.out, c.err
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended) && ended.ExitCode() > 0:
		return &coded{exit(ended.ExitCode()), fmt.Errorf("the agent ended with exit code %d", ended.ExitCode())}
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return &coded{exitNotFound, err}
	}
	return err
}
