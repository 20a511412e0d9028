package quarantine

import (
	"errors"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// nested is a value inside of so many objects.
func nested(depth int, name, value string) string {
	return strings.Repeat(`{"`+name+`":`, depth) + value + strings.Repeat("}", depth)
}

// worst are names that are long in a path beside what they are in a document.
var worst = map[string]string{
	"tags": strings.Repeat("\U000e0041", 16), "controls": strings.Repeat(`\u0001`, 64), "letters": strings.Repeat("é", 32), "plain": strings.Repeat("a", 64), "long": strings.Repeat("é", 500),
}

// TestPathsAreShort: however deep and under whatever names, a path is short, and
// no two places have the same.
func TestPathsAreShort(t *testing.T) {
	for what, name := range worst {
		for _, depth := range []int{1, 2, 3, 10, 58, 120} {
			leaves := `{"a":["x","y",["z"]],"b":"v","` + name + `":"w"}`
			quoted, err := jsontext.AppendQuote(nil, nested(min(depth, 60), name, leaves))
			if err != nil {
				t.Fatal(err)
			}
			raw := `{"structuredContent":` + nested(depth, name, leaves) + `,"content":[{"text":` + string(quoted) + `}]}`
			set, err := ResultSpecimens("tools/call", jsontext.Value(raw))
			if err != nil {
				t.Fatalf("%s, %d deep: %v", what, depth, err)
			}
			seen := map[string]bool{}
			for _, s := range set {
				key := s.Path + strconv.FormatBool(s.Name)
				if len(s.Path) > MaxPath || seen[key] {
					t.Errorf("%s, %d deep: %d bytes, seen %v: %s", what, depth, len(s.Path), seen[key], s.Path)
				}
				seen[key] = true
			}
			if last := set[len(set)-1].Path; !strings.HasPrefix(last, "content[0].text") {
				t.Errorf("after what is deep: %s", last)
			}
		}
	}
}

// TestAUsualPathIsWhole: no place of an honest document is cut.
func TestAUsualPathIsWhole(t *testing.T) {
	set, err := ResultSpecimens("tools/call", jsontext.Value(`{"structuredContent":`+nested(8, "configuration", `["x"]`)+`}`))
	want := "structuredContent" + strings.Repeat(".configuration", 8) + "[0]"
	if err != nil || set[len(set)-1].Path != want {
		t.Errorf("%v %v", err, set)
	}
}

// TestPathsCostWhatTheirDocumentDoes: strings below long paths are few, or too many.
func TestPathsCostWhatTheirDocumentDoes(t *testing.T) {
	few := strings.Repeat(`"a",`, 250_000) + `"a"`
	for what, name := range worst {
		for how, take := range map[string]func(string) ([]Specimen, error){
			"result": func(v string) ([]Specimen, error) {
				return ResultSpecimens("tools/call", jsontext.Value(`{"structuredContent":`+v+`}`))
			},
			"tool": func(v string) ([]Specimen, error) {
				return Specimens("tool", jsontext.Value(`{"name":"t","_meta":`+v+`}`))
			},
			"in a string": func(v string) ([]Specimen, error) {
				q, err := jsontext.AppendQuote(nil, v+`"\u0041"`)
				if err != nil {
					t.Fatal(err)
				}
				return ResultSpecimens("tools/call", jsontext.Value(`{"content":[{"text":`+string(q)+`}]}`))
			},
		} {
			doc := nested(100, name, "["+few+"]")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			set, err := take(doc)
			runtime.ReadMemStats(&after)
			sum := 0
			for _, s := range set {
				sum += len(s.Path) + len(s.Text)
			}
			if most := (perByte + 8) * len(doc); sum > most {
				t.Errorf("%s, %s: %d bytes of paths and texts out of %d", what, how, sum, len(doc))
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 150*uint64(len(doc)) {
				t.Errorf("%s, %s: took %d MiB for %d bytes", what, how, took>>20, len(doc))
			}
			if !errors.Is(err, ErrTooMany) {
				t.Errorf("%s, %s: %v", what, how, err)
			}
		}
	}
	if set, err := ResultSpecimens("tools/call", jsontext.Value(`{"structuredContent":{"sheets":[{"values":[`+few+`]}]}}`)); err != nil || len(set) < 250_000 {
		t.Errorf("a long table: %d, %v", len(set), err)
	}
}

func TestShortPath(t *testing.T) {
	a, b := strings.Repeat("é", 1000)+"a", strings.Repeat("é", 1000)+"b"
	if x, y := ShortPath(a), ShortPath(b); len(x) > maxAbove || x == y || ShortPath(a) != x || ShortPath("name") != "name" {
		t.Errorf("%q %q", x, y)
	}
}
