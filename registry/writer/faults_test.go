package writer_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/state"
	"github.com/pratique-dev/pratique/registry/store"
	"github.com/pratique-dev/pratique/registry/store/sqlite"
	"github.com/pratique-dev/pratique/registry/writer"
)

// A faultyLog is a real log whose calls can be made to fail, or to lie.
type faultyLog struct {
	*sqlite.Log
	before atomic.Pointer[error]                       // the next Append fails before it persists
	after  atomic.Pointer[error]                       // the next Append persists, then fails
	head   atomic.Pointer[func(store.Head) store.Head] // what Head says instead
	noHead atomic.Pointer[error]
	read   atomic.Pointer[func([][]byte) ([][]byte, error)]
}

func (f *faultyLog) Append(ctx context.Context, prev, next store.Head, b store.Batch) error {
	if e := f.before.Swap(nil); e != nil {
		return fmt.Errorf("%w: %w", store.ErrUnknownOutcome, *e)
	}
	err := f.Log.Append(ctx, prev, next, b)
	if e := f.after.Swap(nil); e != nil && err == nil {
		return fmt.Errorf("%w: %w", store.ErrUnknownOutcome, *e)
	}
	return err
}

func (f *faultyLog) Head(ctx context.Context) (store.Head, error) {
	if e := f.noHead.Load(); e != nil {
		return store.Head{}, *e
	}
	h, err := f.Log.Head(ctx)
	if lie := f.head.Load(); lie != nil {
		h = (*lie)(h)
	}
	return h, err
}

func (f *faultyLog) Read(ctx context.Context, from uint64, max int) ([][]byte, error) {
	es, err := f.Log.Read(ctx, from, max)
	if lie := f.read.Load(); lie != nil && err == nil {
		return (*lie)(es)
	}
	return es, err
}

func TestRetriesGetTheFirstOutcome(t *testing.T) {
	s := newStage(t)
	c := &registry.Replace{CommandMeta: s.owner.meta(), Holder: s.mine(), Base: s.x.Digest, Item: item(t, "pay", "Again.")}
	first := do(t, s.w, c)
	for range 3 { // the base is stale by now, and the retry is no new command
		again := do(t, s.w, c)
		if !again.Replay || again.Index != first.Index || len(again.Events) != len(first.Events) || string(again.Events[0].Data) != string(first.Events[0].Data) {
			t.Fatalf("retry: %+v, first %+v", again, first)
		}
	}
	other := *c
	other.Req[0] ^= 1
	if _, err := s.w.Do(ctx, &other); !errors.Is(err, registry.ErrCommandReused) {
		t.Errorf("the id for another request: %v", err)
	}
	// Another caller with the same id and request is another command.
	theirs := *c
	theirs.Caller, theirs.Holder = registry.UnsafeLocal(s.other.key.ID), registry.Holder{}
	if _, err := s.w.Do(ctx, &theirs); !errors.Is(err, registry.ErrNotOwner) {
		t.Errorf("another caller: %v", err)
	}
	reg := s.other.register(site, item(t, "theirs", "x"))
	reg.ID, reg.Req = c.ID, c.Req
	if out := do(t, s.w, reg); out.Replay || out.Index == first.Index {
		t.Errorf("another caller got %+v", out)
	}
}

// TestUnknownOutcome: an append that failed after it persisted is found and
// acknowledged; one that failed before is answered "unknown", and a retry with
// the same id carries it out once.
func TestUnknownOutcome(t *testing.T) {
	f := &faultyLog{Log: openLog(t, newFolder(t))}
	w := openWriter(t, f)
	p := newParty(t)
	broken := errors.New("the disk is away")
	for i, at := range []*atomic.Pointer[error]{&f.after, &f.before} {
		c := p.register(site, item(t, fmt.Sprint("tool-", i), "x"))
		at.Store(&broken)
		out, err := w.Do(ctx, c)
		persisted := at == &f.after
		if persisted != (err == nil) || !persisted && !errors.Is(err, registry.ErrUnknownOutcome) {
			t.Fatalf("%d: %+v, %v", i, out, err)
		}
		again, err := w.Do(ctx, c)
		if err != nil || again.Replay != persisted || persisted && again.Index != out.Index {
			t.Fatalf("%d: retry %+v, %v", i, again, err)
		}
		if third := do(t, w, c); !third.Replay || third.Index != again.Index {
			t.Errorf("%d: %+v", i, third)
		}
	}
	live := 0
	for range must(w.Barrier(ctx)).AtOrigin(site, "") {
		live++
	}
	if live != 2 {
		t.Errorf("%d tools", live)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	verifyLog(t, f.Log)
}

// verifyLog walks the log; nothing may be wrong with it.
func verifyLog(t testing.TB, l *sqlite.Log, outside ...[]byte) {
	t.Helper()
	r, err := ledger.Verify(ctx, l, ledger.VerifyOptions{Policy: policy(t), Outside: outside})
	if err != nil || !r.OK() {
		t.Fatalf("verify: %v %v", err, r.Problems)
	}
}

func policy(t testing.TB) ledger.Policy {
	t.Helper()
	s, err := checkpoints(t)()
	if err != nil {
		t.Fatal(err)
	}
	return must(ledger.NewPolicy(s.VerifierKeys()...))
}

// TestHeadOutOfReach: no decision without a head, refusals included, and the
// view ends by itself.
func TestHeadOutOfReach(t *testing.T) {
	clock := newClock()
	f := &faultyLog{Log: openLog(t, newFolder(t))}
	w := openWriter(t, f, func(o *writer.Options) { o.Now = clock.now })
	p := newParty(t)
	registered(t, w, p, "pay")
	if err := w.Fresh(); err != nil {
		t.Fatal(err)
	}
	away := errors.New("no answer")
	f.noHead.Store(&away)
	if _, err := w.Do(ctx, newParty(t).register("ftp://x")); !errors.Is(err, registry.ErrUnknownOutcome) && !errors.Is(err, registry.ErrStaleView) {
		t.Errorf("a refusal without a head: %v", err)
	}
	if _, err := w.Barrier(ctx); !errors.Is(err, registry.ErrStaleView) {
		t.Errorf("barrier: %v", err)
	}
	clock.advance(2*time.Second + time.Millisecond)
	if _, err := w.View(); !errors.Is(err, registry.ErrStaleView) {
		t.Errorf("view after 2 s without a head: %v", err)
	}
	f.noHead.Store(nil)
	if _, err := w.Barrier(ctx); err != nil {
		t.Errorf("with the head back: %v", err)
	}
	if err := w.Fresh(); err != nil {
		t.Errorf("with the head back: %v", err)
	}
}

// TestPoison: a log that shrinks, forks, has a hole or holds what is no event
// denies everything, for good.
func TestPoison(t *testing.T) {
	ptr := func(f func(store.Head) store.Head) *func(store.Head) store.Head { return &f }
	read := func(f func([][]byte) ([][]byte, error)) *func([][]byte) ([][]byte, error) { return &f }
	for name, c := range map[string]struct {
		lie   func(*faultyLog)
		grows bool // another process appends first
	}{
		"shrunk":     {lie: func(f *faultyLog) { f.head.Store(ptr(func(h store.Head) store.Head { h.Size--; return h })) }},
		"empty":      {lie: func(f *faultyLog) { f.head.Store(ptr(func(store.Head) store.Head { return store.EmptyHead() })) }},
		"other root": {lie: func(f *faultyLog) { f.head.Store(ptr(func(h store.Head) store.Head { h.Root[3] ^= 1; return h })) }},
		"gap":        {grows: true, lie: func(f *faultyLog) { f.read.Store(read(func([][]byte) ([][]byte, error) { return nil, store.ErrGap })) }},
		"missing":    {grows: true, lie: func(f *faultyLog) { f.read.Store(read(func([][]byte) ([][]byte, error) { return nil, nil })) }},
		"changed":    {grows: true, lie: func(f *faultyLog) { f.read.Store(read(flip)) }},
		"undecodable": {grows: true, lie: func(f *faultyLog) {
			f.read.Store(read(func(es [][]byte) ([][]byte, error) { es[0] = []byte(`{"v":2}`); return es, nil }))
		}},
		"contradiction": {grows: true, lie: func(f *faultyLog) {
			f.read.Store(read(func(es [][]byte) ([][]byte, error) { return append(es[:1:1], es[0]), nil }))
		}},
		"damaged": {lie: func(f *faultyLog) { e := error(store.ErrCorrupt); f.noHead.Store(&e) }},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newFolder(t)
			f := &faultyLog{Log: openLog(t, dir)}
			w := openWriter(t, f)
			p := newParty(t)
			registered(t, w, p, "pay")
			c.lie(f)
			if c.grows {
				registered(t, openWriter(t, openLog(t, dir)), newParty(t), "refund")
			}
			if _, err := w.Barrier(ctx); !errors.Is(err, writer.ErrPoisoned) || !errors.Is(err, registry.ErrStaleView) {
				t.Fatalf("barrier: %v", err)
			}
			f.head.Store(nil)
			f.read.Store(nil)
			f.noHead.Store(nil) // a lie once seen is not forgiven
			if _, err := w.View(); !errors.Is(err, writer.ErrPoisoned) {
				t.Errorf("view: %v", err)
			}
			if _, err := w.Do(ctx, p.register(site, item(t, "more", "x"))); !errors.Is(err, registry.ErrStaleView) {
				t.Errorf("command: %v", err)
			}
			if _, err := w.Barrier(ctx); !errors.Is(err, writer.ErrPoisoned) {
				t.Errorf("barrier later: %v", err)
			}
			w.Close()
			openWriter(t, openLog(t, dir)) // a new start on the sound log clears it
		})
	}
}

func flip(es [][]byte) ([][]byte, error) {
	b := append([]byte{}, es[0]...)
	for i := range b { // a digit of the time: still an event
		if b[i] == '1' {
			b[i] = '2'
			break
		}
	}
	es[0] = b
	return es, nil
}

// TestBeforeRunsBeforePublishing: what reads revoked keys anew has run before
// anybody sees the view that revokes them, and its failure keeps the old view,
// which ends by itself.
func TestBeforeRunsBeforePublishing(t *testing.T) {
	var fails atomic.Bool
	var w *writer.Writer
	early := false
	before := func(v *state.View) error {
		if w != nil {
			if s, err := w.View(); err == nil && s.View == v {
				early = true
			}
		}
		if fails.Load() {
			return errors.New("key files cannot be read")
		}
		return nil
	}
	clock := newClock()
	w = openWriter(t, openLog(t, newFolder(t)), func(o *writer.Options) { o.Before, o.Now = before, clock.now })
	p := newParty(t)
	registered(t, w, p, "pay")
	old := must(w.View())
	fails.Store(true)
	c := p.register(site, item(t, "refund", "x"))
	if _, err := w.Do(ctx, c); !errors.Is(err, registry.ErrUnknownOutcome) {
		t.Errorf("acknowledged without publishing: %v", err)
	}
	if v, err := w.View(); err == nil && v.Head != old.Head {
		t.Error("view was published though its hook failed")
	}
	clock.advance(3 * time.Second)
	if _, err := w.View(); !errors.Is(err, registry.ErrStaleView) {
		t.Errorf("old view goes on: %v", err)
	}
	fails.Store(false)
	if out := do(t, w, c); !out.Replay {
		t.Error("retry was no replay")
	}
	if early {
		t.Error("a view was visible before its hook had run")
	}
}

// TestRevocationWaitsForLaggingViews: a revocation is acknowledged only when
// no process can act on a view before it (several processes on one folder).
func TestRevocationWaitsForLaggingViews(t *testing.T) {
	dir := newFolder(t)
	w := openWriter(t, openLog(t, dir))
	slow := &faultyLog{Log: openLog(t, dir)}
	other := openWriter(t, slow)
	s := &stage{desk: newDesk(t), w: w, owner: newParty(t)}
	s.x = registered(t, w, s.owner, "pay")
	if tool(t, other, s.x.Row.Tool).Gen != 1 {
		t.Fatal("the other process does not follow")
	}
	away := errors.New("cut off")
	slow.noHead.Store(&away) // from here on it sees nothing new, and goes on until its view ends
	do(t, w, &registry.RevokeHandles{CommandMeta: s.owner.meta(), Holder: s.mine()})
	if v, err := other.View(); err == nil {
		if x, err := v.Tool(s.x.Row.Tool); err != nil || x.Gen < 2 {
			t.Error("acknowledged while another process still acts on the view before it")
		}
	}
	slow.noHead.Store(nil)
	// While the other follows, the wait is short: it says so with its lease.
	must(other.Barrier(ctx))
	x := tool(t, w, s.x.Row.Tool)
	do(t, w, &registry.RevokeHandles{CommandMeta: s.owner.meta(), Holder: s.hold(s.owner, claims(x))})
	if v, err := other.View(); err == nil && must(v.Tool(s.x.Row.Tool)).Gen < 3 {
		t.Error("acknowledged before the other view shows it")
	}
}

// TestCloseLeavesNobodyWaiting: whoever asks while the writer closes gets an
// answer.
func TestCloseLeavesNobodyWaiting(t *testing.T) {
	for range 20 {
		w := openWriter(t, openLog(t, newFolder(t)))
		p := newParty(t)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for n := 0; ; n++ {
					_, err := w.Do(ctx, p.register(site, item(t, fmt.Sprintf("t-%d-%d", i, n), "x")))
					if errors.Is(err, writer.ErrClosed) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		time.Sleep(2 * time.Millisecond)
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	}
}
