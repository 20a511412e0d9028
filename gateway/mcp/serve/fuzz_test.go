package serve

import (
	"bytes"
	"context"
	"io"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/gateway/mcp"
)

// Whatever comes on stdio, what goes out is frames, one a line, and the loop ends
// with its input.
func FuzzStdio(f *testing.F) {
	init := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}` + "\n"
	for _, c := range smuggled {
		f.Add([]byte(c.frame + "\n"))
		f.Add([]byte(init + c.frame + "\n" + callOf("1", "echo")))
	}
	for _, c := range folded {
		f.Add([]byte(init + c + "\n"))
	}
	f.Add([]byte(modernCall("1", "echo", "{}") + "\n" + `{"jsonrpc":"2.0","id":2,"method":"server/discover"}` + "\r\n"))
	f.Add([]byte(init + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		g := &fakeGateway{}
		if err := serveStdio(context.Background(), g, bytes.NewReader(in), &out, Options{Limits: Limits{Frame: 1 << 16}}); err != nil {
			t.Fatalf("%v", err)
		}
		for line := range bytes.Lines(out.Bytes()) {
			if _, _, err := mcp.Parse(bytes.TrimSuffix(line, []byte("\n")), mcp.Limits{}); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
		}
		for _, s := range g.sessions {
			if !s.over() {
				t.Fatal("a session is left open")
			}
		}
	})
}

// Whatever a POST says, it is answered, with a body that is JSON or a stream, and
// what it is answered with is no failure of ours.
func FuzzPost(f *testing.F) {
	f.Add([]byte(listFrame), "application/json", "application/json, text/event-stream", "2025-11-25", "tools/list", "", "127.0.0.1", "", true)
	f.Add([]byte(modernCall("1", "echo", "{}")), "application/json", "*/*", "2026-07-28", "tools/call", "echo", "localhost:1", "http://localhost:1", false)
	f.Add([]byte(modernCall("1", "echo", "{}")), "application/json", "text/event-stream, application/json;q=0.1", "2026-07-28", "tools/call", "=?base64?ZWNobw==?=", "[::1]:1", "null", false)
	for _, c := range smuggled {
		f.Add([]byte(c.frame), "application/json; charset=utf-8", "*/*", "", "", "", "127.0.0.1:1", "", true)
	}
	f.Fuzz(func(t *testing.T, body []byte, media, accept, version, method, name, host, origin string, inSession bool) {
		h := newHandler(&fakeGateway{}, Options{Limits: Limits{Frame: 1 << 16, Patience: time.Hour}})
		defer func() { _ = h.Drain(context.Background()) }()
		send := func(body []byte, hs ...string) *httptest.ResponseRecorder {
			r := httptest.NewRequest("POST", "http://127.0.0.1/mcp/"+alice, bytes.NewReader(body))
			for i := 0; i < len(hs); i += 2 {
				if hs[i+1] != "" {
					r.Header[hs[i]] = []string{hs[i+1]}
				}
			}
			if len(hs) > 4 {
				r.Host = host
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		id := ""
		if inSession {
			w := send([]byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`), "Content-Type", "application/json", "Accept", "*/*")
			id = w.Header().Get("Mcp-Session-Id")
		}
		w := send(body, "Content-Type", media, "Accept", accept, "Mcp-Protocol-Version", version, "Mcp-Method", method, "Mcp-Name", name, "Origin", origin, "Mcp-Session-Id", id)
		text := w.Body.Bytes()
		switch {
		case w.Code == 202 && len(text) == 0:
		case w.Code >= 500:
			t.Fatalf("%d %s", w.Code, text)
		case w.Header().Get("Content-Type") == "text/event-stream":
			es := mcp.NewEventReader(bytes.NewReader(text), mcp.Limits{})
			for {
				e, err := es.Read()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if _, err := mcp.ParseOne(e.Data, mcp.Limits{}); err != nil && len(e.Data) > 0 {
					t.Fatalf("%v: %s", err, e.Data)
				}
			}
		default:
			if _, _, err := mcp.Parse(text, mcp.Limits{}); err != nil {
				t.Fatalf("%d %v: %s", w.Code, err, text)
			}
		}
	})
}

func FuzzEventID(f *testing.F) {
	for _, s := range []string{"0_0", "12_34", "a_b_9", "_1", "1_", "1_01", "1_-1", "1_9999999999999999999", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, n, ok := parseEventID(s)
		if ok && (id == "" || n < 0 || id+"_"+strconv.FormatInt(n, 10) != s) {
			t.Fatalf("%q: %q %d", s, id, n)
		}
	})
}

func FuzzAccept(f *testing.F) {
	for _, s := range []string{"*/*", "application/json, text/event-stream", "text/event-stream;q=0.5,application/*;q=0.5", "application/json;q=2", ";;,,q=", "text/*;Q=1.0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		asJSON, asStream, rather := accepts([]string{s})
		if rather && !asStream {
			t.Fatal("would rather have what is not accepted")
		}
		low := strings.ToLower(s)
		if (asJSON || asStream) && !strings.Contains(low, "*") && !strings.Contains(low, "json") && !strings.Contains(low, "event-stream") {
			t.Fatalf("%q accepts something", s)
		}
	})
}
