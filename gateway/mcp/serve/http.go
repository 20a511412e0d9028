package serve

import (
	"context"
	"net/http"

	"github.com/pratique-dev/pratique/gateway"
)

// A Handler answers agents over streamable HTTP, at Options.Path and below it.
type Handler struct {
	gw  backend
	opt Options
}

// NewHandler serves the gateway's agents. An agent is known by its credential,
// as a bearer token or as the last element of the URL; nothing of either is logged.
func NewHandler(gw *gateway.Gateway, opt Options) *Handler { return newHandler(real{gw}, opt) }

func newHandler(gw backend, opt Options) *Handler { return &Handler{gw: gw, opt: opt} }

// ServeHTTP answers POST, and in the era of sessions GET and DELETE.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	http.Error(w, "not built yet", http.StatusNotImplemented)
}

// Drain takes no new requests, ends the streams that only listen, and waits for
// what is open until ctx ends; then it cancels the rest. It returns ctx's error if
// anything had to be cancelled.
func (h *Handler) Drain(ctx context.Context) error { return nil }
