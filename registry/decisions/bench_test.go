package decisions_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/decisions"
)

var args = []byte(`{"path":"/home/somebody/project/file.txt","content":"some lines of text that are written"}`)

func one(b *testing.B, l *decisions.Log, durable bool) {
	k, err := l.Decided(ctx, decision(runs(1)), args, durable)
	if err == nil {
		err = l.Finished(k, &registry.Entry{Outcome: registry.OutcomeReturned, Verdict: "clear", Invoked: "yes", Millis: 3}, args)
	}
	if err != nil {
		b.Error(err)
	}
}

// BenchmarkCall is both entries of one call: a read's, which are written, and a
// consequential one's, whose decision is durable, by 1 and 8 callers; and beside
// it the bare loop of pwrite and fdatasync.
func BenchmarkCall(b *testing.B) {
	b.Run("read", func(b *testing.B) {
		l := open(b, b.TempDir(), decisions.Options{})
		b.ReportAllocs()
		for b.Loop() {
			one(b, l, false)
		}
	})
	b.Run("fdatasync", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "f"))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		f.Write(make([]byte, 1<<22))
		f.Sync()
		block, off := make([]byte, 600), int64(0)
		b.ReportAllocs()
		for b.Loop() {
			f.WriteAt(block, off)
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
			off = (off + 600) % (1<<22 - 600)
		}
	})
	for _, callers := range []int{1, 8} {
		b.Run(fmt.Sprintf("durable/%d", callers), func(b *testing.B) {
			l := open(b, b.TempDir(), decisions.Options{})
			work := make(chan struct{}, callers)
			var all sync.WaitGroup
			for range callers {
				all.Go(func() {
					for range work {
						one(b, l, true)
					}
				})
			}
			b.ReportAllocs()
			for b.Loop() {
				work <- struct{}{}
			}
			close(work)
			all.Wait()
		})
	}
}
