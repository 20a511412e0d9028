package upstream

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/internal/origin"
)

// EndpointOptions are the settings of an Endpoint; nil and the zero value work.
type EndpointOptions struct {
	Headers http.Header // sent with each request, for authentication; none that the protocol uses
	TLS     *tls.Config // nil: the system's roots, TLS 1.2
	Bounds  Bounds
	Log     *slog.Logger     // nil: nothing
	Now     func() time.Time // nil: time.Now
}

// An Endpoint is an upstream at a URL, over streamable HTTP. It follows no
// redirect, uses no proxy and keeps no cookie: what it sends, and the credentials
// with it, go to the configured origin and nowhere else (RULES.md 15).
type Endpoint struct {
	name  string
	url   *url.URL
	place gateway.Place
	o     EndpointOptions
	n     counters

	budget atomic.Int64 // bytes that may yet be held of frames that are being read
	links  *links
	feeds  feeds
	web    *http.Transport
}

var _ gateway.Upstream = (*Endpoint)(nil)

// idle is for how long a connection is kept. Common servers close theirs after
// 5 s: a request that meets the close would end with its outcome unknown.
const idle = 4 * time.Second

// NewEndpoint is the upstream at the URL: https, or http on this machine, without
// user name, query and fragment. Its error is ErrOptions. Nothing is dialled yet.
func NewEndpoint(name, address string, o *EndpointOptions) (*Endpoint, error) {
	e := &Endpoint{name: name, links: newLinks()}
	e.feeds.e = e
	if o != nil {
		e.o = *o
	}
	e.o.Bounds.defaults()
	e.budget.Store(e.o.Bounds.Buffers)
	quiet(&e.o.Log, &e.o.Now)
	from, err := origin.Parse(address)
	if err != nil {
		return nil, both(ErrOptions, err)
	}
	if name == "" || from.GatewayOnly() {
		return nil, ErrOptions
	}
	if e.url, err = url.Parse(from.String()); err != nil {
		return nil, ErrOptions // and not its text, which holds the URL
	}
	e.place = gateway.Place{Origin: from}
	if e.o.Headers, err = ours(e.o.Headers); err != nil {
		return nil, err
	}
	e.o.Headers.Set("User-Agent", "pratique")
	e.o.Headers.Set("Accept-Encoding", "gzip")
	if from.Loopback() {
		e.o.Headers.Set("Accept-Encoding", "identity") // it would cost more than it saves
	}
	security := &tls.Config{}
	if e.o.TLS != nil {
		security = e.o.TLS.Clone()
	}
	security.MinVersion = max(security.MinVersion, tls.VersionTLS12)
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}
	e.web = &http.Transport{
		DialContext: dialer.DialContext, TLSClientConfig: security, TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2: true, DisableCompression: true, // what is compressed is read with a bound
		MaxIdleConnsPerHost: 64, MaxConnsPerHost: 1024, IdleConnTimeout: idle,
		MaxResponseHeaderBytes: 64 << 10, WriteBufferSize: 16 << 10, ReadBufferSize: 16 << 10,
	}
	return e, nil
}

// ours is a copy of an operator's headers. The protocol's own, and those that
// would change how a message is read, are not the operator's to set.
func ours(h http.Header) (http.Header, error) {
	out := make(http.Header, len(h)+2)
	for name, values := range h {
		name = http.CanonicalHeaderKey(name)
		switch name {
		case "Host", "Content-Length", "Content-Type", "Content-Encoding", "Accept", "Accept-Encoding", "Connection",
			"Transfer-Encoding", "Te", "Trailer", "Upgrade", "Keep-Alive", "Expect", mcp.HeaderLastEvent:
			return nil, ErrOptions
		}
		if !token(name) || strings.HasPrefix(name, "Mcp-") || strings.HasPrefix(name, "Proxy-") || out[name] != nil {
			return nil, ErrOptions
		}
		for _, v := range values {
			if !printableASCII(v) {
				return nil, ErrOptions
			}
		}
		out[name] = append([]string(nil), values...)
	}
	return out, nil
}

// token tells whether a text can be a header's name (RFC 9110).
func token(s string) bool {
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// printableASCII tells whether a text can be a header's value as it stands.
func printableASCII(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' && c != '\t' || c > '~' {
			return false
		}
	}
	return true
}

// Name is the operator's word for it.
func (e *Endpoint) Name() string { return e.name }

// Place is its origin: the URL.
func (e *Endpoint) Place() gateway.Place { return e.place }

// Connect shakes hands with the server. Its errors are ErrClosed, ErrEra and
// those that are gateway.ErrUnreachable.
func (e *Endpoint) Connect(ctx context.Context, hello mcp.Hello, sink gateway.Sink) (gateway.Link, error) {
	l := &endpointLink{
		core: newCore(context.WithoutCancel(ctx), e.name, hello, sink, &e.o.Bounds, &e.n, e.o.Log, e.o.Now),
		e:    e, cur: newCurrent[session](),
	}
	if !e.links.add(l) {
		l.shut()
		return nil, both(ErrClosed, ErrUnsent)
	}
	if err := l.begin(ctx); err != nil {
		_ = l.Close()
		return nil, unreachable(err)
	}
	return l, nil
}

// Stats counts what was dropped.
func (e *Endpoint) Stats() Stats { return e.n.stats() }

// Close ends all links and idle connections.
func (e *Endpoint) Close() error {
	e.links.close()
	e.web.CloseIdleConnections()
	return nil
}

// head is what every request of a connection carries.
func (e *Endpoint) head(version, session string) http.Header {
	h := maps.Clone(e.o.Headers)
	h["Content-Type"] = []string{"application/json"}
	h["Accept"] = []string{"application/json, text/event-stream"}
	if version != "" {
		h[mcp.HeaderVersion] = []string{version}
	}
	if session != "" {
		h[mcp.HeaderSession] = []string{session}
	}
	return h
}

// send makes one HTTP request. A body of nil is none.
func (e *Endpoint) send(ctx context.Context, method string, head http.Header, body []byte) (*http.Response, error) {
	req := &http.Request{Method: method, URL: e.url, Host: e.url.Host, Header: head, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	if body != nil {
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	return e.web.RoundTrip(req.WithContext(ctx))
}
