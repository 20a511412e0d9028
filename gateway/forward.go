package gateway

import (
	"context"
	"errors"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// arguments are what a decision is made on, recorded and forwarded: for a tool
// that was given none, or null, the empty object; for a method without arguments
// its params, less what belongs to the protocol.
func (p *params) arguments() []byte {
	switch {
	case p == nil:
		return nil
	case p.args != nil:
		return p.args
	case p.tool || p.raw == nil:
		return []byte(`{}`)
	case p.meta == nil && !p.hasState:
		return p.raw
	}
	v, err := mcp.Edit(p.raw, nil, func(n string) bool { return n == "_meta" || n == "requestState" || n == "inputResponses" })
	if err != nil {
		return []byte(`{}`) // cannot be: it was read as an object
	}
	return v
}

// outgoing makes the bytes that go upstream out of the bytes that came: null
// arguments become an object, our sealed state the upstream's own, and the
// protocol's members of _meta ours. Everything else stays as it is.
func (s *Session) outgoing(c *call, ok *permitted) (jsontext.Value, error) {
	p := &ok.p
	v := p.raw
	var err error
	var set []mcp.Member
	if p.nullArg {
		set = append(set, mcp.Member{Name: "arguments", Value: jsontext.Value(`{}`)})
	}
	if ok.state != nil && ok.state.Inner != nil {
		set = append(set, mcp.Member{Name: "requestState", Value: mcp.Quote(*ok.state.Inner)})
	}
	dropState := p.hasState && (ok.state == nil || ok.state.Inner == nil)
	if len(set) > 0 || dropState || p.task {
		v, err = mcp.Edit(v, set, func(n string) bool { return n == "task" || dropState && n == "requestState" })
		if err != nil {
			return nil, err
		}
	}
	return s.ownMeta(c, p, v)
}

// ownMeta puts our members of _meta in the place of the agent's.
func (s *Session) ownMeta(c *call, p *params, v jsontext.Value) (jsontext.Value, error) {
	var set []mcp.Member
	c.token = p.token
	if s.rev.Modern() {
		set = append(set, s.meta...)
		if p.token != nil {
			s.mu.Lock()
			s.progress++
			n := s.progress
			s.mu.Unlock()
			c.ourToken = jsontext.Value(`"` + s.id + "." + strconv.FormatUint(n, 10) + `"`)
			set = append(set, mcp.Member{Name: mcp.MetaProgress, Value: c.ourToken})
		}
	}
	if c.traceparent != "" {
		set = append(set, mcp.Member{Name: mcp.MetaTraceparent, Value: mcp.Quote(c.traceparent)})
		if c.tracestate != "" {
			set = append(set, mcp.Member{Name: mcp.MetaTracestate, Value: mcp.Quote(c.tracestate)})
		}
	}
	if len(set) == 0 && !p.protocol {
		return v, nil // byte for byte
	}
	return mcp.SetMeta(v, set, mcp.IsProtocolMeta)
}

var errHeader = errors.New("an argument that goes into a header cannot stand there")

// headers are those that repeat parts of a stateless request over HTTP.
func (s *Session) headers(c *call, ok *permitted) (map[string]string, error) {
	if !s.rev.Modern() {
		return nil, nil
	}
	h := map[string]string{}
	if c.m.Header != "" {
		h[mcp.HeaderName] = mcp.EncodeHeader(ok.p.name)
	}
	if c.f.Method != methodCall {
		return h, nil
	}
	for _, p := range s.g.shapes.of(&ok.item).headers {
		v, there, err := p.HeaderValue(ok.p.arguments())
		if err != nil {
			return nil, errHeader
		}
		if there {
			h[p.Header] = mcp.EncodeHeader(v)
		}
	}
	return h, nil
}

// resends is how often a call is tried again that was not sent because
// something moved at that moment.
const resends = 3

// send spends the pass. A call that was not sent because the surface moved asks
// for another pass first, which it gets only if its item is still the same.
func (s *Session) send(ctx context.Context, c *call, w *recorded) (mcp.Frame, error) {
	f := mcp.Frame{Shape: mcp.Request, ID: c.f.ID, Method: c.f.Method, Params: w.params, Rest: c.f.Rest}
	x := Exchange{
		Frame: f, Hello: s.hello, Headers: w.head,
		Receive: func(n mcp.Frame) { s.receive(c, n) },
		Ask:     func(ctx context.Context, q mcp.Frame) mcp.Frame { return s.question(ctx, c, false, q) },
	}
	s.mu.Lock()
	c.under, c.sent = w, true
	s.mu.Unlock()
	if c.started != nil {
		close(c.started)
	}
	pass := w.pass
	for try := 0; ; try++ {
		a, err := s.link.Do(ctx, pass, x)
		if err == nil {
			c.watch.Returned(a)
			return a, nil
		}
		if !errors.Is(err, gate.ErrMoved) || try >= resends || ctx.Err() != nil {
			return mcp.Frame{}, err
		}
		if err := s.admission(ctx, c, &w.admitted); err != nil {
			return mcp.Frame{}, err
		}
		pass = w.admitted.pass
	}
}
