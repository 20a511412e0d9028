package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	driversqlite "modernc.org/sqlite"

	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/registry/store"
)

const (
	applicationID = 0x50726174 // "Prat"
	schemaVersion = 1
	readers       = 4
	dbName        = "log.db"
)

// minVersion is the first SQLite without the WAL-reset defect, which corrupts
// the database when two connections write and checkpoint at once
// (https://sqlite.org/wal.html#walresetbug).
var minVersion = [3]int{3, 51, 3}

const schema = `
CREATE TABLE head(id INTEGER PRIMARY KEY CHECK(id=1), size INTEGER NOT NULL, root BLOB NOT NULL,
	notes INTEGER NOT NULL, sum BLOB NOT NULL) STRICT;
CREATE TABLE log(seq INTEGER PRIMARY KEY, data BLOB NOT NULL, leaf BLOB NOT NULL) STRICT;
CREATE TABLE content(digest BLOB PRIMARY KEY, data BLOB NOT NULL) STRICT;
CREATE TABLE note(size INTEGER PRIMARY KEY, n INTEGER NOT NULL UNIQUE, text BLOB NOT NULL, sum BLOB NOT NULL) STRICT;
CREATE TABLE repair(id INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, bytes INTEGER NOT NULL,
	size INTEGER NOT NULL, root BLOB NOT NULL, detail TEXT NOT NULL) STRICT;
CREATE TRIGGER log_no_update BEFORE UPDATE ON log BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER log_no_delete BEFORE DELETE ON log BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER note_no_update BEFORE UPDATE ON note BEGIN SELECT RAISE(ABORT, 'checkpoints are for ever'); END;
CREATE TRIGGER note_no_delete BEFORE DELETE ON note BEGIN SELECT RAISE(ABORT, 'checkpoints are for ever'); END;
`

func init() {
	// Both are process-wide and only make the engine safer or faster: locks that
	// do not vanish when other code closes the file, and syncs without the
	// timestamps. Where a system has neither, SQLite's own ways are as good.
	driversqlite.OFDLocking(true)
	driversqlite.Fdatasync(true)
}

// Open opens the log in dir, making folder and log unless opt says not to.
// It returns an error of package store where there is a name for it:
// ErrPermission, ErrForeign, ErrUnsafe, ErrCorrupt, ErrBusy, ErrNotFound.
func Open(ctx context.Context, dir string, opt *Options) (_ *Log, err error) {
	l := &Log{opt: opt.withDefaults()}
	if l.dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("open %s: %w", l.dir, err), l.release())
		}
	}()
	if err := folder(l.dir, l.opt.Existing); err != nil {
		return nil, err
	}
	// One process opens at a time: only so can the first one know that it is
	// the first, and look at the write-ahead log that a crash has left.
	gate, err := openLock(filepath.Join(l.dir, "open.lock"))
	if err != nil {
		return nil, err
	}
	defer gate.Close()
	if err := patient(ctx, l.opt.Busy, func() bool { return tryLock(gate, true) }); err != nil {
		return nil, err
	}
	if l.member, err = openLock(filepath.Join(l.dir, "member.lock")); err != nil {
		return nil, err
	}
	first := tryLock(l.member, true)
	if err := l.start(ctx, first); err != nil {
		return nil, err
	}
	// Not atomic, but nobody else passes the gate meanwhile.
	if err := patient(ctx, l.opt.Busy, func() bool { return tryLock(l.member, false) }); err != nil {
		return nil, err
	}
	return l, nil
}

// start does what needs the gate.
func (l *Log) start(ctx context.Context, first bool) (err error) {
	if l.turns, err = openTurns(l.dir, l.opt.patience); err != nil {
		return err
	}
	path := l.path()
	if err := l.files(path); err != nil {
		return err
	}
	var torn tail
	if first {
		if torn, err = l.tail(path); err != nil {
			return err
		}
	}
	l.w.open = func() (*conn, error) { return l.opt.writable(path) }
	c, err := l.opt.writable(path)
	if err != nil {
		return err
	}
	l.ckpt.init(l, c) // stays open as long as the log, so that no error closes the last connection
	if err := l.schema(c); err != nil {
		return err
	}
	if first {
		if err := l.mend(c, torn); err != nil {
			return err
		}
		l.forgetLeases()
	}
	if l.read, err = sql.Open("sqlite", l.opt.dsn(path, "query_only(1)")); err != nil {
		return named(err)
	}
	l.read.SetMaxOpenConns(readers)
	l.read.SetMaxIdleConns(readers)
	l.watch.init(l)
	size, _, _, _, err := l.headRow(ctx, "head") // a damaged head is for whoever asks for it; a walk must still be able to open
	l.watch.saw(size)
	return err
}

func (l *Log) path() string { return filepath.Join(l.dir, dbName) }

// folder makes or checks the private folder.
func folder(dir string, existing bool) error {
	err := durable.CheckPrivateDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if existing {
			return fmt.Errorf("%w: no folder", store.ErrNotFound)
		}
		err = durable.MkdirPrivate(dir)
	}
	switch {
	case errors.Is(err, durable.ErrSymlink), errors.Is(err, durable.ErrLoose), errors.Is(err, durable.ErrOwner), errors.Is(err, durable.ErrNotFolder):
		return fmt.Errorf("%w: %w", store.ErrPermission, err)
	case err != nil:
		return err
	}
	return checkFS(dir)
}

// files checks the database's files by name, since opening them would drop
// locks, and makes an empty database with the right mode.
func (l *Log) files(path string) error {
	if l.opt.vfs != "" {
		return nil
	}
	found := false
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		st, err := os.Lstat(path + suffix)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		}
		if err := private(path+suffix, st); err != nil {
			return err
		}
		found = found || suffix == ""
	}
	if found {
		return nil
	}
	if l.opt.Existing {
		return fmt.Errorf("%w: no %s", store.ErrNotFound, dbName)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// writable opens a connection that may write, and checks that it keeps its
// promises.
func (o *Options) writable(path string) (*conn, error) {
	c, err := o.connect(path)
	if err != nil {
		return nil, err
	}
	if err := o.harden(c); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (o *Options) harden(c *conn) error {
	if err := ours(c); err != nil { // before anything is changed in a file of others
		return err
	}
	v, err := c.row("open", `PRAGMA journal_mode=WAL`)
	if err != nil {
		return err
	}
	if v[0] != "wal" {
		return fmt.Errorf("%w: journal mode is %v, not wal", store.ErrUnsafe, v[0])
	}
	// fullfsync: on macOS a plain fsync does not reach the disk.
	for _, p := range []string{`synchronous=FULL`, `fullfsync=1`, `checkpoint_fullfsync=1`, `wal_autocheckpoint=0`} {
		if err := c.exec("open", `PRAGMA `+p); err != nil {
			return err
		}
	}
	if n, err := c.integer("open", `PRAGMA synchronous`); err != nil || n != 2 {
		return fmt.Errorf("%w: synchronous is %d, not FULL (2): %v", store.ErrUnsafe, n, err)
	}
	return nil
}

// ours refuses old engines, files of other programs and newer schemas.
func ours(c *conn) error {
	v, err := c.row("open", `SELECT sqlite_version()`)
	if err != nil {
		return err
	}
	if s, _ := v[0].(string); !atLeast(s, minVersion) {
		return fmt.Errorf("%w: SQLite %v has the WAL-reset defect, need 3.51.3", store.ErrUnsafe, v[0])
	}
	var n [3]int64
	for i, q := range []string{`PRAGMA application_id`, `PRAGMA user_version`, `SELECT count(*) FROM sqlite_schema`} {
		if n[i], err = c.integer("open", q); err != nil {
			return err
		}
	}
	switch {
	case n == [3]int64{}: // new
	case n[0] != applicationID:
		return fmt.Errorf("%w: application id %#x", store.ErrForeign, n[0])
	case n[1] != schemaVersion:
		return fmt.Errorf("%w: schema version %d, this program knows %d", store.ErrForeign, n[1], schemaVersion)
	}
	return nil
}

func atLeast(version string, want [3]int) bool {
	parts := strings.SplitN(version, ".", 4)
	for i, w := range want {
		n := 0
		if i < len(parts) {
			var err error
			if n, err = strconv.Atoi(parts[i]); err != nil {
				return false
			}
		}
		if n != w {
			return n > w
		}
	}
	return true
}

// schema makes the tables of a new log and checks the head of an old one.
func (l *Log) schema(c *conn) error {
	n, err := c.integer("open", `PRAGMA user_version`)
	if err != nil {
		return err
	}
	if n == 0 {
		if l.opt.Existing {
			return fmt.Errorf("%w: %s is empty", store.ErrNotFound, dbName)
		}
		if err := create(c); err != nil {
			return err
		}
	}
	n, err = c.integer("open", `SELECT count(*) FROM sqlite_schema WHERE type='table' AND name IN ('head','log','content','note','repair')`)
	if err != nil {
		return err
	}
	if n != 5 {
		return fmt.Errorf("%w: %d of 5 tables", store.ErrCorrupt, n)
	}
	_, err = headOf(c)
	return err
}

func create(c *conn) error {
	e := store.EmptyHead()
	sum := headSum(e, 0)
	for _, s := range []struct {
		q    string
		args []any
	}{
		{`BEGIN EXCLUSIVE`, nil},
		{schema, nil},
		{`INSERT INTO head VALUES(1,0,?,0,?)`, []any{e.Root[:], sum[:]}},
		{`PRAGMA application_id=` + strconv.Itoa(applicationID), nil},
		{`PRAGMA user_version=` + strconv.Itoa(schemaVersion), nil},
		{`COMMIT`, nil},
	} {
		args := make([]any, len(s.args))
		copy(args, s.args)
		if err := c.exec("create", s.q, values(args)...); err != nil {
			return fmt.Errorf("create: %w", err)
		}
	}
	return nil
}

// headOf reads the head on one connection.
func headOf(c *conn) (store.Head, error) {
	v, err := c.row("head", `SELECT size, root FROM head WHERE id=1`)
	if errors.Is(err, store.ErrNotFound) {
		return store.Head{}, fmt.Errorf("%w: no head", store.ErrCorrupt)
	}
	if err != nil {
		return store.Head{}, err
	}
	size, _ := v[0].(int64)
	root, _ := v[1].([]byte)
	return head(size, root)
}

func head(size int64, root []byte) (h store.Head, err error) {
	if size < 0 || len(root) != len(h.Root) {
		return store.Head{}, fmt.Errorf("%w: head of size %d with a root of %d bytes", store.ErrCorrupt, size, len(root))
	}
	h.Size = uint64(size)
	copy(h.Root[:], root)
	return h, nil
}

// patient tries until it works, the context ends or the time is over.
func patient(ctx context.Context, d time.Duration, try func() bool) error {
	end := time.Now().Add(d)
	for !try() {
		if time.Now().After(end) {
			return store.ErrBusy
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Millisecond):
		}
	}
	return nil
}
