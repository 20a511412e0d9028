package writer_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/state"
	"github.com/pratique-dev/pratique/registry/store/sqlite"
)

// acked are the commands that were acknowledged, by the index of their first
// event.
type acked struct {
	mu sync.Mutex
	m  map[uint64]registry.CommandID
}

func (a *acked) put(t testing.TB, index uint64, id registry.CommandID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if old, twice := a.m[index]; twice {
		t.Errorf("index %d was acknowledged for %s and %s", index, old, id)
	}
	a.m[index] = id
}

// sound walks the log as `ledger verify` does, folds it, and looks for each
// acknowledged command where it was said to be.
func (a *acked) sound(t testing.TB, dir string, outside ...[]byte) (size uint64, mended bool) {
	t.Helper()
	l, err := sqlite.Open(ctx, dir, &sqlite.Options{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	verifyLog(t, l, outside...)
	h := must(l.Head(ctx))
	db := state.New()
	tx := db.Write()
	found := 0
	seen := map[registry.CommandID]uint64{}
	for at := uint64(0); at < h.Size; {
		for _, raw := range must(l.Read(ctx, at, 4096)) {
			e, err := registry.ParseEvent(raw)
			if err == nil {
				err = tx.Apply(at, &e)
			}
			if err != nil {
				t.Fatal(err)
			}
			if last, again := seen[e.Cmd]; again && last+1 != at {
				t.Errorf("command %s was carried out at %d and at %d", e.Cmd, last, at)
			}
			seen[e.Cmd] = at
			if id, ok := a.m[at]; ok {
				if id != e.Cmd {
					t.Errorf("index %d is %s, acknowledged for %s", at, e.Cmd, id)
				}
				found++
			}
			at++
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if found != len(a.m) {
		t.Fatalf("%d of %d acknowledged commands are lost", len(a.m)-found, len(a.m))
	}
	_, mended = l.Recovered()
	return h.Size, mended
}

// TestKillLosesNothing kills a registry with eight writers at random instants:
// whatever it acknowledged is there afterwards, once, where it said, and the
// log verifies clean (RULES.md 28).
func TestKillLosesNothing(t *testing.T) {
	dir := newFolder(t)
	a := &acked{m: map[uint64]registry.CommandID{}}
	tears := 0
	for round := range kills {
		p := startChild(t, "flood", dir, fmt.Sprint("k", round), 0)
		stop, n := 20+rand.IntN(300), 0 // acknowledgements, not time: a slow machine still tests something
		p.acks(func(index uint64, id registry.CommandID, _ time.Duration) bool {
			a.put(t, index, id)
			if n++; n == stop {
				time.AfterFunc(time.Duration(rand.IntN(2000))*time.Microsecond, p.kill)
			}
			return true
		})
		p.cmd.Wait()
		if round%10 < 9 && round != kills-1 && kills > 20 {
			continue // the next child opens and folds it all the same
		}
		if _, mended := a.sound(t, dir); mended {
			tears++
		}
	}
	t.Logf("%d kills, %d commands acknowledged, 0 lost", kills, len(a.m))
}

// TestO19ChainFork is case O-19 one level above the store: two registries on
// one folder, one killed in the middle and started again; each command once,
// one chain, no false alarm.
func TestO19ChainFork(t *testing.T) {
	dir := newFolder(t)
	a := &acked{m: map[uint64]registry.CommandID{}}
	put := func(index uint64, id registry.CommandID, _ time.Duration) bool { a.put(t, index, id); return true }
	one, two := startChild(t, "some", dir, "a", 50), startChild(t, "some", dir, "b", 0)
	var wg sync.WaitGroup
	wg.Go(func() { one.acks(put) })
	n := 0
	two.acks(func(index uint64, id registry.CommandID, d time.Duration) bool {
		n++
		return put(index, id, d) && n < 80
	})
	two.kill()
	two.acks(put)
	two.cmd.Wait()
	again := startChild(t, "some", dir, "c", 30)
	again.acks(put)
	wg.Wait()
	for _, p := range []*process{one, again} {
		if err := p.cmd.Wait(); err != nil {
			t.Fatalf("%v %s", err, p.err.String())
		}
	}
	size, mended := a.sound(t, dir)
	if len(a.m) < 200+80+120 || mended {
		t.Errorf("%d commands, %d entries, mended: %v", len(a.m), size, mended)
	}
}

// TestFourProcesses has four registries on one folder at 50 commands a second
// each: none starves, and the log verifies clean. The latency is reported, not
// asserted.
func TestFourProcesses(t *testing.T) {
	dir := newFolder(t)
	a := &acked{m: map[uint64]registry.CommandID{}}
	var ps []*process
	for i := range 4 {
		ps = append(ps, startChild(t, "pace", dir, fmt.Sprint("p", i), 50*paced))
	}
	took := make([][]time.Duration, len(ps))
	rate := make([]float64, len(ps))
	var wg sync.WaitGroup
	for i, p := range ps {
		p.in.Write([]byte("go\n"))
		wg.Go(func() {
			began := time.Now()
			p.acks(func(index uint64, id registry.CommandID, d time.Duration) bool {
				a.put(t, index, id)
				took[i] = append(took[i], d)
				rate[i] = float64(len(took[i])) / time.Since(began).Seconds()
				return true
			})
		})
	}
	wg.Wait()
	var all []time.Duration
	for i, p := range ps {
		if err := p.cmd.Wait(); err != nil {
			t.Fatalf("%v %s", err, p.err.String())
		}
		all = append(all, took[i]...)
		if len(took[i]) != 50*paced {
			t.Errorf("process %d was acknowledged %d of %d", i, len(took[i]), 50*paced)
		}
		if rate[i] < 45 {
			t.Logf("process %d got %.1f a second", i, rate[i])
		}
	}
	slices.Sort(all)
	t.Logf("rates %.1f; p50 %v p99 %v max %v", rate, all[len(all)/2], all[len(all)*99/100], all[len(all)-1])
	a.sound(t, dir)
}
