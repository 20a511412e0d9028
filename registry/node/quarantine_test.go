package node_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/registry/holds"
	"github.com/pratique-dev/pratique/registry/node"
)

// TestDoctorLooksAtHolds: what is withheld is counted, and acts that are not what
// was written are a failure.
func TestDoctorLooksAtHolds(t *testing.T) {
	ctx := context.Background()
	cfg := node.Config{Data: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0", Admin: "off"}
	n := openQuiet(t, cfg, node.Options{})
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	said := func() (out string) {
		for _, f := range node.Doctor(ctx, cfg) {
			if f.Check == "holds" {
				out += f.Level + ": " + f.Detail + "\n"
			}
		}
		return out
	}
	if s := said(); s != "" {
		t.Errorf("of a folder without holds: %s", s)
	}
	if _, err := os.Stat(filepath.Join(cfg.Data, "keys", "holds")); err == nil {
		t.Error("the doctor made a key")
	}
	key, err := holds.LoadKey(cfg.Data)
	if err != nil {
		t.Fatal(err)
	}
	s, err := holds.Open(filepath.Join(cfg.Data, holds.Folder), holds.Options{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(ctx, holds.Hold{Subject: holds.Subject{Origin: "stdio:x", Kind: quarantine.KindResult}, Form: holds.FormResult}, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if s := said(); s != "ok: 1 are kept\n" {
		t.Errorf("of one: %s", s)
	}
	if err := os.Truncate(filepath.Join(cfg.Data, holds.Folder, "acts"), 3); err != nil {
		t.Fatal(err)
	}
	if s := said(); !strings.HasPrefix(s, "fail: holds: a file of the folder is damaged") {
		t.Errorf("of damaged acts: %s", s)
	}
}
