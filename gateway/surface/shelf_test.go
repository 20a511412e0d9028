package surface

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// TestTheShelfCountsFindings: who writes items does not choose how much of the
// verdicts on them is kept.
func TestTheShelfCountsFindings(t *testing.T) {
	s := NewShelf(100)
	for i := range 1000 {
		key := verdictKey{engine: fmt.Sprint(i)}
		s.put(key, judgement{verdict: quarantine.Hostile, findings: make([]quarantine.Finding, i%40), by: map[gate.Key][]quarantine.Finding{{}: make([]quarantine.Finding, 5)}})
		if _, ok := s.get(key); !ok {
			t.Fatal("what was just kept is not there")
		}
		n := 0
		for _, m := range []map[verdictKey]judgement{s.new, s.old} {
			for _, j := range m {
				n += 1 + len(j.findings) + len(j.by[gate.Key{}])
			}
		}
		if n > 100 {
			t.Fatalf("%d verdicts and findings are kept", n)
		}
	}
	s.put(verdictKey{}, judgement{findings: make([]quarantine.Finding, 51)})
	if _, ok := s.get(verdictKey{}); ok {
		t.Error("one verdict may take all the room")
	}
}

type batches []quarantine.Batch

func (b *batches) Engine() string { return "none" }
func (b *batches) Inspect(_ context.Context, x quarantine.Batch) quarantine.Report {
	*b = append(*b, x)
	return quarantine.Report{Verdict: quarantine.Clear}
}

// TestJoinedTextsAreBounded: an item's name stands before each of its texts, and
// may be long.
func TestJoinedTextsAreBounded(t *testing.T) {
	var seen batches
	text := strings.Repeat("x", 1<<20)
	texts := 1000
	k := &Keeper{}
	k.opt.Shelf, k.opt.Inspector = NewShelf(0), &seen
	k.opt.Specimens = func(gate.Item) ([]quarantine.Specimen, error) {
		set := make([]quarantine.Specimen, texts)
		for i := range set {
			set[i] = quarantine.Specimen{Path: "description", Text: text[:10]}
		}
		return set, nil
	}
	items := []gate.Judged{{Item: gate.Item{Key: gate.Key{Kind: gate.Tool, Name: text}}}}
	all := func(*gate.Judged) bool { return true }
	if j := k.joinedVerdict(t.Context(), verdictKey{}, items, all); j.verdict != quarantine.Clear || len(seen) != 1 {
		t.Fatalf("%+v", j)
	}
	if p := seen[0].Specimens[0].Path; len(p) > quarantine.MaxPath || !strings.HasSuffix(p, "~].description") {
		t.Errorf("%d bytes of path", len(p))
	}
	texts = 1 << 19
	if j := k.joinedVerdict(t.Context(), verdictKey{}, items, all); j.verdict != quarantine.Suspect || !j.partial || len(seen) != 1 {
		t.Errorf("more than is judged together: %v, %d batches", j.verdict, len(seen))
	}
}
