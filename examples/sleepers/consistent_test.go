package sleepers_test

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp/serve"
	"github.com/pratique-dev/pratique/gateway/mcp/upstream"
	"github.com/pratique-dev/pratique/gateway/surface"
	"github.com/pratique-dev/pratique/internal/mcptest"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine/inspect"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/decisions"
	"github.com/pratique-dev/pratique/registry/observed"
	"github.com/pratique-dev/pratique/registry/runs"
)

// nobody has a credential here: agents are launches.
type nobody struct{}

func (nobody) ByID(credentials.AgentID) (*registry.Agent, error)    { return nil, registry.ErrNotFound }
func (nobody) BySecret(credentials.Digest) (*registry.Agent, error) { return nil, registry.ErrNotFound }
func (nobody) Fresh() (uint64, error)                               { return 1, nil }

// A shop is a gateway in this process, with a clock of its own, on folders that
// outlive it.
type shop struct {
	*testing.T
	dir   string
	ring  *keyring.Ring
	up    *mcptest.Upstream
	clock *atomic.Int64 // milliseconds since the epoch

	gw    *gateway.Gateway
	place *observed.Place
	end   func()
}

func newShop(t *testing.T, s mcptest.Script) *shop {
	t.Helper()
	x := &shop{T: t, dir: t.TempDir(), up: mcptest.NewStdio(t, s), clock: new(atomic.Int64)}
	x.clock.Store(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli())
	x.ring = must(keyring.Open(filepath.Join(x.dir, "keys"), keyring.Options{Create: true, Issuer: "http://127.0.0.1:1", WorkFactor: 2}))(t)
	return x
}

func (x *shop) now() time.Time { return time.UnixMilli(x.clock.Load()) }

// start opens the gateway. What is there is what the last one left.
func (x *shop) start(profile policy.Profile, rules *policy.Rules) {
	x.Helper()
	up := must(upstream.NewProcess("fixture", x.up.Command(), nil))(x.T)
	base := must(baseline.Open(filepath.Join(x.dir, "surface"), baseline.Options{Now: x.now}))(x.T)
	rs := must(runs.Open(filepath.Join(x.dir, "runs"), runs.Options{Now: x.now}))(x.T)
	log := must(decisions.Open(x.dir, decisions.Options{Now: x.now}))(x.T)
	seen := must(observed.Open(filepath.Join(x.dir, "observed"), observed.Options{Now: x.now}))(x.T)
	at := up.Place().Origin.String()
	x.place = seen.Place(at)
	x.gw = must(gateway.New(gateway.Options{
		Upstream: up, Agents: nobody{}, Runs: rs, Record: log, Policy: policy.Of(rules), Inspector: inspect.New(), Keys: x.ring, Issuer: "http://127.0.0.1:1",
		Profile: profile, Own: gateway.Own{Data: x.dir}, Conduct: x.place, Now: x.now,
		Surfaces: gateway.Surfaces{Baseline: surface.Store(base, at), Standing: func() labels.Standing { return labels.Pinned }}, // as of a launch that is
	}))(x.T)
	x.end = func() {
		x.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for _, err := range []error{x.gw.Close(ctx), up.Close(), log.Close(), rs.Close(), seen.Close()} {
			if err != nil {
				x.Error(err)
			}
		}
	}
}

// launch is one run: an agent that listed the tools, and what ends it.
func (x *shop) launch() (*mcptest.Agent, func()) {
	x.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := serve.ServeStdio(context.Background(), x.gw, inR, outW, serve.Options{})
		outW.Close()
		done <- err
	}()
	a := mcptest.Pipes(x, legacy, inW, outR)
	a.Start()
	a.Tools()
	return a, func() {
		a.Close()
		if err := <-done; err != nil {
			x.Error(err)
		}
	}
}

// standing is what is known of get_total's conduct.
func (x *shop) standing() (s observed.Standing) {
	x.Helper()
	for _, s := range must(x.place.All(x.now()))(x.T) {
		if s.Name == "get_total" {
			return s
		}
	}
	return s
}

func tierOf(m mcptest.Message) string {
	return mcptest.Text(m.Result, "_meta", "dev.pratique/label", "tier")
}

// TestSleepersUntilConsistent: a tool that is good until it was observed for so long
// that its label is Green by that alone, eight days and sixty calls on the gateway's
// clock. Being Green let one call through that strict would have asked for, in a run
// that had read nothing; after that the same Green counts no more (RULES.md 20). The
// bad answer takes everything away at once, and eight more good days do not give it
// back.
func TestSleepersUntilConsistent(t *testing.T) {
	t.Parallel()
	x := newShop(t, mcptest.Script{Tools: mcptest.List{Items: []mcptest.JSON{shaped, steady}}, Answers: map[string]mcptest.Answer{"get_total": fine}})
	x.start(policy.Personal, nil)
	for range 4 {
		a, leave := x.launch()
		for range 15 {
			if m := a.Call("get_total", `{}`); m.IsError() || tierOf(m) != "yellow" {
				t.Fatalf("%s", m.Raw)
			}
			x.clock.Add((200 * time.Minute).Milliseconds())
		}
		leave()
	}
	x.end()

	rules := must(policy.Load([]byte("rules:\n  - name: everything\n    allow: [\"*\"]\n")))(t)
	x.start(policy.Strict, rules)
	if s := x.standing(); s.Content != labels.Consistent || s.Account.Calls < 50 {
		t.Fatalf("%+v", s)
	}
	a, leave := x.launch()
	if m := a.Call("get_total", `{}`); m.IsError() || tierOf(m) != "green" {
		t.Errorf("Green, out of a run that has read nothing: %s", m.Raw)
	}
	if m := a.Call("get_total", `{}`); !m.IsError() || !strings.Contains(string(m.Raw), "no_channel") {
		t.Errorf("Green by conduct, out of a run that has read something: %s", m.Raw)
	}
	leave()
	x.end()

	x.start(policy.Personal, nil)
	x.up.Set(func(s *mcptest.Script) { s.Answers["get_total"] = unfit })
	a, leave = x.launch()
	before := x.up.Executed("get_total")
	if m := a.Call("get_total", `{}`); !strings.Contains(string(m.Raw), "result_held") || strings.Contains(string(m.Raw), "ACCT-7731") || x.up.Executed("get_total") != before+1 {
		t.Fatalf("%s", m.Raw)
	}
	t.Log("KNOWN_LIMITATION first-order effect: the call that showed what a consistent tool is was executed")
	x.up.Set(func(s *mcptest.Script) { s.Answers["get_total"] = fine })
	refused := func(when string, a *mcptest.Agent) {
		t.Helper()
		if m := a.Call("get_total", `{}`); !m.IsError() || x.up.Executed("get_total") != before+1 {
			t.Errorf("%s: executed %d times: %s", when, x.up.Executed("get_total")-before, m.Raw)
		}
		if m := a.Call("steady", `{}`); m.IsError() {
			t.Errorf("%s, the other tool: %s", when, m.Raw)
		}
	}
	refused("at once", a)
	leave()
	x.end()
	for range 2 {
		x.clock.Add((8 * 24 * time.Hour).Milliseconds())
		x.start(policy.Personal, nil)
		a, leave := x.launch()
		refused("after a restart", a)
		leave()
		if s := x.standing(); s.Content != labels.Violated {
			t.Errorf("%+v", s)
		}
		x.end()
	}
}
