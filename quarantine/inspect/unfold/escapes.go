package unfold

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

// escape reads a backslash: an escape of JSON or of a program stands for its
// character, however many backslashes are before it. What needs no escape and
// has one is a disguise.
func (f *folder) escape(i int) int {
	n := 0
	for i+n < len(f.text) && f.text[i+n] == '\\' {
		n++
	}
	rest := f.text[i+n:]
	if rest == "" {
		return n
	}
	switch rest[0] {
	case 'u', 'x', 'U':
		c, size := coded(rest)
		if size == 0 {
			return n
		}
		if word(c) {
			f.disguised(Escapes, i, i+n+size)
		}
		return f.replace(i, n+size, stands(c))
	case 'n', 'r':
		return f.replace(i, n+1, "\n")
	case 't':
		return f.replace(i, n+1, "\t")
	case '"', '\'', '/':
		return f.replace(i, n, "")
	}
	return n
}

// coded reads u0069, x69, u{69} or U00000069.
func coded(s string) (rune, int) {
	size, from := 2, 1
	switch {
	case strings.HasPrefix(s, "u{"):
		end := strings.IndexByte(s[:min(len(s), 10)], '}')
		if end < 3 {
			return 0, 0
		}
		v, err := strconv.ParseUint(s[2:end], 16, 21)
		if err != nil {
			return 0, 0
		}
		return rune(v), end + 1
	case s[0] == 'u':
		size = 4
	case s[0] == 'U':
		size = 8
	}
	if len(s) < from+size {
		return 0, 0
	}
	v, err := strconv.ParseUint(s[from:from+size], 16, 21)
	if err != nil {
		return 0, 0
	}
	return rune(v), from + size
}

// stands is a character as text; halves of pairs and what is no character are
// a blank.
func stands(c rune) string {
	if c == 0 || !utf8.ValidRune(c) || c == utf8.RuneError {
		return " "
	}
	return string(c)
}

// reference reads a character reference of HTML, also one whose own ampersand is
// a reference.
func (f *folder) reference(i int) int {
	s := f.text[i:]
	n := 1
	for strings.HasPrefix(s[n:], "amp;") {
		n += len("amp;")
	}
	end := strings.IndexByte(s[n:min(len(s), n+12)], ';')
	if end < 2 {
		return 1
	}
	entity := "&" + s[n:n+end+1]
	c := html.UnescapeString(entity)
	if c == entity {
		return 1
	}
	n += end + 1
	if r, _ := utf8.DecodeRuneInString(c); word(r) {
		f.disguised(Entities, i, i+n)
	}
	return f.replace(i, n, c)
}

// disguised notes letters that are written as codes. One may be an example; a
// word of them is none.
func (f *folder) disguised(l Layer, from, to int) {
	if k := len(f.codes) - 1; k >= 0 && f.codes[k].layer == l && from-f.codes[k].to <= 2 {
		f.codes[k].to = to
		f.codes[k].n++
		return
	}
	f.codes = append(f.codes, codes{l, from, to, 1})
}

// codes are letters in a row that are written as codes.
type codes struct {
	layer    Layer
	from, to int
	n        int
}

// leastCodes is how many letters as codes, in one text, are a disguise.
const leastCodes = 4

// told adds the signs of what was disguised.
func (f *folder) told() {
	n := 0
	for _, c := range f.codes {
		n += c.n
	}
	if n < leastCodes || f.opt.Returned { // programs are full of codes
		return
	}
	for _, c := range f.codes {
		f.add(Coded, c.layer, c.from, c.to, 1)
	}
}

// percent reads percent encoding, line by line.
func (u *unfolder) percent(v *View) {
	text := v.Text
	for i := 0; ; {
		k := strings.IndexByte(text[i:], '%')
		if k < 0 {
			return
		}
		k += i
		from := strings.LastIndexByte(text[i:k], '\n') + 1 + i
		to := strings.IndexByte(text[k:], '\n')
		if to < 0 {
			to = len(text) - k
		}
		to += k
		u.unquote(v, from, to)
		i = to
	}
}

// unquote shows what bytes [from, to) of a view mean without their percent
// signs, where that is words.
func (u *unfolder) unquote(v *View, from, to int) {
	var b builder
	letters, octets := 0, 0
	for i := from; i < to; {
		if v.Text[i] == '%' && i+2 < to && hexDigit(v.Text[i+1]) && hexDigit(v.Text[i+2]) {
			x, _ := strconv.ParseUint(v.Text[i+1:i+3], 16, 8)
			if word(rune(x)) {
				letters++
			}
			octets++
			b.put(string([]byte{byte(x)}), i, i+3)
			i += 3
			continue
		}
		b.copy(v.Text[i:i+1], i)
		i++
	}
	if octets < 3 {
		return
	}
	if letters >= leastCodes && !u.opt.Returned {
		u.sign(v, Coded, Percent, from, to, letters)
	}
	repair(b.buf, len(b.buf))
	u.show(v, b.hidden(Percent))
}

// repair puts a blank in the place of each byte that is no text, what is no UTF-8
// and controls, and counts them. It ends beyond so many.
func repair(b []byte, most int) (bad int) {
	for i := 0; i < len(b) && bad <= most; {
		c, n := utf8.DecodeRune(b[i:])
		if c == utf8.RuneError && n == 1 || c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
			b[i] = ' '
			bad++
		}
		i += n
	}
	return bad
}
