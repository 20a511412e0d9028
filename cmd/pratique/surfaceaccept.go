package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/node"
)

// acceptedSurface says what was accepted.
type acceptedSurface struct {
	Accepted []waiting `json:"accepted"`
	Left     []waiting `json:"left,omitzero" doc:"with --all: withheld or condemned, and for quarantine release"`
}

func (o acceptedSurface) show(w io.Writer) {
	for _, x := range o.Accepted {
		fmt.Fprintf(w, "accepted %s %s %s\n", x.Upstream, x.Kind, baseline.Visible(x.Name))
	}
	for _, x := range o.Left {
		fmt.Fprintf(w, "left %s %s %s: it is %s, see pratique quarantine list\n", x.Upstream, x.Kind, baseline.Visible(x.Name), x.State)
	}
}

func acceptSurface(c *call) (any, error) {
	switch {
	case c.is("launch") && (c.is("all") || c.has("name") || c.has("kind")):
		return nil, usagef("--launch excludes --all, --name and --kind")
	case !c.is("launch") && !c.is("all") && !c.has("name") && !c.has("kind"):
		return nil, usagef("one of --name, --kind, --all, --launch is needed")
	}
	if err := c.checkKind(); err != nil {
		return nil, err
	}
	return c.onSurface(func(n *node.Node, data string, s *baseline.Store, bs []*baseline.Baseline, damaged []string) (any, error) {
		if damaged != nil {
			return nil, fmt.Errorf("%w: %s", baseline.ErrDamaged, strings.Join(damaged, ", "))
		}
		what := c.waitingOf(bs, !c.is("launch"), c.is("launch"))
		if c.has("digest") {
			want, err := credentials.ParseDigest(c.str("digest"))
			if err != nil {
				return nil, usagef("--digest: %v", err)
			}
			what = slices.DeleteFunc(what, func(w waiting) bool { return w.Digest != want })
		}
		if len(what) == 0 {
			return nil, baseline.ErrMissing
		}
		var left []waiting
		if c.is("all") {
			what, left = apart(what)
		}
		if err := c.review(what); err != nil {
			return nil, err
		}
		key, err := c.operatorKey(data)
		if err != nil {
			return nil, err
		}
		return c.acceptAll(s, key, what, left)
	})
}

// apart tells what can be accepted from what is for a release to let through.
func apart(all []waiting) (what, left []waiting) {
	for _, w := range all {
		if w.State == "withheld" || w.State == "condemned" {
			left = append(left, w)
		} else {
			what = append(what, w)
		}
	}
	return what, left
}

// review shows a person what is about to be accepted, and asks.
func (c *call) review(what []waiting) error {
	if c.is("yes") || !c.terminal || c.json {
		return nil
	}
	for _, w := range what {
		var b strings.Builder
		w.show(&b)
		fmt.Fprint(c.err, plainLines(b.String()))
	}
	return c.sureIfPerson("Accept this?")
}

func (c *call) operatorKey(data string) (*keyring.Private, error) {
	file := c.str("key")
	if file == "" {
		file = filepath.Join(data, "operator.jwk")
	}
	pass, err := c.keyPassphrase()
	if err != nil {
		return nil, err
	}
	if !c.has("key-passphrase-file") && !c.has("key") { // encrypted with the ring's passphrase at the first start
		if pass, err = c.passphrase(); err != nil {
			return nil, err
		}
	}
	return keyring.LoadKeyFile(file, pass)
}

// acceptAll signs and files an act for each. The first that fails ends it; what
// was accepted before stands, and is in the answer.
func (c *call) acceptAll(s *baseline.Store, key *keyring.Private, what, left []waiting) (any, error) {
	signer, err := envelope.NewSigner(envelope.OperatorAct, key)
	if err != nil {
		return nil, err
	}
	out := acceptedSurface{Accepted: []waiting{}, Left: left}
	ctx, cancel := context.WithTimeout(c, 30*time.Second)
	defer cancel()
	byOrigin := map[string][]waiting{}
	for _, w := range what {
		byOrigin[w.Upstream] = append(byOrigin[w.Upstream], w)
	}
	for _, ws := range byOrigin {
		_, err := s.Update(ctx, ws[0].Upstream, func(d *baseline.Draft) error {
			for _, w := range ws {
				if err := acceptOne(s, signer, d, w, !key.Protected()); err != nil {
					return fmt.Errorf("%s %s %s: %w", w.Upstream, w.Kind, w.Name, err)
				}
			}
			return nil
		})
		if err != nil {
			return out, err
		}
		out.Accepted = append(out.Accepted, ws...)
	}
	return out, nil
}

func acceptOne(s *baseline.Store, signer *envelope.Signer, d *baseline.Draft, w waiting, loose bool) error {
	if w.Kind == launchKind {
		act, err := s.SignLaunch(signer, w.base, loose)
		if err != nil {
			return err
		}
		return d.AcceptLaunch(act)
	}
	act, err := s.SignAct(signer, w.base, baseline.Key{Kind: w.Kind, Name: w.Name}, loose)
	if err != nil {
		return err
	}
	_, err = d.Accept(act)
	return err
}
