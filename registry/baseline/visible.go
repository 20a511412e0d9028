package baseline

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible writes a text so that all of it is seen and nothing of it is obeyed:
// what prints stays, the rest becomes escapes, \n and \u{202e}; a backslash is
// written twice, so that an escape is never the text's own. Letters that look like
// Latin ones are escaped where they stand in a word with these.
func Visible(s string) string {
	var b strings.Builder
	word, mixed := 0, false // the word that i is in ends there, and has Latin letters
	for i, w := 0, 0; i < len(s); i += w {
		var r rune
		r, w = utf8.DecodeRuneInString(s[i:])
		if i >= word {
			word, mixed = latin(s, i)
		}
		switch {
		case r == utf8.RuneError && w == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\\':
			b.WriteString(`\\`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case unseen(r), mixed && unicode.In(r, lookalikes...):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// lookalikes are the scripts with letters that people take for Latin ones.
var lookalikes = []*unicode.RangeTable{unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee}

// latin finds the end of the word that begins at i, and whether a letter of it is
// Latin. What does not show takes no word apart.
func latin(s string, i int) (end int, found bool) {
	for j, r := range s[i:] {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && (r == ' ' || !unseen(r)) {
			return i + max(j, 1), found
		}
		found = found || unicode.Is(unicode.Latin, r)
	}
	return len(s), found
}

// unseen tells whether a rune does not show as itself: control, format, private
// and unassigned ones, all blanks but the plain one, and those that print as
// nothing although their class says otherwise. Combining marks stay.
func unseen(r rune) bool {
	switch {
	case r == ' ':
		return false
	case !unicode.IsGraphic(r), unicode.IsSpace(r), unicode.Is(unicode.Zs, r):
		return true
	case unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return true
	case r == 0x2800: // an empty Braille cell
		return true
	}
	return false
}
