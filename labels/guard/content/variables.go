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
// written. marked is false only where it has neither a percent sign nor a letter outside
// of ASCII.
func variables(t string, marked bool) bool {
	for at := 0; ; at++ {
		n := strings.IndexByte(t[at:], '.')
		if n < 0 {
			return marked && folds(t) && strings.Contains(fold(t), ".env")
		}
		if at += n; at+4 <= len(t) && t[at+1]|0x20 == 'e' && t[at+2]|0x20 == 'n' && t[at+3]|0x20 == 'v' {
			return true
		}
	}
}

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
	if !lines(v) {
		return false
	}
	r := roleOf(v.Name())
	return (r == textName || r == partName) && suspicious(joined(v))
}
