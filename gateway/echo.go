package gateway

import (
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/quarantine"
)

// minEcho is how many letters an answer and the arguments of its call have in common,
// one behind the other, where the answer repeats them. It is little: servers quote,
// escape, cut and change what they repeat, and what is taken for an echo in vain only
// counts for nothing.
const minEcho = 6

// toolsOwn is the verdict of an error text as far as its words are the tool's own. Honest
// servers repeat what they were asked ("no such town: …"), and what they found at an
// address that the call named: neither an agent nor a third party may turn a tool
// suspect for everybody. What may be theirs counts for nobody; it is withheld all the
// same.
func (s *Session) toolsOwn(w *recorded, x *sent, r *ruling) quarantine.Verdict {
	if r.verdict != quarantine.Hostile && r.verdict != quarantine.Suspect {
		return r.verdict
	}
	set, err := x.specimens() // as it came: what was cut is not in the ruling's any more
	if err != nil {
		return r.verdict
	}
	given := w.p.name + " " + argumentWords(w.p.arguments())
	asked := letters(given)
	own := false
	for _, f := range r.report.Findings {
		if f.Verdict == quarantine.Clear || f.At < 0 || f.At >= len(set) {
			continue
		}
		text := set[f.At].Text
		if f.Span.From < 0 || f.Span.To > len(text) || f.Span.From > f.Span.To {
			continue
		}
		own = own || !shares(letters(text[f.Span.From:f.Span.To]), asked)
	}
	switch {
	case !own:
		return quarantine.Clear
	case strings.Contains(given, "://") || strings.Contains(given, "www."):
		return quarantine.Suspect // maybe the words of whoever is there
	}
	return r.verdict
}

// letters are the letters and digits of a text, small.
func letters(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return unicode.ToLower(c)
		}
		return -1
	}, s)
}

// shares tells whether a run of minEcho letters of the one, or all of it, is in the other.
func shares(a, in string) bool {
	if len(a) < minEcho {
		return strings.Contains(in, a)
	}
	known := make(map[string]bool, len(in))
	for i := 0; i+minEcho <= len(in); i++ {
		known[in[i:i+minEcho]] = true
	}
	for i := 0; i+minEcho <= len(a); i++ {
		if known[a[i:i+minEcho]] {
			return true
		}
	}
	return false
}

// argumentWords are the strings and names in arguments, one behind the other.
func argumentWords(v jsontext.Value) string {
	var b strings.Builder
	gatherWords(v, &b)
	return b.String()
}

func gatherWords(v jsontext.Value, b *strings.Builder) {
	switch v.Kind() {
	case '"':
		if t, ok := mcp.String(v); ok {
			b.WriteString(t)
		}
	case '{':
		for name, sub := range mcp.Members(v) {
			b.WriteString(name)
			gatherWords(sub, b)
		}
	case '[':
		for sub := range mcp.Elements(v) {
			gatherWords(sub, b)
		}
	}
}
