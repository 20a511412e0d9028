package content

import (
	"strings"

	"github.com/pratique-dev/pratique/labels/args"
)

// worth tells whether the arguments of a call hold anything that is to be judged. It is
// a first look that may say yes for nothing, and never no where something would be
// found: most calls are done with it.
func (j *Judge) worth(v args.Value, r role) bool {
	switch v.Kind() {
	case '"':
		if j.secretsOnly && !v.Marked() && tame(v.Written()) {
			in, ok := v.Inner()
			return ok && j.worth(in, r)
		}
		t := v.Text()
		if len(t) >= least && suspicious(t) || j.secretsOnly && variables(t, v.Marked()) && mayPath(v, t) || !j.secretsOnly && (j.places(t, r) || patchy(t)) {
			return true
		}
		in, ok := v.Inner()
		return ok && j.worth(in, r)
	case '[':
		for e := v.First(); e.Kind() != 0; e = e.Next() {
			if !j.secretsOnly && v.Len() > 1 && j.places(e.Text(), other) {
				return true
			}
			if j.worth(e, r) {
				return true
			}
		}
	case '{':
		for e := v.First(); e.Kind() != 0; e = e.Next() {
			name := e.Name()
			if len(name) >= least && suspicious(name) {
				return true
			}
			if j.secretsOnly {
				if variables(name, e.NameMarked()) {
					return true
				}
			} else {
				if r = roleOf(name); strings.ContainsAny(name, pathSigns) && j.kindOf(fold(name)) != plain {
					return true
				}
			}
			if e.Kind() == '[' && linesWorth(e) || j.worth(e, r) {
				return true
			}
		}
	case '0', 't':
		return !j.secretsOnly && (r == modeName || r == execName)
	}
	return false
}

// places tells whether a text says where to or how in a way that is judged, or is a
// patch.
func (j *Judge) places(t string, r role) bool {
	switch r {
	case pathName:
		return len(t) < 4096 && j.kindOf(fold(t)) != plain
	case dirName:
		return fileName(t)
	case textName, partName:
		return len(t) < 128 && fileName(t) && j.kindOf(fold(t)) != plain
	case weakName, other:
		return fileName(t) && j.kindOf(fold(t)) != plain
	case patchName:
		return len(t) > 2
	case execName, modeName:
		return true
	case encodingName:
		return t != "text" && t != "utf-8" && t != "utf8"
	}
	return false
}

// marks of bytes that suspicious looks at more closely.
const (
	isRun byte = 1 << iota
	isQuote
	isAssign
	isPercent
	isAt
	isBlank
	isBeginning // with the byte before it
)

var classes = func() (t [256]byte) {
	for c := range 256 {
		if runChars[c] {
			t[c] = isRun
		}
	}
	for _, c := range []byte("\"'`\\") {
		t[c] |= isQuote
	}
	for _, c := range []byte(" \t\r\n") {
		t[c] |= isBlank
	}
	t['='] |= isAssign
	t[':'] |= isAssign
	t['%'] |= isPercent
	t['@'] |= isAt
	return t
}()

// twos has, by two bytes, the class of the second one, and whether something begins with
// them: one look-up for each byte of a text.
var twos [1 << 16]byte

// A look is one pass over a text: whether it may hold a credential.
type look struct {
	t       string
	word    int    // where what has no blanks and quotes in it begins
	chain   int    // where the texts begin that are put together; -1: none are
	piece   int    // where the last of them begins
	joined  int    // how long those before it are together
	seen    uint32 // marks of bytes
	percent bool
	url, at bool
}

// closely looks at every byte from the beginning of a word on, up to the first blank that
// is not between texts that are put together. It says where the look goes on.
func (l *look) closely(from int) (next int, found bool) {
	t := l.t
	l.word = from
	prev, run := uint16(0), from // run: where letters that may be an encoding begin
	for i := from; i < len(t); i++ {
		prev = prev<<8 | uint16(t[i])
		class := twos[prev]
		if class == isRun {
			continue
		}
		if class&isBeginning != 0 {
			if i > 0 && begins(t, i-1) {
				return i, true
			}
			if class &^= isBeginning; class == isRun {
				continue
			}
		}
		if i-run >= leastBase64 && (nextLine(t, i) != 0 || decodable(t[run:i])) {
			return i, true // an encoding, or its first line
		}
		run = i + 1
		l.seen |= marks[t[i]]
		switch {
		case class == 0:
		case class == isBlank && l.chain < 0 && (t[i] == ' ' || t[i] == '\t'):
			return run, false
		default:
			next, found := l.special(i, class)
			if found || class == isBlank {
				return run, found
			}
			if next > i {
				i, run = next, next+1
			}
		}
	}
	return len(t), len(t)-run >= leastBase64 && decodable(t[run:]) || l.ends(len(t))
}

// special looks at a byte that is more than a letter, and is where the look goes on
// behind.
func (l *look) special(i int, class byte) (next int, found bool) {
	t := l.t
	switch class {
	case isBlank:
		if l.chain >= 0 && l.ends(i) {
			return i, true
		}
		l.word = i + 1
	case isQuote:
		end := 0
		if mayJoin(t, i) {
			end = pieceEnd(t, i)
		}
		if end != 0 {
			if l.chain < 0 {
				l.chain, l.piece, l.joined = l.word, l.word, 0
			}
			l.joined += i - l.piece
			l.piece = end
			if strings.IndexByte(t[i:end], '\r') >= 0 {
				l.seen |= isCR
			}
			return end - 1, false
		}
		if l.chain >= 0 && l.ends(i) || t[i] == '\\' && escapes(t[i:min(len(t), i+4)]) || strings.HasPrefix(t[i:], `"kty"`) {
			return i, true
		}
		l.word = i + 1
	case isAssign:
		return i, l.assigns(i)
	case isAt:
		l.at = true
	default:
		l.percent = true
	}
	return i, false
}

// leastJoined is the length of the shortest credential that has a form.
const leastJoined = 20

// assigns looks at a colon or an equals sign.
func (l *look) assigns(i int) bool {
	if name, _ := nameBefore(l.t, i); mayBeKey(name) && keyName(name) || strings.HasPrefix(l.t[i:], ":AA") {
		return true
	}
	l.url = l.url || strings.HasPrefix(l.t[i:], "://")
	return false
}

// ends looks at texts that are put together and end at i.
func (l *look) ends(i int) bool {
	from := l.chain
	l.chain = -1
	if from < 0 {
		return false
	}
	if l.joined+i-l.piece < leastJoined {
		var buf [leastJoined]byte
		return begun(string(joinShort(&buf, l.t[from:i])), i < len(l.t))
	}
	u, _ := joinPieces(l.t[from:i])
	if begun(u, i < len(l.t)) {
		return true
	}
	found := false
	tokens(u, func(int, int, bool) { found = true })
	runs(u, func(a, b int, lines bool) {
		found = found || lines || b == len(u) && nextLine(l.t, i) != 0 || decodable(u[a:b])
	})
	return found
}

// joinShort is joinPieces of texts that are short together; it makes no other text.
func joinShort(buf *[leastJoined]byte, t string) []byte {
	b, last := buf[:0], 0
	for i := 0; i < len(t); i++ {
		if classes[t[i]]&isQuote != 0 {
			if end := pieceEnd(t, i); end != 0 {
				b = append(b, t[last:i]...)
				last, i = end, end-1
			}
		}
	}
	return append(b, t[last:]...)
}

// begun tells whether texts that are put together have a part of what is known by what it
// is made of, or, where they are cut at their end, the beginning of a credential that may
// go on behind it.
func begun(u string, cut bool) bool {
	for p := range len(u) - 1 {
		switch u[p] {
		case ':':
			if strings.HasPrefix(u[p:], "://") || strings.HasPrefix(u[p:], ":AA") {
				return true
			}
		case 'k':
			if strings.HasPrefix(u[p:], "kty") {
				return true
			}
		}
		pair := uint16(u[p])<<8 | uint16(u[p+1])
		if twos[pair]&isBeginning == 0 {
			continue
		}
		for _, n := range groups[byPair[pair]] {
			if n < 0 {
				if b := beginnings[-1-n]; strings.HasPrefix(u[p:], b[:min(len(b), 6)]) {
					return true
				}
			} else if cut && forms[n].open(u, p, true) {
				return true
			}
		}
	}
	return false
}

// open tells whether a credential that begins at i may go on: behind more pieces than
// are put together, some of which are one by then, or behind the end of a text that is
// cut.
func (f *form) open(s string, i int, cut bool) bool {
	if !strings.HasPrefix(s[i:], f.prefix) || f.apart && i > 0 && (alnum[s[i-1]] || s[i-1] == '_') {
		return false
	}
	i += len(f.prefix)
	for n, pieces := 0, 1; n < f.min && pieces <= maxPieces; {
		switch {
		case i == len(s):
			return cut
		case f.chars[s[i]]:
			i, n = i+1, n+1
			if n == f.min {
				return false
			}
			continue
		}
		next := joint(s, i)
		if next == 0 {
			return cut && strings.Trim(s[i:min(len(s), i+40)], "\"'`\\ \t\r\n+&,.") == ""
		}
		i, pieces = next, pieces+1
	}
	return true
}

// begins tells whether a credential that has a form begins at i.
func begins(t string, i int) bool {
	if i+2 >= len(t) {
		return false
	}
	for _, n := range groups[byPair[uint16(t[i])<<8|uint16(t[i+1])]] {
		if n < 0 {
			if begin := beginnings[-1-n]; strings.HasPrefix(t[i:], begin) && (begin != "eyJ" || (i == 0 || !url64[t[i-1]]) && webToken(t, i) > 0) {
				return true
			}
			continue
		}
		if p := forms[n].prefix; len(p) > 2 && p[2] != t[i+2] {
			continue
		}
		if end, _ := forms[n].at(t, i); end > 0 || forms[n].open(t, i, false) {
			return true
		}
	}
	return false
}

// beginnings are those of what is known by what it is made of; byPair has them as
// negative numbers.
var beginnings = []string{"eyJ", "-----BEGIN ", "PuTTY-User"}

// decodable tells whether a run may be text in base64 or hex.
func decodable(run string) bool {
	s := sighting{budget: 1 << 30}
	return s.run(run, nil)
}
