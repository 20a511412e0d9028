package broker

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect/opinion"
)

const testKey = "sk-Zm9vYmFy/secret+key=="

// A trick is what a hostile or broken server does in the place of an answer.
type trick struct {
	name string
	do   func(w http.ResponseWriter, r *request)
	want error // of Ask, or of the reading of the reply
}

func status(code int) func(http.ResponseWriter, *request) {
	return func(w http.ResponseWriter, r *request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = w.Write(said(verdict("benign")))
	}
}

func typed(types ...string) func(http.ResponseWriter, *request) {
	return func(w http.ResponseWriter, r *request) {
		w.Header()["Content-Type"] = types
		_, _ = w.Write(said(verdict("benign")))
	}
}

func body(b string) func(http.ResponseWriter, *request) {
	return func(w http.ResponseWriter, r *request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, b)
	}
}

func text(s string) func(http.ResponseWriter, *request) { return body(string(said(s))) }

// zeros are 8 MiB in a few thousand bytes.
var zeros = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(make([]byte, 8<<20))
	_ = z.Close()
	return b.Bytes()
})

func bomb(head bool) func(http.ResponseWriter, *request) {
	return func(w http.ResponseWriter, _ *request) {
		w.Header().Set("Content-Type", "application/json")
		if head {
			w.Header().Set("Content-Encoding", "gzip")
		}
		_, _ = w.Write(zeros())
	}
}

func drip(w http.ResponseWriter, r *request) {
	w.Header().Set("Content-Type", "application/json")
	for _, c := range said(verdict("benign")) {
		if _, err := w.Write([]byte{c}); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		select {
		case <-time.After(20 * time.Millisecond):
		case <-r.Context().Done():
			return
		}
	}
}

func endless(w http.ResponseWriter, _ *request) {
	w.Header().Set("Content-Type", "application/json")
	for {
		if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<16)); err != nil {
			return
		}
	}
}

func tricks(elsewhere string) []trick {
	redirect := func(code int, to string) func(http.ResponseWriter, *request) {
		return func(w http.ResponseWriter, r *request) { http.Redirect(w, r.Request, to, code) }
	}
	return []trick{
		{"good", text(verdict("benign")), nil},
		{"moved", redirect(301, elsewhere), ErrRedirect},
		{"found", redirect(302, elsewhere), ErrRedirect},
		{"temporary", redirect(307, elsewhere), ErrRedirect},
		{"permanent", redirect(308, elsewhere), ErrRedirect},
		{"to itself", redirect(307, "/v1/chat/completions"), ErrRedirect},
		{"not modified", status(304), ErrRedirect},
		{"unauthorised", status(401), ErrStatus},
		{"too many", status(429), ErrStatus},
		{"broken", status(500), ErrStatus},
		{"unavailable", status(503), ErrStatus},
		{"created", status(201), ErrStatus},
		{"no content", func(w http.ResponseWriter, _ *request) { w.WriteHeader(204) }, ErrStatus},
		{"html", typed("text/html"), ErrType},
		{"stream", typed("text/event-stream"), ErrType},
		{"no type", typed(""), ErrType},
		{"odd type", typed("application/json;;=x"), ErrType},
		{"two types", typed("application/json", "text/html"), ErrType},
		{"gzip bomb", bomb(true), ErrEncoding},
		{"gzip that is not said", bomb(false), opinion.ErrReply},
		{"huge", body(strings.Repeat(" ", maxBody) + string(said(verdict("benign")))), ErrTooLarge},
		{"endless", endless, ErrTooLarge},
		{"slow drip", drip, ErrTimeout},
		{"hangs", func(_ http.ResponseWriter, r *request) { <-r.Context().Done() }, ErrTimeout},
		{"hangs up", func(http.ResponseWriter, *request) { panic(http.ErrAbortHandler) }, ErrUnreachable},
		{"big head", func(w http.ResponseWriter, _ *request) { w.Header().Set("X", strings.Repeat("a", 64<<10)) }, ErrUnreachable},
		{"repeats the key", func(w http.ResponseWriter, r *request) { text("you sent "+r.Header.Get("Authorization"))(w, r) }, ErrEcho},
		{"empty", body(""), opinion.ErrReply},
		{"not UTF-8", body("{\"choices\":[{\"finish_reason\":\"stop\",\"message\":{\"role\":\"assistant\",\"content\":\"\xff\"}}]}"), opinion.ErrReply},
		{"null", body("null"), opinion.ErrReply},
		{"an error", body(`{"error":{"message":"model not found"}}`), opinion.ErrReply},
		{"deep", body(strings.Repeat(`{"choices":[`, 15000)), opinion.ErrReply},
		{"more than asked", text(`{"v":1,"verdict":"benign","categories":[],"spans":[],"reason":"harmless"}`), opinion.ErrReply},
		{"prose", text("This text is benign. " + verdict("benign")), opinion.ErrReply},
		{"fenced", text("```json\n" + verdict("benign") + "\n```"), opinion.ErrReply},
		{"lines it was not given", text(`{"v":1,"verdict":"suspicious","categories":[],"spans":[{"first":1,"last":2}]}`), opinion.ErrReply},
		{"calls a tool", body(`{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}}]}`), opinion.ErrReply},
		{"refuses", body(`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":null,"refusal":"no"}}]}`), opinion.ErrRefused},
		{"says the canary", func(w http.ResponseWriter, r *request) { text("PWNED "+r.canary())(w, r) }, opinion.ErrCompromised},
	}
}

// TestHostileServers: whatever a server does is an error of ours or an answer that
// is refused, in bounded time; no redirect is followed, and what was not judged is
// suspect.
func TestHostileServers(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		elsewhere.Add(1)
		answer(w, "benign")
	}))
	defer other.Close()
	for _, tt := range tricks(other.URL + "/v1/chat/completions") {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t, tt.do)
			var logged logBuffer
			b := newBroker(t, Config{URL: f.URL + "/v1", Name: "judge", KeyFile: keyFile(t, testKey+"\n")},
				&Options{Random: never{}, Log: slog.New(slog.NewTextHandler(&logged, nil))})
			if tt.want == ErrTimeout {
				b.cfg.Timeout = 300 * time.Millisecond
			}
			reply, err := b.Ask(t.Context(), batch(words), whole)
			if err == nil {
				_, err = opinion.ParseReply(reply, 1)
			} else if reply != nil {
				t.Error("an error and a reply")
			}
			if !errors.Is(err, tt.want) || err == nil != (tt.want == nil) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			checkJudged(t, judged(b, words), tt.want)
			h := b.Health()
			for _, s := range []string{fmt.Sprint(err), logged.String(), string(reply), fmt.Sprintf("%+v %#v", h, h), fmt.Sprintf("%+v %#v %v", b, b, b.to), fmt.Sprintf("%+v", b.to)} {
				if strings.Contains(s, testKey) || strings.Contains(s, "secret+key") {
					t.Errorf("the key is in %.200s", s)
				}
			}
			if err != nil && (strings.Contains(logged.String(), words) || strings.Contains(logged.String(), "PWNED")) {
				t.Errorf("words are in the log: %s", logged.String())
			}
		})
	}
	if elsewhere.Load() != 0 {
		t.Errorf("%d redirects were followed", elsewhere.Load())
	}
}

func checkJudged(t *testing.T, r quarantine.Report, why error) {
	t.Helper()
	want, partial := quarantine.Suspect, true
	switch {
	case why == nil:
		want, partial = quarantine.Clear, false
	case errors.Is(why, opinion.ErrCompromised):
		want, partial = quarantine.Hostile, false
	}
	if r.Verdict != want || r.Partial != partial {
		t.Errorf("verdict %v, partial %v; want %v, %v", r.Verdict, r.Partial, want, partial)
	}
}

// rawServer answers each connection with bytes, once the request is there.
func rawServer(t *testing.T, answer func(n int) string) (url string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				buf := make([]byte, 64<<10)
				_ = c.SetDeadline(time.Now().Add(5 * time.Second))
				for got := []byte{}; !bytes.HasSuffix(got, []byte("}}}}}}}}}")); {
					k, err := c.Read(buf)
					if err != nil {
						return
					}
					got = append(got, buf[:k]...)
				}
				_, _ = io.WriteString(c, answer(n))
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// TestOddHTTP: what readers of HTTP/1 disagree about never makes one request's
// answer another's.
func TestOddHTTP(t *testing.T) {
	good := string(said(verdict("benign")))
	bad := string(said(verdict("injection")))
	ok := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(good), good)
	evil := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(bad), bad)
	head := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(good), good)
	for name, tt := range map[string]struct {
		answer string
		fine   bool // an answer that one may take
	}{
		"plain":                   {ok, true},
		"a second answer behind":  {evil + ok, true},
		"same behind keep-alive":  {strings.Replace(evil, "\r\n\r\n", "\r\nConnection: keep-alive\r\n\r\n", 1) + ok, true},
		"chunked":                 {head + "Transfer-Encoding: chunked\r\n\r\n" + chunked, true},
		"two lengths":             {head + fmt.Sprintf("Content-Length: 5\r\nContent-Length: %d\r\n\r\n%s", len(good), good), false},
		"lengths in a list":       {head + fmt.Sprintf("Content-Length: 5, %d\r\n\r\n%s", len(good), good), false},
		"negative length":         {head + "Content-Length: -1\r\n\r\n" + good, false},
		"signed length":           {head + fmt.Sprintf("Content-Length: +%d\r\n\r\n%s", len(good), good), false},
		"length beyond":           {head + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(good)+100, good), false},
		"length and chunks":       {head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked, true},
		"unknown coding":          {head + "Transfer-Encoding: xchunked\r\n\r\n" + chunked, false},
		"gzip, chunked":           {head + "Transfer-Encoding: gzip, chunked\r\n\r\n" + chunked, false},
		"broken chunks":           {head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n" + good, false},
		"chunk without end":       {head + "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n", len(good), good), false},
		"space before colon":      {"HTTP/1.1 200 OK\r\nContent-Type : application/json\r\n\r\n" + good, false},
		"folded":                  {"HTTP/1.1 200 OK\r\nContent-Type:\r\n application/json\r\nX: y\r\n\r\n" + good, true},
		"HTTP/0.9":                {good, false},
		"HTTP/2 preface":          {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", false},
		"switches protocols":      {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n" + good, false},
		"nothing but interim":     {strings.Repeat("HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n", 2000), false},
		"interim, then an answer": {"HTTP/1.1 100 Continue\r\n\r\n" + ok, true},
		"NUL in the head":         {"HTTP/1.1 200 OK\r\nContent-Type: application/json\x00\r\n\r\n" + good, false},
		"closes at once":          {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			url := rawServer(t, func(int) string { return tt.answer })
			b := newBroker(t, Config{URL: url + "/v1", Name: "judge"}, nil)
			b.cfg.Timeout = 2 * time.Second
			b.health.proven = true
			for range 2 { // the second would meet what the first left behind
				reply, err := b.Ask(t.Context(), batch(words), whole)
				if (err == nil) != tt.fine {
					t.Fatalf("%q, %v", reply, err)
				}
				if err == nil {
					a, err := opinion.ParseReply(reply, 1)
					first := opinion.Benign
					if strings.HasPrefix(name, "a second") || strings.HasPrefix(name, "same behind") {
						first = opinion.Injection
					}
					if err != nil || a.Verdict != first {
						t.Errorf("%+v, %v", a, err)
					}
				}
			}
		})
	}
}

// TestAnswersDoNotMix: many requests at once to a server that answers late and out
// of order each get their own answer.
func TestAnswersDoNotMix(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, r *request) {
		hostile := strings.Contains(r.data(), "hostile")
		time.Sleep(time.Duration(len(r.raw)%7) * time.Millisecond)
		answer(w, map[bool]string{true: "injection", false: "benign"}[hostile])
	})
	b := newBroker(t, Config{URL: f.URL + "/v1", Name: "judge", Parallel: 8}, nil)
	done := make(chan error)
	for i := range 64 {
		go func() {
			s := fmt.Sprintf("a hostile text %s", strings.Repeat("x", i))
			want := opinion.Injection
			if i%2 == 0 {
				s, want = fmt.Sprintf("a harmless text %s", strings.Repeat("x", i)), opinion.Benign
			}
			reply, err := b.Ask(context.Background(), batch(s), fmt.Appendf(nil, `{"v":1,"pieces":[[0,0,%d]]}`, len(s)))
			if err == nil {
				var a opinion.Answer
				if a, err = opinion.ParseReply(reply, len(opinion.Lines(batch(s).Specimens, []opinion.Piece{{To: len(s)}}))); err == nil && a.Verdict != want {
					err = fmt.Errorf("%q: %v", s, a.Verdict)
				}
			}
			done <- err
		}()
	}
	for range 64 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
