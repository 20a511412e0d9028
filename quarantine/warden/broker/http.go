package broker

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"os"
	"syscall"

	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/internal/secret"
	"github.com/pratique-dev/pratique/quarantine/inspect/opinion"
)

const (
	maxKey    = 4 << 10  // bytes of a key
	maxHeader = 16 << 10 // bytes of an answer's head
	maxRoots  = 1 << 20  // bytes of a CA file
)

// An endpoint is one OpenAI-compatible endpoint.
type endpoint struct {
	url       string
	key       secret.Value
	model     opinion.Model
	transport *http.Transport
}

func newEndpoint(cfg Config) (*endpoint, error) {
	o, err := origin.Parse(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("%w: url: %w", ErrConfig, err)
	}
	e := &endpoint{
		url:   o.String() + "/chat/completions",
		model: opinion.Model{Name: cfg.Name, MaxTokens: cfg.MaxTokens, Reasoning: cfg.Reasoning},
	}
	if e.key, err = readKey(cfg.KeyFile); err != nil {
		return nil, err
	}
	roots, err := readRoots(cfg.CAFile)
	if err != nil {
		return nil, err
	}
	d := &net.Dialer{Timeout: cfg.Timeout}
	if o.Loopback() {
		d.Control = stayHere
	}
	e.transport = &http.Transport{
		Proxy:       nil, // whatever the environment says
		DialContext: d.DialContext,
		// One connection for each request: what a confused or hostile server sends
		// behind one answer is never taken for the next, which may be about another
		// origin's text.
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
		TLSHandshakeTimeout:    cfg.Timeout,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
	}
	return e, nil
}

// stayHere refuses connections that leave this machine: a loopback name promises
// that they do not.
func stayHere(_, address string, _ syscall.RawConn) error {
	if ap, err := netip.ParseAddrPort(address); err != nil || !ap.Addr().IsLoopback() {
		return ErrAddress
	}
	return nil
}

// readKey reads a private file with one line, no file for no key.
func readKey(path string) (secret.Value, error) {
	if path == "" {
		return secret.Value{}, nil
	}
	b, err := durable.ReadPrivate(path, maxKey)
	if err != nil {
		return secret.Value{}, fmt.Errorf("%w: key_file: %w", ErrConfig, err)
	}
	key := bytes.TrimRight(b, "\r\n")
	if len(key) == 0 || bytes.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		clear(b)
		return secret.Value{}, ErrKey
	}
	return secret.New(key), nil
}

func readRoots(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: ca_file: %w", ErrConfig, err)
	}
	defer f.Close()
	pem, err := io.ReadAll(io.LimitReader(f, maxRoots))
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%w: ca_file: no certificate in it", ErrConfig)
	}
	return pool, nil
}

// send implements sender.
func (e *endpoint) send(ctx context.Context, p opinion.Prompt, canary string) ([]byte, error) {
	body, err := p.Body(e.model)
	if err != nil {
		return nil, ErrQuestion
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return nil, ErrUnreachable
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("User-Agent", "pratique")
	if !e.key.IsZero() {
		req.Header.Set("Authorization", "Bearer "+string(e.key.Reveal()))
	}
	// RoundTrip, not Client.Do: it neither follows redirects nor keeps cookies.
	resp, err := e.transport.RoundTrip(req)
	if err != nil {
		return nil, named(err)
	}
	defer resp.Body.Close()
	if err := checkHead(resp); err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, named(err)
	case len(raw) > maxBody:
		return nil, ErrTooLarge
	case !e.key.IsZero() && bytes.Contains(raw, e.key.Reveal()):
		return nil, ErrEcho
	}
	return opinion.Completion(canary, raw), nil
}

// checkHead judges an answer before a byte of its body is read.
func checkHead(resp *http.Response) error {
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return ErrRedirect
	case resp.StatusCode != http.StatusOK:
		return ErrStatus
	case len(resp.Header.Values("Content-Encoding")) > 0:
		return ErrEncoding
	}
	types := resp.Header.Values("Content-Type")
	if len(types) != 1 {
		return ErrType
	}
	if mt, _, err := mime.ParseMediaType(types[0]); err != nil || mt != "application/json" {
		return ErrType
	}
	return nil
}

// named is what went wrong on the way, in our words: those of the library may
// hold the server's.
func named(err error) error {
	var (
		netErr  net.Error
		certErr *tls.CertificateVerificationError
		recErr  tls.RecordHeaderError
		alert   tls.AlertError
	)
	switch {
	case errors.Is(err, ErrAddress):
		return ErrAddress
	case errors.As(err, &netErr) && netErr.Timeout():
		return ErrTimeout
	case errors.As(err, &certErr), errors.As(err, &recErr), errors.As(err, &alert):
		return ErrTLS
	}
	return ErrUnreachable
}
