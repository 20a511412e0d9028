package main

import (
	"strings"
	"testing"
)

// TestReport: medians are taken over rounds, and ratios against the direct way.
func TestReport(t *testing.T) {
	direct := &way{name: "direct", runs: []measured{{clients: 8, p50: 1, rate: 3000}, {clients: 8, p50: 2, rate: 2000}, {clients: 8, p50: 3, rate: 1000}}}
	through := &way{name: "gateway", runs: []measured{{clients: 8, p50: 3, rate: 1000, cpu: .25}}}
	var b strings.Builder
	report(&b, []*way{direct, through})
	if got := b.String(); !strings.Contains(got, "0.50") || !strings.Contains(got, "0.250") {
		t.Errorf("report:\n%s", got)
	}
}
