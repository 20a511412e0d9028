package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/internal/problem"
)

// Bounds of an exchange.
const (
	DefaultTimeout = 10 * time.Second
	maxAnswer      = 32 << 20 // of the longest answer, a registration of 1,000 tools or a page of the log
	maxHeader      = 64 << 10
)

// Errors of connections.
var (
	// ErrURL refuses a registry URL.
	ErrURL = errors.New("registry URL is not https (http: only for loopback), or has a query, fragment or user name")
	// ErrUnreachable means that no whole answer came. Whether an act was done is
	// not known; it was repeated as often as Options.Retries allows.
	ErrUnreachable = errors.New("registry gave no whole answer")
	// ErrAnswer means that the answer is not what the API promises: another
	// content type, not JSON, too long, a redirect.
	ErrAnswer = errors.New("answer is not one of a registry")
)

// A conn is one registry's address and the way there. It holds no state beyond
// the transport's pool of connections.
type conn struct {
	base    string // external URL without trailing slash; also iss and aud
	timeout time.Duration
	rt      http.RoundTripper
	own     *http.Transport // nil where the caller brought a transport
	now     func() time.Time
	rand    io.Reader
}

// Network says how to reach a registry. The zero value is strict.
type Network struct {
	// Timeout bounds one exchange, from connecting to the last byte of the
	// answer; 0 means DefaultTimeout. The label stream has its own bounds.
	Timeout time.Duration
	// RootCAs replaces the system's, for a private CA.
	RootCAs *x509.CertPool
	// UnsafePlainHTTP lets http: name other hosts than loopback. Whoever sits on
	// the way then reads everything and can withhold or delay it; labels and keys
	// stay verified, and what a proof covers cannot be altered.
	UnsafePlainHTTP bool
	// Transport replaces the strict transport: a Unix socket, a client
	// certificate, a test. It must not follow redirects. Its owner closes it.
	Transport http.RoundTripper

	Now  func() time.Time // default time.Now
	Rand io.Reader        // default crypto/rand; must be safe for concurrent use
}

func newConn(rawURL string, n Network) (*conn, error) {
	base, plain, err := parseBase(rawURL, n.UnsafePlainHTTP)
	if err != nil {
		return nil, err
	}
	c := &conn{base: base, timeout: n.Timeout, rt: n.Transport, now: n.Now, rand: n.Rand}
	if c.timeout <= 0 {
		c.timeout = DefaultTimeout
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.rand == nil {
		c.rand = rand.Reader
	}
	if c.rt == nil {
		c.own = transport(n.RootCAs, plain && !n.UnsafePlainHTTP)
		c.rt = c.own
	}
	return c, nil
}

// parseBase normalises a registry URL; plain says that it is http.
func parseBase(raw string, unsafePlain bool) (base string, plain bool, err error) {
	raw = strings.TrimSuffix(raw, "/")
	if o, err := origin.Parse(raw); err == nil && !o.GatewayOnly() {
		return o.String(), strings.HasPrefix(o.String(), "http:"), nil
	}
	u, err := url.Parse(raw)
	if !unsafePlain || err != nil || u.Scheme != "http" || u.Host == "" || u.User != nil ||
		u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "" || u.RawPath != "" {
		return "", false, ErrURL
	}
	return u.String(), true, nil
}

func transport(roots *x509.CertPool, loopbackOnly bool) *http.Transport {
	d := &net.Dialer{Timeout: DefaultTimeout}
	if loopbackOnly {
		// The name "localhost" is only as good as the resolver: what counts is
		// the address that is connected to.
		d.Control = func(_, address string, _ syscall.RawConn) error {
			if ap, err := netip.ParseAddrPort(address); err != nil || !ap.Addr().Unmap().IsLoopback() {
				return ErrURL
			}
			return nil
		}
	}
	return &http.Transport{
		Proxy:                  nil, // no surprises from the environment
		DialContext:            d.DialContext,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConnsPerHost:    16,
		MaxConnsPerHost:        64,
		IdleConnTimeout:        60 * time.Second,
		TLSHandshakeTimeout:    DefaultTimeout,
		ForceAttemptHTTP2:      true,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
	}
}

// close gives idle connections back.
func (c *conn) close() {
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
}

// A call is one request.
type call struct {
	method string
	path   string // begins with a slash; made of checked ids only
	query  url.Values
	header http.Header
	body   []byte // JSON; nil: none
	limit  int64  // of the answer; 0: maxAnswer
	accept string // media type; "": application/json
}

// request builds the HTTP request of a call.
func (c *conn) request(ctx context.Context, k call) (*http.Request, error) {
	u := c.base + k.path
	if len(k.query) > 0 {
		u += "?" + k.query.Encode()
	}
	var body io.Reader
	if k.body != nil {
		body = bytes.NewReader(k.body)
	}
	req, err := http.NewRequestWithContext(ctx, k.method, u, body)
	if err != nil {
		return nil, ErrURL
	}
	if k.header != nil {
		req.Header = k.header.Clone()
	}
	if k.accept == "" {
		k.accept = "application/json"
	}
	req.Header.Set("Accept", k.accept)
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("User-Agent", "pratique")
	if k.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// exchange makes one call. An answer that is no success is an *Error. The
// headers are returned with any answer.
func (c *conn) exchange(ctx context.Context, k call) ([]byte, http.Header, error) {
	own, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	req, err := c.request(own, k)
	if err != nil {
		return nil, nil, err
	}
	resp, err := c.rt.RoundTrip(req)
	if err != nil {
		return nil, nil, unreachable(ctx, err)
	}
	defer resp.Body.Close()
	if err := judge(resp, k.accept); err != nil {
		return nil, resp.Header, err
	}
	if k.limit == 0 {
		k.limit = maxAnswer
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, k.limit+1))
	switch {
	case err != nil:
		return nil, resp.Header, unreachable(ctx, err)
	case int64(len(body)) > k.limit:
		return nil, resp.Header, fmt.Errorf("%w: longer than %d bytes", ErrAnswer, k.limit)
	}
	return body, resp.Header, nil
}

// judge looks at an answer before its body is read.
func judge(resp *http.Response, accept string) error {
	switch {
	case resp.StatusCode >= 400:
		return &Error{Problem: problem.Read(resp)}
	case resp.StatusCode >= 300:
		return fmt.Errorf("%w: a redirect (%d)", ErrAnswer, resp.StatusCode)
	case resp.StatusCode == http.StatusNoContent:
		return nil
	case resp.StatusCode < 200:
		return fmt.Errorf("%w: status %d", ErrAnswer, resp.StatusCode)
	case len(resp.Header.Values("Content-Encoding")) > 0:
		return fmt.Errorf("%w: compressed", ErrAnswer)
	}
	if accept == "" {
		accept = "application/json"
	}
	mt, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("%w: no content type", ErrAnswer)
	}
	for want := range strings.SplitSeq(accept, ", ") {
		if mt == want {
			return nil
		}
	}
	return fmt.Errorf("%w: content type is not %s", ErrAnswer, accept)
}

// unreachable names a failure on the way. A caller who gave up is told so.
func unreachable(ctx context.Context, cause error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	if errors.Is(cause, ErrURL) {
		return ErrURL
	}
	return fmt.Errorf("%w: %v", ErrUnreachable, cause)
}

// get reads one JSON answer into out.
func (c *conn) get(ctx context.Context, path string, query url.Values, out any) error {
	body, _, err := c.exchange(ctx, call{method: http.MethodGet, path: path, query: query})
	if err != nil {
		return err
	}
	return decode(body, out)
}

// got is get for a type of answer.
func got[T any](ctx context.Context, c *conn, path string, query url.Values, out T) (T, error) {
	err := c.get(ctx, path, query, &out)
	return out, err
}

// decode reads an answer. Members that this version does not know are passed
// over, so that a registry may be newer than its clients; nothing that is
// signed is read this way.
func decode(body []byte, out any) error {
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("%w: not the JSON of this answer", ErrAnswer)
	}
	return nil
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// backoff is the wait before try n (from 1): doubling from first up to last,
// less up to half by chance, so that clients of one registry do not come back
// together.
func (c *conn) backoff(n int, first, last time.Duration) time.Duration {
	d := last
	if n < 16 {
		d = min(last, first<<(n-1))
	}
	return c.jitter(d, 2)
}

// jitter takes by chance up to 1/part off d.
func (c *conn) jitter(d time.Duration, part int) time.Duration {
	var b [2]byte
	if _, err := io.ReadFull(c.rand, b[:]); err != nil {
		return d
	}
	f := time.Duration(b[0])<<8 | time.Duration(b[1])
	return d - d/time.Duration(part)*f/65536
}
