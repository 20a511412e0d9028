package mcptest

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// web is an upstream over HTTP.
type web struct {
	s       *server
	address string

	mu       sync.Mutex // holds what follows
	ln       net.Listener
	srv      *http.Server
	cancel   context.CancelFunc
	ctx      context.Context // of everything since the last start
	sessions map[string]*session
}

// A session is one of the legacy era.
type session struct {
	p       *peer
	get     *stream // of what belongs to no exchange
	mu      sync.Mutex
	streams map[string]*stream // by id, of exchanges
}

func newWeb(rec *recorder, st state) *web {
	w := &web{}
	w.s = newServer(rec, st, func() {
		w.stop()
		_ = w.start(w.address)
	})
	return w
}

func (w *web) start(address string) error {
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.address, w.ln = ln.Addr().String(), ln
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.sessions = map[string]*session{}
	w.srv = &http.Server{Handler: w}
	go func(srv *http.Server) { _ = srv.Serve(ln) }(w.srv)
	return nil
}

// stop cuts all connections and forgets all sessions.
func (w *web) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancel()
	_ = w.srv.Close()
	_ = w.ln.Close() // which the server does not know of before it serves
	for _, s := range w.sessions {
		w.s.leave(s.p)
	}
	w.sessions = map[string]*session{}
}

func (w *web) streaming(p *peer) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.sessions {
		if s.p == p {
			s.get.mu.Lock()
			defer s.get.mu.Unlock()
			return s.get.reading
		}
	}
	return false
}

func (w *web) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	h := w.s.script().HTTP
	switch {
	case r.URL.Path != "/mcp":
		http.NotFound(out, r)
	case r.Method == http.MethodPost:
		w.post(out, r, h)
	case r.Method == http.MethodGet && !h.NoGet:
		w.get(out, r, h)
	case r.Method == http.MethodDelete:
		w.mu.Lock()
		s := w.sessions[r.Header.Get("Mcp-Session-Id")]
		delete(w.sessions, r.Header.Get("Mcp-Session-Id"))
		w.mu.Unlock()
		if s == nil {
			http.NotFound(out, r)
			return
		}
		w.s.leave(s.p)
		s.get.end()
		out.WriteHeader(http.StatusNoContent)
	default:
		http.Error(out, "method not allowed", http.StatusMethodNotAllowed)
	}
}

func (w *web) post(out http.ResponseWriter, r *http.Request, h HTTP) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	w.s.rec.add(body)
	m := Decode(body)
	version := r.Header.Get("Mcp-Protocol-Version")
	switch {
	case h.Status != 0:
		newOutlet(out, r, h, "application/json", h.Status).send(failure(m.ID, -32000, "out of order"))
	case isModern(m) || version >= Modern && m.Method != "initialize":
		w.modern(out, r, h, m)
	case m.Method == "" && m.Batch == nil && m.Result == nil && m.Error == nil:
		newOutlet(out, r, h, "application/json", http.StatusBadRequest).send(failure(m.ID, -32700, "parse error"))
	default:
		w.legacy(out, r, h, m)
	}
}

func (w *web) legacy(out http.ResponseWriter, r *http.Request, h HTTP, m Message) {
	s, status := w.session(out, r, h, m)
	if status != 0 {
		newOutlet(out, r, HTTP{}, "application/json", status).send(failure(m.ID, -32600, "no such session, or it speaks otherwise"))
		return
	}
	requests := 0
	m.each(func(one Message) {
		if one.Method != "" && one.ID != "" {
			requests++
		}
	})
	w.mu.Lock()
	ctx := w.ctx
	w.mu.Unlock()
	st := newStream(rand.Text())
	if requests == 0 {
		m.each(func(one Message) { s.p.take(ctx, one, st.add, nil, nil) })
		out.WriteHeader(http.StatusAccepted)
		return
	}
	s.mu.Lock()
	s.streams[st.id] = st
	s.mu.Unlock()
	var left sync.WaitGroup
	m.each(func(one Message) {
		left.Add(1)
		s.p.take(ctx, one, st.add, st.cut, left.Done)
	})
	go func() { left.Wait(); st.end() }()
	if h.JSON {
		w.plain(out, r, h, st, m.Batch != nil)
		return
	}
	o := newOutlet(out, r, h, "text/event-stream", http.StatusOK)
	defer o.close()
	if h.Resume {
		o.send([]byte("id: " + st.id + ":-1\nretry: 1\ndata: \n\n"))
	}
	st.pour(r.Context(), o, 0, h.Resume)
	st.release()
}

// session finds or makes the session of a request.
func (w *web) session(out http.ResponseWriter, r *http.Request, h HTTP, m Message) (*session, int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := r.Header.Get("Mcp-Session-Id")
	version := r.Header.Get("Mcp-Protocol-Version")
	s := w.sessions[id]
	switch {
	case version != "" && m.Method != "initialize" && !slices.Contains(Revisions, version):
		return nil, http.StatusBadRequest
	case s != nil:
		s.p.mu.Lock()
		rev := s.p.rev
		s.p.mu.Unlock()
		if m.Batch != nil && rev != "2025-03-26" {
			return nil, http.StatusBadRequest
		}
		return s, 0
	case m.Method != "initialize" && id == "" && !h.NoSession:
		return nil, http.StatusBadRequest
	case m.Method != "initialize" && !h.NoSession:
		return nil, http.StatusNotFound
	}
	s = &session{get: newStream(rand.Text()), streams: map[string]*stream{}}
	s.p = w.s.join(s.get.add)
	if id = ""; !h.NoSession {
		id = rand.Text()
		out.Header().Set("Mcp-Session-Id", id)
	}
	w.sessions[id] = s
	return s, 0
}

// plain answers as JSON: what is no answer is left out.
func (w *web) plain(out http.ResponseWriter, r *http.Request, h HTTP, st *stream, batch bool) {
	var answers []JSON
	for from, more := 0, true; more; {
		var events [][]byte
		events, more = st.wait(r.Context(), from)
		from += len(events)
		for _, e := range events {
			if d := Decode(e); d.Method == "" {
				answers = append(answers, e)
			}
		}
	}
	if r.Context().Err() != nil {
		return
	}
	o := newOutlet(out, r, h, "application/json", http.StatusOK)
	defer o.close()
	if batch {
		o.send(array(answers))
		return
	}
	for _, a := range answers {
		o.send(a)
	}
}

func (w *web) get(out http.ResponseWriter, r *http.Request, h HTTP) {
	w.mu.Lock()
	s := w.sessions[r.Header.Get("Mcp-Session-Id")]
	w.mu.Unlock()
	if s == nil {
		http.NotFound(out, r)
		return
	}
	st := s.get
	st.mu.Lock()
	from := st.sent
	st.mu.Unlock()
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		id, n, _ := strings.Cut(last, ":")
		s.mu.Lock()
		if one := s.streams[id]; one != nil {
			st = one
		}
		s.mu.Unlock()
		if at, err := strconv.Atoi(n); err == nil && st.id == id {
			from = at + 1
		}
	}
	if !st.claim() {
		http.Error(out, "the stream is being read", http.StatusConflict)
		return
	}
	defer st.release()
	o := newOutlet(out, r, h, "text/event-stream", http.StatusOK)
	defer o.close()
	o.send([]byte(": ready\n\n"))
	st.pour(r.Context(), o, from, h.Resume)
}

// modern answers a stateless request.
func (w *web) modern(out http.ResponseWriter, r *http.Request, h HTTP, m Message) {
	refuse := func(status int, err JSON) {
		newOutlet(out, r, HTTP{}, "application/json", status).send(failed(m.ID, err))
	}
	version := Text(m.Params, "_meta", metaPrefix+"protocolVersion")
	spoken := w.s.script().Revisions
	if len(spoken) == 0 {
		spoken = Revisions
	}
	switch {
	case m.ID == "":
		out.WriteHeader(http.StatusAccepted)
		return
	case !slices.Contains(spoken, version) || version < Modern:
		refuse(http.StatusBadRequest, object("code", JSON("-32022"), "message", quote("unsupported protocol version"),
			"data", object("supported", array([]JSON{quote(Modern)}), "requested", quote(version))))
		return
	case !h.Lax && !headersMatch(r.Header, m, version):
		refuse(http.StatusBadRequest, object("code", JSON("-32020"), "message", quote("header mismatch")))
		return
	}
	st := newStream(rand.Text())
	p := w.s.join(nil)
	defer w.s.leave(p)
	p.take(r.Context(), m, st.add, st.cut, st.end)
	if h.JSON && m.Method != "subscriptions/listen" {
		w.plain(out, r, h, st, false)
		return
	}
	first, _ := st.wait(r.Context(), 0)
	if len(first) > 0 {
		if d := Decode(first[0]); d.Error != nil {
			if status := statusOf(d.Code()); status != http.StatusOK {
				refuse(status, d.Error)
				return
			}
		}
	}
	o := newOutlet(out, r, h, "text/event-stream", http.StatusOK)
	defer o.close()
	st.pour(r.Context(), o, 0, false)
}

func statusOf(code int64) int {
	switch code {
	case -32601:
		return http.StatusNotFound
	case -32602, -32021, -32022:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

func headersMatch(h http.Header, m Message, version string) bool {
	name := ""
	switch m.Method {
	case "tools/call", "prompts/get":
		name = Text(m.Params, "name")
	case "resources/read":
		name = Text(m.Params, "uri")
	}
	return h.Get("Mcp-Protocol-Version") == version && h.Get("Mcp-Method") == m.Method && decodeHeader(h.Get("Mcp-Name")) == name
}

func decodeHeader(s string) string {
	if in, ok := strings.CutPrefix(s, "=?base64?"); ok {
		if in, ok = strings.CutSuffix(in, "?="); ok {
			b, _ := base64.StdEncoding.DecodeString(in)
			return string(b)
		}
	}
	return s
}
