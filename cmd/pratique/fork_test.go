package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/internal/mcptest"
	"github.com/pratique-dev/pratique/registry"
)

// TestCaseO19ChainFork: two registries and the command line on one folder, eight
// clients of 50 registrations spread over both, one registry killed in the
// middle and started again. Every acknowledged registration is there once, the
// log is one chain, and verify is clean.
func TestCaseO19ChainFork(t *testing.T) { chainFork(t, 2) }

// TestCaseO19OneProcess is the control.
func TestCaseO19OneProcess(t *testing.T) { chainFork(t, 1) }

func chainFork(t *testing.T, processes int) {
	const clients, calls = 8, 50
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	first := startHere(t, dir, "--data", data, "--listen", "127.0.0.1:0", "--admin", "off")
	url := first.answer.Registry
	ways := []string{url[len("http://"):]}
	second := []string{"--data", data, "--external", url, "--listen", mcptest.Address(t), "--admin", "off"}
	var other *process
	if processes == 2 {
		other = startHere(t, dir, second...)
		ways = append(ways, second[5])
	}
	var done atomic.Int64
	half := make(chan struct{})
	var all sync.WaitGroup
	for i := range clients {
		a := through(t, url, ways[i%len(ways)])
		all.Go(func() {
			for j := range calls {
				tool := fmt.Sprintf(`{"name":"t_%d_%d","description":"x"}`, i, j)
				v, err := a.Register(t.Context(), registry.RegisterRequest{Origin: "https://o19.example", Tools: []jsontext.Value{jsontext.Value(tool)}})
				if err != nil {
					t.Errorf("client %d call %d: %v", i, j, err)
				} else if _, err := a.Renew(t.Context(), v.Tools[0].ID); err != nil {
					t.Errorf("client %d renewal %d: %v", i, j, err)
				}
				if done.Add(1) == clients*calls/2 {
					close(half)
				}
			}
		})
	}
	<-half
	good(t, changeOutputs{}, "keys", "rotate", "--data", data, "--role", "label")
	if other != nil {
		other.kill()
		startHere(t, dir, second...)
	}
	all.Wait()
	// What is in the folder is the truth; the process that is asked follows it.
	truth := good(t, ledgerOutput{}, "ledger", "verify", "--data", data)
	if !truth.OK || truth.Tampered || len(truth.Problems) > 0 {
		t.Errorf("verify: %+v", truth)
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if good(t, eventsOutput{}, "ledger", "show", "--registry", url, "--limit", "1").Size >= truth.Size {
			break
		}
	}
	if got := len(good(t, listOutput{}, "tools", "list", "--registry", url, "--origin", "https://o19.example").Tools); got != clients*calls {
		t.Errorf("%d tools, want %d", got, clients*calls)
	}
	e := good(t, eventsOutput{}, "ledger", "show", "--registry", url, "--limit", "100000")
	names := map[string]int{}
	for i, v := range e.Events {
		if v.Index != uint64(i) {
			t.Fatalf("event %d has index %d", i, v.Index)
		}
		var d registry.ToolData
		if v.Event.Type == registry.ToolRegistered && v.Event.Decode(&d) == nil {
			names[d.Name]++
		}
	}
	if len(names) != clients*calls {
		t.Errorf("%d registrations in the log, want %d", len(names), clients*calls)
	}
	for n, k := range names {
		if k != 1 {
			t.Errorf("%s was registered %d times", n, k)
		}
	}
}

// through is an actor with a key of its own that reaches the registry by way of
// one of its processes, whatever its URL says.
func through(t *testing.T, url, address string) *client.Actor {
	t.Helper()
	way := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}}
	t.Cleanup(way.CloseIdleConnections)
	c, err := client.New(url, &client.Options{Network: client.Network{Transport: way}, Retries: 20})
	if err != nil {
		t.Fatal(err)
	}
	k, err := keyring.NewPrivate(envelope.EdDSA, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.As(k)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
