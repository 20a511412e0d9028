// Command train makes the embedded model of a corpus:
//
//	go run ./internal/train --corpus DIR
//
// The same corpus gives the same file, bit for bit, on every machine. What it is
// made of, and how well it does, is in docs/inspection.md.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/quarantine/eval"
	"github.com/pratique-dev/pratique/quarantine/eval/learn"
	"github.com/pratique-dev/pratique/quarantine/inspect/model"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func run(args []string, log io.Writer) error {
	flags := flag.NewFlagSet("train", flag.ContinueOnError)
	flags.SetOutput(log)
	corpus := flags.String("corpus", "", "folder of labelled items")
	out := flags.String("out", "quarantine/inspect/model/weights.bin", "file to write")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *corpus == "" || flags.NArg() > 0 {
		return errors.New("wants --corpus DIR, and nothing after the flags")
	}
	c, err := eval.Read(*corpus)
	if err != nil {
		return err
	}
	w, err := Train(c)
	if err != nil {
		return err
	}
	m := model.New(w)
	used := 0
	for _, v := range w.Table {
		if v != 0 {
			used++
		}
	}
	b := w.Format()
	fmt.Fprintf(log, "%s %s: %d bytes, %d weights\n", *out, m.Digest(), len(b), used)
	for p := range model.Places {
		fmt.Fprintf(log, "place %d: suspect from %d on, %+.2f above even\n", p, w.Suspect[p], float64(w.Suspect[p])/model.Unit)
	}
	return durable.WriteFile(*out, b, 0o644)
}

// Train makes the weights of a corpus: of all of it but what its text cannot
// tell.
func Train(c *eval.Corpus) (*model.Weights, error) {
	examples, err := c.Examples()
	if err != nil {
		return nil, err
	}
	var set []*learn.Example
	for i, e := range examples {
		if c.Items[i].Standing() != eval.Inseparable {
			set = append(set, e)
		}
	}
	return learn.Fit(set)
}
