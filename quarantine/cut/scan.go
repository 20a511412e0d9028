package cut

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// skipString is the index behind the string of a valid JSON text whose opening
// quote is at i.
func skipString(text string, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// isName tells whether a string that ends at i is a member's name.
func isName(text string, i int) bool {
	return strings.HasPrefix(strings.TrimLeft(text[i:], " \t\r\n"), ":")
}

// A cursor finds bytes of a string's text in its token.
type cursor struct {
	token []byte // quotes included
	raw   int    // of token
	text  int    // of what it says
}

// seek is where byte n of the text begins in the token; n does not fall from call
// to call. What stands for several bytes of text is never taken apart: it counts as
// before n.
func (c *cursor) seek(n int) int {
	for c.text < n && c.raw < len(c.token)-1 {
		raw, text := unit(c.token[c.raw : len(c.token)-1])
		c.raw += raw
		c.text += text
	}
	return c.raw
}

// unit is the length of what begins a token's inside: one byte, or one escape, and
// of the text that it stands for.
func unit(b []byte) (raw, text int) {
	if b[0] != '\\' || len(b) < 2 {
		if b[0] < utf8.RuneSelf {
			return 1, 1
		}
		_, n := utf8.DecodeRune(b)
		return n, n
	}
	if b[1] != 'u' {
		return 2, 1
	}
	r := escaped(b)
	if utf16.IsSurrogate(r) {
		if low := escaped(b[min(6, len(b)):]); low >= 0 {
			if r := utf16.DecodeRune(r, low); r != utf8.RuneError {
				return 12, utf8.RuneLen(r)
			}
		}
		r = utf8.RuneError
	}
	return 6, utf8.RuneLen(r)
}

// escaped is the code unit of the \uXXXX that b begins with; negative without one.
func escaped(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}
