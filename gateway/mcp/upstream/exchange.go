package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/gateway/mcp"
)

// errElsewhere ends the reading of a stream whose answer came by another one.
var errElsewhere = errors.New("upstream: answered on another stream")

// plain is what a request without a body carries.
func (s *session) plain() http.Header {
	h := maps.Clone(*s.head.Load())
	delete(h, "Content-Type")
	return h
}

// headers is what a request carries: what the session does, and in the modern era
// the method, and of the asker's what names the item and repeats parameters.
func (l *endpointLink) headers(s *session, method string, extra map[string]string) (http.Header, error) {
	h := maps.Clone(*s.head.Load())
	if !l.modern() {
		return h, nil
	}
	h[mcp.HeaderMethod] = []string{method}
	for name, v := range extra {
		name = http.CanonicalHeaderKey(name)
		if (name != mcp.HeaderName && !strings.HasPrefix(name, mcp.HeaderParam)) || !token(name) || !printableASCII(v) {
			return nil, both(ErrOptions, ErrUnsent)
		}
		h[name] = []string{v}
	}
	return h, nil
}

// again tells whether a request may be sent a second time when the connection that
// it went out on turns out to be dead: greetings and lists, which change nothing. A
// server that restarted has closed the connections that we keep. Without a value
// the key makes net/http do so and is not sent.
func again(method string) bool {
	switch method {
	case "initialize", "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list":
		return true
	}
	return false
}

// ask sends a request and waits for its answer, wherever that comes.
func (l *endpointLink) ask(s *session, c *call, f mcp.Frame, extra map[string]string) (mcp.Frame, error) {
	defer l.finish(c)
	head, err := l.headers(s, f.Method, extra)
	if err != nil {
		return mcp.Frame{}, err
	}
	if again(f.Method) {
		head = maps.Clone(head)
		head["Idempotency-Key"] = nil
	}
	o := outcome{}
	resp, err := l.e.send(c.ctx, http.MethodPost, head, c.frame(f).Bytes())
	if err == nil {
		o.f, o.err = l.answered(s, c, f.Method, resp)
	} else {
		l.leave(c)
		o.err = l.broken(c, err)
	}
	select {
	case o = <-c.done: // it came by another stream, first
	default:
	}
	cause := context.Cause(c.ctx)
	if o.err == nil || cause == nil || errors.Is(cause, errElsewhere) {
		return c.answer(o)
	}
	if !l.modern() && f.Method != "initialize" && !errors.Is(cause, ErrLost) {
		l.post(s, cancellation(c)) // in the modern era the end of the stream says so
	}
	return mcp.Frame{}, cause
}

// broken is the error of a request that got no HTTP answer.
func (l *endpointLink) broken(c *call, err error) error {
	if c.ctx.Err() != nil {
		return c.ended()
	}
	l.n.lost.Add(1)
	l.sink.Lost(ErrLost)
	var op *net.OpError
	var cert *tls.CertificateVerificationError
	if (errors.As(err, &op) && op.Op == "dial") || errors.As(err, &cert) {
		return both(ErrLost, ErrUnsent)
	}
	return ErrLost
}

// answered reads the answer to a request. It takes the call out of the table.
func (l *endpointLink) answered(s *session, c *call, method string, resp *http.Response) (mcp.Frame, error) {
	b, err := l.e.body(resp)
	if err != nil {
		_ = resp.Body.Close()
		l.leave(c)
		return mcp.Frame{}, err
	}
	if method == "initialize" && resp.StatusCode == http.StatusOK {
		s.name(l, resp.Header.Get(mcp.HeaderSession))
	}
	kind := mediaType(resp.Header)
	switch {
	case resp.StatusCode == http.StatusNotFound && s.id != "":
		b.close()
		l.leave(c)
		l.lose(s)
		return mcp.Frame{}, ErrLost
	case resp.StatusCode >= 300:
		f, err := l.refused(c, kind, resp.StatusCode, b)
		l.leave(c)
		return f, err
	case kind == "text/event-stream":
		return l.follow(s, c, b)
	case resp.StatusCode == http.StatusAccepted || resp.StatusCode == http.StatusNoContent:
		b.close()
		return l.elsewhere(s, c)
	case kind == "application/json":
		f, err := l.single(s, c, b)
		l.leave(c)
		return f, err
	}
	b.close()
	l.leave(c)
	return mcp.Frame{}, ErrProtocol
}

// name takes the id that the server gave the session. Only visible ASCII can be
// one; another value is no id, and the server will say what it thinks of that.
func (s *session) name(l *endpointLink, id string) {
	if id != "" && len(id) <= 4096 && printableASCII(id) && !strings.ContainsAny(id, " \t") {
		s.id = id
		s.setHead(l.e.head("", id))
	}
}

// elsewhere waits for an answer on the GET stream: some servers of the first
// revisions accept a request and answer there.
func (l *endpointLink) elsewhere(s *session, c *call) (mcp.Frame, error) {
	defer l.leave(c)
	if l.modern() || !s.listening.Load() {
		select {
		case o := <-c.done:
			return o.f, o.err
		default:
			return mcp.Frame{}, ErrProtocol
		}
	}
	select {
	case o := <-c.done:
		return o.f, o.err
	case <-c.ctx.Done():
		return mcp.Frame{}, c.ended()
	}
}

// refused is what an HTTP error says: a JSON-RPC error for this call, where the
// body is one, else the status alone.
func (l *endpointLink) refused(c *call, kind string, status int, b *body) (mcp.Frame, error) {
	defer b.close()
	if kind == "application/json" && status >= 400 && status != http.StatusUnauthorized && status != http.StatusForbidden {
		if data, err := b.all(64 << 10); err == nil {
			f, err := mcp.ParseOne(data, l.decode())
			if id, ok := number(f.ID); err == nil && f.Shape == mcp.Failure && ok && id == c.id {
				return f, nil
			}
		}
	}
	return mcp.Frame{}, &StatusError{Status: status}
}

// single reads a body that is one answer.
func (l *endpointLink) single(s *session, c *call, b *body) (mcp.Frame, error) {
	defer b.close()
	data, err := b.all(l.b.Frame)
	if err != nil {
		if errors.Is(err, ErrTooLarge) {
			l.n.tooLarge.Add(1)
			return mcp.Frame{}, err
		}
		return mcp.Frame{}, l.broken(c, err)
	}
	f, ok, err := l.frames(s, c, data)
	if err == nil && !ok {
		err = ErrProtocol
	}
	return f, err
}

// frames takes what one body or event holds; ok: the call's answer was in it.
func (l *endpointLink) frames(s *session, c *call, data []byte) (answer mcp.Frame, ok bool, err error) {
	frames, batch, err := mcp.Parse(data, l.decode())
	if err != nil || (batch && !l.Welcome().Revision.Batches()) {
		l.n.malformed.Add(1)
		if err == nil {
			err = mcp.ErrNoBatch
		}
		return mcp.Frame{}, false, both(ErrProtocol, err)
	}
	for _, f := range frames {
		switch f.Shape {
		case mcp.Result, mcp.Failure:
			if id, is := number(f.ID); is && id == c.id && !ok {
				answer, ok = f, true
			} else {
				l.n.orphans.Add(1)
			}
		case mcp.Notification:
			if err := l.streamed(f, c); err != nil {
				return mcp.Frame{}, false, err
			}
		case mcp.Request:
			if l.modern() {
				l.n.questions.Add(1) // and there is no way to answer it
			} else {
				l.question(s.ctx, f, c, func(a mcp.Frame) { l.post(s, a) })
			}
		default:
			l.n.malformed.Add(1)
		}
	}
	return answer, ok, nil
}

// tell sends what has no answer, and waits until it was taken.
func (l *endpointLink) tell(ctx context.Context, s *session, f mcp.Frame) error {
	head, err := l.headers(s, f.Method, nil)
	if err != nil {
		return err
	}
	if f.Method == "" {
		delete(head, mcp.HeaderMethod)
	}
	resp, err := l.e.send(ctx, http.MethodPost, head, f.Bytes())
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return ErrLost
	}
	// Whatever it says is not for anybody; what is short is read, so that the
	// connection can be used again.
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
	_ = resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound && s.id != "":
		l.lose(s)
		return ErrLost
	case resp.StatusCode >= 300:
		return &StatusError{Status: resp.StatusCode}
	}
	return nil
}

// post is tell without waiting: for answers to questions, and cancellations. It
// is called by what Close waits for only.
func (l *endpointLink) post(s *session, f mcp.Frame) {
	select {
	case l.posts <- struct{}{}:
	default:
		l.n.dropped.Add(1)
		return
	}
	l.work.Go(func() {
		defer func() { <-l.posts }()
		ctx, cancel := context.WithTimeout(l.late, l.b.Write)
		defer cancel()
		if err := l.tell(ctx, s, f); err != nil {
			l.n.dropped.Add(1)
		}
	})
}

// drain lets a server end a stream whose answer is there, so that its connection
// can be used again; not for long, and not for too many at one time.
func (l *endpointLink) drain(c *call, b *body) {
	end := func() {
		b.close()
		c.cancel(context.Canceled)
	}
	if l.draining.Add(1) > 64 || !l.spawn(func() {
		defer l.draining.Add(-1)
		defer end()
		t := time.AfterFunc(2*time.Second, func() { c.cancel(context.Canceled) })
		defer t.Stop()
		defer context.AfterFunc(l.ctx, func() { c.cancel(context.Canceled) })()
		_, _ = io.CopyN(io.Discard, b.r, 16<<10)
	}) {
		l.draining.Add(-1)
		end()
	}
}

func mediaType(h http.Header) string {
	v := h.Get("Content-Type")
	if v == "application/json" || v == "text/event-stream" {
		return v
	}
	t, _, err := mime.ParseMediaType(v)
	if err != nil {
		return ""
	}
	return t
}
