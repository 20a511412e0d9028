package shape

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A maker draws schemas and values of few words, so that they meet.
type maker struct{ *rand.Rand }

func (m maker) of(all ...string) string { return all[m.IntN(len(all))] }

// ample is what patterns cost in no test.
func ample() *purse { return &purse{1 << 40} }

func (m maker) scalar() string {
	return m.of(`"a"`, `"ab"`, `"\u0061"`, `"😀"`, `""`, `1`, `1.0`, `0`, `-0`, `0.5`, `0.50`, `2`, `9007199254740993`, `true`, `false`, `null`)
}

func (m maker) value(depth int) string {
	var parts []string
	switch n := m.IntN(6); {
	case depth > 0 && n < 2:
		for _, name := range []string{`"a"`, `"b"`, `"\u0063"`} {
			if m.IntN(2) == 0 {
				parts = append(parts, name+m.of(":", " : ")+m.value(depth-1))
			}
		}
		return "{" + strings.Join(parts, ",") + m.of("", " ") + "}"
	case depth > 0 && n < 3:
		for range m.IntN(4) {
			parts = append(parts, m.value(depth-1))
		}
		return "[" + strings.Join(parts, " , ") + "]"
	}
	return m.scalar()
}

func (m maker) list(depth int) string {
	out := m.schema(depth)
	for range m.IntN(3) {
		out += "," + m.schema(depth)
	}
	return "[" + out + "]"
}

func (m maker) schema(depth int) string {
	if depth <= 0 || m.IntN(9) == 0 {
		return m.of(`true`, `{}`, `{"type":"string"}`, `{"type":"integer"}`, `{"type":["number","null"]}`, `{"type":"boolean"}`, `{"$ref":"#"}`, `{"$ref":"#/definitions/d"}`)
	}
	d := depth - 1
	words := []func() string{
		func() string {
			return `"type":` + m.of(`"object"`, `"array"`, `"string"`, `"number"`, `"integer"`, `["object","null","string"]`, `["integer","array"]`)
		},
		func() string { return fmt.Sprintf(`"properties":{"a":%s,"c":%s}`, m.schema(d), m.schema(d)) },
		func() string { return `"required":["` + m.of("a", "b", "c") + `"]` },
		func() string { return `"additionalProperties":` + m.of("false", "true", m.schema(d)) },
		func() string { return `"` + m.of("min", "max") + `Properties":` + m.of("0", "1", "2") },
		func() string { return `"items":` + m.of(m.schema(d), m.schema(d), m.list(d)) },
		func() string { return `"` + m.of("min", "max") + `Items":` + m.of("0", "1", "2") },
		func() string { return `"enum":[` + m.scalar() + `,{"a":1},` + m.scalar() + `]` },
		func() string { return `"const":` + m.value(1) },
		func() string { return `"` + m.of("min", "max") + `Length":` + m.of("0", "1", "2") },
		func() string { return `"pattern":` + m.of(`"^a"`, `"^\\S+$"`, `"(?=a)"`) },
		func() string { return `"` + m.of("minimum", "maximum", "multipleOf") + `":` + m.of("1", "0.5", "2") },
		func() string { return `"exclusive` + m.of("Minimum", "Maximum") + `":` + m.of("0", "0.5", "true") },
		func() string { return `"` + m.of("allOf", "anyOf", "oneOf", "anyOf") + `":` + m.list(d) },
		func() string {
			return `"` + m.of("not", "propertyNames", "contains", "unevaluatedProperties", "if") + `":` + m.schema(d)
		},
		func() string { return `"uniqueItems":true` },
	}
	m.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	var out []string
	for _, w := range words[:1+m.IntN(3)] {
		out = append(out, w())
	}
	return "{" + strings.Join(out, ",") + "}"
}

// Whatever passes quickly fits, as the library has it, in every draft.
func TestQuickAgreesWithTheLibrary(t *testing.T) {
	m := maker{rand.New(rand.NewPCG(4, 2026))}
	passed, left := 0, 0
	for range 6000 {
		draft := m.of("", "", `"$schema":"http://json-schema.org/draft-07/schema#",`, `"$schema":"http://json-schema.org/draft-04/schema#",`, `"$schema":"https://json-schema.org/draft/2019-09/schema",`)
		text := `{` + draft + `"definitions":{"d":` + m.schema(1) + `},` + m.of(`"allOf":[`, `"anyOf":[`, `"oneOf":[`) + m.schema(3) + `]}`
		s, err := New(Limits{Steps: 1 << 12}).Of([]byte(text))
		if err != nil {
			continue
		}
		for range 12 {
			v := m.value(3)
			err := s.slowly([]byte(v), ample())
			switch quick := s.quickly([]byte(v), ample()); {
			case quick && errors.Is(err, ErrUnfit):
				t.Fatalf("%s passes for %s: %v", v, text, err)
			case quick:
				passed++
			case err == nil:
				left++
			}
		}
	}
	if passed < 3000 { // else it says nothing
		t.Errorf("only %d passed; %d that fit were left to the library", passed, left)
	}
}
