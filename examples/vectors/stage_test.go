package vectors_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp/serve"
	"github.com/pratique-dev/pratique/gateway/mcp/upstream"
	"github.com/pratique-dev/pratique/gateway/surface"
	"github.com/pratique-dev/pratique/internal/mcptest"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/labels/policy/vectors"
	"github.com/pratique-dev/pratique/quarantine/inspect"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/decisions"
	"github.com/pratique-dev/pratique/registry/runs"
	"github.com/pratique-dev/pratique/registry/tallies"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	code := m.Run()
	if keysDir != "" {
		os.RemoveAll(keysDir)
	}
	os.Exit(code)
}

// A way is how the agent comes; its upstream is reached in the same one.
type way struct{ name, revision string }

func (w way) String() string { return w.name + " " + w.revision }

var ways = []way{
	{"stdio", "2025-11-25"}, {"http", "2025-11-25"}, {"stdio", mcptest.Modern}, {"http", mcptest.Modern},
}

func (w way) modern() bool { return w.revision == mcptest.Modern }

const secret = "ag_000000000000000000000000000000000000000000000000000000000000"

// one is a registry with one agent in it, whatever its credential; and before it
// another one, where somebody has to see everything first.
type one struct {
	profile  policy.Profile
	visiting atomic.Bool
}

func (o *one) ByID(id credentials.AgentID) (*registry.Agent, error) {
	return &registry.Agent{ID: id, Name: "a", Profile: string(o.profile)}, nil
}

func (o *one) BySecret(credentials.Digest) (*registry.Agent, error) {
	id := worker
	if o.visiting.Load() {
		id = visitor
	}
	return &registry.Agent{ID: id, Name: "a", Profile: string(o.profile)}, nil
}

func (*one) Fresh() (uint64, error) { return 1, nil }

// asked is a policy as if an approval channel could answer: this gateway has none
// yet, but the vectors are for those that have.
type asked struct{ policy.Policy }

func (p asked) Decide(f policy.Facts) policy.Decision { f.Channel = true; return p.Policy.Decide(f) }
func (p asked) Listed(f policy.Facts) bool            { f.Channel = true; return p.Policy.Listed(f) }

// after is a policy as if the run had read something else before: how it comes to
// that is shown where results are withdrawn.
type after struct {
	policy.Policy
	context policy.Context
}

func (p after) Decide(f policy.Facts) policy.Decision {
	f.Context = p.context
	return p.Policy.Decide(f)
}
func (p after) Listed(f policy.Facts) bool { f.Context = p.context; return p.Policy.Listed(f) }

// A spy tells which decisions were recorded for one call.
type spy struct {
	*decisions.Log
	mu    sync.Mutex
	calls []string
}

func (s *spy) Decided(ctx context.Context, e *registry.Entry, args []byte, durable bool) (decisions.Ticket, error) {
	s.mu.Lock()
	s.calls = append(s.calls, e.Call)
	s.mu.Unlock()
	return s.Log.Decided(ctx, e, args, durable)
}

func (s *spy) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

// since is the one call that was decided since then.
func (s *spy) since(t *testing.T, v vectors.Vector, w way, from int) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.calls) - from; n != 1 {
		t.Errorf("%s, %s: %d decisions", v.Name, w, n)
		return ""
	}
	return s.calls[from]
}

// midday is the time of those who count.
var midday = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

var keysDir string

// ring is one for all gateways: making keys is what costs.
var ring = sync.OnceValues(func() (*keyring.Ring, error) {
	var err error
	if keysDir, err = os.MkdirTemp("", "pratique-vectors-"); err != nil {
		return nil, err
	}
	return keyring.Open(filepath.Join(keysDir, "keys"), keyring.Options{Create: true, Issuer: "http://127.0.0.1:1", WorkFactor: 2})
})

func need[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// A house is one gateway with an upstream and an agent, who has not said anything
// yet. leave ends all of it; the entries can be read then.
type house struct {
	up    *mcptest.Upstream
	agent *mcptest.Agent
	data  string
	spy   *spy
	leave func()

	base     *baseline.Store
	at       string // the upstream's origin
	agents   *one
	gateway  *gateway.Gateway
	runs     *runs.Store
	standing labels.Standing
	clock    clock
}

func build(t *testing.T, b *batch, w way, s mcptest.Script) *house {
	t.Helper()
	h := &house{data: t.TempDir(), agents: &one{profile: b.profile}}
	var up gateway.Upstream
	if w.name == "http" {
		h.up = mcptest.NewHTTP(t, s)
		up = need[*upstream.Endpoint](t)(upstream.NewEndpoint("fixture", h.up.URL, nil))
	} else {
		h.up = mcptest.NewStdio(t, s)
		up = need[*upstream.Process](t)(upstream.NewProcess("fixture", h.up.Command(), nil))
	}
	log := need[*decisions.Log](t)(decisions.Open(h.data, decisions.Options{Segment: 1 << 20, Quota: 16 << 20}))
	h.base = need[*baseline.Store](t)(baseline.Open(filepath.Join(h.data, "surface"), baseline.Options{Acts: operators, Audience: audience}))
	h.at = up.Place().Origin.String()
	h.spy = &spy{Log: log}
	v := b.vectors[0]
	v.Intent = nil // which the run is sealed to
	decide := need[policy.Policy](t)(v.Policy())
	if b.channel {
		decide = asked{decide}
	}
	if b.context != "" {
		decide = after{decide, need[policy.Context](t)(policy.ParseContext(b.context))}
	}
	h.standing = need[labels.Standing](t)(labels.ParseStanding(b.standing))
	h.runs = need[*runs.Store](t)(runs.Open(filepath.Join(h.data, "runs"), runs.Options{Now: h.clock.now, Intents: operators, Audience: audience}))
	var counts gateway.Tallies
	if b.counted {
		counts = tallies.NewMemory(func() time.Time { return midday }, rand.Reader) // so that a minute does not end between two calls
	}
	h.gateway = need[*gateway.Gateway](t)(gateway.New(gateway.Options{
		Upstream: up, Agents: h.agents, Runs: h.runs, Tallies: counts, Now: h.clock.now,
		Record: h.spy, Policy: decide, Inspector: inspect.New(), Keys: need[*keyring.Ring](t)(ring()), Issuer: "http://127.0.0.1:1", Profile: cmp.Or(b.profile, policy.Personal), // of launches
		Own: gateway.Own{Data: h.data},
		Surfaces: gateway.Surfaces{
			Baseline: surface.Store(h.base, h.at),
			Standing: func() labels.Standing { return h.standing },
			Effect:   b.effect(),
			Limits:   surface.Limits{Freshness: -1, Early: time.Minute, Collect: time.Minute, Page: time.Minute}, // of a machine that does much else
		},
	}))
	h.sealed(t, b, w)
	var end func()
	h.agent, end = join(t, h.gateway, w)
	h.leave = func() {
		t.Helper()
		end()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for _, err := range []error{h.gateway.Close(ctx), up.Close(), log.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	}
	return h
}

// operator is whose acts release what a vector says was released.
var operator = sync.OnceValues(func() (*keyring.Private, error) { return keyring.NewPrivate(envelope.EdDSA, nil) })

var operators = envelope.NewVerifier(envelope.KeysFunc(func(_ envelope.Type, id credentials.KeyID) (envelope.Key, error) {
	key, err := operator()
	if err == nil && key.Key().ID != id {
		err = envelope.ErrUnknownKey
	}
	if err != nil {
		return envelope.Key{}, err
	}
	return key.Key(), nil
}))

// release releases what the vectors say was, as an operator would who has looked at
// it.
func (h *house) release(t *testing.T, b *batch) {
	t.Helper()
	sign := need[*envelope.Signer](t)(envelope.NewSigner(envelope.OperatorAct, need[*keyring.Private](t)(operator())))
	done := map[baseline.Key]bool{}
	for _, v := range b.vectors {
		name, err := v.ItemName()
		k := baseline.Key{Kind: baseline.Kind(v.Kind), Name: name}
		if err != nil || !v.Released || done[k] {
			continue
		}
		done[k] = true
		need[*baseline.Baseline](t)(h.base.Update(context.Background(), h.at, func(d *baseline.Draft) error {
			w := d.Pending(k)
			if w == nil || w.Verdict != v.Verdict {
				t.Errorf("%s: waits as %+v, want %s", v.Name, w, v.Verdict)
				return nil
			}
			act, err := h.base.SignRelease(sign, &d.Baseline, k, w.Digest, false)
			if err == nil {
				_, err = d.Release(act)
			}
			return err
		}))
	}
}

// join is an agent of the gateway.
func join(t *testing.T, g *gateway.Gateway, w way) (*mcptest.Agent, func()) {
	if w.name == "http" {
		handler := serve.NewHandler(g, serve.Options{})
		srv := httptest.NewServer(handler)
		a := mcptest.DialHTTP(t, w.revision, srv.URL+"/mcp/"+secret)
		return a, func() {
			a.Close()
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if err := handler.Drain(ctx); err != nil {
				t.Errorf("draining: %v", err)
			}
			srv.Close()
		}
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := serve.ServeStdio(context.Background(), g, inR, outW, serve.Options{})
		outW.Close()
		done <- err
	}()
	a := mcptest.Pipes(t, w.revision, inW, outR)
	return a, func() {
		a.Close()
		if err := <-done; err != nil {
			t.Errorf("serving: %v", err)
		}
	}
}
