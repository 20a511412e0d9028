package sqlite_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/registry/store/sqlite"
	"github.com/pratique-dev/pratique/registry/store/storetest"
)

// BenchmarkAppend is durable appends through the smallest group committer:
// the engine with head and Merkle root, and the same rows on bare SQLite.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("engine/writers=%d", writers), func(b *testing.B) {
			l, err := sqlite.Open(ctx, b.TempDir()+"/log", nil)
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			c, err := storetest.NewCommitter(l, true)
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			drive(b, writers, c.Do)
		})
		b.Run(fmt.Sprintf("bare/writers=%d", writers), func(b *testing.B) {
			c, err := storetest.NewBareCommitter(filepath.Join(b.TempDir(), "bare.db"), false, true)
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			drive(b, writers, c.Do)
		})
	}
}

func drive(b *testing.B, writers int, do func([]byte) (uint64, error)) {
	b.ReportAllocs()
	entry := []byte(fmt.Sprintf(`{"v":1,"pad":"%0330d"}`, 7))
	lat := make([]time.Duration, b.N)
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for range writers {
		wg.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= int64(b.N) {
					return
				}
				t := time.Now()
				if _, err := do(entry); err != nil {
					b.Error(err)
					return
				}
				lat[i] = time.Since(t)
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	slices.Sort(lat)
	b.ReportMetric(float64(lat[len(lat)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(lat[len(lat)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
}
