package surface_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/gateway/surface"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// The world of one schedule: one server, a baseline, two agents with their
// sessions, and an oracle that knows what each was shown. The rules are the real
// ones; stores and link are in memory.
type world struct {
	rng      *rand.Rand
	mutation string // what is broken on purpose
	tools    map[string]version
	base     *memoryBaseline
	agents   [2]*agent
	shelf    *surface.Shelf
	limits   surface.Limits
	wording  bool
	seq      atomic.Int64            // of everything that happens
	inline   atomic.Pointer[session] // whose list the test waits for
	mu       sync.Mutex              // owns the stores, and what is below

	executed, inside int
	broken           []string // violations
	trace            []string
}

type version struct {
	text       int
	title, ann bool
	evil       bool
}

type agent struct {
	shown    *memoryShown
	told     map[string]credentials.Digest // the oracle: by its last list that had the name
	sessions []*session
}

// A session is a keeper with its link to the server.
type session struct {
	w        *world
	a        *agent
	k        *surface.Keeper
	believed map[string]credentials.Digest // what the last list said
	at       time.Time                     // when it was asked for
	listed   int64                         // seq of its answer
	signal   int64                         // seq of the last notification or loss that was delivered
}

var digests sync.Map // of version texts: decoding them again costs most of the time

func (v version) raw(name string) string {
	text := fmt.Sprintf("v%d", v.text)
	if v.evil {
		text += " EVIL"
	}
	title := ""
	if v.title {
		title = `"title":"T",`
	}
	return fmt.Sprintf(`{"name":%q,%s"description":%q,"inputSchema":{},"annotations":{"readOnlyHint":%v}}`, name, title, text, v.ann)
}

func (v version) digest(name string) credentials.Digest {
	raw := v.raw(name)
	if d, ok := digests.Load(raw); ok {
		return d.(credentials.Digest)
	}
	d := gate.Decode(gate.Tool, []byte(raw)).Digest
	digests.Store(raw, d)
	return d
}

var onlyTools = mcp.Welcome{Capabilities: jsontext.Value(`{"tools":{}}`), ServerInfo: jsontext.Value(`{"name":"s","version":"1"}`)}

func (s *session) Welcome() mcp.Welcome { return onlyTools }

// List answers from the world as it is. If it is the test that waits for it, and
// no notification, the world sometimes moves before or after: else two lists at
// once would make a schedule that no seed gives again.
func (s *session) List(_ context.Context, _ string, _ []byte) (mcp.Frame, error) {
	w := s.w
	at := time.Now()
	if s == w.inline.Load() {
		if w.rng.IntN(12) == 0 {
			w.move()
		}
		if w.rng.IntN(40) == 0 {
			return mcp.Frame{Shape: mcp.Failure, Error: &mcp.Error{Code: -32603}}, nil
		}
	}
	var items []string
	believed := map[string]credentials.Digest{}
	w.mu.Lock()
	for _, n := range slices.Sorted(maps.Keys(w.tools)) {
		items = append(items, w.tools[n].raw(n))
		believed[n] = w.tools[n].digest(n)
	}
	s.believed, s.at, s.listed = believed, at, w.seq.Add(1)
	w.mu.Unlock()
	if s == w.inline.Load() && w.rng.IntN(12) == 0 {
		w.move()
	}
	return answer(`{"tools":[` + strings.Join(items, ",") + `]}`), nil
}

// move changes the server, and may say so.
func (w *world) move() {
	names := []string{"a", "b", "c"}
	n := names[w.rng.IntN(len(names))]
	w.mu.Lock()
	v, there := w.tools[n]
	switch w.rng.IntN(8) {
	case 0:
		delete(w.tools, n)
	case 1:
		v = version{}
	case 2:
		v.title = !v.title
	case 3:
		v.ann = !v.ann
	case 4:
		v.evil = !v.evil
	default:
		v.text = w.rng.IntN(3)
	}
	if _, still := w.tools[n]; still || !there {
		w.tools[n] = v
	}
	v = w.tools[n]
	w.mu.Unlock()
	w.note("server: %s is %+v", n, v)
	switch w.rng.IntN(4) {
	case 0:
		w.signal(false)
	case 1:
		w.signal(true)
	}
}

// signal delivers a notification or a loss to every session.
func (w *world) signal(lost bool) {
	w.note("signal, lost=%v", lost)
	for _, a := range w.agents {
		if a == nil {
			continue // not there yet
		}
		for _, s := range a.sessions {
			s.signal = w.seq.Add(1)
			switch {
			case w.mutation == "deaf":
			case lost:
				s.k.Lost(nil)
			default:
				s.k.Notice("notifications/tools/list_changed")
			}
		}
	}
	synctest.Wait()
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trace = append(w.trace, fmt.Sprintf(format, args...))
}

func (w *world) violated(format string, args ...any) {
	w.note("VIOLATED "+format, args...)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = append(w.broken, fmt.Sprintf(format, args...))
}

func newWorld(seed uint64, mutation string) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 6)), mutation: mutation, shelf: surface.NewShelf(0), tools: map[string]version{"a": {}, "b": {text: 1}}}
	w.base = &memoryBaseline{w: w, now: &gate.Baseline{}}
	w.limits.Retry = time.Nanosecond
	w.wording = w.rng.IntN(4) == 0
	if w.rng.IntN(3) == 0 {
		w.limits.Freshness = -1
	}
	if mutation == "slack" {
		w.limits.Freshness = time.Hour
	}
	for i := range w.agents {
		a := &agent{told: map[string]credentials.Digest{}}
		a.shown = &memoryShown{w: w, has: map[gate.Key]credentials.Digest{}}
		w.agents[i] = a
		w.open(a)
	}
	return w
}

func (w *world) open(a *agent) {
	s := &session{w: w, a: a}
	k, err := surface.New(surface.Options{
		Upstream: s, Inspector: &words{}, Shelf: w.shelf, Baseline: w.base, Shown: a.shown, Wording: w.wording,
		Standing: func() labels.Standing { return labels.Pinned }, Limits: w.limits,
	})
	if err != nil {
		panic(err)
	}
	s.k = k
	a.sessions = append(a.sessions, s)
	w.inline.Store(s)
	k.Start()
	k.Look(context.Background(), gate.Tool, "nobody") // waits
	w.inline.Store(nil)
	synctest.Wait()
}

// step does one thing at random.
func (w *world) step() {
	a := w.agents[w.rng.IntN(2)]
	s := a.sessions[w.rng.IntN(len(a.sessions))]
	switch w.rng.IntN(17) {
	case 16:
		w.base.rule()
	case 0, 1, 2:
		w.list(s)
	case 3, 4:
		w.move()
	case 5:
		w.signal(w.rng.IntN(2) == 0)
	case 6, 7:
		w.base.accept()
	case 8:
		time.Sleep(time.Duration(w.rng.IntN(3000)) * time.Millisecond)
		w.note("time passes")
	case 9: // we restart: sessions end, stores stay
		for _, s := range a.sessions {
			s.k.Close()
		}
		a.sessions = nil
		w.note("restart")
		w.open(a)
	case 10:
		if len(a.sessions) < 2 {
			w.note("new session")
			w.open(a)
		}
	default:
		w.call(s, []string{"a", "b", "c"}[w.rng.IntN(3)])
	}
	synctest.Wait()
}

func (w *world) list(s *session) {
	w.inline.Store(s)
	entries, err := s.k.List(context.Background(), gate.Tool, nil)
	w.inline.Store(nil)
	w.note("list: %v %v", names(entries), err)
	if err != nil {
		return
	}
	for _, e := range entries {
		released, condemned := w.base.ruled(e.Digest)
		if strings.Contains(string(e.Raw), "EVIL") && !released {
			w.violated("list shows what is hostile: %s", e.Raw)
		}
		if condemned {
			w.violated("list shows what is condemned: %s", e.Raw)
		}
		if d := w.base.accepted(e.Name); d != e.Digest {
			w.violated("list shows %s, which nobody accepted", e.Raw)
		}
		s.a.told[e.Name] = e.Digest
	}
}

// call is the path of one call, with the world moving between its steps.
func (w *world) call(s *session, name string) {
	ctx := context.Background()
	perhaps := func() {
		if w.rng.IntN(6) == 0 {
			w.move()
		}
		if w.rng.IntN(12) == 0 {
			w.base.accept()
		}
		if w.rng.IntN(24) == 0 {
			w.base.rule()
		}
	}
	e, err := s.k.Look(ctx, gate.Tool, name)
	if err != nil {
		w.note("call of %s: look: %v", name, err)
		return
	}
	perhaps()
	params := []byte(`{"name":"` + name + `"}`)
	w.inline.Store(s)
	p, err := s.k.Admit(ctx, e, "tools/call", params)
	w.inline.Store(nil)
	if err != nil {
		w.note("call of %s: admit: %v", name, err)
		return
	}
	accepted := w.base.accepted(name)
	if released, condemned := w.base.ruled(p.Item()); condemned || !released && w.base.evil(name) {
		w.violated("a pass for %s, which is condemned, or hostile and not released", name)
	}
	now := time.Now()
	perhaps()
	if err := p.Spend("tools/call", params); err != nil {
		w.note("call of %s: spend: %v", name, err)
		return
	}
	w.executed++
	w.judge(s, p, name, accepted, now)
	if p.Spend("tools/call", params) == nil {
		w.violated("a pass was spent twice")
	}
}

// judge is the oracle: this call reached the server. What it was made for was
// shown to this agent as cleared, is what was accepted, and is what the server's
// last list said, which is young and which nothing was signalled after.
func (w *world) judge(s *session, p gate.Pass, name string, accepted credentials.Digest, now time.Time) {
	d := p.Item()
	bound := 2 * time.Second
	if w.limits.Freshness < 0 {
		bound = 0
	}
	w.mu.Lock()
	believed, at, listed := s.believed[name], s.at, s.listed
	v, ok := w.tools[name]
	w.mu.Unlock()
	switch {
	case s.a.told[name] != d:
		w.violated("call of %s under a digest that this agent was not shown", name)
	case accepted != d:
		w.violated("call of %s under a digest that nobody accepted", name)
	case believed != d:
		w.violated("call of %s that the last list did not have so", name)
	case now.Sub(at) > bound:
		w.violated("call of %s on a list of %v ago", name, now.Sub(at))
	case s.signal > listed:
		w.violated("call of %s after a signal that nothing was listed after", name)
	}
	if !ok || v.digest(name) != d {
		w.inside++ // a silent swap inside the bound: the stated limit
	}
}

func (w *world) close() {
	for _, a := range w.agents {
		for _, s := range a.sessions {
			s.k.Close()
		}
	}
}

// memoryBaseline holds the moves that the rules make against an oracle of its
// own.
type memoryBaseline struct {
	w      *world
	mu     sync.Mutex
	now    *gate.Baseline
	raw    map[string]gate.Item // pending
	oracle map[string]credentials.Digest

	released, condemned map[credentials.Digest]bool // the oracle: by an operator
}

func (b *memoryBaseline) Load() (*gate.Baseline, error) {
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	return b.load()
}

func (b *memoryBaseline) load() (*gate.Baseline, error) {
	if b.w.mutation == "lax" { // whatever waits counts as accepted
		lax := &gate.Baseline{Seen: b.now.Seen, Items: maps.Clone(b.now.Items)}
		for _, it := range b.raw {
			lax.Items[it.Key] = &gate.Accepted{Key: it.Key, Tool: "tool_x", Gen: 1, Digest: it.Digest}
		}
		return lax, nil
	}
	if b.w.mutation == "merciful" { // what is condemned goes on
		lax := *b.now
		lax.Condemned = nil
		return &lax, nil
	}
	return b.now, nil
}

func (b *memoryBaseline) Settle(_ context.Context, f func(*gate.Baseline) ([]gate.Move, error)) (*gate.Baseline, error) {
	b.mu.Lock() // as the real one: others wait
	defer b.mu.Unlock()
	moves, err := f(b.now)
	if err != nil {
		return nil, err
	}
	for _, m := range moves {
		switch {
		case m.Act == gate.Pin && b.now.Seen:
			b.w.violated("pinned after first sight")
		case m.Act == gate.Accept && (!b.w.wording || m.By != gate.ByWording || !onlyText(b.now.Items[m.Key].Canonical, m.Canonical)):
			b.w.violated("accepted by nobody")
		case (m.Act == gate.Pin || m.Act == gate.Accept) && strings.Contains(string(m.Raw), "EVIL"):
			b.w.violated("accepted what is hostile")
		case m.Act == gate.Accept && b.condemned[b.oracle[m.Name]]:
			b.w.violated("accepted by nobody what comes after something condemned")
		}
		b.apply(m)
	}
	return b.Load()
}

// onlyText is the wording rule once more, by the shape that this test gives tools.
func onlyText(before, after []byte) bool {
	strip := func(s string) string {
		a, rest, _ := strings.Cut(s, `"description":"`)
		_, b, _ := strings.Cut(rest, `"`)
		return a + b
	}
	return strip(string(before)) == strip(string(after))
}

func (b *memoryBaseline) apply(m gate.Move) {
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	n := &gate.Baseline{Seen: b.now.Seen, Items: maps.Clone(b.now.Items), Pending: maps.Clone(b.now.Pending), Condemned: b.now.Condemned}
	if n.Items == nil {
		n.Items, n.Pending, b.raw = map[gate.Key]*gate.Accepted{}, map[gate.Key]gate.Pending{}, map[string]gate.Item{}
		b.oracle = map[string]credentials.Digest{}
	}
	switch m.Act {
	case gate.Sighted:
		n.Seen = true
	case gate.Pin, gate.Accept:
		n.Items[m.Key] = &gate.Accepted{Key: m.Key, Tool: credentials.ToolID("tool_" + m.Name), Gen: 1, Digest: m.Digest, Canonical: m.Canonical, By: m.By}
		delete(n.Pending, m.Key)
		delete(b.raw, m.Name)
		if m.Kind == gate.Tool {
			b.oracle[m.Name] = m.Digest
		}
	case gate.Pend:
		n.Pending[m.Key] = gate.Pending{Digest: m.Digest, Verdict: m.Verdict}
		b.raw[m.Name] = m.Item
	case gate.Unpend:
		delete(n.Pending, m.Key)
		delete(b.raw, m.Name)
	}
	b.now = n
}

func (b *memoryBaseline) accepted(name string) credentials.Digest {
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	return b.oracle[name]
}

// accept is the operator: one of what waits, the hostile ones too.
func (b *memoryBaseline) accept() {
	b.w.mu.Lock()
	waiting := slices.Sorted(maps.Keys(b.raw))
	if len(waiting) == 0 {
		b.w.mu.Unlock()
		return
	}
	it := b.raw[waiting[b.w.rng.IntN(len(waiting))]]
	b.w.mu.Unlock()
	b.w.note("operator accepts %s", it.Raw)
	b.apply(gate.Move{Act: gate.Accept, Item: it, By: gate.ByOperator})
}

// ruled is what the operator said of a digest.
func (b *memoryBaseline) ruled(d credentials.Digest) (released, condemned bool) {
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	return b.released[d], b.condemned[d]
}

// evil tells whether what is accepted under a name is hostile.
func (b *memoryBaseline) evil(name string) bool {
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	a := b.now.Items[gate.Key{Kind: gate.Tool, Name: name}]
	return a != nil && strings.Contains(string(a.Canonical), "EVIL")
}

// rule is the operator: something that waits is released, or something accepted is
// condemned, or released again.
func (b *memoryBaseline) rule() {
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	n := *b.now
	n.Items, n.Condemned = maps.Clone(n.Items), maps.Clone(n.Condemned)
	if n.Condemned == nil {
		n.Condemned, b.released, b.condemned = map[gate.Version]bool{}, map[credentials.Digest]bool{}, map[credentials.Digest]bool{}
	}
	if waiting := slices.Sorted(maps.Keys(b.raw)); len(waiting) > 0 && b.w.rng.IntN(2) == 0 {
		it := b.raw[waiting[b.w.rng.IntN(len(waiting))]]
		n.Items[it.Key] = &gate.Accepted{Key: it.Key, Tool: credentials.ToolID("tool_" + it.Name), Gen: 1, Digest: it.Digest, Canonical: it.Canonical, By: gate.ByOperator, Release: gate.ReleasedHostile}
		n.Pending = maps.Clone(n.Pending)
		delete(n.Pending, it.Key)
		delete(b.raw, it.Name)
		delete(n.Condemned, gate.Version{Key: it.Key, Digest: it.Digest})
		delete(b.condemned, it.Digest)
		b.oracle[it.Name], b.released[it.Digest] = it.Digest, true
		b.w.trace = append(b.w.trace, fmt.Sprintf("operator releases %s", it.Raw))
	} else if names := slices.SortedFunc(maps.Keys(n.Items), gate.Key.Compare); len(names) > 0 {
		a := n.Items[names[b.w.rng.IntN(len(names))]]
		v := gate.Version{Key: a.Key, Digest: a.Digest}
		if n.Condemned[v] {
			delete(n.Condemned, v)
			delete(b.condemned, a.Digest)
		} else {
			n.Condemned[v], b.condemned[a.Digest] = true, true
		}
		b.w.trace = append(b.w.trace, fmt.Sprintf("operator: %s condemned: %v", a.Canonical, n.Condemned[v]))
	}
	b.now = &n
}

type memoryShown struct {
	w   *world
	has map[gate.Key]credentials.Digest
}

func (m *memoryShown) Shown(k gate.Key) (credentials.Digest, bool, error) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	d, ok := m.has[k]
	if m.w.mutation == "forgetful" && k.Kind == gate.Tool { // every item counts as shown, as it is
		if v, there := m.w.tools[k.Name]; there {
			return v.digest(k.Name), true, nil
		}
	}
	return d, ok, nil
}

func (m *memoryShown) Show(_ context.Context, set map[gate.Key]credentials.Digest) error {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	maps.Copy(m.has, set)
	return nil
}

func (m *memoryShown) Forget(_ context.Context, keys []gate.Key) error {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	for _, k := range keys {
		delete(m.has, k)
	}
	return nil
}

const stepsEach = 32

// schedules runs so many schedules from a seed on, several in one bubble. It
// stops at the first that breaks something.
func schedules(t *testing.T, from, n uint64, mutation string) (bad *world, executed, inside int) {
	const each = 50
	for ; n > 0 && bad == nil; n -= min(n, each) {
		synctest.Test(t, func(t *testing.T) {
			for range min(n, each) {
				w := newWorld(from, mutation)
				for range stepsEach {
					w.step()
				}
				w.close()
				executed, inside = executed+w.executed, inside+w.inside
				if len(w.broken) > 0 {
					w.note("seed %d", from)
					bad = w
					return
				}
				from++
			}
		})
	}
	return bad, executed, inside
}

func TestNeverExecutesWhatWasNotShown(t *testing.T) {
	checkSchedules(t, 1, 1_000)
}

func checkSchedules(t *testing.T, from, n uint64) {
	bad, executed, inside := schedules(t, from, n, "")
	if bad != nil {
		t.Fatalf("%s\n%s", strings.Join(bad.broken, "\n"), strings.Join(bad.trace, "\n"))
	}
	t.Logf("%d schedules, %d calls executed, %d of them over a silent swap inside the bound", n, executed, inside)
	if executed < int(n)/4 {
		t.Errorf("only %d calls were executed: the schedules show nothing", executed)
	}
}

// The same test has to fail when a rule is broken.
func TestSchedulesFindBrokenRules(t *testing.T) {
	for _, m := range []string{"forgetful", "lax", "deaf", "slack", "merciful"} {
		if bad, _, _ := schedules(t, 1, 2_000, m); bad == nil {
			t.Errorf("%s: no schedule found it", m)
		} else {
			t.Logf("%s: %s", m, bad.broken[0])
		}
	}
}
