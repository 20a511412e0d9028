package flat

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special has the high bit of each byte of w set, from the lowest on up to the first
// that is right, that ends the plain part of a string: a quote, a backslash, a
// control character or the beginning of something outside of ASCII.
func special(w uint64) uint64 {
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	return (w | (w-ones*0x20)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & highs
}

// marked has the high bit of some byte of w set if one of its bytes is a mark; the
// lowest one that has it set is right.
func marked(w uint64) uint64 {
	slash, tilde, colon, percent := w^(ones*'/'), w^(ones*'~'), w^(ones*':'), w^(ones*'%')
	return ((slash-ones)&^slash | (tilde-ones)&^tilde | (colon-ones)&^colon | (percent-ones)&^percent) & highs
}

// text reads a string; esc tells whether something in it is escaped, mark whether it
// may have a mark once it is decoded.
func (s *scan) text() (esc, mark, ok bool) {
	b, i := s.b, s.i+1
	for i < len(b) {
		if i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			m, k := special(w), marked(w)
			if m == 0 {
				mark = mark || k != 0
				i += 8
				continue
			}
			n := bits.TrailingZeros64(m)
			mark = mark || k&(1<<n-1) != 0
			i += n / 8
		}
		switch c := b[i]; {
		case c == '"':
			s.i = i + 1
			return esc, mark, true
		case c == '\\':
			esc = true
			if i+1 < len(b) && plain[b[i+1]] != 0 {
				mark = mark || b[i+1] == '/' || b[i+1] == '\\'
				i += 2
				continue
			}
			n := s.escape(b[i:])
			if n == 0 {
				return esc, mark, false
			}
			mark = true
			i += n
		case c < ' ' && !s.t.loose:
			return esc, mark, false
		case c < utf8.RuneSelf:
			mark = mark || c == '/' || c == '~' || c == ':' || c == '%'
			i++
		default:
			mark = true
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n == 1 {
				return esc, mark, false
			}
			i += n
		}
	}
	return esc, mark, false
}

// escape is how long the \uXXXX, or the two of them, at the beginning of b are; 0: there
// are none. Half a surrogate pair is none, but where a lenient server would take it.
func (s *scan) escape(b []byte) int {
	if len(b) < 6 || b[1] != 'u' {
		return 0
	}
	r, ok := hex4(b[2:])
	switch {
	case !ok:
		return 0
	case r < 0xd800 || r > 0xdfff:
		return 6
	case r < 0xdc00 && len(b) >= 12 && b[6] == '\\' && b[7] == 'u':
		if low, ok := hex4(b[8:]); ok && low >= 0xdc00 && low <= 0xdfff {
			return 12
		}
	}
	if s.t.loose {
		return 6
	}
	return 0
}

// plain is what a backslash and a letter stand for.
var plain = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// near is how many bytes behind an escape are looked at one by one: where there is one
// the next is often near.
const near = 8

// unescape is what b says, the inside of a string that was read: each escape in it is
// whole. It is written into buf, and no longer than b.
func unescape(buf, b []byte) []byte {
	out := slices.Grow(buf[:0], len(b))[:len(b)]
	i, n := 0, 0
	for {
		next := bytes.IndexByte(b[i:], '\\')
		if next < 0 {
			return out[:n+copy(out[n:], b[i:])]
		}
		n += copy(out[n:], b[i:i+next])
		i += next
		for to := i + 1; i < to && i < len(b); {
			c, size := b[i], 1
			if c == '\\' {
				if c, size = plain[b[i+1]], 2; c == 0 {
					r, hexes := unescapeRune(b[i:])
					n += utf8.EncodeRune(out[n:], r)
					i += hexes
					to = i + near
					continue
				}
				to = i + size + near
			}
			out[n] = c
			n++
			i += size
		}
	}
}

// unescapeRune is what one \uXXXX, or two of them, at the beginning of b are, and their
// size.
func unescapeRune(b []byte) (r rune, size int) {
	if r, _ = hex4(b[2:]); !utf16.IsSurrogate(r) {
		return r, 6
	}
	if r < 0xdc00 && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if low, ok := hex4(b[8:]); ok && low >= 0xdc00 && low <= 0xdfff {
			return utf16.DecodeRune(r, low), 12
		}
	}
	return utf8.RuneError, 6 // half of a pair, which only a loose reading lets pass
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
