package shape

import (
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Names is what a schema says of the names of members, at one place and below. A
// value that fits a schema may have any member that nobody forbids; held against its
// names, an object whose members are listed has no others. Which names are listed is
// told by all schemas that speak of the object together, wherever they stand: one
// that adds to another with allOf, $ref, if or anyOf must not make its members
// unknown to it.
type names struct {
	lists    bool              // it lists members, or forbids others
	free     bool              // it says what others there may be, or cannot be followed
	listed   map[string]*names // nil: nothing is said below
	patterns []listedPattern
	rest     *names // of members that are not listed
	first    []*names
	items    *names // of elements behind those
	hard     []*names
	forks    []fork
	fits     *plain
}

type listedPattern struct {
	re    *expression
	below *names
}

// A fork are schemas of which one or more speak of the value. Where it is loose none
// has to.
type fork struct {
	ways  []*names
	loose bool
}

// charts are the names of schemas; those refer to each other in circles.
type charts struct {
	made  map[*jsonschema.Schema]*names
	plans plans
}

// of are the names of a schema, nil for none.
func (c *charts) of(s *jsonschema.Schema) *names {
	if s == nil {
		return nil
	}
	if n := c.made[s]; n != nil {
		return n
	}
	n := &names{fits: c.plans.of(s)}
	c.made[s] = n
	if s.Bool != nil {
		return n
	}
	c.object(n, s)
	c.array(n, s)
	n.hard = c.each(s.AllOf)
	if s.Ref != nil {
		n.hard = append(n.hard, c.of(s.Ref))
	}
	n.free = n.free || s.DynamicRef != nil || s.RecursiveRef != nil || spelled(s)
	c.fork(n, false, s.AnyOf...)
	c.fork(n, false, s.OneOf...)
	c.fork(n, true, s.If)
	c.fork(n, s.Then == nil || s.Else == nil, s.Then, s.Else)
	for _, sub := range s.DependentSchemas {
		c.fork(n, true, sub)
	}
	return n
}

func (c *charts) each(all []*jsonschema.Schema) (out []*names) {
	for _, s := range all {
		if s != nil {
			out = append(out, c.of(s))
		}
	}
	return out
}

func (c *charts) fork(n *names, loose bool, all ...*jsonschema.Schema) {
	if ways := c.each(all); len(ways) > 0 {
		n.forks = append(n.forks, fork{ways, loose})
	}
}

// spelled tells whether a schema spells out objects that fit it, members and all.
func spelled(s *jsonschema.Schema) bool {
	all := []any{}
	if s.Enum != nil {
		all = s.Enum.Values
	}
	if s.Const != nil {
		all = append(all[:len(all):len(all)], *s.Const)
	}
	for _, v := range all {
		switch v.(type) {
		case map[string]any, []any:
			return true
		}
	}
	return false
}

func (c *charts) object(n *names, s *jsonschema.Schema) {
	n.lists = s.Properties != nil
	n.listed = make(map[string]*names, len(s.Properties)+len(s.Required))
	for name, sub := range s.Properties {
		n.listed[name] = c.of(sub)
	}
	for re, sub := range s.PatternProperties {
		if x, ok := re.(*expression); ok {
			n.patterns = append(n.patterns, listedPattern{x, c.of(sub)})
		} else {
			n.free = true
		}
	}
	switch more := s.AdditionalProperties.(type) {
	case bool:
		n.free, n.lists = n.free || more, n.lists || !more
	case *jsonschema.Schema:
		n.free, n.rest = true, c.of(more)
	}
	if s.UnevaluatedProperties != nil {
		n.free = true
		if n.rest == nil {
			c.fork(n, true, &jsonschema.Schema{AdditionalProperties: s.UnevaluatedProperties})
		}
	}
	n.free = n.free || s.PropertyNames != nil && !anyName(s.PropertyNames)
	if s.AdditionalProperties == nil {
		c.mentioned(n, s)
	}
	n.free = n.free || s.MinProperties != nil && *s.MinProperties > len(n.listed)
}

// mentioned notes the names that a schema asks for without saying what they are.
func (c *charts) mentioned(n *names, s *jsonschema.Schema) {
	add := func(all ...string) {
		for _, name := range all {
			if _, ok := n.listed[name]; !ok {
				n.listed[name] = nil
			}
		}
	}
	add(s.Required...)
	for name, more := range s.DependentRequired {
		add(name)
		add(more...)
	}
	for name := range s.DependentSchemas {
		add(name)
	}
	for name, of := range s.Dependencies {
		add(name)
		switch of := of.(type) {
		case []string:
			add(of...)
		case *jsonschema.Schema:
			c.fork(n, true, of)
		}
	}
}

func (c *charts) array(n *names, s *jsonschema.Schema) {
	n.first, n.items = c.each(s.PrefixItems), c.of(s.Items2020)
	switch of := s.Items.(type) {
	case *jsonschema.Schema:
		n.items = c.of(of)
	case []*jsonschema.Schema:
		n.first = c.each(of)
		if more, ok := s.AdditionalItems.(*jsonschema.Schema); ok {
			n.items = c.of(more)
		}
	}
	// These speak of some elements only.
	for _, sub := range []*jsonschema.Schema{s.Contains, s.UnevaluatedItems} {
		if sub != nil && sub.Bool == nil {
			n.forks = append(n.forks, fork{[]*names{{items: c.of(sub)}}, true})
		}
	}
}

// anyName tells whether a schema of names lets every name pass.
func anyName(s *jsonschema.Schema) bool {
	if s.Bool != nil {
		return *s.Bool
	}
	return s.Types != nil && typesOf(s)&isString != 0 && s.Ref == nil && s.DynamicRef == nil && s.RecursiveRef == nil && s.Enum == nil && s.Const == nil &&
		s.Not == nil && s.AllOf == nil && s.AnyOf == nil && s.OneOf == nil && s.If == nil && s.Format == nil &&
		s.MinLength == nil && s.MaxLength == nil && s.Pattern == nil
}

// An about is what speaks of one value: these, and of each fork some.
type about struct {
	all   []*names
	forks []branches
}

type branches struct {
	ways  []about
	loose bool
}

// add has a schema, and those it takes in, speak of a value.
func (x *about) add(r *reading, n *names, at uint32) {
	for _, have := range x.all {
		if have == n {
			return
		}
	}
	if r.nest >= maxNest || !r.spend(64*len(x.all)) {
		r.steps = -1
		return
	}
	r.nest++
	x.all = append(x.all, n)
	for _, sub := range n.hard {
		x.add(r, sub, at)
	}
	for _, f := range n.forks {
		b := branches{loose: f.loose}
		for _, way := range f.ways {
			if way.fits == nil || !way.fits.never(r, at) {
				var p about
				p.add(r, way, at)
				b.ways = append(b.ways, p)
			}
		}
		if len(b.ways) > 0 {
			x.forks = append(x.forks, b)
		}
	}
	r.nest--
}

func (x *about) empty() bool { return len(x.all) == 0 && len(x.forks) == 0 }

// lists tells whether the object may have listed members only.
func (x *about) lists() bool {
	for _, n := range x.all {
		if n.lists {
			return true
		}
	}
	for _, f := range x.forks {
		all := !f.loose
		for i := range f.ways {
			all = all && f.ways[i].lists()
		}
		if all {
			return true
		}
	}
	return false
}

// knows tells whether a name is among them.
func (x *about) knows(r *reading, name string) bool {
	for _, n := range x.all {
		if _, ok := n.listed[name]; ok || n.free {
			return true
		}
		for _, p := range n.patterns {
			if r.may(p.re, name) {
				return true
			}
		}
	}
	for _, f := range x.forks {
		for i := range f.ways {
			if f.ways[i].knows(r, name) {
				return true
			}
		}
	}
	return false
}

// may tells whether an expression matches, or cannot be told not to.
func (r *reading) may(e *expression, s string) bool {
	if !e.tells(s) {
		return true
	}
	if !r.spend(0) || !r.patterns.spend(e.cost(len(s))) {
		r.steps = -1
		return true
	}
	return e.re.MatchString(s)
}

// part is what speaks of a part of the value.
func (x *about) part(r *reading, at uint32, of func(n *names, found func(*names))) (p about) {
	for _, n := range x.all {
		of(n, func(sub *names) {
			if sub != nil {
				p.add(r, sub, at)
			}
		})
	}
	for _, f := range x.forks {
		b := branches{loose: f.loose}
		some := false
		for i := range f.ways {
			way := f.ways[i].part(r, at, of)
			some = some || !way.empty()
			b.ways = append(b.ways, way)
		}
		if some {
			p.forks = append(p.forks, b)
		}
	}
	return p
}

func (r *reading) memberOf(name string) func(n *names, found func(*names)) {
	return func(n *names, found func(*names)) {
		sub, ok := n.listed[name]
		found(sub)
		for _, p := range n.patterns {
			if r.may(p.re, name) {
				ok = true
				found(p.below)
			}
		}
		if !ok {
			found(n.rest)
		}
	}
}

func elementOf(i int) func(n *names, found func(*names)) {
	return func(n *names, found func(*names)) {
		if i < len(n.first) {
			found(n.first[i])
		} else {
			found(n.items)
		}
	}
}

var pointerText = strings.NewReplacer("~", "~0", "/", "~1")
