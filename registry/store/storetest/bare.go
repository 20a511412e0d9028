package storetest

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"net/url"
	"strings"
	"sync"

	driversqlite "modernc.org/sqlite"
)

// BareCommitter is a group committer straight on SQLite, with the same
// durability and the same statements' work but nothing else: no head, no
// Merkle tree, no checks, no turns, no reads. It is the baseline that the
// writer's throughput is measured against.
type BareCommitter struct {
	c     driver.Conn
	notes bool
	many  bool
	queue chan job
	done  chan struct{}
	once  sync.Once
	seq   int64

	begin, commit, entry, entries, note bareStmt
}

const bareMany = 16 // as the engine: rows of one INSERT

type bareStmt struct {
	s    driver.StmtExecContext
	args []driver.NamedValue
}

func (s *bareStmt) run(args ...driver.Value) error {
	for i, a := range args {
		s.args[i].Value = a
	}
	_, err := s.s.ExecContext(context.Background(), s.args)
	return err
}

// NewBareCommitter makes a database at path. With notes, each batch writes a
// row of the size of a checkpoint too. One INSERT takes many rows, as in the
// engine, or one row as in the usual loop.
func NewBareCommitter(path string, notes, many bool) (*BareCommitter, error) {
	q := url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(FULL)"}}
	c, err := (&driversqlite.Driver{}).Open((&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, err
	}
	b := &BareCommitter{c: c, notes: notes, many: many, queue: make(chan job, 1024), done: make(chan struct{})}
	for _, q := range []string{
		`CREATE TABLE log(seq INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT`,
		`CREATE TABLE note(size INTEGER PRIMARY KEY, text BLOB NOT NULL) STRICT`,
	} {
		if _, err := c.(driver.ExecerContext).ExecContext(context.Background(), q, nil); err != nil {
			return nil, err
		}
	}
	for to, q := range map[*bareStmt]string{
		&b.begin: `BEGIN IMMEDIATE`, &b.commit: `COMMIT`, &b.note: `INSERT INTO note VALUES(?,?)`,
		&b.entry: `INSERT INTO log VALUES(?,?)`, &b.entries: `INSERT INTO log VALUES(?,?)` + strings.Repeat(`,(?,?)`, bareMany-1),
	} {
		s, err := c.Prepare(q)
		if err != nil {
			return nil, err
		}
		to.s = s.(driver.StmtExecContext)
		to.args = make([]driver.NamedValue, strings.Count(q, "?"))
		for i := range to.args {
			to.args[i].Ordinal = i + 1
		}
	}
	go b.run()
	return b, nil
}

// Do appends one entry and returns its index once it is durable.
func (b *BareCommitter) Do(entry []byte) (uint64, error) {
	j := job{entry: entry, reply: make(chan result, 1)}
	b.queue <- j
	r := <-j.reply
	return r.index, r.err
}

// Close ends the goroutine and closes the database. No Do may be running or
// follow.
func (b *BareCommitter) Close() error {
	b.once.Do(func() { close(b.queue) })
	<-b.done
	return b.c.Close()
}

func (b *BareCommitter) run() {
	defer close(b.done)
	for j := range b.queue {
		jobs := take(j, b.queue)
		err := b.write(jobs)
		for i, j := range jobs {
			j.reply <- result{uint64(b.seq) + uint64(i), err}
		}
		b.seq += int64(len(jobs))
	}
}

func (b *BareCommitter) write(jobs []job) error {
	if err := b.begin.run(); err != nil {
		return fmt.Errorf("bare: %w", err)
	}
	seq := b.seq
	for b.many && len(jobs) >= bareMany {
		for i := range bareMany {
			b.entries.args[2*i].Value, b.entries.args[2*i+1].Value = seq+int64(i), jobs[i].entry
		}
		if err := b.entries.run(); err != nil {
			return fmt.Errorf("bare: %w", err)
		}
		jobs, seq = jobs[bareMany:], seq+bareMany
	}
	for i, j := range jobs {
		if err := b.entry.run(seq+int64(i), j.entry); err != nil {
			return fmt.Errorf("bare: %w", err)
		}
	}
	if b.notes {
		text := make([]byte, 200) // a signed note with one signature
		binary.BigEndian.PutUint64(text, uint64(seq))
		if err := b.note.run(seq+int64(len(jobs)), text); err != nil {
			return fmt.Errorf("bare: %w", err)
		}
	}
	if err := b.commit.run(); err != nil {
		return fmt.Errorf("bare: %w", err)
	}
	return nil
}
