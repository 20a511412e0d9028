package runs_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry/runs"
)

const other = "https://other.example.test/mcp"

var (
	read = runs.Source{Origin: place, Kind: "tool", Name: "read", Tool: "tool_01J00000000000000000000000", Gen: 1, Ver: 1}
	mail = runs.Source{Origin: other, Kind: "tool", Name: "mail", Tool: "tool_01J00000000000000000000001", Gen: 1, Ver: 1}
)

// people are an operator, a runtime and a stranger, and who knows which is which.
type people struct {
	operator, runtime, stranger *envelope.Signer
	statement                   *envelope.Signer // of the runtime
	strange                     *envelope.Signer // the same, of the stranger
}

var crowd = sync.OnceValues(func() (p people, err error) {
	signer := func(typ envelope.Type, k *keyring.Private) *envelope.Signer {
		s, e := envelope.NewSigner(typ, k)
		err = errors.Join(err, e)
		return s
	}
	var keys [3]*keyring.Private
	for i := range keys {
		k, e := keyring.NewPrivate(envelope.EdDSA, rand.Reader)
		if err = errors.Join(err, e); err != nil {
			return p, err
		}
		keys[i] = k
	}
	p = people{signer(envelope.OperatorAct, keys[0]), signer(envelope.OperatorAct, keys[1]), signer(envelope.OperatorAct, keys[2]),
		signer(envelope.Observation, keys[1]), signer(envelope.Observation, keys[2])}
	return p, err
})

func who(t *testing.T) people {
	t.Helper()
	p, err := crowd()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// only verifies tokens of one key.
func only(s *envelope.Signer, typ envelope.Type) envelope.Verifier {
	return envelope.NewVerifier(envelope.KeysFunc(func(of envelope.Type, kid credentials.KeyID) (envelope.Key, error) {
		if of != typ || kid != s.Key().ID {
			return envelope.Key{}, envelope.ErrUnknownKey
		}
		return s.Key(), nil
	}))
}

// deleted is a runtime's statement.
func deleted(by *envelope.Signer, run string, results []string) (string, error) {
	now := time.Now()
	jti := credentials.TokenID(base64.RawURLEncoding.EncodeToString([]byte(rand.Text()[:16])))
	return by.Sign(&runs.Act{Registered: credentials.NewRegistered(string(by.Key().ID.Principal()), jti, now, runs.ActLife),
		Aud: "https://registry.example.test", Op: runs.OpDeleted, Run: run, Results: results, Until: now.UnixMilli()})
}

func options(t *testing.T) runs.Options {
	p := who(t)
	return runs.Options{Acts: only(p.operator, envelope.OperatorAct), Observers: only(p.statement, envelope.Observation), Audience: "log", Registry: "https://registry.example.test"}
}

func openFor(t *testing.T, dir string) *runs.Store {
	t.Helper()
	s, err := runs.Open(dir, options(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func deliver(t *testing.T, r *runs.Run, src runs.Source, engine string) string {
	t.Helper()
	id := "res_" + ulid.Make().String()
	if err := r.Deliver(t.Context(), src, runs.Result{ID: id, Call: "call_" + ulid.Make().String(), Engine: engine}); err != nil {
		t.Fatal(err)
	}
	return id
}

func context_(t *testing.T, r *runs.Run, origin string) policy.Context {
	t.Helper()
	return look(t, r).Context(origin)
}

func look(t *testing.T, r *runs.Run) *runs.View {
	t.Helper()
	v, err := r.Look()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func index(t *testing.T, r *runs.Run, src runs.Source) int {
	t.Helper()
	for i, s := range look(t, r).Held() {
		if s.Source == src {
			return i
		}
	}
	t.Fatalf("%v is not held", src)
	return 0
}

func end(t *testing.T, r *runs.Run, src runs.Source, why string, clear ...string) runs.Withdrawn {
	t.Helper()
	e := runs.End{Index: index(t, r, src), Why: why, Clear: map[string]bool{}}
	for _, id := range clear {
		e.Clear[id] = true
	}
	var told []runs.Withdrawn
	if err := r.End(t.Context(), []runs.End{e}, func(w runs.Withdrawn) error { told = append(told, w); return nil }); err != nil || len(told) != 1 {
		t.Fatal(told, err)
	}
	return told[0]
}

func record(t *testing.T, r *runs.Run) (told []runs.Cleared) {
	t.Helper()
	if err := r.Record(t.Context(), func(c runs.Cleared) error { told = append(told, c); return nil }); err != nil {
		t.Fatal(err)
	}
	return told
}

// TestContext: what a run has read, seen from an origin, and from every process
// (RULES.md 1, 9).
func TestContext(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	r, again := current(t, openFor(t, dir), alice), current(t, openFor(t, dir), alice)
	expect := func(at string, want policy.Context) {
		t.Helper()
		for _, r := range []*runs.Run{r, again, current(t, openFor(t, dir), alice)} {
			if x := context_(t, r, at); x != want {
				t.Errorf("%v, want %v", x, want)
			}
		}
	}
	expect(place, policy.Clean)
	one := deliver(t, r, read, "")
	expect(place, policy.Own)
	expect(other, policy.Untrusted)
	two := deliver(t, again, read, "")
	deliver(t, again, mail, "")
	expect(place, policy.Untrusted)
	w := end(t, again, read, runs.WhyRevoked)
	if !slices.Equal(w.Results, []string{one, two}) || w.More || w.Why != runs.WhyRevoked {
		t.Errorf("%+v", w)
	}
	expect(place, policy.Worst)
	expect(other, policy.Worst)
	if open := look(t, r).Withdrawn(); len(open) != 1 || !slices.Equal(open[0].Results, w.Results) {
		t.Errorf("%+v", open)
	}
	deliver(t, r, read, "") // it may come back: that is another source, and ends nothing
	expect(place, policy.Worst)
	if x := context_(t, current(t, openFor(t, dir), bob), place); x != policy.Clean {
		t.Errorf("another agent's: %v", x)
	}
	if err := openFor(t, dir).End(alice, "operator"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Look(); !errors.Is(err, runs.ErrEnded) {
		t.Errorf("after the end: %v", err)
	}
	r, again = current(t, openFor(t, dir), alice), current(t, openFor(t, dir), alice)
	expect(place, policy.Clean)
	if left, _ := filepath.Glob(filepath.Join(dir, "*.results")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestClear: only an operator's act or an enrolled runtime's statement takes what
// was withdrawn out of a context, what it names and was withdrawn before it, and
// only once it is on record.
func TestClear(t *testing.T) {
	p := who(t)
	dir := filepath.Join(t.TempDir(), "runs")
	s := openFor(t, dir)
	r := current(t, s, alice)
	one, two := deliver(t, r, read, ""), deliver(t, r, read, "")
	three := deliver(t, r, mail, "")
	sign := func(token string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	take := func(what, token string, want error) {
		t.Helper()
		if _, err := openFor(t, dir).Clear(t.Context(), token); !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	early := sign(s.SignClear(p.operator, r.ID(), nil, false))
	late := sign(s.SignClear(p.operator, r.ID(), nil, false))
	take("nothing is withdrawn", early, runs.ErrNoResult)
	time.Sleep(2 * time.Millisecond) // acts and withdrawals are told apart by their milliseconds
	end(t, r, read, runs.WhyCondemned)
	end(t, r, mail, runs.WhyLost)
	take("an act from before it", late, runs.ErrNoResult)
	take("a stranger's act", sign(s.SignClear(p.stranger, r.ID(), nil, false)), runs.ErrAct)
	take("a runtime's act", sign(s.SignClear(p.runtime, r.ID(), nil, false)), runs.ErrAct)
	take("a stranger's statement", sign(deleted(p.strange, r.ID(), []string{one})), runs.ErrAct)
	take("a statement of everything", sign(deleted(p.statement, r.ID(), nil)), runs.ErrAct)
	take("of another run", sign(s.SignClear(p.operator, "run_01J00000000000000000000000", nil, false)), runs.ErrEnded)
	take("of what is not withdrawn", sign(deleted(p.statement, r.ID(), []string{"res_01J00000000000000000000000"})), runs.ErrNoResult)
	old, err := runs.Open(dir, runs.Options{Now: func() time.Time { return time.Now().Add(-time.Hour) }, Audience: "log"})
	if err != nil {
		t.Fatal(err)
	}
	take("an old act", sign(old.SignClear(p.operator, r.ID(), nil, false)), runs.ErrAct)
	elsewhere, err := runs.Open(dir, runs.Options{Audience: "another log"})
	if err != nil {
		t.Fatal(err)
	}
	take("an act for another folder", sign(elsewhere.SignClear(p.operator, r.ID(), nil, false)), runs.ErrAct)
	if x := context_(t, r, place); x != policy.Worst || len(record(t, r)) != 0 {
		t.Fatal("one of them was taken")
	}

	statement := sign(deleted(p.statement, r.ID(), []string{one, three}))
	take("a statement", statement, nil)
	take("the same again", statement, runs.ErrAct)
	if open := look(t, r).Withdrawn(); len(open) != 2 {
		t.Error("it clears before it is on record")
	}
	failed := errors.New("the log is full")
	if err := r.Record(t.Context(), func(runs.Cleared) error { return failed }); !errors.Is(err, failed) {
		t.Error(err)
	}
	if open := look(t, r).Withdrawn(); len(open) != 2 {
		t.Error("it clears without a record")
	}
	if told := record(t, r); len(told) != 1 || told[0].Op != runs.OpDeleted || told[0].By != p.statement.Key().ID || told[0].Token != statement {
		t.Errorf("%+v", told)
	}
	open := look(t, r).Withdrawn()
	if len(open) != 1 || !slices.Equal(open[0].Results, []string{two}) || context_(t, r, place) != policy.Worst {
		t.Errorf("%+v", open)
	}
	take("everything", sign(s.SignClear(p.operator, r.ID(), nil, true)), nil)
	if told := record(t, r); len(told) != 1 || !told[0].Loose || told[0].Op != runs.OpClear || len(record(t, r)) != 0 {
		t.Errorf("%+v", told)
	}
	if x := context_(t, current(t, openFor(t, dir), alice), place); x != policy.Untrusted {
		t.Errorf("cleared: %v", x)
	}
	time.Sleep(2 * time.Millisecond)
	deliver(t, r, read, "")
	end(t, r, read, runs.WhyRevoked)
	if x := context_(t, r, place); x != policy.Worst {
		t.Errorf("an act clears what was withdrawn after it: %v", x)
	}
	blind, err := runs.Open(dir, runs.Options{Audience: "log"}) // who knows no operator
	if err != nil {
		t.Fatal(err)
	}
	if open := look(t, current(t, blind, alice)).Withdrawn(); len(open) != 3 {
		t.Errorf("acts of nobody clear: %v", open)
	}
}

// TestFoundClear: what is found clear again when an item went away stays; the
// others are withdrawn alone. It needs all ids.
func TestFoundClear(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	r := current(t, openFor(t, dir), alice)
	good, bad := deliver(t, r, read, "engine/1"), deliver(t, r, read, "engine/0")
	clear, others, more := r.Results(index(t, r, read), "engine/1")
	if !clear[good] || len(clear) != 1 || !slices.Equal(others, []string{bad}) || more {
		t.Errorf("%v %v %v", clear, others, more)
	}
	if clear, _, _ := r.Results(index(t, r, read), ""); len(clear) != 0 {
		t.Error("no engine found it clear")
	}
	if w := end(t, r, read, runs.WhyItemGone, good); !slices.Equal(w.Results, []string{bad}) {
		t.Errorf("%+v", w)
	}
	if open := look(t, r).Withdrawn(); len(open) != 1 || !slices.Equal(open[0].Results, []string{bad}) {
		t.Errorf("%+v", open)
	}
	r = current(t, openFor(t, dir), bob)
	good = deliver(t, r, read, "engine/1")
	if w := end(t, r, read, runs.WhyItemGone, good); w.Withdrawn() || context_(t, r, place) != policy.Own {
		t.Errorf("%+v", w)
	}
	good = deliver(t, r, read, "engine/1")
	hurt(t, dir, r.ID(), func(b []byte) []byte { return append(b, 1, 2, 3) })
	if w := end(t, r, read, runs.WhyItemGone, good); !w.More || context_(t, r, place) != policy.Worst {
		t.Errorf("ids may be missing, and nothing is withdrawn: %+v", w)
	}
}

func hurt(t *testing.T, dir, run string, f func([]byte) []byte) {
	t.Helper()
	file := filepath.Join(dir, run+".results")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, f(b), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestLostIDs: whatever becomes of the file of ids, what the run holds results of
// is known, and no list of ids ends it where there may be others.
func TestLostIDs(t *testing.T) {
	p := who(t)
	for name, f := range map[string]func(t *testing.T, dir, run string){
		"torn":    func(t *testing.T, dir, run string) { hurt(t, dir, run, func(b []byte) []byte { return b[:len(b)-7] }) },
		"changed": func(t *testing.T, dir, run string) { hurt(t, dir, run, func(b []byte) []byte { b[70] ^= 1; return b }) },
		"a directory": func(t *testing.T, dir, run string) {
			file := filepath.Join(dir, run+".results")
			if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
				t.Fatal(err)
			}
		},
		"empty": func(t *testing.T, dir, run string) { hurt(t, dir, run, func(b []byte) []byte { return nil }) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "runs")
			s := openFor(t, dir)
			r := current(t, s, alice)
			one := deliver(t, r, read, "")
			deliver(t, r, read, "")
			f(t, dir, r.ID())
			s = openFor(t, dir)
			r = current(t, s, alice)
			end(t, r, read, runs.WhyRevoked)
			if x := context_(t, r, place); x != policy.Worst {
				t.Fatal(x)
			}
			token, err := deleted(p.statement, r.ID(), []string{one})
			if err != nil {
				t.Fatal(err)
			}
			s.Clear(t.Context(), token) // where the id is still known
			record(t, r)
			if x := context_(t, r, place); x != policy.Worst {
				t.Errorf("one of two ids is known, and it ends with it: %v", x)
			}
			if token, err = s.SignClear(p.operator, r.ID(), nil, false); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Clear(t.Context(), token); err != nil {
				t.Fatal(err)
			}
			if record(t, r); context_(t, r, place) == policy.Worst {
				t.Error("an operator cannot clear it")
			}
		})
	}
}

// TestTooManySources: what goes over the bound is not forgotten.
func TestTooManySources(t *testing.T) {
	r := current(t, runs.NewMemory(runs.Options{}), alice)
	if err := r.Fill(read, runs.MaxSources-1); err != nil {
		t.Fatal(err)
	}
	deliver(t, r, read, "")
	last := read
	last.Ver = runs.MaxSources
	if deliver(t, r, last, ""); context_(t, r, place) != policy.Own {
		t.Fatal(context_(t, r, place))
	}
	last.Ver++
	if deliver(t, r, last, ""); context_(t, r, place) != policy.Worst {
		t.Fatal(context_(t, r, place))
	}
	deliver(t, r, last, "")
}

// TestLaunchIsPublished: the run of a launch has a file from its first withdrawal on,
// which an operator's act in another process reaches, and none when its process is
// gone.
func TestLaunchIsPublished(t *testing.T) {
	p := who(t)
	dir := filepath.Join(t.TempDir(), "runs")
	s, outside := openFor(t, dir), openFor(t, dir)
	r, err := s.Launch("personal")
	if err != nil {
		t.Fatal(err)
	}
	one := deliver(t, r, read, "")
	if all, err := outside.All(); err != nil || len(all) != 0 {
		t.Fatal(all, err)
	}
	end(t, r, read, runs.WhyLost)
	two := deliver(t, r, read, "")
	runtime.GC() // the process says that it lives as long as it does
	runtime.GC()
	all, err := outside.All()
	if err != nil || len(all) != 1 || all[0].ID() != r.ID() {
		t.Fatal(all, err)
	}
	if open := look(t, all[0]).Withdrawn(); len(open) != 1 || !slices.Equal(open[0].Results, []string{one}) || open[0].More {
		t.Errorf("%+v", open)
	}
	token, err := outside.SignClear(p.operator, r.ID(), []string{one}, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := outside.Clear(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	if record(t, r); context_(t, r, place) != policy.Own {
		t.Error("not cleared")
	}
	if end(t, r, read, runs.WhyRevoked); context_(t, all[0], place) != policy.Worst {
		t.Error("what it withdraws is not seen outside")
	}
	if open := look(t, all[0]).Withdrawn(); len(open) != 1 || !slices.Equal(open[0].Results, []string{two}) {
		t.Errorf("%+v", open)
	}
	if all, _ := openFor(t, dir).All(); len(all) != 1 {
		t.Error("it lives, and was swept away")
	}
	r.Die()
	left := func() (names []string) {
		for _, suffix := range []string{".launch", ".results"} {
			m, _ := filepath.Glob(filepath.Join(dir, "*"+suffix))
			names = append(names, m...)
		}
		return names
	}
	if all, err := openFor(t, dir).All(); err != nil || len(all) != 0 || len(left()) != 0 {
		t.Errorf("its process is gone: %v %v %v", all, err, left())
	}
	s = openFor(t, dir)
	if r, err = s.Launch("personal"); err != nil {
		t.Fatal(err)
	}
	deliver(t, r, read, "")
	end(t, r, read, runs.WhyLost)
	if err := s.Close(); err != nil || len(left()) != 0 {
		t.Errorf("it ended in order: %v %v", err, left())
	}
}

// TestResultsOfManyProcesses: processes lose nothing of each other's.
func TestResultsOfManyProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	var all sync.WaitGroup
	var mu sync.Mutex
	var want []string
	for i := range 4 {
		s := openFor(t, dir)
		all.Go(func() {
			r, _, err := s.Current(alice, "personal")
			for j := 0; j < 50 && err == nil; j++ {
				src := read
				src.Ver = uint64(1 + j%3)
				id := "res_" + ulid.Make().String()
				if err = r.Deliver(context.Background(), src, runs.Result{ID: id}); err == nil && src.Ver == 1 {
					mu.Lock()
					want = append(want, id)
					mu.Unlock()
				}
			}
			if err != nil {
				t.Error(i, err)
			}
		})
	}
	all.Wait()
	r := current(t, openFor(t, dir), alice)
	if held := look(t, r).Held(); len(held) != 3 {
		t.Errorf("%v", held)
	}
	w := end(t, r, read, runs.WhyRevoked)
	slices.Sort(want)
	slices.Sort(w.Results)
	if !slices.Equal(w.Results, want) || w.More {
		t.Errorf("%d of %d, more %v", len(w.Results), len(want), w.More)
	}
}

// TestLate: what a source returned after it ended is not delivered.
func TestLate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	elsewhere := current(t, openFor(t, dir), alice)
	between := func() {}
	s, err := runs.Open(dir, runs.Options{Now: func() time.Time { between(); return time.Now() }})
	if err != nil {
		t.Fatal(err)
	}
	r := current(t, s, alice)
	deliver(t, r, read, "")
	between = func() { // asked for between the first look and the last
		between = func() {}
		end(t, elsewhere, read, runs.WhyRevoked)
	}
	err = r.Deliver(t.Context(), read, runs.Result{ID: "res_" + ulid.Make().String()})
	if !errors.Is(err, runs.ErrWithdrawn) {
		t.Errorf("%v", err)
	}
}

// TestLostAndBack: since when an upstream is away outlives processes.
func TestLostAndBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	r := current(t, openFor(t, dir), alice)
	away := func() map[string]int64 {
		t.Helper()
		return look(t, current(t, openFor(t, dir), alice)).Away()
	}
	if err := r.Lost(t.Context(), place, false); err != nil || len(away()) != 0 {
		t.Errorf("the run holds nothing of it: %v %v", away(), err)
	}
	deliver(t, r, read, "")
	if err := r.Lost(t.Context(), place, false); err != nil || away()[place] == 0 {
		t.Errorf("%v %v", away(), err)
	}
	since := away()[place]
	time.Sleep(2 * time.Millisecond)
	if err := r.Lost(t.Context(), place, false); err != nil || away()[place] != since {
		t.Errorf("it began anew: %v", err)
	}
	if err := r.Lost(t.Context(), place, true); err != nil || len(away()) != 0 {
		t.Errorf("%v %v", away(), err)
	}
}

// More withdrawn content never permits more: over random histories, ending a source
// never betters the context, and only acts better it (RULES.md 9, 30).
func TestMoreWithdrawnNeverPermitsMore(t *testing.T) {
	p := who(t)
	s := openFor(t, filepath.Join(t.TempDir(), "runs"))
	src := func(n int) runs.Source {
		x := []runs.Source{read, mail}[n%2]
		x.Ver = uint64(1 + n/2%3)
		return x
	}
	r := current(t, s, alice)
	for n := range 150 {
		before := context_(t, r, place)
		act := (n*n*7 + n*3) % 11
		switch {
		case act == 0:
			token, err := s.SignClear(p.operator, r.ID(), nil, false)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Clear(t.Context(), token); err != nil && !errors.Is(err, runs.ErrNoResult) {
				t.Fatal(err)
			}
			record(t, r)
			continue
		case act < 3:
			held := look(t, r).Held()
			for i := range held {
				if err := r.End(t.Context(), []runs.End{{Index: i, Why: runs.WhyRevoked}}, func(runs.Withdrawn) error { return nil }); err != nil {
					t.Fatal(err)
				}
				if context_(t, r, place) != policy.Worst {
					t.Fatalf("step %d: %v is withdrawn, and the context %v", n, held[i], context_(t, r, place))
				}
				break
			}
		default:
			deliver(t, r, src(n), "")
		}
		if after := context_(t, r, place); after > before {
			t.Fatalf("step %d, act %d: from %v to %v", n, act, before, after)
		}
	}
}

func BenchmarkDeliver(b *testing.B) {
	s, err := runs.Open(filepath.Join(b.TempDir(), "runs"), runs.Options{})
	if err != nil {
		b.Fatal(err)
	}
	r, _, err := s.Current(alice, "personal")
	if err != nil {
		b.Fatal(err)
	}
	id := "res_" + ulid.Make().String()
	time.Sleep(200 * time.Millisecond)
	if err := r.Deliver(context.Background(), read, runs.Result{ID: id}); err != nil {
		b.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Deliver(context.Background(), read, runs.Result{ID: id}); err != nil {
			b.Fatal(err)
		}
	}
}
