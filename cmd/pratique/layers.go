package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry/node"
)

// readPolicies opens the rule files: that of all, and that of the upstream. A file
// that is not there, or not right, stops the start.
func (a *assembly) readPolicies(u node.UpstreamConf) (policy.Policy, error) {
	for _, f := range []struct {
		path string
		src  **policy.Source
	}{{a.cfg.Policy, &a.src}, {u.Policy, &a.ofOrigin}} {
		if f.path == "" {
			continue
		}
		src, err := policy.OpenSource(f.path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
		*f.src = src
	}
	return a.layers().Policy(), nil
}

// ownFiles are the files that decide what agents may do, or hold a secret of ours,
// wherever they lie: no agent may name them (RULES.md 13).
func (c *call) ownFiles(cfg node.Config, u node.UpstreamConf) (files []string) {
	all := []string{c.str("config"), c.str("intent"), c.str("key"), c.str("key-passphrase-file"), cfg.Passphrase, cfg.Policy, u.Policy, u.HeadersFile,
		cfg.Effects.File, cfg.Inspector.Model.KeyFile}
	all = append(append(all, cfg.Effects.Keys...), cfg.Effects.Catalogues...)
	for _, f := range all {
		if f != "" && f != "-" {
			files = append(files, absolute(f))
		}
	}
	return files
}

// layers are the last good rules of all files. No file: the profiles.
func (a *assembly) layers() (l policy.Layers) {
	if a.src != nil {
		l.Organisation = a.src.Rules()
	}
	if a.ofOrigin != nil {
		l.Origin = a.ofOrigin.Rules()
	}
	return l
}

// keepRules keeps the text of a policy for replay, by each digest under which entries
// name it.
func (a *assembly) keepRules(p policy.Policy) error {
	if p.Digest() == policy.Of(nil).Digest() {
		return nil // the profiles alone, which need no text
	}
	text := policy.Text(p)
	err := a.past.KeepPolicy(p.Digest(), text)
	for _, profile := range []policy.Profile{policy.Watch, policy.Personal, policy.Strict} {
		if d := p.Decide(policy.Facts{Profile: profile}).Policy(); d != p.Digest() {
			err = errors.Join(err, a.past.KeepPolicy(d, text))
		}
	}
	return err
}

// watchPolicy takes changed rule files over. One that is not right changes nothing
// and is said once.
func (a *assembly) watchPolicy(ctx context.Context) {
	t := time.NewTicker(policyEvery)
	defer t.Stop()
	said := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		text := ""
		if err := a.reloadPolicies(); err != nil {
			text = err.Error()
		}
		if text != said && text != "" {
			a.log.Error("a policy file was not taken over; the last good one decides", "err", text)
		}
		said = text
	}
}

func (a *assembly) reloadPolicies() (err error) {
	moved := false
	for _, src := range []*policy.Source{a.src, a.ofOrigin} {
		if src != nil {
			changed, e := src.Renew()
			moved, err = moved || changed, errors.Join(err, e)
		}
	}
	if !moved {
		return err
	}
	p := a.layers().Policy()
	if e := a.keepRules(p); e != nil {
		return errors.Join(err, e)
	}
	a.gw.Reload(gateway.Reload{Policy: p})
	a.log.Info("the policy was read again", "digest", p.Digest())
	return err
}
