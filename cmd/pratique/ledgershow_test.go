package main

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/decisions"
)

// TestRecordRow: a line of the decision log names the run and the entry as other verbs
// take them, and says what rules that only record would have decided.
func TestRecordRow(t *testing.T) {
	r := decisions.Record{Spool: "spool_1", Index: 7}
	r.Entry.Run, r.Entry.Call, r.Entry.Verb, r.Entry.Reason = "run_1", "call_1", "allow", "cleared"
	r.Entry.Shadow = []registry.EntryShadow{{Verb: "deny", Reason: "rule_never", Rule: "tighter"}}
	row := recordRow(r)
	if len(row) != len(recordColumns) {
		t.Fatalf("%d columns for %d", len(row), len(recordColumns))
	}
	line := strings.Join(row, " ")
	for _, want := range []string{"run_1 call_1 ", "allow cleared; tighter would deny", " spool_1 7 "} {
		if !strings.Contains(line, want) {
			t.Errorf("no %q in %s", want, line)
		}
	}
	if strings.Contains(line, "needs") {
		t.Errorf("it was no ask: %s", line)
	}
	r.Entry.Verb, r.Entry.Reason, r.Entry.Needs, r.Entry.Shadow = "deny", "no_channel", labels.AssurancePasskey, nil
	if line := strings.Join(recordRow(r), " "); !strings.Contains(line, "deny no_channel (needs passkey)") {
		t.Errorf("not what an answer would have had to be: %s", line)
	}
	out, err := json.Marshal(eventsOutput{Entries: []decisions.Record{r}})
	if err != nil || !strings.Contains(string(out), `"needs":"passkey"`) {
		t.Errorf("%s, %v", out, err)
	}
}
