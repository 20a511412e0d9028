package shape

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/internal/flat"
)

// shut writes a schema with one more word in each object that lists members and says
// nothing of others: what the specification itself has for that. It knows nothing of
// schemas that speak of one value from two places, so it may refuse more than Closed.
func shut(v any, word string, place bool) any {
	m, ok := v.(map[string]any)
	if !ok {
		if l, ok := v.([]any); ok {
			for i := range l {
				l[i] = shut(l[i], word, place)
			}
		}
		return v
	}
	for k, sub := range m {
		switch k {
		case "properties", "patternProperties", "dependentSchemas":
			for name, x := range sub.(map[string]any) {
				sub.(map[string]any)[name] = shut(x, word, k != "dependentSchemas")
			}
		case "$defs", "definitions":
			for name, x := range sub.(map[string]any) {
				sub.(map[string]any)[name] = shut(x, word, false)
			}
		case "items", "prefixItems", "contains", "additionalProperties", "unevaluatedProperties":
			m[k] = shut(sub, word, true)
		case "allOf", "anyOf", "oneOf", "if", "then", "else":
			m[k] = shut(sub, word, false)
		}
	}
	_, told := m["additionalProperties"]
	_, tooTold := m["unevaluatedProperties"]
	if place && !told && !tooTold && lists(m) {
		m[word] = false
	}
	return m
}

// lists tells whether a schema lists members, itself or in one that it takes in.
func lists(v any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, lists)
	case map[string]any:
		if v["properties"] != nil || v["$ref"] != nil {
			return true
		}
		for _, word := range []string{"allOf", "anyOf", "oneOf", "if", "then", "else"} {
			if lists(v[word]) {
				return true
			}
		}
	}
	return false
}

func decoded(t testing.TB, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func encoded(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Of schemas made up of every word, values that fit with unevaluatedProperties in each
// object fit closed, and what fits closed fits.
func TestClosedAgreesWithUnevaluated(t *testing.T) {
	m := maker{rand.New(rand.NewPCG(5, 2026))}
	fit, refused := 0, 0
	for range 4000 {
		text := `{"definitions":{"d":` + m.schema(1) + `},` + m.of(`"allOf":[`, `"anyOf":[`, `"oneOf":[`) + m.schema(3) + `]` +
			m.of("", `,"properties":{"a":`+m.schema(2)+`,"b":`+m.schema(2)+`}`) + `}`
		open, err := New(Limits{Steps: 1 << 12}).Of([]byte(text))
		if err != nil {
			continue
		}
		closed := mustClosed(t, text)
		if strings.Contains(text, `"propertyNames"`) || strings.Contains(text, `"(?=a)"`) {
			continue // where ours is looser, or the word says something else
		}
		strict, err := New(Limits{Steps: 1 << 12}).Of([]byte(encoded(t, shut(decoded(t, text), "unevaluatedProperties", true))))
		if err != nil {
			t.Fatal(err)
		}
		for range 12 {
			v := []byte(m.value(3))
			was, is, most := open.Check(v), closed.Check(v), strict.slowly(v, ample())
			switch {
			case most == nil && was == nil && is != nil && !errors.Is(is, ErrUndecided):
				t.Fatalf("%s fits with unevaluatedProperties, and not closed (%v): %s", v, is, text)
			case is == nil && errors.Is(was, ErrUnfit):
				t.Fatalf("%s fits closed only: %s", v, text)
			case is == nil:
				fit++
			case was == nil:
				refused++
			}
		}
	}
	if fit < 3000 || refused < 300 { // else it says nothing
		t.Errorf("%d fit, %d were refused for a name", fit, refused)
	}
}

// Where one schema alone speaks of each object, closed is what additionalProperties
// says.
func TestClosedIsAdditionalFalse(t *testing.T) {
	m := maker{rand.New(rand.NewPCG(6, 2026))}
	var schema func(depth int) string
	schema = func(depth int) string {
		if depth == 0 {
			return m.of(`{}`, `{"type":"string"}`, `{"type":["number","null","object"]}`)
		}
		var all []string
		for _, n := range []string{"a", "b", "c"} {
			if m.IntN(2) == 0 {
				all = append(all, fmt.Sprintf(`%q:%s`, n, schema(depth-1)))
			}
		}
		return m.of(`{"properties":{`+strings.Join(all, ",")+`}}`, `{"type":["object","array"],"properties":{`+strings.Join(all, ",")+`},"items":`+schema(depth-1)+`}`,
			`{"additionalProperties":`+schema(depth-1)+`}`, `{"type":"array","items":`+schema(depth-1)+`}`)
	}
	fit, refused := 0, 0
	for range 4000 {
		text := schema(3)
		closed := mustClosed(t, text)
		oracle := mustShape(t, encoded(t, shut(decoded(t, text), "additionalProperties", true)))
		for range 20 {
			v := []byte(m.value(4))
			want, got := oracle.slowly(v, ample()), closed.Check(v)
			if (want == nil) != (got == nil) {
				t.Fatalf("%s: closed says %v, additionalProperties %v: %s", v, got, want, text)
			}
			if want == nil {
				fit++
			} else {
				refused++
			}
		}
	}
	if fit < 3000 || refused < 3000 {
		t.Errorf("%d fit, %d were refused", fit, refused)
	}
}

// A sample makes values of a schema's own declared members.
type sample struct {
	full bool     // with all members that are listed, not those that must be there
	at   []string // pointers of the objects whose members are listed
}

func (s *sample) of(schema any, at string) any {
	m, _ := schema.(map[string]any)
	if e, ok := m["enum"].([]any); ok {
		return e[0]
	}
	if c, ok := m["const"]; ok {
		return c
	}
	for _, word := range []string{"anyOf", "oneOf", "allOf"} {
		if l, ok := m[word].([]any); ok && m["properties"] == nil {
			return s.of(l[0], at)
		}
	}
	kind := m["type"]
	if l, ok := kind.([]any); ok {
		kind = l[0]
	}
	switch kind {
	case "string":
		if m["pattern"] != nil {
			return "KEY"
		}
		n := 1.0
		if x, ok := m["minLength"].(float64); ok {
			n = max(n, x)
		}
		return strings.Repeat("1", int(n))
	case "number", "integer":
		if x, ok := m["minimum"].(float64); ok {
			return x
		}
		if x, ok := m["maximum"].(float64); ok {
			return min(x, 1)
		}
		return 1
	case "boolean":
		return true
	case "null":
		return nil
	case "array":
		return []any{s.of(m["items"], at+"/0")}
	case "object":
		return s.object(m, at)
	}
	return "anything"
}

func (s *sample) object(m map[string]any, at string) any {
	out := map[string]any{}
	props, lists := m["properties"].(map[string]any)
	if more, told := m["additionalProperties"]; told && more != false {
		out["whatever"] = s.of(more, at+"/whatever")
	} else if lists {
		s.at = append(s.at, at)
	}
	required, _ := m["required"].([]any)
	for name, sub := range props {
		if s.full || slices.Contains(required, any(name)) {
			out[name] = s.of(sub, at+"/"+name)
		}
	}
	return out
}

// insert puts a member into the object at a pointer.
func insert(v any, at, name string) {
	for _, step := range strings.Split(strings.TrimPrefix(at, "/"), "/") {
		switch x := v.(type) {
		case map[string]any:
			if step != "" {
				v = x[step]
			}
		case []any:
			v = x[0]
		}
	}
	v.(map[string]any)[name] = 1
}

func quickClosed(s *Shape, v []byte) bool {
	var d flat.Doc
	return d.Read(v, "", flat.MaxNodes, false) && s.plainly(s.tight, &d, ample())
}

// Every tool of the lists takes all that it lists, and nothing else wherever it lists.
func TestClosedRealTools(t *testing.T) {
	dir := os.Getenv("PRATIQUE_TOOLLISTS")
	if dir == "" {
		t.Skip("PRATIQUE_TOOLLISTS is not set")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*-tools.json"))
	sort.Strings(files)
	tools, places, quick := 0, 0, 0
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var list struct {
			Tools []struct {
				Name        string         `json:"name"`
				InputSchema jsontext.Value `json:"inputSchema"`
			} `json:"tools"`
		}
		if err := json.Unmarshal(raw, &list); err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			tools++
			open, closed := mustShape(t, string(tool.InputSchema)), mustClosed(t, string(tool.InputSchema))
			for _, full := range []bool{true, false} {
				s := sample{full: full}
				v := []byte(encoded(t, s.of(decoded(t, string(tool.InputSchema)), "")))
				if err := open.slowly(v, ample()); err != nil {
					t.Fatalf("%s: the sample %s does not fit: %v", tool.Name, v, err)
				}
				if err := closed.Check(v); err != nil {
					t.Errorf("%s: %v of %s", tool.Name, err, v)
				}
				if full && quickClosed(closed, v) {
					quick++
				} else if full {
					t.Log("left to the library:", tool.Name)
				}
				for _, at := range s.at {
					for _, name := range []string{"project_ID", "extra", "a.b", ""} {
						places++
						bad := decoded(t, string(v))
						insert(bad, at, name)
						err := closed.Check([]byte(encoded(t, bad)))
						if f, ok := errors.AsType[*Fault](err); !ok || f.Path != at+"/"+name {
							t.Errorf("%s: %v of %q at %q", tool.Name, err, name, at)
						}
					}
				}
			}
		}
	}
	t.Logf("%d tools, %d of them judged quickly, %d unknown names refused", tools, quick, places)
	if tools == 0 || quick < tools*9/10 {
		t.Errorf("%d of %d are judged quickly", quick, tools)
	}
}
