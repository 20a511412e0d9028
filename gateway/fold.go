package gateway

import (
	"strings"
	"unicode"
)

func equalFold(a, b string) bool { return strings.EqualFold(a, b) }

// foldKey is one text for all that equalFold calls equal.
func foldKey(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && r != 'k' && r != 'K' && r != 's' && r != 'S' {
			if 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
			return r
		}
		low := r
		for x := unicode.SimpleFold(r); x != r; x = unicode.SimpleFold(x) {
			low = min(low, x)
		}
		return low
	}, s)
}
