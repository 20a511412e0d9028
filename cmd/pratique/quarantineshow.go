package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/term"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/holds"
)

// heldOutput is one thing in quarantine, whole.
type heldOutput struct {
	heldThing
	Found []heldFinding `json:"found" doc:"why the verdict is what it is"`
	Texts []heldText    `json:"texts" doc:"every text and name in it that an agent would read"`
	Whole string        `json:"whole,omitzero" doc:"all of it, where it cannot be taken apart"`
	Left  leftOut       `json:"left_out,omitzero" doc:"what is too much to be shown; --raw has all of it"`
}

// leftOut counts what is not shown.
type leftOut struct {
	Texts int   `json:"texts" doc:"texts and names, those of which a part is shown too"`
	Bytes int64 `json:"bytes"`
}

func (l *leftOut) add(n int) { l.Texts, l.Bytes = l.Texts+1, l.Bytes+int64(n) }

// heldFinding is one reason.
type heldFinding struct {
	Category quarantine.Category `json:"category"`
	Verdict  string              `json:"verdict"`
	Path     string              `json:"path" doc:"where in the item or result"`
	From     int                 `json:"from" doc:"first byte of the text"`
	To       int                 `json:"to" doc:"byte after the last; 0: the whole text"`
	Said     string              `json:"said,omitzero" doc:"what stands there, escaped"`
	Sentence string              `json:"sentence,omitzero" doc:"where parts of the item are held against each other: what does not fit"`
}

// heldText is one text, escaped, with what was found in it in ⟦⟧.
type heldText struct {
	Path string          `json:"path"`
	Kind quarantine.Kind `json:"kind" doc:"of its place: name, title, description, value, uri, instructions, result, message"`
	Text string          `json:"text"`
}

func (o heldOutput) show(w io.Writer) {
	version := ""
	if o.Ver > 0 {
		version = fmt.Sprintf("%d.%d", o.Gen, o.Ver)
	}
	by := string(o.By)
	if o.Loose {
		by += " (unprotected)"
	}
	pairs(w, "id", o.ID, "state", o.State, "by", by, "upstream", o.Upstream, "kind", o.Kind, "method", o.Method, "name", o.Name, "version", version, "digest", o.Digest.String(),
		"verdict", o.Verdict, "conduct", o.Conduct, "reason", o.Reason, "cut", map[bool]string{true: "the agent got the rest"}[o.Cut], "agent", string(o.Agent), "run", o.Run, "call", o.Call,
		"size", strconv.FormatInt(o.Size, 10), "at", moment(o.At))
	for _, s := range o.Signs {
		fmt.Fprintf(w, "observed: %s\n", s)
	}
	for _, f := range o.Found {
		fmt.Fprintf(w, "found: %s: %s at %s", f.Verdict, f.Category, f.Path)
		if f.Said != "" {
			fmt.Fprintf(w, ": %s", f.Said)
		}
		if f.Sentence != "" {
			fmt.Fprintf(w, ": %s", f.Sentence)
		}
		fmt.Fprintln(w)
	}
	for _, t := range o.Texts {
		fmt.Fprintf(w, "%s (%s)\n    %s\n", t.Path, t.Kind, t.Text)
	}
	if o.Whole != "" {
		fmt.Fprintf(w, "(all of it)\n    %s\n", o.Whole)
	}
	if o.Left.Texts > 0 {
		fmt.Fprintf(w, "left out: %d bytes of %d texts; --raw has all of it\n", o.Left.Bytes, o.Left.Texts)
	}
	if !o.Kept {
		fmt.Fprintln(w, "the content was too large to be kept")
	}
}

// errTerminal refuses raw bytes for a terminal, which would obey them.
var errTerminal = errors.New("the bytes as they came do not go to a terminal, which would obey what is in them")

func showQuarantine(c *call) (any, error) {
	if c.is("raw") && c.is("json") {
		return nil, usagef("--raw and --json exclude each other")
	}
	if c.is("raw") && isTerminal(c.out) {
		return nil, errTerminal
	}
	return c.onWard(false, func(w *ward) (any, error) {
		t, err := w.thing(c)
		if err != nil {
			return nil, err
		}
		raw := t.raw
		if t.hold != nil {
			if raw, err = w.holds.Content(t.ID); err != nil && !(errors.Is(err, holds.ErrNotKept) && !c.is("raw")) {
				return nil, err
			}
		}
		if c.is("raw") {
			_, err := c.out.Write(raw)
			return nil, err
		}
		return wholeOf(t, raw), nil
	})
}

// isTerminal tells whether a person's screen reads what is written.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Bounds of what is shown, in bytes of what somebody else wrote: as an escape a
// byte takes up to eight. Texts with findings come first.
const (
	shownSaid  = 4 << 10 // of what one finding is about
	shownText  = 1 << 20 // of one text
	shownInAll = 4 << 20
)

// wholeOf takes a thing apart for people.
func wholeOf(t heldThing, raw []byte) heldOutput {
	o := heldOutput{heldThing: t, Found: []heldFinding{}, Texts: []heldText{}}
	set, err := specimensOf(t, raw)
	if err != nil || len(set) == 0 {
		n := min(len(raw), shownInAll)
		o.Whole, set = visibleText(string(raw[:n])), nil
		if n < len(raw) {
			o.Left.add(len(raw) - n)
		}
	}
	at := make(map[int][]quarantine.Finding) // by text
	sentences := inspect.Reasons(set, t.found)
	for n, f := range t.found {
		i := placeOf(f, set)
		h := heldFinding{Category: f.Category, Verdict: f.Verdict.String(), Path: baseline.Visible(f.Path), From: f.Span.From, To: f.Span.To, Sentence: sentences[n]}
		if i >= 0 {
			at[i] = append(at[i], f)
			if f.Span.To > f.Span.From {
				to := min(f.Span.To, f.Span.From+shownSaid)
				if h.Said = visibleText(set[i].Text[f.Span.From:to]); to < f.Span.To {
					h.Said += " …"
				}
			}
		}
		o.Found = append(o.Found, h)
	}
	o.texts(set, at)
	return o
}

// texts adds the texts that there is room for.
func (o *heldOutput) texts(set []quarantine.Specimen, at map[int][]quarantine.Finding) {
	room := shownInAll
	give := func(s *quarantine.Specimen) (n int) {
		n = min(len(s.Text), shownText, max(0, room-len(s.Path)))
		room -= len(s.Path) + n
		return n
	}
	first := make(map[int]int, len(at)) // bytes of those with findings
	for _, i := range slices.Sorted(maps.Keys(at)) {
		first[i] = give(&set[i])
	}
	for i := range set {
		s := &set[i]
		n, ok := first[i]
		if !ok {
			n = give(s)
		}
		if n < len(s.Text) {
			o.Left.add(len(s.Text) - n)
		}
		if n > 0 {
			o.Texts = append(o.Texts, heldText{Path: baseline.Visible(s.Path), Kind: s.Kind, Text: markedText(s.Text[:n], within(at[i], n))})
		}
	}
}

// within are the findings that begin in the first n bytes of a text, as far as they
// stand there.
func within(found []quarantine.Finding, n int) (out []quarantine.Finding) {
	for _, f := range found {
		if f.Span.From < n {
			f.Span.To = min(f.Span.To, n)
			out = append(out, f)
		}
	}
	return out
}

// specimensOf takes the content apart as the inspector had it.
func specimensOf(t heldThing, raw []byte) ([]quarantine.Specimen, error) {
	if t.hold == nil {
		return quarantine.Specimens(string(t.key.Kind), jsontext.Value(raw))
	}
	switch t.hold.Form {
	case holds.FormResult:
		return quarantine.ResultSpecimens(t.hold.Method, jsontext.Value(raw))
	case holds.FormError:
		return quarantine.ErrorSpecimens(jsontext.Value(raw))
	}
	return quarantine.MessageSpecimens(t.hold.Method, jsontext.Value(raw))
}

// placeOf is the text that a finding is about: by its place where that fits, else
// the first under its path that is long enough; -1 where there is none.
func placeOf(f quarantine.Finding, set []quarantine.Specimen) int {
	fits := func(s quarantine.Specimen) bool {
		return s.Path == f.Path && f.Span.From >= 0 && f.Span.From <= f.Span.To && f.Span.To <= len(s.Text)
	}
	if f.At >= 0 && f.At < len(set) && fits(set[f.At]) {
		return f.At
	}
	return slices.IndexFunc(set, fits)
}

// The brackets of what was found. A text's own are written as escapes.
const openMark, closeMark = "⟦", "⟧"

var ownMarks = strings.NewReplacer(openMark, `\u{27e6}`, closeMark, `\u{27e7}`)

// visibleText is a text of somebody else's in which nothing passes for ours.
func visibleText(s string) string { return ownMarks.Replace(baseline.Visible(s)) }

// markedText is visibleText with what was found in brackets that name it. Findings
// that overlap share theirs.
func markedText(text string, found []quarantine.Finding) string {
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b quarantine.Finding) int { return a.Span.From - b.Span.From })
	var b strings.Builder
	at := 0
	for i := 0; i < len(found); {
		from, to := found[i].Span.From, found[i].Span.To
		names := []string{string(found[i].Category)}
		for i++; i < len(found) && found[i].Span.From < to; i++ {
			to = max(to, found[i].Span.To)
			if n := string(found[i].Category); !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
		if from == to { // of the whole text, or of nothing that can be shown
			continue
		}
		b.WriteString(visibleText(text[at:from]))
		b.WriteString(openMark + strings.Join(names, "+") + " " + visibleText(text[from:to]) + closeMark)
		at = to
	}
	b.WriteString(visibleText(text[at:]))
	return b.String()
}
