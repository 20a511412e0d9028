package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/decisions"
	"github.com/pratique-dev/pratique/registry/decisions/replay"
	"github.com/pratique-dev/pratique/registry/node"
)

var (
	errCannotReplay = errors.New("cannot_replay")
	errOtherwise    = errors.New("judged again, the call is decided otherwise")
)

func replayNoun() noun {
	return noun{name: "replay", usage: "judge a recorded call again, without calling anything", verbs: []verb{{
		usage: "judge a recorded call again, without calling anything", args: "ENTRY",
		about: "ENTRY is the id of a call (call_…, the `ref` of a refusal), or the index of its decision, with --spool where there are several. Arguments and policy come from the encrypted vault, the item from the gateway's baseline, each held against its digest; inspector, label rules and policy are those of this program. No upstream is started or asked. Where something is missing the answer is cannot_replay, exit code 4; the recorded answer is never repeated in its place. Decided otherwise: exit code 5.",
		flags: []*option{
			{name: "data", arg: "DIR", usage: "data folder", required: true}, configFlag(), ringPassphraseFlag(),
			{name: "spool", arg: "ID", usage: "spool that an index is in"},
		},
		out: replayOutput{}, run: runReplay,
	}}}
}

// replayOutput is what a replay came to.
type replayOutput struct {
	Call     string         `json:"call" doc:"id of the call"`
	Spool    string         `json:"spool"`
	Index    uint64         `json:"index" doc:"of the decision, in its spool"`
	At       time.Time      `json:"at"`
	Method   string         `json:"method"`
	Upstream string         `json:"upstream"`
	Name     string         `json:"name"`
	Cannot   bool           `json:"cannot_replay" doc:"something is missing; why says what"`
	Why      string         `json:"why,omitzero"`
	Same     bool           `json:"same" doc:"verb, reason, rule, needs and enforcement are the same"`
	Then     *replay.Judged `json:"then,omitzero" doc:"as it was recorded"`
	Now      *replay.Judged `json:"now,omitzero" doc:"as it is judged now"`
}

func (o replayOutput) show(w io.Writer) {
	pairs(w, "call", o.Call, "entry", o.Spool+" "+strconv.FormatUint(o.Index, 10), "at", moment(o.At), "method", o.Method, "upstream", o.Upstream, "name", o.Name)
	if o.Cannot {
		pairs(w, "cannot_replay", o.Why)
		return
	}
	rows := [][]string{{"", "THEN", "NOW"}}
	for _, r := range []struct{ what, then, now string }{
		{"decision", o.Then.Verb, o.Now.Verb}, {"reason", o.Then.Reason, o.Now.Reason}, {"rule", o.Then.Rule, o.Now.Rule},
		{"needs", o.Then.Needs, o.Now.Needs},
		{"enforced", yesNo(o.Then.Enforced), yesNo(o.Now.Enforced)}, {"gate", o.Then.Gate, o.Now.Gate}, {"tier", o.Then.Tier, o.Now.Tier},
		{"content", o.Then.Content, o.Now.Content}, {"effect", o.Then.Effect, o.Now.Effect},
	} {
		rows = append(rows, []string{r.what, r.then, r.now})
	}
	table(w, rows)
	fmt.Fprintf(w, "same: %s\n", yesNo(o.Same))
}

func runReplay(c *call) (any, error) {
	return c.onDecision(func(r *decisions.Record, src replay.Sources, ins quarantine.Inspector) (any, error) {
		e := &r.Entry
		out := replayOutput{Call: e.Call, Spool: r.Spool, Index: r.Index, At: time.UnixMilli(e.At).UTC(), Method: e.Method, Upstream: e.Upstream, Name: e.Name}
		a, err := replay.Of(c, r, src, ins)
		if errors.Is(err, replay.ErrMissing) {
			out.Cannot, out.Why = true, strings.TrimPrefix(err.Error(), replay.ErrMissing.Error()+": ")
			return out, &coded{exitPrecondition, fmt.Errorf("%w: %s", errCannotReplay, out.Why)}
		}
		if err != nil {
			return nil, err
		}
		out.Same, out.Then, out.Now = a.Same, &a.Then, &a.Now
		if !a.Same {
			return out, &coded{exitConflict, errOtherwise}
		}
		return out, nil
	})
}

// onDecision opens what is needed to judge the recorded decision that the argument
// names again.
func (c *call) onDecision(act func(r *decisions.Record, src replay.Sources, ins quarantine.Inspector) (any, error)) (any, error) {
	cfg, err := c.config()
	if err != nil {
		return nil, err
	}
	if err := c.folder(cfg.Data); err != nil {
		return nil, err
	}
	r, err := c.decision(cfg.Data)
	if err != nil {
		return nil, err
	}
	return c.onFolder(func(n *node.Node) (any, error) {
		src, err := c.sources(n, cfg.Data)
		if err != nil {
			return nil, err
		}
		ins, err := c.inspector(cfg.Inspector, c.logger(cfg.Log))
		if err != nil {
			return nil, err
		}
		defer ins.Close()
		return act(r, src, ins)
	})
}

// decision finds the decision that the argument names.
func (c *call) decision(data string) (*decisions.Record, error) {
	q := decisions.Query{Spool: c.str("spool")}
	index, err := strconv.ParseUint(c.args[0], 10, 64)
	byIndex := err == nil
	if !byIndex {
		if !strings.HasPrefix(c.args[0], "call_") {
			return nil, usagef("%q is neither an index nor the id of a call", c.args[0])
		}
		q.Call = c.args[0]
	}
	var found *decisions.Record
	for r, err := range decisions.Read(data, q) {
		if err != nil {
			return nil, err
		}
		if byIndex && r.Index != index || r.Entry.Type != registry.EntryDecision {
			continue
		}
		if found != nil {
			return nil, usagef("several entries are meant; name one with --spool (%s, %s)", found.Spool, r.Spool)
		}
		found = &r
	}
	if found == nil {
		return nil, fmt.Errorf("%w: no decision %s", registry.ErrNotFound, c.args[0])
	}
	return found, nil
}

// sources are the places of a folder that a replay reads.
func (c *call) sources(n *node.Node, data string) (replay.Sources, error) {
	store, err := c.baselines(n, data)
	if err != nil {
		return replay.Sources{}, err
	}
	return replay.Sources{
		Args:   func(r *decisions.Record) ([]byte, error) { return decisions.ArgsOf(data, r) },
		Policy: func(d credentials.Digest) ([]byte, error) { return decisions.PolicyOf(data, d) },
		Item: func(origin, kind string, d credentials.Digest) ([]byte, error) {
			b, err := store.Get(origin)
			if err != nil {
				return nil, err
			}
			if raw := itemOf(b, kind, d); raw != nil {
				return raw, nil
			}
			if raw, err := n.Store().Content(c, d); err == nil { // a registered tool's
				return raw, nil
			}
			return nil, fmt.Errorf("%w: the baseline no longer has the item of this digest", registry.ErrNotFound)
		},
	}, nil
}

// itemOf is an item of a baseline by its digest, accepted or waiting.
func itemOf(b *baseline.Baseline, kind string, d credentials.Digest) []byte {
	for _, i := range b.Items() {
		if string(i.Kind) == kind && i.Digest == d {
			return i.Raw
		}
	}
	for _, p := range b.Waiting() {
		if string(p.Kind) == kind && p.Digest == d {
			return p.Raw
		}
	}
	return nil
}

// errNoFolder says that there is no data folder.
var errNoFolder = errors.New("there is no data folder")

// folder refuses a data folder that is not there, rather than making it or showing it
// empty.
func (c *call) folder(data string) error {
	if !exists(data) {
		return fmt.Errorf("%w: %s", errNoFolder, filepath.Clean(data))
	}
	return nil
}
