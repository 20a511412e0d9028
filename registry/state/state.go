package state

import (
	"errors"
	"fmt"
	"sync"

	"github.com/hashicorp/go-memdb"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry"
)

// ErrApply says that an event contradicts the rows before it: the log was
// written by a faulty or newer program, or was tampered with. The view is
// poisoned.
var ErrApply = errors.New("state: event contradicts the state before it")

// commandsKept is how many commands are remembered for retries.
const commandsKept = 1 << 16

// DB holds the folded tables.
type DB struct {
	mem      *memdb.MemDB
	commands commands
}

// New returns empty tables.
func New() *DB {
	mem, err := memdb.NewMemDB(schema())
	if err != nil {
		panic(fmt.Sprintf("state: schema: %v", err)) // a constant; the tests open it
	}
	// Nobody waits on go-memdb's watches here. A snapshot keeps none: a commit
	// then costs what it changed, while one of many changes to a watched database
	// walks all its indexes to find whom to wake.
	mem = mem.Snapshot()
	return &DB{mem: mem, commands: commands{byID: map[commandKey]Done{}}}
}

// Read returns a snapshot; it needs no closing and may be shared between
// goroutines.
func (db *DB) Read() *View { return &View{txn: db.mem.Txn(false), commands: &db.commands} }

// Write begins the one write transaction. Nobody sees it before Commit.
func (db *DB) Write() *Txn {
	return &Txn{View: View{txn: db.mem.Txn(true), commands: &db.commands}, holdings: map[string]*holding{}}
}

// Done is what is remembered of a command that was carried out.
type Done struct {
	Index uint64             // of its first event
	Count int                // of its events
	Req   credentials.Digest // what it asked
}

// A command id is its sender's: another key with the same id is another
// command, or else whoever reads the log could collect other people's
// outcomes.
type commandKey struct {
	by credentials.KeyID
	id registry.CommandID
}

// commands remembers the latest commandsKept commands, oldest forgotten first.
type commands struct {
	mu    sync.RWMutex
	byID  map[commandKey]Done
	order []commandKey // ring
	next  int
}

func (c *commands) get(k commandKey) (Done, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	d, ok := c.byID[k]
	return d, ok
}

func (c *commands) put(k commandKey, d Done) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byID[k]; !ok {
		if len(c.order) < commandsKept {
			c.order = append(c.order, k)
		} else {
			delete(c.byID, c.order[c.next])
			c.order[c.next] = k
			c.next = (c.next + 1) % commandsKept
		}
	}
	c.byID[k] = d
}

// A Txn is a write transaction: a View that sees its own changes.
type Txn struct {
	View
	holdings map[string]*holding // changed counts, written at Commit
	done     []doneCommand
	events   int
}

type doneCommand struct {
	key commandKey
	Done
}

// Abort drops the transaction.
func (t *Txn) Abort() { t.txn.Abort() }

// Commit makes the transaction visible to later reads.
func (t *Txn) Commit() error {
	for _, h := range t.holdings {
		if err := t.put(tableHoldings, h); err != nil {
			t.txn.Abort()
			return err
		}
	}
	for _, d := range t.done {
		t.commands.put(d.key, d.Done)
	}
	t.txn.Commit()
	return nil
}

func (t *Txn) put(table string, rec any) error {
	if err := t.txn.Insert(table, rec); err != nil {
		return fmt.Errorf("state: %s: %w", table, err)
	}
	return nil
}

func (t *Txn) drop(table string, rec any) error {
	if err := t.txn.Delete(table, rec); err != nil {
		return fmt.Errorf("state: %s: %w", table, err)
	}
	return nil
}

// hold changes the count of live tools of an owner at an origin.
func (t *Txn) hold(owner credentials.KeyID, origin string, by int) {
	k := string(holdingKey(owner, origin))
	h := t.holdings[k]
	if h == nil {
		h = &holding{Owner: owner, Origin: origin, Live: t.View.held(owner, origin)}
		t.holdings[k] = h
	}
	h.Live += by
}

// Owned is the number of live tools of an owner in all, this transaction's
// changes included.
func (t *Txn) Owned(owner credentials.KeyID) int { return t.View.Owned(owner) + t.delta(owner) }

// delta is what this transaction has changed in an owner's counts and not
// written yet.
func (t *Txn) delta(owner credentials.KeyID) int {
	n := 0
	for _, h := range t.holdings {
		if h.Owner == owner {
			n += h.Live - t.View.held(h.Owner, h.Origin)
		}
	}
	return n
}
