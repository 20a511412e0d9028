package serve

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
)

var viaHTTP = gateway.Via{Way: "http"}

// A Handler answers agents over streamable HTTP, at Options.Path and below it.
type Handler struct {
	gw  backend
	opt Options
	log *slog.Logger

	ctx    context.Context // of all requests of the era of sessions: they outlive their connection
	cancel context.CancelCauseFunc

	mu       sync.Mutex
	busy     map[credentials.AgentID]int // HTTP requests at once
	bodies   int64                       // bytes of bodies being read
	sessions map[string]*httpSession
	listens  map[*reply]context.CancelFunc // of the stateless era
	draining bool
	inside   int           // requests
	empty    chan struct{} // closed when draining and inside is 0
}

// NewHandler serves the gateway's agents. An agent is known by its credential,
// as a bearer token or as the last element of the URL; nothing of either is logged.
func NewHandler(gw *gateway.Gateway, opt Options) *Handler { return newHandler(real{gw}, opt) }

func newHandler(gw backend, opt Options) *Handler {
	h := &Handler{gw: gw, opt: opt.filled(), log: logger(opt.Log), busy: map[credentials.AgentID]int{},
		sessions: map[string]*httpSession{}, listens: map[*reply]context.CancelFunc{}, empty: make(chan struct{})}
	h.ctx, h.cancel = context.WithCancelCause(context.Background())
	return h
}

// ServeHTTP answers POST, and in the era of sessions GET and DELETE.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h.place(r); err != nil {
		fail(w, &h.opt.Limits, http.StatusForbidden, err)
		return
	}
	who, err := h.admit(r)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	if err := h.enter(who.ID); err != nil {
		w.Header().Set("Retry-After", "1")
		status := http.StatusTooManyRequests
		if errors.Is(err, errEnding) {
			status = http.StatusServiceUnavailable
		}
		fail(w, &h.opt.Limits, status, err)
		return
	}
	defer h.leave(who.ID)
	switch r.Method {
	case http.MethodPost:
		h.post(w, r, who)
	case http.MethodGet, http.MethodDelete:
		if mcp.Revision(r.Header.Get(mcp.HeaderVersion)).Modern() {
			notAllowed(w, &h.opt.Limits, "POST")
			return
		}
		h.sessioned(w, r, who)
	default:
		notAllowed(w, &h.opt.Limits, "GET, POST, DELETE")
	}
}

func (h *Handler) sessioned(w http.ResponseWriter, r *http.Request, who gateway.Agent) {
	s := h.known(w, r, who)
	if s == nil {
		return
	}
	defer s.leave()
	if r.Method == http.MethodDelete {
		h.close(s)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.get(w, r)
}

// refuse answers a request that is nobody's.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, gateway.ErrNotNow) {
		w.Header().Set("Retry-After", "1")
		fail(w, &h.opt.Limits, http.StatusServiceUnavailable, errNotNow)
		return
	}
	challenge := `Bearer realm="pratique"`
	if r.Header.Get("Authorization") != "" {
		challenge += `, error="invalid_token"`
	}
	w.Header().Set("WWW-Authenticate", challenge)
	fail(w, &h.opt.Limits, http.StatusUnauthorized, errNobody)
}

// enter counts a request in.
func (h *Handler) enter(id credentials.AgentID) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.draining {
		return errEnding
	}
	if h.busy[id] >= h.opt.Limits.Requests {
		return errTooMany
	}
	h.busy[id]++
	h.inside++
	return nil
}

func (h *Handler) leave(id credentials.AgentID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.busy[id]--; h.busy[id] == 0 {
		delete(h.busy, id)
	}
	h.inside--
	h.ifEmpty()
}

func (h *Handler) ifEmpty() {
	if h.draining && h.inside == 0 {
		select {
		case <-h.empty:
		default:
			close(h.empty)
		}
	}
}

// Drain takes no new requests, ends the streams that only listen, and waits for
// what is open until ctx ends; then it cancels the rest. Sessions are closed at
// the end. It returns ctx's error if anything had to be cancelled.
func (h *Handler) Drain(ctx context.Context) error {
	h.mu.Lock()
	h.draining = true
	h.ifEmpty()
	sessions := make([]*httpSession, 0, len(h.sessions))
	for _, s := range h.sessions {
		sessions = append(sessions, s)
	}
	for _, cancel := range h.listens {
		cancel()
	}
	h.mu.Unlock()
	for _, s := range sessions {
		s.open.finish()
		s.own.end()
	}
	var err error
	select {
	case <-h.empty:
	case <-ctx.Done():
		err = ctx.Err()
		h.cancel(errEnding)
		t := time.NewTimer(h.opt.Limits.Grace)
		defer t.Stop()
		select {
		case <-h.empty: // each has said why
		case <-t.C:
		}
	}
	for _, s := range sessions {
		h.close(s)
	}
	h.cancel(errEnding)
	return err
}
