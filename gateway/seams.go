package gateway

import (
	"context"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/decisions"
	"github.com/pratique-dev/pratique/registry/holds"
	"github.com/pratique-dev/pratique/registry/tallies"
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

// A Recorder keeps the decision log. *decisions.Log is one. On an error of
// Decided nothing is forwarded, on one of Finished nothing is delivered.
type Recorder interface {
	Decided(ctx context.Context, e *registry.Entry, args []byte, durable bool) (decisions.Ticket, error)
	Finished(t decisions.Ticket, e *registry.Entry, result []byte) error
	Note(e *registry.Entry) error
}

// Holds keeps what agents did not get, or not whole, until an operator says what
// becomes of it. *holds.Store is one.
type Holds interface {
	// Put keeps a content; of one that is there already the hold of before comes back.
	Put(ctx context.Context, h holds.Hold, content []byte) (holds.Hold, error)
	// Released tells whether exactly this may be passed on.
	Released(sub holds.Subject) bool
	// Condemned tells whether this, or anything of that version of the tool, may not.
	Condemned(sub holds.Subject) bool
}

// Tallies count calls for rules about rates and known values. *tallies.Store is one.
type Tallies interface {
	// Decide shows decide what was counted, and counts the call if it returns true, in
	// one step. After an error a call that decide let through must not go on.
	Decide(ctx context.Context, sub tallies.Subject, values tallies.Values, decide func(policy.Counts) bool) error
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
	Name        string // of the tool or prompt, as the agent sent it; empty: none
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

// unwatched is a Watch for nobody.
type unwatched struct{}

func (unwatched) Decided(policy.Decision, labels.Tier) {}
func (unwatched) Forward(ctx context.Context) (context.Context, string, string) {
	return ctx, "", ""
}
func (unwatched) Returned(mcp.Frame) {}
func (unwatched) End(string)         {}
