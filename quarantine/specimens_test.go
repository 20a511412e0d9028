package quarantine_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/quarantine"
)

func Example() {
	set, err := quarantine.Specimens("tool", jsontext.Value(`{"name":"find","inputSchema":{"properties":{"q":{"description":"what to find"}}}}`))
	if err != nil {
		panic(err)
	}
	for _, s := range set {
		fmt.Printf("%s (%s): %s\n", s.Path, s.Kind, s.Text)
	}
	fmt.Println(quarantine.Worse(quarantine.Clear, quarantine.Missing))
	// Output:
	// name (name): find
	// inputSchema.properties.q (name): q
	// inputSchema.properties.q.description (description): what to find
	// missing
}

// places are the string members of the MCP schema, all revisions, that an agent
// may come to read, with what each is judged as. "*" in a path is any name, "0"
// an element of an array.
var places = map[string]map[string]quarantine.Kind{
	"tool": {
		"name": "name", "title": "title", "description": "description",
		"annotations.title": "title", "annotations.x": "description",
		"icons.0.src": "uri", "icons.0.mimeType": "value", "icons.0.sizes.0": "value", "icons.0.theme": "value",
		"execution.taskSupport": "value", "_meta.x.y": "description", "x-unknown": "description",
	},
	"prompt": {
		"name": "name", "title": "title", "description": "description",
		"arguments.0.name": "name", "arguments.0.title": "title", "arguments.0.description": "description",
		"icons.0.src": "uri", "_meta.x": "description",
	},
	"resource": {
		"uri": "uri", "name": "title", "title": "title", "description": "description", "mimeType": "value",
		"annotations.audience.0": "value", "annotations.lastModified": "value", "icons.0.src": "uri", "_meta.x": "description",
	},
	"template": {
		"uriTemplate": "uri", "name": "title", "title": "title", "description": "description", "mimeType": "value",
		"annotations.audience.0": "value", "icons.0.src": "uri", "_meta.x": "description",
	},
	"server": {
		"name": "title", "title": "title", "version": "value", "description": "description", "websiteUrl": "uri", "icons.0.src": "uri", "x": "description",
	},
}

// schemaPlaces are the keywords of JSON Schema 2020-12 and draft-07 under which
// text stands, in both schemas of a tool.
var schemaPlaces = map[string]quarantine.Kind{
	"title": "title", "description": "description", "$comment": "description", "$schema": "uri", "$id": "uri", "$anchor": "uri",
	"$ref": "uri", "$dynamicRef": "uri", "$dynamicAnchor": "uri", "$recursiveRef": "uri",
	"type": "value", "format": "value", "pattern": "value", "contentEncoding": "value", "contentMediaType": "value",
	"enum.0": "value", "const": "value", "const.a.b": "value", "default": "value", "default.0": "value", "examples.0": "value", "example": "value",
	"required.0": "name", "dependentRequired.a.0": "name", "dependencies.a.0": "value", "x-enum.0": "description",
	"properties.p.description": "description", "properties.p.enum.0": "value", "properties.p.properties.q.title": "title",
	"properties.description.description": "description", "properties.p.x-hint": "description",
	"patternProperties.p.description": "description", "additionalProperties.description": "description",
	"unevaluatedProperties.description": "description", "propertyNames.description": "description", "propertyNames.enum.0": "value",
	"$defs.x.description": "description", "definitions.x.description": "description", "$defs.x.$defs.y.default": "value",
	"items.description": "description", "items.0.description": "description", "prefixItems.0.description": "description",
	"additionalItems.description": "description", "unevaluatedItems.description": "description", "contains.description": "description",
	"not.description": "description", "if.description": "description", "then.description": "description", "else.description": "description",
	"allOf.0.description": "description", "anyOf.0.description": "description", "oneOf.0.const": "value", "contentSchema.description": "description",
	"dependentSchemas.x.description": "description", "dependencies.x.description": "description",
}

// returned are the string members of results, errors, notifications and
// questions.
var returned = []string{
	"content.0.text", "content.0.resource.text", "content.0.resource.uri", "content.0.resource.blob", "content.0.uri", "content.0.name",
	"content.0.title", "content.0.description", "content.0.mimeType", "content.0.data", "content.0._meta.x", "content.0.annotations.audience.0",
	"structuredContent.a.b.0.c", "structuredContent", "_meta.x", "contents.0.text", "contents.0.uri", "contents.0.blob",
	"description", "messages.0.content.text", "messages.0.role", "messages.0.content.0.text", "completion.values.0", "resultType",
	"inputRequests.a.params.message", "inputRequests.a.params.requestedSchema.properties.p.description", "requestState", "unknown.x",
}

var messages = []string{
	"message", "data", "data.x", "data.0", "logger", "level", "progressToken", "reason", "uri",
	"requestedSchema.properties.p.description", "requestedSchema.properties.p.enum.0", "requestedSchema.properties.p.enumNames.0", "url", "elicitationId",
	"systemPrompt", "messages.0.content.text", "modelPreferences.hints.0.name", "stopSequences.0", "metadata.x", "tools.0.description",
}

const marker = "marked text"

// build makes a document with the marker at a path.
func build(path string) any {
	first, rest, more := strings.Cut(path, ".")
	var v any = marker
	if more {
		v = build(rest)
	}
	if first == "0" {
		return []any{v}
	}
	return map[string]any{first: v}
}

func raw(t *testing.T, v any) jsontext.Value {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// found is the kind of the marker's specimen.
func found(t *testing.T, set []quarantine.Specimen, err error) (kind quarantine.Kind, path string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range set {
		if s.Text == marker {
			return s.Kind, s.Path
		}
	}
	return "", ""
}

func TestEveryStringOfAnItem(t *testing.T) {
	all := map[string]map[string]quarantine.Kind{}
	for kind, list := range places {
		all[kind] = list
	}
	for path, kind := range schemaPlaces {
		all["tool"]["inputSchema."+path] = kind
		all["tool"]["outputSchema."+path] = kind
	}
	for item, list := range all {
		for path, want := range list {
			set, err := quarantine.Specimens(item, raw(t, build(path)))
			got, at := found(t, set, err)
			if got != want {
				t.Errorf("%s %s is judged as %q, want %q", item, path, got, want)
			}
			if shown := strings.ReplaceAll(path, ".0", "[0]"); at != shown {
				t.Errorf("%s %s has the path %s", item, path, at)
			}
		}
	}
	if set, err := quarantine.Specimens("instructions", jsontext.Value(`"marked text"`)); err != nil || len(set) != 1 || set[0].Kind != quarantine.KindInstruction {
		t.Errorf("instructions: %v, %v", set, err)
	}
}

// What a tool says of its effects is held against the rest.
func TestHintsOfATool(t *testing.T) {
	set, err := quarantine.Specimens("tool", jsontext.Value(`{"name":"a","annotations":{"readOnlyHint":true,"openWorldHint":false,"destructiveHint":"yes","x":true}}`))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, s := range set {
		if s.Kind == quarantine.KindValue {
			got += s.Path + "=" + s.Text + ";"
		}
	}
	if got != "annotations.readOnlyHint=true;annotations.openWorldHint=false;annotations.destructiveHint=yes;" {
		t.Error(got)
	}
}

// Names that somebody else chose are specimens too.
func TestEveryNameOfAnItem(t *testing.T) {
	for _, path := range []string{
		"inputSchema.properties.*", "inputSchema.$defs.*", "inputSchema.definitions.*", "inputSchema.properties.p.properties.*", "inputSchema.*",
		"inputSchema.properties.p.*", "inputSchema.dependentRequired.*", "inputSchema.dependentSchemas.*", "outputSchema.properties.*", "*",
		"inputSchema.patternProperties.*", "inputSchema.properties.p.default.*", "inputSchema.properties.p.const.*", "annotations.*", "_meta.*", "_meta.x.*", "icons.0.*",
	} {
		doc := build(strings.Replace(path, "*", marker, 1))
		set, err := quarantine.Specimens("tool", raw(t, doc))
		kind, at := found(t, set, err)
		want := quarantine.KindName
		if strings.Contains(path, "pattern") || strings.Contains(path, "default") || strings.Contains(path, "const") {
			want = quarantine.KindValue
		}
		if kind != want || !strings.Contains(at, `["marked text"]`) {
			t.Errorf("the name %s is judged as %q at %s", path, kind, at)
		}
	}
}

func TestEveryStringThatIsReturned(t *testing.T) {
	for _, path := range returned {
		set, err := quarantine.ResultSpecimens("tools/call", raw(t, build(path)))
		if kind, _ := found(t, set, err); kind != quarantine.KindResult {
			t.Errorf("result %s: %q", path, kind)
		}
		set, err = quarantine.ErrorSpecimens(raw(t, build("data."+path)))
		if kind, _ := found(t, set, err); kind != quarantine.KindResult {
			t.Errorf("error data %s: %q", path, kind)
		}
	}
	for _, path := range messages {
		set, err := quarantine.MessageSpecimens("notifications/message", raw(t, build(path)))
		if kind, _ := found(t, set, err); kind != quarantine.KindMessage {
			t.Errorf("message %s: %q", path, kind)
		}
	}
	for _, path := range []string{"structuredContent.*", "structuredContent.a.0.*", "_meta.*", "*", "content.0.*"} {
		set, err := quarantine.ResultSpecimens("tools/call", raw(t, build(strings.Replace(path, "*", marker, 1))))
		if kind, _ := found(t, set, err); kind != quarantine.KindResult {
			t.Errorf("the name %s: %q", path, kind)
		}
	}
	set, err := quarantine.ErrorSpecimens(raw(t, build("message")))
	if kind, path := found(t, set, err); kind != quarantine.KindResult || path != "error.message" {
		t.Errorf("error message: %q %s", kind, path)
	}
	if set, err := quarantine.MessageSpecimens("roots/list", nil); err != nil || len(set) != 0 {
		t.Errorf("no params: %v, %v", set, err)
	}
}

func quote(t *testing.T, s string) string { return string(raw(t, s)) }

// JSON inside of strings is taken apart as deep as it is bounded, below that it
// is one text with its escapes; base64 that is text is read.
func TestInside(t *testing.T) {
	text := "marked\ntext" // has an escape at every level
	doc := `{"a":` + quote(t, text) + `}`
	for level := range quarantine.MaxInner + 2 {
		set, err := quarantine.ResultSpecimens("tools/call", jsontext.Value(`{"content":[{"type":"text","text":`+quote(t, doc)+`}]}`))
		if err != nil {
			t.Fatal(err)
		}
		hit := false
		for _, s := range set {
			hit = hit || s.Text == text
		}
		if want := level < quarantine.MaxInner; hit != want {
			t.Errorf("%d levels: found %v", level+1, hit)
		}
		doc = `{"b":` + quote(t, doc) + `}`
	}
	blob := base64.StdEncoding.EncodeToString([]byte("marked text, long enough to be read"))
	set, err := quarantine.ResultSpecimens("resources/read", jsontext.Value(`{"contents":[{"uri":"file:///a","blob":"`+blob+`"}]}`))
	if err != nil || set[len(set)-1].Text != "marked text, long enough to be read" {
		t.Errorf("%v, %v", set, err)
	}
}

func TestUnreadable(t *testing.T) {
	for name, c := range map[string]struct {
		kind, raw string
		want      error
	}{
		"kind":           {"banana", `{}`, quarantine.ErrItemKind},
		"empty":          {"tool", ``, quarantine.ErrUnreadable},
		"an array":       {"tool", `[]`, quarantine.ErrUnreadable},
		"a string":       {"tool", `"x"`, quarantine.ErrUnreadable},
		"instructions":   {"instructions", `{}`, quarantine.ErrUnreadable},
		"broken":         {"tool", `{"name":`, quarantine.ErrUnreadable},
		"trailing":       {"tool", `{} {}`, quarantine.ErrUnreadable},
		"duplicate":      {"tool", `{"name":"a","name":"b"}`, quarantine.ErrUnreadable},
		"duplicate deep": {"tool", `{"x":[{"a":1,"\u0061":2}]}`, quarantine.ErrUnreadable},
		"not UTF-8":      {"tool", "{\"name\":\"\xff\"}", quarantine.ErrUnreadable},
		"surrogate":      {"tool", `{"name":"\ud800"}`, quarantine.ErrUnreadable},
		"deep":           {"tool", `{"x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, quarantine.ErrTooDeep},
		"very deep":      {"tool", `{"x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, quarantine.ErrTooDeep},
		"many":           {"tool", `{"x":["a"` + strings.Repeat(`,"a"`, quarantine.MaxSpecimens) + `]}`, quarantine.ErrTooMany},
	} {
		set, err := quarantine.Specimens(c.kind, jsontext.Value(c.raw))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %d specimens, %v", name, len(set), err)
		}
	}
	if _, err := quarantine.ResultSpecimens("tools/call", jsontext.Value(`{"a":`)); !errors.Is(err, quarantine.ErrUnreadable) {
		t.Errorf("result: %v", err)
	}
}

func TestVerdicts(t *testing.T) {
	order := []quarantine.Verdict{quarantine.Clear, quarantine.Missing, quarantine.Suspect, quarantine.Hostile}
	for i, a := range order {
		for j, b := range order {
			if got := quarantine.Worse(a, b); got != order[max(i, j)] {
				t.Errorf("Worse(%v, %v) = %v", a, b, got)
			}
		}
		text, err := a.MarshalText()
		var back quarantine.Verdict
		if err != nil || back.UnmarshalText(text) != nil || back != a {
			t.Errorf("%v does not come back", a)
		}
	}
	if v, err := quarantine.ParseVerdict("CLEAR"); err == nil || v != quarantine.Missing {
		t.Error("another spelling is clear")
	}
	if quarantine.Verdict(99).String() != "missing" {
		t.Error("an unknown verdict has a name")
	}
}

// Whatever comes in, nothing panics, paths can be shown to people, and each
// string that the decoder sees is a specimen.
func FuzzSpecimens(f *testing.F) {
	f.Add(`{"name":"a","inputSchema":{"properties":{"q":{"$ref":"#/x","enum":["a",null,1]}}}}`)
	f.Add(`{"content":[{"type":"text","text":"{\"a\":\"\\n\"}"},{"type":"image","data":"aGVsbG8gaGVsbG8gaGVsbG8="}]}`)
	f.Add(`"x"`)
	f.Add(`{"\u0000":{"` + "\u202e" + `":"\ud83d\ude00"}}`)
	f.Add(`[[[["a"]]]]`)
	f.Fuzz(func(t *testing.T, text string) {
		kinds := map[string]bool{}
		for _, k := range quarantine.Kinds() {
			kinds[string(k)] = true
		}
		check := func(set []quarantine.Specimen, err error) {
			for _, s := range set {
				if s.Text == "" || !kinds[string(s.Kind)] || !utf8.ValidString(s.Text) {
					t.Fatalf("%+v", s)
				}
				for _, c := range s.Path {
					if c < ' ' || c > '~' && c != '…' {
						t.Fatalf("path %q", s.Path)
					}
				}
			}
			if err == nil && !jsontext.Value(text).IsValid() {
				t.Fatal("not JSON, and no error")
			}
		}
		for _, k := range []string{"tool", "prompt", "resource", "template", "server", "instructions"} {
			check(quarantine.Specimens(k, jsontext.Value(text)))
		}
		check(quarantine.ResultSpecimens("tools/call", jsontext.Value(text)))
		if text != "" {
			check(quarantine.MessageSpecimens("notifications/message", jsontext.Value(text)))
		}
	})
}
