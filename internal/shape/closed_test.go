package shape

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/internal/flat"
)

func mustClosed(t testing.TB, schema string) *Shape {
	t.Helper()
	s, err := New(Limits{Depth: 128}).Closed([]byte(schema))
	if err != nil {
		t.Fatalf("%.300s: %v", schema, err)
	}
	return s
}

const user = `{"type":"object","properties":{"name":{"type":"string"},"at":{"type":"object","properties":{"x":{},"y":{}}}},"required":["name"]}`

// Each schema with values that fit it and values with one name that it does not know.
func TestClosed(t *testing.T) {
	const draft7 = `"$schema":"http://json-schema.org/draft-07/schema#",`
	for _, c := range []struct {
		name, schema string
		fits         []string
		unknown      []string // pointer=value
	}{
		{"listed", user, []string{`{"name":"x"}`, ` {"n\u0061me":"x","at":{"x":1,"y":[{"z":1}]}} `},
			[]string{`/nam={"name":"x","nam":1}`, `/Name={"name":"x","Name":1}`, `/at/z={"name":"x","at":{"z":1}}`, `/nаme={"name":"x","nаme":"y"}`, `/at.x={"name":"x","at.x":1}`, `/a~1b~0={"name":"x","a/b~":1}`}},
		{"an empty list", `{"type":"object","properties":{}}`, []string{`{}`}, []string{`/a={"a":1}`}},
		{"no list", `{"type":"object"}`, []string{`{}`, `{"a":{"b":1}}`}, nil},
		{"nothing said", `{}`, []string{`{"a":1}`, `1`}, nil},
		{"open as its author says", `{"properties":{"a":{}},"additionalProperties":true}`, []string{`{"b":1}`}, nil},
		{"open to some", `{"properties":{"a":{}},"additionalProperties":{"properties":{"x":{}}}}`, []string{`{"b":{"x":1}}`}, []string{`/b/y={"b":{"y":1}}`}},
		{"open and unevaluated", `{"properties":{"a":{}},"unevaluatedProperties":{"properties":{"x":{}}}}`, []string{`{"b":{"x":1}}`, `{"a":{"z":1}}`}, nil},
		{"closed already", `{"properties":{"a":{}},"additionalProperties":false}`, []string{`{"a":1}`}, []string{`/b={"b":1}`}},
		{"closed to all", `{"additionalProperties":false}`, []string{`{}`}, []string{`/b={"b":1}`}},
		{"patterns", `{"properties":{"a":{}},"patternProperties":{"^x-":{"properties":{"b":{}}}}}`, []string{`{"a":1,"x-y":{"b":1}}`}, []string{`/y-x={"y-x":1}`, `/x-1/c={"x-1":{"c":1}}`}},
		{"a pattern beyond Go's", `{"properties":{"a":{}},"patternProperties":{"^(?!b)":{}}}`, []string{`{"a":1,"c":1}`}, nil},
		{"asked for, not listed", `{"properties":{"a":{}},"required":["b"],"dependentRequired":{"c":["d"]}}`, []string{`{"a":1,"b":1,"c":1,"d":1}`}, []string{`/e={"b":1,"e":1}`}},
		{"elements", `{"properties":{"l":{"items":{"properties":{"a":{}}}}}}`, []string{`{"l":[{"a":1},{},2]}`}, []string{`/l/1/b={"l":[{},{"b":1}]}`}},
		{"tuples", `{"properties":{"l":{"prefixItems":[{"properties":{"a":{}}}],"items":{"properties":{"b":{}}}}}}`, []string{`{"l":[{"a":1},{"b":1}]}`}, []string{`/l/0/b={"l":[{"b":1}]}`, `/l/1/a={"l":[{},{"a":1}]}`}},
		{"draft-07 tuples", `{` + draft7 + `"properties":{"l":{"items":[{"properties":{"a":{}}}],"additionalItems":{"properties":{"b":{}}}}}}`, []string{`{"l":[{"a":1},{"b":1}]}`}, []string{`/l/0/b={"l":[{"b":1}]}`, `/l/1/a={"l":[{},{"a":1}]}`}},
		{"draft-07 and a neighbour of $ref", `{` + draft7 + `"definitions":{"u":` + user + `},"properties":{"u":{"$ref":"#/definitions/u","additionalProperties":true}}}`, []string{`{"u":{"name":"x"}}`}, []string{`/u/b={"u":{"name":"x","b":1}}`}},
		{"$ref and more", `{"$defs":{"u":` + user + `},"$ref":"#/$defs/u","properties":{"more":{}}}`, []string{`{"name":"x","more":1}`}, []string{`/b={"name":"x","b":1}`, `/at/more={"name":"x","at":{"more":1}}`}},
		{"recursion", `{"properties":{"next":{"$ref":"#"},"v":{}}}`, []string{`{"next":{"next":{"v":1}}}`}, []string{`/next/next/w={"next":{"next":{"w":1}}}`}},
		{"allOf", `{"allOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}`, []string{`{"a":1,"b":1}`}, []string{`/c={"a":1,"c":1}`}},
		{"allOf below", `{"allOf":[{"properties":{"o":{"properties":{"a":{}}}}},{"properties":{"o":{"properties":{"b":{}}}}}]}`, []string{`{"o":{"a":1,"b":1}}`}, []string{`/o/c={"o":{"a":1,"c":1}}`}},
		{"a part of oneself", `{"properties":{"a":{"properties":{"x":{}}},"b":{"allOf":[{"$ref":"#/properties/a"},{"properties":{"y":{}}}]}}}`, []string{`{"a":{"x":1},"b":{"x":1,"y":1}}`}, []string{`/a/y={"a":{"y":1}}`, `/b/z={"b":{"z":1}}`}},
		{"anyOf of lists", `{"anyOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{}},"required":["b"]}]}`, []string{`{"a":"x"}`, `{"b":1}`, `{"a":"x","b":1}`}, []string{`/c={"a":"x","c":1}`, `/a={"a":1,"b":2}`}},
		{"anyOf over a list", `{"properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, []string{`{"a":1}`, `{"a":1,"b":1}`}, []string{`/c={"a":1,"c":1}`}},
		{"anyOf with an open one", `{"anyOf":[{"type":"object"},{"properties":{"a":{"type":"string"}}}]}`, []string{`{"b":1}`}, nil},
		{"or null", `{"$defs":{"u":` + user + `},"properties":{"u":{"anyOf":[{"$ref":"#/$defs/u"},{"type":"null"}],"default":null}}}`, []string{`{"u":null}`, `{"u":{"name":"x"}}`}, []string{`/u/b={"u":{"name":"x","b":1}}`}},
		{"told apart by a word", `{"oneOf":[{"properties":{"kind":{"const":"x"},"a":{}},"required":["kind"]},{"properties":{"kind":{"const":"y"},"b":{}},"required":["kind"]}]}`, []string{`{"kind":"x","a":1}`, `{"kind":"y","b":1}`}, []string{`/b={"kind":"x","b":1}`, `/a={"kind":"y","a":1}`}},
		{"if", `{"properties":{"a":{}},"if":{"properties":{"a":{"const":1}},"required":["a"]},"then":{"properties":{"b":{"type":"string"}}},"else":{"properties":{"c":{}}}}`, []string{`{"a":1,"b":"x"}`, `{"a":2,"c":1}`}, []string{`/d={"a":1,"d":1}`}},
		{"dependentSchemas", `{"properties":{"a":{}},"dependentSchemas":{"a":{"properties":{"b":{}}}}}`, []string{`{"a":1,"b":1}`}, []string{`/c={"c":1}`}},
		{"draft-07 dependencies", `{` + draft7 + `"properties":{"a":{}},"dependencies":{"a":{"properties":{"b":{}}},"c":["d"]}}`, []string{`{"a":1,"b":1}`, `{"c":1,"d":1}`}, []string{`/e={"e":1}`}},
		{"not lists nothing", `{"properties":{"a":{}},"not":{"properties":{"b":{"const":1}},"required":["b"]}}`, []string{`{"a":1}`}, []string{`/b={"b":2}`}},
		{"contains is of some", `{"properties":{"l":{"contains":{"properties":{"a":{"const":1}},"required":["a"]}}}}`, []string{`{"l":[{"a":1},{"z":1}]}`}, nil},
		{"spelled out", `{"properties":{"o":{"properties":{"a":{}},"enum":[{"a":1,"b":2}]}}}`, []string{`{"o":{"a":1,"b":2}}`}, nil},
		{"names of its own", `{"properties":{"a":{}},"propertyNames":{"pattern":"^[ab]$"}}`, []string{`{"b":1}`}, nil},
		{"any names", `{"properties":{"a":{}},"propertyNames":{"type":"string"}}`, []string{`{"a":1}`}, []string{`/b={"b":1}`}},
		{"at least more than listed", `{"properties":{"a":{}},"minProperties":2}`, []string{`{"a":1,"b":1}`}, nil},
		{"dynamic", `{"$defs":{"x":{"$dynamicAnchor":"n","type":"object"}},"properties":{"a":{"$dynamicRef":"#n","properties":{"b":{}}}}}`, []string{`{"a":{"c":1}}`}, []string{`/b={"b":1}`}},
		{"an expression beyond Go's", `{"properties":{"mail":{"type":"string","pattern":"^(?!\\.)[^@]+@.+$"},"w":{"pattern":"^\\S+$"}}}`, []string{`{"mail":"a@b.test"}`, `{"w":"größe\u00a0x"}`}, []string{`/b={"mail":"a@b.test","b":1}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustClosed(t, c.schema)
			for _, v := range c.fits {
				if err := s.Check([]byte(v)); err != nil {
					t.Errorf("%s: %v", v, err)
				}
			}
			for _, u := range c.unknown {
				at, v, _ := strings.Cut(u, "=")
				err := s.Check([]byte(v))
				if f, ok := errors.AsType[*Fault](err); !ok || f.Path != at || f.Keyword != "additionalProperties" {
					t.Errorf("%s: %v, want %q", v, err, at)
				}
			}
		})
	}
}

// What does not fit otherwise does not fit closed either, and is told as before.
func TestClosedIsNoLooser(t *testing.T) {
	s := mustClosed(t, `{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string","maxLength":2}},"required":["n"]}`)
	for _, c := range []struct{ value, want, path string }{
		{`{"n":9007199254740993}`, "fits", ""}, {`{"n":1e2}`, "fits", ""},
		{`{}`, "unfit", "/n"}, {`{"n":"1"}`, "unfit", "/n"}, {`{"n":"NaN"}`, "unfit", "/n"}, {`{"n":1.5}`, "unfit", "/n"}, {`{"n":null}`, "unfit", "/n"}, {`{"n":1,"s":"abc"}`, "unfit", "/s"},
		{`[]`, "unfit", ""}, {`null`, "unfit", ""}, {`"x"`, "unfit", ""}, {`{"n":1,"n":1}`, "undecided", ""}, {`{"n":NaN}`, "undecided", ""}, {``, "undecided", ""}, {`{"n":1} x`, "undecided", ""},
		{`{"n":1e999999999}`, "undecided", ""}, {`{"n":` + strings.Repeat("1", 129) + `}`, "undecided", ""},
		{`{"n":1,"s":` + strings.Repeat("[", 128) + strings.Repeat("]", 128) + `}`, "undecided", ""},
	} {
		err := s.Check([]byte(c.value))
		got := "fits"
		f, ok := errors.AsType[*Fault](err)
		switch {
		case ok:
			got = "unfit"
		case errors.Is(err, ErrUndecided):
			got, f = "undecided", &Fault{}
		case err == nil:
			f = &Fault{}
		}
		if got != c.want || f.Path != c.path {
			t.Errorf("%.60s: %v at %q, want %s at %q", c.value, err, f.Path, c.want, c.path)
		}
	}
}

// However schemas and values are made, telling names ends soon.
func TestClosedIsBounded(t *testing.T) {
	var doubling strings.Builder
	for i := range 40 {
		fmt.Fprintf(&doubling, `"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"},{"properties":{"a%d":{}}}]},`, i, i+1, i+1, i)
	}
	deep := strings.Repeat(`{"a":`, 120) + `1` + strings.Repeat(`}`, 120)
	for _, c := range []struct{ name, schema, value string }{
		{"doubling", `{"$defs":{` + doubling.String() + `"d40":{"required":["q"]}},"$ref":"#/$defs/d0"}`, `{"b":1}`},
		{"round in a branch", `{"anyOf":[{"$ref":"#"},{"properties":{"a":{}}}]}`, `{"b":1}`},
		{"branches at every depth", `{"anyOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"},"c":{}}}],"allOf":[{"properties":{"a":{"$ref":"#"}}}],"not":{"required":["z"]}}`, deep},
	} {
		s, err := New(Limits{Depth: 128, Steps: 1 << 16}).Closed([]byte(c.schema))
		if err != nil {
			t.Fatal(c.name, err)
		}
		if err := s.Check([]byte(c.value)); !errors.Is(err, ErrUndecided) && !errors.Is(err, ErrUnfit) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A shape that is closed is not the one that is not.
func TestClosedIsKeptApart(t *testing.T) {
	s := New(Limits{})
	text := []byte(`{"properties":{"a":{}}}`)
	open, err1 := s.Of(text)
	closed, err2 := s.Closed(text)
	again, err3 := s.ClosedBy([32]byte{1}, func() []byte { return text })
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	kept, _ := s.ClosedBy([32]byte{1}, func() []byte { t.Error("asked again"); return nil })
	if open.Check([]byte(`{"b":1}`)) != nil || closed.Check([]byte(`{"b":1}`)) == nil || again == closed || kept != again {
		t.Error("one is taken for the other")
	}
	if _, err := s.ClosedBy([32]byte{2}, func() []byte { return []byte(`{"$ref":"https://a.example/x"}`) }); !errors.Is(err, ErrReference) {
		t.Error(err)
	}
}

func BenchmarkClosed1kB(b *testing.B) {
	s := mustClosed(b, `{"type":"object","properties":{"project_id":{"type":"string"},"branch":{"type":"string"},"commit_message":{"type":"string"},
		"actions":{"type":"array","items":{"type":"object","properties":{"action":{"type":"string","enum":["create","update","delete"]},"file_path":{"type":"string"},
		"content":{"type":"string"},"encoding":{"enum":["text","base64"]},"last_commit_id":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["action","file_path"]}},
		"force":{"type":"boolean"},"author_email":{"type":"string"},"author_name":{"type":"string"},"stats":{"type":"boolean"},"limit":{"type":"integer"}},
		"required":["project_id","branch","commit_message","actions"]}`)
	v := []byte(`{"project_id":"group/project","branch":"feature/login","commit_message":"Add the form and its test","actions":[` +
		`{"action":"create","file_path":"src/login/form.ts","content":"` + strings.Repeat(`export const a = 1;\n`, 20) + `","encoding":"text"},` +
		`{"action":"update","file_path":"src/login/form.test.ts","content":"` + strings.Repeat(`expect(a).toBe(1);\n`, 12) + `","encoding":"text","last_commit_id":null}],` +
		`"force":false,"author_email":"agent@example.test","author_name":"Agent","stats":true,"limit":9007199254740993}`)
	var d flat.Doc
	if !d.Read(v, "", flat.MaxNodes, false) {
		b.Fatal("not read")
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(v)))
	for b.Loop() {
		if err := s.CheckRead(&d); err != nil {
			b.Fatal(err)
		}
	}
}
