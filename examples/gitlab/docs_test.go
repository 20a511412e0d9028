package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/examples/gitlab/crew"
)

var update = flag.Bool("update", false, "write what docs/gitlab.md shows anew")

const page = "../../docs/gitlab.md"

// TestPage: what the page shows is what the program prints, and which attacks there
// are.
func TestPage(t *testing.T) {
	out := own(t)
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(out, "\nThe agent is ")
	text := between(t, string(raw), "story", "```text\nThe agent is "+shown+"```\n")
	text = between(t, text, "vectors", table(t))
	if !strings.Contains(strings.ReplaceAll(text, "\n> ", " "), crew.Instruction) {
		t.Error("the page does not quote the instruction")
	}
	if text == string(raw) {
		return
	}
	if *update {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s is not what is: go test ./examples/gitlab -run TestPage -update", page)
}

// between puts a text in the place of what stands between two marks.
func between(t *testing.T, text, mark, new string) string {
	t.Helper()
	head, rest, ok1 := strings.Cut(text, "<!-- "+mark+" -->\n")
	_, foot, ok2 := strings.Cut(rest, "<!-- /"+mark+" -->")
	if !ok1 || !ok2 {
		t.Fatalf("the page has no marks %s", mark)
	}
	return head + "<!-- " + mark + " -->\n" + new + "<!-- /" + mark + " -->" + foot
}

// table is the attacks, with the layer that each is refused by.
func table(t *testing.T) string {
	var b strings.Builder
	attacks, benign := vectors(t, "testdata/attacks.jsonl"), vectors(t, "testdata/benign.jsonl")
	public := 0
	for _, v := range attacks {
		if v.Public() {
			public++
		}
	}
	fmt.Fprintf(&b, "%d attacks, %d of our own and %d of classes out of public lists; %d calls of the agent's own work, among them what looks like an attack and is none.\n\n",
		len(attacks), len(attacks)-public, public, len(benign))
	b.WriteString("| attack | class | tool | refused by |\n|---|---|---|---|\n")
	for _, v := range attacks {
		by := v.Reason
		if v.Guard != "" {
			by += " (" + v.Guard + ")"
		}
		fmt.Fprintf(&b, "| %s | %s | `%s` | %s |\n", strings.ReplaceAll(v.Name, "-", " "), v.From, v.Tool, by)
	}
	return b.String()
}
