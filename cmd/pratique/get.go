package main

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/internal/problem"
)

// httpClient reads what anybody may read: no proxy, no redirect, no cookies.
// Its transport is made per command, so that nothing outlives it.
func (c *call) httpClient() *http.Client {
	return &http.Client{
		Timeout:       c.span("timeout"),
		Transport:     &http.Transport{Proxy: nil, DisableCompression: true, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// get reads a document of the registry whose URL package client has accepted.
func (c *call) get(url, contentType string, limit int64) ([]byte, error) {
	hc := c.httpClient()
	defer hc.CloseIdleConnections()
	req, err := http.NewRequestWithContext(context.Context(c), http.MethodGet, url, nil)
	if err != nil {
		return nil, client.ErrURL
	}
	req.Header.Set("User-Agent", "pratique")
	resp, err := hc.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", client.ErrUnreachable, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 400 {
		return nil, &client.Error{Problem: problem.Read(resp)}
	}
	if mt, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); resp.StatusCode != http.StatusOK || mt != contentType {
		return nil, fmt.Errorf("%w: status %d", client.ErrAnswer, resp.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", client.ErrUnreachable, err)
	}
	if int64(len(raw)) > limit {
		return nil, fmt.Errorf("%w: longer than %d bytes", client.ErrAnswer, limit)
	}
	return raw, nil
}

func (c *call) getJSON(url string, out any) error {
	raw, err := c.get(url, "application/json", 1<<20)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return client.ErrAnswer
	}
	return nil
}
