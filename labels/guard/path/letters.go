package path

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// letters judges the characters of a text that are not ASCII. In a compatible form
// (folded) fractions have a slash of their own, which the text as it came had not.
func letters(text string, folded bool) string {
	prev := rune(0)
	dotted, other := 0, 0 // of a segment: characters like dots, and what is no dot at all
	for i, c := range text {
		if c < utf8.RuneSelf {
			if c == '/' || c == '\\' {
				if dotted > 0 && other == 0 {
					return WhyLookalike
				}
				dotted, other = 0, 0
			} else if c != '.' {
				other++
			}
			prev = c
			continue
		}
		if why := letterOf(c, prev, text[i:]); why != "" && (why != WhyLookalike || !folded) {
			return why
		}
		if likeDot(c) {
			dotted++
		} else if !ignorable(c) {
			other++
		}
		prev = c
	}
	if dotted > 0 && other == 0 {
		return WhyLookalike
	}
	return ""
}

// letterOf judges one character behind prev, at the beginning of rest.
func letterOf(c, prev rune, rest string) string {
	switch {
	case c == utf8.RuneError:
		return WhyUTF8 // bytes that are no text, or what somebody else put in their place
	case c < 0xa0, c == '\u2028', c == '\u2029':
		return WhyControl
	case ignorable(c):
		if !joins(c, prev, rest[utf8.RuneLen(c):]) {
			return WhyInvisible
		}
	case likeSlash(c) || becomesSign(c):
		return WhyLookalike
	}
	return ""
}

// ignorable tells whether a character is not seen, and dropped by some systems when
// they compare names.
func ignorable(c rune) bool {
	return unicode.In(c, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// joins tells whether an invisible character does its work between letters: joiners in
// scripts and pictures that need them, and selectors of a variant.
func joins(c, prev rune, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	switch {
	case c == '\u200c' || c == '\u200d':
		return prev >= utf8.RuneSelf && next >= utf8.RuneSelf && next != utf8.RuneError
	case c == '\ufe0f' && prev >= '0' && prev <= '9':
		return next == '\u20e3' // a key cap
	case unicode.Is(unicode.Variation_Selector, c):
		return prev >= utf8.RuneSelf
	}
	return false
}

// becomesSign tells whether the compatible form of a character has a sign in it that
// makes a path's parts: full-width dots and slashes, leaders, "a/c".
func becomesSign(c rune) bool {
	var src [utf8.UTFMax]byte
	d := norm.NFKC.Properties(src[:utf8.EncodeRune(src[:], c)]).Decomposition()
	for i := range d {
		if b := d[i]; b == '/' || b == '.' || b == '\\' || kinds[b] == control {
			return true
		}
	}
	return false
}

// likeSlash are characters that pass for a slash or a backslash in Unicode's list of
// confusable characters (UTS 39), letters of living scripts aside.
func likeSlash(c rune) bool {
	switch c {
	case 0x1735, 0x2041, 0x2044, 0x2215, 0x2571, 0x27cb, 0x29f6, 0x29f8, 0x2cc6, 0x31d3, 0x1d23a,
		0x2216, 0x2572, 0x27cd, 0x29f5, 0x29f9, 0x31d4, 0x1d20f, 0x1d23b:
		return true
	}
	return false
}

// likeDot are characters that pass for a dot; in names they are letters and signs of
// their scripts, and are refused where a segment has nothing else.
func likeDot(c rune) bool {
	switch c {
	case 0xb7, 0x660, 0x6d4, 0x6f0, 0x701, 0x702, 0x2022, 0x2219, 0x22c5, 0x3002, 0xff61, 0xa4f8, 0xa4fa, 0xa60e, 0x10a50, 0x1d16d:
		return true
	}
	return false
}

// compatible is a text in compatible form (NFKC), without what is not seen.
func compatible(text string) string {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			t := norm.NFKC.String(text)
			return strings.Map(func(c rune) rune {
				if ignorable(c) {
					return -1
				}
				return c
			}, t)
		}
	}
	return text
}

// loose is a text as a system compares it that cares neither for case nor for form.
func loose(text string) string {
	return strings.ToLower(strings.ToUpper(compatible(text)))
}
