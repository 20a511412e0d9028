package upstream

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"time"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
)

// EndpointOptions are the settings of an Endpoint; nil and the zero value work.
type EndpointOptions struct {
	Headers http.Header // sent with each request, for authentication; none that the protocol uses
	TLS     *tls.Config // nil: the system's roots, TLS 1.2
	Bounds  Bounds
	Log     *slog.Logger     // nil: nothing
	Now     func() time.Time // nil: time.Now
}

// An Endpoint is an upstream at a URL, over streamable HTTP.
type Endpoint struct{}

var _ gateway.Upstream = (*Endpoint)(nil)

// NewEndpoint is the upstream at the URL: https, or http on this machine, without
// user name, query and fragment. Its error is ErrOptions. Nothing is dialled yet.
func NewEndpoint(name, url string, o *EndpointOptions) (*Endpoint, error) { panic("not yet") }

// Name is the operator's word for it.
func (e *Endpoint) Name() string { panic("not yet") }

// Place is its origin: the URL.
func (e *Endpoint) Place() gateway.Place { panic("not yet") }

// Connect shakes hands with the server.
func (e *Endpoint) Connect(ctx context.Context, hello mcp.Hello, sink gateway.Sink) (gateway.Link, error) {
	panic("not yet")
}

// Stats counts what was dropped.
func (e *Endpoint) Stats() Stats { panic("not yet") }

// Close ends all links and idle connections.
func (e *Endpoint) Close() error { panic("not yet") }
