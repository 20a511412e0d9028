package ledger

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fsckTool is Tessera's own checker, run as a tool in a folder of its own, so
// that it stays out of this module's go.mod.
const fsckTool = "github.com/transparency-dev/tessera/cmd/fsck@v1.0.4"

// TestFsckOutside lets Tessera's fsck walk a served log of 70,001 entries
// (Show 6), and one whose table somebody has changed: a checker that cannot
// fail shows nothing. It builds the tool from the network or the module cache:
// set PRATIQUE_OUTSIDE=1.
func TestFsckOutside(t *testing.T) {
	if os.Getenv("PRATIQUE_OUTSIDE") != "1" {
		t.Skip("PRATIQUE_OUTSIDE is not 1")
	}
	l := live(t, 70_001)
	if out, ok := fsck(t, l.url, l.s.VerifierKeys()[0]); !ok {
		t.Errorf("fsck refuses the log:\n%s", out)
	}
	both := testSigner(t, 2, 1) // in the middle of a key rotation
	l.add(t, l.tree, both, []byte("rotated"))
	if err := l.board.Publish(l.notes[len(l.notes)-1].note); err != nil {
		t.Fatal(err)
	}
	for _, k := range both.VerifierKeys() {
		if out, ok := fsck(t, l.url, k); !ok {
			t.Errorf("fsck refuses the dual-signed log under %s:\n%s", k, out)
		}
	}
	m := l.memLog.clone()
	m.rows[1234].data[0] ^= 1
	if out, ok := fsck(t, served(t, m, l.board, nil).URL+"/ledger/", l.s.VerifierKeys()[0]); ok {
		t.Errorf("fsck accepts a changed entry:\n%s", out)
	}
}

// fsck runs the tool. It exits with 0 in any case and says what it found in
// its log: nothing but an exit would be no proof.
func fsck(t *testing.T, url, vkey string) (out string, ok bool) {
	t.Helper()
	dir := t.TempDir()
	keyFile := filepath.Join(dir, "key")
	if err := os.WriteFile(keyFile, []byte(vkey), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	// A worker of v1.0.4 leaves at the first mismatch it finds, and with no
	// worker left the tool waits for ever: take more than a changed entry has
	// mismatches (its tile at each level).
	cmd := exec.CommandContext(ctx, "go", "run", fsckTool, "-storage_url", url, "-public_key", keyFile,
		"-ui=false", "-N=8", "-logtostderr", "-v=1")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	cmd.WaitDelay = time.Second // go run's child may outlive it and hold the pipes
	err := cmd.Run()
	out = b.String()
	if !strings.Contains(out, "Completed ranges") {
		t.Fatalf("fsck did not finish: %v\n%s", err, out)
	}
	return out, err == nil && strings.Contains(out, "Successfully fsck'd") && !strings.Contains(out, "fsck failed")
}
