package writer_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pratique-dev/pratique/registry/store/sqlite"
	"github.com/pratique-dev/pratique/registry/writer"
)

// snapshots keeps a snapshot at path under a key.
func snapshots(path, key string) *writer.Snapshots {
	sum := func(m []byte) []byte {
		h := hmac.New(sha256.New, []byte(key))
		h.Write(m)
		return h.Sum(nil)
	}
	return &writer.Snapshots{
		Path: path,
		Sign: func(m []byte) ([]byte, error) { return sum(m), nil },
		Verify: func(m, sig []byte) error {
			if !hmac.Equal(sum(m), sig) {
				return errors.New("not ours")
			}
			return nil
		},
	}
}

func tables(t *testing.T, w *writer.Writer) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := must(w.Barrier(ctx)).WriteSnapshot(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestSnapshotStart: a start from a snapshot and the tail gives what a start
// from the whole log gives, and a snapshot that is not ours, damaged or half
// written is not used.
func TestSnapshotStart(t *testing.T) {
	dir := newFolder(t)
	path := filepath.Join(t.TempDir(), "snapshot")
	s := snapshots(path, "state key")
	use := func(o *writer.Options) { o.Snapshot = s }
	w := openWriter(t, openLog(t, dir), use)
	p := newParty(t)
	for i := range 30 {
		registered(t, w, p, fmt.Sprint("tool-", i))
	}
	if err := w.SaveSnapshot(); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		registered(t, w, p, fmt.Sprint("late-", i))
	}
	want := tables(t, w)
	w.Close()
	good := must(os.ReadFile(path))
	start := func(o func(*writer.Options)) []byte {
		t.Helper()
		w := openWriter(t, openLog(t, dir), o)
		defer w.Close()
		return tables(t, w)
	}
	same := func(name string, got []byte) {
		t.Helper()
		if !bytes.Equal(got, want) {
			t.Errorf("%s: the tables differ from those of the log", name)
		}
	}
	same("from the log", start(func(*writer.Options) {}))
	same("from the snapshot", start(use))
	same("another's key", start(func(o *writer.Options) { o.Snapshot = snapshots(path, "another key") }))
	for i := range 40 {
		bad := bytes.Clone(good)
		switch at := i * len(bad) / 40; i % 2 {
		case 0:
			bad[at] ^= 0x10
		default:
			bad = bad[:at]
		}
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		same(fmt.Sprint("damage ", i), start(use))
	}
}

// TestLogOlderThanSnapshot: a log that was put back behind a snapshot of ours
// does not start, and neither does one that was written anew.
func TestLogOlderThanSnapshot(t *testing.T) {
	dir := newFolder(t)
	path := filepath.Join(t.TempDir(), "snapshot")
	use := func(o *writer.Options) { o.Snapshot = snapshots(path, "k") }
	l := openLog(t, dir)
	w := openWriter(t, l, use)
	p := newParty(t)
	registered(t, w, p, "pay")
	backup := filepath.Join(t.TempDir(), "backup.db")
	if err := l.BackupTo(ctx, backup); err != nil {
		t.Fatal(err)
	}
	registered(t, w, p, "refund")
	if err := w.SaveSnapshot(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	l.Close()

	old := newFolder(t)
	if _, err := sqlite.Restore(ctx, old, backup, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := tryOpen(t, openLog(t, old), use); !errors.Is(err, writer.ErrRollback) {
		t.Errorf("log put back: %v", err)
	}
	lr := openLog(t, old)
	wr := openWriter(t, lr) // without the snapshot nobody can tell
	registered(t, wr, newParty(t), "another")
	registered(t, wr, newParty(t), "history")
	wr.Close()
	if _, err := tryOpen(t, lr, use); !errors.Is(err, writer.ErrPoisoned) {
		t.Errorf("another history: %v", err)
	}
}
