package quarantine

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// binaryPath ends the path of what was found in bytes that are no text.
const binaryPath = "(binary)"

// Binary tells whether the specimen is what can be read in bytes that are no text: a
// picture, an archive, a program. Clients seldom show it, and names and messages of
// all sorts stand in programs, so that only what is plainly an order counts there.
func (s *Specimen) Binary() bool { return strings.HasSuffix(s.Path, binaryPath) }

// A reading is one way to read bytes as text.
type reading struct {
	text   string
	binary bool // the bytes are no text; these are the words in them
}

// minRun is the shortest run of characters that is a text in bytes that are none.
const minRun = 16

// readings are the ways in which clients read bytes. What type they are said to be
// of makes a difference only where they are no clean UTF-8: whoever sent them said it.
func readings(b []byte, kind string) (out []reading) {
	if len(b) == 0 {
		return nil
	}
	if utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 {
		return []reading{{text: string(b)}}
	}
	wide := wideText(b)
	if wide != "" {
		out = append(out, reading{text: wide})
	}
	share := textual(b)
	switch {
	case textType(kind), kind == "" && share >= 60, share >= 85:
		// in what is mostly no text, or is UTF-16, letters of other scripts are chance
		ascii := wide != "" || share < 60
		t := repaired(b, ascii, false)
		if t != wide {
			out = append(out, reading{text: t})
		}
		if less := repaired(b, ascii, true); less != wide && strings.TrimSpace(less) != strings.TrimSpace(t) {
			out = append(out, reading{text: less})
		}
	default:
		t := runs(b)
		if t != "" {
			out = append(out, reading{text: t, binary: true})
		}
		if share < 50 { // without its bad bytes it were noise
			break
		}
		if less := runs([]byte(repaired(b, true, true))); less != "" && less != t {
			out = append(out, reading{text: less, binary: true})
		}
	}
	return out
}

// textType tells whether a media type is of texts.
func textType(kind string) bool {
	kind, _, _ = strings.Cut(strings.ToLower(kind), ";")
	if kind = strings.TrimSpace(kind); strings.HasPrefix(kind, "text/") {
		return true
	}
	for _, t := range [...]string{"json", "xml", "yaml", "javascript", "ecmascript", "toml", "sql", "x-sh", "markdown"} {
		if strings.HasSuffix(kind, t) {
			return true
		}
	}
	return false
}

// textual is how much of bytes is text in UTF-8, in percent; zero bytes are left out.
func textual(b []byte) int {
	good, all := 0, 0
	for i := 0; i < len(b); {
		c, n := rune(b[i]), 1
		if c >= utf8.RuneSelf {
			c, n = utf8.DecodeRune(b[i:])
		}
		i += n
		if c == 0 {
			continue
		}
		all += n
		if prints(c) && (n > 1 || c < utf8.RuneSelf) {
			good += n
		}
	}
	return good * 100 / max(all, 1)
}

// prints tells whether a character is one of a text.
func prints(c rune) bool {
	switch {
	case c < ' ':
		return c == '\n' || c == '\t' || c == '\r' || c == 0x1b
	case c < 0x7f:
		return true
	}
	return c != utf8.RuneError && unicode.IsGraphic(c)
}

// repaired reads bytes as UTF-8 with one blank for what is none, be it Latin-1 or
// anything, or with nothing in its place: decoders do either. A zero byte between two
// others is half of a character in UTF-16.
func repaired(b []byte, ascii, drop bool) string {
	out := make([]byte, 0, len(b))
	blank := false
	for i := 0; i < len(b); {
		c, n := rune(b[i]), 1
		if c >= utf8.RuneSelf {
			c, n = utf8.DecodeRune(b[i:])
		}
		switch {
		case c == 0 && half(b, i):
		case c == 0, c == utf8.RuneError, ascii && c >= utf8.RuneSelf, c < utf8.RuneSelf && !prints(c):
			if !blank && !drop {
				out, blank = append(out, ' '), true
			}
		default:
			out, blank = append(out, b[i:i+n]...), false
		}
		i += n
	}
	return string(out)
}

// half tells whether the zero byte at i is one of several, with other bytes between.
func half(b []byte, i int) bool {
	zero := func(k int) bool { return k < 0 || k >= len(b) || b[k] == 0 }
	return !(zero(i-1) && zero(i+1)) && (i >= 2 && zero(i-2) && !zero(i-1) || i+2 < len(b) && zero(i+2) && !zero(i+1))
}

// wideText reads bytes as UTF-16, if that is what they are: they say so, or one half
// of most characters is zero.
func wideText(b []byte) string {
	if len(b) < minRun {
		return ""
	}
	big := false
	switch {
	case b[0] == 0xff && b[1] == 0xfe:
		b = b[2:]
	case b[0] == 0xfe && b[1] == 0xff:
		b, big = b[2:], true
	default:
		var zeros [2]int
		for i, c := range b {
			if c == 0 {
				zeros[i&1]++
			}
		}
		if most := len(b) / 2 * 2 / 5; zeros[0] <= most && zeros[1] <= most {
			return ""
		}
		big = zeros[0] > zeros[1]
	}
	units := make([]uint16, 0, len(b)/2)
	for i := 0; i+1 < len(b); i += 2 {
		u := uint16(b[i]) | uint16(b[i+1])<<8
		if big {
			u = u<<8 | u>>8
		}
		units = append(units, u)
	}
	text := utf16.Decode(units)
	bad := 0
	for i, c := range text {
		if !prints(c) && !unicode.Is(unicode.Cf, c) {
			text[i] = ' '
			bad++
		}
	}
	if bad*20 > len(text) {
		return ""
	}
	return string(text)
}

// runs are the texts in bytes that are none, in ASCII or the same in UTF-16, each of
// several words and on a line of its own.
func runs(b []byte) string {
	var out []byte
	for i := 0; i < len(b); {
		from, blanks := len(out), 0
		for i < len(b) && (b[i] >= ' ' && b[i] < 0x7f || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
			if out = append(out, b[i]); b[i] == ' ' {
				blanks++
			}
			if i++; i < len(b) && b[i] == 0 && half(b, i) {
				i++
			}
		}
		if len(out)-from < minRun || blanks == 0 {
			out = out[:from]
		} else {
			out = append(out, '\n')
		}
		i++
	}
	return string(out)
}
