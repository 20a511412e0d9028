package quarantine_test

import (
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/quarantine"
)

// BenchmarkResultSpecimens is what it costs to take 100 kB of a result apart.
func BenchmarkResultSpecimens(b *testing.B) {
	rows := []byte(`{"rows":[`)
	for i := 0; len(rows) < 100_000; i++ {
		if i > 0 {
			rows = append(rows, ',')
		}
		rows = fmt.Appendf(rows, `{"id":%d,"title":"Issue number %d of this list","state":"opened","author":"somebody","labels":["a","b"]}`, i, i)
	}
	rows = append(rows, `]}`...)
	quoted, err := jsontext.AppendQuote(nil, rows)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, raw string }{
		{"structured", `{"content":[],"structuredContent":` + string(rows) + `}`},
		{"text", `{"content":[{"type":"text","text":` + string(quoted) + `}]}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			raw := jsontext.Value(c.raw)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if set, err := quarantine.ResultSpecimens("tools/call", raw); err != nil || len(set) == 0 {
					b.Fatal(len(set), err)
				}
			}
		})
	}
}
