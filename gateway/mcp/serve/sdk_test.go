package serve

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
)

// elicit asks the agent something in the middle of a call, tells it of progress,
// and answers with what it said.
func elicit(ctx context.Context, s *fakeSession, f mcp.Frame, peer gateway.Peer) mcp.Frame {
	if f.Method == methodListen {
		id := jsontext.Value(f.ID)
		peer.Notify(mcp.Note("notifications/subscriptions/acknowledged", mcp.Object(
			mcp.Member{Name: "notifications", Value: jsontext.Value(`{"toolsListChanged":true}`)},
			mcp.Member{Name: "_meta", Value: mcp.Object(mcp.Member{Name: mcp.MetaSubscription, Value: id})})))
		peer.Notify(mcp.Note("notifications/tools/list_changed", mcp.Object(
			mcp.Member{Name: "_meta", Value: mcp.Object(mcp.Member{Name: mcp.MetaSubscription, Value: id})})))
		<-ctx.Done()
		return mcp.Answer(f.ID, jsontext.Value(`{}`))
	}
	if name, _ := mcp.GetString(f.Params, "name"); name != "ask" {
		return mcp.Frame{}
	}
	token, _ := mcp.Get(f.Params, "_meta", mcp.MetaProgress)
	peer.Notify(mcp.Note("notifications/progress", mcp.Object(mcp.Member{Name: "progressToken", Value: token}, mcp.Member{Name: "progress", Value: jsontext.Value("0.5")})))
	a, err := peer.Ask(ctx, mcp.Ask(`1`, "elicitation/create", jsontext.Value(`{"message":"who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`)))
	if err != nil || a.Shape != mcp.Result {
		return mcp.Fail(f.ID, mcp.CodeInternal, fmt.Sprint(err, a), nil)
	}
	who, _ := mcp.GetString(a.Result, "content", "name")
	return mcp.Answer(f.ID, mcp.Object(mcp.Member{Name: "content", Value: mcp.Array(mcp.Object(
		mcp.Member{Name: "type", Value: mcp.Quote("text")}, mcp.Member{Name: "text", Value: mcp.Quote(who)}))}))
}

func sdkClient(changed chan struct{}, progress chan float64) *sdk.Client {
	return sdk.NewClient(&sdk.Implementation{Name: "t", Version: "0"}, &sdk.ClientOptions{
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
		},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed <- struct{}{} },
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			progress <- r.Params.Progress
		},
	})
}

func TestSDKClientOfTheEraOfSessions(t *testing.T) {
	for _, way := range []string{"http", "stdio"} {
		t.Run(way, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				g := &fakeGateway{handle: elicit, modern: gateway.ErrEra}
				changed, progress := make(chan struct{}, 1), make(chan float64, 1)
				cs, err := sdkClient(changed, progress).Connect(ctx, sdkTransport(t, way, g), nil)
				if err != nil {
					t.Fatal(err)
				}
				checkSDK(ctx, t, cs)
				res, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: "ask", Meta: sdk.Meta{"progressToken": "p"}})
				if err != nil {
					t.Fatal(err)
				}
				if got := res.Content[0].(*sdk.TextContent).Text; got != "Ada" {
					t.Errorf("asked: %q", got)
				}
				if p := <-progress; p != 0.5 {
					t.Errorf("progress %v", p)
				}
				g.last().own.Notify(mcp.Note("notifications/tools/list_changed", nil))
				<-changed
				if err := cs.Close(); err != nil {
					t.Errorf("closing: %v", err)
				}
			})
		})
	}
}

func TestSDKClientOfTheStatelessEra(t *testing.T) {
	for _, way := range []string{"http", "stdio"} {
		t.Run(way, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				g := &fakeGateway{handle: elicit}
				changed, progress := make(chan struct{}, 1), make(chan float64, 1)
				cs, err := sdkClient(changed, progress).Connect(ctx, sdkTransport(t, way, g), nil)
				if err != nil {
					t.Fatal(err)
				}
				checkSDK(ctx, t, cs)
				<-changed
				if err := cs.Close(); err != nil {
					t.Errorf("closing: %v", err)
				}
				if len(g.sessions) != 0 {
					t.Error("a session was opened")
				}
			})
		})
	}
}

func checkSDK(ctx context.Context, t *testing.T, cs *sdk.ClientSession) {
	t.Helper()
	tools, err := cs.ListTools(ctx, nil)
	if err != nil || len(tools.Tools) != 1 || tools.Tools[0].Name != "echo" {
		t.Fatalf("list: %v %+v", err, tools)
	}
	for i := range 20 {
		res, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"i": i}})
		if err != nil {
			t.Fatal(err)
		}
		if got := res.StructuredContent.(map[string]any)["i"]; got != float64(i) {
			t.Fatalf("%d: %v", i, got)
		}
	}
	if _, err := cs.GetPrompt(ctx, &sdk.GetPromptParams{Name: "x"}); err == nil {
		t.Error("a method that is refused succeeded")
	}
	if _, err := cs.ListTools(ctx, nil); err != nil {
		t.Errorf("after a refusal: %v", err)
	}
}

func sdkTransport(t *testing.T, way string, g *fakeGateway) sdk.Transport {
	if way == "http" {
		r := newRig(t, g, Options{})
		return &sdk.StreamableClientTransport{Endpoint: at + "/mcp/" + alice, HTTPClient: r.client}
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		err := serveStdio(ctx, g, inR, outW, Options{})
		outW.Close()
		done <- err
	}()
	t.Cleanup(func() {
		cancel()
		inR.Close()
		outR.Close()
		if err := <-done; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	return &sdk.IOTransport{Reader: outR, Writer: inW}
}
