package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/pratique-dev/pratique/registry/store"
)

// tail looks at the write-ahead log before SQLite does, which drops what it
// does not like without a word.
func (l *Log) tail(path string) (tail, error) {
	if l.opt.walOf != nil {
		return inspect(l.opt.walOf()), nil
	}
	wal, err := os.ReadFile(path + "-wal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return tail{}, fmt.Errorf("%w: %w", store.ErrIO, err)
	}
	return inspect(wal), nil
}

// mend is run by the first process. What it finds in the write-ahead log may
// be in the page cache only (a commit whose sync failed before the last
// process died), so everything is copied into the database, which is synced,
// before anything new is acknowledged on top of it.
func (l *Log) mend(c *conn, t tail) error {
	if t.kind != "" {
		h, err := headOf(c)
		if err != nil {
			return err
		}
		r := store.Repair{At: l.opt.Now().UTC(), Kind: t.kind, Bytes: t.dropped, Head: h, Detail: t.detail}
		err = c.exec("repair", `INSERT INTO repair(at,kind,bytes,size,root,detail) VALUES(?,?,?,?,?,?)`,
			r.At.UnixNano(), r.Kind, int64(r.Bytes), int64(h.Size), h.Root[:], r.Detail)
		if err != nil {
			return err
		}
		l.repair = &r
	}
	log, copied, err := walCopy(c, "TRUNCATE")
	if err != nil {
		return err
	}
	if log != copied { // somebody reads an old state, with another program
		return fmt.Errorf("%w: write-ahead log cannot be moved into the database", store.ErrBusy)
	}
	return l.whole(c)
}

// whole refuses a database that is shorter than its pages: SQLite would read
// zeros for the rest of the last one. With the write-ahead log moved in, no
// crash leaves it like that.
func (l *Log) whole(c *conn) error {
	if l.opt.vfs != "" {
		return nil
	}
	pages, err := c.integer("open", `PRAGMA page_count`)
	if err != nil {
		return err
	}
	size, err := c.integer("open", `PRAGMA page_size`)
	if err != nil {
		return err
	}
	st, err := os.Lstat(l.path())
	if err != nil {
		return fmt.Errorf("%w: %w", store.ErrIO, err)
	}
	if st.Size() < pages*size {
		return fmt.Errorf("%w: %s has %d bytes, its pages need %d", store.ErrCorrupt, dbName, st.Size(), pages*size)
	}
	return nil
}

// walCopy moves the write-ahead log into the database and says how many
// frames it held and how many of them are copied.
func walCopy(c *conn, mode string) (log, copied int64, err error) {
	v, err := c.row("checkpoint", `PRAGMA wal_checkpoint(`+mode+`)`)
	if err != nil {
		return 0, 0, err
	}
	log, _ = v[1].(int64)
	copied, _ = v[2].(int64)
	return log, copied, nil
}

// Repairs implements store.Repairs.
func (l *Log) Repairs(ctx context.Context) ([]store.Repair, error) {
	var out []store.Repair
	err := l.query(ctx, "repairs", func(scan func(...any) error) error {
		var at, bytes, size int64
		var root []byte
		var r store.Repair
		err := scan(&at, &r.Kind, &bytes, &size, &root, &r.Detail)
		if err != nil {
			return err
		}
		r.At, r.Bytes = time.Unix(0, at).UTC(), uint64(bytes)
		r.Head, err = head(size, root)
		out = append(out, r)
		return err
	}, `SELECT at, kind, bytes, size, root, detail FROM repair ORDER BY id`)
	return out, err
}

// Check implements store.Checker: SQLite's own check of pages and indexes,
// and that the rows are exactly those which the head promises.
func (l *Log) Check(ctx context.Context) error {
	var first string
	err := l.query(ctx, "check", func(scan func(...any) error) error { return scan(&first) }, `PRAGMA integrity_check(1)`)
	if err != nil {
		return err
	}
	if first != "ok" {
		return fmt.Errorf("%w: %s", store.ErrCorrupt, first)
	}
	var size, n, least, most int64
	err = l.query(ctx, "check", func(scan func(...any) error) error { return scan(&size, &n, &least, &most) },
		`SELECT size, (SELECT count(*) FROM log), (SELECT ifnull(min(seq),0) FROM log), (SELECT ifnull(max(seq),-1) FROM log) FROM head WHERE id=1`)
	switch {
	case err != nil:
		return err
	case n < size:
		return fmt.Errorf("%w: %d entries, the head says %d", store.ErrGap, n, size)
	case n != size || least != 0 || most != size-1:
		return fmt.Errorf("%w: entries %d to %d (%d of them), the head says %d", store.ErrCorrupt, least, most, n, size)
	}
	return nil
}

func values(args []any) []driver.Value {
	out := make([]driver.Value, len(args))
	for i, a := range args {
		out[i] = a
	}
	return out
}
