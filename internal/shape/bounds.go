package shape

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

var (
	errLong   = errors.New("too long")
	errDeep   = errors.New("nested too deep")
	errText   = errors.New("not one strict JSON text")
	errNumber = errors.New("a number of too many digits")
)

// Most of a number: its text, and the power of ten. Beyond that exact arithmetic
// is what an attacker would have us do.
const (
	maxNumber   = 128
	maxExponent = 1000
)

// A census counts what a text is made of, before anything is built of it. Two
// members of one name and broken UTF-8 are refused: readers differ on them.
type census struct{ nodes, values int }

func (c *census) take(text []byte, size, depth int) error {
	if len(text) > size {
		return errLong
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	for first := true; ; first = false {
		t, err := d.ReadToken()
		switch {
		case errors.Is(err, io.EOF) && !first:
			return nil
		case err != nil, !first && d.StackDepth() == 0 && t.Kind() != '}' && t.Kind() != ']':
			return errText
		}
		c.values++ // names and ends too
		switch t.Kind() {
		case '{', '[':
			c.nodes++
			if d.StackDepth() > depth {
				return errDeep
			}
		case '0':
			if !plainNumber(t.String()) {
				return errNumber
			}
		}
	}
}

func plainNumber(s string) bool {
	if len(s) > maxNumber {
		return false
	}
	i := strings.IndexAny(s, "eE")
	if i < 0 {
		return true
	}
	n := 0
	for _, c := range []byte(strings.TrimLeft(s[i+1:], "+-")) {
		if n = 10*n + int(c-'0'); n > maxExponent {
			return false
		}
	}
	return true
}

// A meter counts what a check costs, and ends it when there is none left.
type meter struct {
	left     int
	patterns *purse // of the check that runs
	loose    bool   // what an expression cannot tell it lets pass
	choice   int    // by how much the largest enum or const of the schema makes each look at a value dearer
}

var errSpent = errors.New("shape: spent")

func (m *meter) spend(n int) {
	if m.left -= n * m.choice; m.left < 0 {
		panic(errSpent)
	}
}

// dear tells whether one look at each value costs too much already. The library
// counts nothing while it compares with the choices of an enum.
func (m *meter) dear(values, steps int) bool { return values > 4*steps/m.choice }

// counting is a vocabulary without words: it is there for every schema object,
// and has what the library does with one counted.
func counting(m *meter) *jsonschema.Vocabulary {
	m.choice = 1
	return &jsonschema.Vocabulary{
		URL: base + "meter",
		Compile: func(_ *jsonschema.CompilerContext, obj map[string]any) (jsonschema.SchemaExt, error) {
			n := 1
			for word, v := range obj {
				switch v := v.(type) {
				case []any:
					n += len(v)
				case map[string]any:
					n += len(v)
				}
				if word == "enum" || word == "const" {
					m.choice = max(m.choice, 1+weight(v)/64)
				}
			}
			patterns, _ := obj["patternProperties"].(map[string]any)
			unique, _ := obj["uniqueItems"].(bool)
			return &toll{m, n, 1 + len(patterns), unique}, nil
		},
	}
}

// weight is about what it costs to compare a value, in comparisons of short
// strings.
func weight(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			n += weight(x)
		}
	case []any:
		for _, x := range v {
			n += weight(x)
		}
	case string:
		n += len(v) / 64
	case nil, bool:
	default:
		n = 16
	}
	return n
}

// A toll is what one schema object costs each time: its own words, and its words
// for members times those that there are.
type toll struct {
	m         *meter
	own, each int
	unique    bool
}

// Validate implements jsonschema.SchemaExt.
func (t *toll) Validate(_ *jsonschema.ValidatorContext, v any) {
	n := t.own
	switch v := v.(type) {
	case map[string]any:
		n += t.each * len(v)
	case []any:
		n += len(v)
		if t.unique {
			n += weight(v)
		}
	case string:
		n += len(v) / 256
	}
	t.m.spend(n)
}
