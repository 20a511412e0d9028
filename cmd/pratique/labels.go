package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyset"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/registry"
)

func labelsNoun() noun {
	return noun{name: "labels", usage: "what the registry believes of a tool", verbs: []verb{
		{
			name: "show", usage: "show the label of a tool; nothing is verified by it",
			flags: registryFlags(toolFlag(), &option{name: "out", arg: "FILE", usage: "also write the signed label here, for labels verify"}),
			out:   labelOutput{}, run: showLabel,
		},
		{
			name: "verify", usage: "verify a label offline: no network is used",
			about: "The label must be signed by a key that the root of the key set vouches for, be of exactly this metadata, and, if it is above Red, come with a key set that is fresh. Without --root, --roots or --state the root that the key set itself names is taken, and the output says pinned: false: whoever served the file could have made all of it.",
			flags: append([]*option{
				{name: "label", arg: "FILE", usage: "the label: the token, or what labels show --json printed", required: true},
				{name: "metadata", arg: "FILE", usage: "the tool object that is about to be shown", required: true},
				{name: "keys", arg: "FILE", usage: "the body of /.well-known/jwks.json", required: true},
				{name: "max-stale", arg: "TIME", usage: "how old the key set may be for a label above Red", kind: duration, def: client.DefaultMaxStale.String()},
				{name: "issuer", arg: "URL", usage: "the registry that must have issued it"},
				{name: "tool", arg: "ID", usage: "the tool that it must be of"},
				{name: "origin", arg: "ORIGIN", usage: "the origin that it must be of"},
				{name: "lowered", arg: "FILE", usage: "list of lowered labels (/v1/labels/lowered)"},
			}, trustFlags()...),
			out: verifyOutput{}, run: verifyLabel,
		},
		{
			name: "watch", usage: "follow the changes of labels: one JSON object per line with --json",
			about: "The stream is not signed: it can take a label away, never give one.",
			flags: registryFlags(append(trustFlags(), &option{name: "count", arg: "N", usage: "end after N changes; 0: never", kind: number})...),
			out:   registry.LabelChange{}, run: watchLabels,
		},
	}}
}

// trustFlags say which root key is believed.
func trustFlags() []*option {
	return []*option{
		{name: "root", arg: "THUMBPRINT", usage: "pinned root key", kind: many},
		{name: "roots", arg: "FILE", usage: "file of pinned root keys, a thumbprint per line"},
		{name: "state", arg: "FILE", usage: "what was seen before: records the root at first use, then refuses another, and anything older"},
	}
}

// roots reads the pinned roots.
func (c *call) roots() ([]credentials.KeyID, error) {
	var out []credentials.KeyID
	for _, s := range c.strs("root") {
		k, err := credentials.ParseKeyID(s)
		if err != nil {
			return nil, usagef("--root: %v", err)
		}
		out = append(out, k)
	}
	if f := c.str("roots"); f != "" {
		more, err := client.LoadRoots(f)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// labelOutput is a label as the registry shows it.
type labelOutput struct{ registry.LabelView }

func (o labelOutput) show(w io.Writer) {
	pairs(w, "tier", o.Tier, "standing", o.Standing, "content", o.Content, "tool", string(o.Tool), "name", o.Name, "origin", o.Origin,
		"owner", string(o.Owner), "generation", strconv.FormatUint(o.Generation, 10), "version", strconv.FormatUint(o.Version, 10),
		"digest", o.Digest.String(), "ledger index", strconv.FormatUint(o.Seq, 10), "expires", moment(o.Expires))
}

func showLabel(c *call) (any, error) {
	id, err := c.toolID()
	if err != nil {
		return nil, err
	}
	cl, err := c.client()
	if err != nil {
		return nil, err
	}
	var v registry.LabelView
	if err := c.getJSON(cl.URL()+"/v1/labels/"+string(id), &v); err != nil {
		return nil, err
	}
	if f := c.str("out"); f != "" {
		if err := writeNew(f, []byte(v.Label+"\n")); err != nil {
			return nil, err
		}
	}
	return labelOutput{v}, nil
}

// verifyOutput is what labels verify found. With ok false, reason says why and
// nothing else counts.
type verifyOutput struct {
	OK             bool                    `json:"ok"`
	Reason         string                  `json:"reason,omitzero" doc:"why it does not hold"`
	Tier           string                  `json:"tier,omitzero"`
	Standing       string                  `json:"standing,omitzero"`
	Content        string                  `json:"content,omitzero"`
	Tool           credentials.ToolID      `json:"tool,omitzero"`
	Name           string                  `json:"name,omitzero"`
	Origin         string                  `json:"origin,omitzero"`
	Owner          credentials.PrincipalID `json:"owner,omitzero"`
	Generation     uint64                  `json:"generation,omitzero"`
	Version        uint64                  `json:"version,omitzero"`
	Digest         credentials.Digest      `json:"digest,omitzero"`
	Seq            uint64                  `json:"seq,omitzero" doc:"ledger index of the event that the label follows from"`
	Expires        time.Time               `json:"expires,omitzero"`
	Issuer         string                  `json:"issuer,omitzero" doc:"the registry"`
	Kid            credentials.KeyID       `json:"kid,omitzero" doc:"the key that signed the label"`
	Root           credentials.KeyID       `json:"root,omitzero" doc:"the root key that vouches for it"`
	Pinned         bool                    `json:"pinned" doc:"the root is, or follows from, one that was pinned or recorded; false: the key set vouches for itself"`
	KeysVersion    uint64                  `json:"keysVersion,omitzero"`
	AgeSeconds     int64                   `json:"ageSeconds" doc:"how old the key set's statement of freshness is"`
	MaxStale       int64                   `json:"maxStaleSeconds" doc:"how old it may be"`
	LoweredChecked bool                    `json:"loweredChecked" doc:"the label is not among those lowered since; false: not known"`
}

func (o verifyOutput) show(w io.Writer) {
	if !o.OK {
		pairs(w, "good", "no", "reason", o.Reason)
		return
	}
	pairs(w, "good", "yes", "tier", o.Tier, "standing", o.Standing, "content", o.Content, "tool", string(o.Tool), "name", o.Name,
		"origin", o.Origin, "owner", string(o.Owner), "digest", o.Digest.String(), "expires", moment(o.Expires), "issuer", o.Issuer,
		"root", string(o.Root), "root pinned", yesNo(o.Pinned), "key set is", (time.Duration(o.AgeSeconds)*time.Second).String()+" old",
		"not lowered since", map[bool]string{true: "yes", false: "not known"}[o.LoweredChecked])
}

func verifyLabel(c *call) (any, error) {
	o, pins, state, err := c.offlineOptions()
	if err != nil {
		return nil, err
	}
	label, err := c.token("label", "label")
	if err != nil {
		return nil, err
	}
	metadata, err := c.readFile(c.str("metadata"), 4<<20)
	if err != nil {
		return nil, err
	}
	keys, err := c.readFile(c.str("keys"), 4<<20)
	if err != nil {
		return nil, err
	}
	if len(o.Roots) > 0 || state == nil {
		r, err := client.VerifyOffline(label, metadata, keys, o)
		if err != nil {
			return badLabel(err, o)
		}
		if pins.Ver > r.Version {
			return badLabel(keyset.ErrRollback, o)
		}
		return verified(r), c.record(state, r)
	}
	r, err := client.VerifyOffline(label, metadata, keys, o) // first use: nothing is recorded yet
	if err != nil {
		return badLabel(err, o)
	}
	r.Pinned = true // from now on
	return verified(r), c.record(state, r)
}

// offlineOptions are the flags of labels verify, and what --state holds.
func (c *call) offlineOptions() (o *client.OfflineOptions, pins keyset.Pins, state client.State, err error) {
	o = &client.OfflineOptions{Issuer: c.str("issuer"), MaxStale: c.span("max-stale"), Origin: c.str("origin"), Now: c.now}
	if o.Roots, err = c.roots(); err != nil {
		return o, pins, nil, err
	}
	if c.has("tool") {
		if o.Tool, err = c.toolID(); err != nil {
			return o, pins, nil, err
		}
	}
	if f := c.str("lowered"); f != "" {
		if o.Lowered, err = c.readFile(f, 16<<20); err != nil {
			return o, pins, nil, err
		}
	}
	if f := c.str("state"); f != "" {
		state = client.FileState(f)
		kept, err := state.Load(c)
		if err != nil {
			return o, pins, nil, err
		}
		if pins = kept.Pins; pins.Root != "" {
			o.Roots = []credentials.KeyID{pins.Root}
			if o.Issuer == "" {
				o.Issuer = pins.Iss
			}
		}
	}
	return o, pins, state, nil
}

// record keeps in --state what was seen, so that nothing older is believed.
func (c *call) record(state client.State, r client.Report) error {
	if state == nil {
		return nil
	}
	s := r.Verified.Statement()
	_, err := state.Save(c, client.Kept{
		Pins: keyset.Pins{Iss: r.Issuer, Root: r.Root, Ver: r.Version},
		Seqs: map[credentials.ToolID]uint64{s.Sub: s.Seq},
	})
	return err
}

func badLabel(err error, o *client.OfflineOptions) (any, error) {
	out := verifyOutput{Reason: err.Error(), MaxStale: int64(o.MaxStale / time.Second)}
	if e, ok := errors.AsType[*keyset.StaleError](err); ok {
		out.AgeSeconds = int64(e.Age / time.Second)
	}
	return out, &coded{exitRefused, fmt.Errorf("%w: %w", errBad, err)}
}

func verified(r client.Report) verifyOutput {
	s := r.Verified.Statement()
	return verifyOutput{
		OK: true, Tier: s.Tier.String(), Standing: s.Standing.String(), Content: s.Content.String(), Tool: s.Sub, Name: s.Name,
		Origin: s.Org.String(), Owner: s.Own.Principal(), Generation: s.Gen, Version: s.Ver, Digest: s.Mdg, Seq: s.Seq,
		Expires: time.Unix(s.Exp, 0).UTC(), Issuer: r.Issuer, Kid: r.Kid, Root: r.Root, Pinned: r.Pinned, KeysVersion: r.Version,
		AgeSeconds: int64(r.Age / time.Second), MaxStale: int64(r.MaxStale / time.Second), LoweredChecked: r.LoweredChecked,
	}
}

// token reads a flag that is a token, a file that holds one, or a file that
// holds the JSON that a command printed, with the token in a member.
func (c *call) token(flag, member string) (string, error) {
	s := c.str(flag)
	if !isToken(s) {
		raw, err := c.readFile(s, 1<<20)
		if err != nil {
			return "", err
		}
		s = string(raw)
		if v := jsontext.Value(raw); v.Kind() == '{' {
			if _, err := canon.JSON(raw, canon.Limits{}); err != nil {
				return "", fmt.Errorf("%w: --%s: %w", errInput, flag, err)
			}
			var o map[string]jsontext.Value
			if json.Unmarshal(raw, &o) != nil || json.Unmarshal(o[member], &s) != nil {
				return "", fmt.Errorf("%w: --%s: JSON without a member %q that is a token", errInput, flag, member)
			}
		}
	}
	tok, err := envelope.ParseToken(s)
	if err != nil {
		return "", fmt.Errorf("%w: --%s: %w", errInput, flag, err)
	}
	return tok, nil
}

func watchLabels(c *call) (any, error) {
	roots, err := c.roots()
	if err != nil {
		return nil, err
	}
	trust := client.Trust{Roots: roots}
	switch {
	case c.str("state") != "":
		trust.State = client.FileState(c.str("state"))
	case len(roots) == 0:
		trust.State = &client.MemoryState{}
	}
	l, err := client.NewLabels(c.str("registry"), trust, &client.LabelOptions{KeysOptions: client.KeysOptions{Network: client.Network{Timeout: c.span("timeout")}}})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	ctx, stop := context.WithCancel(c)
	defer stop()
	n, want := uint64(0), c.num("count")
	var bad error
	err = l.Follow(ctx, func(ch registry.LabelChange) {
		if bad == nil {
			bad = c.show(changeOutput{ch})
		}
		if n++; bad != nil || want > 0 && n >= want {
			stop()
		}
	})
	if bad != nil || want > 0 && n >= want || c.Err() != nil {
		return nil, bad
	}
	return nil, err
}

// changeOutput is one change of a label.
type changeOutput struct{ registry.LabelChange }

func (o changeOutput) show(w io.Writer) {
	fmt.Fprintf(w, "%d\t%s\t%s\t%s\n", o.Seq, o.Tier, o.Status, o.Tool)
}
