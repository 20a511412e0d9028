package shape

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/internal/flat"
)

// What program says of an expression is what the compiler makes of it, or a little more.
func TestProgram(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 2026))
	var draw func(depth int) string
	draw = func(depth int) string {
		if depth == 0 {
			return []string{"a", "abc", ".", "[a-z]", `\d`, "^", "$", `\b`, "", "(?i:k)", "é", `\pL`, "[^a]"}[r.IntN(13)]
		}
		x := "(?:" + draw(depth-1) + ")"
		switch r.IntN(9) {
		case 0:
			return x + []string{"*", "+", "?", "*?"}[r.IntN(4)]
		case 1:
			return fmt.Sprintf("%s{%d}", x, r.IntN(9))
		case 2:
			return fmt.Sprintf("%s{%d,}", x, r.IntN(9))
		case 3:
			n := r.IntN(9)
			return fmt.Sprintf("%s{%d,%d}", x, n, n+r.IntN(9))
		case 4:
			return "(" + draw(depth-1) + ")"
		case 5, 6:
			return x + "|" + draw(depth-1) + "|" + draw(depth-1)
		}
		return draw(depth-1) + draw(depth-1)
	}
	sum, all := 0, 0
	for range 20_000 {
		s := draw(1 + r.IntN(4))
		tree, err := syntax.Parse(s, syntax.Perl)
		if err != nil {
			continue
		}
		say := program(tree)
		made, err := syntax.Compile(tree.Simplify())
		if err != nil {
			t.Fatal(s, err)
		}
		if n := len(made.Inst); say < n {
			t.Fatalf("%q: %d instructions, and %d are said", s, n, say)
		}
		sum, all = sum+say, all+len(made.Inst)
	}
	if sum > 2*all {
		t.Errorf("%d instructions, and %d are said", all, sum)
	}
}

// A schema with an expression that is too large is none that can be used, wherever that
// stands; what honest servers send is not too large.
func TestLargeExpressions(t *testing.T) {
	s := New(Limits{})
	for _, p := range []string{`(.?){900}x$`, `(.{1,900})(.{1,900})`, strings.Repeat(`.{1000}`, 100), `((a?){30}){30}`, `(?:(?:(?:x?){10}){10}){10}y`} {
		for _, text := range []string{`{"pattern":%q}`, `{"properties":{"a":{"pattern":%q}}}`, `{"patternProperties":{%q:{}}}`, `{"propertyNames":{"pattern":%q}}`, `{"not":{"pattern":%q}}`, `{"$schema":"http://json-schema.org/draft-07/schema#","pattern":%q}`} {
			text = fmt.Sprintf(text, p)
			for name, of := range map[string]func([]byte) (*Shape, error){"open": s.Of, "closed": s.Closed} {
				if _, err := of([]byte(text)); !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), "expressions") {
					t.Errorf("%s, %s: %v", text, name, err)
				}
			}
		}
	}
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, `"a%d":{"pattern":"^.{1,%d}$"},`, i, 200+i)
	}
	if _, err := s.Of([]byte(`{"properties":{` + many.String() + `"b":{}}}`)); !errors.Is(err, ErrSchema) {
		t.Errorf("many that are too large together: %v", err)
	}
	for _, p := range []string{
		`^.{1,1000}$`, `^[\s\S]{1,1000}$`, `[\s\S]{0,1000}`, `^[a-zA-Z0-9-_]{1,256}$`, `^[A-Za-z0-9_.-]{1,128}$`, `^arn:(aws|aws-cn|aws-us-gov):[a-z0-9-]{1,63}:[a-z0-9-]{0,32}:[0-9]{12}:[^\s]{1,512}$`,
		`^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, `^(?:[a-z0-9!#$%&'*+/=?^_{|}~-]+(?:\.[a-z0-9-]+)*)@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$`,
		`^((25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\.){3}(25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)$`, `^tool_[0-7][0-9A-HJKMNP-TV-Z]{25}$`, `^https?://[^\s/$.?#].[^\s]{0,900}$`,
		`^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2}(?:\.\d*)?)((-(\d{2}):(\d{2})|Z)?)$`,
	} {
		if _, err := s.Of(fmt.Appendf(nil, `{"pattern":%q}`, p)); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// TestPatternsAreCharged: wherever an expression is run, it is counted before it is, by
// text and instructions, and all passes of one check have one purse.
func TestPatternsAreCharged(t *testing.T) {
	const p = `(.{1,900})(x|y)$`
	tree, err := syntax.Parse(p, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	const bytes = 1000
	long := strings.Repeat("a", bytes)
	one := bytes * program(tree) / worth // steps, about
	for _, c := range []struct{ name, schema, value string }{
		{"pattern", `{"properties":{"a":{"pattern":"` + p + `"}}}`, `{"a":"` + long + `"}`},
		{"below a rare word", `{"not":{"pattern":"` + p + `"}}`, `"` + long + `"`},
		{"patternProperties", `{"patternProperties":{"` + p + `":{"type":"string"}},"properties":{"a":{}}}`, `{"` + long + `":1}`},
		{"propertyNames", `{"propertyNames":{"pattern":"` + p + `"}}`, `{"` + long + `":1}`},
		{"two kinds", `{"$defs":{"d":{"type":"string","pattern":"` + p + `"}},"anyOf":[{"$ref":"#/$defs/d"},{"items":{"$ref":"#/$defs/d"}}]}`, `["` + long + `"]`},
	} {
		s, err := New(Limits{}).Of([]byte(c.schema))
		if err != nil {
			t.Fatal(c.name, err)
		}
		const much = 1 << 30
		purse := purse{much}
		quick := s.quickly([]byte(c.value), &purse)
		after := purse.left
		if err := s.slowly([]byte(c.value), &purse); quick != (err == nil) && quick {
			t.Errorf("%s: %v", c.name, err)
		}
		if spent := after - purse.left; spent < one {
			t.Errorf("%s: the library's passes are charged %d, want %d or more", c.name, spent, one)
		}
		purse.left = one - 1 // not enough for one
		if s.quickly([]byte(c.value), &purse) {
			t.Errorf("%s: passes without enough", c.name)
		}
		purse.left = one - 1
		if err := s.slowly([]byte(c.value), &purse); !errors.Is(err, ErrUndecided) {
			t.Errorf("%s: %v without enough", c.name, err)
		}
	}
	var d flat.Doc
	if !d.Read([]byte(`{"`+long+`":1}`), "", flat.MaxNodes, false) {
		t.Fatal("not read")
	}
	s := mustClosed(t, `{"anyOf":[{"patternProperties":{"`+p+`":{}},"properties":{"a":{}}},{"required":["b"]}]}`)
	for left, want := range map[int]bool{one - 1: false, 1 << 30: true} {
		var top about
		purse := purse{left}
		r := reading{d: &d, steps: 1 << 20, patterns: &purse}
		top.add(&r, s.names, 0)
		f := r.named(&top, 0)
		if (r.steps >= 0) != want || want == (f == nil) || want && (1<<30)-purse.left < one {
			t.Errorf("names with %d: %d left of steps, %d of patterns, %v", left, r.steps, purse.left, f)
		}
	}
}

// TestWorstOfPatterns: this is the most that expressions cost in one check: what has no
// room in it is not run. 524,288 steps of 64 instructions for a byte each are half a
// second of a core, whatever schema and value there are.
func TestWorstOfPatterns(t *testing.T) {
	lim := New(Limits{}).lim
	if most := lim.Steps * worth; most > 1<<25 {
		t.Errorf("%d instructions for a byte", most)
	}
	const p = `(.{1,900})(x|y)$`
	var props, values strings.Builder
	for i := range 17 {
		fmt.Fprintf(&props, `"a%d":{"pattern":"%d%s"},`, i, i, p)
		fmt.Fprintf(&values, `"a%d":"%d%s",`, i, i, strings.Repeat("a", 100))
	}
	for _, c := range []struct{ name, schema, value string }{
		{"one", `{"properties":{"x":{"pattern":"` + p + `"}}}`, `{"x":"` + strings.Repeat("a", 2000) + `"}`},
		{"many", `{"properties":{` + props.String() + `"b":{}}}`, `{` + values.String() + `"b":1}`},
		{"many names", `{"properties":{"b":{}},"patternProperties":{"` + p + `":{}}}`, `{"` + strings.Repeat("a", 2000) + `":1}`},
		{"many short texts", `{"items":{"pattern":"` + p + `"}}`, `[` + strings.Repeat(`"a",`, 3000) + `"x"]`},
		{"of a schema of schemas", `{"$ref":"http://json-schema.org/draft-07/schema","propertyNames":{"pattern":"` + p + `"}}`, `{"` + strings.Repeat("a", 2000) + `":"` + strings.Repeat("a", 1_000_000) + `"}`},
	} {
		s := New(Limits{Steps: 1 << 12})
		open, err1 := s.Of([]byte(c.schema))
		closed, err2 := s.Closed([]byte(c.schema))
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(c.name, err)
		}
		for _, sh := range []*Shape{open, closed} {
			if err := sh.Check([]byte(c.value)); !errors.Is(err, ErrUndecided) && !errors.Is(err, ErrUnfit) || err == nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

// The library compiles what it finds in a value where a schema refers to those of
// schemas: formats are notes there too.
func TestFormatsOfSchemasAreNotes(t *testing.T) {
	s := mustShape(t, `{"$ref":"http://json-schema.org/draft-07/schema"}`)
	for _, v := range []string{`{"pattern":"("}`, `{"pattern":"(.?){900}x"}`, `{"$id":"::"}`, `{"$id":"` + strings.Repeat("a", 100_000) + `"}`} {
		if err := s.slowly([]byte(v), ample()); err != nil {
			t.Errorf("%.40s: %v", v, err)
		}
	}
	if err := s.Check([]byte(`{"pattern":1}`)); !errors.Is(err, ErrUnfit) {
		t.Error(err)
	}
}
