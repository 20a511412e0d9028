package guard

import (
	"strings"

	"github.com/pratique-dev/pratique/internal/lookalike"
	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/guard/value"
)

// checkPerson judges an object that holds an address, perhaps beside a name; false
// where it holds none. Every member has to be right, its name included: what is not
// known to be harmless is a recipient.
func (w *word) checkPerson(v args.Value, files Files, to *walker) bool {
	found := false
	for m := v.First(); m.Kind() != 0; m = m.Next() {
		var buf [64]byte
		name, plain := squash(buf[:0], m.Name()), plainWord(m.Name())
		if !plain {
			found = true
			to.failIf(w, m, w.text(m.Name(), files))
		}
		switch k := m.Kind(); k {
		case '"':
			if text := m.Text(); !isShown(name) || strings.Contains(string(lookalike.Fold(nil, text)), "@") {
				found = true
				to.failIf(w, m, w.text(text, files))
			} else if !onOneLine(text) {
				to.fail(w, m, value.WhyUnsureRecipient)
			}
		case '{':
			found = w.checkPerson(m, files, to) || found
		case '[':
			found = true
			w.checkArray(m, files, false, to)
		case '0', 't', 'f':
			if plain && !isShown(name) && (k == '0' || !isFact(name)) {
				to.fail(w, m, WhyKind)
			}
		}
	}
	return found
}

// failIf adds what a word refuses, if it does.
func (w *walker) failIf(wd *word, at args.Value, why string) {
	if why != "" {
		w.fail(wd, at, why)
	}
}

// plainWord tells whether a name is made of letters, digits, "_" and "-" alone.
func plainWord(name string) bool {
	for i := range len(name) {
		if c := name[i]; c >= 0x80 || plain[c].letter == 0 && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// isShown tells whether a squashed name is of what is shown beside an address.
func isShown(name []byte) bool {
	switch string(name) {
	case "name", "displayname", "type", "label", "kind":
		return true
	}
	return false
}

// isFact tells whether a squashed name is of something that is so of a person, or not.
func isFact(name []byte) bool {
	switch string(name) {
	case "primary", "default", "verified", "optional", "required", "organizer", "self", "resource", "external", "internal", "active":
		return true
	}
	return false
}

// onOneLine tells whether what is shown beside an address can end neither the line nor
// the name: mail programs put it into a header.
func onOneLine(text string) bool {
	for _, c := range text {
		if c < ' ' || c == 0x7f || c == 0x85 || c == 0x2028 || c == 0x2029 || c == '<' || c == '>' {
			return false
		}
	}
	return !strings.Contains(text, "=?") // words that are encoded
}
