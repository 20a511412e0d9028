package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/node"
)

func surfaceNoun() noun {
	return noun{name: "surface", usage: "operator: what was accepted of each upstream, and what waits", verbs: []verb{
		{
			name: "list", usage: "list the items of the upstreams with what became of them",
			about: "States: accepted; released, in spite of its text; changed and new wait for `surface accept` and are not shown to agents; withheld ones, whose text is not clear, wait for `quarantine release`; condemned; gone; broken, whose acceptance does not verify.",
			flags: surfaceFlags(), out: surfaceOutput{}, run: listSurface,
		},
		{
			name: "diff", usage: "show what waits, old value beside new",
			about: "Control, invisible and bidirectional characters are written out as escapes. An item's digest is what `surface accept --digest` takes.",
			flags: surfaceFlags(itemFlags()...), out: diffOutput{}, run: diffSurface,
		},
		{
			name: "accept", usage: "accept what waits: exactly what is there now",
			about: "Signs an act with the operator's key. Running gateways act on it at once. A version that comes later is not accepted by it. What is withheld for its text, or condemned, is not accepted but released (`quarantine release`): with --all it is left, and said.",
			flags: surfaceFlags(append(itemFlags(),
				&option{name: "all", kind: toggle, usage: "everything that waits"},
				&option{name: "launch", kind: toggle, usage: "the changed launch, or that the launch fetches code without exact version and integrity"},
				&option{name: "digest", arg: "DIGEST", usage: "accept only if what waits has this digest"},
				&option{name: "key", arg: "FILE", usage: "key file of the operator (default: operator.jwk in the data folder)"},
				&option{name: "key-passphrase-file", arg: "FILE", usage: "private file that holds the passphrase of that key"},
				yesFlag())...),
			out: acceptedSurface{}, run: acceptSurface,
		},
	}}
}

func surfaceFlags(more ...*option) []*option {
	return append([]*option{
		{name: "data", arg: "DIR", usage: "data folder; default: what the configuration says, the folder of --config, or pratique in the user's data folder"}, configFlag(),
		{name: "passphrase-file", arg: "FILE", usage: "private file with the passphrase of the key ring"},
		{name: "upstream", arg: "ORIGIN", usage: "only this upstream: its origin, or its name where that is one upstream's"},
	}, more...)
}

func itemFlags() []*option {
	return []*option{
		{name: "name", arg: "NAME", usage: "only items of this name; a resource's is its URI"},
		{name: "kind", arg: "KIND", usage: "only items of this kind: tool, prompt, resource, template, instructions, server"},
	}
}

// surfaceItem is one item of an upstream.
type surfaceItem struct {
	Upstream    string             `json:"upstream" doc:"the upstream's origin"`
	Kind        baseline.Kind      `json:"kind" doc:"tool, prompt, resource, template, instructions, server; launch"`
	Name        string             `json:"name,omitzero"`
	State       string             `json:"state" doc:"accepted, released, changed, new, withheld, condemned, gone, broken"`
	ID          credentials.ToolID `json:"id,omitzero"`
	Gen         uint64             `json:"gen,omitzero"`
	Ver         uint64             `json:"ver,omitzero"`
	Digest      credentials.Digest `json:"digest" doc:"of what is accepted, or of what waits"`
	By          string             `json:"by,omitzero" doc:"first-sight, operator, registrant, wording"`
	Verdict     string             `json:"verdict,omitzero" doc:"of the inspector, of what waits"`
	Unprotected bool               `json:"unprotected,omitzero" doc:"accepted with a key that lay unencrypted"`
	At          time.Time          `json:"at" doc:"when it was accepted, or seen"`
}

const launchKind baseline.Kind = "launch"

// surfaceOutput are the items of all upstreams.
type surfaceOutput struct {
	Items   []surfaceItem `json:"items"`
	Damaged []string      `json:"damaged,omitzero" doc:"upstreams whose baseline does not read: nothing of them is shown"`
}

func (o surfaceOutput) show(w io.Writer) {
	rows := [][]string{{"UPSTREAM", "KIND", "NAME", "STATE", "BY", "VERSION", "VERDICT", "AT"}}
	for _, i := range o.Items {
		version := ""
		if i.Ver > 0 {
			version = fmt.Sprintf("%d.%d", i.Gen, i.Ver)
		}
		by := i.By
		if i.Unprotected {
			by += " (unprotected)"
		}
		rows = append(rows, []string{i.Upstream, string(i.Kind), baseline.Visible(i.Name), i.State, by, version, i.Verdict, moment(i.At)})
	}
	table(w, rows)
	for _, d := range o.Damaged {
		fmt.Fprintln(w, "damaged:", plain(d))
	}
}

// baselines opens the baselines of a node's folder.
func (c *call) baselines(n *node.Node, data string) (*baseline.Store, error) {
	return c.baselinesOf(n, data, nil)
}

// baselinesOf opens them for whoever releases items, which registrants do not of
// their own.
func (c *call) baselinesOf(n *node.Node, data string, own func(string, baseline.Key, credentials.KeyID) bool) (*baseline.Store, error) {
	return baseline.Open(filepath.Join(data, surfaceFolder), baseline.Options{
		Now: c.now, Acts: n.Operators(), Audience: n.LogName(), Unprotected: n.Unprotected, Sign: n.Seal, Verify: n.Unseal, Own: own,
	})
}

// onSurface opens the folder and reads the baselines that the flags ask for.
func (c *call) onSurface(act func(n *node.Node, data string, s *baseline.Store, bs []*baseline.Baseline, damaged []string) (any, error)) (any, error) {
	cfg, err := c.config()
	if err != nil {
		return nil, err
	}
	return c.onFolder(func(n *node.Node) (any, error) {
		s, err := c.baselines(n, cfg.Data)
		if err != nil {
			return nil, err
		}
		origins, bad := s.Origins()
		var damaged []string
		if bad != nil {
			damaged = append(damaged, bad.Error())
		}
		slices.Sort(origins)
		var bs []*baseline.Baseline
		for _, o := range origins {
			if !c.wants(o, origins) {
				continue
			}
			b, err := s.Get(o)
			if err != nil {
				damaged = append(damaged, o)
				continue
			}
			bs = append(bs, b)
		}
		if c.has("upstream") && len(bs) == 0 && len(damaged) == 0 {
			return nil, &coded{exitNotFound, fmt.Errorf("no upstream %s has been seen", c.str("upstream"))}
		}
		return act(n, cfg.Data, s, bs, damaged)
	})
}

// wants tells whether --upstream means this origin: by its text, or by a name
// that no other shares.
func (c *call) wants(o string, all []string) bool {
	want := c.str("upstream")
	if want == "" || want == o {
		return true
	}
	if slices.Contains(all, want) || shortOrigin(o) != want {
		return false
	}
	n := 0
	for _, x := range all {
		if shortOrigin(x) == want {
			n++
		}
	}
	return n == 1
}

// shortOrigin is the word of a launch's origin that people know.
func shortOrigin(o string) string {
	name, ok := strings.CutPrefix(o, "stdio:")
	if !ok {
		return o
	}
	name, _, _ = strings.Cut(name, "@")
	return name
}

func listSurface(c *call) (any, error) {
	return c.onSurface(func(_ *node.Node, _ string, _ *baseline.Store, bs []*baseline.Baseline, damaged []string) (any, error) {
		out := surfaceOutput{Items: []surfaceItem{}, Damaged: damaged}
		for _, b := range bs {
			out.Items = append(out.Items, itemsOf(b)...)
		}
		if damaged != nil {
			return out, baseline.ErrDamaged
		}
		return out, nil
	})
}

func itemsOf(b *baseline.Baseline) []surfaceItem {
	var out []surfaceItem
	if l := b.Launch(); l != nil {
		i := surfaceItem{Upstream: b.Origin(), Kind: launchKind, State: "accepted", Digest: l.Launch.Digest(), By: l.By, Unprotected: l.Loose, At: ofMillis(l.At)}
		switch {
		case l.Broken:
			i.State = "broken"
		case l.Launch.Unpinned && l.By != baseline.ByOperator:
			i.State = "unpinned"
		}
		out = append(out, i)
	}
	if l := b.NextLaunch(); l != nil {
		out = append(out, surfaceItem{Upstream: b.Origin(), Kind: launchKind, State: "changed", Digest: l.Digest()})
	}
	for _, a := range b.Items() {
		i := surfaceItem{Upstream: b.Origin(), Kind: a.Kind, Name: a.Name, State: "accepted", ID: a.ID, Gen: a.Gen, Ver: a.Ver,
			Digest: a.Digest, By: a.By, Unprotected: a.Loose, At: ofMillis(a.At)}
		switch {
		case a.Gone:
			i.State = "gone"
		case a.Broken:
			i.State = "broken"
		case b.Condemned(a.Key, a.Digest) != nil:
			i.State = "condemned"
		case a.Released != "":
			i.State, i.Verdict = "released", a.Released
		}
		out = append(out, i)
	}
	for _, w := range b.Waiting() {
		out = append(out, surfaceItem{Upstream: b.Origin(), Kind: w.Kind, Name: w.Name, State: waits(b, w), Digest: w.Digest, Verdict: w.Verdict, At: ofMillis(w.At)})
	}
	return out
}

// waits is why an item waits.
func waits(b *baseline.Baseline, w *baseline.Pending) string {
	switch {
	case b.Condemned(w.Key, w.Digest) != nil:
		return "condemned"
	case w.Verdict != "clear":
		return "withheld"
	case b.Accepted(w.Key) == nil:
		return "new"
	}
	return "changed"
}

func ofMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// A waiting is something that an operator can accept, with its old value.
type waiting struct {
	Upstream string             `json:"upstream" doc:"the upstream's origin"`
	Kind     baseline.Kind      `json:"kind"`
	Name     string             `json:"name,omitzero"`
	State    string             `json:"state" doc:"changed, new, withheld, condemned, unpinned"`
	Verdict  string             `json:"verdict,omitzero" doc:"of the inspector"`
	Why      []string           `json:"why,omitzero" doc:"where parts of the item are held against each other: what does not fit"`
	Was      credentials.Digest `json:"was,omitzero" doc:"digest of what is accepted"`
	Digest   credentials.Digest `json:"digest" doc:"of what waits"`
	Changes  []baseline.Change  `json:"changes"`

	base *baseline.Baseline
}

func (w waiting) show(out io.Writer) {
	fmt.Fprintf(out, "%s %s %s: %s", w.Upstream, w.Kind, baseline.Visible(w.Name), w.State)
	if w.Verdict != "" && w.Verdict != "clear" {
		fmt.Fprintf(out, ", the inspector says %s", w.Verdict)
	}
	fmt.Fprintf(out, "\n  digest %s\n", w.Digest)
	for _, y := range w.Why {
		fmt.Fprintf(out, "  %s\n", y)
	}
	for _, c := range w.Changes {
		path := c.Path
		if path == "" {
			path = "(all of it)"
		}
		fmt.Fprintf(out, "  %s %s\n", c.What, path)
		if c.Old != "" {
			fmt.Fprintf(out, "    - %s\n", c.Old)
		}
		if c.New != "" {
			fmt.Fprintf(out, "    + %s\n", c.New)
		}
	}
}

// diffOutput is what waits.
type diffOutput struct {
	Waiting []waiting `json:"waiting"`
	Damaged []string  `json:"damaged,omitzero" doc:"upstreams whose baseline does not read"`
}

func (o diffOutput) show(w io.Writer) {
	for _, x := range o.Waiting {
		x.show(w)
	}
	if len(o.Waiting) == 0 {
		fmt.Fprintln(w, "nothing waits")
	}
	for _, d := range o.Damaged {
		fmt.Fprintln(w, "damaged:", plain(d))
	}
}

func diffSurface(c *call) (any, error) {
	if err := c.checkKind(); err != nil {
		return nil, err
	}
	return c.onSurface(func(_ *node.Node, _ string, _ *baseline.Store, bs []*baseline.Baseline, damaged []string) (any, error) {
		out := diffOutput{Waiting: c.waitingOf(bs, true, true), Damaged: damaged}
		if damaged != nil {
			return out, baseline.ErrDamaged
		}
		return out, nil
	})
}

func (c *call) checkKind() error {
	if k := baseline.Kind(c.str("kind")); k != "" && !k.Known() {
		return usagef("--kind %s is none of the kinds", k)
	}
	return nil
}

// waitingOf is what waits and what the flags ask for.
func (c *call) waitingOf(bs []*baseline.Baseline, items, launches bool) []waiting {
	out := []waiting{}
	named := c.has("name") || c.has("kind")
	for _, b := range bs {
		if w := waitingLaunch(b); w != nil && launches && !named {
			out = append(out, *w)
		}
		for _, p := range b.Waiting() {
			if !items || c.has("name") && p.Name != c.str("name") || c.has("kind") && string(p.Kind) != c.str("kind") {
				continue
			}
			w := waiting{Upstream: b.Origin(), Kind: p.Kind, Name: p.Name, State: waits(b, p), Verdict: p.Verdict, Digest: p.Digest, base: b}
			for _, y := range sentencesOf(gate.Kind(p.Kind), p.Raw, p.Found) {
				if y != "" && !slices.Contains(w.Why, y) {
					w.Why = append(w.Why, y)
				}
			}
			if a := b.Accepted(p.Key); a != nil {
				w.Was = a.Digest
				w.Changes = baseline.Diff(a.Raw, p.Raw)
			} else {
				w.Changes = baseline.Diff(nil, p.Raw)
			}
			out = append(out, w)
		}
	}
	return out
}

func waitingLaunch(b *baseline.Baseline) *waiting {
	l, next := b.Launch(), b.NextLaunch()
	if l == nil {
		return nil
	}
	w := &waiting{Upstream: b.Origin(), Kind: launchKind, Was: l.Launch.Digest(), base: b}
	switch {
	case next != nil:
		w.State, w.Digest, w.Changes = "changed", next.Digest(), baseline.Diff(l.Launch.JSON(), next.JSON())
	case l.Launch.Unpinned && l.By != baseline.ByOperator:
		w.State, w.Digest, w.Changes = "unpinned", l.Launch.Digest(), baseline.Diff(nil, l.Launch.JSON())
	default:
		return nil
	}
	return w
}
