package args_test

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/labels/args"
)

// FuzzParse holds the reading against jsontext's: the same texts, the same tokens.
func FuzzParse(f *testing.F) {
	for _, s := range refused {
		f.Add([]byte(s))
	}
	f.Add([]byte(`{"a":[1,-0.5e+3,"x\u0061\n",true,false,null,{},[]],"b":{"c":"\ud83d\ude00é😀12345678"}," ":"{\"a\":[\"{}\"]}"}`))
	f.Add([]byte(` { "a" : "\"\\\/\b\f\n\r\t" , "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\\" : "bbbbbbb\"bbbbbbbb\u00e9" } `))
	f.Fuzz(func(t *testing.T, raw []byte) {
		want := jsontext.Value(raw).IsValid() && jsontext.Value(raw).Kind() == '{' && !deep(raw)
		tree, err := args.Parse(raw)
		if (err == nil) != want {
			t.Fatalf("%q: %v, jsontext says %v", raw, err, want)
		}
		if err != nil {
			return
		}
		defer tree.Release()
		same(t, jsontext.NewDecoder(bytes.NewBuffer(raw)), tree.Root())
		tree.Root().Walk(func(v args.Value) bool {
			_, _, _ = v.Pointer(), v.Key(), v.Next()
			if p := v.Parent(); p.Kind() == '{' || p.Kind() == '[' {
				found := false
				for name, x := range p.All() {
					found = found || x == v && name == v.Name()
				}
				if !found {
					t.Fatalf("%s is not below its parent", v.Pointer())
				}
			}
			return true
		})
	})
}

func deep(raw []byte) bool {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw))
	for {
		if _, err := d.ReadToken(); err != nil {
			return false
		}
		if d.StackDepth() > 128 {
			return true
		}
	}
}

func same(t *testing.T, d *jsontext.Decoder, v args.Value) {
	tok, err := d.ReadToken()
	if err != nil || byte(tok.Kind()) != v.Kind() {
		t.Fatalf("%s is a %c, the token %v", v.Raw(), v.Kind(), tok.Kind())
	}
	switch v.Kind() {
	case '"':
		if v.Text() != tok.String() {
			t.Fatalf("%q is %q", tok.String(), v.Text())
		}
	case '0':
		if string(v.Number()) != tok.String() {
			t.Fatalf("%s is %s", tok.String(), v.Number())
		}
	case '{', '[':
		n := 0
		for name, x := range v.All() {
			if n++; v.Kind() == '{' {
				if tok, err := d.ReadToken(); err != nil || tok.String() != name {
					t.Fatalf("%q is named %q", tok.String(), name)
				}
			}
			same(t, d, x)
		}
		if tok, err := d.ReadToken(); err != nil || tok.Kind() != '}' && tok.Kind() != ']' || n != v.Len() {
			t.Fatalf("%s has %d parts, not %d", v.Raw(), v.Len(), n)
		}
	}
}
