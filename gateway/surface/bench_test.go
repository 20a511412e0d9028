package surface_test

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway/surface"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// BenchmarkDecision is the surface's part of a call: look, admit, spend. It
// must not grow with the number of tools.
func BenchmarkDecision(b *testing.B) {
	for _, n := range []int{10, 1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var tools []string
			for i := range n {
				tools = append(tools, tool(fmt.Sprintf("tool_%06d", i), "Does a thing."))
			}
			k := benchKeeper(b, newServer(tools...))
			if got := len(mustList(b, k, gate.Tool)); got != n {
				b.Fatal(got)
			}
			ctx := context.Background()
			name := fmt.Sprintf("tool_%06d", n/2)
			params := []byte(`{"name":"` + name + `","arguments":{"text":"hello"}}`)
			b.ReportAllocs()
			for b.Loop() {
				e, err := k.Look(ctx, gate.Tool, name)
				if err != nil {
					b.Fatal(err)
				}
				p, err := k.Admit(ctx, e, "tools/call", params)
				if err != nil {
					b.Fatal(err)
				}
				if err := p.Spend("tools/call", params); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRelist is what the freshness bound costs beside the upstream's own
// work: a list whose bytes are the same, and one in which one tool changed.
func BenchmarkRelist(b *testing.B) {
	for _, changed := range []bool{false, true} {
		b.Run(fmt.Sprintf("5000/changed=%v", changed), func(b *testing.B) {
			var tools []string
			for i := range 5000 {
				tools = append(tools, tool(fmt.Sprintf("tool_%06d", i), "Does a thing."))
			}
			s := newServer(tools...)
			k := benchKeeper(b, s)
			mustList(b, k, gate.Tool)
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				if n++; changed {
					tools[7] = tool("tool_000007", fmt.Sprint(n%2))
					s.set("tools/list", tools...)
				}
				k.Stale(gate.Tool)
				if _, err := call(k, "tool_000001"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchKeeper(b *testing.B, s *server) *surface.Keeper {
	w := &world{}
	k, err := surface.New(surface.Options{
		Upstream: s, Inspector: &words{}, Baseline: &batch{now: &gate.Baseline{}},
		Shown:    &memoryShown{w: w, has: map[gate.Key]credentials.Digest{}},
		Standing: func() labels.Standing { return labels.Pinned },
		Limits:   surface.Limits{Items: 200_000, Bytes: 1 << 30, Freshness: 1 << 50, Page: 1 << 40, Collect: 1 << 40, Early: 1 << 40},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(k.Close)
	return k
}

// A batch is a baseline that takes all moves at once.
type batch struct{ now *gate.Baseline }

func (s *batch) Load() (*gate.Baseline, error) { return s.now, nil }

func (s *batch) Settle(_ context.Context, f func(*gate.Baseline) ([]gate.Move, error)) (*gate.Baseline, error) {
	moves, err := f(s.now)
	if err != nil {
		return nil, err
	}
	n := &gate.Baseline{Items: maps.Clone(s.now.Items), Seen: true}
	if n.Items == nil {
		n.Items = map[gate.Key]*gate.Accepted{}
	}
	for _, m := range moves {
		if m.Act == gate.Pin {
			n.Items[m.Key] = &gate.Accepted{Key: m.Key, Tool: "tool_x", Gen: 1, Ver: 1, Digest: m.Digest, Canonical: m.Canonical}
		}
	}
	s.now = n
	return n, nil
}
