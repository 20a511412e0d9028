package unfold

import (
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/pratique-dev/pratique/internal/lookalike"
)

// A letter is what a character stands for. Of look-alikes (look) that depends on
// the word.
type letter struct {
	to   string
	look bool
}

// A table finds letters by their character: page by page, since texts stay on
// few.
type table struct {
	pages   [(unicode.MaxRune + 1) >> 8]*[256]uint16
	letters []letter // the first means: itself, the second: special
}

// letters is made when the first text needs it.
var letters = sync.OnceValue(func() *table {
	t := &table{letters: make([]letter, special+1, 4096)}
	for _, p := range unseen {
		for c := p[0]; c <= p[1]; c++ {
			*t.at(c) = special
		}
	}
	look := false
	for line := range strings.Lines(lookalike.Table) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "look":
			look = true
		case line != "" && line[0] == '"':
			t.add(line, look)
		}
	}
	return t
})

// add reads a line: what it stands for, quoted, and the characters and ranges.
func (t *table) add(line string, look bool) {
	quoted, err := strconv.QuotedPrefix(line)
	if err != nil {
		panic("unfold: " + err.Error())
	}
	to, err := strconv.Unquote(quoted)
	if err != nil {
		panic("unfold: " + err.Error())
	}
	t.letters = append(t.letters, letter{to, look})
	id := uint16(len(t.letters) - 1)
	for f := range strings.FieldsSeq(line[len(quoted):]) {
		from, till, ranged := strings.Cut(f, "-")
		if !ranged {
			till = from
		}
		a, err := strconv.ParseUint(from, 16, 21)
		b, err2 := strconv.ParseUint(till, 16, 21)
		if err != nil || err2 != nil {
			panic("unfold: table: " + f)
		}
		for c := rune(a); c <= rune(b); c++ {
			*t.at(c) = id
		}
	}
}

// at is a character's place in the table.
func (t *table) at(c rune) *uint16 {
	p := t.pages[c>>8]
	if p == nil {
		p = new([256]uint16)
		t.pages[c>>8] = p
	}
	return &p[c&0xff]
}

// special is the letter of characters that are judged one by one.
const special = 1

// of finds a character: 0 where it stands for itself.
func (t *table) of(c rune) uint16 {
	if p := t.pages[c>>8]; p != nil {
		return p[c&0xff]
	}
	return 0
}
