package warden

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect"
)

// What a pooled inspection costs beside one in this process: one result of so
// many bytes of ordinary text, nothing out of a cache.

func BenchmarkPooled4KiB(b *testing.B)  { pooled(b, 4<<10) }
func BenchmarkHere4KiB(b *testing.B)    { here(b, 4<<10) }
func BenchmarkPooled100kB(b *testing.B) { pooled(b, 100_000) }
func BenchmarkHere100kB(b *testing.B)   { here(b, 100_000) }
func BenchmarkPooled1MiB(b *testing.B)  { pooled(b, 1<<20) }
func BenchmarkHere1MiB(b *testing.B)    { here(b, 1<<20) }

func pooled(b *testing.B, size int) {
	confined(b)
	w := warden(b, Options{Mode: Required, Workers: 1, Cache: -1})
	w.Inspect(bg, one(harmless))
	bench(b, w, size)
}

func here(b *testing.B, size int) { bench(b, inspect.New(), size) }

func bench(b *testing.B, ins quarantine.Inspector, size int) {
	const part = "The pipeline of merge request 42 finished after 31 minutes; all jobs passed, and the report of the first stage lists 3 warnings. "
	batch := quarantine.Batch{Specimens: []quarantine.Specimen{{Path: "content[0].text", Kind: quarantine.KindResult, Text: strings.Repeat(part, size/len(part)+1)[:size]}}}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		if r := ins.Inspect(bg, batch); r.Verdict != quarantine.Clear || r.Partial {
			b.Fatalf("%+v", r)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkStart is what a child costs until it is locked up and ready.
func BenchmarkStart(b *testing.B) {
	confined(b)
	b.ReportAllocs()
	for b.Loop() {
		w, err := New(Options{Mode: Required})
		if err != nil {
			b.Fatal(err)
		}
		w.Inspect(bg, one(harmless))
		w.Close()
	}
}

// BenchmarkCached is an inspection that was made before.
func BenchmarkCached(b *testing.B) {
	w := warden(b, Options{Mode: Off})
	bench(b, w, 4<<10)
}
