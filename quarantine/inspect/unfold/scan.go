package unfold

// Classes of bytes.
const (
	letterByte uint16 = 1 << iota
	digitByte
	extraByte // + / _ -: beside letters and digits in base64
	upperByte
	lowerByte
	hexByte // a to f
	highByte
	controlByte
	escapeByte    // backslash
	referenceByte // &
	percentByte
	markupByte // <
)

// foldable are the bytes without which a text is what it seems.
const foldable = highByte | controlByte | escapeByte | referenceByte | markupByte

const wordByte = letterByte | digitByte

var classes = func() (t [256]uint16) {
	for c := range 256 {
		switch {
		case c >= 'a' && c <= 'z':
			t[c] = letterByte | lowerByte
		case c >= 'A' && c <= 'Z':
			t[c] = letterByte | upperByte
		case c >= '0' && c <= '9':
			t[c] = digitByte
		case c >= 0x80:
			t[c] = highByte
		case (c < ' ' || c == 0x7f) && c != '\n' && c != '\t' && c != '\r':
			t[c] = controlByte
		}
		if c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' {
			t[c] |= hexByte
		}
	}
	for c, k := range map[byte]uint16{'+': extraByte, '/': extraByte, '_': extraByte, '-': extraByte, '\\': escapeByte, '&': referenceByte, '%': percentByte, '<': markupByte} {
		t[c] |= k
	}
	return t
}()

// A run is a range of bytes that may be words in another form.
type run struct {
	from, to int
	layer    Layer
}

// Sizes below which nothing is made of what looks like an encoding.
const (
	leastRun   = 16 // characters of base64 or hex
	leastPairs = 12 // bytes in hex with blanks between
	leastOctet = 8  // bytes in ones and zeros
	leastAlone = 8  // letters that stand alone
)

// facts are what one pass over a text finds out: whether to look closer, and
// where.
type facts struct {
	flags uint16
	runs  []run
	rot   int // words that may be common ones, thirteen letters further
	back  int // or read backwards
	leet  int // or with digits for letters

	alone, pairs, octets series
}

func (f *facts) forget() { *f = facts{runs: f.runs[:0]} }

// scan takes one pass.
func (f *facts) scan(text string) {
	f.forget()
	flags := uint16(0)
	for i := 0; i < len(text); {
		k := classes[text[i]]
		if k&(wordByte|extraByte) == 0 {
			flags |= k
			i++
			continue
		}
		i = f.run(text, i)
	}
	f.flags = flags
	f.alone.end(f, Spaced, leastAlone)
	f.pairs.end(f, Hex, leastPairs)
	f.octets.end(f, Binary, leastOctet)
}

// run reads letters, digits and what joins them from byte i on, and returns
// their end.
func (f *facts) run(text string, i int) int {
	start, all := i, uint16(0)
	for i < len(text) {
		from, kind := i, uint16(0)
		for i < len(text) {
			k := classes[text[i]]
			if k&wordByte == 0 {
				break
			}
			kind |= k
			i++
		}
		if i > from {
			f.word(text, from, i, kind)
			all |= kind
		}
		if i == len(text) || classes[text[i]]&extraByte == 0 {
			break
		}
		i++
	}
	if n := i - start; n >= leastRun {
		if all&(upperByte|lowerByte) == upperByte|lowerByte || all&hexByte != 0 && all&digitByte != 0 {
			f.runs = append(f.runs, run{start, i, Base64})
		}
	}
	return i
}

// word looks at one word, [from, to).
func (f *facts) word(text string, from, to int, kind uint16) {
	n := to - from
	if n == 1 || f.alone.n > 0 {
		f.alone.step(f, Spaced, leastAlone, from, to, n == 1)
	}
	if n == 2 || f.pairs.n > 0 {
		pair := n == 2 || n == 4 && text[from] == '0' && text[from+1]|0x20 == 'x'
		f.pairs.step(f, Hex, leastPairs, from, to, pair && hexDigit(text[to-1]) && hexDigit(text[to-2]))
	}
	if n == 8 && kind == digitByte || f.octets.n > 0 {
		f.octets.step(f, Binary, leastOctet, from, to, n == 8 && octet(text[from:to]))
	}
	if n < 3 || kind&letterByte == 0 {
		return
	}
	if a, b, c := text[from]|0x20-'a', text[from+1]|0x20-'a', text[from+2]|0x20-'a'; a < 26 && b < 26 && c < 26 {
		if k := starts[int(a)*676+int(b)*26+int(c)]; k != 0 {
			f.rot += int(k & 1)
			f.back += int(k >> 1 & 1)
		}
	}
	if kind&digitByte != 0 && n <= longestWord {
		if a, b, c := like(text[from]), like(text[from+1]), like(text[from+2]); a < 26 && b < 26 && c < 26 {
			f.leet += int(starts[int(a)*676+int(b)*26+int(c)] >> 2)
		}
	}
}

// like is the number of a letter, or of the one that a digit stands for.
func like(c byte) byte {
	if x := unleet[c]; x != 0 {
		c = x
	}
	return c | 0x20 - 'a'
}

// A series is a row of words of one kind, at most three bytes apart.
type series struct {
	n, from, to int
}

func (s *series) step(f *facts, l Layer, least, from, to int, is bool) {
	if is && s.n > 0 && from-s.to <= 3 {
		s.n++
		s.to = to
		return
	}
	s.end(f, l, least)
	if is {
		*s = series{1, from, to}
	}
}

func (s *series) end(f *facts, l Layer, least int) {
	if s.n >= least {
		f.runs = append(f.runs, run{s.from, s.to, l})
	}
	*s = series{}
}

func hexDigit(c byte) bool { return classes[c]&(digitByte|hexByte) != 0 }

func octet(s string) bool {
	for i := range len(s) {
		if s[i] != '0' && s[i] != '1' {
			return false
		}
	}
	return true
}
