package sqlite_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestKill kills a process with eight writers at random instants.
func TestKill(t *testing.T) {
	dir := t.TempDir() + "/log"
	var acked sync.Map
	n, tears := 0, 0
	for round := range kills {
		p := start(t, "kill", dir, fmt.Sprint("k", round), 0)
		stop := 50 + rand.IntN(2000) // acknowledgements, not time: a slow machine still tests something
		count := 0
		p.acks(&acked, func() bool {
			if count++; count == stop {
				time.AfterFunc(time.Duration(rand.IntN(2000))*time.Microsecond, p.kill)
			}
			return true
		})
		p.cmd.Wait()
		n += count
		entries, missing, mended := sound(t, dir, &acked)
		if mended {
			tears++
		}
		if missing > 0 {
			t.Fatalf("kill %d: %d of %d acknowledged entries missing (%d there)", round, missing, n, entries)
		}
	}
	t.Logf("%d kills, %d acknowledged, 0 missing, %d tears mended", kills, n, tears)
}

// TestO19ChainFork: two processes on one folder, one killed in the middle
// and started again; each entry once, one chain, no false alarm.
func TestO19ChainFork(t *testing.T) {
	dir := t.TempDir() + "/log"
	var acked sync.Map
	a := start(t, "some", dir, "a", 50)
	b := start(t, "some", dir, "b", 0)
	var wg sync.WaitGroup
	wg.Go(func() { a.acks(&acked, nil) })
	count := 0
	b.acks(&acked, func() bool { count++; return count < 60 })
	b.kill()
	b.acks(&acked, nil)
	b.cmd.Wait()
	c := start(t, "some", dir, "c", 50)
	c.acks(&acked, nil)
	wg.Wait()
	for _, p := range []*process{a, c} {
		if err := p.cmd.Wait(); err != nil {
			t.Fatalf("%v %s", err, p.errb.String())
		}
	}
	entries, missing, mended := sound(t, dir, &acked)
	if missing > 0 || entries < 400+60 || mended {
		t.Errorf("%d entries, %d missing, mended: %v", entries, missing, mended)
	}
	// Control: untouched, three more starts find the same and nothing to mend.
	for range 3 {
		if n, missing, mended := sound(t, dir, &acked); n != entries || missing > 0 || mended {
			t.Errorf("%d entries, %d missing, mended: %v", n, missing, mended)
		}
	}
}

// TestNoneStarves lets four processes write as fast as they can until one has
// written its share: by then the others must have got a part as well.
func TestNoneStarves(t *testing.T) {
	dir := t.TempDir() + "/log"
	var acked sync.Map
	var ps []*process
	for i := range 4 {
		ps = append(ps, start(t, "flood", dir, fmt.Sprint("p", i), 0))
	}
	var total atomic.Int64
	var wg sync.WaitGroup
	got := make([]int, len(ps))
	for i, p := range ps {
		p.in.Write([]byte("go\n"))
		wg.Go(func() {
			p.acks(&acked, func() bool { got[i]++; return total.Add(1) < 2000 })
			p.kill()
		})
	}
	wg.Wait()
	t.Logf("shares of 2,000 writes: %v", got)
	for i, n := range got {
		if n < 100 { // a fifth of its share
			t.Errorf("process %d got %d of 2,000", i, n)
		}
	}
}

// BenchmarkFourProcesses states the latency of four processes on one folder
// with 50 writes per second each.
func BenchmarkFourProcesses(b *testing.B) {
	b.ReportAllocs()
	dir := b.TempDir() + "/log"
	var acked sync.Map
	var ps []*process
	for i := range 4 {
		ps = append(ps, start(b, "pace", dir, fmt.Sprint("p", i), max(b.N/4, 1)))
	}
	b.ResetTimer()
	var wg sync.WaitGroup
	for _, p := range ps {
		p.in.Write([]byte("go\n"))
		wg.Go(func() { p.acks(&acked, nil) })
	}
	wg.Wait()
	b.StopTimer()
	var all []time.Duration
	worst := time.Duration(0)
	for _, p := range ps {
		slices.Sort(p.took)
		all = append(all, p.took...)
		worst = max(worst, p.took[len(p.took)*99/100])
	}
	slices.Sort(all)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(all[len(all)/2]), "p50-ms")
	b.ReportMetric(ms(all[len(all)*99/100]), "p99-ms")
	b.ReportMetric(ms(worst), "p99-of-slowest-process-ms")
	b.ReportMetric(ms(all[len(all)-1]), "max-ms")
}
