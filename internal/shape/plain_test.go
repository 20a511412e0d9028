package shape

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func mustShape(t testing.TB, schema string) *Shape {
	t.Helper()
	s, err := New(Limits{}).Of([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What tools declare and return as a rule is judged without the library.
func TestOrdinarySchemasAreReadQuickly(t *testing.T) {
	const draft7 = `"$schema":"http://json-schema.org/draft-07/schema#",`
	for _, c := range []struct{ schema, value string }{
		{`true`, ` {"a":[1,"x",null]} `},
		{`{"type":"object"}`, `{"a":[]}`},
		{`{` + draft7 + `"type":"object","properties":{"a":{"type":"string","format":"email"}},"required":["a"],"additionalProperties":false}`, `{"a":"x"}`},
		{`{"$defs":{"p":{"type":"number"}},"properties":{"a":{"$ref":"#/$defs/p"}}}`, `{"a":1.5}`},
		{`{` + draft7 + `"definitions":{"p":{"type":"number"}},"properties":{"a":{"$ref":"#/definitions/p","type":"string"}}}`, `{"a":1}`},
		{`{"anyOf":[{"type":"string","maxLength":2},{"type":"null"}],"default":null,"title":"T"}`, `null`},
		{`{"oneOf":[{"type":"string"},{"type":["integer","boolean"]}]}`, `true`},
		{`{"properties":{"next":{"$ref":"#"},"v":{"type":"integer"}}}`, `{"next":{"next":{"v":3.0}}}`},
		{`{"items":{"enum":["a","b",1,null,true]}}`, `["a","\u0062",1,null,true]`},
		{`{"const":"a"}`, `"a"`},
		{`{"minimum":0,"maximum":1}`, `1.0`},
		{`{"exclusiveMinimum":0,"exclusiveMaximum":0.3}`, `0.1`},
		{`{"minLength":1,"maxLength":2,"pattern":"^[^ ]+$"}`, `"\ud83d\ude00é"`},
		{`{"additionalProperties":{"type":"integer"},"minProperties":1,"maxProperties":2}`, `{"a":1,"b":2}`},
		{`{"items":{"type":"string"},"minItems":1,"maxItems":2}`, `["a"]`},
		{`{"required":["a"],"allOf":[{"properties":{"a":{"type":"string"}}}],"x-mine":1}`, `{"\u0061":"x","b":{}}`},
	} {
		s := mustShape(t, c.schema)
		if !s.quickly([]byte(c.value), ample()) {
			t.Errorf("%s is left to the library for %s", c.value, c.schema)
		}
		if err := s.slowly([]byte(c.value), ample()); err != nil {
			t.Errorf("the library says %v of %s for %s", err, c.value, c.schema)
		}
	}
}

// What does not fit, or is beyond bounds, never passes quickly.
func TestNothingElsePassesQuickly(t *testing.T) {
	for _, c := range []struct{ schema, value string }{
		{`false`, `1`}, {`true`, ``}, {`true`, `{} {}`}, {`true`, `{"a":1,"a":1}`}, {`true`, "\"\xff\""}, {`true`, `1e5`},
		{`true`, strings.Repeat("1", 129)}, {`true`, `[-` + strings.Repeat("1", 128) + `]`}, {`true`, strings.Repeat("[", 65) + strings.Repeat("]", 65)},
		{`{"type":"string"}`, `1`}, {`{"type":"integer"}`, `1.5`}, {`{"type":"integer"}`, `"1"`}, {`{"type":"boolean"}`, `null`}, {`{"type":"null"}`, `false`},
		{`{"type":"array"}`, `{}`}, {`{"type":"object"}`, `[]`}, {`{"type":"number"}`, `true`},
		{`{"enum":["1",true]}`, `1`}, {`{"enum":[1]}`, `"1"`}, {`{"enum":["a"]}`, `["a"]`}, {`{"const":"a"}`, `{}`}, {`{"const":null}`, `"null"`},
		{`{"required":["a"]}`, `{"b":1}`}, {`{"required":["a","b"]}`, `{"a":1}`}, {`{"properties":{"a":{}},"additionalProperties":false}`, `{"a":1,"b":1}`},
		{`{"properties":{"a":{"type":"string"}}}`, `{"\u0061":1}`}, {`{"additionalProperties":{"type":"string"}}`, `{"a":1}`},
		{`{"items":{"type":"string"}}`, `["a",1]`}, {`{"minItems":1}`, `[]`}, {`{"maxItems":1}`, `[1,2]`}, {`{"minProperties":1}`, `{}`}, {`{"maxProperties":1}`, `{"a":1,"b":1}`},
		{`{"minLength":2}`, `"\ud83d\ude00"`}, {`{"maxLength":1}`, `"ab"`}, {`{"pattern":"^a$"}`, `"b"`}, {`{"pattern":"(?=a)"}`, `"a"`}, {`{"pattern":"^\\S$"}`, `"\u00a0"`},
		{`{"minimum":1}`, `0.99999999999999999999`}, {`{"maximum":0.1}`, `0.10000000000000000001`}, {`{"exclusiveMinimum":1}`, `1.0`}, {`{"exclusiveMaximum":0.1}`, `0.1`},
		{`{"maximum":9007199254740992}`, `9007199254740993`}, {`{"multipleOf":2}`, `3`}, {`{"uniqueItems":true}`, `[1,1]`}, {`{"not":{}}`, `1`},
		{`{"anyOf":[{"type":"string"},{"minimum":3}]}`, `1`}, {`{"oneOf":[{"type":"number"},{"type":"integer"}]}`, `1`}, {`{"oneOf":[{},{}]}`, `1`},
		{`{"allOf":[{"type":"number"},{"maximum":0}]}`, `1`}, {`{"anyOf":[{"type":"number"}],"oneOf":[{"type":"string"}]}`, `1`},
		{`{"$ref":"#"}`, `1`}, {`{"anyOf":[{"$ref":"#"}]}`, `1`}, {`{"prefixItems":[{"type":"string"}]}`, `[1]`}, {`{"contains":{"type":"string"}}`, `[1]`},
		{`{"patternProperties":{"^a":{"type":"string"}}}`, `{"a":1}`}, {`{"propertyNames":{"maxLength":1}}`, `{"ab":1}`}, {`{"if":{},"then":false}`, `1`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`}, {`{"dependentSchemas":{"a":false}}`, `{"a":1}`}, {`{"unevaluatedProperties":false}`, `{"a":1}`}, {`{"unevaluatedItems":false}`, `[1]`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}]}`, `[1]`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"]}}`, `{"a":1}`},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}`, `1`},
		{`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, `{"pattern":1}`},
		{`{"$dynamicRef":"#a","$defs":{"x":{"$dynamicAnchor":"a","type":"string"}}}`, `1`},
	} {
		s := mustShape(t, c.schema)
		if s.quickly([]byte(c.value), ample()) {
			t.Errorf("%s passes for %s", c.value, c.schema)
		}
		if err := s.slowly([]byte(c.value), ample()); err == nil && c.value != `1e5` { // which is right, and rare
			t.Errorf("the library lets %s pass for %s", c.value, c.schema)
		}
	}
}

// FuzzPlain holds the quick answer against the library's.
func FuzzPlain(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#"},"b":{"enum":["x",1]}},"required":["b"]}`, `{"a":{"b":1},"b":"x"}`)
	f.Add(`{"anyOf":[{"type":"integer","minimum":0.5,"exclusiveMaximum":7},{"type":"null"},{"maxLength":3}],"minItems":1}`, `0.50`)
	f.Add(`{"$schema":"http://json-schema.org/draft-07/schema#","oneOf":[{"type":"string"},{"type":"array","items":{"const":1}}],"additionalProperties":{"type":"null"}}`, `[1,1.0]`)
	f.Add(`{"$schema":"http://json-schema.org/draft-04/schema#","type":"integer","minimum":1,"exclusiveMinimum":true}`, `1.0`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		s, err := New(Limits{Steps: 1 << 14}).Of([]byte(schema))
		if err != nil || !s.quickly([]byte(value), ample()) {
			return
		}
		if err := s.slowly([]byte(value), ample()); errors.Is(err, ErrUnfit) {
			t.Errorf("%s passes for %s: %v", value, schema, err)
		}
	})
}

// rows are so many bytes of structured content as tools return it.
func rows(size int) []byte {
	b := []byte(`{"rows":[`)
	for i := 0; len(b) < size; i++ {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"id":%d,"title":"Issue number %d of this list","state":"opened","author":"somebody","score":0.25,"labels":["a","b"]}`, i, i)
	}
	return append(b, `]}`...)
}

const rowsSchema = `{"type":"object","properties":{"rows":{"type":"array","items":{"type":"object","properties":{
	"id":{"type":"integer"},"title":{"type":"string"},"state":{"enum":["opened","closed"]},"author":{"type":"string"},
	"score":{"type":"number","minimum":0,"maximum":1},"labels":{"type":"array","items":{"type":"string"}}},
	"required":["id","title"],"additionalProperties":false}}},"required":["rows"]}`

func BenchmarkCheck100kB(b *testing.B) {
	s := mustShape(b, rowsSchema)
	bench(b, s.Check)
}

// BenchmarkLibrary100kB is what the same costs where the library has the word.
func BenchmarkLibrary100kB(b *testing.B) {
	s := mustShape(b, rowsSchema)
	bench(b, func(v []byte) error { return s.slowly(v, ample()) })
}

func bench(b *testing.B, check func([]byte) error) {
	v := rows(100_000)
	b.SetBytes(int64(len(v)))
	b.ReportAllocs()
	for b.Loop() {
		if err := check(v); err != nil {
			b.Fatal(err)
		}
	}
}
