package canon

import (
	"bytes"
	"strconv"
)

// number takes one number and appends its canonical form (package comment).
func (w *writer) number() error {
	start := w.pos
	n, ok := scanNumber(w.in[start:])
	if !ok {
		return ErrSyntax
	}
	w.pos += n
	lit := w.in[start:w.pos]
	if len(lit) <= 15 && lit[0] != '-' && isDigits(lit) { // below 10^15: its own form
		w.out = append(w.out, lit...)
		return nil
	}
	d, ok := parseDecimal(lit)
	if !ok {
		return ErrNumber
	}
	out, ok := d.append(w.out, lit)
	if !ok {
		return ErrNumber
	}
	w.out = out
	return nil
}

func isDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// scanNumber returns the length of the number at the start of b, by the grammar
// of RFC 8259 section 6.
func scanNumber(b []byte) (int, bool) {
	i := 0
	digits := func() bool {
		from := i
		for i < len(b) && '0' <= b[i] && b[i] <= '9' {
			i++
		}
		return i > from
	}
	if b[0] == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	case !digits():
		return 0, false
	}
	if i < len(b) && b[i] == '.' {
		i++
		if !digits() {
			return 0, false
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !digits() {
			return 0, false
		}
	}
	return i, true
}

// A decimal is the value ±0.d1d2d3… × 10^exp, without leading or trailing zero
// digits; zero has no digits.
type decimal struct {
	neg    bool
	digits []byte
	exp    int
}

// parseDecimal reads a number that scanNumber accepted. It fails when the
// exponent passes any bound that the rest could accept.
func parseDecimal(lit []byte) (d decimal, ok bool) {
	if lit[0] == '-' {
		d.neg = true
		lit = lit[1:]
	}
	exp := 0
	if i := bytes.IndexAny(lit, "eE"); i >= 0 {
		exp, ok = parseExp(lit[i+1:])
		lit = lit[:i]
		if !ok && bytes.Trim(lit, "0.") != nil && len(bytes.Trim(lit, "0.")) > 0 {
			return d, false
		}
	}
	whole, frac, _ := bytes.Cut(lit, []byte("."))
	d.exp = len(whole) + exp
	d.digits = append(append(make([]byte, 0, 24), whole...), frac...)
	lead := len(d.digits) - len(bytes.TrimLeft(d.digits, "0"))
	d.digits = bytes.TrimRight(d.digits[lead:], "0")
	d.exp -= lead
	if len(d.digits) == 0 { // 0, -0, 0e99
		d = decimal{}
	}
	return d, true
}

// parseExp reads an exponent of up to 7 digits; texts are shorter than 10^7, so
// that nothing acceptable has a longer one.
func parseExp(b []byte) (int, bool) {
	neg := b[0] == '-'
	b = bytes.TrimLeft(bytes.TrimLeft(b, "+-"), "0")
	if len(b) > 7 {
		return 0, false
	}
	n := 0
	for _, c := range b {
		n = n*10 + int(c-'0')
	}
	if neg {
		n = -n
	}
	return n, true
}

// append appends the canonical form of d, whose text is lit.
func (d decimal) append(out, lit []byte) ([]byte, bool) {
	if len(d.digits) == 0 {
		return append(out, '0'), true
	}
	// A float64's shortest text has at most 17 digits: more cannot survive.
	if len(d.digits) <= 17 && d.exp > -400 && d.exp < 400 {
		if f, err := strconv.ParseFloat(string(lit), 64); err == nil && f != 0 {
			var buf [32]byte
			s := strconv.AppendFloat(buf[:0], f, 'e', -1, 64)
			if back, ok := parseDecimal(s); ok && back.exp == d.exp && bytes.Equal(back.digits, d.digits) {
				return d.appendES6(out), true
			}
		}
	}
	if d.exp < len(d.digits) || d.exp > MaxIntegerDigits {
		return nil, false
	}
	return d.appendInteger(out), true
}

// appendInteger writes all digits of an integer.
func (d decimal) appendInteger(out []byte) []byte {
	if d.neg {
		out = append(out, '-')
	}
	out = append(out, d.digits...)
	for range d.exp - len(d.digits) {
		out = append(out, '0')
	}
	return out
}

// appendES6 writes d as ECMA-262 Number::toString does (RFC 8785 section
// 3.2.2.3); exp is the n of that algorithm, len(digits) its k.
func (d decimal) appendES6(out []byte) []byte {
	n, k := d.exp, len(d.digits)
	if k <= n && n <= 21 {
		return d.appendInteger(out)
	}
	if d.neg {
		out = append(out, '-')
	}
	switch {
	case 0 < n && n <= 21:
		out = append(append(out, d.digits[:n]...), '.')
		return append(out, d.digits[n:]...)
	case -6 < n && n <= 0:
		out = append(out, "0."...)
		for range -n {
			out = append(out, '0')
		}
		return append(out, d.digits...)
	}
	out = append(out, d.digits[0])
	if k > 1 {
		out = append(append(out, '.'), d.digits[1:]...)
	}
	out = append(out, 'e')
	if n-1 >= 0 {
		out = append(out, '+')
	}
	return strconv.AppendInt(out, int64(n-1), 10)
}
