package main

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/runenames"
)

// plain is what a character stands for: its compatible form (NFKC), with the
// marks taken off where letters of ours are left.
func plain(r rune) (string, bool) {
	if r >= 0xac00 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff || r >= 0x2f800 && r <= 0x2fa1f || invisible(r) {
		return "", false // Hangul is not taken apart; ideographs have no plainer form
	}
	if c, ok := letterOfName(r); ok {
		return c, true
	}
	s := norm.NFKC.String(string(r))
	if bare := strip(norm.NFKD.String(string(r))); bare != "" && ascii(bare) {
		s = bare
	}
	if s == string(r) || len([]rune(s)) > longest {
		return "", false
	}
	return s, true
}

// invisible are the characters that the unfolder judges one by one.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Mn, unicode.Variation_Selector) || r == 0x3164 || r == 0xffa0 || r == 0x115f || r == 0x1160
}

// resembles is what a character is confused with, where that is ASCII.
func resembles(r rune, skeletons map[rune]string) (string, bool) {
	if invisible(r) {
		return "", false
	}
	if c := supplement[r]; c != "" {
		return c, true
	}
	s := strip(norm.NFKD.String(skeletons[r]))
	if s == "" {
		return "", false
	}
	for _, c := range s {
		if c >= 0x80 {
			low, ok := letterOfName(c)
			if !ok {
				return "", false
			}
			s = strings.ReplaceAll(s, string(c), low)
		}
	}
	if len(s) > longest || unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) && !sound(r, s) {
		return "", false
	}
	if s == "l" && unicode.IsUpper(r) { // UTS #39 has one skeleton for I and l
		s = "I"
	}
	return s, true
}

// sound tells whether a letter of another script can stand for one of ours in a
// word: one letter or digit, and not out of a script that is never mixed with
// ours, where a stroke or a ring is all that is alike.
func sound(r rune, s string) bool {
	if unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Han, unicode.Hiragana,
		unicode.Katakana, unicode.Hangul, unicode.Bopomofo, unicode.Devanagari, unicode.Thai) {
		return false
	}
	return len(s) == 1 && (s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z' || s[0] >= '0' && s[0] <= '9')
}

// letterOfName finds letters that have no compatible form but are named for one:
// small capitals, turned and squared letters, regional indicators.
func letterOfName(r rune) (string, bool) {
	name := runenames.Name(r)
	for _, p := range []struct {
		prefix string
		upper  bool
	}{
		{"LATIN LETTER SMALL CAPITAL ", false},
		{"LATIN SMALL LETTER TURNED ", false},
		{"LATIN CAPITAL LETTER TURNED ", true},
		{"LATIN CAPITAL LETTER REVERSED ", true},
		{"LATIN SMALL LETTER REVERSED ", false},
		{"NEGATIVE CIRCLED LATIN CAPITAL LETTER ", true},
		{"NEGATIVE SQUARED LATIN CAPITAL LETTER ", true},
		{"PARENTHESIZED LATIN SMALL LETTER ", false},
		{"PARENTHESIZED LATIN CAPITAL LETTER ", true},
		{"REGIONAL INDICATOR SYMBOL LETTER ", true},
	} {
		if c, ok := strings.CutPrefix(name, p.prefix); ok && len(c) == 1 {
			if p.upper {
				return c, true
			}
			return strings.ToLower(c), true
		}
	}
	return "", false
}

// supplement are letters that pass for ours in running text, though the Unicode
// file pairs them with other letters or with none. Our own.
var supplement = map[rune]string{
	'м': "m", 'к': "k", 'п': "n", 'г': "r", 'т': "t", 'в': "b", 'н': "h", 'ү': "y", 'ё': "e", 'ї': "i",
	'ε': "e", 'η': "n", 'κ': "k", 'τ': "t", 'χ': "x", 'ω': "w", 'β': "b",
	'ո': "n", 'ս': "u", 'օ': "o", 'ց': "g", 'հ': "h",
}

// strip takes combining marks off.
func strip(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, s)
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
