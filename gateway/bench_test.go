package gateway

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/decisions"
)

// blank records nothing: what is left is the path.
type blank struct{}

func (blank) Decided(context.Context, *registry.Entry, []byte, bool) (decisions.Ticket, error) {
	return decisions.Ticket{}, nil
}
func (blank) Finished(decisions.Ticket, *registry.Entry, []byte) error { return nil }
func (blank) Note(*registry.Entry) error                               { return nil }

func benchSession(b *testing.B, rev mcp.Revision, tools int, o ...func(*Options)) *Session {
	var list []string
	for i := range tools - 1 {
		list = append(list, tool(fmt.Sprintf("t%05d", i)))
	}
	u := newServer(append(list, tool("it"))...)
	u.rev = rev
	u.answer(`{"content":[{"type":"text","text":"hello there"}],"structuredContent":{"rows":3}}`)
	o = append(o, func(o *Options) { o.Limits.Rate, o.Limits.Burst = 1e9, 1e9 })
	h := newHouse(b, u, policy.Personal, o...)
	s := h.open("first", newPerson())
	if a := s.Handle(ctx, ask(methodTools, ""), newPerson()); a.Shape != mcp.Result {
		b.Fatal(string(a.Bytes()))
	}
	return s
}

const benchParams = `{"name":"it","arguments":{"query":"the quick brown fox","limit":10,"filter":{"from":"2026-01-01","tags":["a","b"]}},"_meta":{"progressToken":7}}`

// BenchmarkCall is the path without record, wire and server.
func BenchmarkCall(b *testing.B) {
	for _, rev := range []mcp.Revision{mcp.Rev20251125, mcp.Rev20260728} {
		for _, tools := range []int{10, 1000} {
			b.Run(fmt.Sprintf("%s/%dtools", rev, tools), func(b *testing.B) {
				s := benchSession(b, rev, tools, func(o *Options) { o.Record = blank{} })
				p := newPerson()
				f := mcp.Frame{Shape: mcp.Request, ID: "7", Method: methodCall, Params: jsontext.Value(benchParams)}
				b.ReportAllocs()
				for b.Loop() {
					if a := s.Handle(ctx, f, p); a.Shape != mcp.Result || len(a.Result) < 200 || reason(a) != "" {
						b.Fatal(string(a.Bytes()))
					}
				}
			})
		}
	}
}

// BenchmarkRecordedCall is the same with the decision log.
func BenchmarkRecordedCall(b *testing.B) {
	s := benchSession(b, mcp.Rev20251125, 10)
	p := newPerson()
	f := mcp.Frame{Shape: mcp.Request, ID: "7", Method: methodCall, Params: jsontext.Value(benchParams)}
	b.ReportAllocs()
	for b.Loop() {
		if a := s.Handle(ctx, f, p); reason(a) != "" {
			b.Fatal(string(a.Bytes()))
		}
	}
}

// BenchmarkRefused is a call of a tool that was not shown.
func BenchmarkRefused(b *testing.B) {
	s := benchSession(b, mcp.Rev20251125, 10, func(o *Options) { o.Record = blank{} })
	p := newPerson()
	f := mcp.Frame{Shape: mcp.Request, ID: "7", Method: methodCall, Params: jsontext.Value(`{"name":"never","arguments":{}}`)}
	b.ReportAllocs()
	for b.Loop() {
		s.Handle(ctx, f, p)
	}
}
