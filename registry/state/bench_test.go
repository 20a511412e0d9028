package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry"
)

// sizes are the numbers of tools that benchmarks run with; the large one takes
// gigabytes and minutes.
func sizes() []int {
	if os.Getenv("PRATIQUE_BENCH_LARGE") != "" {
		return []int{100_000, 1_000_000}
	}
	return []int{100_000}
}

func benchKey(n int) credentials.KeyID {
	sum := sha256.Sum256(fmt.Appendf(nil, "bench %d", n))
	return credentials.KeyID(base64.RawURLEncoding.EncodeToString(sum[:]))
}

// benchTool is the n-th tool's id: of times that follow each other, as they
// are drawn, in an order that the tables do not see.
func benchTool(n int) credentials.ToolID {
	var u ulid.ULID
	u.SetTime(uint64(1_800_000_000_000 + n/10))
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(n)))
	copy(u[6:], sum[:10])
	return credentials.ToolID("tool_" + u.String())
}

// filled are tables with n tools of n/100 owners at n/100 origins.
func filled(tb testing.TB, n int) *DB {
	db := New()
	var tx *Txn
	index := uint64(0)
	add := func(typ registry.EventType, by credentials.KeyID, data any) {
		e, err := registry.NewEvent(typ, 1_800_000_000_000+int64(index), registry.CommandID(fmt.Sprintf("command-%08d", index)), by, data)
		if err == nil {
			err = tx.Apply(index, &e)
		}
		if err != nil {
			tb.Fatal(err)
		}
		index++
	}
	for i := range n {
		if i%4096 == 0 {
			if tx != nil {
				if err := tx.Commit(); err != nil {
					tb.Fatal(err)
				}
			}
			tx = db.Write()
		}
		owner := benchKey(i / 100)
		if i%100 == 0 {
			add(registry.PrincipalCreated, owner, registry.PrincipalData{ID: owner.Principal(), JWK: []byte(`{"crv":"Ed25519","kty":"OKP","x":"` + owner + `"}`)})
		}
		add(registry.ToolRegistered, owner, registry.ToolData{ID: benchTool(i), Origin: fmt.Sprintf("https://site-%d.example", i/100),
			Name: fmt.Sprintf("tool_number_%d", i), Gen: 1, Ver: 1, Mdg: credentials.Digest{1, byte(i), byte(i >> 8), byte(i >> 16)}, N: 1})
	}
	if err := tx.Commit(); err != nil {
		tb.Fatal(err)
	}
	return db
}

var kept struct {
	sync.Mutex
	n  int
	db *DB
}

// tables fills tables once for the runs of a benchmark.
func tables(b *testing.B, n int) *DB {
	kept.Lock()
	defer kept.Unlock()
	if kept.n != n {
		kept.n, kept.db = n, nil
		runtime.GC()
		kept.db = filled(b, n)
	}
	return kept.db
}

// BenchmarkRow is the decision row: one look-up in the published view, with
// 500 changes a second going on.
func BenchmarkRow(b *testing.B) {
	for _, n := range sizes() {
		b.Run(fmt.Sprintf("tools=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			db := tables(b, n)
			var view atomic.Pointer[View]
			view.Store(db.Read())
			stop := make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() { overwrites(b, db, &view, n, stop) })
			ids := make([]credentials.ToolID, 1<<16)
			for i := range ids {
				ids[i] = benchTool(rand.IntN(n))
			}
			lat := make([]int32, b.N)
			var row *gate.Row
			runtime.GC()
			b.ResetTimer()
			for i := range b.N {
				began := time.Now()
				r, err := view.Load().Row(ids[i&(1<<16-1)])
				lat[i] = int32(time.Since(began))
				if err != nil {
					b.Fatal(err)
				}
				row = r
			}
			b.StopTimer()
			close(stop)
			wg.Wait()
			runtime.KeepAlive(row)
			slices.Sort(lat)
			b.ReportMetric(float64(lat[len(lat)/2]), "p50-ns")
			b.ReportMetric(float64(lat[len(lat)*99/100]), "p99-ns")
		})
	}
}

// overwrites commits one change every 2 ms and publishes it.
func overwrites(b *testing.B, db *DB, view *atomic.Pointer[View], n int, stop chan struct{}) {
	t := time.NewTicker(2 * time.Millisecond)
	defer t.Stop()
	for k := 0; ; k++ {
		select {
		case <-stop:
			return
		case <-t.C:
		}
		tx := db.Write()
		x, err := tx.Tool(benchTool(rand.IntN(n)))
		if err != nil {
			b.Error(err)
			return
		}
		d := registry.ToolData{ID: x.Row.Tool, Gen: x.Gen, Ver: x.Ver + 1, Base: x.Digest, N: x.Events + 1, Last: x.Index}
		d.Mdg = x.Digest
		d.Mdg[31]++
		e, err := registry.NewEvent(registry.ToolOverwritten, 1_900_000_000_000, registry.CommandID(fmt.Sprintf("overwrite-%08d", k)), x.Owner, d)
		if err == nil {
			err = tx.Apply(x.Index+1, &e)
		}
		if err != nil {
			b.Error(err)
			return
		}
		if err := tx.Commit(); err != nil {
			b.Error(err)
			return
		}
		view.Store(db.Read())
	}
}

// BenchmarkLoadSnapshot loads tables from their snapshot, and says what a tool
// costs in memory.
func BenchmarkLoadSnapshot(b *testing.B) {
	for _, n := range sizes() {
		b.Run(fmt.Sprintf("tools=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			raw := func() []byte {
				var w bytes.Buffer
				if err := tables(b, n).Read().WriteSnapshot(&w); err != nil {
					b.Fatal(err)
				}
				return w.Bytes()
			}()
			kept.n, kept.db = 0, nil
			var db *DB
			before := heap()
			b.ResetTimer()
			for range b.N {
				db = nil
				var err error
				if db, err = ReadSnapshot(bytes.NewReader(raw)); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			b.ReportMetric(float64(heap()-before)/float64(n), "B/tool")
			b.ReportMetric(float64(len(raw))/float64(n), "snapshot-B/tool")
			runtime.KeepAlive(db)
		})
	}
}

// BenchmarkApply folds registrations.
func BenchmarkApply(b *testing.B) {
	b.ReportAllocs()
	filled(b, b.N)
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
