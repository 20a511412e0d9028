package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	driversqlite "modernc.org/sqlite"

	"github.com/pratique-dev/pratique/registry/store"
)

// faultFunc is called before and after each engine call, by the name of the
// call. An error before replaces the call; an error after hides its success.
type faultFunc func(call string, after bool) error

// conn is one connection, used by one goroutine at a time. The write path
// uses the driver below database/sql: that spares a lock, a context watcher
// and argument conversion for each row, and closing it really closes it.
type conn struct {
	c     driver.Conn
	fault faultFunc
}

// stmt is a prepared statement with its reusable arguments.
type stmt struct {
	c    *conn
	call string
	s    driver.Stmt
	args []driver.NamedValue
}

var drv = &driversqlite.Driver{}

// dsn names the database. Every connection waits for locks, refuses tricks of
// a crafted schema, and takes double quotes for identifiers only.
func (o *Options) dsn(path string, pragmas ...string) string {
	q := url.Values{"_dqs": {"0"}, "_defensive": {"1"}, "_error_rc": {"1"}}
	q.Set("_busy_timeout", fmt.Sprint(o.Busy.Milliseconds()))
	for _, p := range append(pragmas, "trusted_schema(0)", "cell_size_check(1)", "mmap_size(0)") {
		q.Add("_pragma", p)
	}
	if o.vfs != "" {
		q.Set("vfs", o.vfs)
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}
	return u.String()
}

func (o *Options) connect(path string, pragmas ...string) (*conn, error) {
	c, err := drv.Open(o.dsn(path, pragmas...))
	if err != nil {
		return nil, named(err)
	}
	return &conn{c: c, fault: o.fault}, nil
}

func (c *conn) close() error { return c.c.Close() }

// around runs do inside the fault hook.
func (c *conn) around(call string, do func() error) error {
	if c.fault == nil {
		return do()
	}
	if err := c.fault(call, false); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return c.fault(call, true)
}

func (c *conn) prepare(call, query string) (*stmt, error) {
	s, err := c.c.Prepare(query)
	if err != nil {
		return nil, named(err)
	}
	st := &stmt{c: c, call: call, s: s, args: make([]driver.NamedValue, strings.Count(query, "?"))}
	for i := range st.args {
		st.args[i].Ordinal = i + 1
	}
	return st, nil
}

// run executes once. The context is never one that ends: an interrupted
// statement inside a transaction is an outcome nobody could name.
func (s *stmt) run() (n int64, err error) {
	err = s.c.around(s.call, func() error {
		r, err := s.s.(driver.StmtExecContext).ExecContext(context.Background(), s.args)
		if err == nil {
			n, err = r.RowsAffected()
		}
		return err
	})
	return n, err
}

// any tells whether a query has a row.
func (s *stmt) any() (found bool, err error) {
	_, found, err = s.number()
	return found, err
}

// number is the first column of a query's first row, where it has one and the
// column is a number.
func (s *stmt) number() (n int64, found bool, err error) {
	err = s.c.around(s.call, func() error {
		rows, err := s.s.(driver.StmtQueryContext).QueryContext(context.Background(), s.args)
		if err != nil {
			return err
		}
		vals := make([]driver.Value, len(rows.Columns()))
		if err = rows.Next(vals); err == nil {
			n, _ = vals[0].(int64)
			found = true
			err = rows.Next(vals) // to the end: RETURNING has acted only then
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return errors.Join(err, rows.Close())
	})
	return n, found, err
}

func (s *stmt) set(args ...driver.Value) *stmt {
	for i, a := range args {
		s.args[i].Value = a
	}
	return s
}

// clear drops references to the caller's bytes.
func (s *stmt) clear() {
	for i := range s.args {
		s.args[i].Value = nil
	}
}

// exec runs a statement without results.
func (c *conn) exec(call, query string, args ...driver.Value) error {
	return c.around(call, func() error {
		nv := make([]driver.NamedValue, len(args))
		for i, a := range args {
			nv[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
		}
		_, err := c.c.(driver.ExecerContext).ExecContext(context.Background(), query, nv)
		return named(err)
	})
}

// row returns the first row of a query, or store.ErrNotFound.
func (c *conn) row(call, query string, args ...driver.Value) (vals []driver.Value, err error) {
	err = c.around(call, func() error {
		nv := make([]driver.NamedValue, len(args))
		for i, a := range args {
			nv[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
		}
		rows, err := c.c.(driver.QueryerContext).QueryContext(context.Background(), query, nv)
		if err != nil {
			return named(err)
		}
		defer rows.Close()
		vals = make([]driver.Value, len(rows.Columns()))
		switch err := rows.Next(vals); {
		case errors.Is(err, io.EOF):
			return store.ErrNotFound
		default:
			return named(err)
		}
	})
	return vals, err
}

// integer is row for one number.
func (c *conn) integer(call, query string, args ...driver.Value) (int64, error) {
	v, err := c.row(call, query, args...)
	if err != nil {
		return 0, err
	}
	n, ok := v[0].(int64)
	if !ok {
		return 0, fmt.Errorf("%w: %s is no integer", store.ErrCorrupt, call)
	}
	return n, nil
}

// Primary result codes, https://www.sqlite.org/rescode.html.
var codes = map[int]error{
	3:  store.ErrPermission, // PERM
	5:  store.ErrBusy,       // BUSY
	6:  store.ErrBusy,       // LOCKED
	8:  store.ErrPermission, // READONLY
	10: store.ErrIO,         // IOERR
	11: store.ErrCorrupt,    // CORRUPT
	13: store.ErrFull,       // FULL
	14: store.ErrIO,         // CANTOPEN
	15: store.ErrBusy,       // PROTOCOL: gave up on the lock of the WAL index
	19: store.ErrCorrupt,    // CONSTRAINT: rows beyond the head, which we never write
	26: store.ErrForeign,    // NOTADB
}

// named gives an error of the driver our name for it.
func named(err error) error {
	var e *driversqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	if n, ok := codes[e.Code()&0xff]; ok && !errors.Is(err, n) {
		return fmt.Errorf("%w: %s (%d)", n, strings.TrimSpace(e.Error()), e.Code())
	}
	return err
}
