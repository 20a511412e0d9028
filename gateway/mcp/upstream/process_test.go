package upstream_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/gateway/mcp/upstream"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

func TestProcessBothEras(t *testing.T) {
	for name, h := range map[string]mcp.Hello{"legacy": legacy(), "modern": modern(), "unknown": {Revision: "2031-01-01"}} {
		t.Run(name, func(t *testing.T) {
			clean(t)
			l, s := connect(t, newProcess(t, "script", nil), h)
			w := l.Welcome()
			if w.Revision.Modern() != h.Revision.Modern() || !strings.Contains(string(w.ServerInfo), "fixture") {
				t.Fatalf("welcome %+v", w)
			}
			// Bytes arrive as the pass was made for: numbers, spaces, order, unknown members.
			params := `{ "name":"echo", "arguments":{"n":9007199254740993,"f":1.50,"opt":null,"u":"\u2028"},"x":1 }`
			if got := mustCall(t, l, "echo", params); got != `{"params":`+params+`}` {
				t.Errorf("got %s", got)
			}
			f, err := l.List(within(t), "tools/list", nil)
			if err != nil || f.Shape != mcp.Result {
				t.Fatal(f, err)
			}
			if _, ok := mcp.Get(f.Result, "got", "_meta", mcp.MetaVersion); ok != h.Revision.Modern() {
				t.Errorf("a list carries %s", f.Result)
			}
			if name == "modern" {
				mustCall(t, l, "change", "")
				s.want(t, "notifications/tools/list_changed")
			}
		})
	}
}

func TestProcessEra(t *testing.T) {
	clean(t)
	// The SDK's server speaks both; one that only knows initialize refuses discover.
	p, err := upstream.NewProcess("old", []string{"/bin/sh", "-c", `read l; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no such method"}}'; cat`}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Connect(within(t), modern(), newSink()); !errors.Is(err, gateway.ErrEra) {
		t.Error(err)
	}
	p.Close()
	if _, err := p.Connect(within(t), modern(), newSink()); !errors.Is(err, upstream.ErrClosed) {
		t.Error(err)
	}
}

func TestPassIsSpent(t *testing.T) {
	clean(t)
	l, _ := connect(t, newProcess(t, "script", nil), legacy())
	p, x := exchange(t, "echo", "")
	other := x
	other.Frame.Params = jsontext.Value(`{"name":"crash"}`)
	for _, c := range []struct {
		p gate.Pass
		x gateway.Exchange
	}{{gate.Pass{}, x}, {p, other}} {
		if _, err := l.Do(within(t), c.p, c.x); !errors.Is(err, upstream.ErrUnsent) {
			t.Error(err)
		}
	}
	if _, err := l.Do(within(t), p, x); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Do(within(t), p, x); !errors.Is(err, gate.ErrSpent) || !errors.Is(err, upstream.ErrUnsent) {
		t.Error(err)
	}
	for _, m := range []string{"tools/call", "resources/read", "initialize", ""} {
		if _, err := l.List(within(t), m, nil); !errors.Is(err, upstream.ErrMethod) {
			t.Errorf("List(%q): %v", m, err)
		}
	}
}

// One bad answer ends one call, and the session goes on.
func TestBadAnswers(t *testing.T) {
	clean(t)
	p := newProcess(t, "script", nil)
	l, _ := connect(t, p, legacy())
	for tool, want := range map[string]error{"deep": upstream.ErrProtocol, "utf8": upstream.ErrProtocol} {
		if _, err := call(t, l, tool, ""); !errors.Is(err, want) {
			t.Errorf("%s: %v", tool, err)
		}
		mustCall(t, l, "echo", "")
	}
	for _, tool := range []string{"wrong", "noise"} {
		if got := mustCall(t, l, tool, ""); got != `{"done":"`+tool+`"}` {
			t.Errorf("%s: %s", tool, got)
		}
	}
	mustCall(t, l, "echo", "")
	if s := p.Stats(); s.Orphans < 4 || s.Noise != 3 || s.Malformed < 3 || s.Lost != 0 {
		t.Errorf("%+v", s)
	}
}

// Case O-06: long lines. 64 MiB is an error for its call only, and is not kept.
func TestCaseO06BigLine(t *testing.T) {
	clean(t)
	p := newProcess(t, "script", nil)
	l, _ := connect(t, p, legacy())
	for _, n := range []int{240 << 10, 3 << 20, 20 << 20} {
		if got := mustCall(t, l, "big", fmt.Sprintf(`{"name":"big","arguments":{"bytes":%d}}`, n)); len(got) != n+len(`{"text":""}`) {
			t.Errorf("%d bytes came as %d", n, len(got))
		}
	}
	arg := `{"name":"echo","arguments":{"a":"` + strings.Repeat("b", 1<<20) + `"}}`
	if got := mustCall(t, l, "echo", arg); len(got) != len(arg)+len(`{"params":}`) {
		t.Error("1 MiB of arguments was cut")
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := call(t, l, "big", `{"name":"big","arguments":{"bytes":67108864}}`)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, upstream.ErrTooLarge) || errors.Is(err, upstream.ErrUnsent) {
		t.Error(err)
	}
	if grown := (after.TotalAlloc - before.TotalAlloc) >> 20; grown > 200 {
		t.Errorf("%d MiB were allocated for what is not kept", grown)
	}
	mustCall(t, l, "echo", "")
	if p.Stats().TooLarge != 1 {
		t.Errorf("%+v", p.Stats())
	}
}

func TestCrashAndRestart(t *testing.T) {
	clean(t)
	p := newProcess(t, "script", &upstream.ProcessOptions{Bounds: upstream.Bounds{Backoff: time.Millisecond}})
	l, s := connect(t, p, legacy())
	flying, x := exchange(t, "silent", "")
	out := make(chan error)
	go func() {
		_, err := l.Do(context.Background(), flying, x)
		select {
		case lost := <-s.lost: // told before the call ends
			if !errors.Is(lost, upstream.ErrLost) {
				err = lost
			}
		default:
			err = errors.New("the sink was not told first")
		}
		out <- err
	}()
	if _, err := call(t, l, "crash", ""); !errors.Is(err, upstream.ErrLost) || errors.Is(err, upstream.ErrUnsent) {
		t.Error(err)
	}
	if err := <-out; !errors.Is(err, upstream.ErrLost) {
		t.Error(err)
	}
	if _, err := l.List(within(t), "tools/list", nil); err != nil {
		t.Fatal("a list does not wait for the new process:", err)
	}
	mustCall(t, l, "echo", "")
	if st := p.Stats(); st.Starts != 2 || st.Lost != 1 {
		t.Errorf("%+v", st)
	}
}

// A process that always ends is not started for ever.
func TestRestartsAreBounded(t *testing.T) {
	clean(t)
	p := newProcess(t, "script", &upstream.ProcessOptions{Bounds: upstream.Bounds{Backoff: time.Microsecond, Restarts: 2}})
	l, s := connect(t, p, legacy())
	for i := range 3 {
		if _, err := call(t, l, "crash", ""); !errors.Is(err, upstream.ErrLost) {
			t.Fatal(err)
		}
		s.wantLost(t)
		if i < 2 {
			if _, err := l.List(within(t), "tools/list", nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	for p.Stats().Lost < 3 {
		runtime.Gosched()
	}
	var err error
	for end := time.Now().Add(wait); time.Now().Before(end); {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		_, err = l.List(ctx, "tools/list", nil)
		cancel()
		if errors.Is(err, upstream.ErrLost) && !errors.Is(err, context.DeadlineExceeded) {
			break
		}
	}
	if !errors.Is(err, upstream.ErrUnsent) || p.Stats().Starts != 3 {
		t.Errorf("%v, %+v", err, p.Stats())
	}
}

func TestSilence(t *testing.T) {
	clean(t)
	quick := upstream.Bounds{Start: 100 * time.Millisecond, Call: 100 * time.Millisecond}
	if _, err := newProcess(t, "mute", &upstream.ProcessOptions{Bounds: quick}).Connect(within(t), legacy(), newSink()); !errors.Is(err, upstream.ErrTimeout) && !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if _, err := newProcess(t, "exit", nil).Connect(within(t), legacy(), newSink()); !errors.Is(err, gateway.ErrUnreachable) {
		t.Error(err)
	}
	p := newProcess(t, "script", &upstream.ProcessOptions{Bounds: upstream.Bounds{Call: 50 * time.Millisecond}})
	l, _ := connect(t, p, legacy())
	if _, err := call(t, l, "silent", ""); !errors.Is(err, upstream.ErrTimeout) || errors.Is(err, upstream.ErrUnsent) {
		t.Error(err)
	}
	for !strings.Contains(p.Stderr(), `cancelled {"requestId":2}`) {
		runtime.Gosched()
	}
	p2 := newProcess(t, "script", &upstream.ProcessOptions{Bounds: upstream.Bounds{Write: 100 * time.Millisecond, Grace: time.Millisecond, Kill: 2 * time.Millisecond}})
	l2, s2 := connect(t, p2, legacy())
	mustCall(t, l2, "noread", "")
	if _, err := call(t, l2, "echo", `{"name":"echo","x":"`+strings.Repeat("y", 4<<20)+`"}`); !errors.Is(err, upstream.ErrLost) {
		t.Error(err)
	}
	s2.wantLost(t)
}

func TestCancellation(t *testing.T) {
	clean(t)
	p := newProcess(t, "script", nil)
	l, _ := connect(t, p, legacy())
	ctx, cancel := context.WithCancel(context.Background())
	pass, x := exchange(t, "silent", "")
	out := make(chan error)
	go func() {
		_, err := l.Do(ctx, pass, x)
		out <- err
	}()
	mustCall(t, l, "echo", "") // after the other one was written or before: both are fine
	cancel()
	if err := <-out; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	pass, x = exchange(t, "echo", "")
	if _, err := l.Do(ctx, pass, x); !errors.Is(err, context.Canceled) || !errors.Is(err, upstream.ErrUnsent) {
		t.Error(err)
	}
	for !strings.Contains(p.Stderr(), `cancelled {"requestId":`) {
		runtime.Gosched()
	}
	mustCall(t, l, "echo", "")
}

func TestQuestionsAndProgress(t *testing.T) {
	clean(t)
	p := newProcess(t, "script", nil)
	l, s := connect(t, p, legacy())
	pass, x := exchange(t, "ask", "")
	x.Ask = func(_ context.Context, f mcp.Frame) mcp.Frame {
		return mcp.Answer(`"another id"`, jsontext.Value(`{"text":"`+f.Method+`"}`))
	}
	f, err := l.Do(within(t), pass, x)
	if err != nil || string(f.Result) != `{"answer":{"jsonrpc":"2.0","id":"q-1","result":{"text":"sampling/createMessage"}}}` {
		t.Errorf("%s, %v", f.Result, err)
	}
	// With two calls open, nobody knows whose question it is.
	silent, sx := exchange(t, "silent", "")
	ctx, cancel := context.WithCancel(context.Background())
	out := make(chan struct{})
	go func() {
		_, _ = l.Do(ctx, silent, sx)
		close(out)
	}()
	for { // until the silent call is open too
		pass, x = exchange(t, "ask", "")
		x.Ask = func(_ context.Context, f mcp.Frame) mcp.Frame { return mcp.Answer(f.ID, jsontext.Value(`"mine"`)) }
		f, err = l.Do(within(t), pass, x)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(f.Result), "nobody is asked now") {
			break
		}
	}
	cancel()
	<-out
	pass, x = exchange(t, "progress", `{"name":"progress","_meta":{"progressToken":7}}`)
	var got []string
	x.Receive = func(f mcp.Frame) { got = append(got, string(f.Params)) }
	if _, err := l.Do(within(t), pass, x); err != nil || len(got) != 3 {
		t.Errorf("%v, progress %v", err, got) // all of it before the answer
	}
	mustCall(t, l, "changed", "")
	select {
	case f := <-s.got:
		if f.Method != "notifications/tools/list_changed" {
			t.Error(f.Method)
		}
	default:
		t.Error("the change was not told of before the answer that came after it")
	}
	mustCall(t, l, "askflood", "")
	mustCall(t, l, "echo", "")
}

func TestFlood(t *testing.T) {
	clean(t)
	p := newProcess(t, "script", nil)
	l, s := connect(t, p, legacy())
	mustCall(t, l, "flood", "")
	n, changed := 0, false
	for len(s.got) > 0 {
		n++
		changed = (<-s.got).Method == "notifications/tools/list_changed" || changed
	}
	if !changed || n > 15_000 || p.Stats().Dropped == 0 {
		t.Errorf("%d of 20000 came, changed %v, %+v", n, changed, p.Stats())
	}
	mustCall(t, l, "echo", "")
}

func TestOpenCallsAreBounded(t *testing.T) {
	clean(t)
	p := newProcess(t, "script", &upstream.ProcessOptions{Bounds: upstream.Bounds{Open: 3}})
	l, _ := connect(t, p, legacy())
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	busy := make(chan bool, 4)
	for range 4 {
		pass, x := exchange(t, "silent", "")
		all.Go(func() {
			_, err := l.Do(ctx, pass, x)
			busy <- errors.Is(err, upstream.ErrBusy) && errors.Is(err, upstream.ErrUnsent)
		})
	}
	if !<-busy {
		t.Error("four were let in")
	}
	cancel()
	all.Wait()
	mustCall(t, l, "echo", "")
}

func TestStderr(t *testing.T) {
	clean(t)
	var mu sync.Mutex
	var lines []string
	p := newProcess(t, "script", &upstream.ProcessOptions{Stderr: func(s string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, s)
	}})
	l, _ := connect(t, p, legacy())
	mustCall(t, l, "stderr", "")
	l.Close()
	mu.Lock()
	defer mu.Unlock()
	all := strings.Join(lines, "|")
	if !strings.HasPrefix(all, `plain|\u{1b}[31mred\u{1b}[0m\u{202e}|long `) || strings.Contains(p.Stderr(), "\x1b") || !strings.Contains(p.Stderr(), "plain\n") {
		t.Errorf("%.100q, %.100q", all, p.Stderr())
	}
}

// The whole group goes with the link, and with us, however we end.
func TestNothingOutlivesUs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("looks at /proc")
	}
	clean(t)
	p := newProcess(t, "script", &upstream.ProcessOptions{Bounds: upstream.Bounds{Grace: 50 * time.Millisecond, Kill: 100 * time.Millisecond}})
	l, _ := connect(t, p, legacy())
	pids := pidsOf(t, mustCall(t, l, "child", ""))
	l.Close()
	gone(t, pids)

	self, _ := os.Executable()
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), role+"=parent")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if err != nil {
		t.Fatal(err)
	}
	gone(t, pidsOf(t, strings.TrimSuffix(strings.TrimSpace(line), " <nil>")))
}

func pidsOf(t *testing.T, result string) []int {
	t.Helper()
	var pids []int
	for _, v := range mcp.Members(jsontext.Value(result)) {
		n, err := strconv.Atoi(string(v))
		if err != nil {
			t.Fatal(result, err)
		}
		pids = append(pids, n)
	}
	if len(pids) != 2 {
		t.Fatal(result)
	}
	return pids
}

func gone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		end := time.Now().Add(wait)
		for {
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err != nil || strings.Contains(string(b), ") Z ") {
				break
			}
			if time.Now().After(end) {
				if p, err := os.FindProcess(pid); err == nil {
					_ = p.Kill()
				}
				t.Fatalf("process %d outlived us: %s", pid, b)
			}
			runtime.Gosched()
		}
	}
}

func TestProcessOptions(t *testing.T) {
	for _, command := range [][]string{nil, {""}, {"/no/such/program"}, {"a\x00b"}} {
		if _, err := upstream.NewProcess("x", command, nil); !errors.Is(err, upstream.ErrOptions) {
			t.Errorf("%q: %v", command, err)
		}
	}
	for _, name := range []string{"", "with space"} {
		if _, err := upstream.NewProcess(name, []string{"/bin/sh"}, nil); !errors.Is(err, upstream.ErrOptions) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := upstream.NewProcess("x", []string{"/bin/sh"}, &upstream.ProcessOptions{Origin: origin.Must("https://a.example")}); !errors.Is(err, upstream.ErrOptions) {
		t.Error(err)
	}
	p, err := upstream.NewProcess("x", []string{"sh"}, &upstream.ProcessOptions{Check: func(context.Context) error { return os.ErrPermission }})
	if err != nil || p.Name() != "x" || p.Place().Origin.String() != "stdio:x" || !p.Place().Unpinned {
		t.Fatal(p, err)
	}
	if _, err := p.Connect(within(t), legacy(), newSink()); !errors.Is(err, upstream.ErrStart) || !errors.Is(err, os.ErrPermission) {
		t.Error(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "run"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := upstream.NewProcess("x", []string{"./run"}, &upstream.ProcessOptions{Dir: dir}); err != nil {
		t.Error(err)
	}
}

func TestEnviron(t *testing.T) {
	look := func(name string) (string, bool) {
		v, ok := map[string]string{"PATH": "/bin", "HOME": "/h", "SECRET": "s", "TOKEN": "t"}[name]
		return v, ok
	}
	if got := strings.Join(upstream.Environ(look, []string{"TOKEN", "GONE", "A=1=2"}), " "); got != "A=1=2 HOME=/h PATH=/bin TOKEN=t" {
		t.Error(got)
	}
}
