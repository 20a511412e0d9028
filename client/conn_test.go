package client_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/internal/problem"
	"github.com/pratique-dev/pratique/registry"
)

// Over a real connection: nothing of the environment, no redirect, no cookie, no
// compression.
func TestTransportIsStrict(t *testing.T) {
	var strayed atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Add(1) }))
	defer elsewhere.Close()
	t.Setenv("HTTP_PROXY", elsewhere.URL)
	t.Setenv("http_proxy", elsewhere.URL)
	t.Setenv("ALL_PROXY", elsewhere.URL)
	var seen []*http.Request
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r)
		w.Header().Set("Set-Cookie", "a=b")
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	}))
	defer srv.Close()
	c, err := client.New(strings.Replace(srv.URL, "127.0.0.1", "localhost", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 2 {
		if _, err := c.Tool(t.Context(), toolPay); !errors.Is(err, client.ErrAnswer) {
			t.Errorf("got %v", err)
		}
	}
	// Go itself uses no proxy for loopback: try with a host that is not (RFC
	// 5737, nobody's).
	far, err := client.New("http://192.0.2.1", &client.Options{Network: client.Network{UnsafePlainHTTP: true, Timeout: 100 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	if _, err := far.Tool(t.Context(), toolPay); !errors.Is(err, client.ErrUnreachable) {
		t.Errorf("got %v", err)
	}
	if strayed.Load() != 0 {
		t.Error("a request went elsewhere")
	}
	if len(seen) != 2 {
		t.Fatalf("%d requests", len(seen))
	}
	for _, r := range seen {
		if r.Header.Get("Cookie") != "" || r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("headers: %v", r.Header)
		}
	}
}

// Every exchange ends in time, and answers that are refused leave no
// connections behind.
func TestTimeoutAndConnections(t *testing.T) {
	hang := make(chan struct{})
	var opened atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/versions") {
			w.WriteHeader(500)
			io.WriteString(w, "no problem document")
			return
		}
		<-hang
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			opened.Add(1)
		case http.StateClosed:
			opened.Add(-1)
		}
	}
	srv.Start()
	defer srv.Close()
	defer close(hang)
	c, err := client.New(srv.URL, &client.Options{Network: client.Network{Timeout: 50 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Tool(t.Context(), toolPay); !errors.Is(err, client.ErrUnreachable) {
		t.Errorf("a server that hangs: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Tool(ctx, toolPay); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who gave up: %v", err)
	}
	for range 100 {
		for _, err := range c.Versions(t.Context(), toolPay) {
			if client.Code(err) != "unexpected_answer" {
				t.Fatalf("got %v", err)
			}
		}
	}
	if n := opened.Load(); n > 5 {
		t.Errorf("%d connections open after 100 refusals", n)
	}
}

// Whatever the other side answers, the client takes nothing for granted.
func TestAnswersAreBounded(t *testing.T) {
	f := newFake(t, time.Now)
	c := newActor(t, f, "owner", nil).Client()
	for _, x := range []struct {
		name string
		h    http.HandlerFunc
		want error
	}{
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://evil.example/", http.StatusFound)
		}, client.ErrAnswer},
		{"redirect with an answer", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Location", "https://evil.example/")
			w.WriteHeader(302)
			io.WriteString(w, "{}")
		}, client.ErrAnswer},
		{"html", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<p>")
		}, client.ErrAnswer},
		{"no type", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") }, client.ErrAnswer},
		{"compressed", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, "{}")
		}, client.ErrAnswer},
		{"not JSON", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, "{")
		}, client.ErrAnswer},
		{"one member twice", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"id":"a","id":"b"}`)
		}, client.ErrAnswer},
		{"endless", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for b := make([]byte, 1<<20); ; {
				if _, err := w.Write(b); err != nil {
					return
				}
			}
		}, client.ErrAnswer},
		{"proxy's 502", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) }, &client.Problem{Code: problem.CodeUnexpected}},
		{"broken off", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(0) }, client.ErrUnreachable},
	} {
		t.Run(x.name, func(t *testing.T) {
			f.acts = func(w http.ResponseWriter, r *http.Request, _ []byte) { x.h(w, r) }
			if _, err := c.Tool(t.Context(), toolPay); !errors.Is(err, x.want) {
				t.Errorf("got %v, want %v", err, x.want)
			}
		})
	}
}

func TestRegistryURL(t *testing.T) {
	for _, c := range []struct {
		url   string
		plain bool
		want  string // "": refused
	}{
		{"https://registry.example", false, "https://registry.example"},
		{"https://Registry.Example:443/", false, "https://registry.example"},
		{"https://registry.example/base", false, "https://registry.example/base"},
		{"http://127.0.0.1:8080", false, "http://127.0.0.1:8080"},
		{"http://localhost:8080/", false, "http://localhost:8080"},
		{"http://[::1]:8080", false, "http://[::1]:8080"},
		{"http://registry.example", false, ""},
		{"http://registry.example", true, "http://registry.example"},
		{"http://registry.example?x", true, ""},
		{"http://u@registry.example", true, ""},
		{"https://u:p@registry.example", false, ""},
		{"https://registry.example?x=1", false, ""},
		{"https://registry.example#x", false, ""},
		{"ftp://registry.example", true, ""},
		{"file:///etc/passwd", true, ""},
		{"stdio:x", true, ""},
		{"", true, ""},
	} {
		got, err := client.New(c.url, &client.Options{Network: client.Network{UnsafePlainHTTP: c.plain}})
		if c.want == "" {
			if !errors.Is(err, client.ErrURL) {
				t.Errorf("%q: %v", c.url, err)
			}
			continue
		}
		if err != nil || got.URL() != c.want {
			t.Errorf("%q: %v", c.url, err)
		}
	}
	if _, err := client.New("https://registry.example", nil); err != nil {
		t.Errorf("nil options: %v", err)
	}
}

// Ids become part of an address only after they were checked.
func TestPathsHoldCheckedIDs(t *testing.T) {
	f := newFake(t, time.Now)
	a := newActor(t, f, "owner", nil)
	f.acts = func(http.ResponseWriter, *http.Request, []byte) { t.Error("a request was made") }
	ctx, c := t.Context(), a.Client()
	const evil = "../../../x?y"
	h := client.Handle{Tool: evil}
	for name, err := range map[string]error{
		"tool":       second(c.Tool(ctx, evil)),
		"principal":  second(c.Principal(ctx, evil)),
		"renew":      second(a.Renew(ctx, evil)),
		"overwrite":  second(a.Overwrite(ctx, h, jsontext.Value(metaPay))),
		"delegation": second(a.RevokeDelegation(ctx, h, evil)),
		"handle":     second(a.RevokeHandle(ctx, h, evil)),
		"agent":      second(a.RevokeAgent(ctx, evil)),
		"key":        second(a.RevokeKey(ctx, evil, "x")),
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestPages(t *testing.T) {
	f := newFake(t, time.Now)
	c := newActor(t, f, "owner", nil).Client()
	f.acts = func(w http.ResponseWriter, r *http.Request, _ []byte) {
		q := r.URL.Query()
		if q.Get("origin") != originShop || q.Get("status") != "live" {
			t.Errorf("query %v", q)
		}
		switch q.Get("cursor") {
		case "":
			answer(w, 200, registry.ToolList{Tools: make([]registry.ToolView, 2), Cursor: "a"})
		case "a":
			answer(w, 200, registry.ToolList{Tools: make([]registry.ToolView, 1), Cursor: "a"})
		}
	}
	n := 0
	var last error
	for _, err := range c.Tools(t.Context(), client.ToolQuery{Origin: originShop, Status: "live"}) {
		if last = err; err == nil {
			n++
		}
	}
	if n != 3 || !errors.Is(last, client.ErrAnswer) {
		t.Errorf("%d tools, then %v", n, last)
	}
}
