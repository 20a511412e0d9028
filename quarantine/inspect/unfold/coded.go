package unfold

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"
)

// inside shows what stands in a view in another form.
func (u *unfolder) inside(v *View, f *facts) {
	if f.flags&markupByte != 0 || strings.Contains(v.Text, "]: #") {
		u.markup(v)
	}
	if f.flags&percentByte != 0 {
		u.percent(v)
	}
	u.runs(v, f.runs)
	u.disguises(v, f)
}

// wrapped is how far apart two lines of one text in base64 are.
const wrapped = 8

// runs shows what runs of letters and digits stand for.
func (u *unfolder) runs(v *View, runs []run) {
	for i := 0; i < len(runs); i++ {
		r := runs[i]
		switch r.layer {
		case Spaced:
			u.spaced(v, r)
		case Hex:
			b, _ := hex.DecodeString(digits(v.Text[r.from:r.to]))
			u.decoded(v, Hex, b, r.from, r.to)
		case Binary:
			u.decoded(v, Binary, octets(v.Text[r.from:r.to]), r.from, r.to)
		default:
			var lines []byte
			for r.to-r.from >= 40 && i+1 < len(runs) && runs[i+1].layer == Base64 && blank(v.Text, r.to, runs[i+1].from) {
				if lines == nil {
					lines = append(lines, v.Text[r.from:r.to]...)
				}
				i++
				lines = append(lines, v.Text[runs[i].from:runs[i].to]...)
				r.to = runs[i].to
			}
			if lines != nil {
				u.decode(v, string(lines), r.from, r.to)
			} else {
				u.decode(v, v.Text[r.from:r.to], r.from, r.to)
			}
		}
	}
}

// blank tells whether there is a line end between two runs, and no more than
// what joins the strings of a program.
func blank(text string, from, to int) bool {
	if to-from > wrapped {
		return false
	}
	s := text[from:to]
	return strings.Trim(s, "=\r\n\t \"'+,") == "" && strings.ContainsAny(s, "\r\n")
}

// decode shows a run of base64 or hex in bytes [from, to) of a view, if it is
// text. A few letters before it can move the groups of four, so each of the
// ways to begin is tried on its first bytes.
func (u *unfolder) decode(v *View, run string, from, to int) {
	if len(run)%2 == 0 && len(run) >= 2*leastPairs {
		if b, err := hex.DecodeString(run); err == nil {
			u.decoded(v, Hex, b, from, to)
			return
		}
	}
	code := base64.RawStdEncoding
	if strings.ContainsAny(run, "-_") {
		code = base64.RawURLEncoding
	}
	for skip := range 4 {
		s := run[skip:]
		var head [12]byte
		if len(s) < leastRun-skip {
			return
		}
		if n, err := code.Decode(head[:], []byte(s[:12])); err != nil || !prints(head[:n]) {
			continue
		}
		if tail := len(s) % 4; tail == 1 {
			s = s[:len(s)-1]
		}
		b, err := code.DecodeString(s)
		if err == nil && u.decoded(v, Base64, b, from, to) {
			return
		}
	}
}

// prints tells whether the first bytes of something can be text.
func prints(b []byte) bool {
	if len(b) >= 8 && b[1] == 0 && b[3] == 0 && b[5] == 0 {
		return true // UTF-16
	}
	bad := 0
	for len(b) > 0 {
		c, n := utf8.DecodeRune(b)
		if c == utf8.RuneError && n == 1 && utf8.FullRune(b) || c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
			bad++
		}
		b = b[n:]
	}
	return bad <= 1
}

// decoded shows bytes, if they are a text of words or hold one in turn, and
// tells whether they are.
func (u *unfolder) decoded(v *View, l Layer, b []byte, from, to int) bool {
	if len(b) >= 8 && b[1] == 0 && b[3] == 0 && b[5] == 0 {
		b = halves(b)
	}
	n, ok := textual(b)
	if !ok {
		return false
	}
	if n >= leastWords && to-from >= leastCoded && (!u.opt.Returned || v.seen&disguising != 0) {
		u.sign(v, Coded, l, from, to, n)
	}
	u.show(v, hidden{l, string(b), at(from, to)})
	return true
}

// disguising are the layers in which another one has no honest use, even in what
// is returned: addresses carry base64 in percent signs, files carry base64.
const disguising = 1<<Tags | 1<<Variation | 1<<Base64 | 1<<Hex | 1<<Binary | 1<<Rot13

// leastCoded is how long an encoded text is that is more than an example of the
// encoding.
const leastCoded = 24

// textual tells whether bytes are text, and of how many words: nearly all of it
// is UTF-8 that prints, and there are blanks or common words in it, or letters of
// another script, or another encoded run.
func textual(b []byte) (words int, ok bool) {
	if len(b) < 10 || repair(b, len(b)/20) > len(b)/20 {
		return 0, false
	}
	blanks, letters, high := 0, 0, 0
	inWord := false
	for _, c := range string(b) {
		is := unicode.IsLetter(c)
		if is {
			letters++
		}
		if c >= utf8.RuneSelf && is {
			high++
		}
		if is && !inWord {
			words++
		}
		inWord = is || c == '\''
		if c == ' ' || c == '\n' {
			blanks++
		}
	}
	if high*3 >= len(b)/3 {
		return max(words, high/4), letters*2 >= utf8.RuneCount(b)
	}
	if letters*2 < len(b) {
		return 0, false
	}
	switch {
	case blanks*25 >= len(b) && blanks > 0, vocabulary(string(b)) >= 2:
		return words, true
	}
	var f facts
	f.scan(string(b))
	return 0, len(f.runs) > 0 && f.runs[0].to-f.runs[0].from >= len(b)/2
}

// halves takes every second byte.
func halves(b []byte) []byte {
	out := make([]byte, 0, len(b)/2)
	for i := 0; i < len(b); i += 2 {
		out = append(out, b[i])
	}
	return out
}

// digits keeps the last two characters of each word: bytes in hex with blanks
// between.
func digits(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && classes[s[j]]&wordByte != 0 {
			j++
		}
		if j-i >= 2 {
			b.WriteString(s[j-2 : j])
		}
		i = j + 1
	}
	return b.String()
}

// octets reads bytes in ones and zeros.
func octets(s string) (out []byte) {
	c, n := byte(0), 0
	for i := range len(s) {
		if s[i] != '0' && s[i] != '1' {
			continue
		}
		c = c<<1 | s[i]&1
		if n++; n == 8 {
			out = append(out, c)
			c, n = 0, 0
		}
	}
	return out
}
