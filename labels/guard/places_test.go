package guard

import (
	"slices"
	"testing"

	"github.com/pratique-dev/pratique/labels/args"
)

func TestPlacesOfArguments(t *testing.T) {
	for _, c := range []struct {
		name, text, place string
		want              []string
	}{
		{"a member", `{"to":"a","cc":"b"}`, "to", []string{`"a"`}},
		{"any depth and arrays", `{"mail":{"to":["a",["b"]]},"to":2}`, "to", []string{`"a"`, `"b"`, `2`}},
		{"a spelling that looks alike", `{"To":"a","tо":"b"}`, "to", []string{`"a"`, `"b"`}},
		{"JSON in a string", `{"o":"{\"to\":\"a\"}"}`, "to", []string{`"a"`}},
		{"a pointer", `{"to":"x","mail":{"to":"a"}}`, "/mail/to", []string{`"a"`}},
		{"a pointer to nothing", `{"to":"x"}`, "/mail/to", nil},
		{"none", `{"cc":"b"}`, "to", nil},
	} {
		tree, err := args.Parse([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		values, ok := Places(tree, c.place)
		var got []string
		for _, v := range values {
			got = append(got, string(v.Raw()))
		}
		if !ok || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q %v, want %q", c.name, got, ok, c.want)
		}
	}
	tree, err := args.Parse([]byte(`{"to":["a",{"eve@x.example":"a"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := Places(tree, "to"); ok {
		t.Error("the names of an object do not count")
	}
}
