package shape

import (
	"crypto/sha256"
	"fmt"
	"strconv"

	"github.com/pratique-dev/pratique/internal/flat"
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
	d := docs.Get().(*flat.Doc)
	defer func() {
		d.Reset(keepNodes)
		docs.Put(d)
	}()
	read := len(value) <= sh.lim.Value && d.Read(value, "", flat.MaxNodes, false) && d.Deep <= sh.lim.Depth
	if !read || !ordinary(d) {
		var seen census
		if err := seen.take(value, sh.lim.Value, sh.lim.Depth); err != nil {
			return fmt.Errorf("%w: %w", ErrUndecided, err)
		}
	}
	if !read {
		return ErrUndecided // more values than are read
	}
	return sh.CheckRead(d)
}

// CheckRead is Check of what was read strictly. It tells no more of numbers that are
// too long than of others.
func (sh *Shape) CheckRead(d *flat.Doc) error {
	if len(d.Raw) > sh.lim.Value {
		return fmt.Errorf("%w: %w", ErrUndecided, errLong)
	}
	purse := purse{sh.lim.Steps}
	if sh.plainly(sh.tight, d, &purse) {
		return nil
	}
	if sh.names != nil {
		r := reading{d: d, steps: sh.lim.Steps, patterns: &purse}
		var top about
		top.add(&r, sh.names, 0)
		f := r.named(&top, 0)
		switch {
		case r.steps < 0:
			return ErrUndecided
		case f != nil:
			return f
		}
	}
	if sh.plainly(sh.plain, d, &purse) {
		return nil
	}
	return sh.slowly(d.Raw, &purse)
}

// named looks for a name that is not known, in a value.
func (r *reading) named(x *about, n uint32) *Fault {
	node := &r.d.Nodes[n]
	if !r.spend(0) {
		return nil
	}
	if x.empty() || node.Kind != '{' && node.Kind != '[' {
		r.skip(n)
		return nil
	}
	object := node.Kind == '{'
	listed := object && x.lists()
	for at, i := n+1, 0; at < node.Stop && r.steps >= 0; at, i = r.d.Nodes[at].Stop, i+1 {
		step, of := strconv.Itoa(i), elementOf(i)
		if object {
			name := r.name(at)
			if step, of = pointerText.Replace(name), r.memberOf(name); listed && !x.knows(r, name) {
				return &Fault{Path: "/" + step, Keyword: quickNames}
			}
		}
		p := x.part(r, at, of)
		if f := r.named(&p, at); f != nil {
			f.Path = "/" + step + f.Path
			return f
		}
	}
	return nil
}

func (r *reading) name(n uint32) string {
	x := &r.d.Nodes[n]
	if x.NameEsc {
		return r.d.Texts[x.Name]
	}
	return string(r.d.Raw[x.Name:x.NameEnd])
}

// never tells whether a value certainly does not fit; false says nothing.
func (p *plain) never(r *reading, n uint32) bool {
	if r.nest >= maxNest || !r.spend(0) {
		return false
	}
	r.nest++
	defer func() { r.nest-- }()
	for _, x := range p.all {
		if x.never(r, n) {
			return true
		}
	}
	some := len(p.any) == 0
	for _, x := range p.any {
		some = some || !x.never(r, n)
	}
	return !some || p.otherwise(r, n)
}

// otherwise tells whether the schema's own words want another value.
func (p *plain) otherwise(r *reading, n uint32) bool {
	switch r.d.Nodes[n].Kind {
	case '{':
		return p.types&isObject == 0 || p.lacks(r, n)
	case '[':
		return p.types&isArray == 0
	case '"':
		return p.types&isString == 0 || p.limited && r.skip(n) && !p.says(r.decoded(n))
	case 't', 'f':
		return p.types&isBoolean == 0
	case 'n':
		return p.types&isNull == 0
	}
	return p.types&(isInteger|isNumber) == 0
}

// lacks tells whether an object lacks a member, or has one that never fits.
func (p *plain) lacks(r *reading, n uint32) bool {
	found := 0
	for i, stop := n+1, r.d.Nodes[n].Stop; i < stop; i = r.d.Nodes[i].Stop {
		m := p.member(r.d, i)
		if m.need {
			found++
		}
		if m.p != nil && m.p.never(r, i) {
			return true
		}
		r.spend(0)
	}
	return found < p.required
}
