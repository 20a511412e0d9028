package policy_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pratique-dev/pratique/labels/policy"
)

// TestRenew: a file that is being written is taken over when it is found alike twice,
// so that its first half decides nothing.
func TestRenew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const first, half, whole = "rules:\n- {name: a, allow: [x]}\n", "rules:\n- {name: all, allow: [\"*\"]}\n", "rules:\n- {name: all, allow: [\"*\"]}\n- {name: no, never: [y]}\n"
	write(first)
	s, err := policy.OpenSource(path)
	if err != nil {
		t.Fatal(err)
	}
	look := func(want bool) {
		t.Helper()
		if changed, err := s.Renew(); err != nil || changed != want {
			t.Errorf("changed %v (%v), want %v", changed, err, want)
		}
	}
	look(false)
	write(half)
	look(false)
	write(whole)
	look(false) // the half is never what decides
	if s.Rules().Len() != 1 {
		t.Error("the first half of a file is in force")
	}
	look(true)
	if s.Rules().Len() != 2 {
		t.Error("the file is not taken over")
	}
	look(false)
	write("rules: [")
	look(false)
	if _, err := s.Renew(); err == nil || s.Rules().Len() != 2 {
		t.Errorf("a broken file: %v", err)
	}
	write(whole)
	look(false)
}
