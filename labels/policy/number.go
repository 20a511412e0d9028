package policy

import (
	"bytes"
	"math"
	"strconv"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/pratique-dev/pratique/labels/args"
)

// exact is a number of the arguments in CEL, or an error where CEL has no number that
// is the same: an integer however it is spelled ("1e3" is 1000) is one of 64 bits, and
// a fraction is a double where its digits are the shortest that name that double. So
// two numbers of the arguments or of a condition compare as their digits do: no double
// here is as large as 2^53, where doubles stop to be apart from integers.
func exact(v args.Value) ref.Val {
	if i, ok := v.Int64(); ok {
		return types.Int(i)
	}
	return exactNumber(v.Number())
}

// maxDigits is the most that an integer of 64 bits has.
const maxDigits = 20

func exactNumber(text []byte) ref.Val {
	d, ok := decimalOf(text)
	switch {
	case !ok:
		return errNumber
	case len(d.digits) == 0:
		return types.Int(0)
	case d.exp >= 0:
		return d.integer()
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.Abs(f) >= 1<<53 {
		return errNumber
	}
	var buf [32]byte
	short, ok := decimalOf(strconv.AppendFloat(buf[:0], f, 'e', -1, 64))
	if !ok || short.exp != d.exp || !bytes.Equal(short.digits, d.digits) {
		return errNumber
	}
	return types.Double(f)
}

// A decimal is digits times ten to the exp, without zeros at either end of the digits.
type decimal struct {
	minus  bool
	digits []byte
	exp    int
}

// decimalOf reads a number as JSON writes it. One with more digits than 64 bits or a
// double could keep, or an exponent beyond theirs, is none.
func decimalOf(text []byte) (d decimal, ok bool) {
	text, d.minus = bytes.CutPrefix(text, []byte("-"))
	mantissa, exponent, has := bytes.Cut(bytes.ToLower(text), []byte("e"))
	if has {
		if len(exponent) > 8 {
			return d, false
		}
		n, err := strconv.Atoi(string(exponent))
		if err != nil {
			return d, false
		}
		d.exp = n
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	if len(whole)+len(fraction) > 64 || len(whole) == 0 {
		return d, false
	}
	d.exp -= len(fraction)
	d.digits = append(append(make([]byte, 0, len(whole)+len(fraction)), whole...), fraction...)
	for _, c := range d.digits {
		if c < '0' || c > '9' {
			return d, false
		}
	}
	d.digits = bytes.TrimLeft(d.digits, "0")
	for n := len(d.digits); n > 0 && d.digits[n-1] == '0'; n-- {
		d.digits = d.digits[:n-1]
		d.exp++
	}
	return d, true
}

func (d decimal) integer() ref.Val {
	if len(d.digits)+d.exp > maxDigits {
		return errNumber
	}
	text := append(bytes.Clone(d.digits), bytes.Repeat([]byte("0"), d.exp)...)
	u, err := strconv.ParseUint(string(text), 10, 64)
	switch {
	case err != nil:
		return errNumber
	case !d.minus && u <= math.MaxInt64:
		return types.Int(u)
	case !d.minus:
		return types.Uint(u)
	case u <= math.MaxInt64:
		return -types.Int(u)
	case u == 1<<63:
		return types.Int(math.MinInt64)
	}
	return errNumber
}
