package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Errors of talking to logs, witnesses and places that keep copies.
var (
	// ErrURL refuses a URL that is not plain http or https.
	ErrURL = errors.New("ledger: not a plain http or https URL")
	// ErrNotServed says that the other side does not have the resource.
	ErrNotServed = errors.New("ledger: not served")
	// ErrAnswer says that the other side's answer is not what the protocol
	// allows: a redirect, another status, too long, the wrong length.
	ErrAnswer = errors.New("ledger: unusable answer")
)

// requestTimeout bounds one request unless the given client has its own bound.
const requestTimeout = 30 * time.Second

// strict is a copy of hc (nil: a fresh client) that follows no redirect, keeps
// no cookies and has a timeout.
func strict(hc *http.Client) *http.Client {
	c := http.Client{}
	if hc != nil {
		c = *hc
	}
	c.Jar = nil
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if c.Timeout <= 0 {
		c.Timeout = requestTimeout
	}
	return &c
}

// baseURL checks a URL that paths are appended to.
func baseURL(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
		return "", ErrURL
	}
	return strings.TrimSuffix(u.String(), "/"), nil
}

// answer is what came back from exchange.
type answer struct {
	status int
	kind   string // Content-Type
	body   []byte
}

// exchange makes one request and reads at most limit bytes of the answer. Its
// errors name the URL, which the caller gave, and nothing that came back.
func exchange(ctx context.Context, hc *http.Client, method, url string, body []byte, limit int64) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return answer{}, ErrURL
	}
	if body != nil {
		req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	}
	res, err := hc.Do(req)
	if err != nil {
		return answer{}, fmt.Errorf("ledger: %w", err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err != nil {
		return answer{}, fmt.Errorf("ledger: read %s: %w", url, err)
	}
	if int64(len(data)) > limit {
		return answer{}, fmt.Errorf("%w: %s: longer than %d bytes", ErrAnswer, url, limit)
	}
	return answer{res.StatusCode, res.Header.Get("Content-Type"), data}, nil
}

// get fetches a resource; ErrNotServed is 404 or 410.
func get(ctx context.Context, hc *http.Client, url string, limit int64) ([]byte, error) {
	a, err := exchange(ctx, hc, http.MethodGet, url, nil, limit)
	switch {
	case err != nil:
		return nil, err
	case a.status == http.StatusNotFound || a.status == http.StatusGone:
		return nil, fmt.Errorf("%w: %s", ErrNotServed, url)
	case a.status != http.StatusOK:
		return nil, fmt.Errorf("%w: %s: status %d", ErrAnswer, url, a.status)
	}
	return a.body, nil
}
