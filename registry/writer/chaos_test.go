package writer_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/store"
	"github.com/pratique-dev/pratique/registry/writer"
)

// TestFaultsAmongWriters has three writers on one log whose calls fail at
// random, before and after they persisted, while each of their callers repeats
// a command until it knows its outcome. In the end every acknowledged command
// happened exactly once, every name has one owner, all views agree and the log
// verifies clean.
func TestFaultsAmongWriters(t *testing.T) {
	dir := newFolder(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	logs := make([]*faultyLog, 3)
	ws := make([]*writer.Writer, 3)
	for i := range ws {
		logs[i] = &faultyLog{Log: openLog(t, dir)}
		ws[i] = openWriter(t, logs[i])
	}
	done := make(chan struct{})
	var troubles, callers sync.WaitGroup
	troubles.Go(func() { trouble(rand.New(rand.NewPCG(seed, 0)), logs, done) })
	a := &acked{m: map[uint64]registry.CommandID{}}
	var won, lost, repeated atomic.Int64
	const names, each = 60, 4
	for i := range each * len(ws) {
		callers.Go(func() {
			p := newParty(t)
			for n := range names {
				c := p.register(site, item(t, fmt.Sprint("tool-", n), string(p.id())))
				out, err := insist(ws, i, c, &repeated)
				switch {
				case err == nil:
					a.put(t, out.Index, c.ID)
					won.Add(1)
				case errors.Is(err, registry.ErrNameTaken):
					lost.Add(1)
				default:
					t.Errorf("caller %d: %v", i, err)
				}
			}
		})
	}
	callers.Wait()
	close(done)
	troubles.Wait()
	for _, l := range logs {
		l.before.Store(nil)
		l.after.Store(nil)
		l.noHead.Store(nil)
	}
	if won.Load() != names || lost.Load() != names*(each*int64(len(ws))-1) {
		t.Errorf("%d names were won, %d lost, of %d", won.Load(), lost.Load(), names)
	}
	want := tables(t, ws[0])
	for i, w := range ws {
		if got := tables(t, w); string(got) != string(want) {
			t.Errorf("writer %d has other tables", i)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	a.sound(t, dir)
	t.Logf("%d commands were repeated", repeated.Load())
}

// insist repeats a command, at whichever writer, until its outcome is known.
func insist(ws []*writer.Writer, i int, c registry.Command, repeated *atomic.Int64) (registry.Outcome, error) {
	for try := 0; ; try++ {
		out, err := ws[(i+try)%len(ws)].Do(ctx, c)
		if !errors.Is(err, registry.ErrUnknownOutcome) && !errors.Is(err, registry.ErrStaleView) && !errors.Is(err, writer.ErrOverload) {
			return out, err
		}
		repeated.Add(1)
	}
}

// trouble makes calls fail until done.
func trouble(r *rand.Rand, logs []*faultyLog, done chan struct{}) {
	broken := error(store.ErrIO)
	for n := 0; ; n++ {
		select {
		case <-done:
			return
		default:
		}
		l := logs[r.IntN(len(logs))]
		switch r.IntN(3) {
		case 0:
			l.before.Store(&broken)
		case 1:
			l.after.Store(&broken)
		case 2:
			l.noHead.Store(&broken)
		}
		must(l.Log.Head(ctx)) // some time goes by
		if r.IntN(2) == 0 {
			l.noHead.Store(nil)
		}
	}
}
