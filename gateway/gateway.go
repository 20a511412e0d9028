// Package gateway is the one path that every call takes: frame, surface, label,
// policy, approval, gate, upstream, and back through the inspector. An MCP agent
// stands in front of it, a server with tools behind it.
//
// call.go is the path, one straight function. Package mcp has the words of the
// wire, mcp/serve the agents' side, mcp/upstream the servers' side, and surface
// what one agent can read of one upstream. The interfaces here are the seams
// between them.
//
// The compiler keeps the order of the path: each step takes what the step before
// made. A gate.Pass comes from a surface only, a labels.Verified from a verifier,
// a policy.Decision from a policy; permitted, admitted and recorded are made in
// one place each, and what sends a call takes the last of them.
package gateway

import (
	"context"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/runs"
)

// An Agent is who calls: one credential, or one launch on stdio. Nothing that
// the agent sends makes, changes or ends it (RULES.md 1).
type Agent struct {
	ID      credentials.AgentID // of the credential; of a launch: drawn for it
	Run     string              // run_ and a ULID: what hangs on it outlives connections and restarts
	Name    string              // for people
	Profile policy.Profile

	run      *runs.Run
	launched bool // no credential of the registry's stands behind it
}

// A Peer is the way back to an agent while one of its requests is open, or, as
// the session's own peer, while its connection is. Both methods may be called by
// several goroutines at once.
type Peer interface {
	// Notify sends a notification. It never blocks for longer than the peer's own
	// bound, and drops what does not fit; what was dropped is counted.
	Notify(f mcp.Frame)
	// Ask sends a request of the upstream to the agent and waits for the answer. The
	// id on the wire is the peer's own. ErrNoQuestions where the peer cannot ask.
	Ask(ctx context.Context, f mcp.Frame) (mcp.Frame, error)
}

// An Upstream is a place where tools come from, as the operator configured it.
type Upstream interface {
	// Name is the operator's word for it.
	Name() string
	// Place is its origin, and how well that is known.
	Place() Place
	// Connect opens a link for one agent's session. What arrives outside of an
	// exchange goes to the sink.
	Connect(ctx context.Context, hello mcp.Hello, sink Sink) (Link, error)
	// Close ends all links and processes.
	Close() error
}

// A Place is an upstream's origin with what the operator's side knows of it.
type Place struct {
	Origin   origin.Origin
	Launch   *baseline.Launch // stdio only
	Unpinned bool             // a launcher that fetches code without exact version and integrity (RULES.md 36)
}

// A Link is one connection to an upstream, made for one session. All methods
// may be called by several goroutines at once.
type Link interface {
	// Welcome is what the upstream said of itself when the link was made, or was
	// last made again.
	Welcome() mcp.Welcome
	// List asks for one page of a list: tools/list, prompts/list, resources/list or
	// resources/templates/list. No agent's value travels with it.
	List(ctx context.Context, method string, params []byte) (mcp.Frame, error)
	// Do spends the pass and carries one request, its params byte for byte. The
	// answer is a Result or Failure frame with the id of x.Frame. A done ctx is a
	// cancellation: the upstream is told.
	Do(ctx context.Context, p gate.Pass, x Exchange) (mcp.Frame, error)
	// Notify passes a notification of the agent on.
	Notify(ctx context.Context, f mcp.Frame) error
	Close() error
}

// An Exchange is one request on its way, with what takes care of whatever the
// upstream sends while it is open.
type Exchange struct {
	Frame   mcp.Frame
	Hello   mcp.Hello         // stateless era: what travels beside it is already in the params' _meta
	Headers map[string]string // Mcp-Name, Mcp-Param-* by their full names, as they go on the wire: from the cleared schema; nil: none
	Receive func(f mcp.Frame) // a notification that belongs to it; nil: dropped
	Ask     func(ctx context.Context, f mcp.Frame) mcp.Frame
}

// A Sink takes what an upstream sends that belongs to no open exchange that is
// known. Its methods return soon.
type Sink interface {
	// Receive takes a notification.
	Receive(f mcp.Frame)
	// Ask takes a question and returns its answer, always.
	Ask(ctx context.Context, f mcp.Frame) mcp.Frame
	// Lost says that the connection broke or was made again: nothing learnt from
	// it before is known to hold.
	Lost(err error)
}
