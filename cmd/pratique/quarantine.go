package main

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/holds"
	"github.com/pratique-dev/pratique/registry/node"
	"github.com/pratique-dev/pratique/registry/state"
)

func quarantineNoun() noun {
	return noun{name: "quarantine", usage: "operator: what is withheld from agents; look at it, release or condemn it", verbs: []verb{
		{
			name: "list", usage: "list what is withheld, released and condemned",
			about: "Items of upstreams (tools, prompts, …) whose text is not clear, and results and messages that agents did not get, or not whole. States: withheld; released; condemned; ended, whose release was by a key that is no operator's any more. Holds are kept for 30 days and in bounds; how many made room for others is said.",
			flags: quarantineFlags(
				&option{name: "kind", arg: "KIND", usage: "only this kind: tool, prompt, resource, template, instructions, server, result, message"},
				&option{name: "state", arg: "STATE", usage: "only what is in this state"},
				&option{name: "all", kind: toggle, usage: "also the items that are shown, which can be condemned"}),
			out: quarantineOutput{}, run: listQuarantine,
		},
		{
			name: "show", usage: "show one thing whole, and what was found in it",
			about: "All of the text is shown, and nothing of it is obeyed: what does not print (control, invisible and bidirectional characters) is written as an escape, a backslash twice. What was found stands in ⟦category …⟧. With --raw the bytes go to standard output, which must be no terminal: those of a result as they came, an item in its canonical form.",
			flags: quarantineFlags(idFlag(), &option{name: "raw", kind: toggle, usage: "the bytes, into a pipe or file"}),
			out:   heldOutput{}, run: showQuarantine,
		},
		{
			name: "release", usage: "let exactly this through: you have looked at it",
			about: "Signs an act with the operator's key, about this digest of this version of this item or result, which is used once and recorded before it takes effect; running gateways act on it at once. Another digest, version, name, kind or origin is not released. An item that was suspect counts as inspected then, one that was hostile stays suspect: calls of it are asked about. A result goes to agents that call again and get the same. Nobody releases what their own key registered. A release also undoes a condemnation.",
			flags: quarantineFlags(actFlags()...), out: judgedOutput{}, run: releaseQuarantine,
		},
		{
			name: "condemn", usage: "show it to nobody: this version is violated from now on",
			about: "As release, with the contrary effect: for every agent and process, until a release of the same. Of a result, the version of the tool that returned it is condemned with it; a registered tool also in the registry.",
			flags: quarantineFlags(append(actFlags(), &option{name: "reason", arg: "TEXT", usage: "goes on record with a registered tool", def: "quarantine"})...), out: judgedOutput{}, run: condemnQuarantine,
		},
	}}
}

func quarantineFlags(more ...*option) []*option { return surfaceFlags(more...) }

func idFlag() *option {
	return &option{name: "id", arg: "ID", usage: `what it is about, as the list names it ("hold_…", "item_…")`, required: true}
}

func actFlags() []*option {
	return []*option{
		idFlag(),
		{name: "digest", arg: "DIGEST", usage: "only if it has this digest"},
		{name: "key", arg: "FILE", usage: "key file of the operator (default: operator.jwk in the data folder)"},
		{name: "key-passphrase-file", arg: "FILE", usage: "private file that holds the passphrase of that key"},
		yesFlag(),
	}
}

// The states of what is in quarantine.
const (
	stateWithheld  = "withheld"
	stateReleased  = "released"
	stateCondemned = "condemned"
	stateEnded     = "ended" // released, by a key that is no operator's any more
	stateShown     = "shown" // of items: nothing is withheld
)

var quarantineStates = []string{stateWithheld, stateReleased, stateCondemned, stateEnded, stateShown}

// heldThing is one item of an upstream, or one hold. All words of upstreams and
// agents in it are as Visible writes them.
type heldThing struct {
	ID         string                `json:"id"`
	State      string                `json:"state" doc:"withheld, released, condemned, ended, shown"`
	Upstream   string                `json:"upstream" doc:"the upstream's origin"`
	Kind       string                `json:"kind" doc:"tool, prompt, resource, template, instructions, server; result, message"`
	Name       string                `json:"name,omitzero" doc:"of the item; of a result, of the item that was called"`
	Tool       credentials.ToolID    `json:"tool,omitzero"`
	Gen        uint64                `json:"gen,omitzero"`
	Ver        uint64                `json:"ver,omitzero" doc:"of what waits: the version that it would become"`
	Digest     credentials.Digest    `json:"digest"`
	Verdict    string                `json:"verdict,omitzero" doc:"of the inspector"`
	Categories []quarantine.Category `json:"categories,omitzero"`
	Reason     string                `json:"reason,omitzero" doc:"why the agent did not get a result or message, or not whole"`
	Cut        bool                  `json:"cut,omitzero" doc:"the agent got the rest"`
	Agent      credentials.AgentID   `json:"agent,omitzero"`
	Run        string                `json:"run,omitzero"`
	Call       string                `json:"call,omitzero"`
	Size       int64                 `json:"size" doc:"bytes"`
	Kept       bool                  `json:"kept" doc:"the content is there"`
	At         time.Time             `json:"at" doc:"when it was withheld, or accepted"`
	By         credentials.KeyID     `json:"by,omitzero" doc:"the operator's key that released or condemned it"`
	Loose      bool                  `json:"unprotected,omitzero" doc:"that key lay unencrypted"`

	origin  string       // the upstream in its own words
	foreign bool         // the baseline has another version, and says nothing of this one
	key     baseline.Key // of an item
	found   []quarantine.Finding
	raw     []byte      // of an item
	hold    *holds.Hold // of a hold
}

// quarantineOutput is what the folder has.
type quarantineOutput struct {
	Held    []heldThing    `json:"held"`
	Pushed  []holds.Pushed `json:"pushed,omitzero" doc:"how many holds of whom made room for others, or came too fast to be kept"`
	Damaged []string       `json:"damaged,omitzero" doc:"files that are not what was written: nothing is released by them"`
}

func (o quarantineOutput) show(w io.Writer) {
	rows := [][]string{{"ID", "STATE", "KIND", "NAME", "UPSTREAM", "VERDICT", "FOUND", "AT"}}
	for _, t := range o.Held {
		verdict := t.Verdict
		if t.Cut {
			verdict += " (cut)"
		}
		rows = append(rows, []string{t.ID, t.State, t.Kind, t.Name, t.Upstream, verdict, categoriesText(t.Categories), moment(t.At)})
	}
	table(w, rows)
	for _, p := range o.Pushed {
		who := "launches"
		if p.Agent != "" {
			who = string(p.Agent)
		}
		fmt.Fprintf(w, "%d more from %s for %s are not kept: they made room for others, or came too fast; the last at %s\n", p.Count, plain(p.Origin), who, moment(ofMillis(p.Last)))
	}
	for _, d := range o.Damaged {
		fmt.Fprintln(w, "damaged:", plain(d))
	}
}

func categoriesText(cs []quarantine.Category) string {
	var s []string
	for _, c := range cs {
		s = append(s, string(c))
	}
	return strings.Join(s, ", ")
}

// categoriesOf are the categories of findings, each once, worst first.
func categoriesOf(found []quarantine.Finding) (out []quarantine.Category) {
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b quarantine.Finding) int { return int(b.Verdict) - int(a.Verdict) })
	for _, f := range found {
		if !slices.Contains(out, f.Category) {
			out = append(out, f.Category)
		}
	}
	return out
}

// A ward is what quarantine commands work on.
type ward struct {
	n     *node.Node
	data  string
	base  *baseline.Store
	holds *holds.Store
	view  *state.View
}

// registered is the registration of an item, nil where there is none.
func (w *ward) registered(origin string, k baseline.Key) *registry.Tool {
	if k.Kind != baseline.Tool {
		return nil
	}
	t, err := w.view.Named(origin, k.Name)
	if err != nil {
		return nil
	}
	return t
}

// onWard opens the folder: to look at it, or with its decision log to act.
func (c *call) onWard(acting bool, do func(w *ward) (any, error)) (any, error) {
	cfg, err := c.config()
	if err != nil {
		return nil, err
	}
	if err := c.folder(cfg.Data); err != nil {
		return nil, err
	}
	o := node.Options{Now: c.now, Version: buildVersion().Version, Offline: !acting, Quiet: acting}
	n, err := node.Open(c, cfg, o)
	if err != nil {
		return nil, err
	}
	out, err := c.inWard(n, cfg.Data, acting, do)
	return out, errors.Join(err, n.Close())
}

func (c *call) inWard(n *node.Node, data string, acting bool, do func(w *ward) (any, error)) (any, error) {
	v, err := n.Record().View()
	if err != nil {
		return nil, err
	}
	w := &ward{n: n, data: data, view: v.View}
	own := func(origin string, k baseline.Key, key credentials.KeyID) bool {
		t := w.registered(origin, k)
		return t != nil && t.Live && (t.Owner == key || t.Publisher == key)
	}
	if w.base, err = c.baselinesOf(n, data, own); err != nil {
		return nil, err
	}
	var record func(*registry.Entry) error
	if acting {
		log, err := n.Decisions()
		if err != nil {
			return nil, err
		}
		record = log.Note
	}
	if w.holds, err = c.holdsOf(n, data, record); err != nil {
		return nil, err
	}
	return do(w)
}

// holdsOf opens the holds of a node's folder. record has acts in the decision log.
func (c *call) holdsOf(n *node.Node, data string, record func(*registry.Entry) error) (*holds.Store, error) {
	key, err := holds.LoadKey(data)
	if err != nil {
		return nil, err
	}
	return holds.Open(filepath.Join(data, holds.Folder), holds.Options{
		Key: key, Now: c.now, Operators: n.Operators(), Audience: n.LogName(), Unprotected: n.Unprotected, Record: record,
	})
}

func listQuarantine(c *call) (any, error) {
	if s := c.str("state"); s != "" && !slices.Contains(quarantineStates, s) {
		return nil, usagef("--state %s is none of %s", s, strings.Join(quarantineStates, ", "))
	}
	if k := c.str("kind"); k != "" && !baseline.Kind(k).Known() && k != string(quarantine.KindResult) && k != string(quarantine.KindMessage) {
		return nil, usagef("--kind %s is none of the kinds", k)
	}
	return c.onWard(false, func(w *ward) (any, error) {
		things, bad := w.things(c)
		out := quarantineOutput{Held: []heldThing{}}
		for _, t := range things {
			if c.has("kind") && t.Kind != c.str("kind") || c.has("state") && t.State != c.str("state") ||
				t.State == stateShown && !c.is("all") && c.str("state") != stateShown {
				continue
			}
			out.Held = append(out.Held, t)
		}
		pushed, err := w.holds.Pushed()
		if err != nil {
			bad = append(bad, err)
		}
		for _, p := range pushed {
			if !c.has("upstream") || p.Origin == c.str("upstream") || shortOrigin(p.Origin) == c.str("upstream") {
				p.Origin = baseline.Visible(p.Origin)
				out.Pushed = append(out.Pushed, p)
			}
		}
		for _, b := range bad {
			out.Damaged = append(out.Damaged, b.Error())
		}
		return out, errors.Join(bad...)
	})
}

// things are the items and holds of the upstreams that the flags ask for. What is
// damaged is left out, and named.
func (w *ward) things(c *call) (out []heldThing, bad []error) {
	origins, err := w.base.Origins()
	if err != nil {
		bad = append(bad, err)
	}
	slices.Sort(origins)
	for _, o := range origins {
		if !c.wants(o, origins) {
			continue
		}
		b, err := w.base.Get(o)
		if err != nil {
			bad = append(bad, fmt.Errorf("%s: %w", o, err))
			continue
		}
		out = append(out, itemsHeld(b)...)
	}
	if err := w.holds.Err(); err != nil {
		bad = append(bad, err)
	}
	list, err := w.holds.List()
	if err != nil {
		bad = append(bad, err)
	}
	for i := range list {
		h := &list[i]
		if c.wants(h.Origin, append(origins, h.Origin)) {
			out = append(out, w.holdThing(h))
		}
	}
	return out, bad
}

// itemsHeld are the items of an upstream: what waits and is not clear, what was
// released or condemned, and what is shown.
func itemsHeld(b *baseline.Baseline) (out []heldThing) {
	seen := map[string]bool{}
	put := func(t heldThing, k baseline.Key) {
		t.ID = itemID(b.Origin(), k, t.Digest)
		if seen[t.ID] {
			return
		}
		seen[t.ID] = true
		if cond := b.Condemned(k, t.Digest); cond != nil {
			t.State, t.By, t.Loose, t.Gen, t.Ver = stateCondemned, cond.By, cond.Loose, cond.Gen, cond.Ver
		}
		t.Upstream, t.Kind, t.Name, t.key, t.origin = baseline.Visible(b.Origin()), string(k.Kind), baseline.Visible(k.Name), k, b.Origin()
		out = append(out, t)
	}
	for _, p := range b.Waiting() {
		t := heldThing{State: stateWithheld, Digest: p.Digest, Verdict: p.Verdict, Categories: categoriesOf(p.Found), Size: int64(len(p.Raw)), Kept: true, At: ofMillis(p.At), found: p.Found, raw: p.Raw}
		t.Gen, t.Ver = b.Numbers(p.Key, p.Digest)
		if p.Verdict != quarantine.Clear.String() || b.Condemned(p.Key, p.Digest) != nil {
			put(t, p.Key)
		}
	}
	for _, a := range b.Items() {
		t := heldThing{State: stateShown, Tool: a.ID, Gen: a.Gen, Ver: a.Ver, Digest: a.Digest, Verdict: a.Released, Size: int64(len(a.Raw)), Kept: true, At: ofMillis(a.At), raw: a.Raw}
		if a.Released != "" && a.Released != quarantine.Clear.String() {
			if t.State, t.Loose = stateReleased, a.Loose; a.Broken {
				t.State = stateEnded
			}
		}
		if !a.Gone {
			put(t, a.Key)
		}
	}
	for _, cond := range b.Condemnations() { // of what is there no longer
		put(heldThing{Digest: cond.Digest, At: ofMillis(cond.At)}, cond.Key)
	}
	return out
}

// itemID names one digest of one item. It is made of what it names, so that it
// stays the same wherever and whenever it is asked for.
func itemID(origin string, k baseline.Key, d credentials.Digest) string {
	h := sha256.New()
	for _, s := range []string{"pratique/quarantine-item/v1", origin, string(k.Kind), k.Name} {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	h.Write(d[:])
	return "item_" + base32.StdEncoding.EncodeToString(h.Sum(nil))[:26]
}

func (w *ward) holdThing(h *holds.Hold) heldThing {
	t := heldThing{
		ID: h.ID, State: stateWithheld, Upstream: baseline.Visible(h.Origin), Kind: string(h.Kind), Name: baseline.Visible(h.Name),
		Tool: h.Tool, Gen: h.Gen, Ver: h.Ver, Digest: h.Digest, Verdict: h.Verdict.String(), Categories: categoriesOf(h.Findings),
		Reason: baseline.Visible(h.Reason), Cut: h.Cut, Agent: h.Agent, Run: h.Run, Call: h.Call, Size: h.Size, Kept: h.Kept, At: ofMillis(h.At),
		found: h.Findings, hold: h,
	}
	st, err := w.holds.State(h.Subject)
	switch {
	case err != nil: // said once, of all
	case st.Op == holds.OpCondemn:
		t.State, t.By, t.Loose = stateCondemned, st.By, st.Loose
	case st.Op == holds.OpRelease && st.Ended:
		t.State, t.By, t.Loose = stateEnded, st.By, st.Loose
	case st.Op == holds.OpRelease:
		t.State, t.By, t.Loose = stateReleased, st.By, st.Loose
	}
	return t
}

// thing is the one that --id names.
func (w *ward) thing(c *call) (heldThing, error) {
	id := c.str("id")
	if !strings.HasPrefix(id, "hold_") && !strings.HasPrefix(id, "item_") {
		return heldThing{}, usagef(`--id %s is neither "hold_…" nor "item_…"`, id)
	}
	if strings.HasPrefix(id, "hold_") {
		h, err := w.holds.Get(id)
		if err != nil {
			return heldThing{}, err
		}
		return w.holdThing(&h), nil
	}
	things, bad := w.things(c)
	i := slices.IndexFunc(things, func(t heldThing) bool { return t.ID == id })
	if i < 0 {
		return heldThing{}, errors.Join(append(bad, fmt.Errorf("%w: %s", baseline.ErrMissing, id))...)
	}
	return things[i], nil
}
