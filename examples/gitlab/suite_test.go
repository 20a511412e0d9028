package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/examples/unattended"
	"github.com/pratique-dev/pratique/examples/unattended/launch"
)

// named are the tools of the intent.
const named = "get_file_contents create_branch create_or_update_file push_files create_merge_request create_pipeline"

// TestDirect: without Pratique every attack works, and so does every call of the
// agent's work.
func TestDirect(t *testing.T) {
	w := newGitLab()
	d := unattended.Sit(t, w.command(t), w)
	if len(d.Tools) != 262 {
		t.Errorf("%d tools, want 262", len(d.Tools))
	}
	d.Works(vectors(t, "testdata/attacks.jsonl"), vectors(t, "testdata/benign.jsonl"))
}

// TestSealed is the suite under the sealed intent, over stdio and over HTTP: of 262
// tools six are left, and of those only what the intent says.
func TestSealed(t *testing.T) {
	attacks, benign := vectors(t, "testdata/attacks.jsonl"), vectors(t, "testdata/benign.jsonl")
	for way, sit := range ways(t) {
		t.Run(way, func(t *testing.T) {
			w := newGitLab()
			all := unattended.Sit(t, w.command(t), w)
			d := sit(t, w)
			if got := names(d); got != sorted(named) {
				t.Errorf("listed: %s", got)
			}
			rest := d.Others(all, mostWant)
			if n := d.Unheard(rest); n != 256 || len(rest) != 256 || len(d.Heard()) != 0 || w.Requests() != 0 {
				t.Errorf("%d of %d other tools refused; the server heard %q, GitLab had %d requests", n, len(rest), d.Heard(), w.Requests())
			}
			d.Again()
			c := d.Holds(attacks, benign)
			t.Logf("%s: %s", way, c)
			if own := c.Attacks - c.Public; own < 17 || c.Public < 18 || c.Benign < 40 || c.Blocked != c.Attacks || c.Passed != c.Benign {
				t.Errorf("%s", c)
			}
		})
	}
}

// ways are how an agent comes to its sealed intent.
func ways(t *testing.T) map[string]func(t *testing.T, w *gitlab) *unattended.Desk {
	return map[string]func(t *testing.T, w *gitlab) *unattended.Desk{
		"guard": func(t *testing.T, w *gitlab) *unattended.Desk {
			return unattended.Guarded(t, w.command(t), w, launch.Guard{Name: "gitlab", Intent: "testdata/intent.yaml", Data: unattended.Scratch(t, "suite")})
		},
		"up": func(t *testing.T, w *gitlab) *unattended.Desk {
			return unattended.Behind(t, w.command(t), w, "gitlab", strings.Replace(intent, "launch: gitlab\n", "", 1))
		},
	}
}

// TestProbes: what this server does not take or ignores today is refused all the same.
func TestProbes(t *testing.T) {
	probes := vectors(t, "testdata/probes.jsonl")
	w := newGitLab()
	d := ways(t)["guard"](t, w)
	t.Log(d.Holds(probes, nil))
}

// TestRulesAlone: the same rules as an operator's rule file, without an intent, hold
// the same; what is missing is the boundary in time.
func TestRulesAlone(t *testing.T) {
	_, rules, _ := strings.Cut(intent, "\nrules:\n")
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, []byte("rules:\n"+rules), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newGitLab()
	d := unattended.Guarded(t, w.command(t), w, launch.Guard{Name: "gitlab", Rules: file, Data: unattended.Scratch(t, "suite")})
	attacks := vectors(t, "testdata/attacks.jsonl")
	for i := range attacks {
		if attacks[i].Reason == "outside_intent" {
			attacks[i].Reason = "no_rule|guard" // guards look at every tool
		}
	}
	t.Log(d.Holds(attacks, vectors(t, "testdata/benign.jsonl")))
}
