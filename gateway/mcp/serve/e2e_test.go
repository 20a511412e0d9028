package serve

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/gateway"
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

// asServer makes the test binary an MCP server on stdio, for the tests to start.
const asServer = "SERVE_TEST_AS_SERVER"

func TestMain(m *testing.M) {
	mcptest.Main() // it may be a scripted server
	if os.Getenv(asServer) != "" {
		if err := fixture(new(executions)).Run(context.Background(), &sdk.StdioTransport{}); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// executions is what an upstream did, by the names of its tools.
type executions struct {
	mu sync.Mutex
	n  map[string]int
}

func (e *executions) add(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.n == nil {
		e.n = map[string]int{}
	}
	e.n[name]++
}

func (e *executions) of(name string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.n[name]
}

type echoArgs struct {
	Text string `json:"text"`
	Big  int64  `json:"big,omitempty"`
}

// fixture is a server of the SDK, as innocent as can be.
func fixture(done *executions) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "fixture", Version: "1"}, &sdk.ServerOptions{Instructions: "Echoes texts."})
	sdk.AddTool(s, &sdk.Tool{Name: "echo", Description: "Returns the text."}, func(ctx context.Context, r *sdk.CallToolRequest, a echoArgs) (*sdk.CallToolResult, echoArgs, error) {
		done.add("echo")
		if t := r.Params.GetProgressToken(); t != nil {
			_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: t, Progress: 0.5})
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: a.Text}}}, a, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "ask", Description: "Asks who you are."}, func(ctx context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		question := &sdk.ElicitParams{Message: "Who are you?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}}}
		if _, stateless := r.Params.Meta["io.modelcontextprotocol/protocolVersion"]; stateless {
			a, ok := r.Params.InputResponses["who"].(*sdk.ElicitResult)
			if !ok {
				return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"who": question}, RequestState: "first"}, nil, nil
			}
			name, _ := a.Content["name"].(string)
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: name + r.Params.RequestState}}}, nil, nil
		}
		a, err := r.Session.Elicit(ctx, question)
		if err != nil {
			return nil, nil, err
		}
		name, _ := a.Content["name"].(string)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: name}}}, nil, nil
	})
	for _, name := range []string{"ping_tool", "delete_record", "send_mail", "read_note", "delete_note"} {
		sdk.AddTool(s, &sdk.Tool{Name: name, Description: "Does what its name says."}, func(context.Context, *sdk.CallToolRequest, map[string]any) (*sdk.CallToolResult, any, error) {
			done.add(name)
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "pong"}}}, nil, nil
		})
	}
	s.AddResource(&sdk.Resource{Name: "note", URI: "test://note", MIMEType: "text/plain"}, func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, Text: "a note"}}}, nil
	})
	s.AddPrompt(&sdk.Prompt{Name: "greet"}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: "Hello."}}}}, nil
	})
	return s
}

// oneAgent is a record with one agent in it, whatever its credential.
type oneAgent struct{}

func (oneAgent) ByID(id credentials.AgentID) (*registry.Agent, error) {
	return &registry.Agent{ID: id, Name: "alice", Profile: string(policy.Personal)}, nil
}
func (oneAgent) BySecret(credentials.Digest) (*registry.Agent, error) {
	return &registry.Agent{ID: "agt_01KBA0000000000000000000AA", Name: "alice", Profile: string(policy.Personal)}, nil
}
func (oneAgent) Fresh() (uint64, error) { return 1, nil }

// realGateway is a gateway with all that it stands on, in a folder of its own.
func realGateway(t testing.TB, up gateway.Upstream, rules ...string) *gateway.Gateway {
	t.Helper()
	return gatewayWithin(t, up, 0, rules...)
}

// gatewayWithin is one with a freshness bound of its own; 0 is the default.
func gatewayWithin(t testing.TB, up gateway.Upstream, fresh time.Duration, rules ...string) *gateway.Gateway {
	t.Helper()
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ring, err := keyring.Open(filepath.Join(dir, "keys"), keyring.Options{Create: true, Issuer: "http://127.0.0.1:1", WorkFactor: 2})
	must(err)
	base, err := baseline.Open(filepath.Join(dir, "surface"), baseline.Options{})
	must(err)
	rs, err := runs.Open(filepath.Join(dir, "runs"), runs.Options{})
	must(err)
	log, err := decisions.Open(dir, decisions.Options{Segment: 1 << 20, Quota: 16 << 20})
	must(err)
	decide := policy.Of(nil)
	if len(rules) > 0 {
		r, err := policy.Load([]byte(rules[0]))
		must(err)
		decide = policy.Of(r)
	}
	at := up.Place().Origin.String()
	g, err := gateway.New(gateway.Options{Upstream: up, Agents: oneAgent{}, Runs: rs, Record: log, Policy: decide,
		Surfaces: gateway.Surfaces{Baseline: surface.Store(base, at), Limits: surface.Limits{Freshness: fresh}}, Inspector: inspect.New(), Keys: ring,
		Issuer: "http://127.0.0.1:1", Profile: policy.Personal, Own: gateway.Own{Data: dir}})
	must(err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := g.Close(ctx); err != nil {
			t.Errorf("closing the gateway: %v", err)
		}
		if err := up.Close(); err != nil {
			t.Errorf("closing the upstream: %v", err)
		}
		if err := log.Close(); err != nil {
			t.Errorf("closing the log: %v", err)
		}
	})
	return g
}

func endpointUpstream(t testing.TB, stateless bool) (gateway.Upstream, *executions) {
	t.Helper()
	done := new(executions)
	s := fixture(done)
	srv := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: stateless}))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	up, err := upstream.NewEndpoint("fixture", srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	return up, done
}

func processUpstream(t testing.TB) gateway.Upstream {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	up, err := upstream.NewProcess("fixture", []string{exe}, &upstream.ProcessOptions{Env: []string{asServer + "=1", "PATH=" + os.Getenv("PATH")}})
	if err != nil {
		t.Fatal(err)
	}
	return up
}

// agentTransport is the way of an agent's SDK client to the gateway.
func agentTransport(t testing.TB, way string, g *gateway.Gateway) sdk.Transport {
	t.Helper()
	if way == "http" {
		h := NewHandler(g, Options{})
		srv := httptest.NewServer(h)
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			if err := h.Drain(ctx); err != nil {
				t.Errorf("draining: %v", err)
			}
			srv.Close()
		})
		return &sdk.StreamableClientTransport{Endpoint: srv.URL + "/mcp/" + alice}
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := ServeStdio(context.Background(), g, inR, outW, Options{})
		outW.Close()
		done <- err
	}()
	t.Cleanup(func() {
		inW.Close()
		if err := <-done; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	return &sdk.IOTransport{Reader: outR, Writer: inW}
}

// An SDK client in front and an SDK server behind, on both transports and in both
// eras: nobody notices the gateway, but for the label in each result.
func TestThroughTheGateway(t *testing.T) {
	for _, c := range []struct {
		name, agent, server string
		modern              bool
	}{
		{"sessions, http to http", "http", "http", false},
		{"sessions, http to stdio", "http", "stdio", false},
		{"sessions, stdio to stdio", "stdio", "stdio", false},
		{"sessions, stdio to http", "stdio", "http", false},
		{"stateless, http to http", "http", "http", true},
		{"stateless, http to stdio", "http", "stdio", true},
		{"stateless, stdio to stdio", "stdio", "stdio", true},
		{"stateless, stdio to http", "stdio", "http", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var up gateway.Upstream
			if c.server == "http" {
				up, _ = endpointUpstream(t, c.modern)
			} else {
				up = processUpstream(t)
			}
			g := realGateway(t, up)
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			opt := &sdk.ClientSessionOptions{ProtocolVersion: "2026-07-28"}
			if !c.modern {
				opt.ProtocolVersion = "2025-11-25"
			}
			progress := make(chan float64, 1)
			cs, err := sdkClient(make(chan struct{}, 16), progress).Connect(ctx, agentTransport(t, c.agent, g), opt)
			if err != nil {
				t.Fatal(err)
			}
			checkThrough(ctx, t, cs, progress)
			if err := cs.Close(); err != nil {
				t.Errorf("closing: %v", err)
			}
		})
	}
}

func checkThrough(ctx context.Context, t *testing.T, cs *sdk.ClientSession, progress chan float64) {
	t.Helper()
	tools, err := cs.ListTools(ctx, nil)
	if err != nil || len(tools.Tools) != 7 {
		t.Fatalf("tools: %v %+v", err, tools)
	}
	res, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: "echo", Arguments: echoArgs{Text: "hello", Big: 1 << 53}, Meta: sdk.Meta{"progressToken": "p"}})
	if err != nil || res.IsError {
		t.Fatalf("echo: %v %+v", err, res)
	}
	if got := res.Content[0].(*sdk.TextContent).Text; got != "hello" {
		t.Errorf("echo: %q", got)
	}
	if p := <-progress; p != 0.5 {
		t.Errorf("progress: %v", p)
	}
	if res.Meta["dev.pratique/label"] == nil {
		t.Errorf("no label: %v", res.Meta)
	}
	res, err = cs.CallTool(ctx, &sdk.CallToolParams{Name: "ask"})
	if err != nil || res.IsError || !strings.HasPrefix(res.Content[0].(*sdk.TextContent).Text, "Ada") {
		t.Errorf("ask: %v %+v", err, res)
	}
	if _, err := cs.ReadResource(ctx, &sdk.ReadResourceParams{URI: "test://note"}); err == nil {
		t.Error("a resource was read before it was listed")
	}
	if _, err := cs.ListResources(ctx, nil); err != nil {
		t.Errorf("resources: %v", err)
	}
	if _, err := cs.ListPrompts(ctx, nil); err != nil {
		t.Errorf("prompts: %v", err)
	}
	note, err := cs.ReadResource(ctx, &sdk.ReadResourceParams{URI: "test://note"})
	if err != nil || note.Contents[0].Text != "a note" {
		t.Errorf("resource: %v %+v", err, note)
	}
	greet, err := cs.GetPrompt(ctx, &sdk.GetPromptParams{Name: "greet"})
	if err != nil || len(greet.Messages) != 1 {
		t.Errorf("prompt: %v %+v", err, greet)
	}
	res, err = cs.CallTool(ctx, &sdk.CallToolParams{Name: "no_such_tool"})
	if err == nil && !res.IsError {
		t.Errorf("an unknown tool: %+v", res)
	}
	if _, err := cs.ReadResource(ctx, &sdk.ReadResourceParams{URI: "test://other"}); err == nil {
		t.Error("a resource that was not listed was read")
	}
	if !strings.Contains(cs.InitializeResult().Instructions, "Echoes") {
		t.Errorf("instructions: %q", cs.InitializeResult().Instructions)
	}
}
