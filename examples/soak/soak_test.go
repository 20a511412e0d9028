package soak_test

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp/serve"
	"github.com/pratique-dev/pratique/gateway/mcp/upstream"
	"github.com/pratique-dev/pratique/gateway/surface"
	"github.com/pratique-dev/pratique/internal/mcptest"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine/inspect"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/decisions"
	"github.com/pratique-dev/pratique/registry/runs"
)

// one is a registry with one agent in it, whatever its credential.
type one struct{}

func (one) ByID(id credentials.AgentID) (*registry.Agent, error) {
	return &registry.Agent{ID: id, Name: "a", Profile: string(policy.Personal)}, nil
}

func (one) BySecret(credentials.Digest) (*registry.Agent, error) {
	return &registry.Agent{ID: "agt_01KBA0000000000000000000AA", Name: "a", Profile: string(policy.Personal)}, nil
}

func (one) Fresh() (uint64, error) { return 1, nil }

// build is a gateway in this process, so that the race detector and the counts see
// it, and what ends it.
func build(t *testing.T, up gateway.Upstream) (*gateway.Gateway, string, func()) {
	t.Helper()
	data := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ring, err := keyring.Open(filepath.Join(data, "keys"), keyring.Options{Create: true, Issuer: "http://127.0.0.1:1", WorkFactor: 2})
	must(err)
	base, err := baseline.Open(filepath.Join(data, "surface"), baseline.Options{})
	must(err)
	rs, err := runs.Open(filepath.Join(data, "runs"), runs.Options{})
	must(err)
	log, err := decisions.Open(data, decisions.Options{})
	must(err)
	g, err := gateway.New(gateway.Options{
		Upstream: up, Agents: one{}, Runs: rs, Record: log, Policy: policy.Of(nil), Inspector: inspect.New(), Keys: ring, Issuer: "http://127.0.0.1:1",
		Profile: policy.Personal, Own: gateway.Own{Data: data}, Surfaces: gateway.Surfaces{Baseline: surface.Store(base, up.Place().Origin.String())},
		Limits: gateway.Limits{Grace: time.Hour}, // what a run has read stays, however long the server takes to be there again
	})
	must(err)
	return g, data, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for _, err := range []error{g.Close(ctx), up.Close(), log.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	}
}

// A count is what may leak.
type count struct{ goroutines, files int }

func counted(t *testing.T) count {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc here")
	}
	return count{runtime.NumGoroutine(), len(fds)}
}

// settle waits until no more is there than before.
func settle(t *testing.T, before count) {
	t.Helper()
	var now count
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) { // what ends by itself tells nobody
		runtime.GC()
		if now = counted(t); now.goroutines <= before.goroutines && now.files <= before.files {
			return
		}
	}
	buf := make([]byte, 1<<20)
	t.Errorf("left over: %+v, before %+v\n%s", now, before, buf[:runtime.Stack(buf, true)])
}

// TestSoak has agents of both ways and eras call, cancel and reconnect while the
// server restarts again and again. It runs apart from the others: what is counted
// is the whole process.
func TestSoak(t *testing.T) {
	for _, server := range []string{"stdio", "http"} {
		t.Run(server, func(t *testing.T) {
			var h *mcptest.Upstream
			s := script()
			s.Tools.Items = append(s.Tools.Items, mcptest.Tool("slow", "Waits."))
			s.Answers = map[string]mcptest.Answer{"slow": {DelayMs: 50}}
			if server == "http" {
				h = mcptest.NewHTTP(t, s)
			} else {
				h = mcptest.NewStdio(t, s)
			}
			before := counted(t)
			tally := soak(t, server, h)
			if server == "stdio" {
				h.WaitProcesses(t, 0)
			}
			settle(t, before)
			t.Log(tally)
		})
	}
}

func soak(t *testing.T, server string, h *mcptest.Upstream) string {
	t.Helper()
	var up gateway.Upstream
	var err error
	if server == "http" {
		up, err = upstream.NewEndpoint("fixture", h.URL, nil)
	} else {
		up, err = upstream.NewProcess("fixture", h.Command(), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	g, data, end := build(t, up)
	handler := serve.NewHandler(g, serve.Options{})
	srv := httptest.NewServer(handler)
	var calls, returned, cancelled, failed, reconnects, restarts atomic.Int64
	var next atomic.Int64
	var why sync.Map
	var wait sync.WaitGroup
	for w := range 8 {
		wait.Go(func() {
			revision := []string{legacy, mcptest.Modern}[w%2]
			for next.Load() < soakCalls/2 {
				a, leave := agent(t, g, srv.URL, w < 4, revision)
				reconnects.Add(1)
				for range 25 {
					n := next.Add(1)
					if n > soakCalls/2 {
						break
					}
					calls.Add(1)
					if n%100 == 50 {
						h.Restart()
						restarts.Add(1)
					}
					if n%7 == 0 { // given up while it is open
						id := a.Begin("tools/call", fmt.Sprintf(`{"name":"slow","arguments":{"n":%d}}`, n))
						a.Cancel(id)
						cancelled.Add(1)
						continue
					}
					if m := a.Call("write_note", fmt.Sprintf(`{"n":%d}`, n)); m.Result != nil && !m.IsError() {
						returned.Add(1)
					} else { // lost with the server, or before the new one was there
						failed.Add(1)
						r, _ := stage.RefusalOf(m)
						count, _ := why.LoadOrStore(r.Reason, new(atomic.Int64))
						count.(*atomic.Int64).Add(1)
						if r.Retryable { // as a client does that is told to try again later
							time.Sleep(50 * time.Millisecond)
						}
						break
					}
				}
				leave()
			}
		})
	}
	wait.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := handler.Drain(ctx); err != nil {
		t.Errorf("draining: %v", err)
	}
	srv.Close()
	end()
	once(t, data, h)
	if returned.Load() < calls.Load()/4 {
		t.Errorf("only %d of %d calls returned", returned.Load(), calls.Load())
	}
	reasons := map[string]int64{}
	why.Range(func(k, n any) bool { reasons[k.(string)] = n.(*atomic.Int64).Load(); return true })
	return fmt.Sprintf("%d calls: %d returned, %d cancelled, %d failed %v; %d connections, %d restarts of the server",
		calls.Load(), returned.Load(), cancelled.Load(), failed.Load(), reasons, reconnects.Load(), restarts.Load())
}

// once wants each call that reached the server to be in the log, and none twice.
func once(t *testing.T, data string, h *mcptest.Upstream) {
	t.Helper()
	p := read(t, data)
	for n, times := range executed(t, h) {
		if times != 1 || p.decided[n] != 1 {
			t.Errorf("call %d was executed %d times with %d decisions", n, times, p.decided[n])
		}
	}
	for n := range p.decided {
		if _, ok := p.finished[n]; !ok {
			t.Errorf("call %d has no outcome", n)
		}
	}
	if rep, err := decisions.Verify(t.Context(), data, nil); err != nil || len(rep.Problems) > 0 {
		t.Errorf("the log: %v %+v", err, rep.Problems)
	}
}

// agent is a new connection that has listed the tools, and what ends it.
func agent(t *testing.T, g *gateway.Gateway, url string, http bool, revision string) (*mcptest.Agent, func()) {
	if http {
		a := mcptest.DialHTTP(t, revision, url+"/mcp/ag_0000000000000000000000000000000000000000000")
		a.Start()
		a.Request("tools/list", "")
		return a, a.Close
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := serve.ServeStdio(context.Background(), g, inR, outW, serve.Options{}); err != nil && !strings.Contains(err.Error(), "closed") {
			t.Errorf("serving: %v", err)
		}
		outW.Close()
	}()
	a := mcptest.Pipes(t, revision, inW, outR)
	a.Start()
	a.Request("tools/list", "")
	return a, func() { a.Close(); <-done }
}
