package unfold

import (
	"unicode"
	"unicode/utf8"
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
	csi  = 0x9b // the same with its bracket, in one character
)

// unseen are the characters that are not seen where they stand, or are drawn over
// the letter before; and the control characters of the second set.
var unseen = [][2]rune{
	{0x80, 0x9f}, {0xad, 0xad}, {0x300, 0x36f}, {0x483, 0x489}, {0x61c, 0x61c}, {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f},
	{0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {zwsp, rlm}, {0x202a, rlo}, {0x2060, 0x206f}, {0x20d0, 0x20ff}, {0x2800, 0x2800}, {0x3164, 0x3164},
	{0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {bom, bom}, {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
}

// mark tells whether a rune is drawn over the letter before it.
func mark(c rune) bool {
	return c >= 0x300 && c <= 0x36f && c != 0x34f || c >= 0x483 && c <= 0x489 || c >= 0x1ab0 && c <= 0x1aff || c >= 0x1dc0 && c <= 0x1dff ||
		c >= 0x20d0 && c <= 0x20ff || c >= 0xfe20 && c <= 0xfe2f
}

// selector tells whether a rune is a variation selector.
func selector(c rune) bool { return c >= 0xfe00 && c <= 0xfe0f || c >= 0xe0100 && c <= 0xe01ef }

// tag tells whether a rune is a tag character.
func tag(c rune) bool { return c >= 0xe0000 && c <= 0xe007f }

// joins tells whether a script shapes its letters by joiners.
func joins(c rune) bool {
	return c >= 0x600 && unicode.In(c, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Devanagari, unicode.Bengali,
		unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam,
		unicode.Sinhala, unicode.Tibetan, unicode.Myanmar, unicode.Khmer)
}

// unspaced tells whether a script has no blanks between words, so that a
// zero-width space marks where a line may break.
func unspaced(c rune) bool {
	return c >= 0xe00 && unicode.In(c, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Han,
		unicode.Hiragana, unicode.Katakana)
}

// pictorial tells whether a rune can be part of an emoji.
func pictorial(c rune) bool {
	return c >= 0x1f000 && c <= 0x1faff || c >= 0x2190 && c <= 0x2bff || c == 0xfe0f || c == 0x20e3 || c == 0xa9 || c == 0xae || c == 0x203c || c == 0x2049
}

func rightToLeft(c rune) bool {
	return c >= 0x590 && unicode.In(c, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana, unicode.Nko)
}

// word tells whether a rune is a letter or digit of ours.
func word(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// before and after are the characters around a place; a blank stands for the
// ends.
func before(text string, i int) rune {
	if i == 0 {
		return ' '
	}
	c, _ := utf8.DecodeLastRuneInString(text[:i])
	return c
}

func after(text string, i int) rune {
	if i >= len(text) {
		return ' '
	}
	c, _ := utf8.DecodeRuneInString(text[i:])
	return c
}

// honest tells whether a character without width has a use where it stands,
// between two others. rtl says that the text has letters that run from right to
// left.
func honest(c, prev, next rune, start, rtl, returned bool) bool {
	between := word(prev) && word(next)
	switch c {
	case bom:
		if start {
			return true
		}
	case zwj:
		if pictorial(prev) && pictorial(next) || joins(prev) || joins(next) {
			return true
		}
	case zwnj:
		if joins(prev) || joins(next) || rightToLeft(prev) {
			return true
		}
	case zwsp:
		if unspaced(prev) || unspaced(next) {
			return true
		}
	case lrm, rlm, 0x61c, 0x202a, 0x202b, 0x202c, 0x2066, 0x2067, 0x2068, 0x2069:
		if rtl {
			return true
		}
	case 0x180b, 0x180c, 0x180d, 0x180e, 0x180f:
		if unicode.Is(unicode.Mongolian, prev) || unicode.Is(unicode.Mongolian, next) {
			return true
		}
	case 0x17b4, 0x17b5:
		if unicode.Is(unicode.Khmer, prev) {
			return true
		}
	case 0x115f, 0x1160:
		if unicode.Is(unicode.Hangul, prev) || unicode.Is(unicode.Hangul, next) {
			return true
		}
	case 0x2800: // a blank of braille
		if prev >= 0x2800 && prev <= 0x28ff || next >= 0x2800 && next <= 0x28ff {
			return true
		}
	case lro, rlo:
		return false
	}
	return returned && !between // pasted text is full of them between words
}
