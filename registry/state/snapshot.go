package state

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

// ErrSnapshot says that bytes are no snapshot of this version, or a damaged
// one. The caller folds the whole log instead.
var ErrSnapshot = errors.New("state: not a usable snapshot")

const snapshotMagic = "pratique/snapshot/v4\n"

// maxSnapshotRecord bounds one record, so that a damaged length costs nothing.
const maxSnapshotRecord = 4 << 20

// WriteSnapshot writes all tables, each sorted by its id, in a binary form that
// loads an order of magnitude faster than the log folds. Authenticity is the
// caller's: a snapshot is only as good as the signature over its bytes.
func (v *View) WriteSnapshot(w io.Writer) error {
	b := bufio.NewWriterSize(w, 1<<16)
	s := &snapshotWriter{w: b}
	s.raw([]byte(snapshotMagic))
	s.tools(v)
	writeTable[registry.Principal](s, v, tablePrincipals)
	writeTable[Origin](s, v, tableOrigins)
	writeTable[holding](s, v, tableHoldings)
	writeTable[registry.Delegation](s, v, tableDelegations)
	writeTable[spent](s, v, tableSpent)
	writeTable[registry.Moved](s, v, tableTransfers)
	writeTable[registry.Agent](s, v, tableAgents)
	writeTable[registry.Contest](s, v, tableContests)
	writeTable[registry.Key](s, v, tableKeys)
	writeTable[labels.Lower](s, v, tableLowered)
	writeTable[registry.AnchorData](s, v, tableAnchors)
	writeTable[registry.Review](s, v, tableReviews)
	s.commands(v.commands)
	if s.err != nil {
		return s.err
	}
	return b.Flush()
}

type snapshotWriter struct {
	w   *bufio.Writer
	buf []byte
	err error
}

func (s *snapshotWriter) raw(b []byte) {
	if s.err == nil {
		_, s.err = s.w.Write(b)
	}
}

func (s *snapshotWriter) record(b []byte) {
	s.raw(binary.AppendUvarint(nil, uint64(len(b))))
	s.raw(b)
}

// end closes a table: no record is empty.
func (s *snapshotWriter) end() { s.raw([]byte{0}) }

func writeTable[T any](s *snapshotWriter, v *View, table string) {
	for x := range all[T](v, table, "id", nil) {
		b, err := json.Marshal(x)
		if err != nil && s.err == nil {
			s.err = err
		}
		s.record(b)
	}
	s.end()
}

func (s *snapshotWriter) tools(v *View) {
	origins := map[string]uint64{}
	for t := range v.Tools("") {
		if _, ok := origins[t.Origin]; !ok {
			origins[t.Origin] = uint64(len(origins))
			s.record([]byte(t.Origin))
		}
	}
	s.end()
	for t := range v.Tools("") {
		s.buf = appendTool(s.buf[:0], t, origins[t.Origin])
		s.record(s.buf)
	}
	s.end()
}

func (s *snapshotWriter) commands(c *commands) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for i := range c.order {
		k := c.order[(c.next+i)%len(c.order)]
		b, err := json.Marshal(savedCommand{By: k.by, ID: k.id, Done: c.byID[k]})
		if err != nil && s.err == nil {
			s.err = err
		}
		s.record(b)
	}
	s.end()
}

type savedCommand struct {
	By   credentials.KeyID
	ID   registry.CommandID
	Done Done
}

// ReadSnapshot loads what WriteSnapshot wrote into new tables.
func ReadSnapshot(r io.Reader) (*DB, error) {
	s := &snapshotReader{r: bufio.NewReaderSize(r, 1<<16)}
	magic := make([]byte, len(snapshotMagic))
	if _, err := io.ReadFull(s.r, magic); err != nil || string(magic) != snapshotMagic {
		return nil, fmt.Errorf("%w: wrong beginning", ErrSnapshot)
	}
	db := New()
	tx := db.Write()
	defer tx.Abort() // nothing to do after Commit
	if err := s.tools(tx); err != nil {
		return nil, err
	}
	for _, load := range []func() error{
		func() error { return readTable[registry.Principal](s, tx, tablePrincipals) },
		func() error { return readOrigins(s, tx) },
		func() error { return readTable[holding](s, tx, tableHoldings) },
		func() error { return readTable[registry.Delegation](s, tx, tableDelegations) },
		func() error { return readTable[spent](s, tx, tableSpent) },
		func() error { return readTable[registry.Moved](s, tx, tableTransfers) },
		func() error { return readTable[registry.Agent](s, tx, tableAgents) },
		func() error { return readTable[registry.Contest](s, tx, tableContests) },
		func() error { return readTable[registry.Key](s, tx, tableKeys) },
		func() error { return readTable[labels.Lower](s, tx, tableLowered) },
		func() error { return readTable[registry.AnchorData](s, tx, tableAnchors) },
		func() error { return readTable[registry.Review](s, tx, tableReviews) },
		func() error { return s.commands(tx) },
	} {
		if err := load(); err != nil {
			return nil, err
		}
	}
	if err := tx.Commit(); err != nil {
		return nil, err
	}
	return db, nil
}

type snapshotReader struct {
	r   *bufio.Reader
	buf []byte
}

// next is the next record of a table, valid until the following call; nil at
// the table's end.
func (s *snapshotReader) next() ([]byte, error) {
	n, err := binary.ReadUvarint(s.r)
	if err != nil || n > maxSnapshotRecord {
		return nil, fmt.Errorf("%w: record length", ErrSnapshot)
	}
	if n == 0 {
		return nil, nil
	}
	if uint64(cap(s.buf)) < n {
		s.buf = make([]byte, n)
	}
	s.buf = s.buf[:n]
	if _, err := io.ReadFull(s.r, s.buf); err != nil {
		return nil, fmt.Errorf("%w: short", ErrSnapshot)
	}
	return s.buf, nil
}

func (s *snapshotReader) each(f func([]byte) error) error {
	for {
		b, err := s.next()
		if err != nil || b == nil {
			return err
		}
		if err := f(b); err != nil {
			return err
		}
	}
}

func readTable[T any](s *snapshotReader, tx *Txn, table string) error {
	return s.each(func(b []byte) error {
		x := new(T)
		if err := json.Unmarshal(b, x); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrSnapshot, table, err)
		}
		return tx.put(table, x)
	})
}

func readOrigins(s *snapshotReader, tx *Txn) error {
	return s.each(func(b []byte) error {
		o := new(Origin)
		if err := json.Unmarshal(b, o); err != nil {
			return fmt.Errorf("%w: origins: %w", ErrSnapshot, err)
		}
		if o.Topology != nil {
			rows, err := ReadRows(*o.Topology)
			if err != nil {
				return err
			}
			o.rows = rows
		}
		return tx.put(tableOrigins, o)
	})
}

func (s *snapshotReader) tools(tx *Txn) error {
	d := toolDecoder{keys: map[[32]byte]credentials.KeyID{}}
	if err := s.each(func(b []byte) error { d.origins = append(d.origins, string(b)); return nil }); err != nil {
		return err
	}
	return s.each(func(b []byte) error {
		t, err := d.decode(b)
		if err != nil {
			return err
		}
		return tx.put(tableTools, t)
	})
}

func (s *snapshotReader) commands(tx *Txn) error {
	return s.each(func(b []byte) error {
		var c savedCommand
		if err := json.Unmarshal(b, &c); err != nil {
			return fmt.Errorf("%w: commands: %w", ErrSnapshot, err)
		}
		tx.done = append(tx.done, doneCommand{commandKey{c.By, c.ID}, c.Done})
		return nil
	})
}
