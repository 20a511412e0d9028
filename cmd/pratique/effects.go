package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/gateway/surface"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/effects"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/node"
	"github.com/pratique-dev/pratique/registry/state"
)

func effectsNoun() noun {
	return noun{name: "effects", usage: "operator: what tools do, by whose word", verbs: []verb{
		{
			name: "list", usage: "list the accepted tools with what a call counts as",
			about: "By: file, the operator's own; catalogue, a signed entry; rule, our own reading, which of an origin that is not attested knows nothing: unclassified counts as every effect. LOOKS LIKE is what name, schema and claims look like, on which nothing is decided. With --json the digests are those that a file or a catalogue can bind an effect to.",
			flags: surfaceFlags(), out: effectsOutput{}, run: listEffects,
		},
		{
			name: "check", usage: "check the effects file and the catalogues against what was accepted",
			about: "Reads what the configuration names, as a start does, and says of each line whether it speaks of an accepted tool: used; other version; no such tool; no such upstream; behind the file, where another goes before it. `more` are effects that the tool looks like and that the line does not name. Exit code 5 where a line of the file is used for no tool; a catalogue may speak of tools that are not here.",
			flags: surfaceFlags(), out: effectsChecked{}, run: checkEffects,
		},
		{
			name: "sign", usage: "sign a catalogue of what tools do, for others to enroll",
			about: "FILE is in the form of an effects file; each block names an origin or a package, and each tool its digest. The token counts where an operator has the public key in effects.keys.",
			args:  "FILE",
			flags: []*option{
				{name: "key", arg: "FILE", usage: "key file that signs", required: true},
				{name: "key-passphrase-file", arg: "FILE", usage: "private file that holds the passphrase of that key"},
				{name: "life", arg: "TIME", usage: "how long it counts, at most 9600h", kind: duration, def: "2160h"},
				{name: "out", arg: "FILE", usage: "new file for the token"},
			},
			out: effectsSigned{}, run: signEffects,
		},
	}}
}

// effectsOutput are the tools with their effects.
type effectsOutput struct {
	Tools []effectsTool `json:"tools"`
}

type effectsTool struct {
	Upstream string             `json:"upstream" doc:"the upstream's origin"`
	Called   string             `json:"called" doc:"the operator's name for it"`
	Tool     string             `json:"tool"`
	Digest   credentials.Digest `json:"digest"`
	Effect   labels.Effect      `json:"effect" doc:"what a call counts as"`
	By       string             `json:"by" doc:"file, catalogue or rule"`
	Looks    string             `json:"looks,omitzero" doc:"what name, schema and claims look like"`

	looks labels.Effect
}

func (o effectsOutput) show(w io.Writer) {
	rows := [][]string{{"UPSTREAM", "TOOL", "EFFECT", "BY", "LOOKS LIKE"}}
	for _, t := range o.Tools {
		rows = append(rows, []string{t.Called, baseline.Visible(t.Tool), t.Effect.String(), t.By, t.Looks})
	}
	table(w, rows)
}

// effectsSeen are the accepted tools of a folder, and what the settings say.
func (c *call) effectsSeen(act func(s *saidEffects, tools []effectsTool, names map[string]bool) (any, error)) (any, error) {
	cfg, err := c.config()
	if err != nil {
		return nil, err
	}
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	said, err := c.effects(cfg.Effects)
	if err != nil {
		return nil, err
	}
	return c.onSurface(func(n *node.Node, _ string, _ *baseline.Store, bs []*baseline.Baseline, damaged []string) (any, error) {
		if damaged != nil {
			return nil, baseline.ErrDamaged
		}
		v, err := n.Record().View()
		if err != nil {
			return nil, err
		}
		tools, names := []effectsTool{}, map[string]bool{}
		for _, b := range bs {
			called := upstreamName(b.Origin(), cfg.Upstreams)
			names[b.Origin()], names[called] = true, true
			list, err := c.effectsOf(said, b, called, v.View)
			if err != nil {
				return nil, err
			}
			tools = append(tools, list...)
		}
		return act(said, tools, names)
	})
}

func (c *call) effectsOf(said *saidEffects, b *baseline.Baseline, called string, v *state.View) ([]effectsTool, error) {
	at, err := origin.Parse(b.Origin())
	if err != nil {
		return nil, err
	}
	var launch *baseline.Launch
	if l := b.Launch(); l != nil {
		launch = &l.Launch
	}
	known, err := surface.Known(b, surface.Weight{
		Registry: surface.View(at, func() (*state.View, uint64, error) { return v, 0, nil }), Standing: b.LaunchStanding(launch),
		Effect: effectOf(said, b.Origin(), called, c.now), Now: c.now(),
	})
	if err != nil {
		return nil, err
	}
	var out []effectsTool
	for _, e := range known {
		if e.Kind != gate.Tool {
			continue
		}
		by := string(e.EffectBy)
		if e.EffectBy == effects.ByRule {
			by = "rule"
		}
		like := effects.Apparent(jsontext.Value(e.Canonical))
		out = append(out, effectsTool{b.Origin(), called, e.Name, e.Digest, e.Effect, by, looks(like), like})
	}
	return out, nil
}

func listEffects(c *call) (any, error) {
	return c.effectsSeen(func(_ *saidEffects, tools []effectsTool, _ map[string]bool) (any, error) {
		return effectsOutput{tools}, nil
	})
}

// effectsSigned is a new catalogue.
type effectsSigned struct {
	Token   string            `json:"token"`
	File    string            `json:"file,omitzero"`
	Key     credentials.KeyID `json:"key" doc:"that signed it"`
	JWK     jsontext.Value    `json:"jwk" doc:"its public half, for effects.keys"`
	Entries int               `json:"entries"`
	Until   time.Time         `json:"until"`
}

func (o effectsSigned) show(w io.Writer) {
	if o.File == "" {
		fmt.Fprintln(w, o.Token)
		return
	}
	pairs(w, "catalogue", o.File, "key", string(o.Key), "entries", fmt.Sprint(o.Entries), "until", moment(o.Until))
}

func signEffects(c *call) (any, error) {
	if out := c.str("out"); out != "" && exists(out) {
		return nil, usagef("--out %s exists", out)
	}
	raw, err := c.readFile(c.args[0], effects.MaxFileBytes)
	if err != nil {
		return nil, err
	}
	pass, err := c.keyPassphrase()
	if err != nil {
		return nil, err
	}
	key, err := keyring.LoadKeyFile(c.str("key"), pass)
	if err != nil {
		return nil, err
	}
	id, err := ulid.New(ulid.Timestamp(c.now()), rand.Reader)
	if err != nil {
		return nil, err
	}
	tok, err := effects.Sign(raw, key, credentials.TokenID(id.String()), c.now(), c.span("life"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errInput, err)
	}
	k := key.Key()
	opened, err := effects.Open(tok, []envelope.Key{k}, c.now())
	if err != nil {
		return nil, err
	}
	out := effectsSigned{Token: tok, File: c.str("out"), Key: k.ID, JWK: k.JWK(), Entries: len(opened.Lines()), Until: opened.To}
	if out.File != "" {
		return out, writeNew(out.File, []byte(tok+"\n"))
	}
	return out, nil
}
