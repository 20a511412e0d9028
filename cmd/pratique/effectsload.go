package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/effects"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry/node"
)

// saidEffects is what the operator's settings say of what tools do.
type saidEffects struct {
	*effects.Table
	file       *effects.File // nil: none
	catalogues []namedCatalogue
}

type namedCatalogue struct {
	path string
	*effects.Catalogue
}

// effects reads what the settings name. What is not right, expired, or signed by a
// key that is not enrolled is an error that names the file: nothing is left out in
// silence.
func (c *call) effects(cfg node.EffectsConf) (*saidEffects, error) {
	s := &saidEffects{}
	if cfg.File != "" {
		raw, err := c.readFile(cfg.File, effects.MaxFileBytes)
		if err != nil {
			return nil, err
		}
		if s.file, err = effects.ParseFile(raw); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", errInput, cfg.File, err)
		}
	}
	var keys []envelope.Key
	for _, path := range cfg.Keys {
		raw, err := c.publicKey(path)
		if err != nil {
			return nil, err
		}
		k, err := envelope.ParseJWK(raw)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", errInput, path, err)
		}
		keys = append(keys, k)
	}
	var list []*effects.Catalogue
	for _, path := range cfg.Catalogues {
		raw, err := c.readFile(path, envelope.MaxListToken+1024)
		if err != nil {
			return nil, err
		}
		tok, err := envelope.ParseToken(string(raw))
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", errInput, path, err)
		}
		x, err := effects.Open(tok, keys, c.now())
		if err != nil {
			return nil, &coded{exitRefused, fmt.Errorf("%s: %w", path, err)}
		}
		s.catalogues, list = append(s.catalogues, namedCatalogue{path, x}), append(list, x)
	}
	s.Table = effects.NewTable(s.file, list...)
	return s, nil
}

// effectOf judges the tools of one upstream.
func effectOf(s *saidEffects, at, upstream string, now func() time.Time) func(*gate.Entry) labels.Effect {
	return func(e *gate.Entry) (is labels.Effect) {
		x := effects.Tool{Origin: at, Upstream: upstream, Name: e.Name, Digest: e.Digest}
		is, e.EffectBy = s.Judge(x, e.Standing, e.Canonical, now())
		return is
	}
}

// upstreamName is the operator's name for an upstream of which only the origin is at
// hand.
func upstreamName(at string, ups []node.UpstreamConf) string {
	for _, u := range ups {
		if u.URL == "" {
			continue
		}
		if o, err := origin.Parse(u.URL); err == nil && o.String() == at {
			return u.Name
		}
	}
	return shortOrigin(at)
}

var errNoEffects = errors.New("the configuration names no effects: effects.file, effects.catalogues")

// looks is an effect as people compare it with what is said: "" where it looks like
// nothing known.
func looks(e labels.Effect) string {
	if e == labels.Unclassified {
		return ""
	}
	return e.String()
}

// more are the effects that a tool looks like and that are not said of it.
func more(said, looks labels.Effect) string {
	if said == labels.Unclassified || looks&^said == labels.Unclassified {
		return ""
	}
	return strings.TrimSpace((looks &^ said).String())
}
