package gateway

import (
	"context"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry"
)

// Agents is the registry's word on agents. Its errors are registry.ErrNotFound
// and, while the view is stale or poisoned, registry.ErrStaleView: then nobody is
// admitted and nothing is forwarded.
type Agents interface {
	// BySecret is the agent whose credential has this digest.
	BySecret(secret credentials.Digest) (*registry.Agent, error)
	// ByID is an agent's record.
	ByID(id credentials.AgentID) (*registry.Agent, error)
	// Fresh is the size of the log that answers are from now, or why there is none.
	Fresh() (size uint64, err error)
}

// Runs names runs. A run outlives connections and restarts; only an operator or
// the end of a launch ends it.
type Runs interface {
	// Of is the open run of an agent's credential; it is begun where there is none.
	Of(id credentials.AgentID) (run string, err error)
	// Launch begins a run, and an agent, of a launch on stdio.
	Launch(name string) (id credentials.AgentID, run string, err error)
}

// An Observer watches requests: spans and metrics. It learns no argument and no
// result. It must not block.
type Observer interface {
	// Begin is called once for each request of an agent.
	Begin(ctx context.Context, s Seen) (context.Context, Watch)
}

// A Watch is one request under observation. Decided, Forward and Returned are
// not called for a request that does not get there.
type Watch interface {
	Decided(d policy.Decision, tier labels.Tier)
	// Forward is called before the request goes upstream. The trace context it
	// returns (W3C traceparent and tracestate) travels with it; empty: none.
	Forward(ctx context.Context) (c context.Context, traceparent, tracestate string)
	Returned(f mcp.Frame)
	// End is called once: outcome is one of registry.Outcome…, or "answered" for
	// what goes to no upstream.
	End(outcome string)
}

// Seen is what an observer learns of a request.
type Seen struct {
	Method      string
	Name        string // of the tool or prompt; empty: none, or not one that the agent was shown
	ID          mcp.ID
	Revision    mcp.Revision
	Way         string
	Agent       credentials.AgentID
	Run         string
	Upstream    string
	Session     string
	At          time.Time
	Traceparent string // as the agent sent it; untrusted
	Tracestate  string
}
