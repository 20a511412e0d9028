// Package serve is the agents' side of the MCP wire: standard input and output
// for a gateway that an agent starts itself (ServeStdio), and streamable HTTP for
// one that is running (Handler).
//
// Both read strictly, keep sessions and revisions apart, match answers to the
// questions that were asked, and cancel what the agent cancels. They decide
// nothing: every request that can be read goes to one gateway.Session, which
// always answers it.
//
// Sources: the MCP specification, transports of revisions 2024-11-05 to
// 2025-11-25 and of 2026-07-28 (SEP-2575, SEP-2243); the HTML standard's
// server-sent events; RFC 6750 for the credential.
package serve

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
)

// Options say whom a handler answers and what one agent can cost it. The zero
// value is strict: loopback names, no foreign origin, a credential demanded.
type Options struct {
	// Path is where the handler is mounted, without the slash at the end: what follows
	// it in a URL is a credential. Default /mcp.
	Path string
	// Hosts are the values of the Host header that are answered, in lower case, as
	// "host" for any port or "host:port". Default: localhost, 127.0.0.1 and [::1], any port.
	Hosts []string
	// Origins are the values of the Origin header that are answered beside the
	// page's own, which is http or https on a host that was answered. Nobody gets CORS headers.
	Origins []string
	// Anonymous is the agent that requests without any credential are taken for. Nil,
	// the default: they get 401. It loosens RULES.md 11 and is the operator's to set.
	Anonymous *gateway.Agent
	// Name is the agent's name for a launch on stdio. Default "stdio".
	Name string
	// Random is where session ids come from. Nil: crypto/rand.
	Random io.Reader
	// Log gets what is dropped and why, in words of ours. Nil: nothing.
	Log *slog.Logger

	Limits Limits
}

// Limits bound what an agent can cost. A zero member is the default.
type Limits struct {
	Frame     int           // bytes of a frame; 16 MiB
	Batch     int           // members of a batch; 64
	Open      int           // open requests of one session, or of one agent in the stateless era; 256
	Requests  int           // HTTP requests of one agent at once, of any kind; 512
	Bodies    int64         // bytes of request bodies being read at once, of all agents; 256 MiB
	Queue     int           // notifications that wait for an agent that does not read, in one stream; 1024
	Queued    int           // and their bytes; 4 MiB
	Replay    int           // bytes of one session's ended streams that are kept for a resumption; 4 MiB
	Body      time.Duration // how long a request's body may take; 30 s
	Write     time.Duration // how long a write to an agent may take before the agent counts as gone; 30 s
	Question  time.Duration // how long an agent may think about a question; 10 min
	Idle      time.Duration // after which a session that nothing uses ends; 30 min
	Patience  time.Duration // how long an answer may take before the response becomes a stream; 1 s
	KeepAlive time.Duration // between the comments on a stream that says nothing; 25 s
	Grace     time.Duration // how long open requests go on after an agent on stdio closed its end; 5 s
}

// The reasons of a Drop, in the record.
const (
	dropOrphan  = "orphan_answer"        // an answer to a question that is not open
	dropNoID    = "no_id"                // a request's method in a frame without an id
	dropBatch   = "batch"                // an array of frames where the revision has none
	dropNotice  = "unknown_notification" // a notification that agents do not send
	dropBroken  = "unreadable"           // what is no frame, answered or not
	dropHeaders = "headers"              // headers that do not repeat what the body says
	dropTwice   = "id_in_use"            // a request with the id of one that is open
	dropTooMany = "too_many_open"
)

// The seams to the gateway, so that tests can stand in for it. of adapts the
// real one.
type (
	backend interface {
		Admit(credential string) (gateway.Agent, error)
		Launch(name string) (gateway.Agent, error)
		Open(ctx context.Context, who gateway.Agent, hello mcp.Hello, own gateway.Peer, via gateway.Via) (session, error)
		Stateless(ctx context.Context, who gateway.Agent, hello mcp.Hello, via gateway.Via) (session, error)
	}
	session interface {
		handler
		life
	}
	handler interface {
		Handle(ctx context.Context, f mcp.Frame, peer gateway.Peer) mcp.Frame
		Notice(ctx context.Context, f mcp.Frame)
		Drop(reason string, f mcp.Frame)
		ParamHeaders(f mcp.Frame) ([]mcp.ParamHeader, jsontext.Value)
	}
	life interface {
		Welcome() mcp.Welcome
		Done() <-chan struct{}
		Close() error
	}
)

type real struct{ g *gateway.Gateway }

func (r real) Admit(c string) (gateway.Agent, error)  { return r.g.Admit(c) }
func (r real) Launch(n string) (gateway.Agent, error) { return r.g.Launch(n) }

func (r real) Open(ctx context.Context, who gateway.Agent, hello mcp.Hello, own gateway.Peer, via gateway.Via) (session, error) {
	s, err := r.g.Open(ctx, who, hello, own, via)
	if err != nil {
		return nil, err // not a nil *Session in an interface
	}
	return s, nil
}

func (r real) Stateless(ctx context.Context, who gateway.Agent, hello mcp.Hello, via gateway.Via) (session, error) {
	s, err := r.g.Stateless(ctx, who, hello, via)
	if err != nil {
		return nil, err
	}
	return s, nil
}
