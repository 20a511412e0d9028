package main

import (
	"fmt"
	"io"

	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/quarantine/intent"
)

func draftVerb() verb {
	return verb{
		name: "draft", usage: "propose an intent from the words of a task and the tools that are cleared",
		about: "The same words and tools give the same draft; no model is asked. It names the tools that the task seems to need, holds their arguments to the paths, branches and projects that the task names, and says of each why it is there. It is for a person to read, cut down and seal: nothing is sealed by it.",
		flags: intentFlags(append(lookFlags(), &option{name: "task", arg: "TEXT", usage: "the task, in a sentence or two", required: true},
			&option{name: "out", arg: "FILE", usage: "new file for the draft, which is then not printed"})...),
		out: draftOutput{}, run: draftIntent,
	}
}

// draftOutput is a draft.
type draftOutput struct {
	Upstream string   `json:"upstream" doc:"the upstream's origin"`
	Tools    []string `json:"tools" doc:"that it names"`
	Text     string   `json:"text,omitzero" doc:"the file of the intent"`
	File     string   `json:"file,omitzero"`
}

func (o draftOutput) show(w io.Writer) {
	if o.File != "" {
		pairs(w, "draft", o.File)
		return
	}
	fmt.Fprint(w, plainLines(o.Text))
}

func draftIntent(c *call) (any, error) {
	file := c.str("out")
	if file != "" && exists(file) {
		return nil, usagef("--out %s exists", file)
	}
	return c.onWard(c.is("look"), func(w *ward) (any, error) {
		at, err := c.upstreamOf(w, c.str("upstream"))
		if err != nil {
			return nil, err
		}
		known, err := w.known(at)
		if err != nil {
			return nil, err
		}
		var catalogue []intent.Offer
		for i := range known {
			if e := &known[i]; e.Kind == gate.Tool && e.Listed == policy.Cleared {
				catalogue = append(catalogue, intent.OfferOf(e.Canonical, e.Effect))
			}
		}
		d, err := intent.DraftOf(c.str("task"), shortOrigin(at), catalogue)
		if err != nil {
			return nil, err
		}
		out := draftOutput{Upstream: at, Tools: d.Tools, Text: d.Text, File: file}
		if file != "" {
			if err := durable.WriteFile(file, []byte(d.Text), 0o600); err != nil {
				return nil, err
			}
			out.Text = ""
		}
		return out, nil
	})
}
