package main

import (
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/quarantine/inspect"
)

// TestCases: what is measured is ordinary: nothing is found in it, so that the
// figures are of the way that most texts take.
func TestCases(t *testing.T) {
	ins := inspect.New()
	for _, b := range cases(ins, ins) {
		if err := b.inspect(); err != nil || b.size == 0 {
			t.Errorf("%s: %v", b.name, err)
		}
	}
}

// TestReport: the ratio is to the plain scan, and what is over its bound is
// named.
func TestReport(t *testing.T) {
	scan := &bench{name: "plain scan", size: 1000, best: time.Microsecond, p50: []time.Duration{time.Microsecond}}
	list := []*bench{
		{name: "slow", size: 1000, most: 10, best: 20 * time.Microsecond, p50: []time.Duration{time.Millisecond}},
		{name: "quick", size: 1000, most: 30, best: 20 * time.Microsecond, p50: []time.Duration{time.Millisecond}},
		{name: "late", size: 1000, limit: time.Millisecond, best: time.Microsecond, p50: []time.Duration{5 * time.Millisecond, 2 * time.Millisecond}},
		{name: "in time", size: 1000, limit: time.Millisecond, best: time.Microsecond, p50: []time.Duration{5 * time.Millisecond, time.Microsecond}},
	}
	var out strings.Builder
	bad := report(&out, "none", scan, list)
	if strings.Join(bad, ", ") != "slow, late" || !strings.Contains(out.String(), "20.0") || !strings.Contains(out.String(), "sandbox of the pool: none") {
		t.Errorf("%v\n%s", bad, out.String())
	}
}
