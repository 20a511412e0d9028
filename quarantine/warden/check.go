package warden

import (
	"errors"

	"github.com/pratique-dev/pratique/quarantine"
)

var (
	errGarbage = errors.New("the answer is not one of an engine")
	errRefused = errors.New("no language model may be asked about this batch")
)

// categories is the closed set: what is not in it is no word of an engine, and
// reaches no operator. A word that a child sent is replaced by ours, since it is a
// part of all that the child sent, which would stay with it.
var categories = map[quarantine.Category]quarantine.Category{}

func init() {
	for _, c := range []quarantine.Category{
		quarantine.Invisible, quarantine.Lookalike, quarantine.Control, quarantine.Hidden, quarantine.Encoded,
		quarantine.Prose, quarantine.Padding, quarantine.Reference, quarantine.SideParameter, quarantine.OtherTool,
		quarantine.TwinName, quarantine.Contradiction, quarantine.Overreach, quarantine.Tracking, quarantine.SecretValue,
		quarantine.Override, quarantine.Secrets, quarantine.Learned, quarantine.Opinion,
		quarantine.Unreadable, quarantine.Late,
	} {
		categories[c] = c
	}
}

// check holds what an engine says against the batch that it was asked about:
// findings are about specimens that there are and bytes that they have, in words of
// the closed set, and the verdict is no better than any of them. Paths are ours,
// but for the empty one, which speaks of the whole batch. ran are the stages that a
// whole report names.
func check(r quarantine.Report, b *quarantine.Batch, ran string) (quarantine.Report, error) {
	if !judged(r.Verdict) {
		return quarantine.Report{}, errGarbage
	}
	if !r.Partial && r.Engine != ran {
		return quarantine.Report{}, errGarbage
	}
	out := quarantine.Report{Verdict: r.Verdict, Partial: r.Partial, Findings: make([]quarantine.Finding, 0, len(r.Findings))}
	for _, f := range r.Findings {
		word, known := categories[f.Category]
		if f.At < 0 || f.At >= len(b.Specimens) || !known || !judged(f.Verdict) ||
			f.Span.From < 0 || f.Span.To < f.Span.From || f.Span.To > len(b.Specimens[f.At].Text) {
			return quarantine.Report{}, errGarbage
		}
		f.Category = word
		if f.Path != "" {
			f.Path = b.Specimens[f.At].Path
		}
		out.Findings = append(out.Findings, f)
		out.Verdict = quarantine.Worse(out.Verdict, f.Verdict)
	}
	if out.Partial && out.Verdict == quarantine.Clear { // what was not looked at is not clear
		out.Verdict = quarantine.Suspect
	}
	return out, nil
}

// judged says whether v is a verdict that somebody came to.
func judged(v quarantine.Verdict) bool {
	return v == quarantine.Clear || v == quarantine.Suspect || v == quarantine.Hostile
}
