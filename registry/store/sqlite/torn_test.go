package sqlite

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/registry/store"
	"github.com/pratique-dev/pratique/registry/store/storetest"
)

// crashed returns the files of a log as a crash leaves them, with n entries.
func crashed(t testing.TB, n int) map[string][]byte {
	t.Helper()
	dir := tempDir(t)
	l, err := Open(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tree := new(storetest.Tree)
	for range n {
		if tree, err = appendOne(l, tree); err != nil {
			t.Fatal(err)
		}
	}
	files := map[string][]byte{}
	for _, name := range []string{dbName, dbName + "-wal"} {
		if files[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func plant(t testing.TB, files map[string][]byte) (dir string) {
	t.Helper()
	dir = tempDir(t)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestO18TornTail: a torn end of the write-ahead log is repaired, named a
// tear, and stays on record; what was committed before stays.
func TestO18TornTail(t *testing.T) {
	const frame = walFrame + 4096
	last := func(b []byte) int { return len(b) - frame } // the last frame, a commit
	for _, c := range []struct {
		name    string
		damage  func(wal []byte) []byte
		kind    string
		min     uint64 // at least so many bytes are reported
		entries uint64
	}{
		{"control", func(b []byte) []byte { return b }, "", 0, 5},
		{"a: last record torn", func(b []byte) []byte { return b[:len(b)-20] }, store.RepairTornTail, frame - 20, 4},
		{"b: last byte missing", func(b []byte) []byte { return b[:len(b)-1] }, store.RepairTornTail, frame - 1, 4},
		{"c: fragment of a new record", func(b []byte) []byte { return append(b, `{"seq":6,"prev":"ab`...) }, store.RepairTornTail, 19, 5},
		{"d: zero bytes", func(b []byte) []byte { return append(b, make([]byte, 512)...) }, store.RepairTornTail, 512, 5},
		{"zero frames", func(b []byte) []byte { return append(b, make([]byte, 2*frame+7)...) }, store.RepairTornTail, 2*frame + 7, 5},
		{"last frame damaged", func(b []byte) []byte { b[last(b)+100] ^= 1; return b }, store.RepairTornTail, frame, 4},
		{"header of the last frame damaged", func(b []byte) []byte { b[last(b)+9] ^= 1; return b }, store.RepairTornTail, 1, 4},
		{"frame of a new transaction", func(b []byte) []byte { return append(b, b[last(b):]...) }, store.RepairTornTail, frame, 5},
		{"header damaged", func(b []byte) []byte { b[3] ^= 8; return b }, store.RepairLostTail, 6 * frame, 0},
		{"only half a header", func(b []byte) []byte { return b[:16] }, store.RepairTornTail, 16, 0},
		{"empty", func(b []byte) []byte { return nil }, "", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := crashed(t, 5)
			files[dbName+"-wal"] = c.damage(files[dbName+"-wal"])
			dir := plant(t, files)
			for start := range uint64(3) {
				mended(t, dir, start, store.Repair{Kind: c.kind, Bytes: c.min, Head: store.Head{Size: c.entries}})
			}
		})
	}
}

// mended is one start after a tear: the first one mends and says so, the
// others find it on record; the next entry chains to the last good one.
func mended(t *testing.T, dir string, start uint64, want store.Repair) {
	t.Helper()
	at := time.Unix(1_800_000_000, 0).UTC()
	l, err := Open(ctx, dir, &Options{Now: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if r, now := l.Recovered(); now != (want.Kind != "" && start == 0) {
		t.Fatalf("start %d: mended %v %+v", start, now, r)
	}
	list, err := l.Repairs(ctx)
	switch {
	case err != nil || len(list) != min(len(want.Kind), 1):
		t.Fatalf("start %d: repairs %v, %v", start, list, err)
	case want.Kind == "":
	case list[0].Kind != want.Kind || list[0].Bytes < want.Bytes || !list[0].At.Equal(at) || list[0].Head.Size != want.Head.Size || list[0].Detail == "":
		t.Fatalf("start %d: %+v", start, list[0])
	}
	h, err := l.Head(ctx)
	if err != nil || h.Size != want.Head.Size+start {
		t.Fatalf("start %d: %d entries, %v; want %d", start, h.Size, err, want.Head.Size+start)
	}
	tree := new(storetest.Tree)
	if err := storetest.Fold(l, tree, h); err != nil {
		t.Fatal(err)
	}
	if _, err := appendOne(l, tree); err != nil {
		t.Fatal(err)
	}
	if err := l.Check(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestStaleFramesAreNoTear: after the write-ahead log was started over, older
// frames lie behind the newest commit. That is not a tear, but a tear there is.
func TestStaleFramesAreNoTear(t *testing.T) {
	dir := tempDir(t)
	l, err := Open(ctx, dir, &Options{frames: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tree := new(storetest.Tree)
	grow := func(n int) {
		for range n {
			if tree, err = appendOne(l, tree); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, n := range []int{30, 20, 3} { // each round shorter than the one before
		grow(n)
		l.ckpt.mu.Lock()
		log, copied, err := walCopy(l.ckpt.c, "PASSIVE")
		l.ckpt.mu.Unlock()
		if err != nil || log != copied {
			t.Fatal(log, copied, err)
		}
	}
	grow(2)
	wal, err := os.ReadFile(filepath.Join(dir, dbName+"-wal"))
	if err != nil {
		t.Fatal(err)
	}
	got := inspect(wal)
	if got.kind != "" {
		t.Fatalf("%+v", got)
	}
	end := walHeader + got.frames*(walFrame+4096)
	if end >= len(wal) {
		t.Fatal("no stale frames: this test shows nothing")
	}
	half := bytes.Clone(wal) // the next transaction got half of a page onto the disk
	copy(half[end:], wal[end-4096-walFrame:end-2048])
	if got := inspect(half); got.kind != store.RepairTornTail || got.dropped != walFrame+4096 {
		t.Fatalf("%+v", got)
	}
}

// TestEditsAreNotMended: an edited row is no tear. The store opens, says
// nothing, and the root of the entries does not fit the head any more.
func TestEditsAreNotMended(t *testing.T) {
	for name, q := range map[string]string{
		"entry edited":  `DROP TRIGGER log_no_update; UPDATE log SET data=x'00' WHERE seq=2`,
		"entry removed": `DROP TRIGGER log_no_delete; DELETE FROM log WHERE seq=2`,
		"last removed":  `DROP TRIGGER log_no_delete; DELETE FROM log WHERE seq=4`,
		"head edited":   `UPDATE head SET size=4`,
		"root edited":   `UPDATE head SET root=zeroblob(32)`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := plant(t, crashed(t, 5))
			o := (&Options{}).withDefaults()
			c, err := o.connect(filepath.Join(dir, dbName))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.exec("edit", q); err != nil {
				t.Fatal(err)
			}
			c.close()
			l, err := Open(ctx, dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if r, err := l.Repairs(ctx); err != nil || len(r) != 0 {
				t.Errorf("repairs %v, %v", r, err)
			}
			if _, err := storetest.Entries(l); err == nil {
				t.Error("entries still fit the head")
			}
		})
	}
}

// TestAppendOnly: a slip in an SQL shell changes neither entries nor notes.
func TestAppendOnly(t *testing.T) {
	l, err := Open(ctx, plant(t, crashed(t, 3)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, q := range []string{`UPDATE log SET data=x'00'`, `DELETE FROM log`, `UPDATE note SET text=x'00'`, `DELETE FROM note WHERE size=1`} {
		if err := l.ckpt.c.exec("edit", q); err == nil {
			t.Errorf("%s was done", q)
		}
	}
}

// TestDamagedDatabase: damage below the rows is named, never a panic, and
// never mended by guessing.
func TestDamagedDatabase(t *testing.T) {
	for name, damage := range map[string]func(b []byte) []byte{
		"truncated by 20":  func(b []byte) []byte { return b[:len(b)-20] },
		"half":             func(b []byte) []byte { return b[:len(b)/2] },
		"page 2 zeroed":    func(b []byte) []byte { clear(b[4096:8192]); return b },
		"schema destroyed": func(b []byte) []byte { clear(b[100:4096]); return b },
		"magic destroyed":  func(b []byte) []byte { b[0] = 'X'; return b },
		"text":             func([]byte) []byte { return bytes.Repeat([]byte("not a database\n"), 1000) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := plant(t, crashed(t, 50))
			l, err := Open(ctx, dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			l.Close() // everything is in the database now
			path := filepath.Join(dir, dbName)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
			l, err = Open(ctx, dir, nil)
			if err == nil {
				defer l.Close()
				err = l.Check(ctx)
			}
			if !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrForeign) {
				t.Errorf("%v", err)
			}
		})
	}
}

func FuzzInspect(f *testing.F) {
	wal := crashed(f, 2)[dbName+"-wal"]
	f.Add(wal)
	f.Add(wal[:40])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		got := inspect(b)
		if got.dropped > uint64(len(b)) || (got.kind == "") != (got.dropped == 0) {
			t.Fatalf("%+v of %d bytes", got, len(b))
		}
	})
}
