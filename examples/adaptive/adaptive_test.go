package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect"
)

// The search is the same each time, and nothing that it calls slipped is detected.
func TestAttackIsDeterministic(t *testing.T) {
	ins := inspect.New()
	a, b := attack(ins), attack(ins)
	var x, y bytes.Buffer
	report(&x, ins.Engine(), a)
	report(&y, ins.Engine(), b)
	if x.String() != y.String() {
		t.Errorf("two runs differ:\n%s\n%s", x.String(), y.String())
	}
	for _, o := range a {
		if v, _ := o.form.verdict(ins); o.passes() != (v == quarantine.Clear) {
			t.Errorf("%s in %s after %q: verdict %v, slipped in round %d", o.form.order.name, o.form.place, o.form.steps, v, o.slipped)
		}
	}
	t.Log("\n" + x.String())
}

// What each rewrite does, it does: a rewriter that changes nothing would show that
// nothing slips.
func TestRewritesChange(t *testing.T) {
	for _, p := range []place{inDescription, inText} {
		seen := map[string]bool{}
		for _, f := range all(form{order: &orders[0], place: p, text: orders[0].text}) {
			seen[f.steps[0]] = true
			if f.text == orders[0].text && f.more == "" && f.place == p {
				t.Errorf("%s changes nothing", f.steps[0])
			}
		}
		for _, r := range rewrites {
			if r.name != "moved" && !seen[r.name] {
				t.Errorf("%s gives no form of a payload in %s", r.name, p)
			}
		}
		if n := slices.IndexFunc(rewrites, func(r rewrite) bool { return r.name == "moved" }); n < 0 || len(seen) < len(rewrites) {
			t.Errorf("%d rewrites of %d gave forms", len(seen), len(rewrites))
		}
	}
}

// Each order names the tool that it wants called, in every language: else the agent
// that obeys would have nothing to obey.
func TestOrdersNameTheTool(t *testing.T) {
	for _, o := range orders {
		if o.name == "env" {
			continue // names a parameter
		}
		for _, text := range []string{o.text, o.german, o.french, o.spanish, o.japanese} {
			if !strings.Contains(text, "publish_note") {
				t.Errorf("%s: %q", o.name, text)
			}
		}
	}
}
