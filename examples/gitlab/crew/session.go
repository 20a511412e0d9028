// Package crew is who works on the repository of the story: a maintainer who does
// what its task says and reads the rest as data, an obedient one who does whatever
// it reads, and a language model behind an OpenAI-compatible endpoint. All of them
// speak MCP to a server, and neither know nor care whether Pratique stands between.
package crew

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Tool is one that a server lists.
type Tool struct {
	Name, Description string
	Schema            jsontext.Value // of its arguments
}

// A Session is a client's connection to an MCP server.
type Session struct {
	mcp *mcp.ClientSession
}

// Start starts a server as a process, and env in the place of our own. An error says
// the end of what the process wrote for people.
func Start(ctx context.Context, argv, env []string) (*Session, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	said := &tail{}
	cmd.Env, cmd.Stderr = env, said
	s, err := connect(ctx, &mcp.CommandTransport{Command: cmd})
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, said)
	}
	return s, nil
}

// tail is the end of what a process wrote.
type tail struct {
	mu   sync.Mutex
	last []byte
}

const tailLength = 2000

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, b...)
	t.last = t.last[max(0, len(t.last)-tailLength):]
	return len(b), nil
}

// String is that end.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.last))
}

// Dial connects to a streamable HTTP endpoint.
func Dial(ctx context.Context, url string) (*Session, error) {
	return connect(ctx, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: http.DefaultClient})
}

func connect(ctx context.Context, t mcp.Transport) (*Session, error) {
	s, err := mcp.NewClient(&mcp.Implementation{Name: "crew", Version: "1"}, nil).Connect(ctx, t, nil)
	if err != nil {
		return nil, err
	}
	return &Session{s}, nil
}

// Close ends the connection, and the process with it.
func (s *Session) Close() error { return s.mcp.Close() }

// Tools are all tools that the server lists.
func (s *Session) Tools(ctx context.Context) (list []Tool, err error) {
	for t, err := range s.mcp.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		schema, err := json.Marshal(t.InputSchema)
		if err != nil {
			return nil, err
		}
		list = append(list, Tool{t.Name, t.Description, schema})
	}
	return list, nil
}

// A Result is what came of a call.
type Result struct {
	Text    string // of all parts of the content
	Failed  bool   // the server, or Pratique, says so
	Refused *Refusal
}

// A Refusal is what Pratique says of a call that it did not let through.
type Refusal struct {
	Status  string   `json:"status"`
	By      string   `json:"enforcedBy"`
	Invoked *bool    `json:"capabilityInvoked"`
	Reason  string   `json:"reason"`
	Rule    string   `json:"rule"`
	Paths   []string `json:"paths"`
	Ref     string   `json:"ref"`
}

// String is the outcome in a few words.
func (r Result) String() string {
	switch {
	case r.Refused != nil && len(r.Refused.Paths) > 0:
		return fmt.Sprintf("refused: %s at %s", r.Refused.Reason, strings.Join(r.Refused.Paths, ", "))
	case r.Refused != nil:
		return "refused: " + r.Refused.Reason
	case r.Failed:
		return "failed"
	}
	return "done"
}

// Call calls a tool with arguments as they stand. An error is one of the
// connection or of the protocol.
func (s *Session) Call(ctx context.Context, tool string, args jsontext.Value) (r Result, err error) {
	answer, err := s.mcp.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: raw(args)})
	if err != nil {
		return r, err
	}
	var b strings.Builder
	for _, c := range answer.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	r = Result{Text: b.String(), Failed: answer.IsError}
	if o, err := json.Marshal(answer.StructuredContent); err == nil {
		var f Refusal
		if json.Unmarshal(o, &f) == nil && f.By == "pratique" {
			r.Refused = &f
		}
	}
	return r, nil
}

// raw are arguments that are sent as they stand.
type raw jsontext.Value

// MarshalJSON implements the interface of that name.
func (r raw) MarshalJSON() ([]byte, error) {
	if len(r) == 0 {
		return []byte("{}"), nil
	}
	return r, nil
}
