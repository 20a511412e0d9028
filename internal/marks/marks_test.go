package marks_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/internal/marks"
)

func ExampleParts() {
	b := []byte(`{ "a": [1, 2], "b\"": {"c": null} }`)
	end := marks.Parts(b, 0, func(name []byte, value int) int {
		after := marks.Value(b, value)
		fmt.Printf("%s is %s\n", marks.Text(name), b[value:after])
		return after
	})
	fmt.Println(end == len(b))
	// Output:
	// a is [1, 2]
	// b" is {"c": null}
	// true
}

// Strings end where their end is, however their escapes lie to the steps of the scan.
func TestString(t *testing.T) {
	end := func(b []byte) int { // one byte after the other
		for i := 1; i < len(b); i++ {
			switch b[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
		return len(b)
	}
	for plain := range 130 {
		for _, c := range []string{`\\`, `\"`, `\\\"`, `\\"`, `\n`, "é", `\u0022`, `\`, ``} {
			x := strings.Repeat("x", plain)
			for _, s := range []string{x + c, c + x, c + x + c + x, x + c + c + x + c} {
				b := []byte(`"` + s + `":"more"`)
				for _, b := range [][]byte{b, b[:1+len(s)]} {
					if got := marks.String(b, 0); got != end(b) {
						t.Fatalf("%s ends at %d, not at %d", b, got, end(b))
					}
				}
			}
		}
	}
}

// FuzzParts reads what is strict as the decoder does, and survives what is not.
func FuzzParts(f *testing.F) {
	for _, s := range []string{`{}`, `[]`, `[1,"a\\",{"b":[]},true , null]`, `{"a\u0062":"\\\"","c" : -1.5e3 ,"d":{}}`, `"x"`, `-0`, `{"a`, `[,]`, `{:}`, ` [ ] `, `[`, ``} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b := []byte(text)
		at := marks.Space(b, 0)
		var got []string
		end := marks.Parts(b, at, func(name []byte, value int) int {
			if name != nil {
				got = append(got, string(marks.Text(name)))
			}
			after := marks.Value(b, value)
			if after <= value || after > len(b) {
				t.Fatalf("from %d to %d of %d", value, after, len(b))
			}
			got = append(got, string(b[value:after]))
			return after
		})
		v := jsontext.Value(b)
		if !v.IsValid() {
			return
		}
		if after := marks.Value(b, at); marks.Space(b, after) != len(b) {
			t.Fatalf("the value ends at %d of %d", after, len(b))
		}
		if k := v.Kind(); k != '{' && k != '[' {
			return
		}
		if marks.Space(b, end) != len(b) {
			t.Fatalf("ended at %d of %d", end, len(b))
		}
		if want := parts(t, text); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func parts(t *testing.T, text string) (out []string) {
	d := jsontext.NewDecoder(strings.NewReader(text))
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() != '}' && d.PeekKind() != ']' {
		if name, n := d.StackIndex(1); name == '{' && n%2 == 0 {
			var tok jsontext.Token
			if tok, err = d.ReadToken(); err == nil {
				out = append(out, tok.String())
			}
			continue
		}
		var v jsontext.Value
		if v, err = d.ReadValue(); err == nil {
			out = append(out, string(v))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}
