package surface_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/gateway/surface"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/runs"
)

// A server is an upstream whose lists a test sets.
type server struct {
	mu      sync.Mutex
	lists   map[string][]string // items by method
	welcome mcp.Welcome
	calls   map[string]int
	ttl     string
	size    int // items a page; 0: all
	hook    func(ctx context.Context, method string, params []byte) (mcp.Frame, error, bool)
}

const allCapabilities = `{"tools":{"listChanged":true},"prompts":{},"resources":{}}`

func newServer(tools ...string) *server {
	return &server{
		lists:   map[string][]string{"tools/list": tools},
		calls:   map[string]int{},
		welcome: mcp.Welcome{Capabilities: jsontext.Value(allCapabilities), ServerInfo: jsontext.Value(`{"name":"notes","version":"1"}`)},
	}
}

func tool(name, description string) string {
	return fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, name, description)
}

func (s *server) set(method string, items ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists[method] = items
}

func (s *server) count(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[method]
}

func (s *server) Welcome() mcp.Welcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.welcome
}

var members = map[string]string{"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates"}

func (s *server) List(ctx context.Context, method string, params []byte) (mcp.Frame, error) {
	s.mu.Lock()
	s.calls[method]++
	hook := s.hook
	s.mu.Unlock()
	if hook != nil {
		if f, err, ok := hook(ctx, method, params); ok {
			return f, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var p struct {
		Cursor string `json:"cursor"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return mcp.Frame{}, err
	}
	from := 0
	fmt.Sscanf(p.Cursor, "at%d", &from)
	items := s.lists[method][from:]
	rest := ""
	if s.size > 0 && len(items) > s.size {
		items = items[:s.size]
		rest = fmt.Sprintf(`,"nextCursor":"at%d"`, from+s.size)
	}
	return answer(`{"` + members[method] + `":[` + strings.Join(items, ",") + `]` + rest + s.ttl + `}`), nil
}

func answer(result string) mcp.Frame {
	return mcp.Frame{Shape: mcp.Result, ID: "1", Result: jsontext.Value(result)}
}

// words is an inspector by words: EVIL is hostile, ODD suspect, and LATE is never
// answered. PART1 and PART2 are hostile together.
type words struct {
	mu    sync.Mutex
	count int
	late  bool
}

func (w *words) Engine() string { return "words/1" }

func (w *words) Inspect(ctx context.Context, b quarantine.Batch) quarantine.Report {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count++
	r := quarantine.Report{Verdict: quarantine.Clear, Engine: w.Engine()}
	part := map[string]string{}
	for _, s := range b.Specimens {
		v := quarantine.Clear
		switch {
		case strings.Contains(s.Text, "EVIL"):
			v = quarantine.Hostile
		case strings.Contains(s.Text, "ODD"):
			v = quarantine.Suspect
		case strings.Contains(s.Text, "LATE") && w.late:
			return quarantine.Report{Engine: w.Engine()}
		}
		for _, p := range []string{"PART1", "PART2"} {
			if strings.Contains(s.Text, p) {
				part[p] = s.Path
			}
		}
		if v != quarantine.Clear {
			r.Findings = append(r.Findings, quarantine.Finding{Category: quarantine.Override, Verdict: v, Path: s.Path})
			r.Verdict = quarantine.Worse(r.Verdict, v)
		}
	}
	if len(part) == 2 {
		r.Verdict = quarantine.Hostile
		for _, p := range slices.Sorted(maps.Values(part)) {
			r.Findings = append(r.Findings, quarantine.Finding{Category: quarantine.Override, Verdict: quarantine.Hostile, Path: p})
		}
	}
	return r
}

const place = "https://notes.example/mcp"

// A bench is what outlives keepers: stores, shelf, clock and record.
type bench struct {
	t         testing.TB
	store     *baseline.Store
	run       *runs.Run
	shelf     *surface.Shelf
	words     *words
	wording   bool
	standing  labels.Standing
	limits    surface.Limits
	inspect   quarantine.Inspector
	registry  surface.Registrants
	observed  surface.Observations
	elsewhere func() (map[string][]surface.Stranger, error)
	effect    func(*gate.Entry) labels.Effect
	ends      func(time.Time) int64

	mu      sync.Mutex
	at      time.Time
	moved   []registry.Entry
	changed chan gate.Kind
}

func newBench(t testing.TB) *bench {
	b := &bench{t: t, shelf: surface.NewShelf(0), words: &words{}, standing: labels.Pinned, at: time.Unix(1_800_000_000, 0), changed: make(chan gate.Kind, 64)}
	b.inspect = b.words
	b.store = baseline.NewMemory(baseline.Options{Now: b.now})
	b.newRun()
	return b
}

func (b *bench) newRun() {
	r, err := runs.NewMemory(runs.Options{Now: b.now}).Launch("personal")
	if err != nil {
		b.t.Fatal(err)
	}
	b.run = r
}

func (b *bench) now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at
}

func (b *bench) pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = b.at.Add(d)
}

func (b *bench) details() (out []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.moved {
		out = append(out, e.Kind+" "+e.Name+" "+e.Detail+" "+e.By)
	}
	return out
}

// keeper begins a session with the upstream.
func (b *bench) keeper(u surface.Upstream) *surface.Keeper {
	k, err := surface.New(surface.Options{
		Upstream: u, Inspector: b.inspect, Shelf: b.shelf,
		Baseline: surface.Store(b.store, place), Shown: surface.Run(b.run, place),
		Standing: func() labels.Standing { return b.standing }, Wording: b.wording, Registry: b.registry, Observed: b.observed, Elsewhere: b.elsewhere, Effect: b.effect, EffectEnds: b.ends,
		Moved: func(e *registry.Entry) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.moved = append(b.moved, *e)
			return nil
		},
		OnChanged: func(kind gate.Kind, _ bool) { b.changed <- kind },
		Name:      "notes", Limits: b.limits, Now: b.now,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(k.Close)
	k.Start()
	return k
}

// accept makes what is pending accepted, as an operator would.
func (b *bench) accept(kind gate.Kind, name string) {
	b.t.Helper()
	_, err := b.store.Update(context.Background(), place, func(d *baseline.Draft) error {
		k := baseline.Key{Kind: baseline.Kind(kind), Name: name}
		p := d.Pending(k)
		if p == nil {
			return baseline.ErrMissing
		}
		_, err := d.Pin(k, p.Digest, p.Raw, baseline.ByRegistrant)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

func names(entries []gate.Entry) (out []string) {
	for _, e := range entries {
		out = append(out, e.Name)
	}
	return out
}

func mustList(t testing.TB, k *surface.Keeper, kind gate.Kind) []string {
	t.Helper()
	l, err := k.List(context.Background(), kind, nil)
	if err != nil {
		t.Fatalf("list of %ss: %v", kind, err)
	}
	return names(l)
}

func sameNames(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// call does what the path does with a tool: look, make sure, pass, spend.
func call(k *surface.Keeper, name string) (credentials.Digest, error) {
	ctx := context.Background()
	e, err := k.Look(ctx, gate.Tool, name)
	if err != nil {
		return e.Digest, err
	}
	params := []byte(fmt.Sprintf(`{"name":%q}`, name))
	p, err := k.Admit(ctx, e, "tools/call", params)
	if err != nil {
		return e.Digest, err
	}
	return p.Item(), p.Spend("tools/call", params)
}

func wantErr(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) || want == nil && err != nil {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}
