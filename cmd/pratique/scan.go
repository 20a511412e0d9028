package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/gateway/mcp/upstream"
	"github.com/pratique-dev/pratique/gateway/surface"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/effects"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/quarantine/inspect"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/node"
	"github.com/pratique-dev/pratique/registry/runs"
)

func scanNoun() noun {
	return noun{name: "scan", usage: "look at what a server, an endpoint or a tools file exposes, without calling anything", verbs: []verb{{
		usage: "look at what a server, an endpoint or a tools file exposes, and at what would be withheld and why",
		about: "TARGET is a URL or a file with a tools/list result; a server's own command stands after `--`. Nothing is called and nothing is kept. " +
			"The exit code is that of the worst item: 0 nothing would be withheld, 8 something suspect would, 9 something red would.",
		args: "TARGET", rest: "-- CMD ARGS...",
		flags: []*option{
			{name: "header-file", arg: "FILE", usage: `private file of "Name: value" lines that requests to the URL carry`},
			{name: "timeout", arg: "TIME", usage: "bound of the whole scan", kind: duration, def: "1m"},
			{name: "all", kind: toggle, usage: "for people: list the clear items too"},
		},
		out: scanOutput{}, run: scan,
	}}}
}

// scanOutput is what was found.
type scanOutput struct {
	Target   string     `json:"target" doc:"origin of the server, or the file"`
	Unpinned bool       `json:"unpinned,omitzero" doc:"the command fetches code without exact version and integrity"`
	Worst    string     `json:"worst" doc:"clear, suspect or red"`
	Items    []scanItem `json:"items"`
}

// scanItem is one thing that an agent would read.
type scanItem struct {
	Kind       gate.Kind          `json:"kind"`
	Name       string             `json:"name,omitzero"`
	Digest     credentials.Digest `json:"digest"`
	Tier       labels.Tier        `json:"tier" doc:"of the label that it would have"`
	Effect     labels.Effect      `json:"effect" doc:"what a call counts as"`
	Looks      string             `json:"looks,omitzero" doc:"of a tool: what its name, schema and claims look like; nothing is decided on it"`
	Parameters []string           `json:"parameters,omitzero" doc:"of a tool: what an agent fills in"`
	Withheld   bool               `json:"withheld,omitzero"`
	Verdict    string             `json:"verdict" doc:"of the inspector"`
	Fault      gate.Fault         `json:"fault,omitzero" doc:"why it is withheld whatever the inspector says"`
	Why        []scanWhy          `json:"why,omitzero"`
}

// scanWhy is one reason.
type scanWhy struct {
	Category quarantine.Category `json:"category"`
	Verdict  string              `json:"verdict"`
	Path     string              `json:"path" doc:"where in the item"`
	Sentence string              `json:"sentence,omitzero" doc:"where parts of the item are held against each other: what does not fit"`
}

func (o scanOutput) show(w io.Writer) {
	fmt.Fprintf(w, "%s: %d items, worst %s\n", baseline.Visible(o.Target), len(o.Items), o.Worst)
	if o.Unpinned {
		fmt.Fprintln(w, "unpinned: the command fetches code without exact version and integrity")
	}
	for _, i := range o.Items {
		state := "shown"
		if i.Withheld {
			state = "WITHHELD"
		}
		fmt.Fprintf(w, "%-8s %-6s %s %s", state, i.Tier, i.Kind, baseline.Visible(i.Name))
		if i.Kind == gate.Tool {
			fmt.Fprintf(w, "(%s): %s", baseline.Visible(strings.Join(i.Parameters, ", ")), i.Effect)
			if i.Looks != "" && i.Looks != i.Effect.String() {
				fmt.Fprintf(w, ", looks like %s", i.Looks)
			}
		}
		fmt.Fprintln(w)
		if i.Fault != gate.NoFault {
			fmt.Fprintf(w, "    fault: %s\n", i.Fault)
		}
		for _, y := range i.Why {
			fmt.Fprintf(w, "    %s: %s at %s\n", y.Verdict, y.Category, baseline.Visible(y.Path))
			if y.Sentence != "" {
				fmt.Fprintf(w, "        %s\n", y.Sentence)
			}
		}
	}
}

// errWithheld follows the report of a scan.
var errWithheld = errors.New("something would be withheld")

func scan(c *call) (any, error) {
	ctx, cancel := context.WithTimeout(c, c.span("timeout"))
	defer cancel()
	out, source, standing, done, err := c.scanned(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if out.Items, err = c.lookAt(ctx, source, standing); err != nil {
		return nil, err
	}
	out.Worst = "clear"
	code := exitOK
	for _, i := range out.Items {
		switch {
		case i.Withheld && i.Tier == labels.Red:
			out.Worst, code = "red", exitRed
		case i.Withheld && code == exitOK:
			out.Worst, code = "suspect", exitSuspect
		}
	}
	if code != exitOK {
		return out, &coded{code, errWithheld}
	}
	return out, nil
}

// scanned opens the target.
func (c *call) scanned(ctx context.Context) (out scanOutput, s surface.Upstream, at labels.Standing, done func(), err error) {
	target := ""
	if !c.rest {
		target = c.args[0]
	}
	if target != "" && !strings.Contains(target, "://") {
		raw, err := c.readFile(target, 64<<20)
		if err != nil {
			return out, nil, 0, nil, err
		}
		list, err := listOf(raw)
		if err != nil {
			return out, nil, 0, nil, fmt.Errorf("%w: %s: %w", errInput, target, err)
		}
		return scanOutput{Target: target}, list, labels.Unknown, func() {}, nil
	}
	up, launch, err := c.scanUpstream(ctx, target)
	if err != nil {
		return out, nil, 0, nil, err
	}
	link, err := dial(ctx, up)
	if err != nil {
		return out, nil, 0, nil, errors.Join(err, up.Close())
	}
	out = scanOutput{Target: up.Place().Origin.String()}
	at = labels.Pinned
	if launch != nil && launch.Unpinned {
		out.Unpinned, at = true, labels.Unknown
	}
	return out, link, at, func() { link.Close(); up.Close() }, nil
}

func (c *call) scanUpstream(ctx context.Context, target string) (gateway.Upstream, *baseline.Launch, error) {
	a := &assembly{c: c, log: c.logger(node.LoggerConf{Level: "warn"})}
	if target != "" {
		if _, err := origin.Parse(target); err != nil {
			return nil, nil, usagef("%v", err)
		}
		headers, err := a.headers(c.str("header-file"))
		if err != nil {
			return nil, nil, err
		}
		up, err := upstream.NewEndpoint("scanned", target, &upstream.EndpointOptions{Headers: headers, Log: a.log, Now: c.now})
		return up, nil, err
	}
	cmd := baseline.Command{Argv: c.args, Env: guardEnv(os.Environ())}
	store := baseline.NewMemory(baseline.Options{Now: c.now})
	program, err := baseline.Resolve(cmd)
	if err != nil {
		return nil, nil, &coded{exitNotFound, err}
	}
	launch, err := store.Pin(ctx, cmd)
	if err != nil {
		return nil, nil, err
	}
	at, err := store.Place(baseline.ShortName(c.args), cmd)
	if err != nil {
		return nil, nil, err
	}
	up, err := upstream.NewProcess("scanned", append([]string{program}, c.args[1:]...),
		&upstream.ProcessOptions{Env: cmd.Env, Origin: at, Launch: launch, Log: a.log, Now: c.now})
	return up, launch, err
}

// dial connects in the era that the server speaks.
func dial(ctx context.Context, up gateway.Upstream) (gateway.Link, error) {
	info, err := json.Marshal(map[string]string{"name": "pratique-scan", "version": buildVersion().Version}, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	hello := mcp.Hello{Revision: mcp.Latest, ClientInfo: info}
	link, err := up.Connect(ctx, hello, deaf{})
	if err == nil || !errors.Is(err, gateway.ErrEra) {
		return link, err
	}
	hello.Revision = mcp.Rev20260728
	return up.Connect(ctx, hello, deaf{})
}

// deaf takes what a scanned server sends unasked.
type deaf struct{}

func (deaf) Receive(mcp.Frame) {}
func (deaf) Lost(error)        {}
func (deaf) Ask(_ context.Context, f mcp.Frame) mcp.Frame {
	return mcp.Fail(f.ID, mcp.CodeInvalidRequest, "nobody can be asked", nil)
}

// lookAt collects and judges everything, as at first sight.
func (c *call) lookAt(ctx context.Context, source surface.Upstream, standing labels.Standing) ([]scanItem, error) {
	run, err := runs.NewMemory(runs.Options{Now: c.now}).Launch(string(policy.Personal))
	if err != nil {
		return nil, err
	}
	ins, err := c.inspectorByEnv(c.logger(node.LoggerConf{Level: "error"}))
	if err != nil {
		return nil, err
	}
	defer ins.Close()
	k, err := surface.New(surface.Options{
		Upstream: source, Inspector: ins, Baseline: surface.Store(baseline.NewMemory(baseline.Options{Now: c.now}), "scan"),
		Shown: surface.Run(run, "scan"), Standing: func() labels.Standing { return standing }, Name: "scanned",
		Limits: surface.Limits{Early: time.Hour, Collect: time.Hour, Page: 30 * time.Second}, Now: c.now,
	})
	if err != nil {
		return nil, err
	}
	defer k.Close()
	k.Start()
	for _, kind := range []gate.Kind{gate.Tool, gate.Prompt, gate.Resource, gate.Template} {
		if _, err := k.List(ctx, kind, nil); err != nil {
			return nil, err
		}
	}
	s, out := k.Surface(), []scanItem{}
	for _, kind := range gate.Kinds {
		for _, e := range s.Entries(kind) {
			out = append(out, scanItemOf(&e, c.now()))
		}
	}
	return out, nil
}

// sentencesOf are the reasons of findings in words, as far as there are any.
func sentencesOf(kind gate.Kind, raw []byte, found []quarantine.Finding) []string {
	set, err := quarantine.Specimens(string(kind), jsontext.Value(raw))
	if err != nil {
		set = nil
	}
	return inspect.Reasons(set, found)
}

func scanItemOf(e *gate.Entry, now time.Time) scanItem {
	i := scanItem{Kind: e.Kind, Name: e.Name, Digest: e.Digest, Tier: e.Tier(now), Effect: e.Effect,
		Withheld: e.Listed != policy.Cleared, Verdict: e.Verdict.String(), Fault: e.Fault}
	sentences := sentencesOf(e.Kind, e.Canonical, e.Findings)
	for n, f := range e.Findings {
		i.Why = append(i.Why, scanWhy{f.Category, f.Verdict.String(), f.Path, sentences[n]})
	}
	if e.Kind == gate.Tool && e.Fault == gate.NoFault {
		i.Looks = looks(effects.Apparent(jsontext.Value(e.Canonical)))
	}
	if props, ok := mcp.Get(jsontext.Value(e.Canonical), "inputSchema", "properties"); ok && e.Kind == gate.Tool {
		var names map[string]jsontext.Value
		if json.Unmarshal(props, &names) == nil {
			i.Parameters = slices.Sorted(maps.Keys(names))
		}
	}
	return i
}
