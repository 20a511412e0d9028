package yamltext

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Body is what stands in a text that Plain takes, repeated keys with it; nil: nothing.
func Body(text []byte) (ast.Node, error) {
	tree, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, Placed(err, "")
	}
	if len(tree.Docs) == 0 || tree.Docs[0].Body == nil || tree.Docs[0].Body.Type() == ast.NullType {
		return nil, nil
	}
	return tree.Docs[0].Body, nil
}

// A Member is one key with what stands under it.
type Member struct {
	Key   string
	Line  int
	Value ast.Node
}

// Members are the keys of a node, repeated ones too, in their order; nil: it has none.
func Members(n ast.Node) []Member {
	var list []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		list = n.Values
	case *ast.MappingValueNode:
		list = []*ast.MappingValueNode{n}
	}
	out := make([]Member, 0, len(list))
	for _, m := range list {
		x := Member{Value: m.Value}
		if t := m.Key.GetToken(); t != nil {
			x.Key = t.Value
			if t.Position != nil {
				x.Line = t.Position.Line
			}
		}
		out = append(out, x)
	}
	return out
}

var (
	wordType = reflect.TypeFor[Word]()
	ownTypes = []reflect.Type{reflect.TypeFor[yaml.InterfaceUnmarshaler](), reflect.TypeFor[yaml.NodeUnmarshaler](), reflect.TypeFor[yaml.BytesUnmarshaler]()}
)

// misread holds what stands under a key against the type that it is read as, as far as
// lists, keys and texts go. What reads itself is left to itself.
func misread(n ast.Node, t reflect.Type, key string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if n == nil || n.Type() == ast.NullType {
		return nil
	}
	isList, isMembers := n.Type() == ast.SequenceType, n.Type() == ast.MappingType || n.Type() == ast.MappingValueType
	if t == wordType {
		if isText := n.Type() == ast.StringType || n.Type() == ast.LiteralType; !isText {
			return wrong(n, key, "it has to be a text; what is read as a number, a date, true or false stands in quotes")
		}
		return nil
	}
	for _, own := range ownTypes {
		if reflect.PointerTo(t).Implements(own) {
			return nil
		}
	}
	switch t.Kind() {
	case reflect.Slice:
		seq, ok := n.(*ast.SequenceNode)
		if !ok {
			return wrong(n, key, "it has to be a list; put what it has in [ ]")
		}
		for _, v := range seq.Values {
			if err := misread(v, t.Elem(), key); err != nil {
				return err
			}
		}
	case reflect.Struct, reflect.Map:
		if !isMembers {
			return wrong(n, key, "it has to be keys with values")
		}
		return members(n, t, key)
	default:
		if isList || isMembers {
			return wrong(n, key, "it has to be one value")
		}
	}
	return nil
}

// members looks for keys that are not ours, and for such as stand twice. Names of maps
// are others' and not repeated.
func members(n ast.Node, t reflect.Type, key string) error {
	seen := map[string]int{}
	for i, m := range Members(n) {
		elem, under := reflect.Type(nil), fmt.Sprintf("name %d", i+1)
		if t.Kind() == reflect.Map {
			elem = t.Elem()
		} else if elem = fieldOf(t, m.Key); elem != nil {
			under = m.Key
		}
		if key != "" {
			under = key + "." + under
		}
		switch first := seen[m.Key]; {
		case elem == nil:
			return fmt.Errorf("%w: line %d: %sunknown key; there are %s", ErrText, m.Line, colon(key), strings.Join(keysOf(t), ", "))
		case first > 0:
			return fmt.Errorf("%w: line %d: %s: it is given twice, first in line %d", ErrText, m.Line, under, first)
		}
		seen[m.Key] = m.Line
		if err := misread(m.Value, elem, under); err != nil {
			return err
		}
	}
	return nil
}

func wrong(n ast.Node, key, what string) error {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return fmt.Errorf("%w: line %d: %s%s", ErrText, t.Position.Line, colon(key), what)
	}
	return fmt.Errorf("%w: %s%s", ErrText, colon(key), what)
}

func colon(key string) string {
	if key == "" {
		return ""
	}
	return key + ": "
}

// fieldOf is the type of what stands under a key of ours; nil: there is none.
func fieldOf(t reflect.Type, key string) reflect.Type {
	for i := range t.NumField() {
		if f := t.Field(i); key != "" && keyOf(f) == key {
			return f.Type
		}
	}
	return nil
}

func keyOf(f reflect.StructField) string {
	key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return key
}

func keysOf(t reflect.Type) (list []string) {
	for i := range t.NumField() {
		if key := keyOf(t.Field(i)); key != "" {
			list = append(list, key)
		}
	}
	return list
}
