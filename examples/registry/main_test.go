package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"registry": main})
}

// TestScripts runs the story as a stranger would, on the list of a real server.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("DATA", os.Getenv("PRATIQUE_TOOLLISTS"))
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond == "data" {
				return os.Getenv("PRATIQUE_TOOLLISTS") != "", nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
	})
}

// list is the GitLab list where it is at hand, else as many tools made up.
func list(t *testing.T) []jsontext.Value {
	t.Helper()
	if d := os.Getenv("PRATIQUE_TOOLLISTS"); d != "" {
		tools, err := readTools(filepath.Join(d, "gitlab-mcp-2.1.64-tools.json"))
		if err != nil {
			t.Fatal(err)
		}
		if len(tools) != 262 {
			t.Fatalf("%d tools, want 262", len(tools))
		}
		return tools
	}
	t.Log("PRATIQUE_TOOLLISTS is not set: a list made up")
	var tools []jsontext.Value
	for i := range leastTools {
		tools = append(tools, jsontext.Value(fmt.Sprintf(`{"name":"tool_%d","description":"Does %d.","inputSchema":{"type":"object"}}`, i, i)))
	}
	return tools
}

// TestAttacks asserts, for every attack, that none of at least 20 tries
// succeeded, the status and code of each refusal, and that each was refused for
// what it is; and that the owner was never refused.
func TestAttacks(t *testing.T) {
	tools := list(t)
	r, err := Tell(context.Background(), t.TempDir(), tools)
	if err != nil {
		t.Fatal(err)
	}
	if r.Registered != len(tools) || r.Requests != 1 {
		t.Errorf("registered %d tools in %d requests", r.Registered, r.Requests)
	}
	if !r.Untouched || !r.LogGood {
		t.Errorf("attacked tools untouched: %t, log verified: %t", r.Untouched, r.LogGood)
	}
	for i, a := range attacks {
		row := r.Rows[i]
		if row.Name != a.name || row.Tried < 20 || !row.Good() {
			t.Errorf("%s: %d of %d succeeded", row.Name, row.Succeeded, row.Tried)
		}
		refused := 0
		for answer, n := range row.Answers {
			if !slices.Contains(a.refused, answer) {
				t.Errorf("%s: refused with %s, want %v", a.name, answer, a.refused)
			}
			refused += n
		}
		if refused != row.Tried-row.Succeeded {
			t.Errorf("%s: %d refusals of %d", a.name, refused, row.Tried)
		}
		for _, d := range row.Details {
			if !strings.Contains(d, a.because) {
				t.Errorf("%s: refused because %q, want %q", a.name, d, a.because)
			}
		}
	}
}

// TestAttackNames has the table hold every attack that was promised.
func TestAttackNames(t *testing.T) {
	for _, want := range []string{"foreign overwrite", "foreign revoke", "foreign delegate", "foreign transfer", "same-name registration",
		"handle without key", "replayed proof", "altered body", "wrong tool", "wrong audience", "stale generation", "retired key", "revoked key",
		"owner's own overwrite", "owner's own revocation"} {
		if !slices.ContainsFunc(attacks, func(a attack) bool { return a.name == want }) {
			t.Errorf("no row %q", want)
		}
	}
}
