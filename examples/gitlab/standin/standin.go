// Package standin is a small GitLab: the part of API v4 that the tools of the story
// call, on loopback, with its state in memory and a record of every request. It is
// a stand-in and no model of GitLab's permissions: the one token it takes is a
// maintainer's, so that whatever an agent is led to ask for is done, and can be seen
// to have been done.
//
// What it checks, it checks as GitLab does (https://docs.gitlab.com/api/rest): names
// of branches, whether a file is there, paths that leave the repository.
package standin

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

// Token is the only one that is taken, in PRIVATE-TOKEN or as a bearer token.
const Token = "glpat-the-maintainers-own"

// maxBody bounds a request.
const maxBody = 8 << 20

// A Request is one request as it came: the path escaped as it was sent, with its
// query.
type Request struct {
	Method string
	Path   string
	Body   string
}

// Writes tells whether the method changes something.
func (r Request) Writes() bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// A Server is a GitLab with the projects of the story. It is safe for concurrent
// use.
type Server struct {
	mux *http.ServeMux
	web string // what web_url begins with

	mu       sync.Mutex // holds what follows
	requests []Request
	projects []*project
	groups   []*group
	last     int       // the last id given
	now      time.Time // goes on by a second with every change
}

// New is a server with the projects of Seed.
func New() *Server {
	s := &Server{mux: http.NewServeMux(), web: "http://gitlab.example", now: time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC), last: 100}
	s.seed()
	s.routes()
	return s
}

// Requests are the requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		fail(w, http.StatusRequestEntityTooLarge, "too large")
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, Request{Method: r.Method, Path: r.URL.RequestURI(), Body: string(body)})
	s.mu.Unlock()
	if bearer, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); r.Header.Get("PRIVATE-TOKEN") != Token && bearer != Token {
		fail(w, http.StatusUnauthorized, "401 Unauthorized")
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.mux.ServeHTTP(w, r)
}

// Listen serves on a free port of loopback, or on the address that is given, and gives
// the base URL of the API and what ends it.
func (s *Server) Listen(address ...string) (api string, end func(), err error) {
	l, err := net.Listen("tcp", append(address, "127.0.0.1:0")[0])
	if err != nil {
		return "", nil, err
	}
	h := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		_ = h.Serve(l) // it ends with Close
		close(done)
	}()
	return "http://" + l.Addr().String() + "/api/v4", func() { _ = h.Close(); <-done }, nil
}

// object is a JSON object of an answer.
type object = map[string]any

// A call is one request on its way through a handler, under the lock of the server.
type call struct {
	s    *Server
	p    *project // of {id}; nil where the path names none
	r    *http.Request
	body []byte
}

// An answer is what a handler gives: a JSON value, a text, or nothing.
type answer struct {
	status int
	value  any    // nil: no body
	text   string // in the place of a value
}

func ok(v any) answer      { return answer{status: http.StatusOK, value: v} }
func created(v any) answer { return answer{status: http.StatusCreated, value: v} }
func refuse(status int, format string, a ...any) answer {
	return answer{status: status, value: object{"message": fmt.Sprintf(format, a...)}}
}

var (
	gone    = answer{status: http.StatusNoContent}
	missing = refuse(http.StatusNotFound, "404 Not Found")
)

// in reads the body, JSON, into v. An empty body is an empty object.
func (c *call) in(v any) error {
	if len(c.body) == 0 {
		return nil
	}
	return json.Unmarshal(c.body, v)
}

// param is a part of the path, unescaped.
func (c *call) param(name string) string { return c.r.PathValue(name) }

// query is a parameter of the query.
func (c *call) query(name string) string { return c.r.URL.Query().Get(name) }

// handle adds a handler of a path under /api/v4. {id} is a project, by number or by
// escaped path.
func (s *Server) handle(pattern string, f func(c *call) answer) {
	method, path, _ := strings.Cut(pattern, " ")
	base := "/api/v4"
	if path == "/graphql" {
		base = "/api"
	}
	s.mux.HandleFunc(method+" "+base+path, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			fail(w, http.StatusBadRequest, err.Error())
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body)) // for who reads a form
		c := &call{s: s, r: r, body: body}
		if id := r.PathValue("id"); id != "" {
			if c.p = s.project(id); c.p == nil {
				fail(w, http.StatusNotFound, "404 Project Not Found")
				return
			}
		}
		f(c).write(w)
	})
}

func (a answer) write(w http.ResponseWriter) {
	switch {
	case a.text != "":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.text) // the client may be gone
	case a.value == nil:
		w.WriteHeader(a.status)
	default:
		raw, err := json.Marshal(a.value, json.Deterministic(true))
		if err != nil {
			fail(w, http.StatusInternalServerError, err.Error())
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(a.status)
		_, _ = w.Write(raw)
	}
}

func fail(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	raw, _ := json.Marshal(object{"message": text}) // a map of texts
	_, _ = w.Write(raw)
}

// unescaped is a text with its percent-encoding taken away, or as it stands.
func unescaped(s string) string {
	if u, err := url.PathUnescape(s); err == nil {
		return u
	}
	return s
}

// id is a new number.
func (s *Server) id() int { s.last++; return s.last }

// tick is the time of a change.
func (s *Server) tick() string {
	s.now = s.now.Add(time.Second)
	return s.now.Format(time.RFC3339)
}

// notFound is the answer to what this GitLab does not have.
func notFound(w http.ResponseWriter, _ *http.Request) { fail(w, http.StatusNotFound, "404 Not Found") }
