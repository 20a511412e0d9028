package guard

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// A Word is a string that YAML reads as one: 42, true and null are something else.
type Word string

// Words are one string or a list of them.
type Words []Word

// A Literal is a JSON value, with all digits of its numbers. The zero value is none.
type Literal struct{ raw jsontext.Value }

// Literals are one or several JSON values.
type Literals []Literal

var (
	errWord    = fmt.Errorf("%w: not a string; put it in quotes", ErrConfig)
	errNull    = fmt.Errorf("%w: a word has no value; leave it out", ErrConfig)
	errWords   = fmt.Errorf("%w: not a list of strings", ErrConfig)
	errLiteral = fmt.Errorf("%w: not a JSON value; put text in quotes", ErrConfig)
)

// UnmarshalYAML implements yaml.InterfaceUnmarshaler.
func (w *Word) UnmarshalYAML(decode func(any) error) error {
	var v any
	if err := decode(&v); err != nil {
		return err
	}
	s, ok := v.(string)
	if !ok {
		return errWord
	}
	*w = Word(s)
	return nil
}

// UnmarshalYAML implements yaml.InterfaceUnmarshaler.
func (w *Words) UnmarshalYAML(decode func(any) error) error {
	var v any
	if err := decode(&v); err != nil {
		return err
	}
	if s, ok := v.(string); ok {
		*w = Words{Word(s)}
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		return errWords
	}
	*w = make(Words, 0, len(list))
	for _, x := range list {
		s, ok := x.(string)
		if !ok {
			return errWord
		}
		*w = append(*w, Word(s))
	}
	return nil
}

// UnmarshalYAML implements yaml.NodeUnmarshaler. A word without a value is an error:
// read as "nothing is asked" it would permit more than whoever wrote it meant. null is a
// value of equals alone.
func (c *Constraint) UnmarshalYAML(n ast.Node) error {
	null := false
	for _, m := range membersOf(n) {
		if m.Value.Type() != ast.NullType {
			continue
		}
		if m.Key.GetToken().Value != "equals" {
			return errNull
		}
		null = true
	}
	type plain Constraint
	if err := yaml.NodeToValue(n, (*plain)(c), yaml.Strict()); err != nil {
		return err
	}
	if null {
		c.Equals = Literal{raw: jsontext.Value("null")}
	}
	return nil
}

// UnmarshalYAML implements yaml.NodeUnmarshaler, with an error for words without a
// value.
func (c *Config) UnmarshalYAML(n ast.Node) error {
	if hasNull(n, 0) {
		return errNull
	}
	type plain Config
	return yaml.NodeToValue(n, (*plain)(c), yaml.Strict())
}

func hasNull(n ast.Node, depth int) bool {
	if n.Type() == ast.NullType || depth > maxNesting {
		return true
	}
	for _, m := range membersOf(n) {
		if hasNull(m.Value, depth+1) {
			return true
		}
	}
	return false
}

func membersOf(n ast.Node) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

// Raw is the JSON text; nil: none.
func (l Literal) Raw() []byte { return l.raw }

// IsZero tells whether there is no value.
func (l Literal) IsZero() bool { return l.raw == nil }

// MarshalJSON implements json.Marshaler.
func (l Literal) MarshalJSON() ([]byte, error) {
	if l.raw == nil {
		return nil, errLiteral
	}
	return l.raw, nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *Literal) UnmarshalJSON(b []byte) error {
	l.raw = bytes.Clone(b)
	return nil
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (l *Literal) UnmarshalYAML(n ast.Node) error {
	raw, err := appendNode(nil, n, 0)
	if err != nil {
		return err
	}
	l.raw = raw
	return nil
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (l *Literals) UnmarshalYAML(n ast.Node) error {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		*l = make(Literals, 1)
		return (*l)[0].UnmarshalYAML(n)
	}
	*l = make(Literals, len(seq.Values))
	for i, v := range seq.Values {
		if err := (*l)[i].UnmarshalYAML(v); err != nil {
			return err
		}
	}
	return nil
}

const maxNesting = 16

// appendNode writes a YAML node as JSON. Numbers keep their digits; those that JSON
// does not know (0x10, 1_000, .inf) are refused.
func appendNode(b []byte, n ast.Node, depth int) ([]byte, error) {
	if depth > maxNesting {
		return nil, errLiteral
	}
	switch n := n.(type) {
	case *ast.NullNode:
		return append(b, "null"...), nil
	case *ast.BoolNode:
		if n.Value {
			return append(b, "true"...), nil
		}
		return append(b, "false"...), nil
	case *ast.IntegerNode, *ast.FloatNode:
		return appendNumber(b, n.GetToken())
	case *ast.StringNode:
		if n.Token.Type == token.StringType && isNumber(n.Value) { // 1e3 is a number in YAML too
			return append(b, n.Value...), nil
		}
		return appendText(b, n.Value)
	case *ast.LiteralNode:
		return appendText(b, n.Value.Value)
	case *ast.SequenceNode:
		b = append(b, '[')
		for i, v := range n.Values {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = appendNode(b, v, depth+1); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case *ast.MappingNode:
		return appendMapping(b, n.Values, depth)
	case *ast.MappingValueNode:
		return appendMapping(b, []*ast.MappingValueNode{n}, depth)
	}
	return nil, errLiteral
}

func appendMapping(b []byte, members []*ast.MappingValueNode, depth int) ([]byte, error) {
	b = append(b, '{')
	for i, m := range members {
		name, ok := m.Key.(*ast.StringNode)
		if !ok {
			return nil, errLiteral
		}
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendText(b, name.Value); err != nil {
			return nil, err
		}
		b = append(b, ':')
		if b, err = appendNode(b, m.Value, depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func appendText(b []byte, s string) ([]byte, error) {
	b, err := jsontext.AppendQuote(b, s)
	if err != nil {
		return nil, errLiteral
	}
	return b, nil
}

func appendNumber(b []byte, t *token.Token) ([]byte, error) {
	if !isNumber(t.Value) {
		return nil, errNumber
	}
	return append(b, t.Value...), nil
}

func isNumber(s string) bool {
	v := jsontext.Value(s)
	return v.Kind() == '0' && v.IsValid()
}

var errNumber = fmt.Errorf("%w: not a number as JSON writes it", ErrConfig)
