package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels/observe"
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
			about: "All of the text is shown, and nothing of it is obeyed: what does not print (control, invisible and bidirectional characters) is written as an escape, a backslash twice. What was found stands in ⟦category …⟧. Of more than 4 MiB it is said how much is left out; texts with findings come first. With --raw the bytes go to standard output, which must be no terminal: those of a result as they came, an item in its canonical form.",
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
	Conduct    string                `json:"conduct,omitzero" doc:"what was observed of an accepted version comes to: violated, suspect"`
	Method     string                `json:"method,omitzero" doc:"of the request that was answered, or of the message: a release is for no other"`
	Signs      []observe.Sign        `json:"signs,omitzero" doc:"what was observed"`
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
		if t.Conduct != "" {
			verdict = strings.TrimSpace(verdict + " conduct " + t.Conduct)
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
	now   func() time.Time
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
	w := &ward{n: n, data: data, view: v.View, now: c.now}
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
