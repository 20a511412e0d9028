package gateway

import (
	"context"

	"github.com/pratique-dev/pratique/gateway/mcp"
)

// A Gateway stands between agents and one upstream.
type Gateway struct {
	o Options
}

// New makes a gateway. It connects to nothing until an agent comes.
func New(o Options) (*Gateway, error) {
	o.Limits.defaults()
	return &Gateway{o: o}, nil
}

// Admit is the agent whose credential this is: ErrCredential, ErrNotNow.
func (g *Gateway) Admit(credential string) (Agent, error) { return Agent{}, ErrCredential }

// Launch is the agent of a launch on stdio: this process's parent, whoever it
// is, under the profile of the launch.
func (g *Gateway) Launch(name string) (Agent, error) { return Agent{}, ErrNotNow }

// Reload changes what can change in a running gateway, at once for every call
// that is decided afterwards.
func (g *Gateway) Reload(r Reload) {}

// Open begins a session of the legacy era by connecting to the upstream; own
// is the way to the agent outside of its requests. The session's Welcome says
// which revision was agreed.
func (g *Gateway) Open(ctx context.Context, who Agent, hello mcp.Hello, own Peer, via Via) (*Session, error) {
	return nil, ErrUnreachable
}

// Stateless is the session that stateless requests of this agent with this
// hello share. It is not closed by its users; the gateway closes it when it was
// idle for long.
func (g *Gateway) Stateless(ctx context.Context, who Agent, hello mcp.Hello, via Via) (*Session, error) {
	return nil, ErrUnreachable
}

// Close ends all sessions. Calls in flight are answered with a refusal or
// their result within the ctx.
func (g *Gateway) Close(ctx context.Context) error { return nil }

// A Session is one agent's way through the gateway to its upstream. Its methods
// may be called by several goroutines at once.
type Session struct {
	g *Gateway
}

// ID is the session's own id, for logs: ses_ and a ULID. It is not the id on the
// wire and opens nothing.
func (s *Session) ID() string { return "" }

// Done is closed when the session has ended, by Close, by the end of its agent's
// credential, or because the upstream is gone for good.
func (s *Session) Done() <-chan struct{} { return nil }

// Welcome is what initialize or server/discover answers, judged.
func (s *Session) Welcome() mcp.Welcome { return mcp.Welcome{} }

// Handle takes one request and always answers it: a Result or Failure frame
// with its id. A done ctx says that the agent cancelled it, or left; the answer
// is then of no use to anybody.
func (s *Session) Handle(ctx context.Context, f mcp.Frame, peer Peer) mcp.Frame { return mcp.Frame{} }

// Notice takes a notification of the agent, other than that a request is
// cancelled: whoever serves the agent cancels the ctx of its Handle.
func (s *Session) Notice(ctx context.Context, f mcp.Frame) {}

// Drop records a frame that was dropped before it got here: an orphan answer, a
// call without an id, a batch where there are none. reason is a word of ours.
func (s *Session) Drop(reason string, f mcp.Frame) {}

// Close ends the session and its link.
func (s *Session) Close() error { return nil }
