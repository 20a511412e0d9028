//go:build long

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/quarantine/eval"
)

// The tables of docs/inspection.md are what eval says of the corpus of
// inspection: go test -tags long ./cmd/pratique -run DocsOfInspection -update.
func TestDocsOfInspection(t *testing.T) {
	dir := os.Getenv("PRATIQUE_CORPUS")
	if dir == "" {
		t.Skip("PRATIQUE_CORPUS is not set")
	}
	c, err := eval.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	measure := func(o eval.Options) evalOutput {
		o.Now = time.Now
		r, err := eval.Run(context.Background(), c, o)
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Rows {
			r.Rows[i].Micros = 0 // of this machine and moment
		}
		return evalOutput{Report: *r, all: true}
	}
	bySource := measure(eval.Options{Folds: 10})
	var b strings.Builder
	block := func(title string, show func(w *strings.Builder)) {
		fmt.Fprintf(&b, "### %s\n\n```text\n", title)
		var s strings.Builder
		show(&s)
		for line := range strings.Lines(s.String()) {
			b.WriteString(strings.TrimRight(line, " \n") + "\n")
		}
		b.WriteString("```\n\n")
	}
	lines := func(o evalOutput) func(*strings.Builder) {
		return func(w *strings.Builder) {
			o.lines(w, "attack", "ATTACKS", "at least")
			fmt.Fprintln(w)
			o.lines(w, "benign", "HONEST ITEMS", "at most")
		}
	}
	block("By source, ten folds: what the aims are held against", lines(bySource))
	block("By source, each source a fold of its own", lines(measure(eval.Options{})))
	block("Contrast: ten folds at random", lines(measure(eval.Options{Split: eval.AtRandom, Folds: 10})))
	block("By kind, class, source and language (ten folds by source)", func(w *strings.Builder) { bySource.rows(w) })
	block("Honest items that are not clear, and what is missed (ten folds by source)", func(w *strings.Builder) { bySource.why(w) })

	const begin, end, path = "<!-- made by eval -->\n", "<!-- end -->\n", "../../docs/inspection.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(page), begin)
	_, tail, found := strings.Cut(rest, end)
	if !ok || !found {
		t.Fatal("the page has no place for the tables")
	}
	want := []byte(head + begin + "\n" + b.String() + end + tail)
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(page, want) {
		t.Error("docs/inspection.md is not what eval says: go test -tags long ./cmd/pratique -run DocsOfInspection -update")
	}
}
