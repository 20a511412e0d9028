package mcp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestWithout(t *testing.T) {
	for in, want := range map[string]string{
		``:                            ``,
		` 1`:                          ` 1`,
		`"dev.pratique/a"`:            `"dev.pratique/a"`,
		`{"a":"dev.pratique/a"}`:      `{"a":"dev.pratique/a"}`,
		`["dev.pratique/a",{ }]`:      `["dev.pratique/a",{ }]`,
		`{"dev.pratique/a":1}`:        `{}`,
		`{ "dev.pratique/a" : 1 }`:    `{}`,
		`{"dev.pratique/a":1, "b":2}`: `{ "b":2}`,
		`{"b":2 ,"dev.pratique/a":{"x":[1,"}"]} }`:                                                 `{"b":2 }`,
		`{"b":2,"dev.pratique/a":1,"Dev.Pratique/b":2, "c":3}`:                                     `{"b":2, "c":3}`,
		`{"dev.pratique/a":1,"dev.pratique/b":2,"c":3,"dev.pratique/c":[],"d":{}}`:                 `{"c":3,"d":{}}`,
		`{"dev.pratique/a":1,"dev.pratique/b":2}`:                                                  `{}`,
		`{"x":[{"dev.pratique/a":1},{"y":{"dev.\u0070ratique/a":1,"z":"dev.pratique/"}}],"w":"]"}`: `{"x":[{},{"y":{"z":"dev.pratique/"}}],"w":"]"}`,
		`[[{"a":[],"dev.pratique/a":"\"}"}],{"dev.pratique/a":{"dev.pratique/a":1}}]`:              `[[{"a":[]}],{}]`,
	} {
		v := jsontext.Value(in)
		got := Without(v, IsOurMeta)
		if string(got) != want || string(v) != in {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
		if len(in) > 0 && !got.IsValid() {
			t.Errorf("%s: %s", in, got)
		}
	}
}

// What is no JSON is answered with nonsense, and ends.
func FuzzWithout(f *testing.F) {
	for _, s := range []string{`{"dev.pratique/a":1,"b":[{"dev.pratique/a":2}]}`, `{"dev.pratique/a"`, `{"dev.pratique/a":`, `]},{"dev.pratique/a":1,`, `{"dev.pratique/a":,}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got := Without(b, IsOurMeta)
		if len(got) > len(b) {
			t.Errorf("%q: %q", b, got)
		}
		if jsontext.Value(b).IsValid() {
			if !got.IsValid() {
				t.Errorf("%q: %q", b, got)
			}
			if again := Without(got, IsOurMeta); string(again) != string(got) {
				t.Errorf("%q: %q, then %q", b, got, again)
			}
		}
	})
}

// wide is an object of n members, each with one of ours in it.
func wide(n int) jsontext.Value {
	b := []byte{'{'}
	for i := range n {
		b = fmt.Appendf(b, `"k%d":{"dev.pratique/a":1},`, i)
	}
	return append(b[:len(b)-1], '}')
}

// TestManyMembersCostWhatTheyAreLong: with a search through the set for each member,
// or a level read again for each level above it, this would not end in a day.
func TestManyMembersCostWhatTheyAreLong(t *testing.T) {
	const n = 1 << 19
	v := wide(n)
	out := Without(v, IsOurMeta)
	if strings.Contains(string(out), MetaOurs) || strings.Count(string(out), "{}") != n {
		t.Error("not all are gone")
	}
	set := make([]Member, 0, n)
	for name := range Members(v) {
		set = append(set, Member{name, jsontext.Value("1")})
	}
	set[0], set[n-1] = set[n-1], set[0]
	out, err := Edit(v, set, nil)
	if err != nil || strings.Contains(string(out), "dev") || strings.Count(string(out), ":1") != n {
		t.Errorf("not all are set: %v", err)
	}
	const deep = 1 << 20
	in := strings.Repeat(`{"a":`, deep) + `1` + strings.Repeat(`}`, deep)
	if got := Without(jsontext.Value(in), IsOurMeta); string(got) != in {
		t.Error("what is deep is another")
	}
}

func BenchmarkWithout(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		v := wide(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(v)))
			for b.Loop() {
				Without(v, IsOurMeta)
			}
		})
	}
}
