package shape

import (
	"bytes"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/pratique-dev/pratique/internal/flat"
	"github.com/pratique-dev/pratique/internal/marks"
)

// A reading holds one value against plain schemas.
type reading struct {
	d        *flat.Doc
	steps    int // left
	nest     int // of schemas
	patterns *purse
}

// maxNest bounds how deep schemas nest in one reading, those that refer to each
// other on one value included.
const maxNest = 512

var docs = sync.Pool{New: func() any { return new(flat.Doc) }}

// keepNodes is the largest reading that is kept for the next.
const keepNodes = 1 << 14

// quickly tells whether a value is strict JSON within bounds and fits; false says
// nothing.
func (sh *Shape) quickly(value []byte, patterns *purse) bool {
	if sh.plain == nil || sh.plain.unknown || len(value) > sh.lim.Value {
		return false
	}
	d := docs.Get().(*flat.Doc)
	defer func() {
		d.Reset(keepNodes)
		docs.Put(d)
	}()
	return d.Read(value, "", flat.MaxNodes, false) && d.Deep <= sh.lim.Depth && ordinary(d) && sh.plainly(sh.plain, d, patterns)
}

// plainly tells whether what was read fits a plain schema; false says nothing.
func (sh *Shape) plainly(p *plain, d *flat.Doc, patterns *purse) bool {
	if p == nil || p.unknown {
		return false
	}
	r := reading{d: d, steps: sh.lim.Steps, patterns: patterns}
	return p.fits(&r, 0)
}

// ordinary tells whether what was read has no numbers that are long or have powers of
// ten.
func ordinary(d *flat.Doc) bool {
	for i := range d.Nodes {
		if x := &d.Nodes[i]; x.Kind == '0' && !ordinaryNumber(d.Raw[x.At:x.End]) {
			return false
		}
	}
	return true
}

func ordinaryNumber(v []byte) bool {
	return len(v) <= maxNumber && bytes.IndexByte(v, 'e') < 0 && bytes.IndexByte(v, 'E') < 0
}

// spend tells whether a value of so many bytes may still be looked at.
func (r *reading) spend(bytes int) bool {
	r.steps -= 1 + bytes/64
	return r.steps >= 0
}

// skip is what it costs that nobody looks at a value.
func (r *reading) skip(n uint32) bool {
	x := &r.d.Nodes[n]
	return r.spend(int(x.End - x.At))
}

// fits tells whether a value fits.
func (p *plain) fits(r *reading, n uint32) bool {
	if p.unknown || r.nest >= maxNest || !r.spend(0) {
		return false
	}
	r.nest++
	ok := p.self(r, n) && (p.all == nil && p.any == nil || p.others(r, n))
	r.nest--
	return ok
}

// others holds the value against what else the schema says of it.
func (p *plain) others(r *reading, n uint32) bool {
	for _, x := range p.all {
		if !x.fits(r, n) {
			return false
		}
	}
	for _, x := range p.any {
		if x.fits(r, n) {
			return true
		}
	}
	return len(p.any) == 0
}

// self holds it against the schema's own words.
func (p *plain) self(r *reading, n uint32) bool {
	x := &r.d.Nodes[n]
	switch x.Kind {
	case '{':
		return p.types&isObject != 0 && !p.limited && p.object(r, n)
	case '[':
		return p.types&isArray != 0 && !p.limited && p.array(r, n)
	case '"':
		return r.skip(n) && p.types&isString != 0 && p.text(r, n)
	}
	v := r.d.Raw[x.At:x.End]
	if p.limited && !p.choices[string(v)] {
		return false
	}
	switch x.Kind {
	case 't', 'f':
		return p.types&isBoolean != 0
	case 'n':
		return p.types&isNull != 0
	}
	return p.number(v)
}

// member is what the schema says of a member.
func (p *plain) member(d *flat.Doc, n uint32) member {
	x := &d.Nodes[n]
	if x.NameEsc {
		return memberNamed(p, d.Texts[x.Name])
	}
	return memberNamed(p, d.Raw[x.Name:x.NameEnd])
}

func (p *plain) object(r *reading, n uint32) bool {
	x := &r.d.Nodes[n]
	count := int(x.Count)
	if count < p.fewest || count > p.most {
		return false
	}
	if p.opaqueObject {
		return r.skip(n)
	}
	found := 0
	for i, stop := n+1, x.Stop; i < stop; i = r.d.Nodes[i].Stop {
		m := p.member(r.d, i)
		if m.need {
			found++
		}
		sub := m.p
		if sub == nil {
			if p.closed {
				return false
			}
			sub = p.additional
		}
		if !r.part(sub, i) {
			return false
		}
	}
	return found == p.required
}

func (p *plain) array(r *reading, n uint32) bool {
	x := &r.d.Nodes[n]
	if p.leaf {
		return r.skip(n)
	}
	if count := int(x.Count); count < p.shortest || count > p.longest {
		return false
	}
	for i, stop := n+1, x.Stop; i < stop; i = r.d.Nodes[i].Stop {
		if !r.part(p.items, i) {
			return false
		}
	}
	return true
}

// part tells whether a part fits; nil is fit by all.
func (r *reading) part(p *plain, n uint32) bool {
	if p == nil {
		return r.skip(n)
	}
	return p.fits(r, n)
}

// decoded is a string without its quotes.
func (r *reading) decoded(n uint32) []byte {
	x := &r.d.Nodes[n]
	if !x.TextEsc {
		return r.d.Raw[x.At+1 : x.End-1]
	}
	return marks.Text(r.d.Raw[x.At:x.End])
}

// text holds a string against the words for such.
func (p *plain) text(r *reading, n uint32) bool {
	if !p.limited && p.pattern == nil && p.least == 0 && p.greatest == unbounded {
		return true
	}
	s := r.decoded(n)
	if p.limited && !p.says(s) {
		return false
	}
	if p.least > 0 || p.greatest < unbounded {
		if count := utf8.RuneCount(s); count < p.least || count > p.greatest {
			return false
		}
	}
	if p.pattern == nil {
		return true
	}
	x := p.pattern
	if !x.tells(string(s)) {
		return p.loose
	}
	return r.spend(0) && r.patterns.spend(x.cost(len(s))) && x.re.Match(s)
}

// number holds a number without a power of ten against the words for such.
func (p *plain) number(v []byte) bool {
	if !ordinaryNumber(v) {
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
