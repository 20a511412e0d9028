package writer_test

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/store/storetest"
	"github.com/pratique-dev/pratique/registry/writer"
)

const benchWriters = 64

// BenchmarkDurableRegistrations is what 64 writers get durably registered, and
// what a bare SQLite committer gets of the same entries and checkpoint rows,
// in turns in the same run: with sixteen rows to an INSERT, as our engine does
// it, and with one, as the usual loop does. Metrics: registrations and bare
// appends per second, and the ratio to each (target: 0.70).
func BenchmarkDurableRegistrations(b *testing.B) {
	b.ReportAllocs()
	w := openWriter(b, openLog(b, newFolder(b)))
	var bare [2]*storetest.BareCommitter
	for i := range bare {
		var err error
		if bare[i], err = storetest.NewBareCommitter(filepath.Join(b.TempDir(), "bare.db"), true, i == 0); err != nil {
			b.Fatal(err)
		}
		defer bare[i].Close()
	}
	ps := make([]party, benchWriters)
	callers := make([]registry.Caller, benchWriters) // with a proof each, which goes into the entries
	for i := range ps {
		ps[i] = newParty(b)
		callers[i] = proved(ps[i])
		do(b, w, &registry.CreatePrincipal{CommandMeta: ps[i].meta(), JWK: ps[i].key.JWK()})
	}
	entry := benchEntry(b, w, ps[0], callers[0])
	// In slices, so that a slow moment of the disk meets both.
	const slice = 2048
	var lat []time.Duration
	var ours time.Duration
	var theirs [2]time.Duration
	b.ResetTimer()
	for done := 0; done < b.N; done += slice {
		n := min(slice, b.N-done)
		cmds := make([]*registry.Register, n)
		b.StopTimer()
		for i := range cmds {
			cmds[i] = benchCommand(ps[(done+i)%benchWriters], done+i)
			cmds[i].Caller = callers[(done+i)%benchWriters]
		}
		b.StartTimer()
		l, d := drive(b, n, func(i int) error { _, err := w.Do(ctx, cmds[i]); return err })
		ours += d
		lat = append(lat, l...)
		b.StopTimer()
		for i, c := range bare {
			_, d = drive(b, n, func(int) error { _, err := c.Do(entry); return err })
			theirs[i] += d
		}
		b.StartTimer()
	}
	b.StopTimer()
	slices.Sort(lat)
	b.ReportMetric(float64(b.N)/ours.Seconds(), "registrations/s")
	for i, name := range []string{"bare", "bare-loop"} {
		b.ReportMetric(float64(b.N)/theirs[i].Seconds(), name+"/s")
		b.ReportMetric(theirs[i].Seconds()/ours.Seconds(), "of-"+name)
	}
	b.ReportMetric(float64(lat[len(lat)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(lat[len(lat)*99/100].Microseconds()), "p99-µs")
}

func benchCommand(p party, n int) *registry.Register {
	var d credentials.Digest
	binary.BigEndian.PutUint64(d[:], uint64(n+1)*0x9e3779b97f4a7c15)
	return p.register(fmt.Sprintf("https://o%d.example", n/50_000), registry.Item{Name: fmt.Sprint("tool-", n), Digest: d,
		Canonical: fmt.Appendf(nil, `{"description":"Does thing number %d.","inputSchema":{"type":"object"},"name":"tool-%d"}`, n, n)})
}

// benchEntry is an entry as registrations make them.
func benchEntry(b *testing.B, w *writer.Writer, p party, by registry.Caller) []byte {
	c := p.register("https://first.example", item(b, "first", "x"))
	c.Caller = by
	out := do(b, w, c)
	return must(out.Events[0].Encode())
}

// drive runs n calls on 64 goroutines.
func drive(b *testing.B, n int, call func(int) error) (lat []time.Duration, took time.Duration) {
	lat = make([]time.Duration, n)
	var next atomic.Int64
	var wg sync.WaitGroup
	began := time.Now()
	for range benchWriters {
		wg.Go(func() {
			for {
				i := int(next.Add(1) - 1)
				if i >= n {
					return
				}
				t := time.Now()
				if err := call(i); err != nil {
					b.Error(err)
					return
				}
				lat[i] = time.Since(t)
			}
		})
	}
	wg.Wait()
	return lat, time.Since(began)
}
