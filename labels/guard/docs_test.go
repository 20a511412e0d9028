package guard

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocsOfNames: docs/guards.md lists the names that are looked at, all of them and
// no others.
func TestDocsOfNames(t *testing.T) {
	b, err := os.ReadFile("../../docs/guards.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(b), "<!-- names -->\n")
	table, _, ok2 := strings.Cut(rest, "<!-- end -->")
	if !ok || !ok2 {
		t.Fatal("docs/guards.md has no table of names")
	}
	order := []kind{isPath, likePath, isRef, isInto, isHost, isURL, isURI, isCommand, isWords, isProse}
	rows := strings.Split(strings.TrimSpace(table), "\n")[2:]
	if len(rows) != len(order) {
		t.Fatalf("%d rows, want %d", len(rows), len(order))
	}
	for i, k := range order {
		var want, wantEnds []string
		for name, x := range kinds {
			if x&k != 0 {
				want = append(want, name)
			}
		}
		for _, e := range ends {
			if e.kind&k != 0 && (k != isRef || e.end == "gitref" || !strings.HasSuffix(strings.TrimSuffix(e.end, "s"), "ref")) { // the text has those in ref
				wantEnds = append(wantEnds, e.end)
			}
		}
		names, tail, _ := strings.Cut(strings.Split(rows[i], "|")[1], ", and names that end in ")
		got, gotEnds := strings.Fields(names), strings.FieldsFunc(tail, func(r rune) bool { return r == ',' || r == ' ' })
		for _, list := range []*[]string{&want, &got, &wantEnds, &gotEnds} {
			slices.Sort(*list)
		}
		if !slices.Equal(got, want) || !slices.Equal(gotEnds, wantEnds) {
			t.Errorf("row %d: %v and %v, want %v and %v", i+1, got, gotEnds, want, wantEnds)
		}
	}
	for _, n := range regexp.MustCompile("`([a-z]+_(?:branch|ref))`").FindAllStringSubmatch(string(b), -1) {
		if _, ok := elsewhere[string(squash(nil, n[1]))]; !ok {
			t.Errorf("docs/guards.md says that %s is no destination", n[1])
		}
	}
}
