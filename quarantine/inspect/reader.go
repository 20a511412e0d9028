package inspect

// A token is a word that the dictionary knows.
type token struct {
	class    class
	pos      int32 // number of the word in its text, sentence ends counted
	from, to int32 // bytes of the text
}

// longest is how many bytes of a word are looked at.
const longest = 20

// Words of a long text are matched in portions: room tokens, of which the last
// ahead are kept for the next, since rules look no further.
const (
	room  = 1024
	ahead = 64
)

// A reader takes a folded text apart into words. Only words of the dictionary
// are kept.
type reader struct {
	text   string
	tokens []token
	pos    int32
	flush  func() // called when there is no room: makes some
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
		case aByte:
			i = r.letters(i, split)
		case zeroByte:
			i = r.next(i, i, split)
		case underByte:
			if split {
				i++
			} else {
				i = r.next(i, i, split)
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

// letters reads a word that begins with a letter, and returns its end: in the
// common case, it has nothing but letters.
func (r *reader) letters(from int, split bool) int {
	text := r.text
	i := from + 1
	if split {
		for i < len(text) && kinds[text[i]] == aByte && (text[i] >= 'a' || text[i-1] < 'a') {
			i++
		}
	} else {
		for i < len(text) && kinds[text[i]] == aByte {
			i++
		}
	}
	if i < len(text) {
		switch k := kinds[text[i]]; {
		case k == zeroByte, k == underByte && !split, k == quoteByte && i+1 < len(text) && kinds[text[i+1]] == aByte:
			return r.next(from, i, split)
		}
	}
	r.pos++
	n := i - from
	if n > longest || lengths[text[from]|0x20]&(1<<n) == 0 {
		if i < len(text) && text[i] == '@' {
			r.add(r.mailbox(i), from, i)
		} else if from > 0 && text[from-1] == '.' && n <= longest {
			r.known(class{}, from, i, nil)
		}
		return i
	}
	var c class
	if n <= longestKey {
		c = find(keyAt(text, from, n))
	}
	r.known(c, from, i, nil)
	return i
}

// next reads on, from byte i, a word with digits, underscores or apostrophes in
// it, and returns its end.
func (r *reader) next(from, i int, split bool) int {
	n := 0
	for ; n < i-from; n++ {
		if n < longest {
			r.word[n] = r.text[from+n] | 0x20
		}
	}
	under, digits := false, false
scan:
	for ; i < len(r.text); i++ {
		c := r.text[i]
		switch kinds[c] {
		case aByte:
			if split && c < 'a' && i > from && r.text[i-1] >= 'a' {
				break scan
			}
			c |= 0x20
		case zeroByte:
			digits = true
		case underByte:
			if split {
				break scan
			}
			under = true
		case quoteByte:
			continue
		default:
			break scan
		}
		if n < longest {
			r.word[n] = c
		}
		n++
	}
	r.odd(from, i, n, under, digits)
	return i
}

// odd looks a word up that next has read.
func (r *reader) odd(from, to, n int, under, digits bool) {
	r.pos++
	if n > longest {
		if under {
			r.add(cIdent.class(), from, to)
		}
		return
	}
	w := r.word[:n]
	c := find(keyOf(w))
	if digits {
		c = c.or(leet(w))
	}
	if under {
		c = c.or(cIdent.class())
		for i, b := range w { // read_file is a kind of read
			if b == '_' && i > 0 {
				x := find(keyOf(w[:i]))
				c = c.or(x.and(carrying))
				break
			}
		}
	}
	if !c.none() || lengths[w[0]]&(1<<n) != 0 {
		r.known(c, from, to, w)
	}
}

// small is a word of letters in small letters.
func (r *reader) small(from, n int) []byte {
	for i := range n {
		r.word[i] = r.text[from+i] | 0x20
	}
	return r.word[:n]
}

// known adds a word that may be in a dictionary, with what stands around it.
func (r *reader) known(c class, from, to int, w []byte) {
	b, after := byte('\n'), byte(' ')
	if from > 0 {
		b = r.text[from-1]
	}
	if to < len(r.text) {
		after = r.text[to]
	}
	if opening[b] || after == ':' {
		if w == nil {
			w = r.small(from, to-from)
		}
		c = c.or(r.around(w, from, to, b, after))
	}
	if n := to - from; c.none() && n <= longest && blurs[r.text[from]|0x20]&(1<<n) != 0 {
		if w == nil {
			w = r.small(from, to-from)
		}
		c = blurred[blur(w)]
	}
	if c.has(verbs) && clause(r.text, from) {
		if c.has(carrying) {
			c = c.or(cPass.class())
		}
		c = c.or(cImper.class())
	}
	if after == '@' {
		c = c.or(r.mailbox(to))
	}
	r.add(c, from, to)
}

// carrying are the parts that a name has by its first word.
var carrying = parts(cMove, cSend)

// verbs are of orders, where a clause begins with one.
var verbs = cVerb.class()

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
	if c.none() {
		return
	}
	if len(r.tokens) == room {
		r.flush()
	}
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
	return find(keyOf(buf[:len(w)]))
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
