package args_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/labels/args"
)

func ExampleValue_Walk() {
	t, err := args.Parse([]byte(`{"id":9007199254740993,"options":"{\"commit\":{\"branch\":\"main\"}}","Branch":"a/b"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	t.Root().Walk(func(v args.Value) bool {
		if v.Kind() == '0' || strings.EqualFold(v.Name(), "branch") {
			fmt.Println(v.Pointer(), string(v.Raw()))
		}
		return true
	})
	// Output:
	// /id 9007199254740993
	// /options!/commit/branch "main"
	// /Branch "a/b"
}

func parse(t testing.TB, s string) args.Value {
	t.Helper()
	tree, err := args.Parse([]byte(s))
	if err != nil {
		t.Fatalf("%.80s: %v", s, err)
	}
	return tree.Root()
}

func get(t *testing.T, v args.Value, names ...string) args.Value {
	t.Helper()
	for _, n := range names {
		x, ok := v.Get(n)
		if !ok {
			t.Fatalf("no %q in %s", n, v.Raw())
		}
		v = x
	}
	return v
}

func TestValues(t *testing.T) {
	r := parse(t, ` { "a" : [ 1 , -0.5e+3, "x\u0061\n" , true,false , null, {}, [] ], "\u0062\"/~":{"c":"plain"} , "":"" } `)
	if r.Kind() != '{' || r.Len() != 3 || r.Name() != "" || r.Pointer() != "" || r.Parent() != (args.Value{}) || r.Key() != "" {
		t.Errorf("the root is %c of %d at %q", r.Kind(), r.Len(), r.Pointer())
	}
	a := get(t, r, "a")
	kinds := ""
	for i, x := 0, a.First(); x.Kind() != 0; i, x = i+1, x.Next() {
		kinds += string(x.Kind())
		if x != a.At(i) || x.Parent() != a || x.Key() != "a" || x.Pointer() != fmt.Sprintf("/a/%d", i) {
			t.Errorf("element %d is at %q, key %q", i, x.Pointer(), x.Key())
		}
	}
	if kinds != `00"tfn{[` || a.At(8).Kind() != 0 || a.At(-1).Kind() != 0 {
		t.Errorf("kinds are %s", kinds)
	}
	if n, ok := a.At(0).Int64(); n != 1 || !ok {
		t.Errorf("Int64 is %d, %v", n, ok)
	}
	if _, ok := a.At(1).Int64(); ok || string(a.At(1).Number()) != "-0.5e+3" || a.At(2).Number() != nil {
		t.Errorf("Number is %s", a.At(1).Number())
	}
	if s := a.At(2).Text(); s != "xa\n" || a.At(2).Text() != s || a.At(3).Text() != "" {
		t.Errorf("Text is %q", s)
	}
	c := get(t, r, `b"/~`, "c")
	if c.Text() != "plain" || c.Name() != "c" || c.Pointer() != `/b"~1~0/c` || string(c.Raw()) != `"plain"` {
		t.Errorf("%q at %q", c.Text(), c.Pointer())
	}
	if _, ok := r.Get("A"); ok {
		t.Error("Get folds case")
	}
	if x := get(t, r, ""); x.Kind() != '"' || x.Text() != "" || x.Next().Kind() != 0 || x.Pointer() != "/" {
		t.Error("the empty name")
	}
	names := ""
	for name, x := range r.All() {
		if names += name + ","; x.Name() != name {
			t.Errorf("%q is %q", x.Name(), name)
		}
	}
	if names != "a,b\"/~,," {
		t.Errorf("names are %q", names)
	}
}

func TestNoValue(t *testing.T) {
	var none args.Value
	var tree *args.Tree
	if _, ok := none.Get("a"); ok || none.Kind() != 0 || none.Name() != "" || none.Key() != "" || none.Text() != "" || none.Number() != nil ||
		none.Len() != 0 || none.At(0) != none || none.First() != none || none.Next() != none || none.Parent() != none || none.Pointer() != "" || none.Raw() != nil {
		t.Error("no value has something")
	}
	if _, ok := none.Int64(); ok {
		t.Error("no value is a number")
	}
	if _, ok := none.Inner(); ok || !none.Walk(func(args.Value) bool { return false }) || tree.Root() != none || tree.Raw() != nil || tree.Cut() {
		t.Error("no value holds something")
	}
	tree.Release()
}

func TestInteger(t *testing.T) {
	for s, want := range map[string]string{
		"9007199254740993": "9007199254740993", "-9223372036854775808": "-9223372036854775808", "9223372036854775807": "9223372036854775807",
		"9223372036854775808": "", "1.0": "", "1e3": "", "-0": "0", "0": "0",
	} {
		n, ok := parse(t, `{"a":`+s+`}`).First().Int64()
		if got := fmt.Sprint(n); ok != (want != "") || ok && got != want {
			t.Errorf("%s is %s, %v", s, got, ok)
		}
	}
}

// refused are texts that are no arguments.
var refused = []string{
	``, ` `, `null`, `[]`, `"a"`, `1`, `{`, `}`, `{}}`, `{} {}`, `{}x`, "{}\x00", `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{,"a":1}`, `{"a":1 "b":2}`, `{"a":1;}`,
	`{a:1}`, `{'a':1}`, `{"a":01}`, `{"a":+1}`, `{"a":.5}`, `{"a":1.}`, `{"a":1e}`, `{"a":-}`, `{"a":NaN}`, `{"a":Infinity}`, `{"a":-Infinity}`, `{"a":0x1}`,
	`{"a":tru}`, `{"a":nul`, `{"a":True}`, `{"a":[1,]}`, `{"a":[,1]}`, `{"a":[1 2]}`, `{"a":[}`, `{"a":[1}}`, `{"a":{]}`, `{"a":"`, `{"a":"\`, `{"a":"\x"}`, `{"a":"\u12"}`, `{"a":"\u12g4"}`,
	"{\"a\":\"\n\"}", "{\"a\":\"\x1f\"}", "{\"a\":\"\xff\"}", "{\"a\":\"12345678\xc3\"}", "{\"a\":\"\xed\xa0\x80\"}", `{"a":"\ud800"}`, `{"a":"\udc00\ud800"}`, `{"a":"\ud800\u0061"}`,
	`{"a":1,"a":1}`, `{"a":1,"b":2,"\u0061":1}`, `{"a":{"b":1,"b":2}}`, `{"a":[{"":1,"":2}]}`, "\ufeff{}", `{"a":1}//`, `{/**/}`, `{"a" 1}`, `{1:1}`, `{"a":1:2}`,
}

func TestWhatIsNone(t *testing.T) {
	for _, s := range refused {
		if tree, err := args.Parse([]byte(s)); !errors.Is(err, args.ErrArgs) || tree != nil {
			t.Errorf("%q: %v", s, err)
		}
		if len(s) > 1 && s[0] == '{' && jsontext.Value(s).IsValid() {
			t.Errorf("jsontext takes %q", s)
		}
	}
	if _, err := args.Parse(nil); !errors.Is(err, args.ErrArgs) {
		t.Error(err)
	}
}

func TestParseFirst(t *testing.T) {
	for s, n := range map[string]int{`{"a":"b"}`: 9, ` {"a":[1]} , "c" : {`: 10, `{}}`: 2, `{"a":1}{"b":2}`: 7, `[1]`: 0, `"a"`: 0, `{"a":1`: 0, `{"a":1,"a":2}`: 0, ``: 0} {
		tree, got, err := args.ParseFirst([]byte(s))
		if got != n || (err == nil) != (n > 0) || err == nil && (string(tree.Raw()) != s[:n] || tree.Root().First().Name() == "x") {
			t.Errorf("%s: %d, %v", s, got, err)
		}
		tree.Release()
	}
}

func TestBounds(t *testing.T) {
	deep := func(n int) string { return `{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}" }
	wide := func(n int) string { return `{"a":[` + strings.Repeat("1,", n-1) + "1]}" }
	for _, s := range []string{deep(127), wide(1<<18 - 2)} {
		parse(t, s)
	}
	for _, s := range []string{deep(128), deep(1 << 20), wide(1<<18 - 1), strings.Repeat(`{"a":`, 1<<16)} {
		if _, err := args.Parse([]byte(s)); !errors.Is(err, args.ErrArgs) {
			t.Errorf("%.20s…: %v", s, err)
		}
	}
}

// Two members of one name are found among few and many, however they are written.
func TestTwice(t *testing.T) {
	for _, n := range []int{1, 2, 15, 16, 17, 100, 20_000} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"m%d":%d,`, i, i)
		}
		parse(t, `{`+b.String()+`"x":0}`)
		for _, name := range []string{"m0", `\u006d0`, fmt.Sprintf("m%d", n-1)} {
			if _, err := args.Parse([]byte(`{"o":[{` + b.String() + `"` + name + `":0}]}`)); !errors.Is(err, args.ErrArgs) {
				t.Errorf("%d and %s: %v", n, name, err)
			}
		}
	}
}

func TestTreesAreReadAgain(t *testing.T) {
	for i := range 100 {
		s := fmt.Sprintf(`{"i":%d,"s":"a\tb%d","j":"[%d,{\"a\":\"%d\"}]"}`, i, i, i, i)
		tree, err := args.Parse([]byte(s))
		if err != nil || string(tree.Raw()) != s {
			t.Fatal(err)
		}
		text := get(t, tree.Root(), "s").Text()
		in, ok := get(t, tree.Root(), "j").Inner()
		if !ok || in.At(1).First().Text() != fmt.Sprint(i) {
			t.Errorf("%d: %s", i, in.Raw())
		}
		if tree.Release(); text != fmt.Sprintf("a\tb%d", i) {
			t.Errorf("a text changed to %q", text)
		}
	}
}

func TestUnder(t *testing.T) {
	tree, err := args.Parse([]byte(`{"a":{"b":["{\"c\":1}"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	tree.Under(func(name string) string { return "frame:/" + name + name })
	b, _ := tree.Root().First().Get("b")
	in, _ := b.First().Inner()
	if got := in.First().Pointer(); got != "frame:/aa/b/0!/c" {
		t.Error(got)
	}
	tree.Release()
	if tree, err = args.Parse([]byte(`{"a":1}`)); err != nil || tree.Root().First().Pointer() != "/a" {
		t.Error("the place stays")
	}
}
