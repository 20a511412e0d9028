package shape

import (
	"maps"
	"math/big"
	"math/bits"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A plain is what the ordinary words of a schema come to, ready to be held against
// the text of a value without anything being built of it. It says that a value fits,
// or nothing: then the library has the word. So nothing here has to know why a value
// does not fit, and whatever is rare may be left to the library.
type plain struct {
	unknown bool // it has words that only the library knows

	types   kinds
	limited bool            // by enum or const, to words and choices
	words   map[string]bool // strings
	few     []string        // the same, where they are
	choices map[string]bool // other scalars, as they are written

	members            map[string]member
	table              []slot // of them, where they are few; len is a power of two
	required           int    // members that must be there
	additional         *plain
	closed             bool // none but members
	fewest, most       int  // members
	items              *plain
	shortest, longest  int // arrays
	least, greatest    int // characters of strings
	pattern            *expression
	loose              bool // what it cannot tell it lets pass
	from, above        *bound
	to, below          *bound
	all, any           []*plain // the same value fits all of them; one of them, if there are any
	leaf, opaqueObject bool     // nothing looks below arrays; below objects
}

// A member of an object: what its value must be, and whether it must be there.
type member struct {
	p    *plain // nil: anything that additional lets pass
	need bool
}

// A slot is a place for one member in a table of our own, which is faster than a map.
type slot struct {
	name string
	at   member
	used bool
}

// mostSlots is up to how many members have a table: names that meet in it are searched
// one by one.
const mostSlots = 64

// tabled makes the table.
func (p *plain) tabled() {
	if len(p.members) == 0 || len(p.members) > mostSlots {
		return
	}
	p.table = make([]slot, 1<<bits.Len(uint(2*len(p.members))))
	for name, m := range p.members {
		i := slotOf(name, len(p.table))
		for p.table[i].used {
			i = (i + 1) & (len(p.table) - 1)
		}
		p.table[i] = slot{name, m, true}
	}
}

func slotOf[T string | []byte](name T, size int) int {
	n := len(name)
	if n == 0 {
		return 0
	}
	return (n*31 + int(name[0])*131 + int(name[n-1])*17 + int(name[n/2])*7) & (size - 1)
}

// memberNamed is what is said of a member; the zero member: nothing.
func memberNamed[T string | []byte](p *plain, name T) member {
	if p.table == nil {
		return p.members[string(name)]
	}
	for i := slotOf(name, len(p.table)); p.table[i].used; i = (i + 1) & (len(p.table) - 1) {
		if p.table[i].name == string(name) {
			return p.table[i].at
		}
	}
	return member{}
}

// kinds are the types that a schema names, a bit each.
type kinds uint8

const (
	isNull kinds = 1 << iota
	isBoolean
	isInteger
	isNumber // integers too
	isString
	isArray
	isObject
	isAny = isNull | isBoolean | isInteger | isNumber | isString | isArray | isObject
)

var kindOf = map[string]kinds{
	"null": isNull, "boolean": isBoolean, "integer": isInteger, "number": isInteger | isNumber,
	"string": isString, "array": isArray, "object": isObject,
}

// A bound is a number of a schema as the nearest float, and whether it is that
// exactly.
type bound struct {
	f     float64
	exact bool
}

func boundOf(r *big.Rat) *bound {
	if r == nil {
		return nil
	}
	f, exact := r.Float64()
	return &bound{f, exact}
}

// unbounded is more than anything has of anything.
const unbounded = int(^uint(0) >> 1)

func intOr(n *int, d int) int {
	if n == nil {
		return d
	}
	return *n
}

// plans are the plain forms of schemas; those refer to each other in circles.
type plans struct {
	made   map[*jsonschema.Schema]*plain
	closed bool // objects whose members a schema lists have no others
	loose  bool // what expressions cannot tell they let pass
}

// of is the plain form of a schema, nil for none.
func (m plans) of(s *jsonschema.Schema) *plain {
	if s == nil {
		return nil
	}
	if p := m.made[s]; p != nil {
		return p
	}
	p := &plain{types: isAny}
	m.made[s] = p
	if s.Bool != nil {
		p.unknown = !*s.Bool // the library says that it does not fit
		p.least, p.fewest, p.shortest = 0, 0, 0
		p.greatest, p.most, p.longest = unbounded, unbounded, unbounded
		p.leaf, p.opaqueObject = true, true
		return p
	}
	p.unknown = rare(s)
	p.scalars(s, m.loose)
	m.object(p, s)
	m.array(p, s)
	p.all = m.each(s.AllOf)
	if s.Ref != nil {
		p.all = append(p.all, m.of(s.Ref))
	}
	p.any = m.each(s.AnyOf)
	if len(s.OneOf) > 0 {
		p.unknown = p.unknown || len(p.any) > 0 || !apart(s.OneOf)
		p.any = append(p.any, m.each(s.OneOf)...)
	}
	return p
}

func (m plans) each(all []*jsonschema.Schema) (out []*plain) {
	for _, s := range all {
		out = append(out, m.of(s))
	}
	return out
}

// rare tells whether a schema has words that are left to the library.
func rare(s *jsonschema.Schema) bool {
	return s.RecursiveRef != nil || s.DynamicRef != nil || s.Not != nil || s.If != nil ||
		s.PropertyNames != nil && !anyName(s.PropertyNames) || len(s.PatternProperties) > 0 || len(s.Dependencies) > 0 || len(s.DependentRequired) > 0 ||
		len(s.DependentSchemas) > 0 || s.UnevaluatedProperties != nil ||
		s.UniqueItems || s.Contains != nil || s.AdditionalItems != nil || len(s.PrefixItems) > 0 || s.UnevaluatedItems != nil ||
		s.ContentEncoding != nil || s.ContentMediaType != nil || s.ContentSchema != nil || s.MultipleOf != nil
}

// apart tells whether no value can fit two of the schemas, by their types.
func apart(all []*jsonschema.Schema) bool {
	var seen kinds
	for _, s := range all {
		if s.Types == nil {
			return false
		}
		k := typesOf(s)
		if k == 0 || seen&k != 0 {
			return false
		}
		seen |= k
	}
	return true
}

func typesOf(s *jsonschema.Schema) (k kinds) {
	for _, name := range s.Types.ToStrings() {
		k |= kindOf[name]
	}
	return k
}

// scalars takes what a schema says of values that have nothing in them.
func (p *plain) scalars(s *jsonschema.Schema, loose bool) {
	if s.Types != nil && !s.Types.IsEmpty() {
		p.types = typesOf(s)
	}
	if s.Enum != nil {
		p.choose(s.Enum.Values)
	}
	if s.Const != nil {
		p.unknown = p.unknown || p.limited
		p.choose([]any{*s.Const})
	}
	p.least, p.greatest = intOr(s.MinLength, 0), intOr(s.MaxLength, unbounded)
	if s.Pattern != nil {
		var ok bool
		p.pattern, ok = s.Pattern.(*expression)
		p.unknown = p.unknown || !ok
		p.loose = loose
	}
	p.from, p.above = boundOf(s.Minimum), boundOf(s.ExclusiveMinimum)
	p.to, p.below = boundOf(s.Maximum), boundOf(s.ExclusiveMaximum)
}

// choose notes the choices that are scalars; the others are left to the library.
func (p *plain) choose(all []any) {
	p.limited, p.words, p.choices = true, map[string]bool{}, map[string]bool{}
	for _, v := range all {
		switch v := v.(type) {
		case nil:
			p.choices["null"] = true
		case bool:
			p.choices[map[bool]string{true: "true", false: "false"}[v]] = true
		case string:
			p.words[v] = true
		case interface{ String() string }: // a number as it is written
			p.choices[v.String()] = true
		}
	}
	if len(p.words) <= mostFew {
		p.few = slices.Sorted(maps.Keys(p.words))
	}
}

// mostFew is how many words are compared one by one, which is faster than a map.
const mostFew = 8

// says tells whether a string is one of the words.
func (p *plain) says(s []byte) bool {
	if p.few == nil {
		return p.words[string(s)]
	}
	for _, w := range p.few {
		if w == string(s) {
			return true
		}
	}
	return false
}

func (m plans) object(p *plain, s *jsonschema.Schema) {
	p.fewest, p.most = intOr(s.MinProperties, 0), intOr(s.MaxProperties, unbounded)
	p.members = make(map[string]member, len(s.Properties)+len(s.Required))
	for name, sub := range s.Properties {
		p.members[name] = member{p: m.of(sub)}
	}
	for _, name := range s.Required {
		x := p.members[name]
		if !x.need {
			p.required++
		}
		x.need = true
		p.members[name] = x
	}
	switch more := s.AdditionalProperties.(type) {
	case bool:
		p.closed = !more
	case *jsonschema.Schema:
		p.additional = m.of(more)
	default:
		p.closed = m.closed && s.Properties != nil
	}
	p.tabled()
	p.opaqueObject = len(p.members) == 0 && !p.closed && p.additional == nil && p.fewest == 0 && p.most == unbounded
}

func (m plans) array(p *plain, s *jsonschema.Schema) {
	p.shortest, p.longest = intOr(s.MinItems, 0), intOr(s.MaxItems, unbounded)
	p.items = m.of(s.Items2020)
	switch of := s.Items.(type) {
	case nil:
	case *jsonschema.Schema:
		p.items = m.of(of)
	default:
		p.unknown = true
	}
	p.leaf = p.items == nil && p.shortest == 0 && p.longest == unbounded
}
