package client_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/labels"
)

// BenchmarkLabelVerify is what a runtime pays per tool it shows, the digest of 4
// KiB of metadata included.
func BenchmarkLabelVerify(b *testing.B) {
	f := newFake(b, time.Now)
	l := newLabels(b, f, nil)
	meta := jsontext.Value(metadata("pay", strings.Repeat("x", 4000)))
	mdg := digestOf(b, meta)
	tok := f.labelOf(func(s *labels.Statement) { s.Mdg = mdg })
	w := shownPay(b)
	w.Metadata = meta
	b.Run("cached", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := l.Verify(b.Context(), tok, w); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("cold", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			tok := f.labelOf(func(s *labels.Statement) { s.Mdg = mdg })
			b.StartTimer()
			if _, err := l.Verify(b.Context(), tok, w); err != nil {
				b.Fatal(err)
			}
		}
	})
}
