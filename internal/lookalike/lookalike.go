// Package lookalike says what a text looks like in lower-case ASCII letters: what
// compatible forms stand for, what letters of other scripts resemble, without the
// characters that do not show. Two names that a person, a file system or a lenient
// server could take for each other have one skeleton.
//
// It is made for names, not for prose: "maın" and "маin" are "main" here, and so
// would be a Russian word that happens to be made of such letters.
package lookalike

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Table is for each character what it stands for ("fold") or looks like ("look"), made
// of the Unicode character and security data. To make it anew, set CONFUSABLES to the
// path of their confusables.txt.
//
//go:generate sh -c "go run ../foldtable -confusables \"$CONFUSABLES\" >fold.tmp && mv fold.tmp fold.txt"
//go:embed fold.txt
var Table string

// looks is made when the first character beyond ASCII needs it.
var looks = sync.OnceValue(func() map[rune]string {
	m := make(map[rune]string, 8192)
	for line := range strings.Lines(Table) {
		if line[0] != '"' {
			continue
		}
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			panic("lookalike: " + err.Error())
		}
		to, err := strconv.Unquote(quoted)
		if err != nil {
			panic("lookalike: " + err.Error())
		}
		to = strings.Map(lower, to)
		for f := range strings.FieldsSeq(line[len(quoted):]) {
			a, b := span(f)
			for c := a; c <= b; c++ {
				m[c] = to
			}
		}
	}
	return m
})

// span reads a character or a range of them: 1C3 or 2000-200A.
func span(f string) (a, b rune) {
	from, till, ranged := strings.Cut(f, "-")
	if !ranged {
		till = from
	}
	x, err := strconv.ParseUint(from, 16, 21)
	y, err2 := strconv.ParseUint(till, 16, 21)
	if err != nil || err2 != nil {
		panic("lookalike: fold.txt: " + f)
	}
	return rune(x), rune(y)
}

// Fold appends the skeleton of s to b. Where all of s is ASCII that is s in lower
// case. What resembles no ASCII is kept, in lower case; broken UTF-8 becomes U+FFFD.
func Fold(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf {
			return foldMore(b, s[i:])
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}

func foldMore(b []byte, s string) []byte {
	m := looks()
	for _, c := range s {
		if to, ok := m[c]; ok {
			b = append(b, to...)
		} else if c = lower(c); c >= 0 {
			b = utf8.AppendRune(b, c)
		}
	}
	return b
}

// lower is a character in lower case, whatever its case; negative where it does not
// show.
func lower(c rune) rune {
	if Unseen(c) {
		return -1
	}
	return unicode.ToLower(unicode.ToUpper(c))
}

// Unseen tells whether a character does not show where it stands, or is drawn over
// another: format characters, combining marks, variation selectors and fillers.
func Unseen(c rune) bool {
	return unicode.In(c, unicode.Cf, unicode.Mn, unicode.Me, unicode.Variation_Selector) ||
		c == 0x3164 || c == 0xffa0 || c == 0x115f || c == 0x1160 || c == 0x2800
}
