package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestHouse: what is measured is a call of the size that is said, which passes closed
// arguments, three layers and their guards, and would be refused for less.
func TestHouse(t *testing.T) {
	h, err := build(t.Context(), 20, 30)
	if err != nil {
		t.Fatal(err)
	}
	defer h.close(t.Context())
	f := h.frame()
	if n := len(f.Bytes()); n != size || !json.Valid(f.Bytes()) {
		t.Errorf("the frame has %d bytes", n)
	}
	if err := h.call(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if h.clock.took <= 0 || h.record.last.Name != tool {
		t.Errorf("took %v for %q", h.clock.took, h.record.last.Name)
	}
	for old, new := range map[string]string{
		`"target_branch":"develop"`: `"target_branch":"main"`, `"squash":true`: `"squash":false`, `"branch":`: `"brunch":`, `docs/accounts.md`: `docs/../x`,
	} {
		bad := f
		if bad.Params = []byte(strings.Replace(string(f.Params), old, new, 1)); h.call(t.Context(), bad) == nil {
			t.Errorf("%s passes", new)
		}
	}
}

func TestReport(t *testing.T) {
	good := []*row{{name: "a", p50: 6 * time.Microsecond, decode: 8 * time.Microsecond}, {name: "b", p50: 6600, decode: 8000}}
	for _, c := range []struct {
		rows []*row
		ok   bool
	}{
		{good, true},
		{[]*row{{p50: 8001, decode: 9000}}, false},
		{[]*row{{p50: 7000, decode: 6900}}, false},
		{[]*row{good[0], {p50: 7500, decode: 8000}}, false},
	} {
		var b bytes.Buffer
		if ok := report(&b, c.rows); ok != c.ok || strings.Contains(b.String(), "NOT OK") == ok {
			t.Errorf("%v: %s", ok, b.String())
		}
	}
}

func BenchmarkCall(b *testing.B) {
	h, err := build(b.Context(), 262, 100)
	if err != nil {
		b.Fatal(err)
	}
	defer h.close(b.Context())
	f := h.frame()
	least := time.Hour
	b.ReportAllocs()
	for b.Loop() {
		if err := h.call(b.Context(), f); err != nil {
			b.Fatal(err)
		}
		least = min(least, h.clock.took)
	}
	b.ReportMetric(float64(least.Nanoseconds()), "least-ns/decision")
}
