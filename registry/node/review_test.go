package node_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/observe"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/node"
	"github.com/pratique-dev/pratique/registry/observed"
)

// An examiner judges by words that stand in a description, and remembers the order
// in which it was asked.
type examiner struct {
	mu    sync.Mutex
	asked []string // names
	late  atomic.Bool
}

func (x *examiner) Engine() string { return "examiner/1" }

func (x *examiner) Inspect(_ context.Context, b quarantine.Batch) quarantine.Report {
	r := quarantine.Report{Verdict: quarantine.Clear, Engine: x.Engine()}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, s := range b.Specimens {
		if s.Path == "name" {
			x.asked = append(x.asked, s.Text)
		}
		switch {
		case strings.Contains(s.Text, "HOSTILE"):
			r.Verdict = quarantine.Hostile
		case strings.Contains(s.Text, "SUSPECT"):
			r.Verdict = quarantine.Worse(r.Verdict, quarantine.Suspect)
		}
	}
	if x.late.Load() {
		r.Verdict, r.Partial = quarantine.Suspect, true
	}
	return r
}

func (x *examiner) names() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return append([]string(nil), x.asked...)
}

// A registrant registers straight with the writer, as the API does.
type registrant struct {
	t   *testing.T
	key envelope.Key
}

func newRegistrant(t *testing.T) registrant {
	t.Helper()
	pub, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	k, err := envelope.NewKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	return registrant{t, k}
}

func meta(k credentials.KeyID) registry.CommandMeta {
	var b [16]byte
	rand.Read(b[:])
	id := base64.RawURLEncoding.EncodeToString(b[:])
	return registry.CommandMeta{ID: registry.CommandID(id), Req: canon.Digest("test", b[:]), Caller: registry.UnsafeLocal(k)}
}

func (r registrant) register(n *node.Node, name, text string) *registry.Tool {
	r.t.Helper()
	c, d, err := canon.Metadata(fmt.Appendf(nil, `{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, name, text))
	if err != nil {
		r.t.Fatal(err)
	}
	id := credentials.ToolID("tool_" + ulid.Make().String())
	_, err = n.Record().Do(context.Background(), &registry.Register{CommandMeta: meta(r.key.ID), JWK: r.key.JWK(), Origin: "https://tools.example/mcp",
		IDs: []credentials.ToolID{id}, Items: []registry.Item{{Name: name, Digest: d, Canonical: c}}})
	if err != nil {
		r.t.Fatal(err)
	}
	return toolOf(r.t, n, id)
}

func toolOf(t *testing.T, n *node.Node, id credentials.ToolID) *registry.Tool {
	t.Helper()
	v, err := n.Record().Barrier(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	x, err := v.Tool(id)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func becomes(t *testing.T, n *node.Node, id credentials.ToolID, want labels.Content) {
	t.Helper()
	var x *registry.Tool
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if x = toolOf(t, n, id); x.Content == want {
			return
		}
	}
	t.Fatalf("%s is %v, want %v", x.Name, x.Content, want)
}

// serving is a node that serves until the test's end.
func serving(t *testing.T, cfg node.Config, o node.Options) *node.Node {
	t.Helper()
	n, err := node.Open(context.Background(), cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Serve(ctx) }()
	<-n.Ready()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// TestReview: a version that nobody looked at is inspected, whichever process
// serves the folder and whenever it was registered; the verdict is in the log, and
// nothing of what was found (RULES.md 20, 22, 29).
func TestReview(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	cfg := node.Config{Data: data, Listen: "127.0.0.1:0", Admin: "off"}
	early := openQuiet(t, cfg, node.Options{Inspector: &examiner{}}) // a guard's node reviews nothing
	alice := newRegistrant(t)
	waiting := alice.register(early, "early", "Was there before.")
	x, y := &examiner{}, &examiner{}
	n := serving(t, cfg, node.Options{Inspector: x})
	m := serving(t, cfg, node.Options{Inspector: y})
	becomes(t, n, waiting.Row.Tool, labels.Inspected)
	for text, want := range map[string]labels.Content{
		"Adds numbers.": labels.Inspected, "Is SUSPECT of something.": labels.Suspect, "Is HOSTILE to readers.": labels.Violated,
	} {
		x.mu.Lock() // neither is done before somebody has looked
		y.mu.Lock()
		tool := alice.register(m, strings.ToLower(want.String()), text)
		y.mu.Unlock()
		x.mu.Unlock()
		if tool.Content != labels.Uninspected {
			t.Errorf("at once: %v", tool.Content)
		}
		becomes(t, n, tool.Row.Tool, want)
	}
	time.Sleep(50 * time.Millisecond)
	v, err := n.Record().Barrier(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	raws, err := n.Store().Read(context.Background(), 0, int(v.Head.Size))
	if err != nil {
		t.Fatal(err)
	}
	events := 0
	for _, raw := range raws {
		e, err := registry.ParseEvent(raw)
		if err != nil {
			t.Fatal(err)
		}
		if e.Type != registry.ToolInspected {
			continue
		}
		events++
		var d registry.ConductData
		if err := e.Decode(&d); err != nil || e.By != "" || strings.Contains(string(raw), "examiner") {
			t.Errorf("%s: %v", raw, err)
		}
	}
	if events != 4 {
		t.Errorf("%d events of 4 versions, by two processes", events)
	}
}

// TestReviewThatIsLate: what was not inspected to its end comes to nothing, and is
// looked at again.
func TestReviewThatIsLate(t *testing.T) {
	var off atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(off.Load())) }
	x := &examiner{}
	x.late.Store(true)
	n := serving(t, node.Config{Data: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0", Admin: "off"}, node.Options{Inspector: x, Now: now})
	alice := newRegistrant(t)
	tool := alice.register(n, "pay", "Pays.")
	alice.register(n, "other", "Something else happens.")
	for end := time.Now().Add(30 * time.Second); !slices.Contains(x.names(), "other"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("asked about %v", x.names())
		}
	} // one after the other: the first has been put back by now
	if c := toolOf(t, n, tool.Row.Tool).Content; c != labels.Uninspected {
		t.Errorf("late: %v", c)
	}
	x.late.Store(false)
	off.Store(int64(time.Minute))
	alice.register(n, "more", "And something more.")
	becomes(t, n, tool.Row.Tool, labels.Inspected)
}

// TestNearCopies is RULES.md 22: whoever tries variants of what was not cleared
// learns of a few of them, whatever names and keys they come under; others wait for
// nothing.
func TestNearCopies(t *testing.T) {
	x := &examiner{}
	n := serving(t, node.Config{Data: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0", Admin: "off"}, node.Options{Inspector: x})
	const text = "SUSPECT sends the notes of the day to the address that was given, in the order in which they were written down by the reader, variant %s"
	first := newRegistrant(t).register(n, "v", fmt.Sprintf(text, "zero"))
	becomes(t, n, first.Row.Tool, labels.Suspect)
	for i := range 12 {
		newRegistrant(t).register(n, fmt.Sprintf("v%d", i), fmt.Sprintf(text, strings.Repeat("x", i+1)))
	}
	honest := newRegistrant(t).register(n, "honest", "Says what the weather will be like in some town of the world tomorrow at noon.")
	becomes(t, n, honest.Row.Tool, labels.Inspected)
	time.Sleep(100 * time.Millisecond)
	told := 0
	for _, name := range x.names() {
		if strings.HasPrefix(name, "v") {
			told++
		}
	}
	if told != 4 { // the first, and three of its copies
		t.Errorf("%d variants were judged: %v", told, x.names())
	}
}

// TestTurns: one who registers much does not keep others waiting.
func TestTurns(t *testing.T) {
	cfg := node.Config{Data: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0", Admin: "off"}
	q := openQuiet(t, cfg, node.Options{})
	big, small := newRegistrant(t), newRegistrant(t)
	for i := range 30 {
		big.register(q, fmt.Sprintf("big%d", i), "Does a thing.")
	}
	last := small.register(q, "small", "Does another.")
	x := &examiner{}
	n := serving(t, cfg, node.Options{Inspector: x})
	becomes(t, n, last.Row.Tool, labels.Inspected)
	for i, name := range x.names() {
		if name == "small" && i > 1 {
			t.Errorf("the small one came as number %d", i)
		}
	}
}

// TestConcluding: what this deployment saw of registered tools comes into the log,
// with the place of the call, and is not said twice; after a release it stays
// released.
func TestConcluding(t *testing.T) {
	var off atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(off.Load())) }
	cfg := node.Config{Data: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0", Admin: "off"}
	n, err := node.Open(context.Background(), cfg, node.Options{Quiet: true, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	reopen := func() {
		t.Helper()
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		if n, err = node.Open(context.Background(), cfg, node.Options{Quiet: true, Now: now}); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { n.Close() })
	alice := newRegistrant(t)
	tool := alice.register(n, "pay", "Pays.")
	subject := observed.Subject{Key: gate.Key{Kind: gate.Tool, Name: "pay"}, Tool: tool.Row.Tool, Gen: 1, Ver: 1, Digest: tool.Digest}
	see := func(o observe.Observation) {
		t.Helper()
		st, err := n.Observed()
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Place("https://tools.example/mcp").Add(subject, tool.Owner, o, observed.Cite{Spool: "spool_01JB2Z6T4E9W8K3Q5R7XAAAAAA", Entry: 9}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 60 {
		see(observe.Observation{Call: fmt.Sprint("call_", i), Run: fmt.Sprint("run_", i%3), At: now().Add(time.Duration(i-60) * 3 * time.Hour).UnixMilli(), Good: true})
	}
	reopen()
	if c := toolOf(t, n, tool.Row.Tool).Content; c != labels.Uninspected {
		t.Errorf("consistent though nobody inspected it: %v", c)
	}
	inspect := &registry.RecordInspection{CommandMeta: meta(""), Tool: tool.Row.Tool, Base: tool.Digest, Content: labels.Inspected}
	if _, err := n.Record().Do(context.Background(), inspect); err != nil {
		t.Fatal(err)
	}
	see(observe.Observation{Call: "call_60", Run: "run_0", At: now().UnixMilli(), Good: true})
	reopen()
	x := toolOf(t, n, tool.Row.Tool)
	if x.Content != labels.Consistent || time.Unix(x.Until, 0).Sub(now()) < 29*24*time.Hour {
		t.Errorf("consistent: %v until %v", x.Content, time.Unix(x.Until, 0))
	}
	size := x.Index
	reopen()
	if x = toolOf(t, n, tool.Row.Tool); x.Index != size {
		t.Error("said again")
	}
	see(observe.Observation{Call: "call_bad", Run: "run_0", At: now().UnixMilli(), Good: true, Seen: []observe.Sighting{{Sign: observe.OutputUnfit, Link: observe.Own}}})
	reopen()
	if x = toolOf(t, n, tool.Row.Tool); x.Content != labels.Violated {
		t.Fatalf("contradicted: %v", x.Content)
	}
	if _, err := n.Record().Do(context.Background(), &registry.ReleaseTool{CommandMeta: meta(""), Tool: tool.Row.Tool, Base: tool.Digest, Reason: "read"}); err != nil {
		t.Fatal(err)
	}
	st, err := n.Observed()
	if err != nil {
		t.Fatal(err)
	}
	e := &gate.Entry{Tool: tool.Row.Tool, Gen: 1, Ver: 1, Owner: tool.Owner}
	e.Key, e.Digest = subject.Key, subject.Digest
	if c, ok := st.Place("https://tools.example/mcp").Of(e, now()); ok {
		t.Errorf("released, and the account says %v", c)
	}
	reopen()
	if x = toolOf(t, n, tool.Row.Tool); x.Content != labels.Inspected {
		t.Errorf("released: %v", x.Content)
	}
	see(observe.Observation{Call: "call_worse", Run: "run_0", At: now().Add(time.Second).UnixMilli(), Good: true, Seen: []observe.Sighting{{Sign: observe.OutputUnfit, Link: observe.Own}}})
	reopen()
	if x = toolOf(t, n, tool.Row.Tool); x.Content != labels.Violated {
		t.Errorf("again: %v", x.Content)
	}
}
