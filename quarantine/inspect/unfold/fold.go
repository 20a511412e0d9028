package unfold

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A folder reads one view letter by letter.
type folder struct {
	*unfolder
	v     *View // what is read
	text  string
	table *table
	out   builder
	from  int // where what is still to be copied begins
	found []hidden

	word    int // end of the word that folds is about
	folds   bool
	rtl     int8 // 1: has letters that run from right to left, -1: has none, 0: not looked
	codes   []codes
	genuine int8 // the same of words that are of another script for certain
}

// fold puts a view in its plain form: letters as what they stand for or look
// like, escapes and references read, and left out what is invisible. It tells
// what was hidden in raw, which is the view before, and whether the view has
// changed.
func (u *unfolder) fold(v, raw *View) ([]hidden, bool) {
	f := folder{unfolder: u, v: raw, text: raw.Text, table: letters()}
	if raw.Depth == 0 { // views live as long as the call: the first one's room is used again
		f.out = builder{u.room.buf[:0], u.room.steps[:0]}
		defer func() { u.room = f.out }()
	}
	for i := 0; i < len(f.text); {
		c := f.text[i]
		switch k := classes[c]; {
		case k&foldable == 0:
			i++
		case k&highByte != 0:
			i += f.rune(i)
		case k&controlByte != 0:
			i += f.control(i)
		case k&escapeByte != 0:
			i += f.escape(i)
		case k&referenceByte != 0:
			i += f.reference(i)
		default:
			i += f.tag(i)
		}
	}
	f.told()
	if f.from == 0 {
		return f.found, false
	}
	f.out.copy(f.text[f.from:], f.from)
	v.Text, v.steps, v.parent = string(f.out.buf), f.out.steps, raw
	if v.Layer == Plain {
		v.Layer = Folded
	}
	if len(v.steps) == 0 { // nothing is left
		v.steps = at(0, len(raw.Text))
	}
	return f.found, true
}

// replace leaves bytes [i, i+n) out, or puts what they stand for in their place.
func (f *folder) replace(i, n int, by string) int {
	f.out.copy(f.text[f.from:i], f.from)
	f.out.put(by, i, i+n)
	f.from = i + n
	return n
}

func (f *folder) add(what What, layer Layer, from, to, size int) {
	f.sign(f.v, what, layer, from, to, size)
}

// rune reads one character that is not ASCII, and returns its bytes, or the
// bytes of the run that it begins.
func (f *folder) rune(i int) int {
	c, n := utf8.DecodeRuneInString(f.text[i:])
	if c == utf8.RuneError && n == 1 {
		f.add(Broken, Plain, i, i+1, 1)
		return f.replace(i, 1, " ")
	}
	switch id := f.table.of(c); {
	case id == 0:
		return n
	case id == special:
		return f.special(i, c, n)
	default:
		if l := &f.table.letters[id]; !l.look || f.looks(i) {
			return f.replace(i, n, l.to)
		}
		return n
	}
}

// special reads a character that is not seen.
func (f *folder) special(i int, c rune, n int) int {
	switch {
	case c <= 0x9f:
		return f.c1(i, c, n)
	case tag(c):
		return f.tags(i)
	case selector(c):
		return f.selectors(i)
	case mark(c):
		if p := before(f.text, i); p < utf8.RuneSelf || unicode.In(p, unicode.Latin, unicode.Mn) {
			return f.replace(i, n, "")
		}
		return n
	}
	return f.invisible(i, c, n)
}

// invisible leaves out a character without width.
func (f *folder) invisible(i int, c rune, n int) int {
	if c == 0x2800 { // looks like a blank
		f.judge(i, c, n)
		return f.replace(i, n, " ")
	}
	f.judge(i, c, n)
	if c == rlo {
		f.turned(i + n)
	}
	return f.replace(i, n, "")
}

func (f *folder) judge(i int, c rune, n int) {
	if f.rtl == 0 {
		f.rtl = -1
		if strings.IndexFunc(f.text, rightToLeft) >= 0 {
			f.rtl = 1
		}
	}
	if honest(c, before(f.text, i), after(f.text, i+n), i == 0, f.rtl > 0, f.opt.Returned) {
		return
	}
	switch {
	case c == lro, c == rlo:
		f.add(Override, Reversed, i, i+n, 1)
	case c >= 0x202a && c <= 0x202e, c >= 0x2066 && c <= 0x2069, c == lrm, c == rlm, c == 0x61c:
		f.add(Direction, Plain, i, i+n, 1)
	default:
		f.add(Invisible, Plain, i, i+n, 1)
	}
}

// tags reads a run of tag characters. Behind a black flag they name a region, in
// at most six letters with an end; elsewhere they are text that nobody sees.
func (f *folder) tags(i int) int {
	var text []byte
	n, last := 0, rune(0)
	for i+n < len(f.text) {
		c, size := utf8.DecodeRuneInString(f.text[i+n:])
		if !tag(c) {
			break
		}
		if c >= 0xe0020 && c < 0xe007f {
			text = append(text, byte(c-0xe0000))
		}
		last = c
		n += size
	}
	region := len(text) >= 3 && len(text) <= 6 && n == 4*(len(text)+1) && strings.Trim(string(text), "abcdefghijklmnopqrstuvwxyz0123456789") == ""
	if !region || last != 0xe007f || before(f.text, i) != flag {
		f.add(TagText, Tags, i, i+n, n/4)
		f.found = append(f.found, hidden{Tags, string(text), at(i, i+n)})
	}
	return f.replace(i, n, "")
}

// selectors reads a run of variation selectors. One may follow what has
// variants; more, or one behind a letter, are bytes of a hidden text.
func (f *folder) selectors(i int) int {
	var text []byte
	n := 0
	for i+n < len(f.text) {
		c, size := utf8.DecodeRuneInString(f.text[i+n:])
		if !selector(c) {
			break
		}
		if c >= 0xe0100 {
			text = append(text, byte(c-0xe0100+16))
		} else {
			text = append(text, byte(c-0xfe00))
		}
		n += size
	}
	p := before(f.text, i)
	if f.opt.Returned && len(text) == 1 && !(word(p) && word(after(f.text, i+n))) {
		return f.replace(i, n, "") // pasted, or left over behind a sign that was cut
	}
	if i == 0 || len(text) > 1 || p <= 0xff && p != 0xa9 && p != 0xae && (p < '0' || p > '9') && p != '#' && p != '*' {
		f.add(Selectors, Variation, i, i+n, len(text))
		f.found = append(f.found, hidden{Variation, strings.ToValidUTF8(string(text), " "), at(i, i+n)})
	}
	return f.replace(i, n, "")
}

// turned reads what a person sees, and a model may read, behind a right-to-left
// override: the characters up to its end, or to the next one, turned round.
func (f *folder) turned(i int) {
	end := strings.IndexAny(f.text[i:], "\u202c\u202d\u202e\n")
	if end < 0 {
		end = len(f.text) - i
	}
	f.found = append(f.found, hidden{Reversed, turn(f.text[i : i+end]), at(i, i+end)})
}

// turn writes a text from its end.
func turn(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for s != "" {
		c, n := utf8.DecodeLastRuneInString(s)
		b.WriteRune(c)
		s = s[:len(s)-n]
	}
	return b.String()
}
