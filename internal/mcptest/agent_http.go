package mcptest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// post is the streamable HTTP transport.
type post struct {
	url    string
	client *http.Client
	ctx    context.Context
	cancel context.CancelFunc
	a      *Agent
	wg     sync.WaitGroup

	mu      sync.Mutex // holds what follows
	session string
	header  http.Header
	closed  bool
}

// DialHTTP is the client of a streamable HTTP endpoint.
func DialHTTP(t testing.TB, revision, url string) *Agent {
	a := newAgent(t, revision)
	p := &post{url: url, client: &http.Client{Transport: &http.Transport{}}, a: a, header: http.Header{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	a.wire = p
	t.Cleanup(a.Close)
	return a
}

// SetHeader sets a header of all further HTTP requests; an empty value takes it
// away, also where the agent would set it by itself.
func (a *Agent) SetHeader(name, value string) {
	p, ok := a.wire.(*post)
	if !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.header.Set(name, value)
}

// Session is the Mcp-Session-Id in use; SetSession sets another.
func (a *Agent) Session() string {
	p, ok := a.wire.(*post)
	if !ok {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.session
}

// SetSession makes further HTTP requests name that session.
func (a *Agent) SetSession(id string) {
	if p, ok := a.wire.(*post); ok {
		p.mu.Lock()
		p.session = id
		p.mu.Unlock()
	}
}

// A Reply is one HTTP answer, read to its end.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
	Frames []Message // in the body
}

// HTTP makes one HTTP request with exactly these headers, those of SetHeader aside,
// and reads the answer to its end. Nothing of it reaches Wait and Next.
func (a *Agent) HTTP(method, body string, header http.Header) Reply {
	a.t.Helper()
	p, ok := a.wire.(*post)
	if !ok {
		a.t.Fatal("the agent does not speak HTTP")
	}
	req, err := http.NewRequestWithContext(p.ctx, method, p.url, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	p.fill(req, header)
	resp, err := p.client.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	r := Reply{Status: resp.StatusCode, Header: resp.Header}
	var all bytes.Buffer
	readFrames(resp, io.TeeReader(resp.Body, &all), func(frame []byte) { r.Frames = append(r.Frames, Decode(frame)) })
	r.Body = all.Bytes()
	return r
}

// fill sets headers: those given, and over them those of SetHeader.
func (p *post) fill(req *http.Request, header http.Header) {
	for name, values := range header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, values := range p.header {
		if values[0] == "" {
			req.Header.Del(name)
		} else {
			req.Header[name] = values
		}
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
}

// headers are those that the frame needs.
func (p *post) headers(m Message) http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if p.a.Revision >= Modern {
		h.Set("Mcp-Protocol-Version", p.a.Revision)
		h.Set("Mcp-Method", m.Method)
		switch m.Method {
		case "tools/call", "prompts/get":
			h.Set("Mcp-Name", encodeHeader(Text(m.Params, "name")))
		case "resources/read":
			h.Set("Mcp-Name", encodeHeader(Text(m.Params, "uri")))
		}
		return h
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session != "" {
		h.Set("Mcp-Session-Id", p.session)
	}
	if m.Method != "initialize" && p.a.Revision >= "2025-06-18" {
		h.Set("Mcp-Protocol-Version", p.a.Revision)
	}
	return h
}

func encodeHeader(s string) string {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
		}
	}
	return s
}

// send posts a frame. Requests are answered in the background; what is none is
// carried before send returns, so that order holds.
func (p *post) send(raw []byte) error {
	m := Decode(raw)
	req, err := http.NewRequestWithContext(p.ctx, http.MethodPost, p.url, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	p.fill(req, p.headers(m))
	p.mu.Lock()
	closed := p.closed
	if !closed {
		p.wg.Add(1)
	}
	p.mu.Unlock()
	carry := func() {
		defer p.wg.Done()
		p.exchange(req, m)
	}
	switch {
	case closed:
		return context.Canceled
	case m.Method != "" && m.ID == "" || m.Result != nil:
		carry()
	default:
		go carry()
	}
	return nil
}

// exchange carries one POST to its end.
func (p *post) exchange(req *http.Request, m Message) {
	resp, err := p.client.Do(req)
	if err != nil {
		if p.ctx.Err() == nil && m.ID != "" {
			p.a.took(Message{ID: m.ID, Status: -1, Raw: []byte(err.Error())})
		}
		return
	}
	defer resp.Body.Close()
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" && m.Method == "initialize" {
		p.mu.Lock()
		p.session = id
		p.mu.Unlock()
	}
	answered := false
	var body bytes.Buffer
	var from io.Reader = resp.Body
	if resp.StatusCode != http.StatusOK {
		from = io.TeeReader(resp.Body, &body)
	}
	readFrames(resp, from, func(frame []byte) {
		d := Decode(frame)
		d.Status = resp.StatusCode
		answered = answered || d.ID == m.ID && d.Method == "" && (d.Result != nil || d.Error != nil)
		p.a.took(d)
	})
	if !answered && m.ID != "" && m.Method != "" && p.ctx.Err() == nil {
		p.a.took(Message{ID: m.ID, Status: resp.StatusCode, Raw: body.Bytes()})
	}
}

// started opens the GET stream of the legacy era.
func (p *post) started(a *Agent) {
	req, err := http.NewRequestWithContext(p.ctx, http.MethodGet, p.url, nil)
	if err != nil {
		return
	}
	h := p.headers(Message{})
	h.Del("Content-Type")
	h.Set("Accept", "text/event-stream")
	p.fill(req, h)
	open := make(chan struct{})
	p.wg.Go(func() {
		resp, err := p.client.Do(req)
		close(open)
		if err != nil {
			return
		}
		defer resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			readFrames(resp, resp.Body, func(frame []byte) { a.took(Decode(frame)) })
		}
	})
	<-open
}

func (p *post) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel()
	p.wg.Wait()
	p.client.CloseIdleConnections()
}

// readFrames reads the frames of an answer: the events of a stream, or the body.
func readFrames(resp *http.Response, body io.Reader, took func([]byte)) {
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		all, err := io.ReadAll(body)
		if err == nil && len(bytes.TrimSpace(all)) > 0 && resp.Header.Get("Content-Type") != "" && !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") {
			took(all)
		}
		return
	}
	br := bufio.NewReaderSize(body, 64<<10)
	var data []byte
	for {
		line, err := br.ReadBytes('\n')
		if err != nil {
			return
		}
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case len(line) == 0:
			if len(bytes.TrimSpace(data)) > 0 {
				took(data)
			}
			data = nil
		case bytes.HasPrefix(line, []byte("data:")):
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, bytes.TrimPrefix(line[len("data:"):], []byte(" "))...)
		}
	}
}
