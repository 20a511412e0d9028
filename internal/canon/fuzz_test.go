package canon

import (
	"bytes"
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

var seeds = []string{
	`{"b":1,"a":[null,true,false,{"x":"\u00e9\/\ud83d\ude00"}]}`, `1e21`, `-0.0`, `9007199254740993`, `0.1`, `1E-7`,
	`{"\ud83d\ude00":1,"\ufb33":2,"\u20ac":3}`, `"\b\f\n\r\t\"\\\u001f"`, `[[[[]]],{}]`, ` { "a" : 1 , "b" : [ ] } `,
	`{"a":1,"\u0061":2}`, `"\ud800"`, `"\u0000"`, "\ufeff1", `333333333.33333329`, `1e400`, `{"a":{"b":{"a":1}},"b":2}`,
}

// FuzzJSON: the canonical form is JSON of the same meaning, valid UTF-8, and its
// own canonical form; another implementation makes the same of it.
func FuzzJSON(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		before := bytes.Clone(in)
		out, err := JSON(in, Limits{})
		if !bytes.Equal(in, before) {
			t.Fatal("the input was changed")
		}
		if err != nil {
			return
		}
		again, err := JSON(out, Limits{})
		if err != nil || !bytes.Equal(again, out) {
			t.Fatalf("not idempotent: %q, then %q, %v", out, again, err)
		}
		if !utf8.Valid(out) {
			t.Fatalf("not UTF-8: %q", out)
		}
		if !reflect.DeepEqual(meaning(t, in), meaning(t, out)) {
			t.Fatalf("%q does not mean %q", out, in)
		}
		// jsontext reads numbers as float64, so it is asked about our form, in
		// which only integers that a float64 would change could differ.
		other := jsontext.Value(bytes.Clone(out))
		if err := other.Canonicalize(jsontext.CanonicalizeRawInts(false)); err != nil || !bytes.Equal(other, out) {
			t.Fatalf("jsontext makes %q of %q, %v", other, out, err)
		}
	})
}

// meaning reads JSON with the standard library, numbers by their exact value.
func meaning(t *testing.T, in []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(in))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("encoding/json refuses %q: %v", in, err)
	}
	return exact(v)
}

func exact(v any) any {
	switch v := v.(type) {
	case json.Number:
		// big.Rat would spend gigabytes on 0e999999999.
		mantissa, _, _ := strings.Cut(strings.ToLower(string(v)), "e")
		if strings.Trim(mantissa, "-0.") == "" {
			return "0"
		}
		r, ok := new(big.Rat).SetString(string(v))
		if !ok {
			return string(v)
		}
		return r.RatString()
	case []any:
		for i := range v {
			v[i] = exact(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = exact(v[k])
		}
	}
	return v
}

// FuzzUnmarshal: no panic, and what decodes has a canonical form.
func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte(`{"aud":"a","gen":3,"level":"high","list":[1],"inner":{"x":"y"}}`))
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var v claimsLike
		if err := Unmarshal(in, &v, Limits{}); err != nil {
			return
		}
		if _, err := JSON(in, Limits{}); err != nil {
			t.Fatalf("decoded, and has no canonical form: %v", err)
		}
	})
}
