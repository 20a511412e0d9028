package cut

import (
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/quarantine"
)

// Mark puts the marker before each line and between the words of every text of
// raw, where the white space was: whoever reads it sees of each word that it is
// data. The marker is drawn for one result, after it came. Single words that no
// finding is about, names, addresses and base64 stay as they are; a finding that is
// about one of the last three is ErrCannotCut. ErrGrows where the marks would take more room than four
// times the content.
func Mark(raw jsontext.Value, set []quarantine.Specimen, findings []quarantine.Finding, marker string) (jsontext.Value, error) {
	if !printable(marker) {
		return nil, ErrNotice
	}
	about := map[int]bool{} // by where a token begins: it holds a finding
	for _, f := range findings {
		if f.Verdict == quarantine.Clear {
			continue
		}
		s, err := specimenOf(set, f)
		if err != nil {
			return nil, err
		}
		if s.Form != quarantine.FormText || s.Name && !s.Inner {
			return nil, ErrCannotCut
		}
		about[s.Token.From] = true
	}
	most := 4*len(raw) + 4096
	out := make([]byte, 0, len(raw)+len(raw)/2)
	at := 0
	for _, t := range texts(set) {
		if t.From < at || t.To > len(raw) || t.To-t.From < 2 {
			return nil, ErrPlace
		}
		text, err := jsontext.AppendUnquote(nil, raw[t.From:t.To])
		if err != nil {
			return nil, ErrPlace
		}
		out = append(out, raw[at:t.From]...)
		said := string(text)
		if about[t.From] || strings.IndexFunc(said, unicode.IsSpace) >= 0 {
			var ok bool
			if said, ok = marked(said, marker, most-len(out)); !ok {
				return nil, ErrGrows
			}
		}
		if out, err = jsontext.AppendQuote(out, said); err != nil {
			return nil, ErrPlace
		}
		if at = t.To; len(out) > most {
			return nil, ErrGrows
		}
	}
	out = append(out, raw[at:]...)
	if !jsontext.Value(out).IsValid() {
		return nil, ErrPlace
	}
	return out, nil
}

// texts are the tokens that may be marked, in order.
func texts(set []quarantine.Specimen) []quarantine.Span {
	tokens := make([]quarantine.Span, 0, len(set))
	for i := range set {
		if s := &set[i]; s.Form == quarantine.FormText && !s.Name && !s.Inner {
			tokens = append(tokens, s.Token)
		}
	}
	slices.SortFunc(tokens, func(a, b quarantine.Span) int { return a.From - b.From })
	return tokens
}

// marked is a text with its marks. ok is false where it would be longer than most.
func marked(text, marker string, most int) (_ string, ok bool) {
	var b strings.Builder
	b.Grow(len(text) + len(text)/2)
	b.WriteString(marker)
	space := false
	for _, r := range text {
		if b.Len() > most {
			return "", false
		}
		switch {
		case r == '\n' || r == '\u2028' || r == '\u2029':
			b.WriteByte('\n')
			b.WriteString(marker)
			space = true
		case unicode.IsSpace(r):
			if !space {
				b.WriteString(marker)
			}
			space = true
		default:
			b.WriteRune(r)
			space = false
		}
	}
	return b.String(), true
}
