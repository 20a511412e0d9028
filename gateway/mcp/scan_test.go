package mcp

import (
	"strings"
	"testing"
)

// Strings end where their end is, however their escapes lie to the steps of the scan.
func TestSkipString(t *testing.T) {
	end := func(b []byte) int { // one byte after the other
		for i := 1; i < len(b); i++ {
			switch b[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
		return len(b)
	}
	for plain := range 2*near + 9 {
		for _, c := range []string{`\\`, `\"`, `\\\"`, `\\"`, `\n`, "é", `\`, ``} {
			x := strings.Repeat("x", plain)
			for _, s := range []string{x + c, c + x, c + x + c + x, x + c + c + x + c} {
				b := []byte(`"` + s + `":"more"`)
				for _, b := range [][]byte{b, b[:1+len(s)]} {
					if got := skipString(b, 0); got != end(b) {
						t.Fatalf("%s ends at %d, not at %d", b, got, end(b))
					}
				}
			}
		}
	}
}

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
