package gateway

import (
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry/observed"
)

// BenchmarkLargeResult is the path of a call with a large result, inspected in this
// process and held against the tool's output schema, without record, wire and
// server.
func BenchmarkLargeResult(b *testing.B) {
	rows := func(size int) string {
		s := []byte(`{"rows":[`)
		for i := 0; len(s) < size; i++ {
			if i > 0 {
				s = append(s, ',')
			}
			s = fmt.Appendf(s, `{"id":%d,"title":"Issue number %d of this project","state":"opened","labels":["backend","later"]}`, i, i)
		}
		return string(append(s, `]}`...))
	}
	const few = `{"type":"text","text":"Done."}`
	for _, c := range []struct{ name, content, structured string }{
		{"text", `{"type":"text","text":` + string(mcp.Quote(rows(100_000))) + `}`, `{"rows":[]}`},
		{"structured", few, rows(100_000)},
		{"both", `{"type":"text","text":` + string(mcp.Quote(rows(50_000))) + `}`, rows(50_000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			seen, err := observed.NewMemory(observed.Options{})
			if err != nil {
				b.Fatal(err)
			}
			u := newServer(`{"name":"it","description":"Lists what there is.","inputSchema":{"type":"object"},"outputSchema":{"type":"object",
				"properties":{"rows":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"title":{"type":"string"},
				"state":{"enum":["opened","closed"]},"labels":{"type":"array","items":{"type":"string"}}},"required":["id"]}}},"required":["rows"]}}`)
			u.rev = mcp.Rev20251125
			u.answer(`{"content":[` + c.content + `],"structuredContent":` + c.structured + `}`)
			h := newHouse(b, u, policy.Personal, func(o *Options) {
				o.Record, o.Conduct = blank{}, seen.Place(o.Upstream.Place().Origin.String())
				o.Limits.Rate, o.Limits.Burst = 1e9, 1e9
			})
			s := h.open("first", newPerson())
			if a := s.Handle(ctx, ask(methodTools, ""), newPerson()); a.Shape != mcp.Result {
				b.Fatal(string(a.Bytes()))
			}
			f := mcp.Frame{Shape: mcp.Request, ID: "7", Method: methodCall, Params: jsontext.Value(benchParams)}
			p := newPerson()
			b.SetBytes(100_000)
			b.ReportAllocs()
			for b.Loop() {
				if a := s.Handle(ctx, f, p); a.Shape != mcp.Result || reason(a) != "" || len(a.Result) < 100_000 {
					b.Fatalf("%.300s", a.Bytes())
				}
			}
		})
	}
}
