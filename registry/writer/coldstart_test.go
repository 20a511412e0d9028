package writer_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/store"
	"github.com/pratique-dev/pratique/registry/store/sqlite"
	"github.com/pratique-dev/pratique/registry/writer"
)

// coldTools is how many tools BenchmarkColdStart starts with. The large number
// takes gigabytes and minutes.
func coldTools() int {
	if os.Getenv("PRATIQUE_BENCH_LARGE") != "" {
		return 1_000_000
	}
	return 100_000
}

// fillLog appends n registrations of n/100 owners, 100 tools in a command.
func fillLog(b *testing.B, l *sqlite.Log, n int) {
	tree := &ledger.Tree{}
	var batch store.Batch
	prev := store.EmptyHead()
	flush := func() {
		next := store.Head(tree.Head())
		if err := l.Append(ctx, prev, next, batch); err != nil {
			b.Fatal(err)
		}
		prev, batch = next, store.Batch{}
	}
	add := func(typ registry.EventType, cmd int, by credentials.KeyID, data any) {
		e, err := registry.NewEvent(typ, 1_700_000_000_000+int64(tree.Size()), registry.CommandID(fmt.Sprintf("command-%014d", cmd)), by, data)
		if err != nil {
			b.Fatal(err)
		}
		raw := must(e.Encode())
		if err := tree.Append(raw); err != nil {
			b.Fatal(err)
		}
		if batch.Entries = append(batch.Entries, raw); len(batch.Entries) == 16384 {
			flush()
		}
	}
	var owner party
	for i := range n {
		if i%100 == 0 {
			owner = newParty(b)
			add(registry.PrincipalCreated, i/100, owner.key.ID, registry.PrincipalData{ID: owner.id(), JWK: owner.key.JWK()})
		}
		var d credentials.Digest
		binary.BigEndian.PutUint64(d[:], uint64(i+1)*0x9e3779b97f4a7c15)
		binary.BigEndian.PutUint64(d[8:], uint64(i+1)*0xbf58476d1ce4e5b9)
		id := ulid.ULID(d[:16])
		id.SetTime(uint64(1_700_000_000_000 + i/10))
		add(registry.ToolRegistered, i/100, owner.key.ID, registry.ToolData{ID: credentials.ToolID("tool_" + id.String()),
			Origin: fmt.Sprintf("https://site-%d.example", i/100), Name: fmt.Sprintf("tool_number_%d", i), Gen: 1, Ver: 1, Mdg: d, N: 1})
	}
	flush()
}

// BenchmarkColdStart opens a writer on a large log: folded from its start, and
// from a snapshot with nothing to fold after it. Metrics: seconds of each, and
// bytes of live heap per tool.
func BenchmarkColdStart(b *testing.B) {
	n := coldTools()
	dir := newFolder(b)
	l := openLog(b, dir)
	fillLog(b, l, n)
	snap := snapshots(filepath.Join(b.TempDir(), "snapshot"), "k")
	use := func(o *writer.Options) { o.Snapshot = snap }
	for _, from := range []string{"log", "snapshot"} {
		b.Run(fmt.Sprintf("tools=%d/from=%s", n, from), func(b *testing.B) {
			b.ReportAllocs()
			var all time.Duration
			var bytes float64
			for range b.N {
				before := liveHeap()
				began := time.Now()
				w := openWriter(b, l, use)
				all += time.Since(began)
				b.StopTimer()
				bytes = float64(liveHeap()-before) / float64(n)
				if from == "log" {
					if err := w.SaveSnapshot(); err != nil {
						b.Fatal(err)
					}
				}
				w.Close()
				if from == "log" && b.N > 1 {
					os.Remove(snap.Path)
				}
				b.StartTimer()
			}
			b.ReportMetric(all.Seconds()/float64(b.N), "s/start")
			b.ReportMetric(bytes, "B/tool")
		})
	}
}

func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
