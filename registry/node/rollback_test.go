package node_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/node"
)

// grow opens the folder, enrols one more operator and closes it.
func grow(t *testing.T, cfg node.Config) {
	t.Helper()
	n, err := node.Open(context.Background(), cfg, node.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pub, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	k, err := envelope.NewKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.EnrolOperator(context.Background(), k); err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
}

func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	private := func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := os.FileMode(0o600)
		if d.IsDir() {
			mode = 0o700
		}
		return os.Chmod(path, mode)
	}
	if err := filepath.WalkDir(to, private); err != nil {
		t.Fatal(err)
	}
}

// TestPutBackFolderDoesNotStart is RULES.md 28: a log that is older than a
// checkpoint kept outside it does not start, be it only the log that was put
// back or the whole folder with the checkpoint in it.
func TestPutBackFolderDoesNotStart(t *testing.T) {
	data, away := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "elsewhere")
	old := filepath.Join(t.TempDir(), "old")
	if err := os.Mkdir(away, 0o700); err != nil {
		t.Fatal(err)
	}
	cfg := node.Config{Data: data, Listen: "127.0.0.1:0", Admin: "off", Ledger: node.LogConfig{Copies: []string{filepath.Join(away, "checkpoint")}}}
	grow(t, cfg)
	copyFolder(t, data, old)
	grow(t, cfg)
	now := filepath.Join(t.TempDir(), "now")
	copyFolder(t, data, now)

	refused := func(what string) {
		t.Helper()
		n, err := node.Open(context.Background(), cfg, node.Options{})
		if !errors.Is(err, ledger.ErrRollback) {
			t.Errorf("%s: %v", what, err)
		}
		if err == nil {
			n.Close()
		}
		rep, err := node.VerifyLedger(context.Background(), cfg, node.Options{}, nil)
		if err != nil || !rep.Tampered() || len(rep.Problems) == 0 || rep.Problems[0].Kind != ledger.KindRollback {
			t.Errorf("%s: verify: %v %v", what, err, rep.Problems)
		}
	}
	copyFolder(t, old, data)
	refused("the whole folder put back")

	copyFolder(t, now, data)
	copyFolder(t, filepath.Join(old, "log"), filepath.Join(data, "log"))
	cfg.Ledger.Copies = nil
	refused("only the log put back")

	copyFolder(t, now, data)
	grow(t, cfg) // untouched, it goes on
}
