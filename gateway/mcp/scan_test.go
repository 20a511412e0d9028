package mcp

import (
	"strings"
	"testing"
)

func BenchmarkGet(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"prose", strings.Repeat("Some words of prose, without anything special in them. ", 1800)},
		{"lines", strings.Repeat("A line of a log, as long as they are as a rule, or longer than that, to be fair.\n", 1200)},
		{"JSON", strings.Repeat(`{"id":7,"title":"Issue number 7","state":"opened"},`, 1900)},
	} {
		b.Run(c.name, func(b *testing.B) {
			raw := Object(Member{Name: "content", Value: Quote(c.text)}, Member{Name: "isError", Value: []byte("false")})
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := Get(raw, "isError"); !ok {
					b.Fatal("not found")
				}
			}
		})
	}
}
