package unfold

import (
	"unicode"
	"unicode/utf8"
)

// looks tells whether a look-alike at byte i is to be read as the letter of ours
// that it looks like: in a word that mixes it with ours, and in a word that is
// made of look-alikes only, unless the text is in that script.
func (f *folder) looks(i int) bool {
	if i < f.word {
		return f.folds
	}
	w := f.extent(i)
	f.word = w.to
	f.folds = w.latin > 0 || w.foreign == 0 && !f.inScript()
	if w.latin > 0 && f.mixed(w) {
		f.add(Mixed, Folded, w.first, w.last, w.look)
	}
	return f.folds
}

// A spelled is a word and the scripts of its letters.
type spelled struct {
	to                   int  // end of the word
	first, last          int  // of the look-alikes
	latin, look, foreign int  // letters
	flanked              bool // a look-alike stands between letters of ours
	greek                bool
}

// extent reads the word around byte i.
func (f *folder) extent(i int) (w spelled) {
	start := i
	for start > 0 {
		c, n := utf8.DecodeLastRuneInString(f.text[:start])
		if !inWord(c) {
			break
		}
		start -= n
	}
	w.first = i
	ours, pending := false, false
	for w.to = start; w.to < len(f.text); {
		c, n := utf8.DecodeRuneInString(f.text[w.to:])
		if !inWord(c) {
			break
		}
		switch {
		case latin(c):
			w.latin++
			w.flanked = w.flanked || pending
			ours, pending = true, false
		case !letterOf(c):
		case f.table.letters[f.table.of(c)].look:
			w.look++
			w.last = w.to + n
			w.greek = w.greek || unicode.Is(unicode.Greek, c)
			pending = pending || ours
			ours = false
		case f.table.of(c) == 0:
			w.foreign++
			ours, pending = false, false
		}
		w.to += n
	}
	return w
}

// inWord tells whether a character goes on with a word.
func inWord(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf && (letterOf(c) || letters().of(c) == special || unicode.Is(unicode.Mn, c))
}

// letterOf is unicode.IsLetter, quick for the scripts of look-alikes.
func letterOf(c rune) bool {
	if c >= 0x400 && c <= 0x481 || c >= 0x3a3 && c <= 0x3ff || c >= 0x48a && c <= 0x52f {
		return true
	}
	return unicode.IsLetter(c)
}

// latin tells whether a rune is a Latin letter, also of a compatible form.
func latin(c rune) bool {
	if c < utf8.RuneSelf {
		return true
	}
	if c >= 0x370 && c < 0x1d00 {
		return false
	}
	return unicode.Is(unicode.Latin, c) || c >= 0x1d400 && c <= 0x1d6a5
}

// mixed tells whether the scripts of a word are mixed to deceive. Russian hangs
// endings on foreign abbreviations, and physics has μs; a letter between two of
// ours has no such excuse, nor has one in an identifier.
func (f *folder) mixed(w spelled) bool {
	switch {
	case f.opt.Name || w.flanked:
		return true
	case f.inScript():
		return false
	case w.greek:
		return w.latin >= 4
	}
	return w.latin+w.look >= 3
}

// inScript tells whether the text has a letter that is of a script with
// look-alikes and looks like none of ours: then words of the script are words.
func (f *folder) inScript() bool {
	if f.genuine == 0 {
		f.genuine = -1
		for _, c := range f.text {
			if c >= 0x370 && c < 0x600 && unicode.IsLetter(c) && f.table.of(c) == 0 {
				f.genuine = 1
				break
			}
		}
	}
	return f.genuine > 0
}
