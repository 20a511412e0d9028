package content

import "strings"

// What tame asks of a byte.
const (
	isWild uint8 = 1 << iota // it is for suspicious to look at
	isGap
	isDot
)

// wild are the bytes that suspicious asks more of than a letter, but for the blank and
// the line break, and what begins an escape.
var wild = func() (t [256]uint8) {
	for c := range t {
		if marks[c] != 0 || c < ' ' || c >= 0x80 {
			t[c] = isWild
		}
	}
	t[' '], t['.'] = isGap, isDot
	return t
}()

// tame tells of a string, as it stands in a text of JSON and without a mark, that neither
// suspicious nor variables finds anything in what it says. It is a first look at prose,
// which has not to be decoded for it: words that are shorter than a credential, in lines
// at whose ends none begins. Where it is not sure it says no.
func tame(t string) bool {
	for i, line := 0, 0; i < len(t); {
		for ; i <= len(t)-8; i += 8 {
			b := t[i : i+8]
			s := wild[b[0]] | wild[b[1]] | wild[b[2]] | wild[b[3]] | wild[b[4]] | wild[b[5]] | wild[b[6]] | wild[b[7]]
			if s == isGap {
				continue
			}
			if s&isWild != 0 || s&isDot != 0 && dotE(t, i, i+8) || s&isGap == 0 && longWritten(t, line, i) {
				break
			}
		}
		from := i
		for i < len(t) && i-from < 8 && wild[t[i]]&isWild == 0 {
			i++
		}
		switch {
		case i-from == 8, dotE(t, from, i): // of a whole block the long word, or the dot
			return false
		case i == len(t):
			return true
		case t[i] != '\\' || i+1 == len(t) || t[i+1] != 'n' || mayBegin(t[line:i]):
			return false
		}
		i += 2
		line = i
	}
	return true
}

// dotE tells whether a dot from i on stands before what ".env" goes on with.
func dotE(t string, i, to int) bool {
	for ; i < to; i++ {
		if t[i] == '.' && i+1 < len(t) && t[i+1]|0x20 == 'e' {
			return true
		}
	}
	return false
}

// longWritten tells whether the word around a block of a line is long enough for a
// credential. Any such word has a block in it.
func longWritten(t string, line, i int) bool {
	from, to := i, i+8
	for from > line && t[from-1] != ' ' {
		from--
	}
	for to < len(t) && t[to] != ' ' && t[to] != '\\' && to-from < leastJoined {
		to++
	}
	return to-from >= leastJoined
}

// mayBegin tells whether something may begin in the last word of a line that goes on in
// the next.
func mayBegin(line string) bool {
	for len(line) > 0 && line[len(line)-1] == ' ' {
		line = line[:len(line)-1]
	}
	for p := len(line) - 2; p >= 0 && line[p] != ' '; p-- {
		pair := uint16(line[p])<<8 | uint16(line[p+1])
		if twos[pair]&isBeginning == 0 {
			continue
		}
		for _, n := range groups[byPair[pair]] {
			if n < 0 && strings.HasPrefix(line[p:], beginnings[-1-n]) || n >= 0 && forms[n].mayBegin(line, p) {
				return true
			}
		}
	}
	return false
}

// mayBegin tells whether a credential of the form may begin at i in a line.
func (f *form) mayBegin(line string, i int) bool {
	return strings.HasPrefix(line[i:], f.prefix) && !(f.apart && i > 0 && (alnum[line[i-1]] || line[i-1] == '_'))
}
