package shape

import (
	"crypto/sha256"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/internal/marks"
)

// Closed is the shape of a schema that is closed: as Of has it, and where an object's
// members are listed, in whatever part of the schema, it has no others. What the
// schema itself says of others stays as it says, and so do objects of which it lists
// nothing. A name that the schema asks for is listed, and so is one that a pattern
// matches. Below $dynamicRef and $recursiveRef nothing is closed.
//
// A Fault of a name that is not known, or is missing, is at that name.
//
// Expressions that mean something else here, or nothing, hold nothing back: whoever
// wrote them checks them, while nobody else looks for names.
func (s *Shapes) Closed(schema []byte) (*Shape, error) {
	return s.ClosedBy(sha256.Sum256(schema), func() []byte { return schema })
}

// ClosedBy is Closed of a schema that has a digest already, of itself or of more. It
// is asked for where it is not kept.
func (s *Shapes) ClosedBy(digest [sha256.Size]byte, schema func() []byte) (*Shape, error) {
	return s.get(key{digest, true}, schema)
}

// quickNames is the keyword of a name that is not known.
const quickNames = "additionalProperties"

// checkClosed holds a value against a closed shape.
func (sh *Shape) checkClosed(value []byte) error {
	if !jsontext.Value(value).IsValid() || !ordinary(value, sh.lim.Depth) {
		var seen census
		if err := seen.take(value, sh.lim.Value, sh.lim.Depth); err != nil {
			return fmt.Errorf("%w: %w", ErrUndecided, err)
		}
	}
	return sh.CheckStrict(value)
}

// CheckStrict is Check of what a strict reader let through, with no more depth than
// the limits have. Nothing else is to be held against it.
func (sh *Shape) CheckStrict(value []byte) error {
	if len(value) > sh.lim.Value {
		return fmt.Errorf("%w: %w", ErrUndecided, errLong)
	}
	at := marks.Space(value, 0)
	if sh.plainly(sh.tight, value, at) {
		return nil
	}
	if sh.names != nil {
		r := reading{b: value, steps: sh.lim.Steps}
		var top about
		top.add(&r, sh.names, at)
		_, f := r.named(&top, at)
		switch {
		case r.steps < 0:
			return ErrUndecided
		case f != nil:
			return f
		}
	}
	if sh.plainly(sh.plain, value, at) {
		return nil
	}
	return sh.slowly(value)
}

func (sh *Shape) plainly(p *plain, value []byte, at int) bool {
	if p == nil || p.unknown || at >= len(value) {
		return false
	}
	r := reading{b: value, steps: sh.lim.Steps}
	_, ok := p.fits(&r, at)
	return ok
}

// named looks for a name that is not known, in the value that begins at a place. end
// is the index behind it.
func (r *reading) named(x *about, at int) (end int, f *Fault) {
	if !r.spend(0) {
		return -1, nil
	}
	if x.empty() || r.b[at] != '{' && r.b[at] != '[' {
		end = marks.Value(r.b, at)
		r.spend(end - at)
		return end, nil
	}
	listed := r.b[at] == '{' && x.lists()
	i := -1
	end = marks.Parts(r.b, at, func(quoted []byte, value int) int {
		i++
		step, of := strconv.Itoa(i), elementOf(i)
		if quoted != nil {
			name := string(marks.Text(quoted))
			if step, of = pointerText.Replace(name), memberOf(name); listed && !x.knows(name) {
				f = &Fault{Path: "/" + step, Keyword: quickNames}
				return -1
			}
		}
		p := x.part(r, value, of)
		next := 0
		if next, f = r.named(&p, value); f != nil {
			f.Path = "/" + step + f.Path
			return -1
		}
		return next
	})
	return end, f
}

// never tells whether a value certainly does not fit; false says nothing.
func (p *plain) never(r *reading, at int) bool {
	if r.nest >= maxNest || !r.spend(0) {
		return false
	}
	r.nest++
	defer func() { r.nest-- }()
	for _, x := range p.all {
		if x.never(r, at) {
			return true
		}
	}
	some := len(p.any) == 0
	for _, x := range p.any {
		some = some || !x.never(r, at)
	}
	return !some || p.otherwise(r, at)
}

// otherwise tells whether the schema's own words want another value.
func (p *plain) otherwise(r *reading, at int) bool {
	switch r.b[at] {
	case '{':
		return p.types&isObject == 0 || p.lacks(r, at)
	case '[':
		return p.types&isArray == 0
	case '"':
		end := marks.String(r.b, at)
		return p.types&isString == 0 || p.limited && r.spend(end-at) && !p.words[string(marks.Text(r.b[at:end]))]
	case 't', 'f':
		return p.types&isBoolean == 0
	case 'n':
		return p.types&isNull == 0
	}
	return p.types&(isInteger|isNumber) == 0
}

// lacks tells whether an object lacks a member, or has one that never fits.
func (p *plain) lacks(r *reading, at int) bool {
	found := 0
	never := false
	end := marks.Parts(r.b, at, func(name []byte, value int) int {
		m := p.members[string(marks.Text(name))]
		if m.need {
			found++
		}
		if never = m.p != nil && m.p.never(r, value); never {
			return -1
		}
		end := marks.Value(r.b, value)
		r.spend(end - value)
		return end
	})
	return never || end >= 0 && found < p.required
}
