package declared_test

import (
	"bufio"
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/labels/effects/declared"
)

// A pair is a tool that goes too far, and one that has a reason to.
type pair struct {
	Class    declared.Class   `json:"class"`
	Bad, Fit jsontext.Value   `json:",case:ignore"`
	Origin   declared.Origin  `json:"origin,case:ignore"`
	Other    *declared.Origin `json:"bad_origin,case:ignore"` // of the bad one; nil: the same
}

func pairs(t testing.TB, file string) (out []pair) {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(bytes.NewReader(raw))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var p pair
		if err := json.Unmarshal(bytes.Clone(s.Bytes()), &p, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatal(err)
		}
		p.Origin.Known = true
		if p.Other == nil {
			p.Other = &p.Origin
		}
		p.Other.Known = true
		out = append(out, p)
	}
	return out
}

func judged(t testing.TB, raw jsontext.Value, o *declared.Origin) []declared.Finding {
	t.Helper()
	tool, err := declared.Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	return declared.Judge(tool, o)
}

// measure counts the bad that are found as of the right kind, and the fit in which
// anything is.
func measure(t *testing.T, file string, kind declared.Kind) (found, alarms, of int) {
	t.Helper()
	all := pairs(t, file)
	for _, p := range all {
		hit := false
		for _, f := range judged(t, p.Bad, p.Other) {
			if hit = hit || f.Kind == kind; f.Kind != kind || f.Class != p.Class {
				t.Logf("as another: %s %s (%s): %s", f.Kind, f.Class, p.Class, f.Why)
			}
		}
		if hit {
			found++
		} else {
			t.Logf("missed: %s %.160s", p.Class, p.Bad)
		}
		got := judged(t, p.Fit, &p.Origin)
		if len(got) > 0 {
			alarms++
			t.Errorf("%s: the twin: %s: %.160s", p.Class, got[0].Why, p.Fit)
		}
	}
	t.Logf("%s: %d of %d found, %d alarms on their twins", file, found, len(all), alarms)
	return found, alarms, len(all)
}

// Nine in ten of the tools that were written with the rules are found, and no twin.
func TestOverreach(t *testing.T) {
	if found, _, of := measure(t, "overreach.jsonl", declared.Overreach); of < 60 || found*10 < of*9 {
		t.Errorf("%d of %d", found, of)
	}
}

// The second half was written after the rules were fixed, by whoever wrote the rules:
// nothing was changed for it but where its test says so.
func TestOverreachLater(t *testing.T) {
	measure(t, "overreach-later.jsonl", declared.Overreach)
}

// The last ones were written after what the second half showed was mended, and
// nothing was changed since.
func TestOverreachLast(t *testing.T) {
	measure(t, "overreach-last.jsonl", declared.Overreach)
}

// TestConformanceTool: the tool by which the official suite tests schemas asks for a
// phone number and a mail address, and means neither.
func TestConformanceTool(t *testing.T) {
	raw := `{"name":"json_schema_2020_12_tool","description":"Tool with JSON Schema 2020-12 features for conformance testing","inputSchema":{"type":"object",
"properties":{"name":{"type":"string"},"contactMethod":{"enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}]}}`
	if got := judged(t, jsontext.Value(raw), &declared.Origin{Known: true}); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	weather := strings.NewReplacer("json_schema_2020_12_tool", "forecast", "Tool with JSON Schema 2020-12 features for conformance testing", "Shows the weather").Replace(raw)
	if got := judged(t, jsontext.Value(weather), &declared.Origin{Known: true}); len(got) == 0 {
		t.Error("a weather tool may ask for a phone number")
	}
}
