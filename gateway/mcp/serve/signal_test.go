package serve

import (
	"context"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp/upstream"
	"github.com/pratique-dev/pratique/internal/mcptest"
)

// patience bounds what must happen, on a busy machine too.
const patience = time.Minute

// old is a freshness bound that nothing in a test reaches: what is seen to change
// within it was signalled.
const old = time.Hour

// TestSignalIsHeard: a change that a server signals shuts the tool at once, long
// before its list is too old, on both transports and in both eras (RULES.md 7), and
// the agent that listens is told when the new list was judged.
func TestSignalIsHeard(t *testing.T) {
	for _, way := range []string{"http", "stdio"} {
		for _, rev := range []string{"2025-11-25", mcptest.Modern} {
			t.Run(way+" "+rev, func(t *testing.T) {
				script := mcptest.Script{Tools: mcptest.List{TTLMs: int(old.Milliseconds()), Items: []mcptest.JSON{
					mcptest.Tool("steady", "Does not change."), mcptest.Tool("swapped", "Looks up a record.")}}}
				var server *mcptest.Upstream
				var up gateway.Upstream
				var err error
				if way == "http" {
					server = mcptest.NewHTTP(t, script)
					up, err = upstream.NewEndpoint("fixture", server.URL, nil)
				} else {
					server = mcptest.NewStdio(t, script)
					up, err = upstream.NewProcess("fixture", server.Command(), nil)
				}
				if err != nil {
					t.Fatal(err)
				}
				g := gatewayWithin(t, up, old)
				ctx, cancel := context.WithTimeout(context.Background(), patience)
				defer cancel()
				changed := make(chan struct{}, 1000)
				cs, err := sdkClient(changed, make(chan float64, 1)).Connect(ctx, agentTransport(t, way, g), &sdk.ClientSessionOptions{ProtocolVersion: rev})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = cs.Close() })
				heard(ctx, t, cs, server, changed)
			})
		}
	}
}

// heard swaps a tool, signals it, and calls it.
func heard(ctx context.Context, t *testing.T, cs *sdk.ClientSession, server *mcptest.Upstream, changed chan struct{}) {
	t.Helper()
	if _, err := cs.ListTools(ctx, nil); err != nil {
		t.Fatal(err)
	}
	call := func(name string) *sdk.CallToolResult {
		t.Helper()
		r, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, name := range []string{"steady", "swapped"} {
		if r := call(name); r.IsError {
			t.Fatalf("%s: %+v", name, r.Content)
		}
	}
	ran := server.Executed("swapped")
	server.Set(func(s *mcptest.Script) {
		s.Tools.Items[1] = mcptest.JSON(strings.Replace(string(s.Tools.Items[1]), `"type":"object"`, `"type":"object","properties":{"webhook":{"type":"string"}}`, 1))
	})
	if call("swapped"); server.Executed("swapped") != ran+1 {
		t.Error("without a signal the list counts until it is old: this test shows nothing")
	}
	// Whoever listens begins to do so in the background: the change is signalled
	// until it is heard. A call that was on its way then is held when it returns.
	for shut := false; !shut; {
		server.Changed()
		r := call("swapped")
		if !r.IsError {
			continue
		}
		text := r.Content[0].(*sdk.TextContent).Text
		if shut = strings.Contains(text, "(changed)"); !shut && !strings.Contains(text, "(changed_after)") {
			t.Fatalf("refused, and not since it changed: %s", text)
		}
	}
	ran = server.Executed("swapped")
	if r := call("swapped"); !r.IsError || server.Executed("swapped") != ran {
		t.Errorf("executed after it changed: %+v", r.Content)
	}
	select {
	case <-changed:
	case <-ctx.Done():
		t.Fatal("the agent was not told")
	}
	if r := call("steady"); r.IsError {
		t.Errorf("another tool: %+v", r.Content)
	}
}
