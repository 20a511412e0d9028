package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/pratique-dev/pratique/registry/store"
)

// many is how many entries one INSERT takes: it spares the crossing into
// SQLite and a statement's start and end for each of them.
const many = 16

// writer is the one connection that writes. It is nil after any error and
// opened anew by the next Append.
type writer struct {
	mu   sync.Mutex // one Append at a time; guards all below
	open func() (*conn, error)
	c    *conn

	begin, swap, seal, commit, rollback *stmt
	entry, entries                      *stmt
	content, sameContent                *stmt
	note, sameNote                      *stmt
}

func (w *writer) ready() error {
	if w.c != nil {
		return nil
	}
	c, err := w.open()
	if err != nil {
		return err
	}
	for _, p := range []struct {
		to    **stmt
		call  string
		query string
	}{
		{&w.begin, "begin", `BEGIN IMMEDIATE`},
		{&w.swap, "swap", `UPDATE head SET size=?, root=? WHERE id=1 AND size=? AND root=? RETURNING notes`},
		{&w.seal, "seal", `UPDATE head SET notes=?, sum=? WHERE id=1`},
		{&w.entry, "entry", `INSERT INTO log VALUES(?,?,?)`},
		{&w.entries, "entry", `INSERT INTO log VALUES(?,?,?)` + strings.Repeat(`,(?,?,?)`, many-1)},
		{&w.content, "content", `INSERT INTO content VALUES(?,?) ON CONFLICT DO NOTHING`},
		{&w.sameContent, "content", `SELECT 1 FROM content WHERE digest=? AND data=?`},
		{&w.note, "note", `INSERT INTO note VALUES(?,?,?,?) ON CONFLICT(size) DO NOTHING`},
		{&w.sameNote, "note", `SELECT 1 FROM note WHERE size=? AND text=?`},
		{&w.commit, "commit", `COMMIT`},
		{&w.rollback, "rollback", `ROLLBACK`},
	} {
		if *p.to, err = c.prepare(p.call, p.query); err != nil {
			c.close()
			return err
		}
	}
	w.c = c
	return nil
}

// shut closes the connection, which rolls an open transaction back.
func (w *writer) shut() error {
	if w.c == nil {
		return nil
	}
	var errs []error
	for _, s := range []*stmt{w.begin, w.swap, w.seal, w.entry, w.entries, w.content, w.sameContent, w.note, w.sameNote, w.commit, w.rollback} {
		errs = append(errs, s.s.Close())
	}
	err := errors.Join(append(errs, w.c.close())...)
	w.c = nil
	return err
}

// Append implements store.Store.
func (l *Log) Append(_ context.Context, prev, next store.Head, b store.Batch) error {
	if err := store.CheckBatch(prev, next, b); err != nil {
		return err
	}
	l.life.RLock()
	defer l.life.RUnlock()
	if l.closed.Load() {
		return store.ErrClosed
	}
	if err := l.inTurn(func() error { return l.w.append(prev, next, b) }); err != nil {
		return err
	}
	l.watch.saw(next.Size)
	l.ckpt.wrote(b)
	return nil
}

// inTurn runs do as the one writer of this process, in its turn among the
// processes. The turn comes first: whoever waited for it with the writer's lock
// would keep out the one that has it.
func (l *Log) inTurn(do func() error) error {
	leave := l.turns.enter()
	defer leave()
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	return do()
}

func (w *writer) append(prev, next store.Head, b store.Batch) error {
	err := w.ready()
	if err == nil {
		_, err = w.begin.run()
	}
	if err == nil {
		err = w.fill(prev, next, b)
	}
	if store.Unwritten(err) {
		if _, rerr := w.rollback.run(); rerr != nil {
			w.shut() // closing rolls back as well
		}
		return err
	}
	if err == nil {
		_, err = w.commit.run()
	}
	if err != nil {
		w.shut() // whatever it says, the connection is not used again
		return fmt.Errorf("%w: %w", store.ErrUnknownOutcome, named(err))
	}
	return nil
}

// fill writes the batch into the open transaction.
func (w *writer) fill(prev, next store.Head, b store.Batch) error {
	notes, found, err := w.swap.set(int64(next.Size), next.Root[:], int64(prev.Size), prev.Root[:]).number()
	if err != nil {
		return err
	}
	if !found {
		return store.ErrConflict
	}
	if err := w.log(int64(prev.Size), b.Entries); err != nil {
		return err
	}
	for _, c := range b.Content {
		if _, err := once(w.content.set(c.Digest[:], c.Data), w.sameContent.set(c.Digest[:], c.Data), store.ErrContentExists); err != nil {
			return err
		}
	}
	for _, t := range b.Notes {
		sum := noteSum(uint64(notes), t.Size, t.Text)
		fresh, err := once(w.note.set(int64(t.Size), notes, t.Text, sum[:]), w.sameNote.set(int64(t.Size), t.Text), store.ErrNoteExists)
		if err != nil {
			return err
		}
		if fresh {
			notes++
		}
	}
	sum := headSum(next, uint64(notes))
	_, err = w.seal.set(notes, sum[:]).run()
	return err
}

func (w *writer) log(seq int64, entries [][]byte) error {
	defer w.entries.clear()
	defer w.entry.clear()
	for len(entries) >= many {
		for i := range many {
			n := seq + int64(i)
			leaf := masked(leafHash(entries[i]), uint64(n))
			w.entries.args[3*i].Value = n
			w.entries.args[3*i+1].Value = entries[i]
			w.entries.args[3*i+2].Value = leaf[:]
		}
		if _, err := w.entries.run(); err != nil {
			return err
		}
		entries, seq = entries[many:], seq+many
	}
	for i, e := range entries {
		n := seq + int64(i)
		leaf := masked(leafHash(e), uint64(n))
		if _, err := w.entry.set(n, e, leaf[:]).run(); err != nil {
			return err
		}
	}
	return nil
}

// once inserts a row that may exist already, but only with the same bytes;
// fresh says that it did not.
func once(insert, same *stmt, differs error) (fresh bool, err error) {
	defer insert.clear()
	defer same.clear()
	n, err := insert.run()
	if err != nil || n == 1 {
		return n == 1, err
	}
	found, err := same.any()
	if err == nil && !found {
		err = differs
	}
	return false, err
}
