// Package cut takes what an inspector found suspect out of a result or message
// and leaves everything else as it was, byte for byte.
//
// A cut changes only string tokens that hold a finding: a neutral notice stands in
// the place of the suspect words, and of the rest of their line, since what an
// attacker writes is seldom one phrase. In a text that is JSON itself it stands in
// the place of whole values, so that the text stays JSON. What cannot be taken out
// without another thing coming apart - a member's name, an address, an identifier -
// is not cut: then the whole is to be held.
//
// Mark is the loose alternative: nothing is taken out, and every word of the
// result carries a marker that whoever wrote the words could not know.
package cut

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/quarantine"
)

// Errors. On each of them nothing was changed, and the content is to be held. They
// repeat none of it.
var (
	ErrCannotCut = errors.New("cut: a finding is about what cannot be taken out alone")
	ErrPlace     = errors.New("cut: a finding is about no place of this content")
	ErrNotice    = errors.New("cut: a notice or marker is short, printable ASCII without quotes")
	ErrGrows     = errors.New("cut: the content would become too large")
)

// maxNotice is the longest notice or marker, in bytes.
const maxNotice = 256

// Cut takes the text that findings are about out of raw, and puts the notice in
// its place. set is what quarantine made of exactly these bytes, findings what an
// inspector said of the set; clear ones are left alone. What is inside of another
// string takes the value that it stands in along, or the whole outer string. Without
// anything to cut raw itself comes back.
//
// ErrCannotCut: a finding is about a member's name, or about a token that must be
// what it is. ErrPlace: findings, set and raw do not belong together.
func Cut(raw jsontext.Value, set []quarantine.Specimen, findings []quarantine.Finding, notice string) (jsontext.Value, error) {
	if !printable(notice) {
		return nil, ErrNotice
	}
	p := plan{raw: raw, edits: map[int]*edit{}}
	for _, f := range findings {
		if f.Verdict == quarantine.Clear {
			continue
		}
		s, err := specimenOf(set, f)
		if err != nil {
			return nil, err
		}
		if err := p.take(s, f.Span); err != nil {
			return nil, err
		}
	}
	return p.apply(notice)
}

// specimenOf is the specimen that a finding is about.
func specimenOf(set []quarantine.Specimen, f quarantine.Finding) (*quarantine.Specimen, error) {
	if f.At < 0 || f.At >= len(set) {
		return nil, ErrPlace
	}
	s := &set[f.At]
	if s.Path != f.Path || f.Span.From < 0 || f.Span.To < f.Span.From || f.Span.To > len(s.Text) {
		return nil, ErrPlace
	}
	return s, nil
}

// A plan is what is to be done with the tokens of a document.
type plan struct {
	raw   []byte
	edits map[int]*edit // by where the token begins
}

// An edit is what is to be done with one token.
type edit struct {
	token quarantine.Span
	form  quarantine.Form
	text  string            // what the token says
	json  bool              // the text is JSON: ranges are values of it
	whole bool              // nothing of it stays
	out   []quarantine.Span // of text
}

// take plans to take a span out.
func (p *plan) take(s *quarantine.Specimen, span quarantine.Span) error {
	if s.Form == quarantine.FormFixed || s.Name && !s.Inner {
		return ErrCannotCut
	}
	e, err := p.edit(s)
	if err != nil || e.whole {
		return err
	}
	switch {
	case e.form == quarantine.FormBase64:
		e.whole = true
	case s.Inner:
		e.inner(s.Within)
	case e.text != s.Text:
		return ErrPlace
	case span.From == span.To:
		e.whole = true
	case e.json:
		e.values(span)
	default:
		e.out = append(e.out, line(e.text, span))
	}
	return nil
}

// edit is the edit of a specimen's token.
func (p *plan) edit(s *quarantine.Specimen) (*edit, error) {
	t := s.Token
	if e := p.edits[t.From]; e != nil && e.token == t && e.form == s.Form {
		return e, nil
	}
	if t.From < 0 || t.To > len(p.raw) || t.To-t.From < 2 || p.raw[t.From] != '"' || p.edits[t.From] != nil {
		return nil, ErrPlace
	}
	text, err := jsontext.AppendUnquote(nil, p.raw[t.From:t.To])
	if err != nil {
		return nil, ErrPlace
	}
	e := &edit{token: t, form: s.Form, text: string(text)}
	e.json = quarantine.IsDocument(e.text)
	p.edits[t.From] = e
	return e, nil
}

// inner takes a value of a text that is JSON out; without knowing where it stands,
// all of the text.
func (e *edit) inner(at quarantine.Span) {
	if !e.json || at.From < 0 || at.To > len(e.text) || at.To-at.From < 2 || e.text[at.From] != '"' || e.text[at.To-1] != '"' {
		e.whole = true
		return
	}
	e.out = append(e.out, at)
}

// values takes the strings out that a span of a JSON text reaches into. A span that
// reaches into none, or into a member's name only, takes all of the text.
func (e *edit) values(span quarantine.Span) {
	n := len(e.out)
	for i := 0; i < len(e.text); {
		if e.text[i] != '"' {
			i++
			continue
		}
		end := skipString(e.text, i)
		if end > span.From && i < span.To && !isName(e.text, end) {
			e.out = append(e.out, quarantine.Span{From: i, To: end})
		}
		if i = end; i >= span.To {
			break
		}
	}
	e.whole = len(e.out) == n
}

// apply makes the document anew.
func (p *plan) apply(notice string) (jsontext.Value, error) {
	if len(p.edits) == 0 {
		return p.raw, nil
	}
	list := make([]*edit, 0, len(p.edits))
	for _, e := range p.edits {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b *edit) int { return a.token.From - b.token.From })
	out := make([]byte, 0, len(p.raw)+len(list)*(len(notice)+8))
	at := 0
	for _, e := range list {
		if e.token.From < at {
			return nil, ErrPlace
		}
		out = append(out, p.raw[at:e.token.From]...)
		out = e.append(out, p.raw[e.token.From:e.token.To], notice)
		at = e.token.To
	}
	out = append(out, p.raw[at:]...)
	if !jsontext.Value(out).IsValid() {
		return nil, ErrPlace // the set was of other bytes
	}
	return out, nil
}

// append appends the token with the notice in the place of what goes. What stays
// of it keeps its spelling.
func (e *edit) append(dst, token []byte, notice string) []byte {
	switch {
	case e.form == quarantine.FormBase64:
		return append(append(append(dst, '"'), base64.StdEncoding.EncodeToString([]byte(notice))...), '"')
	case e.whole:
		return append(append(append(dst, '"'), notice...), '"')
	case e.json:
		notice = `\"` + notice + `\"`
	}
	at := 0 // of token
	c := cursor{token: token, raw: 1}
	for _, s := range merged(e.out) {
		dst = append(append(dst, token[at:c.seek(s.From)]...), notice...)
		at = c.seek(s.To)
	}
	return append(dst, token[at:]...)
}

// merged are the spans in order, those in one that touch.
func merged(spans []quarantine.Span) []quarantine.Span {
	slices.SortFunc(spans, func(a, b quarantine.Span) int { return a.From - b.From })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

// line is a span with the rest of its line.
func line(text string, s quarantine.Span) quarantine.Span {
	out := quarantine.Span{From: strings.LastIndexByte(text[:s.From], '\n') + 1, To: s.To}
	if text[s.To-1] == '\n' {
		return out
	}
	out.To = len(text)
	if i := strings.IndexByte(text[s.To:], '\n'); i >= 0 {
		out.To = s.To + i
	}
	if out.To > s.To && text[out.To-1] == '\r' {
		out.To--
	}
	return out
}

func printable(notice string) bool {
	for i := range len(notice) {
		if c := notice[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return notice != "" && len(notice) <= maxNotice
}
