package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/registry/baseline"
)

// TestShowIsBounded: who wrote an item does not choose how much is printed; what
// was found is shown in any case, and what is left out is said.
func TestShowIsBounded(t *testing.T) {
	long := strings.Repeat(`\u0001`, shownText+5)
	for name, c := range map[string]struct {
		raw  string
		at   int // of what was found
		span quarantine.Span
	}{
		"many": {`{"name":"a","_meta":{"x":[` + strings.Repeat(`"`+strings.Repeat("y", 100)+`",`, 90_000) + `"found"]}}`, 90_002, quarantine.Span{To: 5}},
		"long": {`{"name":"a","description":"found` + long + `"}`, 1, quarantine.Span{To: shownText}},
		"deep": {strings.Repeat(`{"a":`, 1000) + `"` + strings.Repeat("z", 2*shownInAll) + `"` + strings.Repeat("}", 1000), 0, quarantine.Span{}},
	} {
		thing := heldThing{key: baseline.Key{Kind: baseline.Tool}}
		set, _ := specimensOf(thing, []byte(c.raw))
		for range 512 {
			f := quarantine.Finding{Category: quarantine.Override, Verdict: quarantine.Suspect, At: c.at, Span: c.span}
			if c.at < len(set) {
				f.Path = set[c.at].Path
			}
			thing.found = append(thing.found, f)
		}
		o := wholeOf(thing, []byte(c.raw))
		var out bytes.Buffer
		o.show(&out)
		if out.Len() > 8*shownInAll+512*8*shownSaid || o.Left.Bytes == 0 || !strings.Contains(out.String(), "left out: ") {
			t.Errorf("%s: %d bytes, left out %+v", name, out.Len(), o.Left)
		}
		if name != "deep" && !strings.Contains(out.String(), "⟦override found") {
			t.Errorf("%s: what was found is not shown", name)
		}
	}
}
