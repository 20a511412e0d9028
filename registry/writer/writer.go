// Package writer is the one way to change the record: it validates commands
// against the view at the head of the log, appends their events by
// compare-and-swap, folds them in and answers. One writer runs in a process;
// several processes may write to one log, each following the others' tail.
//
// Nothing is acknowledged before it is durable and a signed checkpoint covers
// it. A view that is stale, shrunk, gapped, forked or not understood denies
// everything until it is rebuilt.
package writer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/state"
	"github.com/pratique-dev/pratique/registry/store"
)

// Errors of a writer, beyond those of commands.
var (
	// ErrPoisoned: the log contradicts what this process has seen of it. Sticky:
	// only a new start that reaches a consistent head clears it.
	ErrPoisoned = errors.New("writer: view is poisoned")
	// ErrRollback: the log is shorter than, or contradicts, a checkpoint kept
	// outside it. Nothing starts on such a log but a restore by an operator.
	ErrRollback = errors.New("writer: log is older than a checkpoint known elsewhere")
	// ErrClosed: Close was called.
	ErrClosed = errors.New("writer: closed")
	// ErrOverload: the queue is full; nothing was tried.
	ErrOverload = errors.New("writer: too many commands are waiting")
)

// Log is what a writer needs of a store.
type Log interface {
	store.Store
	store.Contents
	store.Notes
}

// Options configure a writer. Store and Checkpoints are required.
type Options struct {
	// Store is the log. Where it also offers store.Leases and store.Turns, they
	// are used.
	Store Log
	// Checkpoints signs heads; it is asked for each, so that a rotated key is
	// used at once.
	Checkpoints func() (*ledger.Signer, error)
	// Snapshot is where a snapshot is kept for a fast start; nil: nowhere.
	Snapshot *Snapshots
	// Policy and Quotas decide who may register, and how much. Zero: enrolled
	// only, default quotas.
	Policy registry.RegistrationPolicy
	Quotas *registry.Quotas
	// Before is called with a view before it is published, under the writer's
	// lock: what it does (read revoked keys anew) is done before this process
	// claims to act on the view. An error keeps the view from being published.
	Before func(*state.View) error
	// MaxStale bounds how long a view may be acted on after its head was asked
	// for. Zero: 2 s.
	MaxStale time.Duration
	// Now and Rand are the clock and the source of ids. Nil: the system's.
	Now  func() time.Time
	Rand io.Reader
	// Logger is told what an operator should know. Nil: silence.
	Logger *slog.Logger
	// ID names this process in its lease; empty: drawn from Rand.
	ID string
}

// Bounds of one commit, and of the queue.
const (
	maxBatchCommands = 256
	maxBatchEntries  = 1 << 14
	queueLength      = 4096
)

// heartbeat is how often a process asks for the head and renews its lease.
const heartbeat = 200 * time.Millisecond

// noteDelay is how long a signed checkpoint waits for an append to ride in.
const noteDelay = 10 * time.Millisecond

// A Writer owns the view of one process.
type Writer struct {
	opt    Options
	log    *slog.Logger
	leases store.Leases
	turns  store.Turns
	db     *state.DB
	quotas registry.Quotas
	id     string

	mu        sync.Mutex   // owns what follows, and the write transaction of db
	tree      *ledger.Tree // at the head that db shows
	lastAt    int64        // time of the last event, milliseconds
	pending   *store.Note  // signed, waiting to be stored
	pendingAt time.Time
	signed    uint64 // size of the newest checkpoint that this process signed
	contended int    // batches that still take a turn
	leased    time.Time
	entropy   *ulid.MonotonicEntropy
	rate      rates

	snap     atomic.Pointer[Snapshot]
	poisoned atomic.Pointer[poison]
	changed  chan struct{} // closed and replaced when the view moves; under mu
	reqs     chan *request
	ended    chan struct{} // closed when the committer takes no more requests
	stop     context.CancelFunc
	done     sync.WaitGroup
	closed   atomic.Bool
}

type poison struct{ err error }

// A Snapshot is one published view: what it says holds at Head.
type Snapshot struct {
	*state.View
	Head  ledger.Head
	until time.Time // not to be acted on afterwards
}

// Open folds the log, checks it against what is known of it, and starts the
// writer. The context bounds the opening only.
func Open(ctx context.Context, opt Options) (*Writer, error) {
	if opt.Store == nil || opt.Checkpoints == nil {
		return nil, errors.New("writer: Store and Checkpoints are required")
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Rand == nil {
		opt.Rand = rand.Reader
	}
	if opt.MaxStale <= 0 {
		opt.MaxStale = 2 * time.Second
	}
	w := &Writer{opt: opt, log: opt.Logger, db: state.New(), tree: &ledger.Tree{}, quotas: registry.DefaultQuotas(),
		changed: make(chan struct{}), reqs: make(chan *request, queueLength), ended: make(chan struct{}), id: opt.ID,
		entropy: ulid.Monotonic(opt.Rand, 0), rate: rates{}}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	if opt.Quotas != nil {
		w.quotas = *opt.Quotas
	}
	w.leases, _ = opt.Store.(store.Leases)
	w.turns, _ = opt.Store.(store.Turns)
	if w.id == "" {
		w.id = w.newULID(opt.Now())
	}
	if err := w.start(ctx); err != nil {
		return nil, err
	}
	run, stop := context.WithCancel(context.Background())
	w.stop = stop
	w.done.Add(2)
	go func() { defer w.done.Done(); w.follow(run) }()
	go func() { defer w.done.Done(); w.commitLoop(run) }()
	return w, nil
}

// start loads a snapshot where there is one and folds up to the head.
func (w *Writer) start(ctx context.Context) error {
	if w.opt.Snapshot != nil {
		if err := w.loadSnapshot(ctx); errors.Is(err, ErrRollback) || errors.Is(err, ErrPoisoned) {
			return err
		} else if err != nil {
			w.log.Warn("snapshot not used; folding the whole log", "err", err)
			w.db, w.tree = state.New(), &ledger.Tree{}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.catchUp(ctx); err != nil {
		return err
	}
	return w.ensureCheckpoint(ctx)
}

// Close answers what is queued, stores the last checkpoint and ends the lease.
// The store stays open.
func (w *Writer) Close() error {
	if w.closed.Swap(true) {
		return nil
	}
	w.stop()
	w.done.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	ctx := context.Background()
	err := w.flushNote(ctx)
	if w.leases != nil {
		err = errors.Join(err, w.leases.Unlease(ctx, w.id))
	}
	return err
}

// View is the latest view that may be acted on, or registry.ErrStaleView: then
// the caller denies.
func (w *Writer) View() (*Snapshot, error) {
	if p := w.poisoned.Load(); p != nil {
		return nil, fmt.Errorf("%w: %w", registry.ErrStaleView, p.err)
	}
	s := w.snap.Load()
	if s == nil || w.opt.Now().After(s.until) {
		return nil, registry.ErrStaleView
	}
	return s, nil
}

// Fresh reports whether the view may be acted on, for readiness.
func (w *Writer) Fresh() error { _, err := w.View(); return err }

// Changed is closed when the view has moved on from what View showed before
// the call.
func (w *Writer) Changed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

// Barrier returns a view that shows everything acknowledged anywhere before
// the call: a linearizable read.
func (w *Writer) Barrier(ctx context.Context) (*Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.catchUp(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", registry.ErrStaleView, err)
	}
	return w.View()
}

// fail poisons the view, once.
func (w *Writer) fail(err error) error {
	err = fmt.Errorf("%w: %w", ErrPoisoned, err)
	if w.poisoned.CompareAndSwap(nil, &poison{err}) {
		w.log.Error("view poisoned: everything is denied until a restart reaches a consistent head", "err", err)
	}
	return w.poisoned.Load().err
}

// publish makes the folded state visible as of a time at which the head was
// known. The caller holds mu.
func (w *Writer) publish(asked time.Time) error {
	until := asked.Add(w.opt.MaxStale)
	if w.leases != nil && w.leased.Before(until) {
		until = w.leased
	}
	old := w.snap.Load()
	head := w.tree.Head()
	if old != nil && old.Head == head {
		w.snap.Store(&Snapshot{View: old.View, Head: head, until: until})
		return nil
	}
	view := w.db.Read()
	if w.opt.Before != nil {
		if err := w.opt.Before(view); err != nil {
			return fmt.Errorf("writer: view not published: %w", err)
		}
	}
	w.snap.Store(&Snapshot{View: view, Head: head, until: until})
	close(w.changed)
	w.changed = make(chan struct{})
	return nil
}

func (w *Writer) newULID(at time.Time) string {
	id, err := ulid.New(ulid.Timestamp(at), w.entropy)
	if err != nil { // the monotonic part overflowed: draw anew
		w.entropy = ulid.Monotonic(w.opt.Rand, 0)
		id = ulid.MustNew(ulid.Timestamp(at), w.entropy)
	}
	return id.String()
}

// ID names this process in its lease.
func (w *Writer) ID() string { return w.id }
