package inspect

import (
	"strings"

	"github.com/pratique-dev/pratique/quarantine"
)

// A quoting says whether quotation marks of a specimen are those of JSON.
type quoting uint8

const (
	unasked quoting = iota
	inProse
	inJSON
)

// isQuoted tells whether bytes [from, to) of the specimen are quoted. The marks of
// JSON are none: every value of it stands in some, whatever it says.
func (j *judge) isQuoted(from, to int) bool {
	if j.quoting == unasked {
		j.quoting = inProse
		if quarantine.IsDocument(j.s.Text) {
			j.quoting = inJSON
		}
	}
	return quoted(j.s.Text, from, to, j.quoting == inJSON)
}

// quoted tells whether bytes [from, to) are a string of their own, between
// quotation marks: a text that speaks of such words and does not say them. In JSON
// a mark counts where it is escaped.
func quoted(text string, from, to int, json bool) bool {
	const before, behind = 3, 12 // asterisks and brackets; a last word
	for i := from - 1; i >= 0 && i >= from-before; i-- {
		switch q := text[i]; q {
		case '"', '\'', '`':
			if q == '"' && json && (i == 0 || text[i-1] != '\\') {
				return false
			}
			rest, _, _ := strings.Cut(text[to:min(len(text), to+behind)], "\n")
			return strings.IndexByte(rest, q) >= 0
		}
		if kinds[text[i]] == aByte {
			return false
		}
	}
	return false
}
