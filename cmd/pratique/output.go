package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/schollz/progressbar/v3"
)

// show prints what a verb returned: one JSON object, or text for people.
func (c *call) show(out any) error {
	if s, ok := out.(shower); ok && !c.json {
		var b strings.Builder
		s.show(&b)
		_, err := io.WriteString(c.out, plainLines(b.String()))
		return err
	}
	opts := []json.Options{json.Deterministic(true)}
	if !c.json {
		opts = append(opts, jsontext.WithIndent("  "))
	}
	raw, err := json.Marshal(out, opts...)
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	_, err = c.out.Write(append(raw, '\n'))
	return err
}

// plain makes control and bidirectional characters visible: much of what is
// printed was written by registrants, and a terminal obeys what it is sent.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' {
			return ' '
		}
		return visible(r)
	}, s)
}

// oneLine has reasons that stand one below the other in one line.
func oneLine(s string) string { return strings.ReplaceAll(s, "\n", "; ") }

// plainLines is plain for a text whose line ends and tabs are ours.
func plainLines(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return visible(r)
	}, s)
}

func visible(r rune) rune {
	if r == '\ufffd' || !unicode.IsPrint(r) {
		return '\ufffd'
	}
	return r
}

// table prints rows in columns.
func table(w io.Writer, rows [][]string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		for i, c := range r {
			r[i] = plain(c)
		}
		fmt.Fprintln(t, strings.Join(r, "\t"))
	}
	t.Flush()
}

// pairs prints names and values, one pair per line; empty values are left out.
func pairs(w io.Writer, nv ...string) {
	var rows [][]string
	for i := 0; i+1 < len(nv); i += 2 {
		if nv[i+1] != "" {
			rows = append(rows, []string{nv[i], nv[i+1]})
		}
	}
	table(w, rows)
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// progress shows how far long work has come, if a person is watching. step
// adds one; end takes the bar away.
func (c *call) progress(what string, total int) (step func(n int), end func()) {
	if !c.errTTY {
		return func(int) {}, func() {}
	}
	bar := progressbar.NewOptions(total,
		progressbar.OptionSetWriter(c.err), progressbar.OptionSetDescription(what), progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(24))
	return func(n int) { _ = bar.Add(n) }, func() { _ = bar.Finish() }
}
