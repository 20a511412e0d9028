package content

import (
	"bytes"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// visible is a text without letters that nobody sees, where those that only stand for
// plain letters, digits and signs in another form are these.
func visible(t string) string {
	if spread(t) {
		t = strings.ReplaceAll(t, "\x00", "")
	}
	if !invisible(t) {
		return t
	}
	var b strings.Builder
	for _, r := range t {
		switch {
		case r < 0x80 || !unusual(r):
			b.WriteRune(r)
		case unicode.Is(unicode.Cf, r):
		default:
			b.WriteString(plainForm(r))
		}
	}
	return b.String()
}

// invisible tells whether a text holds letters that nobody sees, or letters in another
// form among so many others that they could be a credential.
func invisible(t string) bool {
	run, odd := 0, false
	for i := 0; i < len(t); {
		if t[i] < 0x80 {
			i++
			run++
			if odd && run >= least {
				return true
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(t[i:])
		i += n
		switch {
		case !unusual(r):
			run, odd = 0, false
		case unicode.Is(unicode.Cf, r):
			return true
		case plainLetter(r):
			run, odd = run+1, true
			if run >= least {
				return true
			}
		default:
			run, odd = 0, false
		}
	}
	return false
}

// unusual tells whether a character may be one that does not show, that stands for a
// plain letter, or that ends a line. Those of most languages cannot.
func unusual(r rune) bool {
	switch {
	case r < 0x2000: // Latin, Greek, Cyrillic, Semitic and Indic letters, Hangul
		return r >= 0xa0 && r < 0xc0 || r == 0x85 || r >= 0x600 && r < 0x900 || r >= 0x1800 && r < 0x1e00
	case r < 0x2060: // dashes, quotation marks
		return r < 0x2010 || r >= 0x2024 && r < 0x2030
	case r < 0x2c00:
		return true
	case r < 0xf900: // Chinese, Japanese and Korean letters
		return false
	}
	return r < 0x20000 || r >= 0xe0000
}

// plainLetter tells whether a character stands for letters, digits or signs that
// credentials are made of.
func plainLetter(r rune) bool {
	if r >= 0xff01 && r <= 0xff5e {
		return dotted[r-0xfee0]
	}
	f := plainForm(r)
	for i := range len(f) {
		if f[i] >= 0x80 || !dotted[f[i]] {
			return false
		}
	}
	return f != "" && f != "..."
}

// plainForm is what a character stands for, where that is plain.
func plainForm(r rune) string {
	if r >= 0xff01 && r <= 0xff5e {
		return string(r - 0xfee0)
	}
	s := string(r)
	if f := norm.NFKC.String(s); isASCII(f) {
		return f
	}
	return s
}

// spread tells whether letters of two or four bytes may stand in a text.
func spread(t string) bool { return strings.Count(t, "\x00") >= least }

// narrow takes the zeros out of a text of two or four bytes for each letter.
func narrow(b []byte) []byte {
	if n := bytes.Count(b, zero); n < least || n < len(b)/3 {
		return b
	}
	return bytes.ReplaceAll(b, zero, nil)
}

var zero = []byte{0}

// entities begin what HTML writes for the characters of credentials.
var entities = []string{"&#", "&amp;#", "&AMP;#", "&num;", "&lowbar;", "&UnderBar;", "&period;", "&plus;", "&sol;", "&equals;", "&colon;"}

// entity tells whether a text has what unentity decodes.
func entity(t string) bool {
	for rest := t; ; {
		i := strings.IndexByte(rest, '&')
		if i < 0 {
			return false
		}
		rest = rest[i:]
		for _, e := range entities {
			if strings.HasPrefix(rest, e) {
				return true
			}
		}
		rest = rest[1:]
	}
}

// unentity decodes what HTML writes for characters.
func unentity(t string) string {
	for range 3 {
		if strings.IndexByte(t, '&') < 0 {
			break
		}
		d := html.UnescapeString(t)
		if len(d) == len(t) {
			break
		}
		t = d
	}
	return t
}
