package guard

import (
	"bytes"
	"math/big"
	"slices"
	"strings"

	"github.com/pratique-dev/pratique/internal/lookalike"
	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/guard/value"
)

// mayBeOne tells whether some server may take the value for one of the literals: case,
// look-alikes and blanks aside, text for what it says, a number however it is spelled,
// and words and numbers for true and false.
func (w *word) mayBeOne(v args.Value) bool {
	if w.isOne(v) {
		return true
	}
	said := folded(v)
	if said == nil {
		return false
	}
	x := spelled{said: said}
	for i := range w.literals {
		if l := &w.literals[i]; l.said != nil && (bytes.Equal(l.said, said) || l.mayBe(v, &x)) {
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

// mayBe tells whether a value of another kind, which says so, may be taken for the
// literal.
func (l *literal) mayBe(v args.Value, x *spelled) bool {
	switch k := v.Kind(); {
	case l.kind == 't' || l.kind == 'f':
		return x.truth(l.kind == 't', true)
	case k == 't' || k == 'f':
		return (&spelled{said: l.said}).truth(k == 't', false)
	case l.kind == '0' && k == '"':
		return x.number(l.number)
	case l.kind == '"' && k == '0':
		n, ok := value.ParseNumber(v.Number())
		return ok && (&spelled{said: l.said}).number(n)
	}
	return false
}

// A spelled is what a single value says, folded, and the numbers that it may be read
// as: with blanks, signs, marks between digits, a point or a comma, zeros before it, in
// another base, with the letter of a type behind it.
type spelled struct {
	said    []byte
	done    bool
	n       int
	numbers [4]value.Number
}

func (x *spelled) readings() []value.Number {
	if !x.done {
		for _, read := range [...]func([]byte) (value.Number, bool){readPoint, readComma, readBase, readOctal} {
			if n, ok := read(x.said); ok {
				x.numbers[x.n] = n
				x.n++
			}
		}
		x.done = true
	}
	return x.numbers[:x.n]
}

// number tells whether the value may be read as the number.
func (x *spelled) number(n value.Number) bool {
	return slices.ContainsFunc(x.readings(), func(r value.Number) bool { return value.Compare(r, n) == 0 })
}

var one, _ = value.ParseNumber([]byte("1"))

// truth tells whether the value may stand for true, or for false. loose says that every
// number but 0 is true, else 1 alone.
func (x *spelled) truth(truth, loose bool) bool {
	switch string(x.said) {
	case "true", "t", "yes", "y", "on", "enable", "enabled":
		return truth
	case "false", "f", "no", "n", "off", "disable", "disabled", "":
		return !truth
	}
	switch {
	case x.number(value.Number{}):
		return !truth
	case loose:
		return truth && len(x.readings()) > 0
	}
	return truth && x.number(one)
}

// readPoint reads a number with a point, and with marks that part its digits.
func readPoint(text []byte) (value.Number, bool) { return readMarked(text, ",") }

// readComma reads a number with a comma for the point.
func readComma(text []byte) (value.Number, bool) {
	if bytes.IndexByte(text, ',') < 0 {
		return value.Number{}, false
	}
	return readMarked(bytes.ReplaceAll(text, []byte(","), []byte(".")), "")
}

func readMarked(text []byte, marks string) (n value.Number, ok bool) {
	text, neg := signed(text)
	if len(text) == 0 || text[0] != '.' && (text[0] < '0' || '9' < text[0]) {
		return n, false
	}
	b := make([]byte, 0, len(text)+3)
	for _, c := range text {
		if c != '_' && c != '\'' && c != ' ' && strings.IndexByte(marks, c) < 0 {
			b = append(b, c)
		}
	}
	if last := b[len(b)-1]; len(b) > 1 && strings.IndexByte("lfdnum", last) >= 0 {
		b = b[:len(b)-1]
	}
	mantissa, exp, e := bytes.Cut(b, []byte("e"))
	whole, frac, _ := bytes.Cut(mantissa, []byte("."))
	if len(whole)+len(frac) == 0 {
		return n, false
	}
	plain := append(make([]byte, 0, len(b)+4), neg...)
	if whole = bytes.TrimLeft(whole, "0"); len(whole) == 0 {
		whole = []byte("0")
	}
	plain = append(plain, whole...)
	if len(frac) > 0 {
		plain = append(append(plain, '.'), frac...)
	}
	if e {
		plain = append(append(plain, 'e'), exp...)
	}
	return value.ParseNumber(plain)
}

// signed takes blanks, quotation marks and the sign off.
func signed(text []byte) (rest []byte, neg string) {
	text = bytes.Trim(text, " \t\r\n\"'")
	if len(text) == 0 || text[0] != '-' && text[0] != '+' {
		return text, ""
	}
	if text[0] == '-' {
		neg = "-"
	}
	return bytes.TrimLeft(text[1:], " "), neg
}

// maxDigits is how many digits of another base are read.
const maxDigits = 64

// readBase reads 0x1f4, 0b1 and 0o7.
func readBase(text []byte) (value.Number, bool) {
	text, neg := signed(text)
	if len(text) < 3 || text[0] != '0' {
		return value.Number{}, false
	}
	base := 0
	switch text[1] {
	case 'x':
		base = 16
	case 'o':
		base = 8
	case 'b':
		base = 2
	}
	return readDigits(text[2:], base, neg)
}

// readOctal reads digits behind a zero as C does: 0764.
func readOctal(text []byte) (value.Number, bool) {
	text, neg := signed(text)
	if len(text) < 2 || text[0] != '0' {
		return value.Number{}, false
	}
	return readDigits(text[1:], 8, neg)
}

func readDigits(text []byte, base int, neg string) (n value.Number, ok bool) {
	text = bytes.TrimLeft(bytes.ReplaceAll(text, []byte("_"), nil), "0")
	if base == 0 || len(text) > 4*maxDigits {
		return n, false
	}
	if len(text) == 0 {
		return n, true
	}
	if text[0] == '+' || text[0] == '-' {
		return n, false
	}
	x, ok := new(big.Int).SetString(string(text), base)
	if !ok {
		return n, false
	}
	return value.ParseNumber([]byte(neg + x.String()))
}
