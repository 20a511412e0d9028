package api

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/writer"
)

// A call is one request on its way. Each step of serve and admit fills in its
// part; a handler sees only what its route's rules have established.
type call struct {
	s     *Server
	id    string // of this request: in the log and in a problem's instance
	w     http.ResponseWriter
	r     *http.Request
	ctx   context.Context
	now   time.Time
	route *route
	vars  []string // path parameters, in the order of the pattern

	body   []byte
	proof  proof.Confirmed
	caller registry.Caller
	holder registry.Holder
	view   *writer.Snapshot
	code   string // of the problem that was answered
}

// An answer is what a handler gives back: a value to encode, or raw bytes.
type answer struct {
	status int
	value  any
	raw    []byte
	kind   string // media type of raw
	header http.Header
}

func ok(v any) (*answer, error)      { return &answer{status: http.StatusOK, value: v}, nil }
func created(v any) (*answer, error) { return &answer{status: http.StatusCreated, value: v}, nil }

// serve is the whole life of a request. What is refused before the route is
// known costs no body, no lock and no signature.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	c := &call{s: s, id: s.newID("req_"), r: r, now: s.opt.Now()}
	rec := &recorder{ResponseWriter: w}
	c.w = rec
	defer c.done(rec, time.Now())
	defer c.recover(rec)
	// A client that does not read its answer must not hold a slot; real time,
	// since the kernel's clock is meant.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.opt.Limits.WorkTime + s.opt.Limits.ReadTime))
	w.Header().Set("X-Request-Id", c.id)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if err := s.edge(c); err != nil {
		c.fail(err)
		return
	}
	if c.route == nil { // a preflight, answered
		return
	}
	if c.route.stream {
		c.ctx = r.Context()
		if err := s.stream(c); err != nil {
			c.fail(err)
		}
		return
	}
	leave, err := s.crowd.enter(addressOf(r.RemoteAddr))
	if err != nil {
		c.fail(err)
		return
	}
	defer leave()
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		c.fail(errOverload)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.opt.Limits.WorkTime)
	defer cancel()
	c.ctx = ctx
	a, err := s.dispatch(c)
	if err != nil {
		c.fail(err)
		return
	}
	c.send(a)
}

// edge refuses what no handler should see.
func (s *Server) edge(c *call) error {
	r := c.r
	if !s.hosts[strings.ToLower(r.Host)] {
		return errHost
	}
	if headerSize(r) > s.opt.Limits.HeaderBytes {
		return errHeader
	}
	if r.URL.RawPath != "" { // no resource of ours needs an escape: one spelling each
		return errNoRoute
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	preflight := method == http.MethodOptions && r.Header.Get("Origin") != ""
	if preflight {
		method = r.Header.Get("Access-Control-Request-Method")
	}
	route, vars, allowed := s.routes.find(method, r.URL.Path)
	if route == nil {
		if len(allowed) == 0 {
			return errNoRoute
		}
		c.w.Header().Set("Allow", strings.Join(allowed, ", "))
		return errMethod
	}
	if err := s.checkOrigin(c, route); err != nil {
		return err
	}
	if preflight {
		allowPreflight(c.w.Header(), method)
		c.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	c.route, c.vars = route, vars
	return checkForm(r, route)
}

// checkForm holds the request's outer form against the route.
func checkForm(r *http.Request, route *route) error {
	if route.method != http.MethodGet && (r.URL.RawQuery != "" || r.URL.ForceQuery) {
		return errQuery
	}
	if len(r.Header.Values("Content-Encoding")) > 0 {
		return errEncoding
	}
	if route.body == 0 {
		if r.ContentLength > 0 || len(r.TransferEncoding) > 0 {
			return errBody
		}
		return nil
	}
	mt, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mt != "application/json" || len(r.Header.Values("Content-Type")) != 1 {
		return errMediaType
	}
	if cs, ok := params["charset"]; ok && !strings.EqualFold(cs, "utf-8") {
		return errMediaType
	}
	if r.ContentLength > route.body {
		return errTooLarge
	}
	return nil
}

// checkOrigin answers browsers: another site's page may call only where the
// operator named it or its own topology was read, never with credentials, and
// never an operator's path (RULES.md 14).
func (s *Server) checkOrigin(c *call, route *route) error {
	o := c.r.Header.Get("Origin")
	h := c.w.Header()
	h.Add("Vary", "Origin")
	if o == "" || o == s.opt.ExternalURL {
		return nil
	}
	if len(c.r.Header.Values("Origin")) != 1 || route.who == operator || !s.knownOrigin(o, c.now) {
		return errOrigin
	}
	h.Set("Access-Control-Allow-Origin", o)
	h.Set("Access-Control-Expose-Headers", "DPoP-Nonce, ETag, Retry-After, WWW-Authenticate, X-Request-Id")
	return nil
}

func (s *Server) knownOrigin(o string, now time.Time) bool {
	if s.origins[o] {
		return true
	}
	p, err := origin.Parse(o)
	if err != nil || p.Kind() != origin.Web || p.String() != o {
		return false
	}
	v, err := s.opt.Record.View()
	if err != nil {
		return false
	}
	rec, err := v.Origin(o)
	if err != nil || rec.Condemned {
		return false
	}
	t := rec.Declared()
	return t != nil && now.Before(t.Expires)
}

func allowPreflight(h http.Header, method string) {
	h.Add("Vary", "Access-Control-Request-Method")
	h.Add("Vary", "Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Methods", method)
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, DPoP, Idempotency-Key, Last-Event-ID")
	h.Set("Access-Control-Max-Age", "600")
}

// dispatch runs a route's rules and then its handler.
func (s *Server) dispatch(c *call) (*answer, error) {
	addr := addressOf(c.r.RemoteAddr)
	if c.route.who == anybody {
		if err := s.rates.allow(&s.rates.any, addr); err != nil {
			return nil, err
		}
		return c.route.do(s, c)
	}
	if err := s.rates.allow(&s.rates.proved, addr); err != nil {
		return nil, err
	}
	release, err := s.admit(c)
	if err != nil {
		return nil, err
	}
	defer release()
	return c.route.do(s, c)
}

// readBody reads a bounded body whole: its digest is part of the proof.
func (c *call) readBody(most int64, more func(int64) error) ([]byte, error) {
	n := c.r.ContentLength
	if n < 0 {
		n = most
	}
	buf := make([]byte, 0, min(n+1, freeBody+1))
	rd := io.LimitReader(http.MaxBytesReader(nil, c.r.Body, most), n+1)
	for {
		if len(buf) == cap(buf) {
			grown := min(2*int64(cap(buf)), most+1)
			if err := more(grown - int64(cap(buf))); err != nil {
				return nil, err
			}
			buf = append(make([]byte, 0, grown), buf...)
		}
		m, err := rd.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+m]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			if _, big := errors.AsType[*http.MaxBytesError](err); big {
				return nil, errTooLarge
			}
			return nil, errBodyBroken
		}
	}
}

// send writes an answer.
func (c *call) send(a *answer) {
	h := c.w.Header()
	for k, vs := range a.header {
		h[k] = vs
	}
	kind, raw := a.kind, a.raw
	if a.value != nil {
		b, err := json.Marshal(a.value, json.Deterministic(true))
		if err != nil {
			c.fail(err)
			return
		}
		kind, raw = "application/json", b
	}
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-store")
	}
	if raw != nil {
		h.Set("Content-Type", kind)
		h.Set("Content-Length", strconv.Itoa(len(raw)))
	}
	c.w.WriteHeader(a.status)
	_, _ = c.w.Write(raw) // a client that went away gets nothing; net/http drops the body for HEAD
}

// fail answers with the problem that the error maps to, and leaves an audit
// record of what was refused to whom. No token and no body is in it.
func (c *call) fail(err error) {
	p := c.problem(err)
	c.code = p.Code
	level := slog.LevelInfo
	switch {
	case p.Status >= 500:
		level = slog.LevelWarn
	case p.Code == "use_dpop_nonce":
		level = slog.LevelDebug // how every conversation begins; nobody was refused anything
	}
	attrs := []slog.Attr{slog.String("request", c.id), slog.Int("status", p.Status), slog.String("code", p.Code),
		slog.String("method", c.r.Method), slog.String("by", string(c.caller.Key()))}
	if c.route != nil {
		attrs = append(attrs, slog.String("route", c.route.path), slog.String("op", c.route.op), slog.Any("about", c.vars))
	}
	if p.Status >= 500 {
		attrs = append(attrs, slog.Any("err", err))
	}
	c.s.log.LogAttrs(c.r.Context(), level, "refused", attrs...)
	p.Write(c.w)
}

func (c *call) recover(rec *recorder) {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler {
		panic(v)
	}
	// The value may hold what was being handled: its type is enough with the
	// stack.
	c.s.log.Error("panic", "request", c.id, "type", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
	if rec.status == 0 {
		c.fail(errInternal)
	}
}

func (c *call) done(rec *recorder, start time.Time) {
	if c.s.opt.Observe == nil {
		return
	}
	path := "other"
	if c.route != nil {
		path = c.route.path
	}
	c.s.opt.Observe(path, c.r.Method, rec.status, time.Since(start))
}

// A recorder remembers the status that went out.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func headerSize(r *http.Request) int {
	n := len(r.Method) + len(r.RequestURI) + len(r.Host) + 16
	for k, vs := range r.Header {
		for _, v := range vs {
			n += len(k) + len(v) + 4
		}
	}
	return n
}

// newID draws 96 random bits.
func (s *Server) newID(prefix string) string {
	var b [12]byte
	s.random(b[:])
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

func (s *Server) newToken() credentials.TokenID {
	var b [16]byte
	s.random(b[:])
	return credentials.TokenID(base64.RawURLEncoding.EncodeToString(b[:]))
}

// random fills b. Without randomness nothing safe can be answered.
func (s *Server) random(b []byte) {
	if _, err := io.ReadFull(s.opt.Rand, b); err != nil {
		panic("api: no randomness")
	}
}
