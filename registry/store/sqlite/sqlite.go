package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pratique-dev/pratique/registry/store"
)

// Options of Open. The zero value, and nil, are the strict defaults.
type Options struct {
	// Existing refuses to make a new log: a folder without one is
	// store.ErrNotFound. For tools that inspect.
	Existing bool
	// Now dates repairs; nil is time.Now.
	Now func() time.Time
	// Poll is how often Wait looks for entries of other processes; 0 is 25 ms.
	Poll time.Duration
	// Busy is how long to wait for other processes while opening, and for
	// SQLite's own locks; 0 is 10 s.
	Busy time.Duration

	// For tests only.
	fault    faultFunc     // called around each engine call
	vfs      string        // name of a registered SQLite file system
	walOf    func() []byte // its write-ahead log
	frames   int           // of the write-ahead log before it is moved; 0 is 1,000 (4 MB)
	patience time.Duration // 0 is turnPatience
}

func (o *Options) withDefaults() Options {
	var r Options
	if o != nil {
		r = *o
	}
	if r.Now == nil {
		r.Now = time.Now
	}
	if r.Poll <= 0 {
		r.Poll = 25 * time.Millisecond
	}
	if r.Busy <= 0 {
		r.Busy = 10 * time.Second
	}
	if r.patience <= 0 {
		r.patience = turnPatience
	}
	if r.frames <= 0 {
		r.frames = 1000
	}
	return r
}

// Log is an open log. It implements store.Store, Contents, Notes, Leases,
// Turns, Backup, Repairs and Checker.
type Log struct {
	dir     string
	opt     Options
	turns   *turns
	member  *os.File // shared lock for as long as the log is open
	w       writer
	read    *sql.DB
	queries sync.Map // text → *sql.Stmt of read
	watch   watch
	ckpt    checkpointer

	life   sync.RWMutex // read-locked by a running Append, locked to close
	closed atomic.Bool
	once   sync.Once
	repair *store.Repair // what this opening mended

	leaseMu sync.Mutex
}

var (
	_ store.Store    = (*Log)(nil)
	_ store.Contents = (*Log)(nil)
	_ store.Notes    = (*Log)(nil)
	_ store.Leases   = (*Log)(nil)
	_ store.Turns    = (*Log)(nil)
	_ store.Backup   = (*Log)(nil)
	_ store.Repairs  = (*Log)(nil)
	_ store.Checker  = (*Log)(nil)
)

// Recovered returns what this opening mended, and whether there was anything.
// Repairs lists those of earlier openings too.
func (l *Log) Recovered() (store.Repair, bool) {
	if l.repair == nil {
		return store.Repair{}, false
	}
	return *l.repair, true
}

// Close implements store.Store. The last process to close moves the
// write-ahead log into the database.
func (l *Log) Close() error {
	var err error
	l.once.Do(func() {
		l.closed.Store(true)
		l.watch.close()
		err = l.release()
	})
	return err
}

// release gives everything back that an opening, even a failed one, has taken.
func (l *Log) release() error {
	errs := []error{l.ckpt.stop()} // first, since a round may want the writer's lock
	if l.read != nil {
		errs = append(errs, l.read.Close())
	}
	l.life.Lock() // waits for a running Append
	defer l.life.Unlock()
	l.w.mu.Lock()
	errs = append(errs, l.w.shut())
	l.w.mu.Unlock()
	if l.turns != nil {
		l.turns.close()
	}
	if l.member != nil {
		errs = append(errs, l.member.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close: %w", named(err))
	}
	return nil
}

// usable is asked first by every method.
func (l *Log) usable(ctx context.Context) error {
	if l.closed.Load() {
		return store.ErrClosed
	}
	return ctx.Err()
}
