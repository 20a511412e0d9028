package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/node"
	"github.com/pratique-dev/pratique/registry/runs"
)

func runsNoun() noun {
	return noun{name: "runs", usage: "operator: what agents' runs hold, and what of it was withdrawn", verbs: []verb{
		{
			name: "list", usage: "list the runs that go on",
			about: "Of launches, only those are listed that are sealed by an intent, or that hold something withdrawn, or did; `ledger show --data` names those that have ended. A run whose context is worst may call nothing without a person: what it holds was withdrawn.",
			flags: runsFlags(), out: runsOutput{}, run: listRuns,
		},
		{
			name: "show", usage: "show what a run holds results of, and which were withdrawn",
			flags: runsFlags(runFlag()), out: runOutput{}, run: showRun,
		},
		{
			name: "clear", usage: "take withdrawn results out of a run's context: a person has seen to it",
			about: "Signs an act with the operator's key, about what is withdrawn now. Gateways that are running put it on record and act on it within seconds. Clear what the agent no longer has, or what you have looked at: from then on it may call again as its profile and rules say. `agents end` begins another run in its place.",
			flags: runsFlags(runFlag(),
				&option{name: "result", arg: "ID", usage: "only these results (\"res_...\")", kind: many},
				&option{name: "key", arg: "FILE", usage: "key file of the operator (default: operator.jwk in the data folder)"},
				&option{name: "key-passphrase-file", arg: "FILE", usage: "private file that holds the passphrase of that key"},
				yesFlag()),
			out: clearedRun{}, run: clearRun,
		},
	}}
}

func runsFlags(more ...*option) []*option {
	return append([]*option{
		{name: "data", arg: "DIR", usage: "data folder; default: what the configuration says, the folder of --config, or pratique in the user's data folder"}, configFlag(),
		{name: "passphrase-file", arg: "FILE", usage: "private file with the passphrase of the key ring"},
	}, more...)
}

func runFlag() *option {
	return &option{name: "id", arg: "RUN", usage: `run ("run_...")`, required: true}
}

// onRuns opens the folder and the runs in it.
func (c *call) onRuns(act func(n *node.Node, data string, s *runs.Store) (any, error)) (any, error) {
	cfg, err := c.config()
	if err != nil {
		return nil, err
	}
	return c.onFolder(func(n *node.Node) (any, error) {
		s, err := n.Runs()
		if err != nil {
			return nil, err
		}
		return act(n, cfg.Data, s)
	})
}

// runRow is one run.
type runRow struct {
	ID        string              `json:"id"`
	Agent     credentials.AgentID `json:"agent"`
	Profile   string              `json:"profile"`
	Launch    bool                `json:"launch,omitzero" doc:"of a launch on stdio, which has no credential"`
	Began     time.Time           `json:"began"`
	Context   string              `json:"context" doc:"what it has read: worst, untrusted, clean"`
	Sources   int                 `json:"sources" doc:"tools, prompts and upstreams whose results it holds"`
	Withdrawn int                 `json:"withdrawn" doc:"how many of them have withdrawn results in its context"`
}

type runsOutput struct {
	Runs    []runRow `json:"runs"`
	Damaged string   `json:"damaged,omitzero" doc:"runs whose file does not read: nothing is called in them"`
}

func (o runsOutput) show(w io.Writer) {
	rows := [][]string{{"RUN", "AGENT", "PROFILE", "BEGAN", "CONTEXT", "SOURCES", "WITHDRAWN"}}
	for _, r := range o.Runs {
		agent := string(r.Agent)
		if r.Launch {
			agent = "launch"
		}
		rows = append(rows, []string{r.ID, agent, r.Profile, moment(r.Began), r.Context, strconv.Itoa(r.Sources), strconv.Itoa(r.Withdrawn)})
	}
	table(w, rows)
	if o.Damaged != "" {
		fmt.Fprintln(w, "damaged:", plain(o.Damaged))
	}
}

func lineOf(r *runs.Run, v *runs.View) runRow {
	i := v.Info()
	context := v.Context("")
	if context == policy.Own {
		context = policy.Untrusted // which upstream it is seen from is not asked here
	}
	return runRow{ID: r.ID(), Agent: r.Agent(), Profile: i.Profile, Launch: r.Launched(), Began: i.Began, Context: context.String(),
		Sources: len(v.Sources()), Withdrawn: len(v.Withdrawn())}
}

func listRuns(c *call) (any, error) {
	return c.onRuns(func(_ *node.Node, _ string, s *runs.Store) (any, error) {
		all, err := s.All()
		out := runsOutput{Runs: []runRow{}}
		for _, r := range all {
			if v, err := r.Look(); err == nil {
				out.Runs = append(out.Runs, lineOf(r, v))
			}
		}
		if err != nil {
			out.Damaged = err.Error()
		}
		return out, err
	})
}

// heldSource is a source that a run holds results of.
type heldSource struct {
	Origin  string             `json:"origin"`
	Kind    string             `json:"kind,omitzero" doc:"tool, prompt, resource; empty: messages outside of calls"`
	Name    string             `json:"name,omitzero"`
	Tool    credentials.ToolID `json:"tool,omitzero"`
	Gen     uint64             `json:"gen,omitzero"`
	Ver     uint64             `json:"ver,omitzero"`
	Since   time.Time          `json:"since"`
	State   string             `json:"state" doc:"held; ended: found clear again; withdrawn; cleared"`
	Why     string             `json:"why,omitzero" doc:"revoked, condemned, violated, item_gone, server_gone"`
	Ended   time.Time          `json:"ended,omitzero"`
	Results []string           `json:"results,omitzero" doc:"withdrawn results in the run's context"`
	More    bool               `json:"more,omitzero" doc:"there may be withdrawn results whose ids are not known"`
}

type runOutput struct {
	runRow
	Held []heldSource `json:"held"`
}

func (o runOutput) show(w io.Writer) {
	pairs(w, "run", o.ID, "agent", string(o.Agent), "profile", o.Profile, "began", moment(o.Began), "context", o.Context)
	rows := [][]string{{"STATE", "WHY", "SINCE", "UPSTREAM", "KIND", "NAME", "VERSION"}}
	for _, h := range o.Held {
		version := ""
		if h.Ver > 0 {
			version = fmt.Sprintf("%d.%d", h.Gen, h.Ver)
		}
		rows = append(rows, []string{h.State, h.Why, moment(h.Since), h.Origin, h.Kind, baseline.Visible(h.Name), version})
	}
	table(w, rows)
	for _, h := range o.Held {
		if len(h.Results) > 0 {
			fmt.Fprintf(w, "withdrawn of %s: %s\n", baseline.Visible(h.Name), strings.Join(h.Results, " "))
		}
		if h.More {
			fmt.Fprintf(w, "of %s there may be further results whose ids are not known\n", baseline.Visible(h.Name))
		}
	}
}

// found is the run that --id names.
func (c *call) found(s *runs.Store) (*runs.Run, *runs.View, error) {
	r, err := s.Find(c.str("id"))
	if err != nil {
		return nil, nil, err
	}
	v, err := r.Look()
	return r, v, err
}

func showRun(c *call) (any, error) {
	return c.onRuns(func(_ *node.Node, _ string, s *runs.Store) (any, error) {
		r, v, err := c.found(s)
		if err != nil {
			return nil, err
		}
		out := runOutput{lineOf(r, v), []heldSource{}}
		open := map[int]runs.Withdrawn{}
		for _, w := range v.Withdrawn() {
			open[w.Index] = w
		}
		for i, h := range v.Sources() {
			x := heldSource{Origin: h.Origin, Kind: h.Kind, Name: h.Name, Tool: h.Tool, Gen: h.Gen, Ver: h.Ver, Since: ofMillis(h.Since), State: "held", Why: h.Why}
			if h.Ended != 0 {
				x.Ended = ofMillis(h.Ended)
			}
			w, in := open[i]
			switch {
			case in:
				x.State, x.Results, x.More = "withdrawn", w.Results, w.More
			case h.Withdrawn():
				x.State = "cleared"
			case h.Ended != 0:
				x.State = "ended"
			}
			out.Held = append(out.Held, x)
		}
		return out, nil
	})
}

// clearedRun says what is taken out of a run's context.
type clearedRun struct{ runs.Cleared }

func (o clearedRun) show(w io.Writer) {
	what := "everything that was withdrawn"
	if len(o.Results) > 0 {
		what = strings.Join(o.Results, " ")
	}
	fmt.Fprintf(w, "cleared in %s: %s\n", o.Run, what)
	if o.Loose {
		fmt.Fprintln(w, "the act is recorded as unprotected: the operator's key lies unencrypted")
	}
}

// withdrawnNotice is what a person is told of results that were withdrawn.
func withdrawnNotice(data string, e *registry.Entry) string {
	return fmt.Sprintf("withdrawn (%s): what %s %s of %s returned; agent %s calls nothing out of that until it is cleared: pratique runs show --data %s --id %s",
		e.Reason, e.Kind, baseline.Visible(e.Name), e.Origin, e.Agent, data, e.Run)
}

func clearRun(c *call) (any, error) {
	return c.onRuns(func(_ *node.Node, data string, s *runs.Store) (any, error) {
		r, v, err := c.found(s)
		if err != nil {
			return nil, err
		}
		if len(v.Withdrawn()) == 0 {
			return nil, runs.ErrNoResult
		}
		for _, w := range v.Withdrawn() {
			fmt.Fprintf(c.err, "%s %s %s: %s, %d results\n", w.Origin, w.Kind, baseline.Visible(w.Name), w.Why, len(w.Results))
		}
		if !c.is("yes") {
			if err := c.sureIfPerson("Clear this?"); err != nil {
				return nil, err
			}
		}
		key, err := c.operatorKey(data)
		if err != nil {
			return nil, err
		}
		signer, err := envelope.NewSigner(envelope.OperatorAct, key)
		if err != nil {
			return nil, err
		}
		token, err := s.SignClear(signer, r.ID(), c.strs("result"), !key.Protected())
		if err != nil {
			return nil, err
		}
		out, err := s.Clear(c, token)
		return or(clearedRun{out}, err)
	})
}
