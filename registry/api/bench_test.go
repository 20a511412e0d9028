package api_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/api"
)

// The benchmarks measure whole mutating requests through the handler, 64 at a
// time, on a real store with its syncs: bounds, proof, handle, commit,
// checkpoint, answer with a fresh handle. Requests, with their proofs, are made
// before the clock starts; cpu-µs/op is all processor time of the process,
// the writer's goroutines and SQLite included, the network not.

const writers = 64

func benchRig(b *testing.B) *rig {
	return newRig(b, func(s *settings) {
		s.plain = true
		s.quotas.Overwrites, s.quotas.NamesPerOrigin, s.quotas.ToolsPerOwner = 1<<30, 1<<30, 1<<30
		s.api.Limits = api.Limits{ReadsPerAddress: 1e9, ReadsBurst: 1 << 30, PerAddress: 1e9, AddressBurst: 1 << 30, PerKey: 1e9, KeyBurst: 1 << 30}
	})
}

func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e3
}

// prepared is a request that only has to be served.
type prepared struct {
	r    *http.Request
	body []byte
}

func (r *rig) prepare(b *testing.B, q req) prepared {
	raw, err := json.Marshal(q.body)
	must(b, err)
	h, err := http.NewRequest(q.method, r.url+q.path, nil)
	must(b, err)
	h.RequestURI, h.RemoteAddr = q.path, "127.0.0.1:1"
	h.ContentLength = int64(len(raw))
	h.Header.Set("Content-Type", "application/json")
	if q.handle != "" {
		h.Header.Set("Authorization", "DPoP "+q.handle)
	}
	h.Header.Set("DPoP", r.prove(q, raw))
	return prepared{h, raw}
}

// sink is a ResponseWriter that keeps what the answer said.
type sink struct {
	h      http.Header
	status int
	body   bytes.Buffer
}

func (s *sink) Header() http.Header         { return s.h }
func (s *sink) WriteHeader(status int)      { s.status = status }
func (s *sink) Write(p []byte) (int, error) { return s.body.Write(p) }

func (p prepared) serve(b *testing.B, h http.Handler, want int) []byte {
	w := &sink{h: http.Header{}}
	p.r.Body = io.NopCloser(bytes.NewReader(p.body))
	h.ServeHTTP(w, p.r)
	if w.status != want {
		b.Errorf("%d: %s", w.status, w.body.String())
	}
	return w.body.Bytes()
}

// parallel has 64 writers serve what is prepared, and reports processor time.
func parallel(b *testing.B, h http.Handler, want int, each []func(i int) prepared, n int) {
	b.ReportAllocs()
	var next atomic.Int64
	var wg sync.WaitGroup
	lists := make([][]prepared, writers)
	for w := range lists {
		for i := range (n + writers - 1) / writers {
			lists[w] = append(lists[w], each[w](i))
		}
	}
	b.ResetTimer()
	before := cpu()
	for w := range writers {
		wg.Go(func() {
			for _, p := range lists[w] {
				if next.Add(1) > int64(n) {
					return
				}
				p.serve(b, h, want)
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric((cpu()-before)/float64(n), "cpu-µs/op")
}

func BenchmarkRegister(b *testing.B) {
	r := benchRig(b)
	each := make([]func(int) prepared, writers)
	for w := range each {
		p := newParty(b)
		r.register(p, fmt.Sprintf("warm%d", w))
		each[w] = func(i int) prepared { return r.prepare(b, registration(p, fmt.Sprintf("w%d-%d", w, i))) }
	}
	parallel(b, r.server.Handler(), 201, each, b.N)
}

// overwrites prepares writers that overwrite their own tools in turn: each
// request names the digest that the one before left.
func overwrites(b *testing.B, r *rig, handle func(h registry.HandleView) string) []func(int) prepared {
	each := make([]func(int) prepared, writers)
	for w := range each {
		p := newParty(b)
		h := r.register(p, fmt.Sprintf("tool%d", w)).Tools[0]
		at := h
		each[w] = func(i int) prepared {
			q := overwrite(p, at, fmt.Sprintf("version %d", i))
			q.handle = handle(h)
			out := r.prepare(b, q)
			at.Digest = digestAfter(b, h.Name, fmt.Sprintf("version %d", i))
			return out
		}
	}
	return each
}

// BenchmarkOverwriteCached shows the same handle each time.
func BenchmarkOverwriteCached(b *testing.B) {
	r := benchRig(b)
	parallel(b, r.server.Handler(), 200, overwrites(b, r, func(h registry.HandleView) string { return h.Handle }), b.N)
}

// BenchmarkOverwriteCold shows a handle each time that was never seen before.
func BenchmarkOverwriteCold(b *testing.B) {
	r := benchRig(b)
	jti := atomic.Int64{}
	parallel(b, r.server.Handler(), 200, overwrites(b, r, func(h registry.HandleView) string {
		c := r.handleClaims(h, &party{public: envelopeKey(h)})
		c.Jti = credentials.TokenID(fmt.Sprintf("cold-%016d", jti.Add(1)))
		return r.sign(c)
	}), b.N)
}

// BenchmarkLabel reads labels that are signed already.
func BenchmarkLabel(b *testing.B) {
	r := benchRig(b)
	h := r.register(newParty(b), "a").Tools[0]
	q, err := http.NewRequestWithContext(context.Background(), "GET", r.url+"/v1/labels/"+string(h.ID), nil)
	must(b, err)
	q.RemoteAddr = "127.0.0.1:1"
	handler := r.server.Handler()
	b.ReportAllocs()
	for b.Loop() {
		w := &sink{h: http.Header{}}
		handler.ServeHTTP(w, q)
		if w.status != 200 && w.status != 429 {
			b.Fatal(w.status)
		}
	}
}

func digestAfter(b *testing.B, name, text string) credentials.Digest {
	_, d, err := canon.Metadata(metadata(name, text))
	must(b, err)
	return d
}

// envelopeKey is the owner's key as far as claims name it.
func envelopeKey(h registry.HandleView) envelope.Key { return envelope.Key{ID: h.Owner.Key()} }
