package decisions_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/decisions"
	"github.com/pratique-dev/pratique/registry/spool"
	"github.com/pratique-dev/pratique/registry/vault"
)

func TestCallIsTwoEntries(t *testing.T) {
	data := t.TempDir()
	l := open(t, data, options())
	a := call(t, l, runs(1), true)
	e := decision(runs(2))
	e.Outcome, e.Verb, e.Invoked = registry.OutcomeRefused, "deny", "no"
	refused, err := l.Decided(ctx, e, []byte(`{}`), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Finished(refused, &registry.Entry{}, nil); !errors.Is(err, decisions.ErrTicket) {
		t.Errorf("outcome of a refusal: %v", err)
	}
	if err := l.Finished(a, &registry.Entry{}, nil); !errors.Is(err, decisions.ErrTicket) {
		t.Errorf("a second outcome: %v", err)
	}
	if err := l.Finished(decisions.Ticket{}, &registry.Entry{}, nil); !errors.Is(err, decisions.ErrTicket) {
		t.Errorf("outcome of nothing: %v", err)
	}
	if err := l.Note(&registry.Entry{Type: registry.EntryDropped, Run: runs(1), Detail: "an orphan"}); err != nil {
		t.Fatal(err)
	}
	rs := all(t, data, decisions.Query{})
	if len(rs) != 4 {
		t.Fatalf("%d entries", len(rs))
	}
	want := []struct {
		typ     registry.EntryType
		n, last uint64
	}{{registry.EntryDecision, 1, 0}, {registry.EntryOutcome, 2, 1}, {registry.EntryDecision, 1, 0}, {registry.EntryDropped, 3, 2}}
	for i, w := range want {
		if e := rs[i].Entry; e.Type != w.typ || e.N != w.n || e.Last != w.last || rs[i].Index != uint64(i) || e.V != 1 || e.At == 0 {
			t.Errorf("entry %d: %+v", i, e)
		}
	}
	if rs[0].Entry.Call != a.Call() || rs[1].Entry.Call != a.Call() || rs[0].Entry.Args.IsZero() || rs[1].Entry.Result.IsZero() || rs[1].Entry.Run != runs(1) {
		t.Errorf("a call's two entries: %+v %+v", rs[0].Entry, rs[1].Entry)
	}
	if got := all(t, data, decisions.Query{Run: runs(2)}); len(got) != 1 {
		t.Errorf("by run: %d", len(got))
	}
	if got := all(t, data, decisions.Query{Call: a.Call()}); len(got) != 2 {
		t.Errorf("by call: %d", len(got))
	}
	if got, _ := decisions.Last(data, decisions.Query{}, 2); len(got) != 2 || got[1].Index != 3 {
		t.Errorf("last two: %+v", got)
	}
	clean(t, data)
}

// TestNoValueInTheLog: RULES.md 29: values stand in no entry and in no file in
// the open; equal values have different digests; erased, they are gone.
func TestNoValueInTheLog(t *testing.T) {
	data := t.TempDir()
	l := open(t, data, options())
	secret := []byte(`{"token":"hunter2-hunter2"}`)
	for range 2 {
		k, err := l.Decided(ctx, decision(runs(1)), secret, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Finished(k, &registry.Entry{Outcome: registry.OutcomeReturned}, secret); err != nil {
			t.Fatal(err)
		}
	}
	filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			t.Error(err)
			return err
		}
		st, _ := d.Info()
		if st.Mode().Perm()&0o077 != 0 && path != data && !strings.HasSuffix(path, ".tmp") {
			t.Errorf("%s: %v", path, st.Mode())
		}
		if b, _ := os.ReadFile(path); bytes.Contains(b, []byte("hunter2")) {
			t.Errorf("%s has the value", path)
		}
		return nil
	})
	rs := all(t, data, decisions.Query{})
	if rs[0].Entry.Args == rs[2].Entry.Args || rs[1].Entry.Result == rs[3].Entry.Result || rs[0].Entry.Args == rs[1].Entry.Result {
		t.Error("equal values have equal digests")
	}
	if b, err := decisions.ArgsOf(data, &rs[0]); err != nil || !bytes.Equal(b, secret) {
		t.Errorf("arguments: %q, %v", b, err)
	}
	forged := rs[0]
	forged.Entry.Args = rs[2].Entry.Args
	if _, err := decisions.ArgsOf(data, &forged); !errors.Is(err, vault.ErrDamaged) || !errors.Is(err, decisions.ErrReplay) {
		t.Errorf("another digest: %v", err)
	}
	if err := decisions.Erase(data, &rs[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := decisions.ArgsOf(data, &rs[0]); !errors.Is(err, vault.ErrErased) {
		t.Errorf("erased: %v", err)
	}
	if _, err := decisions.ArgsOf(data, &rs[2]); err != nil {
		t.Errorf("another call's: %v", err)
	}
	big, err := l.Decided(ctx, decision(runs(1)), make([]byte, vault.MaxValue+1), false)
	if err != nil {
		t.Fatal(err)
	}
	r := all(t, data, decisions.Query{Call: big.Call()})[0]
	if _, err := decisions.ArgsOf(data, &r); !errors.Is(err, vault.ErrLarge) {
		t.Errorf("too large: %v", err)
	}
	if err := l.KeepPolicy(credentials.Digest{1}, []byte("rules")); err != nil {
		t.Fatal(err)
	}
	if b, err := decisions.PolicyOf(data, credentials.Digest{1}); err != nil || string(b) != "rules" {
		t.Errorf("policy: %q, %v", b, err)
	}
	if _, err := decisions.PolicyOf(data, credentials.Digest{2}); !errors.Is(err, decisions.ErrReplay) {
		t.Errorf("no policy: %v", err)
	}
}

// TestAdoption: a process that ends with open calls leaves them; the next one
// that starts says that they are lost, in the same spool.
func TestAdoption(t *testing.T) {
	data := t.TempDir()
	l := open(t, data, options())
	name := l.Spool()
	call(t, l, runs(1), false)
	var open3 []string
	for range 3 {
		k, err := l.Decided(ctx, decision(runs(1)), nil, false)
		if err != nil {
			t.Fatal(err)
		}
		open3 = append(open3, k.Call())
	}
	l.Close()
	l = open(t, data, options())
	if l.Spool() != name || l.Run(runs(1)) != 8 || l.Open() != 0 {
		t.Errorf("continued %s with %d entries of the run, %d open", l.Spool(), l.Run(runs(1)), l.Open())
	}
	call(t, l, runs(1), false)
	rs := all(t, data, decisions.Query{})
	if n := count(rs, lost); n != 3 {
		t.Fatalf("%d lost", n)
	}
	for i, r := range rs[6:9] {
		if r.Entry.Call != open3[i] || r.Entry.Run != runs(1) || r.Entry.Invoked != "unknown" {
			t.Errorf("lost: %+v", r.Entry)
		}
	}
	if rs[5].Entry.Type != registry.EntryRecover {
		t.Errorf("adoption: %+v", rs[5].Entry)
	}
	clean(t, data)
	l.Close()
	for range 3 { // untouched over restarts: nothing is added
		open(t, data, options()).Close()
	}
	if r := clean(t, data); r.Entries() != uint64(len(rs)) || r.Torn() {
		t.Errorf("%d entries after restarts, want %d", r.Entries(), len(rs))
	}
}

// TestOwnSpools: processes at the same time have spools of their own, and read
// as one log in the order of times.
func TestOwnSpools(t *testing.T) {
	data := t.TempDir()
	o := options()
	var ls []*decisions.Log
	for range 3 {
		ls = append(ls, open(t, data, o)) // one clock for all
	}
	for i := range 30 {
		call(t, ls[i%3], runs(i%3), false)
	}
	rs := all(t, data, decisions.Query{})
	if len(rs) != 60 {
		t.Fatalf("%d entries", len(rs))
	}
	for i := 1; i < len(rs); i++ {
		if rs[i].Entry.At < rs[i-1].Entry.At {
			t.Fatalf("entry %d is out of order", i)
		}
	}
	r := clean(t, data)
	if len(r.Spools) != 3 || !r.Spools[0].Live {
		t.Errorf("%+v", r.Spools)
	}
	// Two of them die; the third lives on. The next process adopts both and
	// continues one.
	if _, err := ls[0].Decided(ctx, decision(runs(0)), nil, false); err != nil {
		t.Fatal(err)
	}
	if _, err := ls[1].Decided(ctx, decision(runs(1)), nil, false); err != nil {
		t.Fatal(err)
	}
	ls[0].Close()
	ls[1].Close()
	l := open(t, data, o)
	if l.Spool() != ls[0].Spool() {
		t.Errorf("continued %s", l.Spool())
	}
	if n := count(all(t, data, decisions.Query{}), lost); n != 2 {
		t.Errorf("%d lost", n)
	}
	clean(t, data)
}

// TestDenies: whatever fails, the caller gets an error, and a log that failed
// once stays shut.
func TestDenies(t *testing.T) {
	fail := errors.New("")
	for name, c := range map[string]struct {
		want error
		set  func(o *decisions.Options, on *bool)
	}{
		"disk full": {decisions.ErrStopped, func(o *decisions.Options, on *bool) {
			o.WriteAt = func(f *os.File, b []byte, off int64) (int, error) {
				if *on {
					return 0, syscall.ENOSPC
				}
				return f.WriteAt(b, off)
			}
		}},
		"sync error": {decisions.ErrStopped, func(o *decisions.Options, on *bool) {
			o.Sync = func(*os.File) error {
				if *on {
					return fail
				}
				return nil
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			data, o, on := t.TempDir(), options(), false
			c.set(&o, &on)
			l := open(t, data, o)
			call(t, l, runs(1), true)
			on = true
			for range 3 {
				if _, err := l.Decided(ctx, decision(runs(1)), nil, true); !errors.Is(err, c.want) {
					t.Errorf("got %v", err)
				}
				on = false // and it stays so
			}
			if l.Err() == nil || !errors.Is(l.Note(&registry.Entry{Type: registry.EntryDropped}), c.want) {
				t.Errorf("it goes on: %v", l.Err())
			}
			l.Close()
			l = open(t, data, options())
			call(t, l, runs(1), true)
			clean(t, data)
		})
	}
	data := t.TempDir()
	l := open(t, data, options())
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := l.Decided(done, decision(runs(1)), nil, true); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for _, e := range []*registry.Entry{{}, {Run: "r", Call: "x"}} {
		if _, err := l.Decided(ctx, e, nil, true); !errors.Is(err, decisions.ErrEntry) {
			t.Errorf("%+v: %v", e, err)
		}
	}
	for _, typ := range []registry.EntryType{"", registry.EntryDecision, registry.EntryOutcome} {
		if err := l.Note(&registry.Entry{Type: typ}); !errors.Is(err, decisions.ErrEntry) {
			t.Errorf("note of type %q: %v", typ, err)
		}
	}
	if err := l.Note(&registry.Entry{Type: registry.EntryLaunch, Act: strings.Repeat("x", 70_000)}); !errors.Is(err, decisions.ErrEntry) {
		t.Errorf("too large: %v", err)
	}
	l.Close()
	if _, err := l.Decided(ctx, decision(runs(1)), nil, false); err == nil {
		t.Error("a closed log lets calls through")
	}
}

// TestQuota: a log that is full refuses calls while there is still room for the
// outcomes of those that were let through.
func TestQuota(t *testing.T) {
	data, o := t.TempDir(), options()
	o.Quota = 2 * segment
	l := open(t, data, o)
	var open []decisions.Ticket
	var err error
	for len(open) < 2000 {
		var k decisions.Ticket
		if k, err = l.Decided(ctx, decision(runs(1)), nil, false); err != nil {
			break
		}
		open = append(open, k)
	}
	if !errors.Is(err, decisions.ErrFull) || len(open) < 20 {
		t.Fatalf("after %d: %v", len(open), err)
	}
	for _, k := range open {
		if err := l.Finished(k, &registry.Entry{Outcome: registry.OutcomeReturned, Detail: strings.Repeat("x", 900)}, []byte("r")); err != nil {
			t.Fatal(err)
		}
	}
	o = options()
	o.Open = 2
	l = open2(t, t.TempDir(), o)
	for range 2 {
		if _, err := l.Decided(ctx, decision(runs(1)), nil, false); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Decided(ctx, decision(runs(1)), nil, false); !errors.Is(err, decisions.ErrMany) {
		t.Errorf("too many at once: %v", err)
	}
}

func open2(t *testing.T, data string, o decisions.Options) *decisions.Log { return open(t, data, o) }

// TestNamesAreCut: what others chose is bounded and valid text.
func TestNamesAreCut(t *testing.T) {
	data := t.TempDir()
	l := open(t, data, options())
	e := decision(runs(1))
	e.Name = strings.Repeat("é", 300) + "\xff"
	e.Detail = "bad \xff byte"
	if _, err := l.Decided(ctx, e, nil, false); err != nil {
		t.Fatal(err)
	}
	got := all(t, data, decisions.Query{})[0].Entry
	if got.Name != strings.Repeat("é", 128) || got.Detail != "bad \uFFFD byte" {
		t.Errorf("%q %q", got.Name, got.Detail)
	}
}

// TestFirstStartsAtOnce: they agree on the keys.
func TestFirstStartsAtOnce(t *testing.T) {
	data := t.TempDir()
	o := options()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			l, err := decisions.Open(data, o)
			if err != nil {
				t.Error(err)
				return
			}
			defer l.Close()
			call(t, l, runs(1), false)
		})
	}
	all.Wait()
	if r := clean(t, data); r.Entries() != 16 {
		t.Errorf("%d entries", r.Entries())
	}
}

// TestStartsAndEndsAtOnce: processes that come and go take over one another's spools,
// and none takes what another added for damage.
func TestStartsAndEndsAtOnce(t *testing.T) {
	const processes, starts = 8, 20
	data := t.TempDir()
	o := options()
	var all sync.WaitGroup
	for range processes {
		all.Go(func() {
			for range starts {
				l, err := decisions.Open(data, o)
				if err != nil {
					t.Error(err)
					return
				}
				call(t, l, runs(1), false)
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if r := clean(t, data); r.Entries() != 2*processes*starts {
		t.Errorf("%d entries", r.Entries())
	}
}

// TestKeysAreNeverDrawnAnew: a folder whose keys are gone does not start, and is
// not verified as good.
func TestKeysAreNeverDrawnAnew(t *testing.T) {
	for _, name := range []string{"spool.key", "vault.key"} {
		data := t.TempDir()
		l := open(t, data, options())
		call(t, l, runs(1), false)
		l.Close()
		path := filepath.Join(data, "keys", "decisions", name)
		b, _ := os.ReadFile(path)
		os.Remove(path)
		if _, err := decisions.Open(data, options()); !errors.Is(err, decisions.ErrKeys) {
			t.Errorf("without %s: %v", name, err)
		}
		if r := verify(t, data); len(r.Problems) != 1 || r.Problems[0].Kind != decisions.KindKeys {
			t.Errorf("without %s: %+v", name, r.Problems)
		}
		os.WriteFile(path, b[:31], 0o600)
		if _, err := decisions.Open(data, options()); !errors.Is(err, decisions.ErrKeys) {
			t.Errorf("half of %s: %v", name, err)
		}
		os.WriteFile(path, b, 0o600)
		open(t, data, options()).Close()
	}
}

// TestAnchors: RULES.md 28: a spool that is shorter than, differs from or is
// missing against what the registry's log says of it stops the start, by name.
func TestAnchors(t *testing.T) {
	data := t.TempDir()
	l := open(t, data, options())
	for range 5 {
		call(t, l, runs(1), false)
	}
	at, err := l.Anchor()
	if err != nil || at.Size != 10 || at.Spool != l.Spool() {
		t.Fatalf("%+v, %v", at, err)
	}
	path := segments(t, data, l.Spool())[0]
	short, _ := os.ReadFile(path)
	call(t, l, runs(1), false)
	later, _ := l.Anchor()
	l.Close()
	clean(t, data, at)
	clean(t, data, later)
	o := options()
	for name, a := range map[string]decisions.Anchor{
		"longer":        {Spool: at.Spool, Size: 13, Root: at.Root, Chain: at.Chain},
		"another chain": {Spool: at.Spool, Size: 10, Root: at.Root, Chain: later.Chain},
		"another root":  {Spool: at.Spool, Size: 10, Root: later.Root, Chain: at.Chain},
		"gone":          {Spool: "spool_01JDZ0000000000000000000ZZ", Size: 1},
	} {
		o.Anchors = []decisions.Anchor{a}
		if _, err := decisions.Open(data, o); !errors.Is(err, decisions.ErrAnchor) || !strings.Contains(err.Error(), a.Spool) {
			t.Errorf("%s: %v", name, err)
		}
		if r := verify(t, data, a); len(r.Problems) == 0 || r.Problems[0].Kind != decisions.KindAnchor || r.Problems[0].Spool != a.Spool {
			t.Errorf("%s: %+v", name, r.Problems)
		}
	}
	// Whole entries cut off the end, which no chain shows: the anchor does, and so
	// does the mark that an orderly end left.
	os.WriteFile(path, short, 0o600)
	if _, err := decisions.Open(data, options()); !errors.Is(err, decisions.ErrAnchor) {
		t.Errorf("shorter than it was left: %v", err)
	}
	os.Remove(filepath.Join(data, "decisions", at.Spool, "left"))
	o.Anchors = []decisions.Anchor{later}
	if _, err := decisions.Open(data, o); !errors.Is(err, decisions.ErrAnchor) {
		t.Errorf("shorter than its anchor: %v", err)
	}
	o.Anchors = []decisions.Anchor{at}
	open(t, data, o)
}

// TestWithheldEntryShows: a run's counts go on from each other.
func TestWithheldEntryShows(t *testing.T) {
	data := t.TempDir()
	l := open(t, data, options())
	name := l.Spool()
	l.Close()
	key, _ := os.ReadFile(filepath.Join(data, "keys", "decisions", "spool.key"))
	os.Remove(filepath.Join(data, "decisions", name, "left"))
	// Whoever has the key can write anything; what a run's entries say of each
	// other must still fit.
	s, err := spool.Open(filepath.Join(data, "decisions", name), spool.Options{Key: key, Segment: segment})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []string{
		`{"v":1,"type":"call.decided","at":1,"run":"r","n":1,"call":"call_1"}`,
		`{"v":1,"type":"call.finished","at":2,"run":"r","n":3,"last":1,"call":"call_1"}`,
		`{"v":2}`, `{"v":1,"v":1}`, `no entry`,
	} {
		if _, err := s.Append([]byte(r)); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	r := verify(t, data)
	var kinds []string
	for _, p := range r.Problems {
		kinds = append(kinds, p.Kind)
	}
	if strings.Join(kinds, " ") != "count entry entry entry" || r.Problems[0].Index != 1 {
		t.Errorf("%+v", r.Problems)
	}
	if _, err := decisions.Open(data, options()); err == nil {
		t.Error("it starts on top")
	}
}

// TestFollow: entries of all processes come as they are written.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		data := t.TempDir()
		a := open(t, data, options())
		call(t, a, runs(1), false)
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan decisions.Record, 100)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for r, err := range decisions.Follow(ctx, data, decisions.Query{}, time.Second) {
				if err != nil {
					t.Error(err)
				}
				got <- r
			}
		}()
		synctest.Wait()
		call(t, a, runs(1), false)
		b := open(t, data, options())
		call(t, b, runs(2), false)
		time.Sleep(time.Second)
		synctest.Wait()
		if len(got) != 4 {
			t.Errorf("%d records, want 4", len(got))
		}
		cancel()
		<-ended
		a.Close()
		b.Close()
	})
}

// TestReadEqualsLive: what is read back is what was written, whatever the
// interleaving of runs, outcomes, notes and restarts.
func TestReadEqualsLive(t *testing.T) {
	for round := range 8 {
		rnd := rand.New(rand.NewPCG(uint64(round), 2))
		data, o := t.TempDir(), options()
		l := open(t, data, o)
		var open3 []decisions.Ticket
		perRun, total := map[string]uint64{}, 0
		add := func(run string) { perRun[run]++; total++ }
		owner := map[string]string{}
		for range 200 {
			run := runs(rnd.IntN(4))
			switch rnd.IntN(10) {
			case 0:
				if err := l.Note(&registry.Entry{Type: registry.EntrySurface, Run: run}); err != nil {
					t.Fatal(err)
				}
				add(run)
			case 1, 2, 3:
				if len(open3) > 0 {
					i := rnd.IntN(len(open3))
					if err := l.Finished(open3[i], &registry.Entry{Outcome: registry.OutcomeReturned}, nil); err != nil {
						t.Fatal(err)
					}
					add(owner[open3[i].Call()])
					open3 = append(open3[:i], open3[i+1:]...)
				}
			case 4:
				if rnd.IntN(5) > 0 {
					continue
				}
				l.Close()
				if len(open3) > 0 {
					add("")
				}
				for _, k := range open3 {
					add(owner[k.Call()])
				}
				open3 = nil
				l = open(t, data, o)
			default:
				k, err := l.Decided(ctx, decision(run), nil, rnd.IntN(4) == 0)
				if err != nil {
					t.Fatal(err)
				}
				owner[k.Call()] = run
				open3 = append(open3, k)
				add(run)
			}
		}
		if l.Open() != len(open3) {
			t.Fatalf("round %d: %d open, want %d", round, l.Open(), len(open3))
		}
		seen := map[string]uint64{}
		rs := all(t, data, decisions.Query{})
		for _, r := range rs {
			seen[r.Entry.Run]++
		}
		for run, n := range perRun {
			if seen[run] != n || l.Run(run) != n {
				t.Fatalf("round %d: run %q: %d read, %d by the log, %d written", round, run, seen[run], l.Run(run), n)
			}
		}
		if rep := clean(t, data); len(rs) != total || rep.Entries() != uint64(total) {
			t.Fatalf("round %d: %d entries of %d", round, len(rs), total)
		}
	}
}
