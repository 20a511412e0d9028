package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/examples/gitlab/crew"
	"github.com/pratique-dev/pratique/examples/gitlab/standin"
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
	row(out, handed(without), handed(with))
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
	return []string{fmt.Sprintf("%2d %s (%s)", i+1, s.Tool, by), "   " + short(args(s.Args), column-3), "   => " + short(s.Result.String(), column-6)}
}

// wordy are arguments that say nothing in a few characters, or the same in each call.
var wordy = []string{"project_id", "content", "description", "commit_message", "action", "push_events"}

// args are arguments as a person wants them: the telling ones, in order.
func args(raw jsontext.Value) string {
	var v map[string]any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	var list []string
	for _, k := range slices.Sorted(maps.Keys(v)) {
		if !slices.Contains(wordy, k) {
			list = append(list, k+"="+value(v[k]))
		}
	}
	if list == nil {
		return string(raw)
	}
	return strings.Join(list, ", ")
}

func value(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var list []string
		for _, x := range v {
			list = append(list, value(x))
		}
		return "[" + strings.Join(list, " ") + "]"
	case map[string]any:
		if k, ok := v["key"].(string); ok {
			return k + "=" + value(v["value"])
		}
		if p, ok := v["file_path"].(string); ok {
			return p
		}
	}
	return fmt.Sprint(v)
}

func ending(t *telling) string {
	switch {
	case t.err != nil:
		return short("stopped: "+t.err.Error(), column)
	case t.last != "":
		return short("says: "+t.last, column)
	case t.worded && t.heard == 0:
		return "0 orders understood in its task, and nothing of it done"
	case t.worded && t.heard == 1:
		return "1 order understood in its task"
	case t.worded:
		return fmt.Sprintf("%d orders understood in its task", t.heard)
	}
	return "its task is done"
}

// handed says whether the agent was given the secret that deployments run with.
func handed(t *telling) string {
	for _, s := range t.steps {
		if strings.Contains(s.Result.Text, standin.Secret) {
			return "the agent was handed the token of the deployment"
		}
	}
	return "the token of the deployment stayed where it is"
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

// indent is a text of others, in lines that begin with ours.
func indent(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		at := 0
		b.WriteString("  >")
		for _, w := range strings.Fields(strings.Map(visible, line)) {
			if n := utf8.RuneCountInString(w) + 1; at+n > 2*column {
				b.WriteString("\n  > " + w)
				at = n
			} else {
				b.WriteString(" " + w)
				at += n
			}
		}
		b.WriteString("\n")
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
