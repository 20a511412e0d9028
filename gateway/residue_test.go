package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/gateway/surface"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/quarantine/inspect"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/observed"
	"github.com/pratique-dev/pratique/registry/runs"
	regstate "github.com/pratique-dev/pratique/registry/state"
)

// judges is the word on what was revoked and condemned.
type judges struct {
	mu   sync.Mutex
	why  map[string]string // by name
	head uint64
	err  error
}

func (j *judges) say(name, why string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.why == nil {
		j.why = map[string]string{}
	}
	j.why[name], j.head = why, j.head+1
}

func (j *judges) Head([]string) (uint64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.head, j.err
}

func (j *judges) Of(h runs.Held) (string, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.why[h.Name], j.err
}

// A hearing has the words of the judges, and of what is known in truth: here, of what the
// tools did.
type hearing struct {
	*judges
	known *surface.Withdrawn
}

func (w hearing) Head(origins []string) (uint64, error) {
	n, err := w.judges.Head(origins)
	if err != nil {
		return 0, err
	}
	known, err := w.known.Head(origins)
	return known ^ n<<32, err
}

func (w hearing) Of(h runs.Held) (string, error) {
	if why, err := w.judges.Of(h); why != "" || err != nil {
		return why, err
	}
	return w.known.Of(h)
}

// engines is the inspector under a name that can change.
type engines struct {
	quarantine.Inspector
	name *atomic.Value
}

func (e engines) Engine() string { return e.name.Load().(string) }

// elsewhere is the same server at another place.
type elsewhere struct{ *server }

func (elsewhere) Name() string { return "elsewhere" }
func (elsewhere) Place() Place { return Place{Origin: origin.Must("https://elsewhere.example/mcp")} }

// leaves declares what it returns.
const leaves = `{"name":"leaves","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}`

// A street is a data folder on which several gateways stand, one after the other or
// at once.
type street struct {
	*testing.T
	dir    string
	house  *house // the first: its record is everybody's
	judges judges
	engine atomic.Value
	key    *keyring.Private
	server *server
}

func newStreet(t *testing.T) *street {
	st := &street{T: t, dir: filepath.Join(t.TempDir(), "runs")}
	st.engine.Store("engine/1")
	var err error
	if st.key, err = keyring.NewPrivate(envelope.EdDSA, rand.Reader); err != nil {
		t.Fatal(err)
	}
	st.server = newServer(leaves, tool("stays"), `{"name":"reads","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`)
	st.house = newHouse(t, st.server, policy.Personal, st.tune)
	return st
}

// runs is one more process's store of the runs.
func (st *street) runs() *runs.Store {
	st.Helper()
	s, err := runs.Open(st.dir, runs.Options{Audience: "log", Acts: envelope.NewVerifier(envelope.KeysFunc(func(typ envelope.Type, kid credentials.KeyID) (envelope.Key, error) {
		if typ != envelope.OperatorAct || kid != st.key.Key().ID {
			return envelope.Key{}, envelope.ErrUnknownKey
		}
		return st.key.Key(), nil
	}))})
	if err != nil {
		st.Fatal(err)
	}
	return s
}

// seen is one more process's store of what tools did, and the word on results.
func (st *street) seen(base *baseline.Store) (*observed.Store, hearing) {
	st.Helper()
	seen, err := observed.Open(filepath.Join(filepath.Dir(st.dir), "observed"), observed.Options{})
	if err != nil {
		st.Fatal(err)
	}
	none := func() (*regstate.View, uint64, error) { return regstate.New().Read(), 0, nil }
	return seen, hearing{&st.judges, surface.NewWithdrawn(none, base, seen)}
}

func (st *street) tune(o *Options) {
	seen, said := st.seen(baseline.NewMemory(baseline.Options{}))
	o.Runs, o.Withdrawn, o.Inspector = st.runs(), said, engines{inspect.New(), &st.engine}
	o.Conduct = seen.Place(o.Upstream.Place().Origin.String())
	o.Limits.Grace = 50 * time.Millisecond
	o.Surfaces.Limits = surface.Limits{Freshness: -1}
}

// another is one more gateway on the folder, with the same baselines, agents and
// record.
func (st *street) another(u Upstream, s *server) *house {
	st.Helper()
	first := st.house
	h := &house{t: st, u: s, book: first.book, crew: first.crew, store: first.store, opt: first.opt}
	seen, said := st.seen(baseline.NewMemory(baseline.Options{}))
	h.opt.Upstream, h.opt.Runs, h.opt.Withdrawn, h.opt.Conduct = u, st.runs(), said, seen.Place(u.Place().Origin.String())
	h.opt.Surfaces = Surfaces{Baseline: surface.Store(h.store, u.Place().Origin.String()), Limits: surface.Limits{Freshness: -1}}
	var err error
	if h.gw, err = New(h.opt); err != nil {
		st.Fatal(err)
	}
	st.Cleanup(func() {
		if err := h.gw.Close(context.Background()); err != nil {
			st.Error(err)
		}
	})
	return h
}

func callOf(name string) mcp.Frame { return ask(methodCall, `{"name":"`+name+`","arguments":{}}`) }

// use calls a tool and gives the reason of the refusal, or the id of the result.
func (st *street) use(s *Session, name string) (reasonCode, result string) {
	st.Helper()
	a := s.Handle(ctx, callOf(name), newPerson())
	result, _ = mcp.GetString(a.Result, "_meta", mcp.MetaLabel, "result")
	return reason(a), result
}

// clear signs an act on the agent's run, as `pratique runs clear` does.
func (st *street) clear(run string, results ...string) {
	st.Helper()
	signer, err := envelope.NewSigner(envelope.OperatorAct, st.key)
	if err != nil {
		st.Fatal(err)
	}
	s := st.runs()
	token, err := s.SignClear(signer, run, results, false)
	if err != nil {
		st.Fatal(err)
	}
	if _, err := s.Clear(st.Context(), token); err != nil {
		st.Fatal(err)
	}
}

// The ways in which what a run holds comes to its end.
var causes = map[string]func(st *street, s *Session){
	runs.WhyRevoked:   func(st *street, s *Session) { st.judges.say("leaves", runs.WhyRevoked) },
	runs.WhyCondemned: func(st *street, s *Session) { st.judges.say("leaves", runs.WhyCondemned) },
	runs.WhyViolated: func(st *street, s *Session) {
		st.breaks(s)
		st.judges.say("none", "") // it is withdrawn when somebody looks, not before
	},
	runs.WhyItemGone: func(st *street, s *Session) {
		st.engine.Store("engine/2") // what another engine found clear is not found clear again
		st.server.set(methodTools, st.server.lists[methodTools][1:]...)
		st.server.links[0].sink.Receive(mcp.Note("notifications/tools/list_changed", nil))
		st.until("the list is read", func() bool { return s.complete() != nil && len(s.complete().Entries(gate.Tool)) == 2 })
	},
	runs.WhyLost: func(st *street, s *Session) {
		st.engine.Store("engine/2")
		st.server.mu.Lock()
		st.server.list = func(context.Context, string) error { return fmt.Errorf("%w: down", ErrLost) }
		st.server.mu.Unlock()
		st.server.links[0].sink.Lost(ErrLost)
		st.until("it is given up", func() bool {
			s.g.sweep()
			v, err := s.who.run.Look()
			return err == nil && len(v.Withdrawn()) > 0
		})
		st.server.mu.Lock()
		st.server.list = nil
		st.server.mu.Unlock()
		st.until("it is back", func() bool {
			s.g.sweep()
			v, err := s.who.run.Look()
			return err == nil && len(v.Away()) == 0 && s.complete() != nil
		})
	},
}

// breaks has the tool return what its declaration forbids, which is held.
func (st *street) breaks(s *Session) {
	st.Helper()
	st.server.mu.Lock()
	does(st.server, `{"content":[],"structuredContent":{"n":"three"}}`, func(context.Context, *wire, Exchange) {})
	st.server.mu.Unlock()
	if why, id := st.use(s, "leaves"); why != string(policy.ResultHeld) || id != "" {
		st.Fatalf("what contradicts is not held: %q %s", why, id)
	}
	st.server.mu.Lock()
	st.server.do = nil
	st.server.mu.Unlock()
}

func (st *street) until(what string, f func() bool) {
	st.Helper()
	for end := time.Now().Add(20 * time.Second); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			st.Fatal("never: " + what)
		}
	}
}

// The ways in which an agent goes on.
var returns = map[string]func(st *street, s *Session) *Session{
	"same session": func(st *street, s *Session) *Session { return s },
	"reconnect":    func(st *street, s *Session) *Session { _ = s.Close(); return st.house.shown(newPerson()) },
	"restart": func(st *street, s *Session) *Session {
		if err := st.house.gw.Close(context.Background()); err != nil {
			st.Fatal(err)
		}
		return st.another(st.server, st.server).shown(newPerson())
	},
	"other era": func(st *street, s *Session) *Session {
		u := newServer(st.server.lists[methodTools]...)
		u.rev = mcp.Rev20260728
		return st.another(u, u).shown(newPerson())
	},
	"second process": func(st *street, s *Session) *Session { return st.another(st.server, st.server).shown(newPerson()) },
	"other upstream": func(st *street, s *Session) *Session {
		st.until("the process that saw it has withdrawn it", func() bool {
			v, err := s.who.run.Look()
			return err == nil && (len(v.Withdrawn()) > 0 || len(st.judges.why) > 0)
		})
		u := newServer(st.server.lists[methodTools]...)
		return st.another(elsewhere{u}, u).shown(newPerson())
	},
}

// TestRule09: whatever ends what a run holds, and however the agent comes back, it
// does nothing more out of it, consequential or not; it is told which results are
// meant, and the record says all of it. An operator's act ends that; so does a new
// run. Without a cause nothing of it happens.
func TestRule09(t *testing.T) {
	for cause, happen := range causes {
		for back, again := range returns {
			t.Run(cause+", "+back, func(t *testing.T) {
				t.Parallel()
				st := newStreet(t)
				s := st.house.shown(newPerson())
				why, id := st.use(s, "leaves")
				if why != "" || !strings.HasPrefix(id, "res_") {
					t.Fatal(why, id)
				}
				if why, _ := st.use(s, "stays"); why != "" {
					t.Fatalf("before anything happened: %s", why)
				}
				happen(st, s)
				s = again(st, s)
				executed := len(st.server.did)
				for _, name := range []string{"stays", "reads"} {
					a := s.Handle(ctx, callOf(name), newPerson())
					if reason(a) != string(policy.Withdrawn) || !strings.Contains(string(a.Result), id) {
						t.Errorf("%s: %s", name, a.Bytes())
					}
				}
				if len(st.server.did) != executed || s.g.o.Upstream.Name() == "elsewhere" && s.g.o.Upstream.(elsewhere).executed(methodCall, "*") > 0 {
					t.Error("one of them was executed")
				}
				st.recorded(cause, id, 2)
				st.ends(s, id)
			})
		}
	}
}

// recorded holds the record against what happened.
func (st *street) recorded(cause, id string, refused int) {
	st.Helper()
	of := func(f func(e registry.Entry) bool) []registry.Entry { return st.house.book.of(f) }
	if n := len(of(func(e registry.Entry) bool {
		return e.Reason == string(policy.Withdrawn) && e.Context == "worst" && e.Outcome == registry.OutcomeRefused && e.Invoked == "no" && e.Rule == "context:withdrawn"
	})); n != refused {
		st.Errorf("%d refusals are in the record, want %d", n, refused)
	}
	if n := len(of(func(e registry.Entry) bool {
		return e.Type == registry.EntryWithdraw && e.Reason == cause && e.Name == "leaves" && strings.Contains(e.Detail, id) && e.Run != "" && e.Origin != ""
	})); n != 1 {
		st.Errorf("%d entries say that it was withdrawn: %+v", n, of(func(e registry.Entry) bool { return e.Type == registry.EntryWithdraw }))
	}
	if n := len(of(func(e registry.Entry) bool { return e.Type == registry.EntryOutcome && e.Delivered == id })); n != 1 {
		st.Errorf("%d outcomes name the result", n)
	}
}

// ends clears the run and wants the agent to go on.
func (st *street) ends(s *Session, id string) {
	st.Helper()
	v, err := s.who.run.Look()
	if err != nil {
		st.Fatal(err)
	}
	if open := v.Withdrawn(); len(open) == 0 || !slices.Contains(open[0].Results, id) {
		st.Errorf("%+v", open)
	}
	time.Sleep(2 * time.Millisecond)
	st.clear(s.who.Run)
	if why, _ := st.use(s, "stays"); why != "" {
		st.Errorf("cleared, and refused: %s", why)
	}
	if n := len(st.house.book.of(func(e registry.Entry) bool { return e.Type == registry.EntryClear && e.By == "operator" && e.Act != "" })); n != 1 {
		st.Errorf("%d entries say that it was cleared", n)
	}
}

// TestNewRunIsClean: a new run holds nothing of the one before; ending it is an
// operator's act.
func TestNewRunIsClean(t *testing.T) {
	st := newStreet(t)
	s := st.house.shown(newPerson())
	st.use(s, "leaves")
	st.judges.say("leaves", runs.WhyRevoked)
	if why, _ := st.use(s, "stays"); why != string(policy.Withdrawn) {
		t.Fatal(why)
	}
	if err := st.runs().End(s.who.ID, "operator"); err != nil {
		t.Fatal(err)
	}
	if why, _ := st.use(st.house.shown(newPerson()), "stays"); why != "" {
		t.Errorf("%s", why)
	}
}

// TestAway: a reconnect within the grace withdraws nothing, and neither does what was
// found clear by the same engine with every stage.
func TestAway(t *testing.T) {
	st := newStreet(t)
	st.house.gw.o.Limits.Grace = time.Hour
	s := st.house.shown(newPerson())
	st.use(s, "leaves")
	st.engine.Store("engine/2")
	st.server.links[0].sink.Lost(ErrLost)
	st.until("it is asked again", func() bool {
		st.house.gw.sweep()
		s.residue.mu.Lock()
		defer s.residue.mu.Unlock()
		return !s.residue.doubt && !s.residue.reaching
	})
	if why, _ := st.use(s, "stays"); why != "" {
		t.Errorf("reconnected: %s", why)
	}
	for _, cause := range []string{runs.WhyItemGone, runs.WhyLost} {
		st := newStreet(t)
		s := st.house.shown(newPerson())
		st.engine.Store("engine/2")
		_, id := st.use(s, "leaves")
		if cause == runs.WhyItemGone {
			causes[cause](st, s)
		} else {
			st.server.list = func(context.Context, string) error { return fmt.Errorf("%w: down", ErrLost) }
			st.server.links[0].sink.Lost(ErrLost)
			st.until("it is given up", func() bool { st.house.gw.sweep(); return len(withdrawals(st)) > 0 })
			st.server.list = nil
			st.until("it is back", func() bool { st.house.gw.sweep(); return s.complete() != nil })
		}
		if why, _ := st.use(s, "stays"); why != "" {
			t.Errorf("%s: found clear again, and refused: %s", cause, why)
		}
		if w := withdrawals(st); len(w) != 1 || w[0].Reason != cause || w[0].Detail != "all were found clear again" || strings.Contains(w[0].Detail, id) {
			t.Errorf("%s: %+v", cause, w)
		}
	}
}

func withdrawals(st *street) []registry.Entry {
	return st.house.book.of(func(e registry.Entry) bool { return e.Type == registry.EntryWithdraw })
}

// TestGoneWhileAway: a server that is gone when its agent's process is gone too is
// seen to be gone by whoever comes next, on another upstream of the same run.
func TestGoneWhileAway(t *testing.T) {
	st := newStreet(t)
	s := st.house.shown(newPerson())
	_, id := st.use(s, "leaves")
	st.engine.Store("engine/2")
	_ = s.Close()
	st.server.first = fmt.Errorf("%w: refused", ErrUnreachable)
	who, err := st.house.gw.Admit("first")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.house.gw.Open(ctx, who, mcp.Hello{Revision: st.server.rev}, newPerson(), Via{"stdio"}); !errors.Is(err, ErrUnreachable) {
		t.Fatal(err)
	}
	u := newServer(tool("stays"))
	s = st.another(elsewhere{u}, u).shown(newPerson())
	st.until("the grace is over", func() bool { why, _ := st.use(s, "stays"); return why == string(policy.Withdrawn) })
	if w := withdrawals(st); len(w) != 1 || w[0].Reason != runs.WhyLost || !strings.Contains(w[0].Detail, id) {
		t.Errorf("%+v", w)
	}
}

// green is a street whose tools are Green, and a count of how often every stage was asked.
// clear is what all of them say of "ok".
func green(t *testing.T, clear bool) (*street, *house, *atomic.Int32) {
	t.Helper()
	st, full := newStreet(t), new(atomic.Int32)
	h := *st.house
	h.opt.Inspector = depths{engines{inspect.New(), &st.engine}, full, clear}
	h.opt.Surfaces.Standing = func() labels.Standing { return labels.Attested }
	h.opt.Runs = st.runs()
	var err error
	if h.gw, err = New(h.opt); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.gw.Close(context.Background()) })
	return st, &h, full
}

// TestGreenIsInspectedAgain: results of Green tools, of which only the deterministic
// stages were asked, are kept for a while; when their tool goes away all stages judge
// them.
func TestGreenIsInspectedAgain(t *testing.T) {
	for _, clear := range []bool{true, false} {
		st, h, full := green(t, clear)
		s := h.shown(newPerson())
		if why, _ := st.use(s, "leaves"); why != "" {
			t.Fatal(why)
		}
		before := full.Load()
		st.server.set(methodTools, st.server.lists[methodTools][1:]...)
		st.server.links[len(st.server.links)-1].sink.Receive(mcp.Note("notifications/tools/list_changed", nil))
		st.until("the list is read", func() bool { return s.complete() != nil && len(s.complete().Entries(gate.Tool)) == 2 })
		want := ""
		if !clear {
			want = string(policy.Withdrawn)
		}
		if why, _ := st.use(s, "stays"); why != want || full.Load() == before {
			t.Errorf("clear %v: %q, %d times with every stage", clear, why, full.Load()-before)
		}
	}
}

// TestLargeGreenResults: what is too large to be kept until its tool goes away is
// judged by every stage at once, so that its tool's leaving withdraws nothing.
func TestLargeGreenResults(t *testing.T) {
	for size, want := range map[string]quarantine.Depth{"small": quarantine.Deterministic, "large": quarantine.Full, "large, and not of text": quarantine.Full} {
		text, more := "ok", ""
		switch size {
		case "large":
			text = strings.Repeat("all is well ", 20_000)
		case "large, and not of text":
			more = strings.Repeat(" ", 2*maxQuick)
		}
		st, h, full := green(t, true)
		does(st.server, `{"content":[{"type":"text","text":"ok"},{"type":"text","text":"`+text+`"}]`+more+`}`, func(context.Context, *wire, Exchange) {})
		s := h.shown(newPerson())
		before := full.Load()
		if why, _ := st.use(s, "leaves"); why != "" {
			t.Fatal(size, why)
		}
		if got := full.Load() > before; got != (want == quarantine.Full) {
			t.Errorf("%s: every stage: %v", size, got)
		}
	}
}

// depths finds the answer "ok" suspect with every stage, if it is told to, and clear
// without.
type depths struct {
	engines
	full  *atomic.Int32
	clear bool
}

func (d depths) Inspect(ctx context.Context, b quarantine.Batch) quarantine.Report {
	r := d.engines.Inspect(ctx, b)
	if b.Depth == quarantine.Full && slices.ContainsFunc(b.Specimens, func(s quarantine.Specimen) bool { return s.Text == "ok" }) {
		if d.full.Add(1); !d.clear {
			r.Verdict = quarantine.Suspect
		}
	}
	return r
}

// TestEverythingReadIsHeld: not only results: what is said in messages, errors and
// questions of a call is on record before the agent reads it, and what cannot be
// recorded is not delivered.
func TestEverythingReadIsHeld(t *testing.T) {
	st := newStreet(t)
	own := newPerson()
	st.server.do = func(ctx context.Context, l *wire, x Exchange) (mcp.Frame, error) {
		switch name, _ := mcp.GetString(x.Frame.Params, "name"); name {
		case "leaves":
			return mcp.Fail(x.Frame.ID, -32000, "no such thing", nil), nil
		case "stays":
			x.Receive(mcp.Note("notifications/message", jsontext.Value(`{"level":"info","data":"half done"}`)))
			return mcp.Frame{}, fmt.Errorf("%w: gone", ErrLost)
		}
		return mcp.Answer(x.Frame.ID, jsontext.Value(`{"content":[]}`)), nil
	}
	s := st.house.shown(own)
	held := func(name string) int {
		v, err := s.who.run.Look()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for i, h := range v.Held() {
			if h.Name == name {
				_, others, _ := s.who.run.Results(i, "")
				n += len(others)
			}
		}
		return n
	}
	for _, name := range []string{"leaves", "stays"} {
		s.Handle(ctx, callOf(name), own)
		if held(name) != 1 {
			t.Errorf("%s: %d are held", name, held(name))
		}
	}
	st.server.links[0].sink.Receive(mcp.Note("notifications/message", jsontext.Value(`{"level":"info","data":"by the way"}`)))
	if held("") != 1 {
		t.Errorf("outside of calls: %d", held(""))
	}
	st.judges.say("stays", runs.WhyRevoked)
	if why, _ := st.use(s, "reads"); why != string(policy.Withdrawn) {
		t.Errorf("what was only said in messages is not withdrawn: %q", why)
	}
}

// TestNotRecordedNotDelivered: no record, no result; and what ends while its call is
// open is not delivered either.
func TestNotRecordedNotDelivered(t *testing.T) {
	st := newStreet(t)
	s := st.house.shown(newPerson())
	st.use(s, "stays")
	st.server.do = func(_ context.Context, l *wire, x Exchange) (mcp.Frame, error) {
		if err := st.runs().End(s.who.ID, "operator"); err != nil {
			t.Error(err)
		}
		return mcp.Answer(x.Frame.ID, jsontext.Value(`{"content":[{"type":"text","text":"ok"}]}`)), nil
	}
	if why, id := st.use(s, "stays"); why == "" || id != "" {
		t.Errorf("the run ended meanwhile: %q %q", why, id)
	}
	s = st.house.shown(newPerson())
	st.server.do = func(_ context.Context, l *wire, x Exchange) (mcp.Frame, error) {
		st.judges.say("leaves", runs.WhyRevoked)
		st.house.gw.sweep()
		return mcp.Answer(x.Frame.ID, jsontext.Value(`{"content":[{"type":"text","text":"ok"}]}`)), nil
	}
	st.use(s, "leaves") // its source is held from then on
	if why, _ := st.use(s, "stays"); why != string(policy.Withdrawn) {
		t.Errorf("%q", why)
	}
}

// TestWorstWhenUnknown: where it is not known what counts, the context is at its
// worst (RULES.md 1).
func TestWorstWhenUnknown(t *testing.T) {
	st := newStreet(t)
	s := st.house.shown(newPerson())
	st.use(s, "stays")
	st.judges.mu.Lock()
	st.judges.err = errors.New("the baselines are damaged")
	st.judges.head++
	st.judges.mu.Unlock()
	if why, _ := st.use(s, "stays"); why != string(policy.Withdrawn) {
		t.Errorf("%q", why)
	}
	st.judges.mu.Lock()
	st.judges.err = nil
	st.judges.mu.Unlock()
	if why, _ := st.use(s, "stays"); why != "" {
		t.Errorf("it is known again: %q", why)
	}
}
