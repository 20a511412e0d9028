package inspect

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// lookalikes are letters of other scripts that pass for Latin ones. Small and
// our own; compatible forms (full width, mathematical) are left to NFKD.
var lookalikes = map[rune]byte{
	'а': 'a', 'в': 'b', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'ё': 'e', 'һ': 'h', 'н': 'h', 'і': 'i', 'ї': 'i', 'ј': 'j', 'к': 'k', 'ӏ': 'l',
	'м': 'm', 'п': 'n', 'о': 'o', 'р': 'p', 'ԛ': 'q', 'г': 'r', 'ѕ': 's', 'т': 't', 'у': 'y', 'ѵ': 'v', 'ԝ': 'w', 'х': 'x', 'ү': 'y',
	'А': 'a', 'В': 'b', 'С': 'c', 'Е': 'e', 'Н': 'h', 'І': 'i', 'Ј': 'j', 'К': 'k', 'М': 'm', 'О': 'o', 'Р': 'p', 'Ѕ': 's', 'Т': 't', 'У': 'y', 'Х': 'x',
	'α': 'a', 'β': 'b', 'ϲ': 'c', 'ε': 'e', 'η': 'n', 'ι': 'i', 'κ': 'k', 'ν': 'v', 'ο': 'o', 'ρ': 'p', 'τ': 't', 'υ': 'u', 'ω': 'w', 'χ': 'x', 'γ': 'y',
	'Α': 'a', 'Β': 'b', 'Ε': 'e', 'Ζ': 'z', 'Η': 'h', 'Ι': 'i', 'Κ': 'k', 'Μ': 'm', 'Ν': 'n', 'Ο': 'o', 'Ρ': 'p', 'Τ': 't', 'Υ': 'y', 'Χ': 'x',
	'ո': 'n', 'ս': 'u', 'օ': 'o', 'ց': 'g', 'հ': 'h', 'ɡ': 'g', 'ɑ': 'a', 'ı': 'i', 'ɩ': 'i', 'ʏ': 'y', 'ᴀ': 'a', 'ᴇ': 'e', 'ᴏ': 'o', 'ʀ': 'r', 'ꜱ': 's', 'ᴛ': 't',
	'ø': 'o', 'đ': 'd', 'ł': 'l',
}

// other reads what is not plain ASCII at i: a rune, a backslash escape as in
// JSON, a numeric character reference as in HTML. It returns the bytes read.
func (r *reader) other(i int) int {
	switch s := r.text[i:]; s[0] {
	case '\\':
		return r.escape(i, s)
	case '&':
		if c, n := reference(s); n > 0 {
			r.fold(c, i)
			return n
		}
		r.end(i)
		return 1
	default:
		c, n := utf8.DecodeRuneInString(s)
		r.fold(c, i)
		return n
	}
}

func (r *reader) escape(i int, s string) int {
	if len(s) >= 6 && s[1] == 'u' {
		if v, err := strconv.ParseUint(s[2:6], 16, 16); err == nil {
			r.fold(rune(v), i)
			return 6
		}
	}
	r.end(i)
	if len(s) > 1 && strings.IndexByte(`ntr"/`, s[1]) >= 0 {
		return 2
	}
	return 1
}

// reference reads &#105; or &#x69;.
func reference(s string) (rune, int) {
	if len(s) < 4 || s[1] != '#' {
		return 0, 0
	}
	end := strings.IndexByte(s[:min(len(s), 12)], ';')
	if end < 0 {
		return 0, 0
	}
	digits, base := s[2:end], 10
	if digits != "" && (digits[0] == 'x' || digits[0] == 'X') {
		digits, base = digits[1:], 16
	}
	v, err := strconv.ParseUint(digits, base, 21)
	if err != nil {
		return 0, 0
	}
	return rune(v), end + 1
}

// fold adds a rune to the word as the ASCII letter that it stands for or looks
// like; ends the word at anything else; and takes no notice of what is
// invisible.
func (r *reader) fold(c rune, at int) {
	switch {
	case c < utf8.RuneSelf:
		r.foldASCII(byte(c), at)
		return
	case c == 0x2019: // don’t
		return
	case c >= 0x300 && c <= 0x36f, ignorable(c):
		return
	case c >= 0x3000 && c < 0xd800: // CJK, Kana, Hangul: no letters of ours
		r.end(at)
		return
	}
	if b, ok := lookalikes[c]; ok {
		r.letter(b, at)
		return
	}
	var buf [utf8.UTFMax]byte
	n := utf8.EncodeRune(buf[:], c)
	d := norm.NFKD.Properties(buf[:n]).Decomposition()
	if len(d) == 0 || d[0] >= utf8.RuneSelf {
		if g, _ := utf8.DecodeRune(d); len(d) > 0 && lookalikes[g] != 0 { // a mathematical Greek letter
			r.letter(lookalikes[g], at)
			return
		}
		r.end(at)
		return
	}
	for _, b := range d {
		if b < utf8.RuneSelf {
			r.foldASCII(b, at)
		}
	}
}

func (r *reader) foldASCII(b byte, at int) {
	switch ascii[b] {
	case 'a':
		r.letter(b|0x20, at)
	case '0':
		r.letter(b, at)
	default:
		r.end(at)
	}
}

// reversed is what a person sees, and a model may read, behind a right-to-left
// override: the runes up to the end of it, or to the next one, turned round.
func reversed(s string) string {
	end := strings.IndexAny(s, "\u202c\u202d\u202e\n")
	if end < 0 {
		end = len(s)
	}
	var b strings.Builder
	b.Grow(end)
	for t := s[:end]; t != ""; {
		c, n := utf8.DecodeLastRuneInString(t)
		b.WriteRune(c)
		t = t[:len(t)-n]
	}
	return b.String()
}
