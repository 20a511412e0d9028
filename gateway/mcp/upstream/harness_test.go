package upstream_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/gateway/mcp/upstream"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// wait is how long a test waits for what must happen: long, since the machine may
// be busy; nothing takes it unless it fails.
const wait = time.Minute

func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	t.Cleanup(cancel)
	return ctx
}

// shown is an agent to whom everything was shown.
type shown credentials.Digest

func (s shown) Shown(gate.Key) (credentials.Digest, bool, error) {
	return credentials.Digest(s), true, nil
}

// passes makes passes for the tools and the resource that the tests use.
var passes = sync.OnceValue(func() *gate.Surface {
	d := canon.Digest("pratique/test/v1", nil)
	in := gate.Input{Complete: true, Shown: shown(d), Standing: labels.Pinned, Baseline: &gate.Baseline{Seen: true, Items: map[gate.Key]*gate.Accepted{}}}
	keys := []gate.Key{{Kind: gate.Resource, Name: "file:///a"}}
	for _, name := range strings.Fields(`echo crash silent big deep utf8 wrong flood ask askflood progress changed noise stderr child
		noread change release greet say stream broken resume never status redirect gzip bomb batch other longest`) {
		keys = append(keys, gate.Key{Kind: gate.Tool, Name: name})
	}
	for _, k := range keys {
		in.Items = append(in.Items, gate.Judged{Item: gate.Item{Key: k, Digest: d}, Verdict: quarantine.Clear})
		in.Baseline.Items[k] = &gate.Accepted{Key: k, Digest: d}
	}
	return gate.Build(in)
})

// exchange is a call of a tool, with a pass for it.
func exchange(t testing.TB, tool, params string) (gate.Pass, gateway.Exchange) {
	t.Helper()
	if params == "" {
		params = `{"name":"` + tool + `"}`
	}
	return pass(t, gate.Key{Kind: gate.Tool, Name: tool}, "tools/call", params)
}

func pass(t testing.TB, k gate.Key, method, params string) (gate.Pass, gateway.Exchange) {
	t.Helper()
	e, err := passes().Look(k.Kind, k.Name)
	if err != nil {
		t.Fatal(k, err)
	}
	p, err := passes().Pass(e, method, []byte(params))
	if err != nil {
		t.Fatal(err)
	}
	return p, gateway.Exchange{Frame: mcp.Ask(`"agent-7"`, method, jsontext.Value(params)), Headers: map[string]string{mcp.HeaderName: k.Name}}
}

// call calls a tool and returns its result.
func call(t testing.TB, l gateway.Link, tool, params string) (mcp.Frame, error) {
	t.Helper()
	p, x := exchange(t, tool, params)
	return l.Do(within(t), p, x)
}

func mustCall(t testing.TB, l gateway.Link, tool, params string) string {
	t.Helper()
	f, err := call(t, l, tool, params)
	if err != nil || f.ID != `"agent-7"` || f.Shape != mcp.Result {
		t.Fatalf("%s: shape %v, id %s, %v", tool, f.Shape, f.ID, err)
	}
	return string(f.Result)
}

// sink is a gateway.Sink that remembers.
type sink struct {
	got  chan mcp.Frame
	lost chan error
	ask  func(context.Context, mcp.Frame) mcp.Frame
}

func newSink() *sink {
	return &sink{got: make(chan mcp.Frame, 100_000), lost: make(chan error, 1000)}
}

func (s *sink) Receive(f mcp.Frame) { s.got <- f }
func (s *sink) Lost(err error)      { s.lost <- err }
func (s *sink) Ask(ctx context.Context, f mcp.Frame) mcp.Frame {
	if s.ask != nil {
		return s.ask(ctx, f)
	}
	return mcp.Fail(f.ID, mcp.CodeInvalidRequest, "nobody is asked now", nil)
}

func (s *sink) wantLost(t testing.TB) {
	t.Helper()
	select {
	case err := <-s.lost:
		if !errors.Is(err, upstream.ErrLost) {
			t.Fatal(err)
		}
	case <-time.After(wait):
		t.Fatal("the sink was not told of the loss")
	}
}

func (s *sink) want(t testing.TB, method string) mcp.Frame {
	t.Helper()
	for {
		select {
		case f := <-s.got:
			if f.Method == method {
				return f
			}
		case <-time.After(wait):
			t.Fatal("no", method)
		}
	}
}

func legacy() mcp.Hello {
	return mcp.Hello{Revision: mcp.Rev20251125, Capabilities: jsontext.Value(`{"sampling":{}}`), ClientInfo: jsontext.Value(`{"name":"agent","version":"1"}`)}
}

func modern() mcp.Hello {
	h := legacy()
	h.Revision = mcp.Rev20260728
	return h
}

func connect(t testing.TB, u gateway.Upstream, h mcp.Hello) (gateway.Link, *sink) {
	t.Helper()
	s := newSink()
	l, err := u.Connect(within(t), h, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l, s
}

// clean checks that the test leaves no goroutine, process or file behind. It is
// called first, so that it runs after all other clean-up.
func clean(t testing.TB) {
	t.Helper()
	files := func() []string {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return nil
		}
		var out []string
		for _, e := range entries {
			if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && !strings.HasPrefix(to, "/proc/") && !strings.HasPrefix(to, "anon_inode:") {
				out = append(out, to)
			}
		}
		slices.Sort(out)
		return out
	}
	goroutines, open := runtime.NumGoroutine(), files()
	t.Cleanup(func() {
		end := time.Now().Add(wait)
		for runtime.NumGoroutine() > goroutines || len(files()) > len(open) {
			if time.Now().After(end) {
				buf := make([]byte, 1<<20)
				t.Fatalf("%d goroutines, %d before; files %v, before %v\n%s", runtime.NumGoroutine(), goroutines, files(), open, buf[:runtime.Stack(buf, true)])
			}
			runtime.Gosched()
			time.Sleep(time.Millisecond) // for the runtime and the kernel to finish
		}
		if kids := children(t); len(kids) > 0 {
			t.Fatal("processes left:", kids)
		}
	})
}

// children are the processes that this one started and that are still there.
func children(t testing.TB) []string {
	t.Helper()
	var out []string
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, task := range tasks {
		b, err := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		if err == nil {
			out = append(out, strings.Fields(string(b))...)
		}
	}
	return out
}
