package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/pratique-dev/pratique/quarantine/eval"
)

func evalNoun() noun {
	return noun{name: "eval", usage: "measure the inspector on a corpus of labelled texts", verbs: []verb{{
		usage: "measure the inspector on a corpus of labelled texts",
		about: "DIR is a folder of .jsonl files: one object a line with `id`, `source`, `kind`, `label`, `class`, `text`, and for whole tools `tool` (docs/inspection.md). " +
			"The engine is the real one. Its model is trained anew on all sources but those that are measured, and its thresholds are set there too; nothing is written. " +
			"No text of the corpus is printed: items are named by id, findings by category, path and bytes.",
		flags: []*option{
			{name: "corpus", arg: "DIR", usage: "folder of the corpus", required: true},
			{name: "folds", arg: "N", usage: "parts that the sources are dealt out to; 0: each source is one", kind: number, def: "10"},
			{name: "random", kind: toggle, usage: "hold out items at random in the place of sources, as a contrast: it flatters"},
			{name: "embedded", kind: toggle, usage: "train nothing: the model that is part of this program, which may have seen the items"},
			{name: "all", kind: toggle, usage: "for people: every row, each honest item that is flagged and why, and what is missed"},
		},
		out: evalOutput{}, run: runEval,
	}}}
}

// evalOutput is what was measured.
type evalOutput struct {
	eval.Report
	all bool
}

func runEval(c *call) (any, error) {
	o := eval.Options{Folds: int(min(c.num("folds"), 1<<10)), Now: c.now}
	switch {
	case c.is("random") && c.is("embedded"):
		return nil, usagef("--random and --embedded exclude each other")
	case c.is("random"):
		o.Split = eval.AtRandom
	case c.is("embedded"):
		o.Split = eval.Embedded
	}
	corpus, err := eval.Read(c.str("corpus"))
	switch {
	case errors.Is(err, eval.ErrFolder):
		return nil, &coded{exitNotFound, err}
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errInput, err)
	}
	r, err := eval.Run(c, corpus, o)
	if errors.Is(err, eval.ErrFolds) {
		return nil, fmt.Errorf("%w: %w", errInput, err)
	}
	if err != nil {
		return nil, err
	}
	return evalOutput{Report: *r, all: c.is("all")}, nil
}

func (o evalOutput) show(w io.Writer) {
	fmt.Fprintf(w, "%d items: %d attacks, %d honest; %d left out, since their text cannot tell\n", o.Items, o.Attacks, o.Honest, o.LeftOut)
	fmt.Fprintf(w, "engine %s, held out: %s", o.Engine, o.Split)
	if o.Folds > 0 {
		fmt.Fprintf(w, ", %d folds", o.Folds)
	}
	fmt.Fprint(w, "\n\n")
	o.lines(w, "attack", "ATTACKS", "at least")
	fmt.Fprintln(w)
	o.lines(w, "benign", "HONEST ITEMS", "at most")
	fmt.Fprintln(w)
	o.rows(w)
	if o.all {
		o.why(w)
	}
}

// lines shows what is not clear, by what the items are.
func (o evalOutput) lines(w io.Writer, label, title, aims string) {
	rows := [][]string{{title, "N", "NOT CLEAR", "95 %", "HOSTILE", "RULES", "MODEL", "AIM"}}
	for _, l := range o.Headline {
		if l.Label != label {
			continue
		}
		aim := ""
		if l.Aim > 0 {
			aim = aims + " " + percent(l.Aim)
		}
		name := strings.Replace(l.Name, "  ", "· ", 1)
		rows = append(rows, []string{name, strconv.Itoa(l.Flagged.N), percent(l.Flagged.Rate), between(l.Flagged),
			percent(l.Hostile.Rate), percent(l.Rules.Rate), percent(l.Model.Rate), aim})
	}
	table(w, rows)
}

// rows shows how well attacks and honest items are told apart: by kind, and by
// everything where all was asked for.
func (o evalOutput) rows(w io.Writer) {
	rows := [][]string{{"BY", "", "OF", "ATTACKS", "NOT CLEAR", "HONEST", "NOT CLEAR", "AUC", "AT 1 %", "AT 0.1 %", "µs"}}
	for _, r := range o.Rows {
		if !o.all && r.By != "kind" {
			continue
		}
		row := []string{r.By, r.Name, r.Kind, "", "", "", "", "", "", "", fmt.Sprintf("%.0f", r.Micros)}
		if r.Attacks.N > 0 {
			row[3], row[4] = strconv.Itoa(r.Attacks.N), percent(r.Attacks.Rate)+" "+between(r.Attacks)
			row[7], row[8], row[9] = fmt.Sprintf("%.3f", r.AUC), percent(r.At1.Rate)+" "+between(r.At1), percent(r.At01.Rate)+" "+between(r.At01)
		}
		if r.Honest.N > 0 {
			row[5], row[6] = strconv.Itoa(r.Honest.N), percent(r.Honest.Rate)+" "+between(r.Honest)
		}
		rows = append(rows, row)
	}
	table(w, rows)
}

// why shows each honest item that is not clear with its reasons, and how many
// attacks are missed.
func (o evalOutput) why(w io.Writer) {
	fmt.Fprintln(w)
	rows := [][]string{{"HONEST, NOT CLEAR", "WHAT", "CLASS", "VERDICT", "CATEGORY", "WHERE", "BYTES"}}
	for _, f := range o.Flagged {
		for i, y := range f.Why {
			row := []string{"", "", "", y.Verdict, string(y.Category), y.Path, fmt.Sprintf("%d-%d", y.From, y.To)}
			if i == 0 {
				row[0], row[1], row[2] = f.ID, string(f.Standing), f.Class
			}
			rows = append(rows, row)
		}
	}
	table(w, rows)
	fmt.Fprintln(w)
	rows = [][]string{{"MISSED", "CLASS", "SOURCE", "COUNT", "OF", "FIRST"}}
	for _, m := range o.Missed {
		rows = append(rows, []string{m.Kind, m.Class, m.Source, strconv.Itoa(m.Count), strconv.Itoa(m.Of), strings.Join(m.IDs[:min(3, len(m.IDs))], " ")})
	}
	table(w, rows)
}

func percent(share float64) string {
	if share > 0 && share < 0.01 {
		return fmt.Sprintf("%.2f %%", 100*share)
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}

func between(r eval.Rate) string { return fmt.Sprintf("[%.1f, %.1f]", 100*r.Low, 100*r.High) }
