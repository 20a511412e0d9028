// Package fetch is the one bounded fetcher (RULES.md 15): every document that
// we read because somebody named it is read here.
//
// It speaks https only, follows no redirect, uses no proxy, cookie or
// compression, and connects to public addresses only: the check runs on the
// address of each connection attempt, after name resolution, so a name that
// changes its address between check and use gains nothing. A fetch takes at
// most 5 s and 256 KiB, and is rated per host name and per address.
//
// What it cannot know: a network-specific NAT64 prefix, or a public address
// that the local network routes to something private.
package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pratique-dev/pratique/internal/origin"
	"golang.org/x/time/rate"
)

// The bounds of one fetch. Options can lower them, not raise them.
const (
	MaxTime  = 5 * time.Second
	MaxBytes = 256 << 10

	maxHeader = 16 << 10 // of the answer, in bytes
)

// Errors of fetches. They are all that Error() of a failed fetch says: what
// lies behind (addresses, the server's words) is for operators, see Cause.
var (
	ErrURL         = errors.New("URL is not a plain https URL")
	ErrRated       = errors.New("host was fetched from too often; try later")
	ErrAddress     = errors.New("host has no public address")
	ErrTLS         = errors.New("host's certificate or TLS is not good")
	ErrUnreachable = errors.New("host could not be reached")
	ErrTimeout     = errors.New("fetch took too long")
	ErrRedirect    = errors.New("answer is a redirect")
	ErrMissing     = errors.New("document does not exist") // 404 and 410
	ErrStatus      = errors.New("answer's status is not 200")
	ErrType        = errors.New("answer has another content type")
	ErrEncoding    = errors.New("answer is compressed")
	ErrTooLarge    = errors.New("document is larger than the bound")
)

// An Error is a failed fetch: one of the sentinels above, matched by errors.Is.
type Error struct {
	kind  error
	cause error
}

// Error is the sentinel's text and nothing else, so that a registrant who
// names a host learns nothing of the network that we are in.
func (e *Error) Error() string { return e.kind.Error() }

// Unwrap makes errors.Is find the sentinel only.
func (e *Error) Unwrap() error { return e.kind }

// Cause is what lies behind, for the operator's log; it may be nil.
func (e *Error) Cause() error { return e.cause }

// Options are the settings of a Fetcher; nil and the zero value are strict.
type Options struct {
	Timeout  time.Duration // 0 means MaxTime; more is cut to it
	MaxBytes int64         // 0 means MaxBytes; more is cut to it

	// Every and Burst rate the fetches from one host: Burst at once (0 means
	// 5), then one in Every (0 means 6 s).
	Every time.Duration
	Burst int

	// RootCAs replaces the system's, for a private CA or tests.
	RootCAs *x509.CertPool
	// AllowPrivate lists addresses that may be connected to though they are not
	// public: an intranet whose sites may register, or loopback in tests.
	AllowPrivate []netip.Prefix
	// AllowLoopbackHTTP lets http: URLs through that name loopback and connect
	// to loopback (which AllowPrivate must allow too): a registry at home.
	AllowLoopbackHTTP bool

	// Resolver replaces the system's.
	Resolver *net.Resolver
	// Now is the clock of the rates; nil means time.Now.
	Now func() time.Time
}

// A Response is a document and its media type, without parameters.
type Response struct {
	Body      []byte
	MediaType string
}

// A Fetcher fetches. It is safe for concurrent use.
type Fetcher struct {
	opt   Options
	rates *rates
	slots chan struct{} // one per running fetch: bounds sockets and memory
}

// New is a fetcher with these options; nil means the strict defaults.
func New(opt *Options) *Fetcher {
	f := &Fetcher{slots: make(chan struct{}, 16)}
	if opt != nil {
		f.opt = *opt
	}
	o := &f.opt
	if o.Timeout <= 0 || o.Timeout > MaxTime {
		o.Timeout = MaxTime
	}
	if o.MaxBytes <= 0 || o.MaxBytes > MaxBytes {
		o.MaxBytes = MaxBytes
	}
	if o.Every <= 0 {
		o.Every = 6 * time.Second
	}
	if o.Burst <= 0 {
		o.Burst = 5
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.AllowPrivate = slices.Clone(o.AllowPrivate)
	f.rates = newRates(rate.Every(o.Every), o.Burst, o.Now)
	return f
}

// Loopback are the prefixes of this machine, for AllowPrivate.
func Loopback() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}

// Get reads the document at rawURL, whose media type must be one of types
// (none given: any). Every failure is an *Error, except that a ctx which ends
// first is reported as its own error.
func (f *Fetcher) Get(ctx context.Context, rawURL string, types ...string) (*Response, error) {
	u, err := f.checkURL(rawURL)
	if err != nil {
		return nil, &Error{kind: ErrURL, cause: err}
	}
	// A literal address that is refused needs no socket (nor IPv6 on this machine).
	if a, err := netip.ParseAddr(u.Hostname()); err == nil && !f.allowed(a) {
		return nil, &Error{kind: ErrAddress}
	}
	if !f.rates.allow("name:" + u.Hostname()) {
		return nil, &Error{kind: ErrRated}
	}
	own, cancel := context.WithTimeout(ctx, f.opt.Timeout)
	defer cancel()
	select {
	case f.slots <- struct{}{}:
		defer func() { <-f.slots }()
	case <-own.Done():
		return nil, f.failed(ctx, own, own.Err())
	}
	doc, err := f.read(own, u, types)
	if err != nil {
		return nil, f.failed(ctx, own, err)
	}
	return doc, nil
}

// read fetches within ctx. Its errors are an *Error or for failed to name.
func (f *Fetcher) read(ctx context.Context, u *url.URL, types []string) (*Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, &Error{kind: ErrURL, cause: err}
	}
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("User-Agent", "pratique")
	if len(types) > 0 {
		req.Header.Set("Accept", strings.Join(types, ", "))
	}
	// RoundTrip, not Client.Do: it neither follows redirects nor keeps cookies.
	resp, err := f.transport(u.Scheme == "http").RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	mt, err := checkHead(resp, types)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	if _, err := buf.ReadFrom(io.LimitReader(resp.Body, f.opt.MaxBytes+1)); err != nil {
		return nil, err
	}
	if int64(buf.Len()) > f.opt.MaxBytes {
		return nil, &Error{kind: ErrTooLarge}
	}
	// While a connection is being closed for lateness, the server may still end
	// its answer in an orderly way: late is late.
	return &Response{Body: buf.Bytes(), MediaType: mt}, ctx.Err()
}

// checkURL takes what origin.Parse takes, with a query but without fragment.
func (f *Fetcher) checkURL(raw string) (*url.URL, error) {
	base, query, _ := strings.Cut(raw, "?")
	o, err := origin.Parse(base)
	if err != nil {
		return nil, err
	}
	if o.GatewayOnly() || strings.ContainsRune(query, '#') {
		return nil, ErrURL
	}
	u, err := url.Parse(o.String())
	if err != nil {
		return nil, err
	}
	if u.Scheme != "https" && !f.opt.AllowLoopbackHTTP {
		return nil, ErrURL
	}
	u.RawQuery = query
	return u, nil
}

// transport is for one fetch: no pool means that no connection is used whose
// address was checked for somebody else.
func (f *Fetcher) transport(plain bool) *http.Transport {
	d := &net.Dialer{
		Timeout:  f.opt.Timeout,
		Resolver: f.opt.Resolver,
		Control: func(network, address string, _ syscall.RawConn) error {
			return f.checkAddress(network, address, plain)
		},
	}
	return &http.Transport{
		Proxy:                  nil,
		DialContext:            d.DialContext,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
		TLSHandshakeTimeout:    f.opt.Timeout,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: f.opt.RootCAs},
	}
}

func (f *Fetcher) checkAddress(network, address string, plain bool) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || (network != "tcp4" && network != "tcp6") {
		return ErrAddress
	}
	a := ap.Addr()
	if plain && !a.IsLoopback() || !f.allowed(a) {
		return ErrAddress
	}
	if !f.rates.allow("addr:" + a.String()) {
		return ErrRated
	}
	return nil
}

func (f *Fetcher) allowed(a netip.Addr) bool {
	return Public(a) || slices.ContainsFunc(f.opt.AllowPrivate, func(p netip.Prefix) bool { return p.Contains(a) })
}

// checkHead judges the answer before a byte of its body is read.
func checkHead(resp *http.Response, types []string) (mediaType string, err error) {
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return "", &Error{kind: ErrRedirect}
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone:
		return "", &Error{kind: ErrMissing}
	case resp.StatusCode != http.StatusOK:
		return "", &Error{kind: ErrStatus, cause: errors.New(resp.Status)}
	case len(resp.Header.Values("Content-Encoding")) > 0:
		return "", &Error{kind: ErrEncoding}
	}
	cts := resp.Header.Values("Content-Type")
	if len(cts) == 1 {
		mediaType, _, err = mime.ParseMediaType(cts[0])
	}
	if err != nil || len(types) > 0 && !slices.Contains(types, mediaType) {
		return "", &Error{kind: ErrType, cause: err}
	}
	return mediaType, nil
}

// failed names what went wrong on the way.
func (f *Fetcher) failed(parent, own context.Context, cause error) error {
	if err := parent.Err(); err != nil {
		return err
	}
	var (
		named   *Error
		netErr  net.Error
		certErr *tls.CertificateVerificationError
		recErr  tls.RecordHeaderError
		alert   tls.AlertError
	)
	switch {
	case errors.As(cause, &named):
		return named
	case errors.Is(cause, ErrAddress):
		return &Error{kind: ErrAddress, cause: cause}
	case errors.Is(cause, ErrRated):
		return &Error{kind: ErrRated, cause: cause}
	case own.Err() != nil, errors.As(cause, &netErr) && netErr.Timeout():
		return &Error{kind: ErrTimeout, cause: cause}
	case errors.As(cause, &certErr), errors.As(cause, &recErr), errors.As(cause, &alert):
		return &Error{kind: ErrTLS, cause: cause}
	}
	return &Error{kind: ErrUnreachable, cause: cause}
}
