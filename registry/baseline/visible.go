package baseline

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible writes a text so that all of it is seen and nothing of it is obeyed:
// what prints stays, the rest becomes escapes, \n and \u{202e}; a backslash is
// written twice, so that an escape is never the text's own.
func Visible(s string) string {
	var b strings.Builder
	for i, w := 0, 0; i < len(s); i += w {
		var r rune
		r, w = utf8.DecodeRuneInString(s[i:])
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
		case unseen(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
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
