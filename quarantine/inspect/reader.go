package inspect

// A token is a word that the dictionary knows.
type token struct {
	class    class
	pos      int32 // number of the word in its text, sentence ends counted
	from, to int32 // bytes of the text
}

const longest = 20 // bytes of the longest word that is looked up

// A reader takes a folded text apart into words. Only words of the dictionary
// are kept.
type reader struct {
	text   string
	tokens []token
	pos    int32
	word   [longest]byte
}

// Kinds of bytes for a reader.
const (
	gapByte   = iota // between words
	endByte          // the end of a sentence
	aByte            // a letter
	zeroByte         // a digit
	underByte        // joins words; in names it parts them
	quoteByte        // an apostrophe: don't is one word
)

// read fills tokens. split reads a name: an underscore ends a word, and so does
// a hump.
func (r *reader) read(text string, split bool) {
	r.text, r.tokens, r.pos = text, r.tokens[:0], 0
	for i := 0; i < len(text); {
		switch kinds[text[i]] {
		case aByte, zeroByte:
			i = r.next(i, split)
		case underByte:
			if split {
				i++
			} else {
				i = r.next(i, split)
			}
		case endByte:
			if i+1 == len(text) || kinds[text[i+1]] == gapByte {
				r.pos++
			}
			i++
		default:
			i++
		}
	}
}

// next reads the word that begins at byte i and returns its end.
func (r *reader) next(i int, split bool) int {
	from, n := i, 0
	under, digits := false, false
	for ; i < len(r.text); i++ {
		c := r.text[i]
		switch kinds[c] {
		case aByte:
			if split && c < 'a' && i > from && r.text[i-1] >= 'a' {
				r.end(from, i, n, under, digits)
				return i
			}
			c |= 0x20
		case zeroByte:
			digits = true
		case underByte:
			if split {
				r.end(from, i, n, under, digits)
				return i
			}
			under = true
		case quoteByte:
			continue
		default:
			r.end(from, i, n, under, digits)
			return i
		}
		if n < longest {
			r.word[n] = c
		}
		n++
	}
	r.end(from, i, n, under, digits)
	return i
}

// end looks a word of n letters up.
func (r *reader) end(from, to, n int, under, digits bool) {
	r.pos++
	if n > longest {
		if under {
			r.add(cIdent.class(), from, to)
		}
		return
	}
	w := r.word[:n]
	var c class
	if lengths[w[0]]&(1<<n) != 0 {
		c = r.classes(w, from, to)
		if n >= 6 && c.none() {
			c = blurred[blur(w)]
		}
	}
	if digits {
		c = c.or(leet(w))
	}
	if under {
		c = c.or(cIdent.class())
		for i, b := range w { // read_file is a kind of read
			if b == '_' && i > 0 {
				x := words[string(w[:i])]
				c = c.or(class{x[0] & carrying[0], x[1] & carrying[1]})
				break
			}
		}
	}
	if to < len(r.text) && r.text[to] == '@' {
		c = c.or(r.mailbox(to))
	}
	if !c.none() {
		r.add(c, from, to)
	}
}

// carrying are the parts that a name has by its first word.
var carrying = parts(cMove, cSend)

// mailbox tells whether an @ at byte i stands in the address of a mailbox: with
// a dot behind it.
func (r *reader) mailbox(i int) class {
	for k := i + 1; k < len(r.text) && k < i+64; k++ {
		switch c := r.text[k]; {
		case c == '.' && k > i+1:
			return cAddress.class()
		case kinds[c] != aByte && kinds[c] != zeroByte && c != '-':
			return class{}
		}
	}
	return class{}
}

func (r *reader) add(c class, from, to int) {
	r.tokens = append(r.tokens, token{c, r.pos, int32(from), int32(to)})
}

// leet looks a word up with the letters that its digits stand for: one such word
// between others is no disguise of the whole text.
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
		return class{}
	}
	return words[string(buf[:len(w)])]
}

// classes looks a word up, with what stands around it.
func (r *reader) classes(w []byte, from, to int) class {
	c := words[string(w)]
	before := func(k int) byte {
		if i := from - k; i >= 0 {
			return r.text[i]
		}
		return ' '
	}
	b, after := before(1), byte(' ')
	if to < len(r.text) {
		after = r.text[to]
	}
	switch b {
	case '.':
		if k := kinds[before(2)]; k == gapByte || k == endByte {
			c = c.or(among(dotSecrets, w, cSecret)).or(among(softSecrets, w, cSoft))
		}
	case '/':
		c = c.or(among(slashSecrets, w, cSecret))
	case '(':
		if before(2) == '$' {
			c = c.or(among(substWords, w, cSubst))
		}
	case '`', '"', '\'':
		if after == b {
			c = c.or(among(sideWords, w, cSide))
		}
	}
	if tagWords[string(w)] && tagged(b, before(2), after) {
		c = c.or(cTag.class())
	} else if (b == '[' || b == '*' || b == '#' || b == ' ' && before(2) == '#') && headWords[string(w)] && r.heading(from, to) {
		c = c.or(cHead.class())
	}
	if after == ':' {
		switch string(w) {
		case "system":
			if lineStart(r.text, from) {
				c = c.or(cSys.class())
			}
		case "http", "https":
			c = c.or(cURL.class())
		}
	}
	return c
}

func among(set map[string]bool, w []byte, p part) class {
	if set[string(w)] {
		return p.class()
	}
	return class{}
}

// heading tells whether a word stands in capitals in a heading of capitals:
// [SYSTEM MONITOR], **HIDDEN**.
func (r *reader) heading(from, to int) bool {
	for i := from; i < len(r.text) && i < from+40; i++ {
		switch c := r.text[i]; {
		case c >= 'a' && c <= 'z':
			return false
		case i >= to && (c == ']' || c == '*' || c == ':'):
			return true
		}
	}
	return false
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
		case kinds[c] == aByte || kinds[c] == zeroByte || c >= 0x80:
			return false
		}
	}
	return at <= 8
}

var kinds = func() (t [256]byte) {
	for c := range 256 {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			t[c] = aByte
		case c >= '0' && c <= '9':
			t[c] = zeroByte
		case c == '_':
			t[c] = underByte
		case c == '\'':
			t[c] = quoteByte
		case c == '.' || c == '!' || c == '?' || c == '\n':
			t[c] = endByte
		}
	}
	return t
}()
