// Package shape holds JSON values against the JSON Schemas of tools: 2020-12,
// and the older drafts that a schema names itself.
//
// A schema comes from a server that nobody trusts, and so does most of what is
// held against it. Nothing is ever fetched: a reference out of the schema makes
// it unusable. Numbers are compared as decimal numbers of any length, never as
// floats. Time and memory are bounded by Limits; what is beyond them, or means
// something else in the expressions of Go than in those of ECMA-262, is neither
// right nor wrong but ErrUndecided, and nobody may count it for either.
//
// "format" and "contentEncoding" are notes here, as 2020-12 has it, in every
// draft.
package shape

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Errors of schemas and values. None repeats any of their text.
var (
	ErrSchema    = errors.New("shape: not a schema that can be used")
	ErrReference = errors.New("shape: the schema refers to something outside of itself")
	ErrUnfit     = errors.New("shape: the value does not fit the schema")
	ErrUndecided = errors.New("shape: whether the value fits cannot be told within bounds")
)

// Limits bound what schemas and values can cost. A zero member is the default.
type Limits struct {
	Schema   int // bytes of one schema; 256 KiB
	Nodes    int // objects and arrays of one schema; 4,096
	Patterns int // regular expressions of one schema; 128 of at most 1 KiB each
	Value    int // bytes of one value; 4 MiB
	Depth    int // nesting of schema and value; 64
	Steps    int // of one check: about one per node of the schema and value that meet, and as many for expressions; 524,288
	Kept     int // bytes of all schemas that are kept compiled; 4 MiB
}

func or(v *int, d int) {
	if *v <= 0 {
		*v = d
	}
}

func (l *Limits) defaults() {
	or(&l.Schema, 256<<10)
	or(&l.Nodes, 4096)
	or(&l.Patterns, 128)
	or(&l.Value, 4<<20)
	or(&l.Depth, 64)
	or(&l.Steps, 1<<19)
	or(&l.Kept, 4<<20)
}

// Shapes keeps compiled schemas by the digest of their text. It is safe for
// concurrent use.
type Shapes struct {
	lim Limits

	mu    sync.Mutex // owns what follows
	kept  map[key]*Shape
	order []key // oldest first
	bytes int
}

// A key is what a shape is kept by.
type key struct {
	digest [sha256.Size]byte
	closed bool
}

// New keeps nothing yet.
func New(lim Limits) *Shapes {
	lim.defaults()
	return &Shapes{lim: lim, kept: map[key]*Shape{}}
}

// Of is the shape of a schema: an object, or true or false. The error is
// ErrSchema or ErrReference, and is kept as well as a shape is.
func (s *Shapes) Of(schema []byte) (*Shape, error) {
	return s.get(key{sha256.Sum256(schema), false}, func() []byte { return schema })
}

func (s *Shapes) get(k key, schema func() []byte) (*Shape, error) {
	s.mu.Lock()
	sh := s.kept[k]
	s.mu.Unlock()
	if sh == nil {
		text := schema()
		if len(text) > s.lim.Schema {
			return nil, fmt.Errorf("%w: longer than %d bytes", ErrSchema, s.lim.Schema)
		}
		sh = s.compile(text, k.closed)
		s.keep(k, sh)
	}
	if sh.err != nil {
		return nil, sh.err
	}
	return sh, nil
}

func (s *Shapes) keep(k key, sh *Shape) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept[k] != nil {
		return
	}
	s.kept[k] = sh
	s.order = append(s.order, k)
	for s.bytes += sh.size; s.bytes > s.lim.Kept && len(s.order) > 1; s.order = s.order[1:] {
		s.bytes -= s.kept[s.order[0]].size
		delete(s.kept, s.order[0])
	}
}

// A Shape is one compiled schema. It is safe for concurrent use; checks of values
// that do not fit, or of schemas with rare words, wait for each other.
type Shape struct {
	lim   Limits
	size  int
	err   error
	plain *plain // says at once of most values that fit that they do
	tight *plain // the same of a closed shape, where one schema alone speaks of each object
	names *names // of a closed shape

	mu    sync.Mutex // owns what follows while a check runs
	meter meter
	quick *jsonschema.Schema // of {"not": schema}: stops at the first fault, tells no place
	full  *jsonschema.Schema
}

// base is where the schema stands while it is compiled, for references in it.
// Nothing is loaded from there, or anywhere.
const base = "pratique://schema/"

func (s *Shapes) compile(text []byte, closed bool) *Shape {
	sh := &Shape{lim: s.lim, size: len(text) + 1024}
	sh.meter.loose = closed
	if sh.err = sh.build(text); sh.err == nil {
		sh.plan(closed)
	}
	return sh
}

// plan makes what is looked at before the library is.
func (sh *Shape) plan(closed bool) {
	open := plans{made: map[*jsonschema.Schema]*plain{}, loose: closed}
	sh.plain = open.of(sh.full)
	if closed {
		tight := plans{made: map[*jsonschema.Schema]*plain{}, loose: true, closed: true}
		sh.tight = tight.of(sh.full)
		sh.names = (&charts{made: map[*jsonschema.Schema]*names{}, plans: open}).of(sh.full)
	}
}

func (sh *Shape) build(text []byte) (err error) {
	defer func() {
		if v := recover(); v != nil { // the library met something it did not expect
			err = fmt.Errorf("%w: it cannot be read", ErrSchema)
		}
	}()
	var seen census
	if err := seen.take(text, sh.lim.Schema, sh.lim.Depth); err != nil {
		return fmt.Errorf("%w: %w", ErrSchema, err)
	}
	if seen.nodes > sh.lim.Nodes {
		return fmt.Errorf("%w: more than %d objects and arrays", ErrSchema, sh.lim.Nodes)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return ErrSchema
	}
	switch doc.(type) {
	case map[string]any, bool:
	default:
		return fmt.Errorf("%w: neither an object nor true or false", ErrSchema)
	}
	return sh.link(doc)
}

// link has the library compile a schema.
func (sh *Shape) link(doc any) error {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(nothing{})
	patterns := &expressions{left: sh.lim.Patterns, meter: &sh.meter, made: map[string]*expression{}}
	c.UseRegexpEngine(patterns.compile)
	c.RegisterVocabulary(counting(&sh.meter))
	c.AssertVocabs()
	for name := range formats(doc) {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
	}
	if err := c.AddResource(base, doc); err != nil {
		return ErrSchema
	}
	var err error
	switch sh.full, err = c.Compile(base); {
	case patterns.large:
		return fmt.Errorf("%w: its expressions have more than %d instructions each, or %d together", ErrSchema, maxProgram, maxPrograms)
	case err != nil:
		return refused(err)
	}
	// Only now, so that the schema cannot refer to it.
	if err := c.AddResource(base+"not", map[string]any{"not": map[string]any{"$ref": base}}); err != nil {
		return ErrSchema
	}
	if sh.quick, err = c.Compile(base + "not"); err != nil {
		return refused(err)
	}
	patterns.sealed = true
	sh.size += instructionBytes * patterns.size
	return nil
}

// nothing loads nothing.
type nothing struct{}

var errNothing = errors.New("nothing is loaded")

// Load implements jsonschema.URLLoader.
func (nothing) Load(string) (any, error) { return nil, errNothing }

func refused(err error) error {
	switch {
	case err == nil:
		return nil
	case isLoad(err):
		return ErrReference
	}
	return ErrSchema // the library's text repeats the schema
}

func isLoad(err error) bool {
	_, ok := errors.AsType[*jsonschema.LoadURLError](err)
	return ok
}

// formats are the names of formats in a schema, wherever they stand, and in the schemas
// of schemas, to which it can refer.
func formats(doc any) map[string]bool {
	out := map[string]bool{"uri": true, "uri-reference": true, "uriref": true}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if name, ok := v["format"].(string); ok {
				out[name] = true
			}
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(doc)
	return out
}
