package mcptest

import (
	"bytes"
	"context"
	"crypto/rand"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// patience bounds every wait for something that must come. Nothing waits that long
// where all is well: it is for a machine that does a hundred other things.
const patience = time.Minute

// An Upstream is a scripted server with tools behind it, as the test that runs it
// holds it. Each one has an up.log: every frame that it received, as the bytes
// they are, one a line. Its methods may be called by several goroutines at once.
type Upstream struct {
	// URL is where it is, of an HTTP upstream.
	URL string

	log string
	hub *hub
	web *web

	mu   sync.Mutex // holds what follows
	st   state
	news chan struct{} // closed and made anew with each received frame
}

// NewStdio is an upstream that is started as a process by Command; as many as like
// can run. The test's TestMain must call Main.
func NewStdio(t testing.TB, s Script) *Upstream {
	t.Helper()
	u := newUpstream(t, s)
	hub, err := newHub(rand.Text(), u.st, u.told)
	if err != nil {
		t.Fatal(err)
	}
	u.hub = hub
	t.Cleanup(hub.close)
	return u
}

// NewHTTP is an upstream on a loopback address, at the path /mcp.
func NewHTTP(t testing.TB, s Script) *Upstream {
	t.Helper()
	u := newUpstream(t, s)
	rec, err := newRecorder(u.log, u.told)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rec.close)
	u.web = newWeb(rec, u.st)
	if err := u.web.start(Address(t)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(u.web.stop)
	u.URL = "http://" + u.web.address + "/mcp"
	return u
}

func newUpstream(t testing.TB, s Script) *Upstream {
	return &Upstream{log: filepath.Join(t.TempDir(), "up.log"), st: state{Script: s}, news: make(chan struct{})}
}

// Command is what starts a stdio upstream. It stays the same for the life of the
// Upstream.
func (u *Upstream) Command() []string {
	self, err := os.Executable()
	if err != nil {
		panic(err) // a test binary has a path
	}
	return []string{self, mainWord, u.hub.address(), u.log}
}

func (u *Upstream) told() {
	u.mu.Lock()
	defer u.mu.Unlock()
	close(u.news)
	u.news = make(chan struct{})
}

func (u *Upstream) do(c command) {
	if u.hub != nil {
		u.hub.command(c)
		return
	}
	u.web.s.command(c)
}

// Set changes the script. When it returns, every process that runs works by the
// new one, and so will those that come; nobody was notified. The function gets
// its own copy of the lists and of the map of answers.
func (u *Upstream) Set(change func(*Script)) {
	u.mu.Lock()
	next := u.st
	answers := map[string]Answer{}
	for k, v := range next.Script.Answers {
		answers[k] = v
	}
	next.Script.Answers = answers
	for _, l := range []*List{&next.Script.Tools, &next.Script.Prompts, &next.Script.Resources, &next.Script.Templates} {
		l.Items = slices.Clone(l.Items)
	}
	change(&next.Script)
	u.st = next
	u.mu.Unlock()
	u.do(command{State: &next})
}

// Open opens a gate for good.
func (u *Upstream) Open(gate string) { u.gates(func(g []string) []string { return append(g, gate) }) }

// Shut shuts a gate again.
func (u *Upstream) Shut(gate string) {
	u.gates(func(g []string) []string {
		return slices.DeleteFunc(g, func(s string) bool { return s == gate })
	})
}

func (u *Upstream) gates(f func([]string) []string) {
	u.mu.Lock()
	u.st.Gates = f(slices.Clone(u.st.Gates))
	next := u.st
	u.mu.Unlock()
	u.do(command{State: &next})
}

// Notify sends a notification to all clients: on standard output, on GET streams
// and on the listen streams that asked for it.
func (u *Upstream) Notify(method string, params JSON) {
	u.do(command{Notify: &Notification{Method: method, Params: params}})
}

// Changed notifies that the tools changed.
func (u *Upstream) Changed() { u.Notify("notifications/tools/list_changed", nil) }

// Ask sends a question outside of any call to all clients of the legacy era. The
// answers are in the log.
func (u *Upstream) Ask(method string, params JSON) {
	u.do(command{Ask: &Question{Method: method, Params: params}})
}

// Write writes bytes and a line end to the standard output of every process.
func (u *Upstream) Write(raw []byte) { u.do(command{Raw: raw}) }

// Restart ends all processes that there are and waits until they are gone, whether or
// not others came meanwhile, or forgets all HTTP sessions and cuts all connections. The
// script stays.
func (u *Upstream) Restart() { u.do(command{Exit: true}) }

// Stop closes the address of an HTTP upstream, and Start opens it again.
func (u *Upstream) Stop() { u.web.stop() }

// Start opens the address again.
func (u *Upstream) Start() error { return u.web.start(u.web.address) }

// Processes is how many processes of a stdio upstream live.
func (u *Upstream) Processes() int {
	n, _ := u.hub.living()
	return n
}

// WaitProcesses waits until that many live.
func (u *Upstream) WaitProcesses(t testing.TB, want int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		n, moved := u.hub.living()
		if n == want {
			return
		}
		select {
		case <-moved:
		case <-ctx.Done():
			t.Fatalf("%d processes live, not %d", n, want)
		}
	}
}

// Streams is how many streams (GET or listening) are open to an HTTP upstream.
func (u *Upstream) Streams() int {
	u.web.s.mu.Lock()
	all := slices.Collect(maps.Keys(u.web.s.peers))
	u.web.s.mu.Unlock()
	n := 0
	for _, p := range all {
		if p.sub != nil || u.web.streaming(p) {
			n++
		}
	}
	return n
}

// Log is the path of the up.log.
func (u *Upstream) Log() string { return u.log }

// Received is every frame that was received, in order.
func (u *Upstream) Received() []Message { return readLog(u.log) }

// Executed is how many calls of a tool were received, in batches too. It reads
// the log, so it sees what was received by processes that are gone.
func (u *Upstream) Executed(tool string) int {
	return u.Count(func(m Message) bool { return m.Method == "tools/call" && Text(m.Params, "name") == tool })
}

// Requests is how many frames with the method were received.
func (u *Upstream) Requests(method string) int {
	return u.Count(func(m Message) bool { return m.Method == method })
}

// Count is how many received frames, in batches too, are such.
func (u *Upstream) Count(such func(Message) bool) int {
	n := 0
	for _, m := range u.Received() {
		m.each(func(m Message) {
			if such(m) {
				n++
			}
		})
	}
	return n
}

// Mentions tells whether a text stands anywhere in the log, as bytes.
func (u *Upstream) Mentions(text string) bool {
	b, _ := os.ReadFile(u.log)
	return bytes.Contains(b, []byte(text))
}

// Last is the newest received call of a tool; the zero Message if there is none.
func (u *Upstream) Last(tool string) (last Message) {
	u.Count(func(m Message) bool {
		if m.Method == "tools/call" && Text(m.Params, "name") == tool {
			last = m
		}
		return false
	})
	return last
}

// Wait waits until at least n received frames are such.
func (u *Upstream) Wait(t testing.TB, n int, such func(Message) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		u.mu.Lock()
		news := u.news
		u.mu.Unlock()
		if u.Count(such) >= n {
			return
		}
		select {
		case <-news:
		case <-ctx.Done():
			t.Fatalf("the upstream received %d such frames, not %d", u.Count(such), n)
		}
	}
}

// WaitCall waits until at least n calls of a tool were received.
func (u *Upstream) WaitCall(t testing.TB, tool string, n int) {
	t.Helper()
	u.Wait(t, n, func(m Message) bool { return m.Method == "tools/call" && Text(m.Params, "name") == tool })
}

// WaitMethod waits until at least n frames with a method were received.
func (u *Upstream) WaitMethod(t testing.TB, method string, n int) {
	t.Helper()
	u.Wait(t, n, func(m Message) bool { return m.Method == method })
}
