package gateway

import (
	"strings"
	"unicode/utf8"
)

// A needle is what a long text is searched for, in any case of letters.
type needle struct {
	low   string  // in lower case
	at    int     // of its rarest byte
	cases [2]byte // that byte in both cases; the same twice where it has none
	plain bool    // ASCII only
}

// rare is ASCII as far as there is less of it in texts, the rarest first.
const rare = "qzjxkv7869543y2wbgp10fmhucdlsnroati_-.e"

func newNeedle(low string) needle {
	n := needle{low: low, plain: len(low) > 0}
	for i := range len(low) {
		n.plain = n.plain && low[i] < utf8.RuneSelf
	}
	if i := strings.IndexAny(rare, low); n.plain && i >= 0 {
		n.at = strings.IndexByte(low, rare[i])
	}
	if n.plain {
		c := low[n.at]
		n.cases = [2]byte{c, c}
		if c >= 'a' && c <= 'z' {
			n.cases[1] = c - 'a' + 'A'
		}
	}
	return n
}

// in tells whether the text has the needle in it once it is in lower case. c is what
// else is in it.
func (n *needle) in(v string, c uint8) bool {
	if !n.plain || c&high != 0 {
		return strings.Contains(strings.ToLower(v), n.low)
	}
	return n.near(v, n.cases[0]) || n.cases[1] != n.cases[0] && n.near(v, n.cases[1])
}

// near looks wherever the text has the byte b.
func (n *needle) near(v string, b byte) bool {
	for i := n.at; i <= len(v)-len(n.low)+n.at; i++ {
		next := strings.IndexByte(v[i:], b)
		if next < 0 {
			return false
		}
		i += next
		if from := i - n.at; from+len(n.low) <= len(v) && strings.EqualFold(v[from:from+len(n.low)], n.low) {
			return true
		}
	}
	return false
}
