package surface_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/gateway/surface"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry"
)

func TestBadItemIsWithheldAlone(t *testing.T) {
	b := newBench(t)
	s := newServer(
		tool("b_good", "Lists."), tool("a_good", "Reads."), tool("evil", "EVIL"), tool("odd", "ODD"),
		tool("has space", "x"), `{"name":7}`, `{"name":"noschema"}`, `{"name":"nul","inputSchema":{},"x":"\u0000"}`,
		tool("twin", "one"), tool("twin", "two"), tool("same", "s"), tool("same", "s"),
	)
	k := b.keeper(s)
	sameNames(t, "tools", mustList(t, k, gate.Tool), "a_good", "b_good", "same")
	for _, n := range []string{"evil", "odd", "has space", "noschema", "nul", "twin"} {
		if _, err := call(k, n); !errors.Is(err, gate.ErrNotShown) {
			t.Errorf("call of %s: %v", n, err)
		}
	}
	for _, n := range []string{"a_good", "b_good", "same"} {
		if _, err := call(k, n); err != nil {
			t.Errorf("call of %s: %v", n, err)
		}
	}
	l, _ := k.List(context.Background(), gate.Tool, nil)
	if string(l[0].Raw) != tool("a_good", "Reads.") {
		t.Errorf("an item is not the bytes that were sent: %s", l[0].Raw)
	}
}

func TestJoinedSurface(t *testing.T) {
	b := newBench(t)
	k := b.keeper(newServer(tool("a", "PART1"), tool("b", "PART2"), tool("c", "fine")))
	sameNames(t, "tools", mustList(t, k, gate.Tool), "c")
}

// A call before any list is refused: what the agent was not shown it cannot name.
func TestListedIsNotCallable(t *testing.T) {
	b := newBench(t)
	k := b.keeper(newServer(tool("a", "x"), tool("b", "y")))
	_, err := call(k, "a")
	wantErr(t, "call before any list", err, gate.ErrNotShown)
	l, err := k.List(context.Background(), gate.Tool, func(e *gate.Entry) bool { return e.Name == "a" })
	sameNames(t, "tools", names(l), "a")
	wantErr(t, "list", err, nil)
	_, err = call(k, "a")
	wantErr(t, "call of what was listed", err, nil)
	_, err = call(k, "b")
	wantErr(t, "call of what the policy kept out of the list", err, gate.ErrNotShown)
	_, err = call(k, "nobody")
	wantErr(t, "call of an unknown name", err, gate.ErrNotShown)
}

func TestWelcome(t *testing.T) {
	b := newBench(t)
	s := newServer(tool("a", "x"))
	good, bad := "Use it for notes.", "EVIL"
	s.welcome.Instructions = &good
	w := b.keeper(s).Welcome(context.Background())
	if w.Instructions == nil || *w.Instructions != good || string(w.ServerInfo) != `{"name":"notes","version":"1"}` {
		t.Errorf("welcome: %+v", w)
	}
	s.welcome.Instructions = &bad
	s.welcome.ServerInfo = jsontext.Value(`{"name":"other","version":"1"}`)
	w = b.keeper(s).Welcome(context.Background())
	if w.Instructions != nil || string(w.ServerInfo) != `{"name":"notes","version":"withheld"}` {
		t.Errorf("changed welcome: %v %s", w.Instructions, w.ServerInfo)
	}
}

// RULES.md 7.
func TestRule07Freshness(t *testing.T) {
	b := newBench(t)
	s := newServer(tool("a", "x"))
	k := b.keeper(s)
	mustList(t, k, gate.Tool)
	n := s.count("tools/list")
	listsAfter := func(what string, want int, f func()) {
		t.Helper()
		f()
		before := s.count("tools/list")
		if _, err := call(k, "a"); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if got := s.count("tools/list") - before; got != want {
			t.Errorf("%s: listed %d times, want %d", what, got, want)
		}
	}
	if n != 1 {
		t.Errorf("the first list cost %d requests", n)
	}
	listsAfter("young list", 0, func() { b.pass(1900 * time.Millisecond) })
	listsAfter("old list", 1, func() { b.pass(200 * time.Millisecond) })
	listsAfter("stale list", 1, func() { k.Stale(gate.Tool) })
	listsAfter("other kind stale", 0, func() { k.Stale(gate.Prompt) })
	listsAfter("lost connection", 1, func() { k.Lost(nil) })
	listsAfter("shorter ttl", 1, func() { s.ttl = `,"ttlMs":500`; b.pass(3 * time.Second) })
	listsAfter("shorter ttl, young", 0, func() { b.pass(400 * time.Millisecond) })
	listsAfter("shorter ttl, old", 1, func() { b.pass(200 * time.Millisecond) })
	listsAfter("longer ttl", 1, func() { s.ttl = `,"ttlMs":3600000`; b.pass(3 * time.Second) })
	listsAfter("longer ttl does not lengthen", 1, func() { b.pass(3 * time.Second) })

	b.limits.Freshness = -1
	k = b.keeper(s)
	mustList(t, k, gate.Tool)
	listsAfter("bound 0", 1, func() {})
	listsAfter("bound 0, again", 1, func() {})
}

// A swap that nobody announces: never executed outside the bound, nor at all with
// the bound 0; a pass does not outlive what was signalled.
func TestRule07SilentSwap(t *testing.T) {
	for _, bound := range []time.Duration{2 * time.Second, -1} {
		b := newBench(t)
		b.limits.Freshness = bound
		s := newServer(tool("a", "x"), tool("b", "y"))
		k := b.keeper(s)
		mustList(t, k, gate.Tool)
		s.set("tools/list", tool("a", "other"), tool("b", "y"))
		if bound > 0 {
			if _, err := call(k, "a"); err != nil {
				t.Errorf("inside the bound: %v", err) // the stated limit
			}
			b.pass(bound + 1)
		}
		_, err := call(k, "a")
		wantErr(t, "outside the bound", err, gate.ErrChanged)
		_, err = call(k, "b")
		wantErr(t, "the other tool", err, nil)
	}
}

func TestRule07PassEndsWithTheEpoch(t *testing.T) {
	b := newBench(t)
	s := newServer(tool("a", "x"))
	k := b.keeper(s)
	mustList(t, k, gate.Tool)
	ctx, params := context.Background(), []byte(`{"name":"a"}`)
	for what, move := range map[string]func(){
		"lost": func() { k.Lost(nil) }, "stale": func() { k.Stale(gate.Tool) },
		"notification": func() { k.Notice("notifications/tools/list_changed") },
	} {
		e, err := k.Look(ctx, gate.Tool, "a")
		wantErr(t, what, err, nil)
		p, err := k.Admit(ctx, e, "tools/call", params)
		wantErr(t, what, err, nil)
		move()
		wantErr(t, what+": spend", p.Spend("tools/call", params), gate.ErrMoved)
	}
	e, _ := k.Look(ctx, gate.Tool, "a")
	p, err := k.Admit(ctx, e, "tools/call", params)
	wantErr(t, "admit", err, nil)
	k.Stale(gate.Prompt)
	wantErr(t, "another kind moved", p.Spend("tools/call", params), nil)
	k.Stale(gate.Tool)
	_, err = k.Pass(e, "tools/call", params)
	wantErr(t, "pass without Current", err, gate.ErrMoved)
}

// The check after a consequential call.
func TestRule07After(t *testing.T) {
	b := newBench(t)
	s := newServer(tool("a", "x"), tool("b", "y"))
	k := b.keeper(s)
	mustList(t, k, gate.Tool)
	ctx := context.Background()
	e, _ := k.Look(ctx, gate.Tool, "a")
	n := s.count("tools/list")
	wantErr(t, "nothing happened", k.After(ctx, e), nil)
	if s.count("tools/list") != n {
		t.Error("listed although the list was young")
	}
	s.set("tools/list", tool("a", "other"), tool("b", "y"))
	b.pass(3 * time.Second)
	wantErr(t, "changed meanwhile", k.After(ctx, e), gate.ErrChanged)
	s.set("tools/list", tool("b", "y"))
	k.Stale(gate.Tool)
	wantErr(t, "gone meanwhile", k.After(ctx, e), gate.ErrNotShown)
	e, _ = k.Look(ctx, gate.Tool, "b")
	s.hook = func(context.Context, string, []byte) (mcp.Frame, error, bool) {
		return mcp.Frame{}, errors.New("broken"), true
	}
	k.Stale(gate.Tool)
	wantErr(t, "cannot be known", k.After(ctx, e), gate.ErrIncomplete)
}

// RULES.md 8: an incomplete upstream shows nothing; what goes away has to be
// listed again when it comes back.
func TestRule08Incomplete(t *testing.T) {
	b := newBench(t)
	s := newServer(tool("a", "x"))
	k := b.keeper(s)
	mustList(t, k, gate.Tool)
	s.hook = func(_ context.Context, method string, _ []byte) (mcp.Frame, error, bool) {
		return mcp.Frame{Shape: mcp.Failure, Error: &mcp.Error{Code: -32603}}, nil, method == "prompts/list"
	}
	k.Stale(gate.Prompt)
	_, err := k.List(context.Background(), gate.Prompt, nil)
	wantErr(t, "list that fails", err, gate.ErrIncomplete)
	_, err = call(k, "a")
	wantErr(t, "call of a tool meanwhile", err, gate.ErrIncomplete)
	_, err = k.List(context.Background(), gate.Tool, nil)
	wantErr(t, "other list meanwhile", err, gate.ErrIncomplete)
	s.hook = nil
	b.pass(2 * time.Second)
	_, err = call(k, "a")
	wantErr(t, "call after it is whole again", err, nil)
}

// TestRestartedUpstreamIsAskedAtOnce: the pause after a list that failed ends when
// the connection is made again.
func TestRestartedUpstreamIsAskedAtOnce(t *testing.T) {
	b := newBench(t)
	s := newServer(tool("a", "x"))
	k := b.keeper(s)
	mustList(t, k, gate.Tool)
	s.hook = func(context.Context, string, []byte) (mcp.Frame, error, bool) {
		return mcp.Frame{Shape: mcp.Failure, Error: &mcp.Error{Code: -32603}}, nil, true
	}
	k.Stale(gate.Tool)
	_, err := call(k, "a")
	wantErr(t, "call while it is down", err, gate.ErrIncomplete)
	s.hook = nil
	_, err = call(k, "a")
	wantErr(t, "call in the pause", err, gate.ErrIncomplete)
	k.Lost(nil)
	_, err = call(k, "a")
	wantErr(t, "call of the new connection", err, nil)
}

func TestRule08ComesBack(t *testing.T) {
	b := newBench(t)
	s := newServer(tool("a", "x"), tool("b", "y"))
	k := b.keeper(s)
	mustList(t, k, gate.Tool)
	s.set("tools/list", tool("b", "y"))
	k.Stale(gate.Tool)
	_, err := call(k, "a")
	if _, err2 := k.Look(context.Background(), gate.Tool, "a"); err == nil || !errors.Is(err2, gate.ErrNotShown) {
		t.Errorf("call of what is gone: %v, %v", err, err2)
	}
	s.set("tools/list", tool("a", "x"), tool("b", "y"))
	k.Stale(gate.Tool)
	_, err = call(k, "b")
	wantErr(t, "the one that stayed", err, nil)
	_, err = call(k, "a")
	wantErr(t, "call of what came back", err, gate.ErrNotShown)
	_, err = call(b.keeper(s), "a")
	wantErr(t, "call in another session", err, gate.ErrNotShown)
	mustList(t, k, gate.Tool)
	_, err = call(k, "a")
	wantErr(t, "call after it was listed again", err, nil)
}

// RULES.md 17: only first sight or an acceptance changes a baseline, and it
// outlives session and process.
func TestRule17Baseline(t *testing.T) {
	b := newBench(t)
	s := newServer(tool("a", "x"))
	mustList(t, b.keeper(s), gate.Tool)
	s.set("tools/list", tool("a", "changed"), tool("new", "n"))
	k := b.keeper(s) // a new session, and a new agent below
	sameNames(t, "new session", mustList(t, k, gate.Tool))
	b.newRun()
	k2 := b.keeper(s)
	sameNames(t, "new agent", mustList(t, k2, gate.Tool))
	_, err := call(k, "a")
	wantErr(t, "the first agent, which was shown it", err, gate.ErrChanged)
	b.accept(gate.Tool, "a")
	_, err = call(k, "a")
	wantErr(t, "accepted, but this agent was shown the other", err, gate.ErrChanged)
	sameNames(t, "after acceptance", mustList(t, k, gate.Tool), "a")
	_, err = call(k, "a")
	wantErr(t, "accepted and shown", err, nil)
	_, err = call(k2, "a")
	wantErr(t, "other agent, not shown", err, gate.ErrNotShown)
	b.accept(gate.Tool, "new")
	sameNames(t, "after both", mustList(t, k2, gate.Tool), "a", "new")
	if !slices.Contains(b.details(), "tool a pinned first-sight") || !slices.Contains(b.details(), "tool a held back: changed ") {
		t.Errorf("record: %q", b.details())
	}
}

func TestWordingRule(t *testing.T) {
	b := newBench(t)
	b.wording = true
	s := newServer(tool("a", "x"))
	k := b.keeper(s)
	mustList(t, k, gate.Tool)
	s.set("tools/list", tool("a", "nicer"))
	k.Stale(gate.Tool)
	_, err := call(k, "a")
	wantErr(t, "new wording before it was shown", err, gate.ErrChanged)
	sameNames(t, "new wording", mustList(t, k, gate.Tool), "a")
	_, err = call(k, "a")
	wantErr(t, "new wording after it was shown", err, nil)
	s.set("tools/list", tool("a", "EVIL"))
	k.Stale(gate.Tool)
	sameNames(t, "hostile wording", mustList(t, k, gate.Tool))
	_, err = call(k, "a")
	wantErr(t, "hostile wording", err, gate.ErrWithheld)
}

func TestDamagedBaseline(t *testing.T) {
	b := newBench(t)
	s := newServer(tool("a", "x"))
	k := b.keeper(s)
	mustList(t, k, gate.Tool)
	o := surface.Options{Upstream: s, Inspector: b.words, Baseline: broken{}, Shown: surface.Run(b.run, place)}
	k2, err := surface.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer k2.Close()
	k2.Start()
	_, err = k2.List(context.Background(), gate.Tool, nil)
	wantErr(t, "list", err, errDamaged)
	_, err = call(k2, "a")
	if err == nil {
		t.Error("called over a damaged baseline")
	}
}

var errDamaged = errors.New("damaged")

type broken struct{}

func (broken) Load() (*gate.Baseline, error) { return nil, errDamaged }
func (broken) Settle(context.Context, func(*gate.Baseline) ([]gate.Move, error)) (*gate.Baseline, error) {
	return nil, errDamaged
}

// No record, no effect: what cannot be written down is not pinned.
func TestUnrecordedMoves(t *testing.T) {
	b := newBench(t)
	k, err := surface.New(surface.Options{
		Upstream: newServer(tool("a", "x")), Inspector: b.words, Baseline: surface.Store(b.store, place),
		Shown: surface.Run(b.run, place), Moved: func(*registry.Entry) error { return errDamaged },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	_, err = k.List(context.Background(), gate.Tool, nil)
	wantErr(t, "list", err, errDamaged)
	if base, _ := b.store.Get(place); base.Seen() {
		t.Error("pinned without a record")
	}
}

// An inspector that is late at first sight makes nothing "new" for ever.
func TestLateVerdict(t *testing.T) {
	b := newBench(t)
	b.words.late = true
	k := b.keeper(newServer(tool("a", "LATE"), tool("b", "x")))
	_, err := k.List(context.Background(), gate.Tool, nil)
	wantErr(t, "list without a verdict", err, gate.ErrIncomplete)
	b.words.mu.Lock()
	b.words.late = false
	b.words.mu.Unlock()
	b.pass(3 * time.Second)
	sameNames(t, "tools", mustList(t, k, gate.Tool), "a", "b")
}

func TestOnChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		s := newServer(tool("a", "x"), tool("b", "y"))
		k := b.keeper(s)
		mustList(t, k, gate.Tool)
		time.Sleep(time.Second)
		b.pass(time.Second)
		s.set("tools/list", tool("b", "y"))
		if !k.Notice("notifications/tools/list_changed") || k.Notice("notifications/message") {
			t.Error("Notice does not know what is about a list")
		}
		if kind := <-b.changed; kind != gate.Tool {
			t.Errorf("told of %s", kind)
		}
		sameNames(t, "tools", mustList(t, k, gate.Tool), "b")
		// A flood costs a list each Limits.Pace, not one each notification.
		n := s.count("tools/list")
		for range 1000 {
			k.Notice("notifications/tools/list_changed")
			synctest.Wait()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := s.count("tools/list") - n; got > 3 {
			t.Errorf("a flood made %d lists", got)
		}
		k.Close()
	})
}

func TestReadable(t *testing.T) {
	b := newBench(t)
	s := newServer()
	s.set("resources/list", `{"uri":"file:///a","name":"a"}`, `{"uri":"notes://x/secret","name":"s","description":"EVIL"}`)
	s.set("resources/templates/list", `{"uriTemplate":"notes://x/{id}","name":"t"}`, `{"uriTemplate":"{+uri}","name":"all"}`)
	k := b.keeper(s)
	ctx := context.Background()
	_, err := k.Readable(ctx, "file:///a")
	wantErr(t, "before the list", err, gate.ErrNotShown)
	sameNames(t, "resources", mustList(t, k, gate.Resource), "file:///a")
	_, err = k.Readable(ctx, "notes://x/1")
	wantErr(t, "a cleared template before it was listed", err, nil)
	sameNames(t, "templates", mustList(t, k, gate.Template), "notes://x/{id}")
	k.Linked("other://linked")
	for uri, want := range map[string]error{
		"file:///a": nil, "notes://x/1": nil, "other://linked": nil,
		"file:///b": gate.ErrNotShown, "notes://x/a/b": gate.ErrNotShown, "notes://x/..": gate.ErrNotShown,
		"notes://x/secret": gate.ErrNotShown, // withheld: no template opens it
	} {
		e, err := k.Readable(ctx, uri)
		wantErr(t, uri, err, want)
		if err != nil {
			continue
		}
		params := []byte(`{"uri":"` + uri + `"}`)
		_, err = k.Admit(ctx, e, "resources/read", params)
		wantErr(t, "admit "+uri, err, nil)
		_, err = k.Admit(ctx, e, "resources/read", []byte(`{"uri":"notes://x/secret"}`))
		if err == nil {
			t.Errorf("%s opened a withheld resource", uri)
		}
	}
}

func TestStop(t *testing.T) {
	b := newBench(t)
	k := b.keeper(newServer(tool("a", "x")))
	mustList(t, k, gate.Tool)
	k.Close()
	if _, err := call(k, "a"); err == nil {
		t.Error("a closed keeper lets a call through")
	}
	if _, err := surface.New(surface.Options{}); !errors.Is(err, surface.ErrOptions) {
		t.Error("New without options")
	}
	if strings.Contains(gate.ErrChanged.Error(), "\n") {
		t.Error("errors are one line")
	}
}

// registrants is a registry by hand.
type registrants struct {
	head      uint64
	rows      map[string]*gate.Row
	uncovered map[string]bool
	err       error
}

func (r *registrants) Head() (uint64, error) { return r.head, r.err }
func (r *registrants) Of(name string, _ time.Time) (*gate.Row, bool, error) {
	return r.rows[name], !r.uncovered[name], r.err
}

// At an attested origin only what its registrant signed is shown, whatever the
// baseline says; the registrant's own overwrite is the acceptance.
func TestRule17Registrant(t *testing.T) {
	b := newBench(t)
	digest := func(raw string) credentials.Digest { return gate.Decode(gate.Tool, []byte(raw)).Digest }
	v1, v2, v3 := tool("a", "one"), tool("a", "two"), tool("a", "three")
	row := func(raw string, ver uint64) *gate.Row {
		return &gate.Row{Tool: "tool_r", Gen: 1, Ver: ver, Digest: digest(raw), Standing: labels.Attested, Content: labels.Inspected, Live: true, Owner: "key"}
	}
	r := &registrants{rows: map[string]*gate.Row{"a": row(v1, 1)}, uncovered: map[string]bool{"squat": true}}
	b.registry = r
	s := newServer(v1, tool("squat", "x"), tool("free", "y"))
	k := b.keeper(s)
	sameNames(t, "tools", mustList(t, k, gate.Tool), "a", "free")
	e, err := k.Look(context.Background(), gate.Tool, "a")
	if err != nil || e.Tool != "tool_r" || e.Owner != "key" || e.Tier(b.now()) != labels.Green {
		t.Errorf("registered: %+v, %v", e, err)
	}
	s.set("tools/list", v2, tool("squat", "x"), tool("free", "y"))
	k.Stale(gate.Tool)
	_, err = call(k, "a")
	wantErr(t, "live digest that nobody signed", err, gate.ErrChanged)
	b.accept(gate.Tool, "a") // not the operator's to accept at an attested origin
	_, err = call(k, "a")
	wantErr(t, "in the baseline, not signed", err, gate.ErrChanged)
	r.rows["a"], r.head = row(v2, 2), 1
	sameNames(t, "overwritten", mustList(t, k, gate.Tool), "a", "free")
	_, err = call(k, "a")
	wantErr(t, "overwritten and shown", err, nil)
	r.rows["a"], r.head = row(v3, 3), 2
	_, err = call(k, "a")
	wantErr(t, "overwritten, but served as before", err, gate.ErrChanged)
	r.err = errDamaged
	_, err = call(k, "free")
	wantErr(t, "registry not readable", err, errDamaged)
}

// Everything at once, for the race detector; what it may execute is held against
// the schedules in property_test.go.
func TestTogether(t *testing.T) {
	b := newBench(t)
	b.limits.Freshness, b.limits.Pace, b.limits.Retry = time.Millisecond, time.Millisecond, time.Nanosecond
	s := newServer(tool("a", "x"), tool("b", "y"))
	k := b.keeper(s)
	go func() {
		for range b.changed {
		}
	}()
	var work sync.WaitGroup
	for n := range 6 {
		work.Go(func() {
			for i := range 100 {
				switch (n + i) % 6 {
				case 0:
					k.List(context.Background(), gate.Tool, nil)
				case 1:
					k.Notice("notifications/tools/list_changed")
				case 2:
					k.Lost(nil)
				case 3:
					s.set("tools/list", tool("a", "x"), tool("b", strings.Repeat("y", i%3)))
					b.pass(time.Millisecond)
				case 4:
					k.Welcome(context.Background())
					k.Linked("a://b")
					k.Readable(context.Background(), "a://b")
				}
				if _, err := call(k, "a"); err != nil && !errors.Is(err, gate.ErrNotShown) && !errors.Is(err, gate.ErrMoved) && !errors.Is(err, gate.ErrShut) {
					t.Errorf("call: %v", err)
				}
			}
		})
	}
	work.Wait()
	k.Close()
	close(b.changed)
}

// RULES.md 8: an upstream that signals whenever it is read shows nothing, and is
// not read without end for one request.
func TestRule08Flapping(t *testing.T) {
	b := newBench(t)
	s := newServer(tool("a", "x"))
	k := b.keeper(s)
	mustList(t, k, gate.Tool)
	s.mu.Lock()
	s.hook = func(context.Context, string, []byte) (mcp.Frame, error, bool) {
		k.Stale(gate.Tool)
		return mcp.Frame{}, nil, false
	}
	s.mu.Unlock()
	k.Stale(gate.Tool)
	n := s.count("tools/list")
	_, err := k.List(context.Background(), gate.Tool, nil)
	wantErr(t, "list", err, gate.ErrShut)
	_, err = call(k, "a")
	wantErr(t, "call", err, gate.ErrShut)
	if got := s.count("tools/list") - n; got > 12 {
		t.Errorf("read %d times for two requests", got)
	}
}

// Names that come and go do not fill the record.
func TestRecordIsBounded(t *testing.T) {
	b := newBench(t)
	s := newServer()
	k := b.keeper(s)
	mustList(t, k, gate.Tool)
	for round := range 5 {
		var tools []string
		for i := range 1000 {
			tools = append(tools, tool("t"+strconv.Itoa(1000*round+i), "x"))
		}
		s.set("tools/list", tools...)
		k.Stale(gate.Tool)
		sameNames(t, "tools", mustList(t, k, gate.Tool))
	}
	if n := len(b.details()); n > 1_010 {
		t.Errorf("%d entries", n)
	}
}
