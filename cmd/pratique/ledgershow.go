package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/decisions"
	"github.com/pratique-dev/pratique/registry/ledger"
)

func showVerb() verb {
	return verb{
		name: "show", usage: "list events of the registry's log, or entries of the decision log",
		about: "With --registry: the events that the registry publishes. With --data: what was decided and what came of it, from the spools in that folder, in the order of time; gateways may be at work meanwhile. RUN is what `policy suggest --run` takes, also of a run or launch that has ended; CALL, or INDEX with SPOOL, is what `policy explain` and `replay` take. Arguments and results are not in it, only digests under keys that can be erased.",
		flags: []*option{
			{name: "registry", arg: "URL", usage: "external URL of the registry"}, timeoutFlag(),
			{name: "from", arg: "INDEX", usage: "with --registry: index of the first", kind: number, def: "0"},
			{name: "limit", arg: "N", usage: "with --registry: at most so many", kind: number, def: "100"},
			{name: "data", arg: "DIR", usage: "data folder whose decision log to read"}, configFlag(),
			{name: "run", arg: "ID", usage: "with --data: of this run only"},
			{name: "call", arg: "ID", usage: "with --data: of this call only"},
			{name: "last", arg: "N", usage: "with --data: the latest so many; 0 for all", kind: number, def: "100"},
		},
		out: eventsOutput{}, run: showLedger,
	}
}

func followVerb() verb {
	return verb{
		name: "follow", usage: "print entries of the decision log as they are written, until interrupted",
		flags: []*option{
			{name: "data", arg: "DIR", usage: "data folder", required: true}, configFlag(),
			{name: "run", arg: "ID", usage: "of this run only"}, {name: "call", arg: "ID", usage: "of this call only"},
			{name: "every", arg: "TIME", usage: "how often to look", kind: duration, def: "250ms"},
			{name: "json", kind: toggle, usage: "one JSON object for each entry, on a line of its own"},
		},
		run: followLedger,
	}
}

// eventsOutput is a stretch of the registry's log, or of the decision log.
type eventsOutput struct {
	registry.EventList
	Entries []decisions.Record `json:"entries,omitzero" doc:"with --data, in the place of events: the decision log"`
}

func (o eventsOutput) show(w io.Writer) {
	if o.Entries != nil {
		rows := [][]string{recordColumns}
		for _, r := range o.Entries {
			rows = append(rows, recordRow(r))
		}
		table(w, rows)
		return
	}
	rows := [][]string{{"INDEX", "AT", "EVENT", "BY", "DATA"}}
	for _, e := range o.Events {
		rows = append(rows, []string{strconv.FormatUint(e.Index, 10), moment(time.UnixMilli(e.Event.At)), string(e.Event.Type), string(e.Event.By), string(e.Event.Data)})
	}
	table(w, rows)
	fmt.Fprintf(w, "%d entries in all\n", o.Size)
}

var recordColumns = []string{"AT", "ENTRY", "RUN", "CALL", "UPSTREAM", "METHOD", "NAME", "DECISION", "OUTCOME", "SPOOL", "INDEX", "DETAIL"}

func recordRow(r decisions.Record) []string {
	e := r.Entry
	decision := strings.Trim(e.Verb+" "+e.Reason, " ")
	if e.Needs != labels.AssuranceNone {
		decision += " (needs " + e.Needs.String() + ")"
	}
	if e.Enforced != nil && !*e.Enforced {
		decision += " (not enforced)"
	}
	for _, x := range e.Shadow {
		decision += fmt.Sprintf("; %s would %s", x.Rule, x.Verb)
	}
	return []string{moment(time.UnixMilli(e.At)), string(e.Type), e.Run, e.Call, e.Upstream, e.Method, e.Name, decision, e.Outcome, r.Spool, strconv.FormatUint(r.Index, 10), e.Detail}
}

func showLedger(c *call) (any, error) {
	which, err := c.exactlyOne("data", "registry")
	if err != nil {
		return nil, err
	}
	if which == "data" {
		return c.showDecisions()
	}
	if c.has("run") || c.has("call") || c.has("last") {
		return nil, usagef("--run, --call and --last go with --data: the registry's log has no calls")
	}
	cl, err := c.client()
	if err != nil {
		return nil, err
	}
	limit := int(c.num("limit"))
	out := eventsOutput{EventList: registry.EventList{Events: []registry.EventView{}}}
	for from := c.num("from"); len(out.Events) < limit; {
		page, err := cl.Events(c, from, min(limit-len(out.Events), 1000))
		if err != nil {
			return nil, err
		}
		out.Size, out.Next = page.Size, page.Next
		out.Events = append(out.Events, page.Events...)
		if page.Next == 0 || page.Next <= from {
			break
		}
		from = page.Next
	}
	return out, nil
}

// query is what --run and --call select.
func (c *call) query() decisions.Query {
	return decisions.Query{Run: c.str("run"), Call: c.str("call")}
}

func (c *call) showDecisions() (any, error) {
	if c.has("from") || c.has("limit") {
		return nil, usagef("--from and --limit go with --registry; for --data there is --last")
	}
	cfg, err := c.config()
	if err != nil {
		return nil, err
	}
	if err := c.folder(cfg.Data); err != nil {
		return nil, err
	}
	rs, err := decisions.Last(cfg.Data, c.query(), int(c.num("last")))
	if err != nil {
		return nil, err
	}
	if rs == nil {
		rs = []decisions.Record{}
	}
	return eventsOutput{EventList: registry.EventList{Events: []registry.EventView{}, Size: uint64(len(rs))}, Entries: rs}, nil
}

func followLedger(c *call) (any, error) {
	cfg, err := c.config()
	if err != nil {
		return nil, err
	}
	if err := c.folder(cfg.Data); err != nil {
		return nil, err
	}
	every := c.span("every")
	if every <= 0 {
		return nil, usagef("--every is not a time")
	}
	for r, err := range decisions.Follow(c, cfg.Data, c.query(), every) {
		if err != nil {
			return nil, err
		}
		line := strings.Join(nonEmpty(recordRow(r)), "  ")
		if c.is("json") {
			b, err := json.Marshal(r, json.Deterministic(true))
			if err != nil {
				return nil, err
			}
			line = string(b)
		} else {
			line = plain(line)
		}
		if _, err := fmt.Fprintln(c.out, line); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func nonEmpty(in []string) (out []string) {
	for _, s := range in {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// decisions is one line on the decision log, empty where there is none.
func (o ledgerOutput) decisions() string {
	if o.Spools == 0 {
		return ""
	}
	return fmt.Sprintf("%d entries, %d of them anchored; spools: %d", o.Decisions, o.Anchored, o.Spools)
}

// takeDecisions adds what a walk over the spools found, in the words of the
// registry's own log.
func (o *ledgerOutput) takeDecisions(r decisions.Report) {
	o.Spools, o.Decisions = len(r.Spools), r.Entries()
	for _, s := range r.Spools {
		o.Anchored += min(s.Anchored, s.Size)
		for _, f := range s.Torn {
			o.Problems = append(o.Problems, ledger.Problem{Kind: ledger.KindTorn, Index: f.Index, Count: 1, Detail: s.Spool + ": " + f.String()})
		}
		for _, m := range s.Repairs {
			o.Repairs = append(o.Repairs, repairOutput{At: m.Time(), Kind: string(m.Kind), Bytes: uint64(m.Bytes), Size: m.Index, Detail: s.Spool + ": " + m.String()})
		}
	}
	for _, p := range r.Problems {
		detail := p.Detail
		if p.Spool != "" {
			detail = p.Spool + ": " + detail
		}
		o.Problems = append(o.Problems, ledger.Problem{Kind: ledger.Kind(p.Kind), Index: p.Index, Count: 1, Detail: detail})
	}
}
