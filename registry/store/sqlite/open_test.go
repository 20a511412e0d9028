package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/registry/store"
	"github.com/pratique-dev/pratique/registry/store/storetest"
)

// raw runs SQL on a database that no log has open.
func raw(t testing.TB, path, q string) {
	t.Helper()
	o := (&Options{}).withDefaults()
	c, err := o.connect(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if err := c.exec("raw", q); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func db(dir string) string { return filepath.Join(dir, dbName) }

// refusals spoil a folder that holds a log of three entries.
var refusals = []struct {
	name string
	make func(t testing.TB, dir string)
	opt  *Options
	want []error
}{
	{"folder that others enter", func(t testing.TB, dir string) { must(t, os.Chmod(dir, 0o750)) }, nil, []error{store.ErrPermission, durable.ErrLoose}},
	{"folder by symbolic link", func(t testing.TB, dir string) {
		must(t, os.Rename(dir, dir+"2"))
		must(t, os.Symlink(dir+"2", dir))
	}, nil, []error{store.ErrPermission, durable.ErrSymlink}},
	{"file instead of folder", func(t testing.TB, dir string) {
		must(t, os.RemoveAll(dir))
		must(t, os.WriteFile(dir, nil, 0o600))
	}, nil, []error{store.ErrPermission, durable.ErrNotFolder}},
	{"database that others read", func(t testing.TB, dir string) { must(t, os.Chmod(db(dir), 0o640)) }, nil, []error{store.ErrPermission, durable.ErrLoose}},
	{"write-ahead log that others read", func(t testing.TB, dir string) { must(t, os.WriteFile(db(dir)+"-wal", nil, 0o604)) }, nil, []error{store.ErrPermission, durable.ErrLoose}},
	{"database by symbolic link", func(t testing.TB, dir string) {
		must(t, os.Rename(db(dir), dir+"/x"))
		must(t, os.Symlink(dir+"/x", db(dir)))
	}, nil, []error{store.ErrPermission, durable.ErrSymlink}},
	{"lock by symbolic link", func(t testing.TB, dir string) {
		must(t, os.Remove(dir+"/turn.lock"))
		must(t, os.Symlink(db(dir), dir+"/turn.lock"))
	}, nil, []error{store.ErrPermission, durable.ErrSymlink}},
	{"lock that others open", func(t testing.TB, dir string) { must(t, os.Chmod(dir+"/member.lock", 0o666)) }, nil, []error{store.ErrPermission, durable.ErrLoose}},
	{"folder instead of database", func(t testing.TB, dir string) {
		must(t, os.Remove(db(dir)))
		must(t, os.Mkdir(db(dir), 0o700))
	}, nil, []error{store.ErrPermission, durable.ErrNotRegular}},
	{"another program's id", func(t testing.TB, dir string) { raw(t, db(dir), `PRAGMA application_id=7`) }, nil, []error{store.ErrForeign}},
	{"another program without id", func(t testing.TB, dir string) {
		must(t, os.Truncate(db(dir), 0))
		raw(t, db(dir), `CREATE TABLE cookies(x)`)
	}, nil, []error{store.ErrForeign}},
	{"newer schema", func(t testing.TB, dir string) { raw(t, db(dir), `PRAGMA user_version=2`) }, nil, []error{store.ErrForeign}},
	{"no schema version", func(t testing.TB, dir string) { raw(t, db(dir), `PRAGMA user_version=0`) }, nil, []error{store.ErrForeign}},
	{"no head", func(t testing.TB, dir string) { raw(t, db(dir), `DELETE FROM head`) }, nil, []error{store.ErrCorrupt}},
	{"short root", func(t testing.TB, dir string) { raw(t, db(dir), `UPDATE head SET root=x'00'`) }, nil, []error{store.ErrCorrupt}},
	{"no table", func(t testing.TB, dir string) { raw(t, db(dir), `DROP TABLE head`) }, nil, []error{store.ErrCorrupt}},
	{"no folder to inspect", func(t testing.TB, dir string) { must(t, os.RemoveAll(dir)) }, &Options{Existing: true}, []error{store.ErrNotFound}},
	{"no log to inspect", func(t testing.TB, dir string) { must(t, os.Remove(db(dir))) }, &Options{Existing: true}, []error{store.ErrNotFound}},
	{"empty log to inspect", func(t testing.TB, dir string) { must(t, os.Truncate(db(dir), 0)) }, &Options{Existing: true}, []error{store.ErrNotFound}},
	{"no parent", func(t testing.TB, dir string) { must(t, os.RemoveAll(filepath.Dir(dir))) }, nil, []error{fs.ErrNotExist}},
}

// TestOpenRefuses: what is not a private folder with a log of ours is refused
// by name, before anything in it is changed.
func TestOpenRefuses(t *testing.T) {
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			dir := plant(t, crashed(t, 3))
			l, err := Open(ctx, dir, nil)
			must(t, err)
			must(t, l.Close())
			c.make(t, dir)
			l, err = Open(ctx, dir, c.opt)
			if err == nil {
				l.Close()
				t.Fatal("opened")
			}
			for _, want := range c.want {
				if !errors.Is(err, want) {
					t.Errorf("%v; want %v", err, want)
				}
			}
		})
	}
}

func TestOpenTakesOddPaths(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?vfs=x&_pragma=y#%41ü")
	l, err := Open(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, name := range []string{dbName, dbName + "-wal"} {
		st, err := os.Stat(filepath.Join(dir, name))
		if err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, st, err)
		}
	}
}

func TestOpenCancelled(t *testing.T) {
	c, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Open(c, tempDir(t), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestBackupRestore: a backup taken while the log is in use restores to its
// head; what was there is kept; nobody may have the log open.
func TestBackupRestore(t *testing.T) {
	dir := tempDir(t)
	l, err := Open(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	tree := new(storetest.Tree)
	for range 20 {
		if tree, err = appendOne(l, tree); err != nil {
			t.Fatal(err)
		}
	}
	old := tree.Head()
	backup := filepath.Join(t.TempDir(), "backup.db")
	must(t, l.BackupTo(ctx, backup))
	st, err := os.Stat(backup)
	must(t, err)
	if st.Mode().Perm() != 0o600 {
		t.Errorf("backup: %v", st.Mode())
	}
	for range 5 {
		if tree, err = appendOne(l, tree); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Restore(ctx, dir, backup, nil); !errors.Is(err, store.ErrBusy) {
		t.Fatalf("restore under an open log: %v", err)
	}
	must(t, l.Close())
	r, err := Restore(ctx, dir, backup, &Options{Now: func() time.Time { return time.Unix(1_800_000_000, 0) }})
	if err != nil || r.Before != tree.Head() || r.After != old || !strings.Contains(r.Kept, "replaced-20270115T080000") {
		t.Fatalf("%+v, %v", r, err)
	}
	l, err = Open(ctx, dir, &Options{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	es, err := storetest.Entries(l)
	if err != nil || len(es) != 20 {
		t.Fatalf("%d entries, %v", len(es), err)
	}
	must(t, l.Check(ctx))
	if n, err := l.LatestNote(ctx); err != nil || n.Size != 20 {
		t.Fatalf("%+v, %v", n, err)
	}
}

func TestRestoreRefuses(t *testing.T) {
	good := plant(t, crashed(t, 3))
	l, err := Open(ctx, good, nil)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	sound, err := os.ReadFile(filepath.Join(good, dbName))
	if err != nil {
		t.Fatal(err)
	}
	for name, backup := range map[string][]byte{
		"nothing":   nil,
		"text":      []byte(strings.Repeat("not a database\n", 1000)),
		"half":      sound[:len(sound)/2],
		"page gone": append(append([]byte(nil), sound[:8192]...), append(make([]byte, 4096), sound[12288:]...)...),
	} {
		path := filepath.Join(t.TempDir(), "backup")
		if err := os.WriteFile(path, backup, 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := Restore(ctx, good, path, nil); err == nil {
			t.Errorf("%s: restored %+v", name, r)
		}
	}
	l, err = Open(ctx, good, &Options{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if h, err := l.Head(ctx); err != nil || h.Size != 3 {
		t.Errorf("after refused restores: %v, %v", h, err)
	}
	if left, _ := filepath.Glob(good + "/*restor*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestRestoreExcludesOpen: while a restore holds the locks, nobody opens.
func TestRestoreExcludesOpen(t *testing.T) {
	dir := plant(t, crashed(t, 1))
	f, err := openLock(filepath.Join(dir, "open.lock"))
	if err != nil || !tryLock(f, true) {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := Open(ctx, dir, &Options{Busy: time.Millisecond}); !errors.Is(err, store.ErrBusy) {
		t.Errorf("%v", err)
	}
}

// TestLeaseFiles: a lease that cannot be read counts, and the first process
// of a new life forgets those of the last.
func TestLeaseFiles(t *testing.T) {
	dir := tempDir(t)
	l, err := Open(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_800_000_000, 0)
	if err := l.Lease(ctx, "a", 5, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "leases", "half"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := l.Lagging(ctx, 5, now); err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	l.Close()
	if l, err = Open(ctx, dir, nil); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if n, err := l.Lagging(ctx, 9, now); err != nil || n != 0 {
		t.Errorf("%d, %v", n, err)
	}
}
