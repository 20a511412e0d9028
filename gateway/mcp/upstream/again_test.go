package upstream

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/pratique-dev/pratique/gateway/mcp"
)

// TestGreetingsGoOutAgain: a greeting that meets a kept connection which the server
// has closed is made on a new one. What may act is never sent twice.
func TestGreetingsGoOutAgain(t *testing.T) {
	for method, want := range map[string]bool{"initialize": true, "tools/list": true, "server/discover": true, "tools/call": false, "resources/read": false} {
		if again(method) != want {
			t.Errorf("%s: %v", method, !want)
		}
	}
	var kill atomic.Bool
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if kill.CompareAndSwap(true, false) {
			c, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_ = c.(*net.TCPConn).SetLinger(0)
				_ = c.Close()
			}
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(srv.Close)
	e, err := NewEndpoint("it", srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	send := func(head http.Header) error {
		resp, err := e.send(context.Background(), http.MethodPost, head, []byte(`{}`))
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	head := e.head(string(mcp.Latest), "")
	if err := send(head); err != nil {
		t.Fatal(err)
	}
	kill.Store(true)
	if err := send(head); err == nil {
		t.Error("what may act was sent twice")
	}
	if err := send(head); err != nil {
		t.Fatal(err)
	}
	kill.Store(true)
	head["Idempotency-Key"] = nil
	if err := send(head); err != nil {
		t.Errorf("a greeting: %v", err)
	}
}
