package shape

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/internal/marks"
)

// A reading holds one value against plain schemas.
type reading struct {
	b     []byte
	steps int // left
	nest  int // of schemas
}

// maxNest bounds how deep schemas nest in one reading, those that refer to each
// other on one value included.
const maxNest = 512

// quickly tells whether a value is strict JSON within bounds and fits; false says
// nothing.
func (sh *Shape) quickly(value []byte) bool {
	if sh.plain == nil || sh.plain.unknown || len(value) > sh.lim.Value || !jsontext.Value(value).IsValid() || !ordinary(value, sh.lim.Depth) {
		return false
	}
	r := reading{b: value, steps: sh.lim.Steps}
	_, ok := sh.plain.fits(&r, marks.Space(value, 0))
	return ok
}

// ordinary tells whether what is strict JSON is within the depth, and has no numbers
// that are long or have powers of ten.
func ordinary(b []byte, depth int) bool {
	for i, deep := 0, 0; i < len(b); {
		switch c := b[i]; {
		case c == '"':
			i = marks.String(b, i)
			continue
		case c == '{', c == '[':
			if deep++; deep > depth {
				return false
			}
		case c == '}', c == ']':
			deep--
		case c == '-', c >= '0' && c <= '9':
			end := marks.Scalar(b, i)
			if n := b[i:end]; len(n) > maxNumber || bytes.IndexByte(n, 'e') >= 0 || bytes.IndexByte(n, 'E') >= 0 {
				return false
			}
			i = end
			continue
		}
		i++
	}
	return true
}

// spend tells whether a value of so many bytes may still be looked at.
func (r *reading) spend(bytes int) bool {
	r.steps -= 1 + bytes/64
	return r.steps >= 0
}

// fits tells whether the value that begins at a place fits, and where it ends.
func (p *plain) fits(r *reading, at int) (end int, ok bool) {
	if p.unknown || r.nest >= maxNest || !r.spend(0) {
		return 0, false
	}
	r.nest++
	if end, ok = p.self(r, at); ok {
		ok = p.others(r, at)
	}
	r.nest--
	return end, ok
}

// others holds the value against what else the schema says of it.
func (p *plain) others(r *reading, at int) bool {
	for _, x := range p.all {
		if _, ok := x.fits(r, at); !ok {
			return false
		}
	}
	for _, x := range p.any {
		if _, ok := x.fits(r, at); ok {
			return true
		}
	}
	return len(p.any) == 0
}

// self holds it against the schema's own words.
func (p *plain) self(r *reading, at int) (end int, ok bool) {
	switch r.b[at] {
	case '{':
		if p.types&isObject == 0 || p.limited {
			return 0, false
		}
		return p.object(r, at)
	case '[':
		if p.types&isArray == 0 || p.limited {
			return 0, false
		}
		return p.array(r, at)
	case '"':
		end = marks.String(r.b, at)
		return end, r.spend(end-at) && p.types&isString != 0 && p.text(r, r.b[at:end])
	}
	end = marks.Scalar(r.b, at)
	v := r.b[at:end]
	if p.limited && !p.choices[string(v)] {
		return 0, false
	}
	switch v[0] {
	case 't', 'f':
		return end, p.types&isBoolean != 0
	case 'n':
		return end, p.types&isNull != 0
	}
	return end, p.number(v)
}

func (p *plain) object(r *reading, at int) (end int, ok bool) {
	if p.opaqueObject {
		end = marks.Value(r.b, at)
		return end, r.spend(end - at)
	}
	count, found := 0, 0
	end = marks.Parts(r.b, at, func(name []byte, value int) int {
		count++
		m := p.members[string(marks.Text(name))]
		if m.need {
			found++
		}
		sub := m.p
		if sub == nil {
			if p.closed {
				return -1
			}
			sub = p.additional
		}
		return r.part(sub, value)
	})
	return end, end >= 0 && found == p.required && count >= p.fewest && count <= p.most
}

func (p *plain) array(r *reading, at int) (end int, ok bool) {
	if p.leaf {
		end = marks.Value(r.b, at)
		return end, r.spend(end - at)
	}
	count := 0
	end = marks.Parts(r.b, at, func(_ []byte, value int) int {
		count++
		return r.part(p.items, value)
	})
	return end, end >= 0 && count >= p.shortest && count <= p.longest
}

// part is the index behind a part that fits; nil is fit by all.
func (r *reading) part(p *plain, at int) int {
	end, ok := 0, false
	if p == nil {
		end = marks.Value(r.b, at)
		ok = r.spend(end - at)
	} else {
		end, ok = p.fits(r, at)
	}
	if !ok {
		return -1
	}
	return end
}

// text holds a string against the words for such.
func (p *plain) text(r *reading, quoted []byte) bool {
	if !p.limited && p.pattern == nil && p.least == 0 && p.greatest == unbounded {
		return true
	}
	s := marks.Text(quoted)
	if p.limited && !p.words[string(s)] {
		return false
	}
	if p.least > 0 || p.greatest < unbounded {
		if n := utf8.RuneCount(s); n < p.least || n > p.greatest {
			return false
		}
	}
	if p.pattern == nil {
		return true
	}
	x := p.pattern
	if x.re == nil || x.spaces && !ascii(string(s)) {
		return p.loose
	}
	return r.spend(8*len(s)) && x.re.Match(s)
}

// number holds a number without a power of ten against the words for such.
func (p *plain) number(v []byte) bool {
	if len(v) > maxNumber || bytes.IndexByte(v, 'e') >= 0 || bytes.IndexByte(v, 'E') >= 0 {
		return false
	}
	whole := v
	if i := bytes.IndexByte(v, '.'); i >= 0 {
		if len(bytes.Trim(v[i+1:], "0")) > 0 {
			whole = nil
		} else {
			whole = v[:i]
		}
	}
	switch {
	case p.types&isNumber != 0:
	case p.types&isInteger == 0 || whole == nil:
		return false
	}
	if p.from == nil && p.above == nil && p.to == nil && p.below == nil {
		return true
	}
	f, err := strconv.ParseFloat(string(v), 64)
	x := bound{f, whole != nil && len(whole) <= 15}
	return err == nil && x.after(p.from, true) && x.after(p.above, false) && p.to.after(&x, true) && p.below.after(&x, false)
}

// after tells whether a number is greater than another, or possibly the same.
// Numbers whose nearest floats differ differ in the same way; where those are the
// same, nothing is known unless both are exact. A bound that is not there holds.
func (b *bound) after(o *bound, same bool) bool {
	if b == nil || o == nil || b.f > o.f {
		return true
	}
	return b.f == o.f && same && b.exact && o.exact
}
