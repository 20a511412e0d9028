package guard

import (
	"bytes"
	"strings"

	"github.com/pratique-dev/pratique/internal/lookalike"
	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/guard/value"
)

// may tells whether a value may meet the word: some part of it does, or that cannot be
// told.
func (w *word) may(v args.Value, files Files) bool {
	k := v.Kind()
	switch {
	case w.literals != nil && w.mayBeOne(v):
		return true
	case w.longest >= 0:
		return k == '"' && len(v.Text()) <= w.longest || k == '[' && v.Len() <= w.longest || k != '"' && k != '['
	}
	switch k {
	case '[', '{':
		if v.Len() == 0 {
			return w.literals == nil
		}
		if words := wordsOf(v); w.refs != nil && isPush(words) {
			return true // which refs a command writes is told for all at once
		}
		for e := v.First(); e.Kind() != 0; e = e.Next() {
			if w.may(e, files) {
				return true
			}
		}
		return false
	case '"':
		if in, ok := v.Inner(); ok && w.may(in, files) {
			return true
		}
		return w.mayText != nil && w.mayText(v.Text(), files) || w.number != nil && w.mayNumber(v.Text())
	case '0':
		n, ok := value.ParseNumber(v.Number())
		return w.number != nil && (!ok || w.number(n) == "") || w.mayText != nil && w.mayText(string(v.Number()), files)
	}
	return w.literals == nil // true, false or null where something else is asked
}

// mayNumber tells whether a text may be a number that is asked for: programs read
// blanks, signs and other bases in their own ways.
func (w *word) mayNumber(text string) bool {
	if !plainNumber.MatchString(text) {
		return true
	}
	n, ok := value.ParseNumber([]byte(text))
	return !ok || w.number(n) == ""
}

// mayBeOne tells whether some server may take the value for one of the literals: case,
// look-alikes and blanks aside, and text for what it says.
func (w *word) mayBeOne(v args.Value) bool {
	if w.isOne(v) {
		return true
	}
	said := folded(v)
	if said == nil {
		return false
	}
	for _, l := range w.literals {
		if l.said != nil && bytes.Equal(l.said, said) {
			return true
		}
	}
	return false
}

// folded is what a single value says, as a lenient reader has it; nil of others.
func folded(v args.Value) []byte {
	switch v.Kind() {
	case '"':
		return lookalike.Fold([]byte{}, strings.TrimSpace(v.Text()))
	case '0':
		return bytes.Clone(v.Number())
	case 't', 'f':
		return bytes.Clone(v.Raw())
	}
	return nil
}
