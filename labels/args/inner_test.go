package args_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/labels/args"
)

// quoted is a string that holds a text.
func quoted(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func inner(t testing.TB, text string) (args.Value, bool) {
	t.Helper()
	return parse(t, `{"o":`+quoted(text)+`}`).First().Inner()
}

func TestInner(t *testing.T) {
	for _, s := range []string{`{}`, `[]`, ` {"a":1}` + "\n", "\ufeff[1]", "\t\ufeff {} ", `{"a":"\ud800"}`, `{"a":1,"a":2}`} {
		v, ok := inner(t, s)
		if !ok || v.Pointer() != "/o!" || v.Key() != "o" || v.Name() != "" || v.Parent().Kind() != '"' || v.Next().Kind() != 0 {
			t.Errorf("%q: %v at %q", s, ok, v.Pointer())
		}
	}
	for _, s := range []string{``, `{`, `a`, `1`, `"{"`, `null`, `{]`, `[link](x)`, `[a]`, `{{x}}`, `{'a':1}`, `{} {}`, `{"a":1,}`, `{"a":nan}`} {
		if v, ok := inner(t, s); ok {
			t.Errorf("%q is %s", s, v.Raw())
		}
	}
}

// What is read by programs that are laxer than JSON is looked into as they do.
func TestLaxDocuments(t *testing.T) {
	for _, s := range []string{
		`{"branch":"main","x":NaN}`, `{"x":[Infinity,-Infinity],"branch":"main"}`, "{\"branch\":\"main\",\"x\":\"a\nb\x01\"}",
		"\u00a0{\"branch\":\"main\"}\u3000", "\ufeff\ufeff {\"branch\":\"main\"}", "\v\f{\"branch\":\"main\"}", quoted(`{"branch":"main"}`), quoted(quoted(`{"branch":"main"}`)),
	} {
		v, ok := inner(t, s)
		if b, there := v.Get("branch"); !ok || !there || b.Text() != "main" {
			t.Errorf("%q: %v, %s", s, ok, v.Raw())
		}
	}
	v, _ := inner(t, `[NaN,-Infinity,-1]`)
	if _, ok := v.At(0).Int64(); ok || v.At(0).Kind() != '0' || string(v.At(1).Number()) != "-Infinity" || string(v.At(2).Number()) != "-1" {
		t.Errorf("%s", v.Raw())
	}
	for _, s := range []string{`[NaNa]`, `[-NaN]`, `[Inf]`, `"word"`, quoted("a [b]"), `""`, `"""`, `[infinity]`} {
		if v, ok := inner(t, s); ok {
			t.Errorf("%q is %s", s, v.Raw())
		}
	}
	if v, ok := inner(t, quoted(`{"a":1}`)); !ok || v.First().Pointer() != "/o!!/a" || v.Parent().Parent().Pointer() != "/o" {
		t.Errorf("%q", v.First().Pointer())
	}
}

// What a server would read twice is there twice, and found by no name.
func TestTwiceInside(t *testing.T) {
	v, ok := inner(t, `{"branch":"a","\u0062ranch":"main","x":1}`)
	if !ok || v.Len() != 3 || v.At(0).Name() != "branch" || v.At(1).Name() != "branch" || v.At(1).Text() != "main" {
		t.Errorf("%v: %s", ok, v.Raw())
	}
	if _, ok := v.Get("branch"); ok {
		t.Error("one of two was got")
	}
	if x, ok := v.Get("x"); !ok || x.Pointer() != "/o!/x" {
		t.Error("x is not there")
	}
}

func TestInnerOfInner(t *testing.T) {
	nest := func(levels int) string {
		s := `{"branch":"main"}`
		for range levels - 1 {
			s = `{"o":` + quoted(s) + `}`
		}
		return s
	}
	for levels, want := range map[int]string{1: "/o!/branch", 2: "/o!/o!/branch", 4: "/o!/o!/o!/o!/branch", 5: ""} {
		tree, err := args.Parse([]byte(`{"o":` + quoted(nest(levels)) + `}`))
		if err != nil {
			t.Fatal(err)
		}
		at := ""
		for range 2 { // the second time from what is kept
			at = ""
			tree.Root().Walk(func(v args.Value) bool {
				if v.Name() == "branch" {
					at = v.Pointer()
				}
				return true
			})
		}
		if at != want || tree.Cut() != (want == "") {
			t.Errorf("%d levels: at %q, cut %v", levels, at, tree.Cut())
		}
		tree.Release()
	}
}

func TestWalkStops(t *testing.T) {
	r := parse(t, `{"a":[1,2],"b":"[3,4]","c":5}`)
	all := ""
	r.Walk(func(v args.Value) bool { all += string(v.Kind()); return true })
	if all != `{[00"[000` {
		t.Errorf("walked %s", all)
	}
	all = ""
	r.Visit(func(v args.Value) bool { all += string(v.Kind()); return v.Offset() < 15 })
	if all != `{[00"` {
		t.Errorf("visited %s", all)
	}
	n := 0
	if r.Walk(func(v args.Value) bool { n++; return string(v.Raw()) != "3" }) || n != 7 {
		t.Errorf("stopped behind %d", n)
	}
}

// Documents in strings are bounded together, and it is told where they are.
func TestInnerIsBounded(t *testing.T) {
	many := quoted(`[` + strings.Repeat("1,", 100_000) + `1]`)
	tree, err := args.Parse([]byte(`{"a":[` + many + `,` + many + `,` + many + `,` + many + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	if tree.Cut() {
		t.Error("cut before anybody looked")
	}
	n := 0
	tree.Root().Walk(func(args.Value) bool { n++; return true })
	if !tree.Cut() || n > 300_000 {
		t.Errorf("%d values, cut %v", n, tree.Cut())
	}
}

// TestInnerWithControls: what a lax server reads behind a control character is read here.
func TestInnerWithControls(t *testing.T) {
	tree, err := args.Parse([]byte(`{"body":"{\"file_path\":\"src/\\u0061\t/..\\u002f../../etc/passwd\"}"}`))
	if err != nil {
		t.Fatal(err)
	}
	in, ok := tree.Root().First().Inner()
	if got := in.First().Text(); !ok || got != "src/a\t/../../../etc/passwd" {
		t.Errorf("%q", got)
	}
}
