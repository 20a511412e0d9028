package declared_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/labels/effects/declared"
)

func TestContradictions(t *testing.T) {
	if found, _, of := measure(t, "contradiction.jsonl", declared.Contradiction); of < 40 || found*10 < of*9 {
		t.Errorf("%d of %d", found, of)
	}
}

// These were written after the rules were fixed.
func TestContradictionsLater(t *testing.T) {
	measure(t, "contradiction-later.jsonl", declared.Contradiction)
}

// Tools that work on nothing but what they are given may claim to read, whatever
// their verbs; so may queries, and descriptions that speak of others' deeds.
func TestHonestClaims(t *testing.T) {
	for _, c := range []string{
		`{"name":"add","description":"Adds two numbers.","inputSchema":{"properties":{"a":{"type":"number"},"b":{"type":"number"}}}}`,
		`{"name":"add","description":"Puts a and b together.","inputSchema":{"properties":{"a":{"type":"number"},"b":{"type":"integer"}}}}`,
		`{"name":"format_json","description":"Formats JSON.","inputSchema":{"properties":{"text":{"type":"string"}}}}`,
		`{"name":"remove_background","description":"Removes the background of pictures and crops them; a thumbnail.","title":"Crop pictures","inputSchema":{"properties":{"image":{"type":"string"}}}}`,
		`{"name":"generate_uuid","description":"Generates a UUID."}`,
		`{"name":"create_chart","description":"Creates a chart of a table."}`,
		`{"name":"run_query","description":"Runs a query. Writes and updates are rejected."}`,
		`{"name":"get_top","description":"Gets the top. Data comes from archives and updates every 2 hours."}`,
		`{"name":"get_rules","description":"Gets the rules that say who deletes what and creates it."}`,
	} {
		raw := jsontext.Value(c[:len(c)-1] + `,"annotations":{"readOnlyHint":true,"destructiveHint":false}}`)
		for _, f := range judged(t, raw, &declared.Origin{Known: true}) {
			t.Errorf("%s: %s", c, f.Why)
		}
	}
	for _, c := range []string{ // what looks like that and is none of it
		`{"name":"add","description":"Adds a row.","inputSchema":{"properties":{"user_id":{"type":"integer"},"group_id":{"type":"integer"}}}}`,
		`{"name":"run_statement","description":"Runs it."}`,
		`{"name":"format_json","description":"Formats JSON.","inputSchema":{"properties":{"path":{"type":"string"},"content":{"type":"string"}}}}`,
	} {
		raw := jsontext.Value(c[:len(c)-1] + `,"annotations":{"readOnlyHint":true}}`)
		if len(judged(t, raw, &declared.Origin{Known: true})) == 0 {
			t.Errorf("%s: nothing is found", c)
		}
	}
}
