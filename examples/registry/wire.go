package main

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// wire is somebody on the owner's way to the registry: it keeps what it sees,
// and alters what it is told to.
type wire struct {
	mu    sync.Mutex // guards what follows
	seen  []request  // what went through with a proof and was answered with success
	alter func(body []byte) []byte
}

// A request is one that was seen, to the byte.
type request struct {
	method, url string
	header      http.Header
	body        []byte
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
	}
	w.mu.Lock()
	if w.alter != nil {
		body = w.alter(body)
	}
	w.mu.Unlock()
	q := request{r.Method, r.URL.String(), r.Header.Clone(), body}
	resp, err := q.send(r)
	if err == nil && resp.StatusCode < 300 && r.Header.Get("DPoP") != "" {
		w.mu.Lock()
		w.seen = append(w.seen, q)
		w.mu.Unlock()
	}
	return resp, err
}

// send sends the request; like is where the context comes from.
func (q request) send(like *http.Request) (*http.Response, error) {
	out, err := http.NewRequestWithContext(like.Context(), q.method, q.url, bytes.NewReader(q.body))
	if err != nil {
		return nil, err
	}
	out.Header = q.header.Clone()
	return http.DefaultTransport.RoundTrip(out)
}
