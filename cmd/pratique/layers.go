package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
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
	a.sitePolicy = u.Policy
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

// errNotKept says that rules cannot be on record.
var errNotKept = errors.New("the rules as they are now cannot be kept for replay, and nothing is called until they are")

// unkept decides while new rules cannot be kept: nothing is called (DESIGN.md §15). The
// rules of before would leave open what the new ones close, and what the new ones let
// through nobody could judge again.
var unkept = sync.OnceValue(func() policy.Policy {
	r, err := policy.Load([]byte("rules:\n- {name: rules-not-kept, never: [\"*\"], say: The rules were changed and cannot be kept on record. Nothing is called until they are.}\n"))
	if err != nil {
		return policy.Strictest() // which refuses everything
	}
	return policy.Of(r)
})

// A ruleFile is a file with where it lies; nil: there is none.
type ruleFile struct {
	path string
	*policy.Source
}

// A reloading takes changed rule files over. It belongs to one goroutine.
type reloading struct {
	files []ruleFile
	made  func() policy.Policy
	keep  func(policy.Policy) error
	use   func(policy.Policy)
	due   bool // what the files say is not in force yet
	shut  bool // nothing is called
}

// look reads the files again. Rules that were found are due until they are in force: what
// keeps them from that is tried again at each look. A file that is not right changes
// nothing.
func (r *reloading) look() (taken bool, err error) {
	for _, f := range r.files {
		if f.Source == nil {
			continue
		}
		changed, e := f.Renew()
		if r.due = r.due || changed; e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", f.path, e))
		}
	}
	if !r.due {
		return false, err
	}
	p := r.made()
	if e := r.keep(p); e != nil {
		if !r.shut {
			r.use(unkept())
		}
		r.shut = true
		return false, errors.Join(err, fmt.Errorf("%w: %w", errNotKept, e))
	}
	r.use(p)
	r.due, r.shut = false, false
	return true, err
}

// watchPolicy takes changed rule files over, and says once what keeps one from it.
func (a *assembly) watchPolicy(ctx context.Context) {
	r := &reloading{files: []ruleFile{{a.cfg.Policy, a.src}, {a.sitePolicy, a.ofOrigin}}, made: func() policy.Policy { return a.layers().Policy() }, keep: a.keepRules,
		use: func(p policy.Policy) { a.gw.Reload(gateway.Reload{Policy: p}) }}
	t := time.NewTicker(policyEvery)
	defer t.Stop()
	said := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		taken, err := r.look()
		if taken {
			a.log.Info("the policy was read again", "digest", a.layers().Policy().Digest())
		}
		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != said && text != "" {
			what := "a policy file was not taken over; the last good one decides"
			if errors.Is(err, errNotKept) {
				what = "a policy file was not taken over; nothing is called until it is"
			}
			a.log.Error(what, "err", text)
		}
		said = text
	}
}
