package upstream_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/gateway/mcp/upstream"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// web is a small MCP endpoint of both eras that misbehaves when it is asked to.
type web struct {
	*httptest.Server
	mu      sync.Mutex
	session int
	seen    []*http.Request // with bodies read
	frames  []mcp.Frame
	asked   chan mcp.Frame // answers to questions
	stream  chan string    // what the GET stream says; closed: it ends
	resumed atomic.Int32
	revised string // protocolVersion of initialize
	tool    func(w http.ResponseWriter, r *http.Request, f mcp.Frame)
	listen  func(w http.ResponseWriter, r *http.Request, f mcp.Frame) // nil: what stream says
}

func newWeb(t testing.TB) *web {
	s := &web{asked: make(chan mcp.Frame, 100), stream: make(chan string, 10), revised: "2025-11-25"}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *web) endpoint(t testing.TB, o *upstream.EndpointOptions) *upstream.Endpoint {
	t.Helper()
	e, err := upstream.NewEndpoint("web", s.URL+"/mcp", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func (s *web) name() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprint("session-", s.session)
}

func (s *web) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session++
}

func (s *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body)
	f, _ := mcp.ParseOne(data, mcp.Limits{Bytes: 64 << 20})
	s.mu.Lock()
	s.seen, s.frames = append(s.seen, r), append(s.frames, f)
	s.mu.Unlock()
	modern := r.Header.Get(mcp.HeaderVersion) == "2026-07-28"
	if f.Method != "initialize" && !modern && r.Header.Get(mcp.HeaderSession) != s.name() {
		http.Error(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`, http.StatusNotFound)
		return
	}
	switch {
	case r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodGet:
		s.get(w, r)
	case f.Shape != mcp.Request:
		if f.Method == "" {
			s.asked <- f
		}
		w.WriteHeader(http.StatusAccepted)
	case f.Method == "initialize":
		w.Header().Set(mcp.HeaderSession, s.name())
		answer(w, f, `{"protocolVersion":"`+s.revised+`","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"web","version":"1"}}`)
	case f.Method == "server/discover":
		answer(w, f, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}}`)
	case f.Method == "subscriptions/listen" && s.listen != nil:
		s.listen(w, r, f)
	case f.Method == "subscriptions/listen":
		sse(w, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":`+string(f.ID)+`},"notifications":{}}}`)
		if _, ok := mcp.Get(f.Params, "notifications", "resourceSubscriptions"); ok {
			sse(w, `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a","_meta":{"io.modelcontextprotocol/subscriptionId":`+string(f.ID)+`}}}`)
			<-r.Context().Done()
			return
		}
		s.speak(w, r)
	case f.Method == "tools/list":
		answer(w, f, `{"tools":[]}`)
	default:
		s.tool(w, r, f)
	}
}

func (s *web) get(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get(mcp.HeaderLastEvent) == "post-1" {
		if s.resumed.Add(1) == 1 {
			http.Error(w, "later", http.StatusServiceUnavailable)
			return
		}
		sse(w, `{"jsonrpc":"2.0","id":2,"result":{"resumed":true}}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	s.speak(w, r)
}

func (s *web) speak(w http.ResponseWriter, r *http.Request) {
	for {
		select {
		case m, ok := <-s.stream:
			if !ok {
				return
			}
			sse(w, m)
		case <-r.Context().Done():
			return
		}
	}
}

func answer(w http.ResponseWriter, f mcp.Frame, result string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(mcp.Answer(f.ID, jsontext.Value(result)).Bytes())
}

func sse(w http.ResponseWriter, data string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "event: message\ndata: "+data+"\n\n")
	w.(http.Flusher).Flush()
}

func (s *web) last(method string) (*http.Request, mcp.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.seen) - 1; i >= 0; i-- {
		if s.frames[i].Method == method || s.seen[i].Method == method {
			return s.seen[i], s.frames[i]
		}
	}
	return nil, mcp.Frame{}
}

func TestEndpointLegacy(t *testing.T) {
	clean(t)
	s := newWeb(t)
	s.tool = func(w http.ResponseWriter, _ *http.Request, f mcp.Frame) {
		answer(w, f, `{"params":`+string(f.Params)+`}`)
	}
	l, sink := connect(t, s.endpoint(t, &upstream.EndpointOptions{Headers: http.Header{"Authorization": {"Bearer t"}}}), legacy())
	params := `{"name":"echo","arguments":{"n":9007199254740993,"f":1.50,"opt":null}}`
	if got := mustCall(t, l, "echo", params); got != `{"params":`+params+`}` {
		t.Errorf("got %s", got)
	}
	r, f := s.last("tools/call")
	if r.Header.Get(mcp.HeaderSession) != "session-0" || r.Header.Get(mcp.HeaderVersion) != "2025-11-25" || r.Header.Get("Authorization") != "Bearer t" ||
		r.Header.Get(mcp.HeaderMethod) != "" || r.Header.Get(mcp.HeaderName) != "" || f.ID == `"agent-7"` {
		t.Errorf("%v, id %s", r.Header, f.ID)
	}
	s.stream <- `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	sink.want(t, "notifications/tools/list_changed")
	s.stream <- `{"jsonrpc":"2.0","id":"q","method":"roots/list"}`
	if a := <-s.asked; a.ID != `"q"` || a.Shape != mcp.Failure {
		t.Errorf("the sink's answer came as %+v", a)
	}
	if err := l.Notify(within(t), mcp.Note("notifications/roots/list_changed", nil)); err != nil {
		t.Error(err)
	}
	l.Close()
	if r, _ := s.last(http.MethodDelete); r == nil || r.Header.Get(mcp.HeaderSession) != "session-0" {
		t.Error("the session was not ended")
	}
	if _, err := call(t, l, "echo", ""); !errors.Is(err, upstream.ErrClosed) && !errors.Is(err, upstream.ErrLost) {
		t.Error(err)
	}
}

func TestEndpointModern(t *testing.T) {
	clean(t)
	s := newWeb(t)
	s.tool = func(w http.ResponseWriter, _ *http.Request, f mcp.Frame) { answer(w, f, `{}`) }
	l, sink := connect(t, s.endpoint(t, nil), modern())
	p, x := exchange(t, "echo", "")
	x.Headers["Mcp-Param-Region"] = "eu"
	if _, err := l.Do(within(t), p, x); err != nil {
		t.Fatal(err)
	}
	r, _ := s.last("tools/call")
	if r.Header.Get(mcp.HeaderMethod) != "tools/call" || r.Header.Get(mcp.HeaderName) != "echo" || r.Header.Get("Mcp-Param-Region") != "eu" || r.Header.Get(mcp.HeaderSession) != "" {
		t.Error(r.Header)
	}
	for name, v := range map[string]string{"Authorization": "mine", "Mcp-Param-A": "x\r\ny: z", "Mcp-Session-Id": "1", "Mcp-Param-A b": "c"} {
		p, x := exchange(t, "echo", "")
		x.Headers[name] = v
		if _, err := l.Do(within(t), p, x); !errors.Is(err, upstream.ErrUnsent) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.stream <- `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	sink.want(t, "notifications/tools/list_changed")

	params := withMeta(t, modern(), `{"notifications":{"resourceSubscriptions":["file:///a"]}}`)
	p, x = pass(t, gate.Key{Kind: gate.Resource, Name: "file:///a"}, "subscriptions/listen", params)
	ctx, cancel := context.WithCancel(context.Background())
	got := make(chan mcp.Frame, 10)
	x.Receive = func(f mcp.Frame) { got <- f }
	out := make(chan error)
	go func() {
		_, err := l.Do(ctx, p, x)
		out <- err
	}()
	for _, want := range []string{"notifications/subscriptions/acknowledged", "notifications/resources/updated"} {
		f := <-got
		if id, _ := mcp.GetString(f.Params, "_meta", mcp.MetaSubscription); f.Method != want || id != "agent-7" {
			t.Errorf("%s with subscription %q", f.Method, id)
		}
	}
	cancel()
	if err := <-out; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if f, err := l.List(within(t), "tools/list", nil); err != nil || f.Shape != mcp.Result {
		t.Error(f, err)
	}
	if _, f := s.last("tools/list"); !strings.Contains(string(f.Params), mcp.MetaVersion) {
		t.Errorf("%s", f.Params)
	}
}

func TestSessionLost(t *testing.T) {
	clean(t)
	s := newWeb(t)
	flying := make(chan struct{})
	s.tool = func(w http.ResponseWriter, r *http.Request, f mcp.Frame) {
		if name, _ := mcp.GetString(f.Params, "name"); name == "silent" {
			close(flying)
			<-r.Context().Done()
		}
		answer(w, f, `{}`)
	}
	e := s.endpoint(t, &upstream.EndpointOptions{Bounds: upstream.Bounds{Backoff: time.Millisecond}})
	l, sink := connect(t, e, legacy())
	p, x := exchange(t, "silent", "")
	out := make(chan error)
	go func() {
		_, err := l.Do(context.Background(), p, x)
		out <- err
	}()
	<-flying
	s.forget()
	if _, err := call(t, l, "echo", ""); !errors.Is(err, upstream.ErrLost) {
		t.Error(err)
	}
	sink.wantLost(t)
	if err := <-out; !errors.Is(err, upstream.ErrLost) {
		t.Error(err)
	}
	if _, err := l.List(within(t), "tools/list", nil); err != nil {
		t.Fatal(err)
	}
	mustCall(t, l, "echo", "")
	s.forget()
	if f, err := l.List(within(t), "tools/list", nil); err != nil || f.Shape != mcp.Result {
		t.Error("a list is not asked for again:", err)
	}
	if e.Stats().Starts != 3 {
		t.Errorf("%+v", e.Stats())
	}
}

func TestEndpointAnswers(t *testing.T) {
	clean(t)
	s := newWeb(t)
	zip := func(w http.ResponseWriter, kind string, write func(io.Writer)) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", kind)
		z := gzip.NewWriter(w)
		write(z)
		_ = z.Close()
	}
	s.tool = func(w http.ResponseWriter, r *http.Request, f mcp.Frame) {
		id := string(f.ID)
		w.Header().Set("Content-Type", "application/json")
		arg, _ := mcp.GetString(f.Params, "x")
		switch arg {
		case "stream":
			w.Header().Set("Content-Type", "text/event-stream")
			text := ": hello\r\n\r\nevent: ping\r\ndata: x\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\r\ndata: \"id\":" + id + ",\"result\":{\"ok\":1}}\r\n\r\n"
			for _, c := range []byte(text) { // in the smallest pieces
				_, _ = w.Write([]byte{c})
				w.(http.Flusher).Flush()
			}
		case "never ends": // after its answer
			sse(w, `{"jsonrpc":"2.0","id":`+id+`,"result":{"ok":1}}`)
			<-r.Context().Done()
		case "gzip":
			zip(w, "application/json", func(z io.Writer) { fmt.Fprintf(z, `{"jsonrpc":"2.0","id":%s,"result":{"ok":1}}`, id) })
		case "gzip stream":
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Type", "text/event-stream")
			z := gzip.NewWriter(w)
			fmt.Fprintf(z, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"ok\":1}}\n\n", id)
			_ = z.Flush()
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "bomb":
			zip(w, "application/json", func(z io.Writer) { _, _ = io.CopyN(z, zeros{}, 1<<30) })
		case "bomb stream":
			zip(w, "text/event-stream", func(z io.Writer) {
				fmt.Fprintf(z, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":\"", id)
				_, _ = io.CopyN(z, zeros{}, 40<<20)
				fmt.Fprint(z, "\"}\n\n")
			})
		case "20 MiB":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"ok":1,"t":"%s"}}`, id, strings.Repeat("a", 20<<20))
		case "64 MiB", "64 MiB declared":
			if arg == "64 MiB declared" {
				w.Header().Set("Content-Length", fmt.Sprint(64<<20))
			}
			_, _ = io.CopyN(w, zeros{}, 64<<20)
		case "deep":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s%s}`, id, strings.Repeat("[", 10_000), strings.Repeat("]", 10_000))
		case "utf8":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"a":"`+"\xff"+`"}}`, id)
		case "other id":
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":4711,"result":{}}`)
		case "others first":
			sse(w, `{"jsonrpc":"2.0","id":4711,"result":{"bad":1}}`)
			sse(w, `{"jsonrpc":"2.0","id":"`+id+`","result":{"bad":2}}`)
			sse(w, `{"jsonrpc":"2.0","id":4712,"result":`+strings.Repeat("[", 500)+strings.Repeat("]", 500)+`}`)
			sse(w, `{"jsonrpc":"2.0","id":`+id+`,"result":{"ok":1}}`)
			sse(w, `{"jsonrpc":"2.0","id":`+id+`,"result":{"bad":3}}`)
		case "cut":
			sse(w, `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
		case "array":
			fmt.Fprintf(w, `[{"jsonrpc":"2.0","id":%s,"result":{"bad":1}}]`, id)
		case "text":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<p>sign in")
		case "encoding":
			w.Header().Set("Content-Encoding", "br")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{}}`, id)
		case "redirect":
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		case "error with status":
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no","data":{"a":1}}}`, id)
		case "accepted":
			w.WriteHeader(http.StatusAccepted)
			s.stream <- `{"jsonrpc":"2.0","id":` + id + `,"result":{"ok":1}}`
		case "silent", "headers":
			if arg == "headers" {
				w.Header().Set("X", strings.Repeat("x", 1<<20))
			} else {
				<-r.Context().Done()
			}
		default:
			var status int
			fmt.Sscan(arg, &status)
			w.WriteHeader(status)
		}
	}
	l, k := connect(t, s.endpoint(t, nil), legacy())
	s.stream <- `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	k.want(t, "notifications/tools/list_changed") // the GET stream is there
	for arg, want := range map[string]error{
		"stream": nil, "never ends": nil, "gzip": nil, "gzip stream": nil, "20 MiB": nil, "others first": nil, "accepted": nil,
		"bomb": upstream.ErrTooLarge, "bomb stream": upstream.ErrTooLarge, "64 MiB": upstream.ErrTooLarge, "64 MiB declared": upstream.ErrTooLarge,
		"deep": upstream.ErrProtocol, "utf8": upstream.ErrProtocol, "other id": upstream.ErrProtocol, "array": upstream.ErrProtocol,
		"text": upstream.ErrProtocol, "encoding": upstream.ErrProtocol, "cut": upstream.ErrLost, "headers": upstream.ErrLost,
		"redirect": upstream.ErrRefused, "401": upstream.ErrRefused, "403": upstream.ErrRefused, "500": upstream.ErrRefused, "429": upstream.ErrRefused,
	} {
		f, err := call(t, l, "echo", `{"name":"echo","x":"`+arg+`"}`)
		if !errors.Is(err, want) || errors.Is(err, upstream.ErrUnsent) || (want == nil && !strings.HasPrefix(string(f.Result), `{"ok":1`)) {
			t.Errorf("%s: %.100s, %v", arg, f.Result, err)
		}
		if arg == "401" {
			var status *upstream.StatusError
			if !errors.As(err, &status) || status.Status != 401 {
				t.Error(err)
			}
		}
	}
	f, err := call(t, l, "echo", `{"name":"echo","x":"error with status"}`)
	if err != nil || f.Shape != mcp.Failure || f.ID != `"agent-7"` || f.Error.Code != -32602 || string(f.Error.Data) != `{"a":1}` {
		t.Errorf("%+v, %v", f, err)
	}
	hasty, _ := connect(t, s.endpoint(t, &upstream.EndpointOptions{Bounds: upstream.Bounds{Call: 50 * time.Millisecond}}), legacy())
	if _, err := call(t, hasty, "echo", `{"name":"echo","x":"silent"}`); !errors.Is(err, upstream.ErrTimeout) || errors.Is(err, upstream.ErrUnsent) {
		t.Error(err)
	}
	if r, _ := s.last("/elsewhere"); r != nil {
		t.Error("a redirect was followed")
	}
	mustCall(t, l, "echo", `{"name":"echo","x":"gzip"}`)
}

// zeros never ends: the letter a.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	copy(p, bytes.Repeat([]byte{'a'}, len(p)))
	return len(p), nil
}

// Many large answers at one time do not add up without bound.
func TestBuffersAreBounded(t *testing.T) {
	clean(t)
	s := newWeb(t)
	var meet sync.WaitGroup
	meet.Add(4)
	s.tool = func(w http.ResponseWriter, r *http.Request, f mcp.Frame) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.CopyN(w, zeros{}, 6<<20)
		meet.Done()
		<-r.Context().Done()
	}
	e := s.endpoint(t, &upstream.EndpointOptions{Bounds: upstream.Bounds{Buffers: 16 << 20, Call: 2 * time.Second}})
	l, _ := connect(t, e, legacy())
	var large atomic.Int32
	var all sync.WaitGroup
	for range 4 {
		p, x := exchange(t, "echo", "")
		all.Go(func() {
			if _, err := l.Do(context.Background(), p, x); errors.Is(err, upstream.ErrTooLarge) {
				large.Add(1)
			}
		})
	}
	all.Wait()
	if large.Load() == 0 {
		t.Error("24 MiB were held with a bound of 16")
	}
}

func TestResumption(t *testing.T) {
	clean(t)
	s := newWeb(t)
	s.tool = func(w http.ResponseWriter, _ *http.Request, f mcp.Frame) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "id: post-1\nretry: 1\ndata:\n\n")
	}
	l, _ := connect(t, s.endpoint(t, &upstream.EndpointOptions{Bounds: upstream.Bounds{Backoff: time.Millisecond}}), legacy())
	if got := mustCall(t, l, "echo", ""); got != `{"resumed":true}` || s.resumed.Load() != 2 {
		t.Error(got, s.resumed.Load())
	}
	r, _ := s.last(http.MethodGet)
	if r.Header.Get(mcp.HeaderLastEvent) != "post-1" || r.Header.Get(mcp.HeaderSession) == "" || r.Header.Get(mcp.HeaderVersion) == "" {
		t.Error(r.Header)
	}
	ml, _ := connect(t, s.endpoint(t, nil), modern())
	if _, err := call(t, ml, "echo", ""); !errors.Is(err, upstream.ErrLost) {
		t.Error("the modern era resumes nothing:", err)
	}
}

func TestQuestionOnStream(t *testing.T) {
	clean(t)
	s := newWeb(t)
	s.tool = func(w http.ResponseWriter, _ *http.Request, f mcp.Frame) {
		sse(w, `{"jsonrpc":"2.0","id":"p","method":"ping"}`)
		if a := <-s.asked; string(a.Result) != "{}" {
			return
		}
		sse(w, `{"jsonrpc":"2.0","id":1.50,"method":"sampling/createMessage","params":{}}`)
		a := <-s.asked
		sse(w, `{"jsonrpc":"2.0","id":"gone","method":"sampling/createMessage","params":{"wait":true}}`)
		sse(w, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"gone"}}`)
		sse(w, `{"jsonrpc":"2.0","id":`+string(f.ID)+`,"result":`+string(a.Bytes())+`}`)
	}
	l, _ := connect(t, s.endpoint(t, nil), legacy())
	p, x := exchange(t, "echo", "")
	withdrawn := make(chan struct{})
	x.Ask = func(ctx context.Context, f mcp.Frame) mcp.Frame {
		if _, ok := mcp.Get(f.Params, "wait"); ok {
			<-ctx.Done()
			close(withdrawn)
		}
		return mcp.Answer("9", jsontext.Value(`{"yes":1}`))
	}
	f, err := l.Do(within(t), p, x)
	if err != nil || string(f.Result) != `{"jsonrpc":"2.0","id":1.50,"result":{"yes":1}}` {
		t.Errorf("%s %v", f.Result, err)
	}
	<-withdrawn
}

// Progress gives a call its time again, up to the longest.
func TestProgressExtends(t *testing.T) {
	clean(t)
	s := newWeb(t)
	s.tool = func(w http.ResponseWriter, r *http.Request, f mcp.Frame) {
		for r.Context().Err() == nil {
			sse(w, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}`)
			time.Sleep(20 * time.Millisecond) // a server that takes its time
		}
	}
	e := s.endpoint(t, &upstream.EndpointOptions{Bounds: upstream.Bounds{Call: 2 * time.Second, Longest: 3 * time.Second, Notifications: 5}})
	l, _ := connect(t, e, legacy())
	p, x := exchange(t, "progress", `{"name":"progress","_meta":{"progressToken":"t"}}`)
	n := 0
	x.Receive = func(mcp.Frame) { n++ }
	begun := time.Now()
	_, err := l.Do(within(t), p, x)
	if !errors.Is(err, upstream.ErrTimeout) && !errors.Is(err, upstream.ErrTooLarge) || n != 5 {
		t.Errorf("%v after %v, %d delivered", err, time.Since(begun), n)
	}
}

func TestOldServers(t *testing.T) {
	clean(t)
	s := newWeb(t)
	s.revised = "2025-03-26"
	s.tool = func(w http.ResponseWriter, _ *http.Request, f mcp.Frame) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `[{"jsonrpc":"2.0","method":"notifications/message","params":{}},{"jsonrpc":"2.0","id":%s,"result":{"ok":1}}]`, f.ID)
	}
	l, _ := connect(t, s.endpoint(t, nil), legacy())
	if got := mustCall(t, l, "echo", ""); got != `{"ok":1}` || l.Welcome().Revision != mcp.Rev20250326 {
		t.Error(got, l.Welcome())
	}
	s.revised = "2031-01-01"
	if _, err := s.endpoint(t, nil).Connect(within(t), legacy(), newSink()); !errors.Is(err, gateway.ErrEra) {
		t.Error(err)
	}
}

func TestUnreachable(t *testing.T) {
	clean(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + ln.Addr().String()
	_ = ln.Close()
	e, err := upstream.NewEndpoint("gone", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Connect(within(t), legacy(), newSink()); !errors.Is(err, gateway.ErrUnreachable) || !errors.Is(err, upstream.ErrUnsent) {
		t.Error(err)
	}
	s := newWeb(t)
	l, sink := connect(t, s.endpoint(t, nil), modern())
	s.CloseClientConnections()
	s.Close()
	if _, err := call(t, l, "echo", ""); !errors.Is(err, upstream.ErrLost) {
		t.Error(err)
	}
	sink.wantLost(t)
}

func TestEndpointOptions(t *testing.T) {
	for _, address := range []string{"", "ftp://a.example", "http://a.example/mcp", "https://u:p@a.example/mcp", "https://a.example/mcp?k=v", "stdio:x"} {
		if _, err := upstream.NewEndpoint("x", address, nil); !errors.Is(err, upstream.ErrOptions) {
			t.Errorf("%q: %v", address, err)
		}
	}
	for name, value := range map[string]string{"Host": "a", "mcp-session-id": "a", "Content-Length": "1", "X y": "a", "X": "a\nb", "Accept": "*", "proxy-authorization": "a", "": "a"} {
		if _, err := upstream.NewEndpoint("x", "https://a.example", &upstream.EndpointOptions{Headers: http.Header{name: {value}}}); !errors.Is(err, upstream.ErrOptions) || strings.Contains(err.Error(), "a.example") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Neither a proxy from the environment nor a cookie changes where calls go and
// what they carry.
func TestNothingElseTravels(t *testing.T) {
	clean(t)
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	s := newWeb(t)
	s.tool = func(w http.ResponseWriter, _ *http.Request, f mcp.Frame) {
		w.Header().Set("Set-Cookie", "a=b")
		answer(w, f, `{}`)
	}
	l, _ := connect(t, s.endpoint(t, nil), legacy())
	mustCall(t, l, "echo", "")
	mustCall(t, l, "echo", "")
	if r, _ := s.last("tools/call"); r.Header.Get("Cookie") != "" {
		t.Error("a cookie was kept")
	}
}

// One call over HTTP, the server included; -benchmem shows both sides.
func BenchmarkDo(b *testing.B) {
	for _, as := range []string{"json", "stream"} {
		b.Run(as, func(b *testing.B) {
			s := newWeb(b)
			s.tool = func(w http.ResponseWriter, _ *http.Request, f mcp.Frame) {
				if as == "json" {
					answer(w, f, `{"content":[{"type":"text","text":"hello"}]}`)
				} else {
					sse(w, string(mcp.Answer(f.ID, jsontext.Value(`{"content":[{"type":"text","text":"hello"}]}`)).Bytes()))
				}
			}
			l, _ := connect(b, s.endpoint(b, nil), legacy())
			b.ReportAllocs()
			for b.Loop() {
				p, x := exchange(b, "echo", `{"name":"echo","arguments":{"text":"hello"}}`)
				if _, err := l.Do(context.Background(), p, x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDoStdio(b *testing.B) {
	l, _ := connect(b, newProcess(b, "script", nil), legacy())
	b.ReportAllocs()
	for b.Loop() {
		p, x := exchange(b, "echo", `{"name":"echo","arguments":{"text":"hello"}}`)
		if _, err := l.Do(context.Background(), p, x); err != nil {
			b.Fatal(err)
		}
	}
}

// Calls, cancellations, changes and lost sessions, all at one time.
func TestManyAtOnce(t *testing.T) {
	clean(t)
	s := newWeb(t)
	s.tool = func(w http.ResponseWriter, r *http.Request, f mcp.Frame) {
		answer(w, f, `{"id":`+string(f.ID)+`}`)
	}
	e := s.endpoint(t, &upstream.EndpointOptions{Bounds: upstream.Bounds{Backoff: time.Millisecond, Restarts: 1000}})
	l, _ := connect(t, e, legacy())
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 50 {
				p, x := exchange(t, "echo", "")
				ctx, cancel := context.WithCancel(context.Background())
				if (i+j)%7 == 0 {
					go cancel()
				}
				_, err := l.Do(ctx, p, x)
				cancel()
				if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, upstream.ErrLost) {
					t.Error(err)
				}
				if i == 0 && j%20 == 10 {
					s.forget()
				}
				if errors.Is(err, upstream.ErrLost) {
					if _, err := l.List(within(t), "tools/list", nil); err != nil && !errors.Is(err, upstream.ErrLost) {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	runtime.KeepAlive(l)
}

// A stream's connection is used again after its answer.
func TestConnectionsAreReused(t *testing.T) {
	clean(t)
	s := newWeb(t)
	s.tool = func(w http.ResponseWriter, _ *http.Request, f mcp.Frame) {
		sse(w, `{"jsonrpc":"2.0","id":`+string(f.ID)+`,"result":{}}`)
	}
	l, _ := connect(t, s.endpoint(t, nil), legacy())
	peers := map[string]bool{}
	for range 200 {
		mustCall(t, l, "echo", "")
		r, _ := s.last("tools/call")
		peers[r.RemoteAddr] = true
	}
	if len(peers) > 20 { // two would do; a busy machine may need more
		t.Errorf("200 calls took %d connections", len(peers))
	}
}
