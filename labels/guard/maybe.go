package guard

import (
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
		if words := wordsOf(v); w.refs != nil && w.command && isPush(words) {
			return true // which refs a command writes is told for all at once
		}
		for e := v.First(); e.Kind() != 0; e = e.Next() {
			if w.may(e, files) || k == '{' && w.names != 0 && w.mayName(e.Name(), files) {
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

// A nameKind is which names of members may be what a word speaks of.
type nameKind uint8

const (
	signedNames nameKind = iota + 1 // those with a sign of paths or hosts
	otherNames                      // those that are no plain name of an argument
)

// mayName tells whether the name of a member may meet the word: servers take the names
// of an object for a list too.
func (w *word) mayName(name string, files Files) bool {
	var buf [64]byte
	plain, signs := squashed(buf[:0], name)
	if signs&oddName == 0 && (w.names == signedNames || kindOf(plain)&^(isTurn|isVague) != 0) {
		return false
	}
	return w.mayText(name, files)
}
