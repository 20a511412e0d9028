package shape_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/pratique-dev/pratique/internal/shape"
)

func ExampleShape_Check() {
	s, err := shape.New(shape.Limits{}).Of([]byte(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Check([]byte(`{"n":90071992547409931}`)))
	fmt.Println(s.Check([]byte(`{"n":"many"}`)))
	// Output:
	// <nil>
	// shape: the value does not fit the schema: type at "/n"
}

const (
	fits      = "fits"
	unfit     = "unfit"
	undecided = "undecided"
)

func said(err error) string {
	switch {
	case err == nil:
		return fits
	case errors.Is(err, shape.ErrUnfit):
		return unfit
	case errors.Is(err, shape.ErrUndecided):
		return undecided
	}
	return err.Error()
}

func TestCheck(t *testing.T) {
	const draft7 = `"$schema":"http://json-schema.org/draft-07/schema#",`
	for _, c := range []struct{ name, schema, value, want, path string }{
		{"true", `true`, `{"a":1}`, fits, ""},
		{"false", `false`, `1`, unfit, ""},
		{"closed", `{"type":"object","properties":{"a":{}},"additionalProperties":false}`, `{"a":1,"b":2}`, unfit, ""},
		{"draft-07 as zod sends it", `{` + draft7 + `"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`, `{"a":"x"}`, fits, ""},
		{"draft-07 definitions", `{` + draft7 + `"definitions":{"p":{"type":"number"}},"properties":{"a":{"$ref":"#/definitions/p"}}}`, `{"a":"x"}`, unfit, "/a"},
		{"draft-07 tuples", `{` + draft7 + `"items":[{"type":"string"},{"type":"number"}],"additionalItems":false}`, `["a",1,2]`, unfit, ""},
		{"2020 tuples", `{"prefixItems":[{"type":"string"}],"items":{"type":"number"}}`, `["a",1,"b"]`, unfit, "/2"},
		{"2020 $defs", `{"$defs":{"p":{"type":"number"}},"properties":{"a":{"$ref":"#/$defs/p"}}}`, `{"a":1}`, fits, ""},
		{"anchors", `{"$defs":{"p":{"$anchor":"q","type":"number"}},"properties":{"a":{"$ref":"#q"}}}`, `{"a":"x"}`, unfit, "/a"},
		{"recursion", `{"properties":{"next":{"$ref":"#"},"v":{"type":"integer"}}}`, `{"next":{"next":{"v":"x"}}}`, unfit, "/next/next/v"},
		{"unevaluated", `{"anyOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}],"unevaluatedProperties":false}`, `{"a":1,"c":1}`, unfit, "/c"},
		{"large integers", `{"const":9007199254740993}`, `9007199254740992`, unfit, ""},
		{"large integers are integers", `{"type":"integer"}`, `123456789012345678901234567890`, fits, ""},
		{"1.0 is an integer", `{"type":"integer"}`, `1.0`, fits, ""},
		{"decimals are decimal", `{"multipleOf":0.01}`, `19.99`, fits, ""},
		{"decimals beyond a float", `{"maximum":0.1}`, `0.10000000000000000001`, unfit, ""},
		{"null", `{"type":["string","null"]}`, `null`, fits, ""},
		{"format is a note", `{` + draft7 + `"type":"string","format":"email"}`, `"nobody"`, fits, ""},
		{"format regex is a note", `{` + draft7 + `"type":"string","format":"regex"}`, `"("`, fits, ""},
		{"format of one's own", `{"format":"made-up"}`, `"x"`, fits, ""},
		{"a member called format", `{"properties":{"format":{"type":"integer"}}}`, `{"format":"x"}`, unfit, "/format"},
		{"pattern", `{"pattern":"^[a-z]+$"}`, `"A"`, unfit, ""},
		{"pattern beyond Go's", `{"pattern":"(?=a)a"}`, `"b"`, undecided, ""},
		{"beyond Go's and not met", `{"properties":{"a":{"pattern":"(?=a)a"},"b":{"type":"string"}}}`, `{"b":1}`, unfit, "/b"},
		{"spaces beyond ASCII", `{"pattern":"^\\S+$"}`, `"a\u00a0b"`, undecided, ""},
		{"runes are characters", `{"maxLength":1}`, `"😀"`, fits, ""},
		{"goes round", `{"$ref":"#"}`, `1`, undecided, ""},
		{"goes round in a branch", `{"anyOf":[{"$ref":"#"}]}`, `1`, undecided, ""},
		{"unknown words", `{"x-mine":{"y":[1]},"type":"string"}`, `"x"`, fits, ""},
		{"a power of ten", `{"minimum":0}`, `1e999999999`, undecided, ""},
		{"a long number", `{"minimum":0}`, strings.Repeat("1", 129), undecided, ""},
		{"twice the name", `{"properties":{"a":{"type":"string"}}}`, `{"a":1,"a":"x"}`, undecided, ""},
		{"two values", `true`, `{} {}`, undecided, ""},
		{"no value", `true`, ``, undecided, ""},
		{"broken UTF-8", `true`, "\"\xff\"", undecided, ""},
		{"deep", `true`, strings.Repeat("[", 65) + strings.Repeat("]", 65), undecided, ""},
		{"pointer", `{"properties":{"a/b~":{"type":"string"}}}`, `{"a/b~":1}`, unfit, "/a~1b~0"},
		{"one of", `{"oneOf":[{"type":"string"},{"const":1}]}`, `2`, unfit, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := shape.New(shape.Limits{}).Of([]byte(c.schema))
			if err != nil {
				t.Fatal(err)
			}
			err = s.Check([]byte(c.value))
			if got := said(err); got != c.want {
				t.Fatalf("got %s (%v), want %s", got, err, c.want)
			}
			if f, ok := errors.AsType[*shape.Fault](err); ok && f.Path != c.path {
				t.Errorf("the fault is at %q, want %q", f.Path, c.path)
			}
		})
	}
}

// Nothing outside of a schema is ever loaded: no file, no address, no other
// schema that was compiled before.
func TestNothingIsLoaded(t *testing.T) {
	s := shape.New(shape.Limits{})
	if _, err := s.Of([]byte(`{"$id":"https://a.example/s","type":"string"}`)); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{
		`https://a.example/s`, `http://127.0.0.1:1/s`, `file:///etc/passwd`, `other.json`, `/etc/passwd`, `//a.example/s`,
		`https://json-schema.org/draft/2099-01/schema`,
	} {
		for _, text := range []string{
			`{"$ref":"` + ref + `"}`, `{"properties":{"a":{"$ref":"` + ref + `"}}}`, `{"$dynamicRef":"` + ref + `#x"}`, `{"$schema":"` + ref + `"}`,
		} {
			if _, err := s.Of([]byte(text)); !errors.Is(err, shape.ErrReference) {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
	// The schemas of schemas are in the program.
	for _, text := range []string{`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, `{"$schema":"https://json-schema.org/draft/2019-09/schema"}`} {
		if _, err := s.Of([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestSchemasThatAreNone(t *testing.T) {
	s := shape.New(shape.Limits{})
	for _, text := range []string{
		``, `null`, `1`, `[]`, `"x"`, `{`, `{"type":1}`, `{"type":"strange"}`, `{"properties":[]}`, `{"minimum":"a"}`, `{"a":1,"a":2}`,
		`{"$ref":"#/$defs/none"}`, `{"$ref":"#none"}`, `{"minimum":1e99999}`, strings.Repeat(`{"not":`, 65) + `{}` + strings.Repeat(`}`, 65),
		`{"enum":[` + strings.Repeat(`{},`, 5000) + `1]}`, `{"description":"` + strings.Repeat("x", 256<<10) + `"}`,
		`{"$id":"a"}{"$id":"b"}`, `{"$defs":{"a":{"$id":"x"},"b":{"$id":"x"}}}`, `{"$ref":"%zz"}`,
	} {
		for range 2 { // the second time from what is kept
			if _, err := s.Of([]byte(text)); !errors.Is(err, shape.ErrSchema) {
				t.Errorf("%.60s: %v", text, err)
			}
		}
	}
}

// However a schema and a value are made, a check ends soon, and one that was
// ended says so.
func TestCostIsBounded(t *testing.T) {
	var doubling strings.Builder
	for i := range 40 {
		fmt.Fprintf(&doubling, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	defs := `{"$defs":{` + doubling.String() + `"d40":%s},"$ref":"#/$defs/d0"}`
	wide := `{"enum":[` + strings.Repeat(`[1,2,3,4,5,6,7,8,9],`, 4000) + `0]}`
	many := `[` + strings.Repeat(`[1,2,3,4,5,6,7,8,8],`, 100_000) + `0]`
	var bushes, patterns strings.Builder
	for i := range 100 {
		fmt.Fprintf(&patterns, `"%s^a":{"$ref":"#"},`, strings.Repeat("(?:)", i))
	}
	bushes.WriteString(strings.Repeat(`{"a":`, 60) + `1` + strings.Repeat(`}`, 60))
	for _, c := range []struct{ name, schema, value string }{
		{"doubling, true", fmt.Sprintf(defs, `{"type":"integer"}`), `1`},
		{"doubling, false", strings.ReplaceAll(fmt.Sprintf(defs, `{"type":"string"}`), "allOf", "anyOf"), `1`},
		{"doubling below oneOf", strings.ReplaceAll(fmt.Sprintf(defs, `{"type":"string"}`), "allOf", "oneOf"), `1`},
		{"patterns upon patterns", `{"patternProperties":{` + patterns.String() + `"^b":{}}}`, bushes.String()},
		{"an enum for each", `{"items":` + wide + `}`, many},
		{"unique, again and again", fmt.Sprintf(defs, `{"uniqueItems":true}`), many},
		{"long text, again and again", strings.ReplaceAll(fmt.Sprintf(defs, `{"pattern":"(a|b|c)*d$"}`), "allOf", "anyOf"), `"` + strings.Repeat("abc", 500_000) + `"`},
		{"unevaluated, again and again", strings.ReplaceAll(fmt.Sprintf(defs, `{"properties":{"a":{}}}`), `"$ref":"#/$defs/d0"`, `"$ref":"#/$defs/d0","unevaluatedProperties":false`), `{"b":1,"a":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := shape.New(shape.Limits{Steps: 1 << 16}).Of([]byte(c.schema))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Check([]byte(c.value)); !errors.Is(err, shape.ErrUndecided) {
				t.Errorf("%v", err)
			}
		})
	}
}

// What is large and honest is decided.
func TestLargeHonestValues(t *testing.T) {
	s, err := shape.New(shape.Limits{}).Of([]byte(`{"type":"object","properties":{"rows":{"type":"array","items":{"type":"object",
		"properties":{"id":{"type":"integer"},"name":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}}},"required":["id"]}}},"required":["rows"]}`))
	if err != nil {
		t.Fatal(err)
	}
	row := `{"id":1,"name":"a name of some length","tags":["a","b"]}`
	if err := s.Check([]byte(`{"rows":[` + strings.Repeat(row+",", 20_000) + row + `]}`)); err != nil {
		t.Error(err)
	}
	if err := s.Check([]byte(`{"rows":[` + strings.Repeat(row+",", 20_000) + `{"id":"x"}]}`)); !errors.Is(err, shape.ErrUnfit) {
		t.Error(err)
	}
}

func TestShapesAreKept(t *testing.T) {
	s := shape.New(shape.Limits{Kept: 4096})
	a, err := s.Of([]byte(`{"type":"string"}`))
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := s.Of([]byte(`{"type":"string"}`)); a != b {
		t.Error("compiled twice")
	}
	for i := range 100 {
		if _, err := s.Of(fmt.Appendf(nil, `{"maxLength":%d}`, i)); err != nil {
			t.Fatal(err)
		}
	}
	if b, _ := s.Of([]byte(`{"type":"string"}`)); a == b {
		t.Error("kept for ever")
	}
}

func TestTogether(t *testing.T) {
	s := shape.New(shape.Limits{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 50 {
				sh, err := s.Of(fmt.Appendf(nil, `{"type":"array","maxItems":%d}`, j%5))
				if err != nil {
					t.Error(err)
					return
				}
				if got, want := said(sh.Check([]byte(`[1,2,3]`))), map[bool]string{true: fits, false: unfit}[j%5 >= 3]; got != want {
					t.Errorf("%d: %s, want %s", i, got, want)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzCheck(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"a":{}}`)
	f.Add(`{"patternProperties":{"^a":{"minLength":1}},"unevaluatedProperties":false}`, `{"a":"","b":1}`)
	f.Add(`{"$schema":"http://json-schema.org/draft-07/schema#","if":{"const":1},"then":false}`, `1`)
	f.Add(`{"$dynamicRef":"#a","$dynamicAnchor":"a","multipleOf":0.5}`, `1.5`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		s, err := shape.New(shape.Limits{Steps: 1 << 14}).Of([]byte(schema))
		if err != nil {
			if !errors.Is(err, shape.ErrSchema) && !errors.Is(err, shape.ErrReference) {
				t.Errorf("%v", err)
			}
			return
		}
		first := said(s.Check([]byte(value)))
		if first != fits && first != unfit && first != undecided {
			t.Error(first)
		}
		if again := said(s.Check([]byte(value))); again != first {
			t.Errorf("%s and then %s", first, again)
		}
	})
}
