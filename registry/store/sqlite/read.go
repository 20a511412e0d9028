package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"github.com/pratique-dev/pratique/registry/store"
)

// query runs a read on one of the reading connections, which cannot write.
// It ends when ctx does.
func (l *Log) query(ctx context.Context, call string, row func(scan func(...any) error) error, q string, args ...any) error {
	if err := l.usable(ctx); err != nil {
		return err
	}
	if l.opt.fault != nil {
		if err := l.opt.fault(call, false); err != nil {
			return err
		}
	}
	st, err := l.prepared(ctx, q)
	if err != nil {
		return l.readError(ctx, err)
	}
	rows, err := st.QueryContext(ctx, args...)
	if err != nil {
		return l.readError(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return l.readError(ctx, err)
		}
	}
	return l.readError(ctx, rows.Err())
}

// prepared is a query that is compiled once for each connection. The head is asked
// for forty times a second for as long as a process lives, and compiling costs more
// than asking. There are only as many texts as there are in this package; they end
// with l.read.
func (l *Log) prepared(ctx context.Context, q string) (*sql.Stmt, error) {
	if st, ok := l.queries.Load(q); ok {
		return st.(*sql.Stmt), nil
	}
	st, err := l.read.PrepareContext(ctx, q)
	if err != nil {
		return nil, err
	}
	if first, there := l.queries.LoadOrStore(q, st); there {
		_ = st.Close()
		return first.(*sql.Stmt), nil
	}
	return st, nil
}

func (l *Log) readError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case l.closed.Load():
		return store.ErrClosed
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return named(err)
}

// Head implements store.Store. Each read of a WAL database starts at the
// newest commit of any process.
func (l *Log) Head(ctx context.Context) (h store.Head, err error) {
	size, root, _, ok, err := l.headRow(ctx, "head")
	if err == nil && !ok {
		err = fmt.Errorf("%w: the head row is missing or does not agree with its check", store.ErrCorrupt)
	}
	if err != nil {
		return store.Head{}, err
	}
	return store.Head{Size: size, Root: root}, nil
}

// Read implements store.Store.
func (l *Log) Read(ctx context.Context, from uint64, max int) ([][]byte, error) {
	h, err := l.Head(ctx) // older than what is read below, so it promises no more than that holds
	if err != nil || max <= 0 || from >= h.Size || from > math.MaxInt64 {
		return nil, err
	}
	want := min(uint64(max), h.Size-from)
	out := make([][]byte, 0, want)
	err = l.query(ctx, "read", func(scan func(...any) error) error {
		var seq int64
		var data []byte
		if err := scan(&seq, &data); err != nil {
			return err
		}
		if uint64(seq) != from+uint64(len(out)) {
			return fmt.Errorf("%w: %d", store.ErrGap, from+uint64(len(out)))
		}
		out = append(out, data)
		return nil
	}, `SELECT seq, data FROM log WHERE seq >= ? AND seq < (SELECT size FROM head WHERE id=1) ORDER BY seq LIMIT ?`,
		int64(from), int64(max))
	if err == nil && uint64(len(out)) < want {
		err = fmt.Errorf("%w: %d", store.ErrGap, from+uint64(len(out)))
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Content implements store.Contents.
func (l *Log) Content(ctx context.Context, digest [32]byte) ([]byte, error) {
	var data []byte
	err := l.query(ctx, "content", func(scan func(...any) error) error { return scan(&data) },
		`SELECT data FROM content WHERE digest=?`, digest[:])
	if err == nil && data == nil {
		err = store.ErrNotFound
	}
	return data, err
}

// LatestNote implements store.Notes.
func (l *Log) LatestNote(ctx context.Context) (store.Note, error) {
	return one(l.notes(ctx, `SELECT size, text FROM note ORDER BY size DESC LIMIT 1`))
}

// Note implements store.Notes.
func (l *Log) Note(ctx context.Context, size uint64) (store.Note, error) {
	if size > math.MaxInt64 {
		return store.Note{}, store.ErrNotFound
	}
	return one(l.notes(ctx, `SELECT size, text FROM note WHERE size=?`, int64(size)))
}

// Notes implements store.Notes.
func (l *Log) Notes(ctx context.Context, from uint64, max int) ([]store.Note, error) {
	if from > math.MaxInt64 || max <= 0 {
		return nil, l.usable(ctx)
	}
	return l.notes(ctx, `SELECT size, text FROM note WHERE size >= ? ORDER BY size LIMIT ?`, int64(from), int64(max))
}

func (l *Log) notes(ctx context.Context, q string, args ...any) (out []store.Note, err error) {
	err = l.query(ctx, "notes", func(scan func(...any) error) error {
		var size int64
		var text []byte
		if err := scan(&size, &text); err != nil {
			return err
		}
		out = append(out, store.Note{Size: uint64(size), Text: text})
		return nil
	}, q, args...)
	return out, err
}

func one(n []store.Note, err error) (store.Note, error) {
	if err != nil {
		return store.Note{}, err
	}
	if len(n) == 0 {
		return store.Note{}, store.ErrNotFound
	}
	return n[0], nil
}

// gone tells whether an error is only that the log was closed or the caller left.
func gone(err error) bool {
	return errors.Is(err, store.ErrClosed) || errors.Is(err, context.Canceled)
}
