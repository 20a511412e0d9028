package serve

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
)

// An httpSession is one of the era of sessions. Its id is bound to the agent
// that it was given to: anybody else's request with it is answered as one with an
// id that never was. What outlives it hangs on the run, not on it (RULES.md 1).
type httpSession struct {
	h     *Handler
	id    string
	who   gateway.Agent
	s     session
	rev   mcp.Revision
	open  *opens
	asked *questions
	own   *stream // what belongs to no request: the GET stream

	mu      sync.Mutex
	streams map[string]*stream // by id: those that are open, and the ended that are kept
	order   []*stream          // the ended, oldest first
	kept    int                // their bytes
	last    int                // number of the last stream
	inside  int                // HTTP requests
	used    time.Time          // when the last one left
	idle    *time.Timer
	closed  bool
}

func (h *Handler) newSession(who gateway.Agent) *httpSession {
	l := &h.opt.Limits
	s := &httpSession{h: h, who: who, open: newOpens(l.Open), asked: newQuestions(*l), own: newStream("0", l),
		streams: map[string]*stream{}}
	s.streams[s.own.id] = s.own
	return s
}

// Notify and Ask make the session a gateway.Peer for what belongs to no request.
func (s *httpSession) Notify(f mcp.Frame) { s.own.add(f, false) }

// Ask asks the agent on its GET stream, if it has one open.
func (s *httpSession) Ask(ctx context.Context, f mcp.Frame) (mcp.Frame, error) {
	if !s.own.held() {
		return mcp.Frame{}, gateway.ErrNoQuestions
	}
	return s.asked.ask(ctx, f, func(q mcp.Frame) bool { return s.own.add(q, true) })
}

// known is the session that a request names, entered; nil: it was answered.
func (h *Handler) known(w http.ResponseWriter, r *http.Request, who gateway.Agent) *httpSession {
	l := &h.opt.Limits
	ids := r.Header[mcp.HeaderSession]
	if len(ids) != 1 || ids[0] == "" {
		fail(w, l, http.StatusBadRequest, errSession)
		return nil
	}
	h.mu.Lock()
	s := h.sessions[ids[0]]
	h.mu.Unlock()
	if s == nil || s.who.ID != who.ID || !s.enter() {
		fail(w, l, http.StatusNotFound, errUnknown)
		return nil
	}
	if v := r.Header[mcp.HeaderVersion]; len(v) > 1 || (len(v) == 1 && mcp.Revision(v[0]) != s.rev) {
		defer s.leave()
		fail(w, l, http.StatusBadRequest, errors.New(mcp.HeaderVersion+" is not the revision that this session agreed on, "+string(s.rev)))
		return nil
	}
	return s
}

// enter counts a request in; false if the session has ended.
func (s *httpSession) enter() bool {
	select {
	case <-s.s.Done():
		s.h.close(s)
		return false
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.inside++
	return true
}

func (s *httpSession) leave() {
	s.mu.Lock()
	s.inside--
	s.used = time.Now()
	s.mu.Unlock()
}

// expire ends the session if nothing used it for long; else it looks again when
// that could be.
func (s *httpSession) expire() {
	s.mu.Lock()
	wait := s.h.opt.Limits.Idle
	if s.inside == 0 {
		wait -= time.Since(s.used)
	}
	if wait > 0 && !s.closed {
		s.idle.Reset(wait)
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	s.h.close(s)
}

// begin opens a session for an initialize.
func (h *Handler) begin(ctx context.Context, f mcp.Frame, who gateway.Agent) (*httpSession, mcp.Frame, int) {
	hello, err := mcp.ParseHello(f.Params)
	if err != nil {
		return nil, mcp.Fail(f.ID, mcp.CodeInvalidParams, "params of initialize lack what the revision demands", nil), http.StatusBadRequest
	}
	s := h.newSession(who)
	s.s, err = h.gw.Open(ctx, who, hello, s, viaHTTP)
	if errors.Is(err, gateway.ErrBusy) && h.makeRoom(who) {
		s.s, err = h.gw.Open(ctx, who, hello, s, viaHTTP)
	}
	if err != nil {
		a, status := unopened(f, hello.Revision, false, err)
		return nil, a, status
	}
	s.id, err = randomID(h.opt.random())
	welcome := s.s.Welcome()
	s.rev = welcome.Revision
	if err != nil || !h.add(s) {
		_ = s.s.Close() // nobody has seen it
		a, status := unopened(f, hello.Revision, false, gateway.ErrClosed)
		return nil, a, status
	}
	return s, mcp.Answer(f.ID, welcome.Result()), http.StatusOK
}

func (h *Handler) add(s *httpSession) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.draining {
		return false
	}
	s.used = time.Now()
	s.mu.Lock()
	s.idle = time.AfterFunc(h.opt.Limits.Idle, s.expire)
	s.mu.Unlock()
	h.sessions[s.id] = s
	return true
}

// makeRoom ends that session of the agent that nothing has used for the longest
// time, as agents that never say DELETE leave them behind.
func (h *Handler) makeRoom(who gateway.Agent) bool {
	h.mu.Lock()
	var oldest *httpSession
	var since time.Time
	for _, s := range h.sessions {
		s.mu.Lock()
		if s.who.ID == who.ID && s.inside == 0 && (oldest == nil || s.used.Before(since)) {
			oldest, since = s, s.used
		}
		s.mu.Unlock()
	}
	h.mu.Unlock()
	if oldest == nil {
		return false
	}
	h.close(oldest)
	return true
}

// close ends a session: what is open in it is cancelled.
func (h *Handler) close(s *httpSession) {
	h.mu.Lock()
	delete(h.sessions, s.id)
	h.mu.Unlock()
	s.mu.Lock()
	was := s.closed
	s.closed = true
	s.idle.Stop()
	s.mu.Unlock()
	if was {
		return
	}
	s.open.finish()
	s.open.abort(errEnding)
	s.asked.end()
	s.own.end()
	if err := s.s.Close(); err != nil {
		h.log.Debug("serve: closing a session", "err", err)
	}
}

// newStream is a stream for one request. It is not found by its id before it
// carries anything.
func (s *httpSession) newStream() *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	return newStream(strconv.Itoa(s.last), &s.h.opt.Limits)
}

func (s *httpSession) began(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[st.id] = st
}

// ended keeps a stream for an agent that comes back for its end, and lets go of
// the oldest beyond the bound, but not of the newest.
func (s *httpSession) ended(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams[st.id] != st {
		return // it was one JSON text
	}
	s.order = append(s.order, st)
	s.kept += st.bytes()
	for len(s.order) > 1 && (s.kept > s.h.opt.Limits.Replay || len(s.order) > 64) {
		s.kept -= s.order[0].bytes()
		delete(s.streams, s.order[0].id)
		s.order = slices.Delete(s.order, 0, 1)
	}
}

// get attaches a response to the stream that the session has for what belongs to
// no request, or to the one that Last-Event-Id names.
func (s *httpSession) get(w http.ResponseWriter, r *http.Request) {
	l := &s.h.opt.Limits
	if _, stream, _ := accepts(r.Header["Accept"]); !stream {
		fail(w, l, http.StatusNotAcceptable, errStream)
		return
	}
	st, from := s.own, int64(-1)
	if last := r.Header[mcp.HeaderLastEvent]; len(last) > 0 {
		id, n, ok := parseEventID(last[0])
		s.mu.Lock()
		st = s.streams[id]
		s.mu.Unlock()
		if !ok || st == nil || len(last) > 1 {
			fail(w, l, http.StatusBadRequest, errResume)
			return
		}
		from = n + 1
	}
	p := newPump(st, w, l)
	if !st.attach(p, from, from >= 0) {
		if from >= 0 {
			fail(w, l, http.StatusBadRequest, errResume)
		} else {
			fail(w, l, http.StatusConflict, errTaken)
		}
		return
	}
	p.head()
	w.WriteHeader(http.StatusOK)
	if p.write(http.NewResponseController(w), []byte(": \n\n")) {
		p.run(r.Context())
	}
	st.detach(p)
}

// randomID is an id that cannot be guessed: 32 bytes, in letters and digits.
func randomID(random io.Reader) (string, error) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	b := make([]byte, 32)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", err
	}
	for i := range b {
		b[i] = alphabet[b[i]&31]
	}
	return string(b), nil
}
