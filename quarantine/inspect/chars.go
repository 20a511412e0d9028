package inspect

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pratique-dev/pratique/quarantine"
)

// Characters that have no width of their own.
const (
	zwsp = 0x200b
	zwnj = 0x200c
	zwj  = 0x200d
	lrm  = 0x200e
	rlm  = 0x200f
	lro  = 0x202d
	rlo  = 0x202e
	bom  = 0xfeff
	flag = 0x1f3f4
	esc  = 0x1b
)

// ignorable tells whether a rune is not seen where it stands.
func ignorable(c rune) bool {
	switch {
	case c == 0xad, c == 0x34f, c == 0x61c, c == 0x115f, c == 0x1160, c == 0x17b4, c == 0x17b5, c >= 0x180b && c <= 0x180f,
		c >= zwsp && c <= rlm, c >= 0x202a && c <= rlo, c >= 0x2060 && c <= 0x206f, c == 0x3164, c >= 0xfe00 && c <= 0xfe0f,
		c == bom, c == 0xffa0, c >= 0xfff0 && c <= 0xfffb, c >= 0x1d173 && c <= 0x1d17a, c >= 0xe0000 && c <= 0xe0fff:
		return true
	}
	return false
}

// selector tells whether a rune is a variation selector.
func selector(c rune) bool { return c >= 0xfe00 && c <= 0xfe0f || c >= 0xe0100 && c <= 0xe01ef }

// joins tells whether a script shapes its letters by joiners.
func joins(c rune) bool {
	return unicode.In(c, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Devanagari, unicode.Bengali,
		unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam,
		unicode.Sinhala, unicode.Tibetan, unicode.Myanmar, unicode.Khmer)
}

// unspaced tells whether a script has no blanks between words, so that a
// zero-width space marks where a line may break.
func unspaced(c rune) bool {
	return unicode.In(c, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// pictorial tells whether a rune can be part of an emoji.
func pictorial(c rune) bool {
	return c >= 0x1f000 && c <= 0x1faff || c >= 0x2190 && c <= 0x2bff || c == 0xfe0f || c == 0x20e3 || c == 0xa9 || c == 0xae || c == 0x203c || c == 0x2049
}

func rightToLeft(c rune) bool {
	return unicode.In(c, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana, unicode.Nko)
}

// letterASCII tells whether a rune is a letter or digit of ours.
func letterASCII(c rune) bool { return c < utf8.RuneSelf && (ascii[c] == 'a' || ascii[c] == '0') }

// characters looks at a text that is not plain ASCII.
func (j *judge) characters(text string) {
	rtl := strings.IndexFunc(text, rightToLeft) >= 0
	p := ' ' // the rune before; a blank stands for the ends
	for i := 0; i < len(text); {
		c, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case c == utf8.RuneError && n == 1:
			j.find(quarantine.Unreadable, quarantine.Suspect, i, i+1)
		case c < utf8.RuneSelf:
		case c >= 0xe0000 && c <= 0xe007f:
			n = j.tags(text, i, p)
		case selector(c):
			n = j.selectors(text, i, p)
		case ignorable(c):
			next, _ := utf8.DecodeRuneInString(text[i+n:])
			if i+n == len(text) {
				next = ' '
			}
			j.invisible(i, i+n, c, p, next, rtl)
			if c == rlo {
				j.view(reversed(text[i+n:]), i)
			}
		case c < 0x530 && c >= 0x370:
			j.lookalike(text, i, n, c, p)
		case c >= 0x80 && c <= 0x9f:
			j.find(quarantine.Control, quarantine.Suspect, i, i+n)
		}
		p = c
		i += n
	}
}

// tags reads a run of tag characters. Behind a black flag they name a region, in
// at most six letters with an end; elsewhere they are text that nobody sees.
func (j *judge) tags(text string, at int, before rune) int {
	var hidden strings.Builder
	n := 0
	var last rune
	for at+n < len(text) {
		c, size := utf8.DecodeRuneInString(text[at+n:])
		if c < 0xe0000 || c > 0xe007f {
			break
		}
		if c >= 0xe0020 && c < 0xe007f {
			hidden.WriteByte(byte(c - 0xe0000))
		}
		last = c
		n += size
	}
	h := hidden.String()
	if before == flag && last == 0xe007f && len(h) >= 3 && len(h) <= 6 && n == 4*(len(h)+1) && strings.Trim(h, "abcdefghijklmnopqrstuvwxyz0123456789") == "" {
		return n
	}
	j.find(quarantine.Invisible, quarantine.Hostile, at, at+n)
	j.view(h, at)
	return n
}

// selectors reads a run of variation selectors. One may follow what has
// variants; more, or one behind a letter, are bytes of a hidden text.
func (j *judge) selectors(text string, at int, before rune) int {
	var hidden []byte
	n := 0
	for at+n < len(text) {
		c, size := utf8.DecodeRuneInString(text[at+n:])
		if !selector(c) {
			break
		}
		if c >= 0xe0100 {
			hidden = append(hidden, byte(c-0xe0100+16))
		} else {
			hidden = append(hidden, byte(c-0xfe00))
		}
		n += size
	}
	if len(hidden) == 1 && before >= 0 && (before > 0xff || before == 0xa9 || before == 0xae || before >= '0' && before <= '9' || before == '#' || before == '*') {
		return n
	}
	verdict := quarantine.Suspect
	if len(hidden) > 3 {
		verdict = quarantine.Hostile
	}
	j.find(quarantine.Invisible, verdict, at, at+n)
	j.view(strings.ToValidUTF8(string(hidden), " "), at)
	return n
}

// invisible judges one character without width by its neighbours.
func (j *judge) invisible(from, to int, c, before, next rune, rtl bool) {
	inWord := letterASCII(before) && letterASCII(next)
	switch c {
	case bom:
		if from == 0 {
			return
		}
	case zwj:
		if pictorial(before) && pictorial(next) || joins(before) || joins(next) {
			return
		}
	case zwnj:
		if joins(before) || joins(next) || rightToLeft(before) {
			return
		}
	case zwsp:
		if unspaced(before) || unspaced(next) {
			return
		}
	case lrm, rlm, 0x61c, 0x202a, 0x202b, 0x202c, 0x2066, 0x2067, 0x2068, 0x2069:
		if rtl || j.returned && !inWord {
			return
		}
	case 0x180b, 0x180c, 0x180d, 0x180e, 0x180f:
		if unicode.Is(unicode.Mongolian, before) || unicode.Is(unicode.Mongolian, next) {
			return
		}
	case 0x17b4, 0x17b5:
		if unicode.Is(unicode.Khmer, before) {
			return
		}
	case 0x115f, 0x1160:
		if unicode.Is(unicode.Hangul, before) || unicode.Is(unicode.Hangul, next) {
			return
		}
	case lro, rlo:
		j.find(quarantine.Invisible, quarantine.Suspect, from, to)
		return
	}
	if j.returned && !inWord {
		return // pasted text is full of them between words
	}
	j.find(quarantine.Invisible, quarantine.Suspect, from, to)
}

// lookalike finds a letter of another script that stands between Latin ones.
func (j *judge) lookalike(text string, at, n int, c, before rune) {
	if j.returned || lookalikes[c] == 0 {
		return
	}
	next, _ := utf8.DecodeRuneInString(text[at+n:])
	latin := func(c rune) bool { return c > 0 && c < utf8.RuneSelf && ascii[c] == 'a' }
	if latin(before) && latin(next) || j.kind == quarantine.KindName && (latin(before) || latin(next)) {
		j.find(quarantine.Lookalike, quarantine.Suspect, at, at+n)
	}
}

// controls looks at control characters. In what is returned, colours are fine
// and concealing is not; in metadata nothing of it has a use.
func (j *judge) controls(text string) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c >= ' ' && c != 0x7f, c == '\n', c == '\r', c == '\t':
		case c == esc && j.returned:
			if conceals(text[i+1:]) {
				j.find(quarantine.Control, quarantine.Suspect, i, i+1)
			}
		case c == esc:
			j.find(quarantine.Control, quarantine.Hostile, i, i+1)
		case !j.returned:
			j.find(quarantine.Control, quarantine.Suspect, i, i+1)
		}
	}
}

// conceals tells whether what follows an escape hides text or leaves the text: a
// conceal attribute, a line erased, an operating system command.
func conceals(s string) bool {
	if s == "" {
		return false
	}
	if s[0] == ']' {
		return !strings.HasPrefix(s, "]8;") && !strings.HasPrefix(s, "]0;")
	}
	if s[0] != '[' {
		return false
	}
	end := strings.IndexFunc(s[1:min(len(s), 40)], func(c rune) bool { return c >= '@' && c <= '~' })
	if end < 0 {
		return false
	}
	params, final := s[1:1+end], s[1+end]
	if final == 'K' {
		return params == "2"
	}
	if final != 'm' {
		return false
	}
	list := strings.Split(params, ";")
	for k := 0; k < len(list); k++ {
		switch list[k] {
		case "38", "48": // a colour's own parameters follow
			if k+1 < len(list) && list[k+1] == "5" {
				k += 2
			} else {
				k += 4
			}
		case "8", "08":
			return true
		}
	}
	return false
}
