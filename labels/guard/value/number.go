// Package value judges texts that are numbers, dates or recipients. Numbers are
// compared as decimals of any length, never as floats; dates with what is not known of
// them, the time zone of a bare date; recipients by address or domain, and what two
// mail programs could read in two ways is refused.
package value

import (
	"bytes"
	"cmp"
)

// What is said of a number that is refused. None repeats it.
const (
	WhyNotNumber = "The value is not a number."
	WhyTooSmall  = "The number is smaller than is allowed."
	WhyTooLarge  = "The number is larger than is allowed."
)

// A Number is a decimal number, exactly: ±0.d1d2d3… × 10^exp. It shares memory with
// the text that it was read from. The zero value is zero.
type Number struct {
	neg         bool
	whole, frac []byte // digits around the point, without zeros at the outer ends
	exp         int64  // of the first of them; of zero 0
}

// ParseNumber reads a number as JSON writes it, of any length: 1e3, -0 and 0.10 are
// numbers; NaN, 0x10, 01, +1, "1 " and 1_000 are none. The exponent has to fit in 18
// digits.
func ParseNumber(text []byte) (n Number, ok bool) {
	rest, neg := bytes.CutPrefix(text, []byte("-"))
	whole, rest := digits(rest)
	if len(whole) == 0 || len(whole) > 1 && whole[0] == '0' {
		return n, false
	}
	var frac []byte
	if after, point := bytes.CutPrefix(rest, []byte(".")); point {
		if frac, rest = digits(after); len(frac) == 0 {
			return n, false
		}
	}
	exp := int64(0)
	if len(rest) > 0 {
		if exp, ok = exponent(rest); !ok {
			return n, false
		}
	}
	return normal(neg, whole, frac, exp), true
}

// normal takes the zeros at the ends off.
func normal(neg bool, whole, frac []byte, exp int64) Number {
	exp += int64(len(whole))
	if short := bytes.TrimLeft(whole, "0"); len(short) > 0 {
		exp -= int64(len(whole) - len(short))
		whole, frac = short, bytes.TrimRight(frac, "0")
		if len(frac) == 0 {
			whole = bytes.TrimRight(whole, "0")
		}
		return Number{neg, whole, frac, exp}
	}
	exp -= int64(len(whole))
	short := bytes.TrimLeft(frac, "0")
	exp -= int64(len(frac) - len(short))
	if frac = bytes.TrimRight(short, "0"); len(frac) == 0 {
		return Number{}
	}
	return Number{neg, nil, frac, exp}
}

func digits(b []byte) (d, rest []byte) {
	i := 0
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	return b[:i], b[i:]
}

// exponent reads e+3 and the like.
func exponent(b []byte) (int64, bool) {
	if b[0] != 'e' && b[0] != 'E' {
		return 0, false
	}
	b = b[1:]
	neg := len(b) > 0 && b[0] == '-'
	if neg || len(b) > 0 && b[0] == '+' {
		b = b[1:]
	}
	d, rest := digits(b)
	if len(d) == 0 || len(rest) > 0 {
		return 0, false
	}
	if d = bytes.TrimLeft(d, "0"); len(d) > 18 {
		return 0, false
	}
	e := int64(0)
	for _, c := range d {
		e = e*10 + int64(c-'0')
	}
	if neg {
		e = -e
	}
	return e, true
}

func (n Number) zero() bool { return len(n.whole)+len(n.frac) == 0 }

func (n Number) digit(i int) byte {
	switch {
	case i < len(n.whole):
		return n.whole[i]
	case i-len(n.whole) < len(n.frac):
		return n.frac[i-len(n.whole)]
	}
	return '0'
}

// Compare is -1, 0 or 1 as a is smaller than, equal to or larger than b.
func Compare(a, b Number) int {
	switch {
	case a.zero() && b.zero():
		return 0
	case a.zero():
		return -sign(b)
	case b.zero() || sign(a) != sign(b):
		return sign(a)
	}
	c := cmp.Compare(a.exp, b.exp)
	for i := 0; c == 0 && i < max(len(a.whole)+len(a.frac), len(b.whole)+len(b.frac)); i++ {
		c = cmp.Compare(a.digit(i), b.digit(i))
	}
	return c * sign(a)
}

func sign(n Number) int {
	if n.neg {
		return -1
	}
	return 1
}
