package serve

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
)

var benchAnswer = jsontext.Value(`{"content":[{"type":"text","text":"hello"}],"structuredContent":{"text":"hello"}}`)

func benchGateway() *fakeGateway {
	return &fakeGateway{handle: func(_ context.Context, _ *fakeSession, f mcp.Frame, _ gateway.Peer) mcp.Frame {
		return mcp.Answer(f.ID, benchAnswer)
	}}
}

// A quietWriter is a response that nobody reads.
type quietWriter struct{ h http.Header }

func (w *quietWriter) Header() http.Header         { return w.h }
func (w *quietWriter) Write(b []byte) (int, error) { return len(b), nil }
func (w *quietWriter) WriteHeader(int)             {}
func (w *quietWriter) Flush()                      {}

// BenchmarkPost is what a call costs here, without net/http and without the gateway.
func BenchmarkPost(b *testing.B) {
	for _, c := range []struct{ name, accept string }{{"json", "application/json, text/event-stream"}, {"stream", "text/event-stream, application/json"}} {
		b.Run("sessions/"+c.name, func(b *testing.B) { benchPost(b, c.accept, false) })
		b.Run("stateless/"+c.name, func(b *testing.B) { benchPost(b, c.accept, true) })
	}
}

func benchPost(b *testing.B, accept string, stateless bool) {
	h := newHandler(benchGateway(), Options{})
	defer func() { _ = h.Drain(context.Background()) }()
	r := httptest.NewRequest("POST", "http://127.0.0.1/mcp/"+alice, nil)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", accept)
	body := []byte(callOf("1", "echo"))
	if stateless {
		body = []byte(modernCall("1", "echo", "{}"))
		for k, v := range modernHeads(methodCall, "echo") {
			r.Header.Set(k, v)
		}
	} else {
		w := httptest.NewRecorder()
		open := r.Clone(context.Background())
		open.Body = io.NopCloser(bytes.NewReader([]byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`)))
		h.ServeHTTP(w, open)
		r.Header.Set("Mcp-Session-Id", w.Header().Get("Mcp-Session-Id"))
	}
	b.ReportAllocs()
	for b.Loop() {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		h.ServeHTTP(&quietWriter{http.Header{}}, r)
	}
}

// BenchmarkRoundTrip is the same over loopback, beside a handler that answers
// without looking: the difference is what serving MCP adds to HTTP.
func BenchmarkRoundTrip(b *testing.B) {
	answer := mcp.Answer("1", benchAnswer).Bytes()
	b.Run("bare", func(b *testing.B) {
		roundTrip(b, "application/json, text/event-stream", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(answer)
		}))
	})
	for _, c := range []struct{ name, accept string }{{"json", "application/json, text/event-stream"}, {"stream", "text/event-stream, application/json"}} {
		b.Run(c.name, func(b *testing.B) {
			h := newHandler(benchGateway(), Options{})
			roundTrip(b, c.accept, h)
			_ = h.Drain(context.Background())
		})
	}
}

func roundTrip(b *testing.B, accept string, h http.Handler) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	srv := &http.Server{Handler: h}
	go func() { _ = srv.Serve(l) }()
	defer srv.Close()
	url := "http://" + l.Addr().String() + "/mcp/" + alice
	tr := &http.Transport{MaxIdleConnsPerHost: 64}
	defer tr.CloseIdleConnections()
	client := &http.Client{Transport: tr}
	post := func(body, session string) (string, error) {
		req, err := http.NewRequest("POST", url, bytes.NewReader([]byte(body)))
		if err != nil {
			return "", err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", accept)
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
		}
		res, err := client.Do(req)
		if err != nil {
			return "", err
		}
		defer res.Body.Close()
		_, err = io.Copy(io.Discard, res.Body)
		return res.Header.Get("Mcp-Session-Id"), err
	}
	id, err := post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`, "")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var n atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := post(callOf(itoa(int(n.Add(1))), "echo"), id); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
