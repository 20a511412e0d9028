package mcptest

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The fixture is a real small thing: the official SDK's client takes it for a
// server, in both eras and over both transports.
func TestSpeaksWithTheSDK(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s := script()
	s.Answers["plain"] = Answer{Questions: []Question{{Method: "elicitation/create", Params: JSON(`{"mode":"form","message":"How many?","requestedSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}`)}}}
	s.Answers["echo"] = Answer{Echo: true, Progress: 2, Message: "x"}
	web, std := NewHTTP(t, s), NewStdio(t, s)
	old := s
	old.Revisions = Revisions[:4]
	webOld, stdOld := NewHTTP(t, old), NewStdio(t, old)
	run := func(up *Upstream) mcp.Transport {
		if up.URL != "" {
			return &mcp.StreamableClientTransport{Endpoint: up.URL}
		}
		argv := up.Command()
		return &mcp.CommandTransport{Command: exec.Command(argv[0], argv[1:]...)}
	}
	for name, up := range map[string]*Upstream{"http": web, "stdio": std, "legacy http": webOld, "legacy stdio": stdOld} {
		t.Run(name, func(t *testing.T) {
			want := Modern
			if strings.HasPrefix(name, "legacy") {
				want = "2025-11-25"
			}
			changed := make(chan bool, 10)
			c := mcp.NewClient(&mcp.Implementation{Name: "x", Version: "1"}, &mcp.ClientOptions{
				ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"n": 3}}, nil
				},
				ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- true },
			})
			cs, err := c.Connect(ctx, run(up), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer cs.Close()
			if got := cs.InitializeResult().ProtocolVersion; got != want {
				t.Errorf("revision %s, want %s", got, want)
			}
			tools, err := cs.ListTools(ctx, nil)
			if err != nil || len(tools.Tools) != 2 {
				t.Fatal(tools, err)
			}
			for _, n := range []string{"echo", "plain"} {
				r, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: n, Arguments: map[string]any{"a": 1}})
				if err != nil {
					t.Fatal(n, err)
				}
				text, _ := r.Content[0].(*mcp.TextContent)
				if wants := map[string]string{"echo": `{"a":1}`, "plain": `{"action":"accept","content":{"n":3}}`}[n]; text == nil || text.Text != wants {
					t.Errorf("%s: %+v", n, text)
				}
			}
			up.Changed()
			select {
			case <-changed:
			case <-ctx.Done():
				t.Error("no change came")
			}
		})
	}
}
