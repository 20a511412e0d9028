package inspect

import (
	"unicode/utf8"
)

// A token is a word that the dictionary knows.
type token struct {
	class    class
	pos      int32 // number of the word in its text, sentence ends counted
	from, to int32 // bytes of the text
}

const longest = 20 // bytes of the longest word that is looked up

// A reader takes a text apart into words, folding as it goes: case, compatible
// forms, look-alike letters; invisible characters are not there. Only words of
// the dictionary are kept.
type reader struct {
	text   string
	split  bool // names: an underscore ends a word, and so does a hump
	tokens []token
	pos    int32
	word   [longest]byte
	n      int // bytes of the word so far, also beyond longest
	from   int
	under  bool
	digits bool
	last   int    // end of the word before
	spaced []byte // letters that stand alone, with a blank where more than one byte is between
}

// read fills tokens.
func (r *reader) read(text string, split bool) {
	r.text, r.split = text, split
	r.tokens, r.pos, r.n, r.last, r.spaced = r.tokens[:0], 0, 0, 0, r.spaced[:0]
	for i := 0; i < len(text); {
		c := text[i]
		k := ascii[c]
		switch {
		case k == 'a':
			if r.split && c < 'a' && i > 0 && text[i-1] >= 'a' && text[i-1] <= 'z' {
				r.end(i)
			}
			r.letter(c|0x20, i)
			i++
		case k == '0':
			r.digits = true
			r.letter(c, i)
			i++
		case k == '_':
			if r.split {
				r.end(i)
			} else {
				r.under = true
				r.letter(c, i)
			}
			i++
		case c >= utf8.RuneSelf || c == '\\' || c == '&':
			i += r.other(i)
		case c == '\'':
			i++ // don't is one word
		default:
			r.end(i)
			if k == '.' && (i+1 == len(text) || ascii[text[i+1]] == ' ') {
				r.pos++
			}
			i++
		}
	}
	r.end(len(text))
}

func (r *reader) letter(c byte, at int) {
	if r.n == 0 {
		r.from = at
	}
	if r.n < longest {
		r.word[r.n] = c
	}
	r.n++
}

// end ends a word before byte at.
func (r *reader) end(at int) {
	if r.n == 0 {
		return
	}
	n := r.n
	r.n = 0
	r.pos++
	under, digits := r.under, r.digits
	r.under, r.digits = false, false
	if n == 1 {
		r.single()
	}
	r.last = at
	if n > longest {
		if under {
			r.add(cIdent, at)
		}
		return
	}
	w := r.word[:n]
	var c class
	if lengths[w[0]]&(1<<n) != 0 {
		c = r.classes(w, at)
	}
	if digits {
		c |= leet(w)
	}
	if under {
		c |= cIdent
		for i, b := range w { // read_file is a kind of read
			if b == '_' && i > 0 {
				c |= words[string(w[:i])] & (cMove | cSend)
				break
			}
		}
	}
	if c != 0 {
		r.add(c, at)
	}
}

func (r *reader) add(c class, at int) {
	r.tokens = append(r.tokens, token{c, r.pos, int32(r.from), int32(at)})
}

// leet looks a word up with the letters that its digits stand for.
func leet(w []byte) class {
	var buf [longest]byte
	letters := 0
	for i, b := range w {
		switch b {
		case '0':
			b = 'o'
		case '1':
			b = 'i'
		case '3':
			b = 'e'
		case '4':
			b = 'a'
		case '5':
			b = 's'
		case '7':
			b = 't'
		default:
			letters++
		}
		buf[i] = b
	}
	if letters == 0 {
		return 0
	}
	return words[string(buf[:len(w)])]
}

// single remembers a letter that stands alone.
func (r *reader) single() {
	if c := r.word[0]; c >= 'a' && c <= 'z' {
		if r.from-r.last > 1 && len(r.spaced) > 0 {
			r.spaced = append(r.spaced, ' ')
		}
		r.spaced = append(r.spaced, c)
	}
}

// classes looks a word up, with what stands around it.
func (r *reader) classes(w []byte, end int) class {
	c := words[string(w)]
	before := func(k int) byte {
		if i := r.from - k; i >= 0 {
			return r.text[i]
		}
		return ' '
	}
	b := before(1)
	switch {
	case b == '.' && ascii[before(2)] != 'a' && ascii[before(2)] != '0' && before(2) != '_':
		if dotSecrets[string(w)] {
			c |= cSecret
		}
		if softSecrets[string(w)] {
			c |= cSoft
		}
	case b == '/' && slashSecrets[string(w)]:
		c |= cSecret
	case string(w) == "credentials" && b == '/':
		c |= cSecret
	}
	after := byte(' ')
	if end < len(r.text) {
		after = r.text[end]
	}
	if tagWords[string(w)] && tagged(b, before(2), after) {
		c |= cTag
	}
	if string(w) == "system" && after == ':' && lineStart(r.text, r.from) {
		c |= cSys
	}
	if (string(w) == "http" || string(w) == "https") && after == ':' {
		c |= cURL
	}
	return c
}

// tagged tells whether a word stands in <word>, </word>, [word], <<word>> or
// <|word|>.
func tagged(b, b2, after byte) bool {
	switch b {
	case '<', '[':
		return after == '>' || after == ']'
	case '(':
		return after == ')' && b2 == '#'
	case '/':
		return (b2 == '<' || b2 == '[') && (after == '>' || after == ']')
	case '|':
		return b2 == '<' && after == '|'
	}
	return false
}

func lineStart(s string, at int) bool {
	for i := at - 1; i >= 0 && at-i <= 8; i-- {
		switch c := s[i]; {
		case c == '\n' || c == '\r':
			return true
		case ascii[c] == 'a' || ascii[c] == '0' || c >= utf8.RuneSelf:
			return false
		}
	}
	return at <= 8
}

// ascii says what a byte is: a letter, 0 digit, _ itself, . an end of a
// sentence, blank for everything else.
var ascii = func() (t [256]byte) {
	for c := range 256 {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			t[c] = 'a'
		case c >= '0' && c <= '9':
			t[c] = '0'
		case c == '_':
			t[c] = '_'
		case c == '.' || c == '!' || c == '?' || c == '\n':
			t[c] = '.'
		default:
			t[c] = ' '
		}
	}
	return t
}()
