package mcp

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestEdit(t *testing.T) {
	set := func(pairs ...string) (out []Member) {
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, Member{pairs[i], jsontext.Value(pairs[i+1])})
		}
		return out
	}
	drop := func(names string) func(string) bool {
		return func(n string) bool { return strings.Contains(names, "|"+n+"|") }
	}
	for _, c := range []struct {
		name, in string
		set      []Member
		drop     func(string) bool
		want     string
	}{
		{"nothing", `{ "a" : 1.0 ,"b":[ ]}`, nil, nil, `{ "a" : 1.0 ,"b":[ ]}`},
		{"replace", `{ "a" : 1.0 ,"b":[ ]}`, set("a", "2"), nil, `{ "a" : 2 ,"b":[ ]}`},
		{"replace an escaped name", `{"\u0061":1}`, set("a", "2"), nil, `{"\u0061":2}`},
		{"add", `{"a":1}`, set("b", `"x"`, "c", "{}"), nil, `{"a":1,"b":"x","c":{}}`},
		{"add to an empty one", "{ \n}", set("b", `"x"`), nil, `{"b":"x"}`},
		{"add to nothing", "", set("b", `"x"`), nil, `{"b":"x"}`},
		{"drop the first", `{"a":1, "b":2 ,"c":3}`, nil, drop("|a|"), `{ "b":2 ,"c":3}`},
		{"drop the last", `{"a":1, "b":2 ,"c":3}`, nil, drop("|c|"), `{"a":1, "b":2 }`},
		{"drop all", `{"a":1, "b":2 ,"c":3}`, nil, func(string) bool { return true }, `{}`},
		{"set goes before drop", `{"a":1,"b":2}`, set("a", "5"), func(string) bool { return true }, `{"a":5}`},
		{"brackets in strings", `{"a":"}],\"","b":{"c":"{"},"d":["\\"]}`, set("d", "1"), drop("|a|"), `{"b":{"c":"{"},"d":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var in jsontext.Value
			if c.in != "" {
				in = jsontext.Value(c.in)
			}
			got, err := Edit(in, c.set, c.drop)
			if err != nil || string(got) != c.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
			}
			if string(in) != c.in {
				t.Error("the original changed")
			}
		})
	}
	for _, in := range []string{"[]", "1", `"x"`, "null", " "} {
		if _, err := Edit(jsontext.Value(in), nil, nil); !errors.Is(err, ErrNotObject) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestSetMeta(t *testing.T) {
	ours := []Member{{MetaLabel, jsontext.Value("1")}}
	for _, c := range []struct {
		in   string
		set  []Member
		want string
	}{
		{`{"name":"a"}`, nil, `{"name":"a"}`},
		{`{"name":"a"}`, ours, `{"name":"a","_meta":{"dev.pratique/label":1}}`},
		{`{"_meta":{"x":1.0, "Dev.Pratique/other":2},"name":"a"}`, ours, `{"_meta":{"x":1.0,"dev.pratique/label":1},"name":"a"}`},
		{`{"_meta":{"dev.pratique/label":"theirs"},"name":"a"}`, nil, `{"name":"a"}`},
		{`{"_meta":{},"name":"a"}`, nil, `{"_meta":{},"name":"a"}`},
		{`{"_meta":{"dev.pratique/label":"theirs","b":2}}`, ours, `{"_meta":{"dev.pratique/label":1,"b":2}}`},
		{``, ours, `{"_meta":{"dev.pratique/label":1}}`},
		{``, nil, ``},
		{`{"_meta":null,"a":1}`, nil, `{"_meta":null,"a":1}`},
		{`{"_meta":null,"a":1}`, ours, `{"_meta":{"dev.pratique/label":1},"a":1}`},
	} {
		var in jsontext.Value
		if c.in != "" {
			in = jsontext.Value(c.in)
		}
		if got, err := SetMeta(in, c.set, IsOurMeta); err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v; want %s", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{`[]`, `{"_meta":[]}`, `{"_meta":"x"}`} {
		if _, err := SetMeta(jsontext.Value(in), ours, nil); !errors.Is(err, ErrNotObject) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestRead(t *testing.T) {
	v := jsontext.Value(` { "a" : { "b" : [ 1.0 , "x\u0041" , {"c":null} ] } , "\u0064" : "e" } `)
	if got, ok := Get(v, "a", "b"); !ok || string(got) != `[ 1.0 , "x\u0041" , {"c":null} ]` {
		t.Errorf("%s %v", got, ok)
	}
	if _, ok := Get(v, "a", "B"); ok {
		t.Error("found by another case")
	}
	if _, ok := Get(v, "d", "x"); ok {
		t.Error("found in a string")
	}
	if s, ok := GetString(v, "d"); !ok || s != "e" {
		t.Errorf("%q %v", s, ok)
	}
	list, _ := Get(v, "a", "b")
	var got []string
	for e := range Elements(list) {
		got = append(got, string(e))
	}
	if strings.Join(got, "|") != `1.0|"x\u0041"|{"c":null}` {
		t.Errorf("%q", got)
	}
	if s, ok := String(jsontext.Value(got[1])); !ok || s != "xA" {
		t.Errorf("%q %v", s, ok)
	}
	var names []string
	for n := range Members(v) {
		names = append(names, n)
	}
	if strings.Join(names, "|") != "a|d" {
		t.Errorf("%q", names)
	}
}

func FuzzEdit(f *testing.F) {
	for _, s := range []string{`{"a":1,"_meta":{"b":[{}]}}`, "{ \n}", `{"a":"\"}","":{"":[]}}`, `[1,2]`, `{"a\u0062":1e400 , "c":"` + "\u2028" + `"}`, `{"a":{"b":{"c":{}}},"d":[[],{"e":"\\"}]}`} {
		f.Add([]byte(s), "a", "b")
	}
	f.Fuzz(func(t *testing.T, data []byte, name, gone string) {
		for range Members(data) {
		}
		for range Elements(data) {
		}
		Get(data, name, gone)
		drop := func(n string) bool { return n == gone }
		set := []Member{{strings.ToValidUTF8(name, "?"), jsontext.Value(`{"x":"y"}`)}}
		edited, err := Edit(data, set, drop)
		if _, errMeta := SetMeta(data, set, drop); errMeta == nil && err != nil {
			t.Error("SetMeta takes what Edit refuses")
		}
		if jsontext.Value(data).Kind() != '{' || !jsontext.Value(data).IsValid() {
			return
		}
		if err != nil || !edited.IsValid() {
			t.Fatalf("%v: %q of %q", err, edited, data)
		}
		want := map[string]string{}
		for n, v := range members(t, data) {
			if n != gone {
				want[n] = string(v)
			}
		}
		want[set[0].Name] = string(set[0].Value)
		got := members(t, edited)
		if len(got) != len(want) {
			t.Fatalf("%q became %q", data, edited)
		}
		for n, v := range want {
			if string(got[n]) != v {
				t.Errorf("%q of %q became %q", n, data, got[n])
			}
		}
	})
}
