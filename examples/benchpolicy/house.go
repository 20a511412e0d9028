package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/gateway/surface"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/decisions"
	"github.com/pratique-dev/pratique/registry/runs"
)

// A house is a gateway with its upstreams and one agent, all in this process.
type house struct {
	dir     string
	store   *baseline.Store
	ring    *keyring.Ring
	gws     []*gateway.Gateway // one for each upstream
	session *gateway.Session   // with the first
	clock   *clock
	record  *blank
}

const issuer = "https://registry.example.test"

// mostTools is how many tools one upstream has: a baseline holds no more.
const mostTools = 10_000 - 16

// build makes a gateway before upstreams of so many tools together, with so many rules
// in three layers, the last of which is an intent. At most ten rules speak of the tool
// that is called.
func build(ctx context.Context, tools, rules int) (*house, error) {
	dir, err := os.MkdirTemp("", "benchpolicy-")
	if err != nil {
		return nil, err
	}
	h := &house{dir: dir, store: baseline.NewMemory(baseline.Options{}), clock: &clock{}, record: &blank{}}
	if err := h.open(ctx, tools, rules); err != nil {
		h.close(ctx)
		return nil, err
	}
	return h, nil
}

func (h *house) open(ctx context.Context, tools, rules int) (err error) {
	if h.ring, err = keyring.Open(h.dir+"/keys", keyring.Options{Create: true, Issuer: issuer, WorkFactor: 2}); err != nil {
		return err
	}
	for left := tools; left > 0; left -= mostTools {
		up := &upstream{tools: min(left, mostTools), n: len(h.gws)}
		s, err := h.serve(ctx, up)
		if err != nil {
			return err
		}
		if up.n == 0 {
			h.session = s
		}
	}
	if err := h.call(ctx, h.frame()); err != nil { // so that the record says which item it is
		return err
	}
	e := h.record.last
	p, err := layers(rules, policy.SealedItem{Origin: e.Origin, Kind: string(gate.Tool), Name: tool, ID: e.Tool, Digest: e.Mdg})
	if err != nil {
		return err
	}
	for _, gw := range h.gws {
		gw.Reload(gateway.Reload{Policy: p})
	}
	return nil
}

// serve puts a gateway before an upstream, and has the agent list its tools.
func (h *house) serve(ctx context.Context, up *upstream) (*gateway.Session, error) {
	gw, err := gateway.New(gateway.Options{
		Upstream: up, Agents: nobody{}, Runs: runs.NewMemory(runs.Options{}), Record: h.record, Policy: policy.Of(nil),
		Inspector: clear{}, Keys: h.ring, Issuer: issuer, Profile: policy.Personal, Observer: h.clock,
		Surfaces: gateway.Surfaces{Baseline: surface.Store(h.store, up.Place().Origin.String()), Limits: surface.Limits{
			Bytes: 256 << 20, Freshness: time.Hour, Collect: 10 * time.Minute, Early: 10 * time.Minute, Page: time.Minute}},
		Own:    gateway.Own{Data: h.dir, Listeners: []string{"127.0.0.1:7070"}, Home: "/home/agent"},
		Limits: gateway.Limits{Rate: 1e9, Burst: 1e9},
	})
	if err != nil {
		return nil, err
	}
	h.gws = append(h.gws, gw)
	who, err := gw.Launch("benchpolicy")
	if err != nil {
		return nil, err
	}
	hello := mcp.Hello{Revision: mcp.Rev20251125, Capabilities: jsontext.Value(`{}`), ClientInfo: jsontext.Value(`{"name":"benchpolicy","version":"0"}`)}
	s, err := gw.Open(ctx, who, hello, quiet{}, gateway.Via{Way: "stdio"})
	if err != nil {
		return nil, err
	}
	if a := s.Handle(ctx, mcp.Frame{Shape: mcp.Request, ID: "1", Method: "tools/list"}, quiet{}); a.Shape != mcp.Result {
		return nil, fmt.Errorf("tools/list: %s", a.Bytes())
	}
	return s, nil
}

func (h *house) close(ctx context.Context) {
	for _, gw := range h.gws {
		_ = gw.Close(ctx)
	}
	_ = os.RemoveAll(h.dir)
}

// call has the agent call the tool; an error is a call that was not let through.
func (h *house) call(ctx context.Context, f mcp.Frame) error {
	h.clock.verb = policy.Deny
	a := h.session.Handle(ctx, f, quiet{})
	if bad, _ := mcp.Get(a.Result, "isError"); a.Shape != mcp.Result || string(bad) == "true" || h.clock.verb != policy.Allow {
		return fmt.Errorf("the call was refused: %s", a.Bytes())
	}
	return nil
}

// clock is an observer that measures from a frame to its verdict.
type clock struct {
	count   bool // allocations, not time
	began   time.Time
	took    time.Duration
	mallocs uint64
	allocs  uint64
	verb    policy.Verb
	memory  runtime.MemStats
}

func (c *clock) Begin(ctx context.Context, _ gateway.Seen) (context.Context, gateway.Watch) {
	if c.count {
		runtime.ReadMemStats(&c.memory)
		c.mallocs = c.memory.Mallocs
	}
	c.began = time.Now()
	return ctx, c
}

func (c *clock) Decided(d policy.Decision, _ labels.Tier) {
	c.took = time.Since(c.began)
	if c.count {
		runtime.ReadMemStats(&c.memory)
		c.allocs = c.memory.Mallocs - c.mallocs
	}
	c.verb = d.Verb()
}

func (c *clock) Forward(ctx context.Context) (context.Context, string, string) { return ctx, "", "" }
func (c *clock) Returned(mcp.Frame)                                            {}
func (c *clock) End(string)                                                    {}

// blank is a record that keeps the last decision.
type blank struct{ last registry.Entry }

func (b *blank) Decided(_ context.Context, e *registry.Entry, _ []byte, _ bool) (decisions.Ticket, error) {
	b.last = *e
	return decisions.Ticket{}, nil
}
func (*blank) Finished(decisions.Ticket, *registry.Entry, []byte) error { return nil }
func (*blank) Note(*registry.Entry) error                               { return nil }

// clear inspects nothing: what texts cost is examples/benchinspect's to say.
type clear struct{}

func (clear) Inspect(context.Context, quarantine.Batch) quarantine.Report {
	return quarantine.Report{Verdict: quarantine.Clear, Engine: "none"}
}
func (clear) Engine() string { return "none" }

// nobody is a registry without agents: the one here is a launch.
type nobody struct{}

func (nobody) BySecret(credentials.Digest) (*registry.Agent, error) {
	return nil, registry.ErrNotFound
}
func (nobody) ByID(credentials.AgentID) (*registry.Agent, error) { return nil, registry.ErrNotFound }
func (nobody) Fresh() (uint64, error)                            { return 1, nil }

// quiet is an agent that hears nothing and answers nothing.
type quiet struct{}

func (quiet) Notify(mcp.Frame) {}
func (quiet) Ask(context.Context, mcp.Frame) (mcp.Frame, error) {
	return mcp.Frame{}, gateway.ErrNoQuestions
}

// upstream is a server of many tools, of which one is called.
type upstream struct{ tools, n int }

func (u *upstream) Name() string { return fmt.Sprintf("repository-%d", u.n) }
func (u *upstream) Place() gateway.Place {
	return gateway.Place{Origin: origin.Must(fmt.Sprintf("https://tools-%d.example.test/mcp", u.n))}
}
func (*upstream) Close() error { return nil }

func (u *upstream) Connect(context.Context, mcp.Hello, gateway.Sink) (gateway.Link, error) {
	return u, nil
}

func (*upstream) Welcome() mcp.Welcome {
	return mcp.Welcome{Revision: mcp.Rev20251125, Capabilities: jsontext.Value(`{"tools":{}}`), ServerInfo: jsontext.Value(`{"name":"repository","version":"1"}`)}
}

// page is how many tools one page of the list has.
const page = 10_000

func (u *upstream) List(_ context.Context, method string, params []byte) (mcp.Frame, error) {
	if method != "tools/list" {
		return mcp.Frame{}, errors.New("there are tools only")
	}
	from := 0
	if c, ok := mcp.GetString(params, "cursor"); ok {
		if _, err := fmt.Sscan(c, &from); err != nil {
			return mcp.Frame{}, err
		}
	}
	var b strings.Builder
	b.WriteString(`{"tools":[`)
	to := min(from+page, u.tools)
	for i := from; i < to; i++ {
		if i > from {
			b.WriteByte(',')
		}
		if i == 0 {
			b.WriteString(schema)
			continue
		}
		fmt.Fprintf(&b, `{"name":"tool_%06d","description":"Does one thing of %d.","inputSchema":{"type":"object","properties":{"id":{"type":"integer"}}}}`, i, u.tools)
	}
	b.WriteByte(']')
	if to < u.tools {
		fmt.Fprintf(&b, `,"nextCursor":"%d"`, to)
	}
	b.WriteByte('}')
	return mcp.Answer("1", jsontext.Value(b.String())), nil
}

func (*upstream) Do(_ context.Context, p gate.Pass, x gateway.Exchange) (mcp.Frame, error) {
	if err := p.Spend(x.Frame.Method, x.Frame.Params); err != nil {
		return mcp.Frame{}, err
	}
	return mcp.Answer(x.Frame.ID, jsontext.Value(`{"content":[{"type":"text","text":"ok"}]}`)), nil
}

func (*upstream) Notify(context.Context, mcp.Frame) error { return nil }
