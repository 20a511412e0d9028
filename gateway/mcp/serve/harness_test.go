package serve

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
)

const (
	alice = "pratique_agent_alice"
	bob   = "pratique_agent_bob"
)

// A fakeGateway stands in for the gateway. handle answers requests; nil: echo.
type fakeGateway struct {
	handle func(ctx context.Context, s *fakeSession, f mcp.Frame, peer gateway.Peer) mcp.Frame
	rev    mcp.Revision // what the upstream speaks at most; empty: what is proposed
	err    error        // of Open
	modern error        // of Stateless
	busy   int          // sessions of one agent; 0: no bound
	heads  []mcp.ParamHeader

	mu       sync.Mutex
	sessions []*fakeSession
	shared   *fakeSession
	hellos   []mcp.Hello
}

type fakeSession struct {
	g       *fakeGateway
	who     gateway.Agent
	own     gateway.Peer
	welcome mcp.Welcome
	done    chan struct{}

	mu      sync.Mutex
	drops   []string
	notices []string
	closed  bool
}

func (g *fakeGateway) Admit(credential string) (gateway.Agent, error) {
	switch credential {
	case alice, bob:
		return gateway.Agent{ID: credentials.AgentID("agt_" + credential[len("pratique_agent_"):]), Name: credential}, nil
	}
	return gateway.Agent{}, gateway.ErrCredential
}

func (g *fakeGateway) Launch(name string) (gateway.Agent, error) {
	return gateway.Agent{ID: "agt_launch", Name: name}, nil
}

func (g *fakeGateway) Open(ctx context.Context, who gateway.Agent, hello mcp.Hello, own gateway.Peer, via gateway.Via) (session, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hellos = append(g.hellos, hello)
	if g.err != nil {
		return nil, g.err
	}
	n := 0
	for _, s := range g.sessions {
		s.mu.Lock()
		if s.who.ID == who.ID && !s.closed {
			n++
		}
		s.mu.Unlock()
	}
	if g.busy > 0 && n >= g.busy {
		return nil, gateway.ErrBusy
	}
	rev := mcp.Negotiate(hello.Revision)
	if g.rev != "" && g.rev < rev {
		rev = g.rev
	}
	s := g.session(who, own, rev)
	g.sessions = append(g.sessions, s)
	return s, nil
}

func (g *fakeGateway) Stateless(ctx context.Context, who gateway.Agent, hello mcp.Hello, via gateway.Via) (session, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.modern != nil {
		return nil, g.modern
	}
	if g.shared == nil {
		g.shared = g.session(who, nil, mcp.Rev20260728)
	}
	return g.shared, nil
}

func (g *fakeGateway) session(who gateway.Agent, own gateway.Peer, rev mcp.Revision) *fakeSession {
	return &fakeSession{g: g, who: who, own: own, done: make(chan struct{}), welcome: mcp.Welcome{
		Revision: rev, Capabilities: jsontext.Value(`{"tools":{"listChanged":true}}`), ServerInfo: jsontext.Value(`{"name":"fake","version":"1"}`)}}
}

func (g *fakeGateway) last() *fakeSession {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.sessions[len(g.sessions)-1]
}

func (s *fakeSession) Welcome() mcp.Welcome  { return s.welcome }
func (s *fakeSession) Done() <-chan struct{} { return s.done }

func (s *fakeSession) ParamHeaders(f mcp.Frame) ([]mcp.ParamHeader, jsontext.Value) {
	args, _ := mcp.Get(f.Params, "arguments")
	return s.g.heads, args
}

func (s *fakeSession) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("closed twice")
	}
	s.closed = true
	return nil
}

func (s *fakeSession) Notice(_ context.Context, f mcp.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notices = append(s.notices, f.Method)
}

func (s *fakeSession) Drop(reason string, f mcp.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drops = append(s.drops, reason)
}

func (s *fakeSession) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

func (s *fakeSession) dropped() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := strings.Join(s.drops, " ")
	s.drops = nil
	return out
}

// Handle echoes the params of a call, knows a few methods, and refuses the rest.
func (s *fakeSession) Handle(ctx context.Context, f mcp.Frame, peer gateway.Peer) mcp.Frame {
	if s.g.handle != nil {
		if a := s.g.handle(ctx, s, f, peer); a.Shape != mcp.NoFrame {
			return a
		}
	}
	switch f.Method {
	case methodCall:
		if name, _ := mcp.GetString(f.Params, "name"); name != "ping_tool" && name != "echo" {
			return mcp.Answer(f.ID, jsontext.Value(`{"isError":true,"content":[],"structuredContent":{"status":"blocked_by_policy"}}`))
		}
		args, ok := mcp.Get(f.Params, "arguments")
		if !ok {
			args = jsontext.Value(`{}`)
		}
		return mcp.Answer(f.ID, mcp.Object(mcp.Member{Name: "content", Value: jsontext.Value(`[{"type":"text","text":"pong"}]`)},
			mcp.Member{Name: "structuredContent", Value: args}))
	case "tools/list":
		return mcp.Answer(f.ID, jsontext.Value(`{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`))
	case methodPing:
		return mcp.Answer(f.ID, jsontext.Value(`{}`))
	case methodDiscover:
		return mcp.Answer(f.ID, jsontext.Value(`{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"resultType":"complete"}`))
	}
	return mcp.Fail(f.ID, mcp.CodeMethodNotFound, "no such method", nil)
}

// A rig is a handler behind a real HTTP server, all in memory, so that tests run
// in a synctest bubble: time is theirs, and a goroutine that is left fails them.
type rig struct {
	t      testing.TB
	h      *Handler
	g      *fakeGateway
	client *http.Client
}

const at = "http://127.0.0.1:4000"

type memListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *memListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}
func (l *memListener) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *memListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4000} }

func newRig(t testing.TB, g *fakeGateway, opt Options) *rig {
	r := rigOf(t, g, opt)
	r.g = g
	return r
}

func rigOf(t testing.TB, g backend, opt Options) *rig {
	h := newHandler(g, opt)
	l := &memListener{conns: make(chan net.Conn), done: make(chan struct{})}
	srv := &http.Server{Handler: h}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	var mu sync.Mutex
	var dialled []net.Conn
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case l.conns <- theirs:
			mu.Lock()
			dialled = append(dialled, ours)
			mu.Unlock()
			return ours, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = h.Drain(ctx)
		tr.CloseIdleConnections()
		srv.Close()
		<-served
		mu.Lock()
		defer mu.Unlock()
		for _, c := range dialled {
			c.Close()
		}
	})
	return &rig{t: t, h: h, client: &http.Client{Transport: tr}}
}

// bubble runs a test where time stands still until all wait for it.
func bubble(t *testing.T, f func(t *testing.T)) { t.Helper(); synctest.Test(t, f) }

type head map[string]string

func (r *rig) request(ctx context.Context, method, path, body string, hs head) *http.Request {
	r.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, at+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if method == "POST" {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
	} else if method == "GET" {
		req.Header.Set("Accept", "text/event-stream")
	}
	for k, v := range hs {
		switch {
		case k == "Host":
			req.Host = v
		case v == "":
			req.Header.Del(k)
		default:
			req.Header.Set(k, v)
		}
	}
	return req
}

func (r *rig) do(method, path, body string, hs head) (*http.Response, string) {
	r.t.Helper()
	res, err := r.client.Do(r.request(context.Background(), method, path, body, hs))
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatalf("%s %s: reading: %v", method, path, err)
	}
	return res, string(text)
}

func (r *rig) post(body string, hs head) (*http.Response, string) {
	r.t.Helper()
	return r.do("POST", "/mcp/"+alice, body, hs)
}

// initialize opens a session and returns the headers that name it.
func (r *rig) initialize(rev mcp.Revision) head {
	r.t.Helper()
	res, text := r.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+string(rev)+`","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`, nil)
	id := res.Header.Get("Mcp-Session-Id")
	if res.StatusCode != 200 || id == "" {
		r.t.Fatalf("initialize: %d %s", res.StatusCode, text)
	}
	return head{"Mcp-Session-Id": id}
}

func callOf(id, name string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + name + `","arguments":{}}}`
}

// pings proves that a session still works.
func (r *rig) pings(hs head, id string) {
	r.t.Helper()
	res, text := r.post(callOf(id, "ping_tool"), hs)
	if res.StatusCode != 200 || !strings.Contains(text, "pong") || !strings.Contains(text, `"id":`+id) {
		r.t.Fatalf("a good call after it: %d %s", res.StatusCode, text)
	}
}

// events reads an event stream, one event a call.
type events struct {
	t testing.TB
	r *mcp.EventReader
	c io.Closer
}

func (r *rig) stream(req *http.Request) *events {
	r.t.Helper()
	res, err := r.client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		text, _ := io.ReadAll(res.Body)
		res.Body.Close()
		r.t.Fatalf("no stream: %d %s %s", res.StatusCode, res.Header.Get("Content-Type"), text)
	}
	return &events{r.t, mcp.NewEventReader(res.Body, mcp.Limits{}), res.Body}
}

func (e *events) next() mcp.Event {
	e.t.Helper()
	v, err := e.r.Read()
	if err != nil {
		e.t.Fatalf("event: %v", err)
	}
	return v
}

func (e *events) end() {
	e.t.Helper()
	if v, err := e.r.Read(); err == nil {
		e.t.Fatalf("the stream goes on: %s", v.Data)
	}
	e.c.Close()
}

// A pipe is an agent on stdio.
type pipe struct {
	t      testing.TB
	g      *fakeGateway
	in     *io.PipeWriter
	out    *bufio.Reader
	outEnd *io.PipeReader
	cancel context.CancelFunc
	done   chan error
}

func newPipe(t testing.TB, g *fakeGateway, opt Options) *pipe {
	p := pipeOf(t, g, opt)
	p.g = g
	return p
}

func pipeOf(t testing.TB, g backend, opt Options) *pipe {
	ctx, cancel := context.WithCancel(context.Background())
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &pipe{t: t, in: inW, out: bufio.NewReaderSize(outR, 1<<16), outEnd: outR, cancel: cancel, done: make(chan error, 1)}
	go func() {
		err := serveStdio(ctx, g, inR, outW, opt)
		outW.Close()
		inR.Close()
		p.done <- err
	}()
	t.Cleanup(func() { cancel(); inW.Close(); outR.Close() })
	return p
}

func (p *pipe) send(lines ...string) {
	p.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(p.in, l+"\n"); err != nil {
			p.t.Fatalf("writing: %v", err)
		}
	}
}

func (p *pipe) read() string {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("reading: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

func (p *pipe) initialize(rev mcp.Revision) {
	p.t.Helper()
	p.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + string(rev) + `","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`)
	if l := p.read(); !strings.Contains(l, `"protocolVersion":"`) {
		p.t.Fatalf("initialize: %s", l)
	}
}

func (p *pipe) pings(id string) {
	p.t.Helper()
	p.send(callOf(id, "ping_tool"))
	if l := p.read(); !strings.Contains(l, "pong") || !strings.Contains(l, `"id":`+id) {
		p.t.Fatalf("a good call after it: %s", l)
	}
}

func has(t testing.TB, what, text string, wants ...string) {
	t.Helper()
	for _, w := range wants {
		if !strings.Contains(text, w) {
			t.Errorf("%s: want %q in %s", what, w, text)
		}
	}
}
