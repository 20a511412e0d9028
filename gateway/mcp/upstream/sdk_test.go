package upstream_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/gateway/mcp/upstream"
)

// sdkServer is a server of the official SDK.
func sdkServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "sdk", Version: "1"}, &sdk.ServerOptions{Instructions: "be kind"})
	s.AddTool(&sdk.Tool{Name: "echo", InputSchema: map[string]any{"type": "object"}}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(r.Params.Arguments)}}}, nil
	})
	s.AddTool(&sdk.Tool{Name: "silent", InputSchema: map[string]any{"type": "object"}}, func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	s.AddTool(&sdk.Tool{Name: "progress", InputSchema: map[string]any{"type": "object"}}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1})
		return &sdk.CallToolResult{Content: []sdk.Content{}}, nil
	})
	s.AddTool(&sdk.Tool{Name: "ask", InputSchema: map[string]any{"type": "object"}}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		//lint:ignore SA1019 what is deprecated is alive, and has to go through
		a, err := r.Session.CreateMessage(ctx, &sdk.CreateMessageParams{MaxTokens: 1})
		if err != nil {
			return nil, err
		}
		return &sdk.CallToolResult{Content: []sdk.Content{a.Content}}, nil
	})
	s.AddTool(&sdk.Tool{Name: "change", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		s.AddTool(&sdk.Tool{Name: "new" + time.Now().Format("150405000000000"), InputSchema: map[string]any{"type": "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return nil, nil })
		return &sdk.CallToolResult{Content: []sdk.Content{}}, nil
	})
	return s
}

// sdkEndpoint serves it over HTTP.
func sdkEndpoint(t testing.TB, o *sdk.StreamableHTTPOptions) *upstream.Endpoint {
	t.Helper()
	server := sdkServer()
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, o))
	t.Cleanup(web.Close)
	e, err := upstream.NewEndpoint("sdk", web.URL+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// withMeta are params as a stateless request has them.
func withMeta(t testing.TB, h mcp.Hello, params string) string {
	t.Helper()
	if !h.Revision.Modern() {
		return params
	}
	v, err := mcp.SetMeta(jsontext.Value(params), h.Meta(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(v)
}

func TestAgainstSDK(t *testing.T) {
	for _, c := range []struct {
		name  string
		hello mcp.Hello
		http  *sdk.StreamableHTTPOptions
	}{
		{"stdio legacy", legacy(), nil}, {"stdio modern", modern(), nil},
		{"http legacy", legacy(), &sdk.StreamableHTTPOptions{}},
		{"http legacy, resumable", legacy(), &sdk.StreamableHTTPOptions{EventStore: sdk.NewMemoryEventStore(nil)}},
		{"http legacy, json", legacy(), &sdk.StreamableHTTPOptions{JSONResponse: true}},
		{"http legacy, stateless", legacy(), &sdk.StreamableHTTPOptions{Stateless: true}},
		{"http modern", modern(), &sdk.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true}},
		{"http modern, json", modern(), &sdk.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true, JSONResponse: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			clean(t)
			if c.http == nil {
				l, s := connect(t, newProcess(t, "sdk", nil), c.hello)
				againstSDK(t, l, s, c.hello, true, true)
				return
			}
			l, s := connect(t, sdkEndpoint(t, c.http), c.hello)
			againstSDK(t, l, s, c.hello, !c.http.Stateless, !c.http.JSONResponse)
		})
	}
}

func againstSDK(t *testing.T, l gateway.Link, s *sink, h mcp.Hello, sessions, streams bool) {
	t.Helper()
	w := l.Welcome()
	if w.Revision != h.Revision || w.Instructions == nil || *w.Instructions != "be kind" || !strings.Contains(string(w.ServerInfo), `"sdk"`) {
		t.Fatalf("welcome %+v", w)
	}
	params := withMeta(t, h, `{"name":"echo","arguments":{"n":9007199254740993}}`)
	for range 3 {
		if got := mustCall(t, l, "echo", params); !strings.Contains(got, `9007199254740993`) {
			t.Errorf("got %s", got)
		}
	}
	f, err := l.List(within(t), "tools/list", []byte(`{}`))
	if err != nil || !strings.Contains(string(f.Result), `"progress"`) {
		t.Fatalf("%s %v", f.Result, err)
	}
	if streams {
		pass, x := exchange(t, "progress", withMeta(t, h, `{"name":"progress","arguments":{},"_meta":{"progressToken":"p"}}`))
		n := 0
		x.Receive = func(mcp.Frame) { n++ }
		if _, err := l.Do(within(t), pass, x); err != nil || n != 1 {
			t.Errorf("%d of progress, %v", n, err)
		}
	}
	if sessions && streams && !h.Revision.Modern() {
		pass, x := exchange(t, "ask", `{"name":"ask","arguments":{}}`)
		x.Ask = func(_ context.Context, f mcp.Frame) mcp.Frame {
			return mcp.Answer(f.ID, jsontext.Value(`{"role":"assistant","model":"m","content":{"type":"text","text":"yes"}}`))
		}
		if f, err := l.Do(within(t), pass, x); err != nil || !strings.Contains(string(f.Result), "yes") {
			t.Errorf("%s %v %v", f.Result, f.Error, err)
		}
	}
	if sessions || h.Revision.Modern() {
		mustCall(t, l, "change", withMeta(t, h, `{"name":"change","arguments":{}}`))
		s.want(t, "notifications/tools/list_changed")
	}
	if !sessions && !h.Revision.Modern() {
		return // the SDK does not see a cancellation here, and would wait for ever
	}
	ctx, cancel := context.WithCancel(context.Background())
	pass, x := exchange(t, "silent", withMeta(t, h, `{"name":"silent","arguments":{}}`))
	out := make(chan error)
	go func() {
		_, err := l.Do(ctx, pass, x)
		out <- err
	}()
	mustCall(t, l, "echo", params)
	cancel()
	if err := <-out; err == nil {
		t.Error("a cancelled call was answered")
	}
	mustCall(t, l, "echo", params)
}
