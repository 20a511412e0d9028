package content

import (
	"encoding/base64"
	"sort"
	"strings"
)

// Lengths of what is worth decoding, in characters.
const (
	leastBase64 = 24
	leastHex    = 40
)

// encoded takes encodings off and looks again: percent and backslash escapes and texts
// in pieces, which are one text then; base64 and hex, also over several lines, in that
// text.
func (s *sighting) encoded(t string, layer int, at func(int) int) {
	u := visible(t)
	for range 3 {
		if strings.Count(u, "%") < 3 {
			break
		}
		d := unpercent(u)
		if len(u)-len(d) < 6 {
			break
		}
		u = d
	}
	if escapes(u) {
		u = unbackslash(u)
	}
	u = unentity(u)
	if len(u) != len(t) {
		at = scaled(len(u), len(t), at)
	}
	if joined, marks := joinPieces(u); len(marks) > 0 {
		u, at = joined, mapped(marks, at)
	}
	if len(u) != len(t) {
		s.budget -= len(u)
		tokens(u, func(from, to int, _ bool) { s.found(at(from), at(to), whyHidden) })
		privateKeys(u, func(from, to int) { s.found(at(from), at(to), whyHidden) })
		structured(u, func(from, to int) { s.found(at(from), at(to), whyHidden) })
	}
	runs(u, func(from, to int, lines bool) {
		run := u[from:to]
		if lines {
			run = strings.Map(func(r rune) rune {
				if r < 0x80 && (std64[r] || url64[r]) {
					return r
				}
				return -1
			}, run)
		}
		s.run(run, func(text string) { s.again(text, layer, func(int) int { return at(from) }) })
	})
}

// escapes tells whether characters are written as programming languages escape them.
func escapes(t string) bool {
	for rest := t; ; {
		i := strings.IndexByte(rest, '\\')
		if i < 0 || i+3 >= len(rest) {
			return false
		}
		if c := rest[i+1]; (c == 'x' || c == 'u' || c == 'U' || c >= '0' && c <= '7') && hexDigit(rest[i+2]) >= 0 {
			return true
		}
		rest = rest[i+2:]
	}
}

// again looks into what was decoded.
func (s *sighting) again(t string, layer int, at func(int) int) { s.look(t, layer+1, at) }

// run decodes a run of base64 or hex and hands on what is text then; true: something
// was. What stands before it may have shifted it.
func (s *sighting) run(run string, found func(text string)) (any bool) {
	if hexRun(run) { // small digits and letters up to f are no base64
		var buf [128]byte
		b := narrow(unhex(buf[:0], run))
		if any = len(b) >= leastHex/2 && readable(b); any && found != nil {
			found(string(b))
		}
		return any
	}
	std := run
	if strings.ContainsAny(run, "-_") {
		std = strings.NewReplacer("-", "+", "_", "/").Replace(run)
	}
	std = strings.TrimRight(std, "=")
	var buf [192]byte
	for shift := range 4 {
		if shift >= len(std) || s.budget < 0 {
			return any
		}
		part := std[shift:]
		part = part[:len(part)-len(part)%4+cut4[len(part)%4]]
		b := buf[:]
		if n := base64.RawStdEncoding.DecodedLen(len(part)); n > len(buf) {
			b = make([]byte, n)
		}
		n, err := base64.RawStdEncoding.Decode(b, []byte(part))
		s.budget -= n
		if err != nil {
			continue
		}
		if b = narrow(b[:n]); !readable(b) {
			continue
		}
		if any = true; found == nil {
			return any
		}
		found(string(b))
	}
	return any
}

// cut4 is how many of the characters beyond a multiple of 4 make bytes.
var cut4 = [4]int{0, 0, 2, 3}

// readable tells whether some stretch of decoded bytes is text long enough to hold a
// credential.
func readable[T string | []byte](b T) bool {
	n := 0
	for i := range len(b) {
		if b[i] >= 0x20 && b[i] < 0x7f || b[i] == '\n' || b[i] == '\r' || b[i] == '\t' {
			if n++; n >= 16 {
				return true
			}
			continue
		}
		n = 0
	}
	return false
}

// hexRun tells whether a run is of hexadecimal digits in one case alone.
func hexRun(s string) bool {
	var low, up bool
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
		case c >= 'a' && c <= 'f':
			low = true
		case c >= 'A' && c <= 'F':
			up = true
		default:
			return false
		}
	}
	return !(low && up)
}

// unhex decodes whole bytes of hexadecimal digits.
func unhex(b []byte, s string) []byte {
	for i := 0; i+1 < len(s); i += 2 {
		b = append(b, byte(hexDigit(s[i])<<4|hexDigit(s[i+1])))
	}
	return b
}

var runChars = alphabet(lower + upper + digit + "+/_-")

// runs finds stretches that may be base64 or hex: on one line, or on several lines that
// hold nothing else.
func runs(t string, f func(from, to int, lines bool)) {
	for i := 0; i < len(t); {
		if !runChars[t[i]] {
			i++
			continue
		}
		from, lines := i, false
		for i < len(t) && runChars[t[i]] {
			i++
		}
		for i-from >= leastBase64 && i < len(t) {
			next := nextLine(t, i)
			if next == 0 {
				break
			}
			end := next
			for end < len(t) && runChars[t[end]] {
				end++
			}
			if end < len(t) && strings.IndexByte("=\"'\\\r\n,<", t[end]) < 0 {
				break
			}
			lines, i = true, end
		}
		for i < len(t) && t[i] == '=' {
			i++
		}
		if i-from >= leastBase64 {
			f(from, i, lines)
		}
	}
}

// nextLine is where a run that stops at i goes on in the next line; 0: nowhere.
func nextLine(t string, i int) int {
	broken := false
	for j := i; j < len(t) && j-i < 80; j++ {
		switch c := t[j]; {
		case c == '\n':
			if broken {
				return 0
			}
			broken = true
		case c == ' ' || c == '\t' || c == '\r' || c == '"' || c == '\'' || c == '\\' || c == '#' || c == '*':
		case c == '+' && !broken:
		case runChars[c] && broken:
			return j
		default:
			return 0
		}
	}
	return 0
}

// A mark says that from an offset of a joined text on, the text comes from another
// offset.
type mark struct{ joined, original int }

// joinPieces takes out where a text in quotes ends and the next begins, with an operator
// or a comma between, and line ends behind a backslash.
func joinPieces(t string) (string, []mark) {
	var b strings.Builder
	var marks []mark
	last := 0
	for i := 0; i < len(t); i++ {
		if c := t[i]; c != '"' && c != '\'' && c != '`' && c != '\\' {
			continue
		}
		end := pieceEnd(t, i)
		if end == 0 {
			continue
		}
		b.WriteString(t[last:i])
		last = end
		marks = append(marks, mark{b.Len(), end})
		i = end - 1
	}
	if marks == nil {
		return "", nil
	}
	b.WriteString(t[last:])
	return b.String(), marks
}

// pieceEnd is where the next piece begins if one ends at i; 0: none does.
func pieceEnd(t string, i int) int {
	j := i + 1
	if t[i] == '\\' {
		if strings.HasPrefix(t[j:], "\n") {
			for j++; j < len(t) && (t[j] == ' ' || t[j] == '\t'); {
				j++
			}
			return j
		}
		return 0
	}
	for j < len(t) && j-i < 60 && strings.IndexByte(" \t\r\n+.,&()[]\\", t[j]) >= 0 {
		j++
	}
	if j < len(t) && j > i+1 && (t[j] == '"' || t[j] == '\'' || t[j] == '`') {
		return j + 1
	}
	return 0
}

func mapped(marks []mark, at func(int) int) func(int) int {
	return func(i int) int {
		n := sort.Search(len(marks), func(n int) bool { return marks[n].joined > i })
		if n == 0 {
			return at(i)
		}
		return at(marks[n-1].original + i - marks[n-1].joined)
	}
}

// scaled says about where in a longer text an offset comes from.
func scaled(short, long int, at func(int) int) func(int) int {
	return func(i int) int { return at(int(float64(i) / float64(max(1, short)) * float64(long))) }
}

// unbackslash decodes the escapes of characters of programming languages.
func unbackslash(t string) string {
	var b strings.Builder
	for i := 0; i < len(t); i++ {
		if t[i] == '\\' && i+1 < len(t) && strings.IndexByte("xuU01234567", t[i+1]) >= 0 {
			i += unescape(&b, t[i+1:])
			continue
		}
		b.WriteByte(t[i])
	}
	return b.String()
}
