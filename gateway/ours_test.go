package gateway

import (
	"bytes"
	"strings"
	"testing"
)

// Our name is found in any case, wherever it stands, and by an escape.
func TestOurNameIsFound(t *testing.T) {
	for _, s := range []string{"pratique", "PRATIQUE", "pRaTiQuE", "q pratique", "xQx dev.Pratique/label", strings.Repeat("q", 9) + "praTIQUE", `\u0070ratique`} {
		if !mayHoldOurs([]byte(s)) {
			t.Errorf("%q is not found", s)
		}
	}
	for _, s := range []string{"", "q", "pratiqu", "ratique", "prati", "quebec", "pratiqué", "p ratique", "pratlque", strings.Repeat("Q", 99)} {
		if mayHoldOurs([]byte(s)) {
			t.Errorf("%q is taken for it", s)
		}
	}
}

func BenchmarkMayHoldOurs100kB(b *testing.B) {
	v := bytes.Repeat([]byte("A quick look at requests that were queued; "), 100_000/43)
	b.SetBytes(int64(len(v)))
	b.ReportAllocs()
	for b.Loop() {
		if mayHoldOurs(v) {
			b.Fatal("found")
		}
	}
}
