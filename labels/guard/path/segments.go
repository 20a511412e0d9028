package path

import "strings"

// A flag says that a text has characters of a kind that is looked at more closely.
type flag uint16

const (
	control   flag = 1 << iota
	wide           // not ASCII
	percent        // %
	backslash      //
	colon          // :
	pattern        // * ? [ ] { }
	quote          // ' "
	expand         // $ `
	cut            // ; ? #: what some servers cut a path at
	windowed       // < > |: refused by Windows
)

// kinds are the flags of bytes; 0: letters, digits and signs that every system takes
// as they stand, and dots and slashes.
var kinds = func() (k [256]flag) {
	for i := range 256 {
		switch {
		case i < ' ' || i == 0x7f:
			k[i] = control
		case i >= 0x80:
			k[i] = wide
		}
	}
	for f, chars := range map[flag]string{percent: "%", backslash: `\`, colon: ":", pattern: "*?[]{}", quote: `'"`, expand: "$`", cut: ";?#", windowed: `<>|?*"`} {
		for _, c := range []byte(chars) {
			k[c] |= f
		}
	}
	return k
}()

// scan tells what kinds of characters a text has.
func scan(text string) (f flag) {
	for i := range len(text) {
		f |= kinds[text[i]]
	}
	return f
}

func (r *Rule) separates(c byte) bool { return c == '/' || r.windows && c == '\\' }

// segments judges a text's segments one by one.
func (r *Rule) segments(text string) string {
	if why := r.starts(text); why != "" && !r.climb {
		return why
	}
	for i := 0; i < len(text); {
		j := i
		for j < len(text) && !r.separates(text[j]) {
			j++
		}
		if why := segment(text[i:j]); why != "" && (!r.climb || leadsUp(text[i:j])) {
			return why
		}
		i = j + 1
	}
	return ""
}

// leadsUp tells whether a segment is ".." to a system that drops blanks or takes dots
// for more than one folder.
func leadsUp(s string) bool { return strings.Trim(s, ". ") == "" && strings.Count(s, ".") > 1 }

// starts judges how a text begins, and how it begins once it is cleaned.
func (r *Rule) starts(text string) string {
	why := r.start(text)
	if why != "" || text[0] != '.' {
		return why
	}
	if rest := r.cleaned(text); rest != "" && len(rest) < len(text) {
		return r.start(rest)
	}
	return ""
}

// cleaned is a relative text without "./" before it: programs that clean a path first
// then see how it begins.
func (r *Rule) cleaned(text string) string { return clean(text, r.windows) }

func clean(text string, windows bool) string {
	slash := func(c byte) bool { return c == '/' || windows && c == '\\' }
	for len(text) > 1 && text[0] == '.' && slash(text[1]) {
		text = text[2:]
		for text != "" && slash(text[0]) {
			text = text[1:]
		}
	}
	return text
}

// start judges how a text begins.
func (r *Rule) start(text string) string {
	c := text[0]
	if len(text) > 1 {
		d := text[1]
		switch {
		case r.separates(c) && r.separates(d):
			return WhyNetwork
		case d == ':' && letter(c):
			if !r.windows || len(text) < 3 || !r.separates(text[2]) {
				return WhyDrive
			}
		case r.windows && r.separates(c):
			return WhyDrive
		}
	}
	switch {
	case c == ' ':
		return WhyLeading
	case c == '-':
		return WhyOption
	case c == '~' && len(r.places) > 0:
		return WhyHome
	case r.windows && len(text) == 1 && r.separates(c):
		return WhyDrive
	}
	return ""
}

// segment judges one segment by its text.
func segment(s string) string {
	if s == "" || s == "." {
		return ""
	}
	switch s[len(s)-1] {
	case '.':
		if s == ".." {
			return WhyParent
		}
		return WhyTrailing
	case ' ':
		return WhyTrailing
	}
	if device(s) {
		return WhyDevice
	}
	return ""
}

// device tells whether a segment is one of the names that Windows takes for a device,
// in every folder and with whatever stands behind a dot, a colon or blanks.
func device(s string) bool {
	if len(s) < 3 {
		return false
	}
	switch s[0] | 0x20 {
	case 'c', 'p', 'a', 'n', 'l':
	default:
		return false
	}
	end := 0
	for end < len(s) && s[end] != '.' && s[end] != ':' {
		end++
	}
	for end > 0 && s[end-1] == ' ' {
		end--
	}
	switch name := s[:end]; len(name) {
	case 3:
		return equalFold(name, "con") || equalFold(name, "prn") || equalFold(name, "aux") || equalFold(name, "nul")
	case 4:
		return name[3] >= '0' && name[3] <= '9' && (equalFold(name[:3], "com") || equalFold(name[:3], "lpt"))
	case 6:
		return equalFold(name, "conin$") || equalFold(name, "clock$")
	case 7:
		return equalFold(name, "conout$")
	}
	return false
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// equalFold compares without the case of ASCII letters.
func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if a[i] != b[i] && (a[i]|0x20 != b[i]|0x20 || !letter(a[i])) {
			return false
		}
	}
	return true
}
