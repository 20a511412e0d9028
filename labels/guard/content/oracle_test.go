package content

import "strings"

// A byteLook is the look as it was before it went by blocks: byte by byte. It is what
// the one by blocks is compared with.
type byteLook struct {
	t        string
	word     int // where what has no blanks and quotes in it begins
	chain    int // where the texts begin that are put together; -1: none are
	piece    int // where the last of them begins
	joined   int // how long those before it are together
	percents int
	url, at  bool
}

// otherwise tells whether some readers end lines of a text elsewhere.
func otherwise(t string) bool {
	u, _ := ended(t, endsPython)
	return u != t
}

// suspiciousBytes tells whether any way to find a credential in a text has something to
// begin with.
func suspiciousBytes(t string) bool {
	l := byteLook{t: t, chain: -1}
	prev, run := uint16(0), 0 // run: where letters that may be an encoding begin
	high := byte(0)
	for i := 0; i < len(t); i++ {
		prev = prev<<8 | uint16(t[i])
		class := twos[prev]
		if class == isRun {
			continue
		}
		if class&isBeginning != 0 {
			if i > 0 && begins(t, i-1) {
				return true
			}
			if class &^= isBeginning; class == isRun {
				continue
			}
		}
		c := t[i]
		if i-run >= leastBase64 && (nextLine(t, i) != 0 || decodable(t[run:i])) {
			return true
		}
		run = i + 1
		high |= c
		switch {
		case class == 0:
		case class == isBlank && l.chain < 0 && c != '\n' && c != '\r':
			l.word = run
		default:
			next, found := l.special(i, class)
			if found {
				return true
			}
			if next > i {
				i, run = next, next+1
			}
		}
	}
	return high >= 0x80 && invisible(t) || entity(t) || spread(t) || otherwise(t) || l.percents >= 3 || l.url && l.at || len(t)-run >= leastBase64 && decodable(t[run:]) || l.ends(len(t))
}

// special looks at a byte that is more than a letter, and is where the look goes on
// behind.
func (l *byteLook) special(i int, class byte) (next int, found bool) {
	t := l.t
	switch class {
	case isBlank:
		if l.chain >= 0 && l.ends(i) {
			return i, true
		}
		l.word = i + 1
	case isQuote:
		if end := pieceEnd(t, i); end != 0 {
			if l.chain < 0 {
				l.chain, l.piece, l.joined = l.word, l.word, 0
			}
			l.joined += i - l.piece
			l.piece = end
			return end - 1, false
		}
		if l.chain >= 0 && l.ends(i) || t[i] == '\\' && escapes(t[i:min(len(t), i+4)]) || strings.HasPrefix(t[i:], `"kty"`) {
			return i, true
		}
		l.word = i + 1
	case isAssign:
		if name, _ := nameBefore(t, i); keyName(name) || strings.HasPrefix(t[i:], ":AA") {
			return i, true
		}
		l.url = l.url || strings.HasPrefix(t[i:], "://")
	case isAt:
		l.at = true
	default:
		l.percents++
	}
	return i, false
}

// ends looks at texts that are put together and end at i.
func (l *byteLook) ends(i int) bool {
	from := l.chain
	l.chain = -1
	if from < 0 || l.joined+i-l.piece < leastJoined {
		return false
	}
	u, _ := joinPieces(l.t[from:i])
	found := strings.Contains(u, "-----B") || strings.Contains(u, "://") || strings.Contains(u, ":AA") || strings.Contains(u, "kty")
	tokens(u, func(int, int, bool) { found = true })
	runs(u, func(a, b int, _ bool) { found = found || decodable(u[a:b]) })
	return found || strings.Contains(u, "eyJ")
}
