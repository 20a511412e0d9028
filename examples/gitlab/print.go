package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/pratique-dev/pratique/examples/gitlab/crew"
)

// column is how wide one of the two columns is, in characters.
const column = 58

// most is how many changes of one run are printed.
const most = 16

// print shows both runs side by side, and what became of both GitLabs.
func (s *story) print(out io.Writer, without, with *telling) {
	fmt.Fprintf(out, "\nThe agent is %s.\n", s.agent())
	fmt.Fprintf(out, "A stranger's text is in the changelog that it reads:\n%s\n", indent(s.injection))
	row(out, "WITHOUT PRATIQUE", "UNDER A SEALED INTENT")
	row(out, fmt.Sprintf("%d tools are listed", len(without.tools)), fmt.Sprintf("%d tools are listed", len(with.tools)))
	row(out, strings.Repeat("-", column), strings.Repeat("-", column))
	for i := range max(len(without.steps), len(with.steps)) {
		l, r := told(without.steps, i), told(with.steps, i)
		for j := range max(len(l), len(r)) {
			row(out, at(l, j), at(r, j))
		}
	}
	row(out, ending(without), ending(with))
	row(out, fmt.Sprintf("GitLab had %d requests, %d of them writes", without.requests, without.writes),
		fmt.Sprintf("GitLab had %d requests, %d of them writes", with.requests, with.writes))
	fmt.Fprintf(out, "\nWhat is different in GitLab afterwards, without Pratique:\n%s", changed(without.changes))
	fmt.Fprintf(out, "\nand under the sealed intent:\n%s", changed(with.changes))
}

// told is one step, in lines.
func told(steps []crew.Step, i int) []string {
	if i >= len(steps) {
		return nil
	}
	s := steps[i]
	by := "its task"
	switch s.Why {
	case "task":
	case "model":
		by = "the model"
	default:
		by = "the text"
	}
	return []string{fmt.Sprintf("%2d %s (%s)", i+1, s.Tool, by), "   " + short(string(s.Args), column-3), "   => " + short(s.Result.String(), column-6)}
}

func ending(t *telling) string {
	switch {
	case t.err != nil:
		return short("stopped: "+t.err.Error(), column)
	case t.last != "":
		return short("says: "+t.last, column)
	}
	return "its task is done"
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

func row(out io.Writer, left, right string) {
	fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%-*s | %s", column, short(left, column), short(right, column)), " "))
}

// short is a text in one line of at most n characters. What a stranger wrote can
// neither move the cursor nor begin a line of ours.
func short(s string, n int) string {
	r := []rune(strings.Map(visible, s))
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return string(r)
}

func visible(r rune) rune {
	if r == '\n' || r == '\t' {
		return ' '
	}
	if !unicode.IsPrint(r) {
		return unicode.ReplacementChar
	}
	return r
}

func indent(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString("  > " + strings.Map(visible, strings.TrimRight(line, "\n")) + "\n")
	}
	return b.String()
}

func changed(list []string) string {
	if len(list) == 0 {
		return "  nothing\n"
	}
	var b strings.Builder
	for i, l := range list {
		if i == most {
			fmt.Fprintf(&b, "  … and %d more\n", len(list)-most)
			break
		}
		b.WriteString("  " + short(l, 2*column) + "\n")
	}
	return b.String()
}
