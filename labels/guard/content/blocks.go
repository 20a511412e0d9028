package content

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What suspicious asks of a byte when it goes by blocks.
const (
	isSign  uint32 = 1       // special has to look at it
	isSpace uint32 = 1 << 16 // the bits between are for where in a block a sign is
	isDash  uint32 = 1 << 17
	isLead  uint32 = 1 << 18 // begins the encoding of letters that nobody sees, or of plain ones in another form
	isAmp   uint32 = 1 << 19
	isZero  uint32 = 1 << 20
	isCR    uint32 = 1 << 21
	isEnd   uint32 = 1 << 22 // ends a line for some readers, and is rare
)

var marks = func() (t [256]uint32) {
	for c := range t {
		if classes[c]&^isRun != 0 && c != ' ' {
			t[c] = isSign
		}
	}
	for _, r := range unicode.Cf.R16 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			t[string(c)[0]] |= isLead
		}
	}
	for _, r := range unicode.Cf.R32 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			t[string(c)[0]] |= isLead
		}
	}
	t[' '], t['-'], t['&'], t[0] = isSpace, isDash, isAmp, isZero
	t['\r'] |= isCR
	for _, c := range []byte("\v\f\x1c\x1d\x1e") {
		t[c] |= isEnd
	}
	return t
}()

// suspicious tells whether any way to find a credential in a text has something to
// begin with. It goes by blocks of eight bytes, and looks closely at words that are long
// enough for a credential or an encoding. A shorter one matters by a few signs in it, and
// if a credential that begins in it is cut behind it.
func suspicious(t string) bool {
	l := look{t: t, chain: -1}
	for i := 0; i < len(t); {
		var long, found bool
		if i, long = l.skip(i); long {
			i, found = l.closely(i)
			l.word = i
		} else if i < len(t) {
			i, found = l.sign(i)
		}
		if found {
			return true
		}
	}
	return l.percent && strings.Count(t, "%") >= 3 || l.url && l.at || l.seen&(isLead|isDash|isAmp|isZero|isCR|isEnd) != 0 && l.odd()
}

// odd tells of a text with signs that are rare whether they begin what is found: letters
// that nobody sees, keys, entities of HTML, lines that end elsewhere for some readers,
// letters with zeros between them.
func (l *look) odd() bool {
	t := l.t
	return l.seen&isLead != 0 && unseen(t) || l.seen&isAmp != 0 && entity(t) ||
		l.seen&isDash != 0 && (strings.Contains(t, beginnings[1]) || strings.Contains(t, beginnings[2])) ||
		l.seen&isEnd != 0 || l.seen&isZero != 0 && spread(t) || l.seen&isCR != 0 && strings.Count(t, "\r") > strings.Count(t, "\r\n")
}

// unseen is invisible, or that lines end at other characters, faster: it looks only where
// such a letter may begin.
func unseen(t string) bool {
	for i := range len(t) {
		if marks[t[i]]&isLead == 0 {
			continue
		}
		switch r, _ := utf8.DecodeRuneInString(t[i:]); {
		case !unusual(r):
		case r == 0x85 || r&^1 == 0x2028: // lines end there for some
			return true
		case plainLetter(r):
			return invisible(t) || strings.ContainsAny(t, "\u0085\u2028\u2029")
		case unicode.Is(unicode.Cf, r):
			return true
		}
	}
	return false
}

// skip goes on to the next sign, or back to where a word begins that is long. A long word
// has a whole block in it: it has 20 bytes, and none of the signs behind which the blocks
// begin anew.
func (l *look) skip(i int) (next int, long bool) {
	t, seen := l.t, l.seen
	for ; i <= len(t)-8; i += 8 {
		b := t[i : i+8]
		s := marks[b[0]] | marks[b[1]] | marks[b[2]] | marks[b[3]] | marks[b[4]] | marks[b[5]] | marks[b[6]] | marks[b[7]]
		seen |= s
		if s &= isSpace | isSign; s == isSpace {
			continue
		}
		if s&isSign != 0 {
			l.seen = seen
			return i + firstSign(b), false
		}
		if from := l.from(i); longWord(t, from, i+8) {
			l.seen = seen
			return from, true
		}
	}
	for ; i < len(t); i++ {
		s := marks[t[i]]
		seen |= s
		if s&isSign != 0 {
			break
		}
	}
	l.seen = seen
	return i, false
}

// firstSign is where in a block the first sign is.
func firstSign(b string) int {
	_ = b[7]
	s := marks[b[6]] | marks[b[7]]<<1
	s = marks[b[5]] | s<<1
	s = marks[b[4]] | s<<1
	s = marks[b[3]] | s<<1
	s = marks[b[2]] | s<<1
	s = marks[b[1]] | s<<1
	s = marks[b[0]] | s<<1
	return bits.TrailingZeros32(s)
}

// from is where the word at i begins.
func (l *look) from(i int) int {
	for i > l.word && l.t[i-1] != ' ' {
		i--
	}
	return i
}

// longWord tells whether the word that begins at from and goes to i at least is long
// enough for a credential.
func longWord(t string, from, i int) bool {
	for i < len(t) && t[i] != ' ' && i-from < leastJoined {
		i++
	}
	return i-from >= leastJoined
}

// sign looks at a byte that may be more than a letter, in a word that is short. It says
// where the look goes on.
func (l *look) sign(i int) (next int, found bool) {
	t := l.t
	class := classes[t[i]]
	switch class {
	case isBlank:
		found = t[i] == '\n' && begunBefore(t, i)
		for i++; i < len(t) && (t[i] == ' ' || t[i] == '\t'); {
			i++
		}
		l.word = i
		return i, found
	case isQuote:
		if mayJoin(t, i) && pieceEnd(t, i) != 0 { // begunBefore: it may be before a blank
			next, found = l.closely(l.from(i))
			l.word = next
			return next, found || begunBefore(t, i)
		}
		l.word = i + 1
		return i + 1, t[i] == '\\' && escapes(t[i:min(len(t), i+4)]) || strings.HasPrefix(t[i:], `"kty"`) || begunBefore(t, i)
	}
	if from := l.from(i); longWord(t, from, i) {
		i, found = l.closely(from)
		l.word = i
		return i, found
	}
	_, found = l.special(i, class)
	return i + 1, found
}

// joining is what stands behind the end of a text that another is put together with.
var joining = alphabet(" \t\r\n+.,&()[]\\")

// mayJoin tells by the next byte whether pieceEnd may find anything.
func mayJoin(t string, i int) bool { return i+1 < len(t) && joining[t[i+1]] }

// begunBefore tells whether a credential begins in the word before i and goes on behind
// it. A word that is long enough for a whole one was looked at.
func begunBefore(t string, i int) bool {
	end := i
	for end > 0 && (t[end-1] == ' ' || t[end-1] == '\t' || t[end-1] == '\r') {
		end--
	}
	if end >= 8 && plainEnd(t[end-8:end]) {
		return false
	}
	for p := end - 2; p >= 0 && end-p <= leastJoined; p-- {
		class := twos[uint16(t[p])<<8|uint16(t[p+1])]
		if class&(isBlank|isQuote) != 0 {
			return false
		}
		if class&isBeginning != 0 && begins(t, p) {
			return true
		}
	}
	return false
}

// plainEnd tells of eight bytes whether the word at their end begins in them, and none of
// them begins a form.
func plainEnd(b string) bool {
	_ = b[7]
	x := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
	const lanes = 0x0101010101010101
	if y := x ^ ' '*lanes; (y-lanes)&^y&(0x80*lanes) == 0 {
		return false
	}
	return !(rareAt(x) || rareAt(x>>8) || rareAt(x>>16) || rareAt(x>>24) || rareAt(x>>32) || rareAt(x>>40) || rareAt(x>>48))
}

// rare is a set of pairs of bytes, the first in the lower bits: of the prefix of every
// form the pair that is least like prose.
var rare = func() (set [1 << 10]uint64) {
	for i := range forms {
		p := forms[i].prefix
		best, most := 0, -1
		for k := range len(p) - 1 {
			n := 0
			for _, c := range []byte(p[k : k+2]) {
				if c < 'a' || c > 'z' {
					n++
				}
			}
			if n > most {
				best, most = k, n
			}
		}
		pair := uint16(p[best]) | uint16(p[best+1])<<8
		set[pair>>6] |= 1 << (pair & 63)
	}
	return set
}()

func rareAt(x uint64) bool { return rare[x>>6&0x3ff]>>(x&63)&1 != 0 }

// keyLetters has the letters of each of the parts of names under which secrets stand.
var keyLetters = func() (list []uint32) {
	for _, k := range secretKeys {
		list = append(list, letters(k))
	}
	return list
}()

// letters is the set of the letters of a name, whatever their case.
func letters(name string) (set uint32) {
	for i := range len(name) {
		set |= 1 << (name[i] & 31)
	}
	return set
}

// mayBeKey tells whether a name has all letters that one of a secret has.
func mayBeKey(name string) bool {
	if len(name) < 5 {
		return false
	}
	set := letters(name)
	for _, k := range keyLetters {
		if k&^set == 0 {
			return true
		}
	}
	return false
}
