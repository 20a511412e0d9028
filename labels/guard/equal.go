package guard

import (
	"errors"
	"strings"

	"github.com/pratique-dev/pratique/internal/lookalike"
	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/guard/value"
)

// A literal is a JSON value that others are compared with.
type literal struct {
	kind    byte
	text    string
	number  value.Number
	parts   []literal // of arrays, in order
	members map[string]literal
	said    []byte // of a single value, see folded
}

var errCompare = errors.New("equals, one_of: JSON values that can be compared")

// newLiteral reads a Literal.
func newLiteral(l Literal) (literal, error) {
	t, err := args.Parse(append(append([]byte(`{"v":`), l.raw...), '}'))
	if err != nil {
		return literal{}, errCompare
	}
	v, _ := t.Root().Get("v")
	return literalOf(v)
}

func literalOf(v args.Value) (l literal, err error) {
	l = literal{kind: v.Kind(), said: folded(v)}
	ok := true
	switch l.kind {
	case '"':
		l.text = strings.Clone(v.Text())
		l.said = lookalike.Fold([]byte{}, strings.TrimSpace(l.text))
	case '0':
		l.number, ok = value.ParseNumber(append([]byte{}, v.Number()...))
	case '{':
		l.members = map[string]literal{}
	case 0:
		ok = false
	}
	if !ok {
		return l, errCompare
	}
	for m := v.First(); m.Kind() != 0; m = m.Next() {
		x, err := literalOf(m)
		if err != nil {
			return l, err
		}
		if l.kind == '{' {
			l.members[strings.Clone(m.Name())] = x
		} else {
			l.parts = append(l.parts, x)
		}
	}
	return l, nil
}

// isOne tells whether the value is equal to one of the literals.
func (w *word) isOne(v args.Value) bool {
	for i := range w.literals {
		if w.literals[i].equals(v) {
			return true
		}
	}
	return false
}

// equals compares as JSON does: numbers by what they are worth, exactly, texts byte for
// byte, members in any order.
func (l *literal) equals(v args.Value) bool {
	if v.Kind() != l.kind {
		return false
	}
	switch l.kind {
	case '"':
		return v.Text() == l.text
	case '0':
		n, ok := value.ParseNumber(v.Number())
		return ok && value.Compare(n, l.number) == 0
	case '[':
		if v.Len() != len(l.parts) {
			return false
		}
		i := 0
		for e := v.First(); e.Kind() != 0; e = e.Next() {
			if !l.parts[i].equals(e) {
				return false
			}
			i++
		}
	case '{':
		if v.Len() != len(l.members) {
			return false
		}
		for name, x := range l.members {
			if m, ok := v.Get(name); !ok || !x.equals(m) {
				return false
			}
		}
	}
	return true
}
