package content

import (
	"strings"

	"github.com/pratique-dev/pratique/labels/args"
)

// mayPath tells whether a text may be a path, by its length and its name: a text that is
// what a file will hold is none if it is long.
func mayPath(v args.Value, t string) bool {
	if len(t) < 256 {
		return true
	}
	switch roleOf(v.Name()) {
	case pathName, weakName, dirName, mapName, other:
		return true
	}
	return false
}

// variables tells whether a text may be the path of a file of variables, however it is
// written.
func variables(t string) bool {
	if len(t) < 4 {
		return false
	}
	var seen byte
	for i := range len(t) {
		seen |= dots[t[i]]
	}
	if seen == 0 {
		return false
	}
	for i := range len(t) - 3 {
		if t[i] == '.' && t[i+1]|0x20 == 'e' && t[i+2]|0x20 == 'n' && t[i+3]|0x20 == 'v' {
			return true
		}
	}
	return seen != 1 && folds(t) && strings.Contains(fold(t), ".env")
}

// dots has the bytes that a dot may be written with.
var dots = func() (t [256]byte) {
	for c := 0x80; c < 256; c++ {
		t[c] = 2
	}
	t['.'], t['%'] = 1, 2
	return t
}()

// folds tells whether a text has signs or letters that a path is read without, or that
// may stand for those of ".env".
func folds(t string) bool {
	for _, r := range t {
		if r == '%' || r >= 0x80 && (unusual(r) || r == 0x34f || r&^0xff == 0x3300 || r&^0xff == 0x2c00) {
			return true
		}
	}
	return false
}

// linesWorth tells whether the lines of a text hold what none of them holds alone.
func linesWorth(v args.Value) bool {
	r := roleOf(v.Name())
	return (r == textName || r == partName) && lines(v) && suspicious(joined(v))
}
