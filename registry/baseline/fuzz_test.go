package baseline

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzDocument reads any text as the document of a baseline: what is not one is
// refused, and what is has every item well-formed and once.
func FuzzDocument(f *testing.F) {
	f.Add([]byte(`{"origin":"stdio:x@a","revision":1}`))
	f.Add([]byte(`{"origin":"stdio:x@a","revision":1,"accepted":[{"kind":"tool","name":"a"}],"pending":[{}]}`))
	f.Add([]byte(`{"revision":18446744073709551616}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		doc, err := parseDocument(body)
		if err != nil {
			return
		}
		b := &Baseline{origin: doc.Origin, accepted: map[Key]*Accepted{}, pending: map[Key]*Pending{}}
		if err := b.fill(doc); err != nil {
			return
		}
		for k, a := range b.accepted {
			if a == nil || k.Name == "" && k.Kind == "tool" {
				t.Errorf("%v was taken", k)
			}
		}
	})
}

// FuzzDiff compares any two definitions of a hostile server: the review is bounded,
// and holds nothing that a terminal obeys or that a person cannot see.
func FuzzDiff(f *testing.F) {
	f.Add(`{"name":"a","description":"x"}`, `{"name":"a","description":"\u202ey\u001b[8m\ud83d\ude80"}`)
	f.Add(`{"a":[1,{"b":null}]}`, `{"a":[1.0,{"b":0}],"\u200b":1}`)
	f.Add(`[`, "\xff")
	f.Fuzz(func(t *testing.T, old, new string) {
		changes := Diff(jsontext.Value(old), jsontext.Value(new))
		if len(changes) > maxChanges+1 {
			t.Fatalf("%d changes", len(changes))
		}
		for _, c := range changes {
			for _, s := range []string{c.Path, c.Old, c.New} {
				bad := func(r rune) bool {
					return r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u200b' || r >= 0xe0000 && r <= 0xe007f
				}
				if i := strings.IndexFunc(s, bad); i >= 0 && !strings.HasPrefix(s[i:], "\ufffd") {
					t.Fatalf("%+q is shown as it is", s)
				}
			}
		}
	})
}
