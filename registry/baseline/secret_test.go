package baseline_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pratique-dev/pratique/registry/baseline"
)

// TestBaselineSecretDamaged: with another secret every unnamed launch would be
// another place, and what it shows now would be pinned as first sight.
func TestBaselineSecretDamaged(t *testing.T) {
	k := newKit(t)
	k.update(pin("a", "v1", baseline.ByFirstSight))
	file := filepath.Join(k.dir, "secret")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{
		"a bit": append([]byte{good[0] ^ 1}, good[1:]...), "half": good[:len(good)/2], "empty": {}, "longer": append(good[:len(good):len(good)], 0),
	} {
		if err := os.WriteFile(file, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := baseline.Open(k.dir, k.options()); !errors.Is(err, baseline.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.WriteFile(file, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := baseline.Open(k.dir, k.options()); err != nil {
		t.Error(err)
	}
}
