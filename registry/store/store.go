// Package store is the vocabulary of the durable log: a head, one write that
// compares and swaps it, and reads. Everything else that Pratique keeps (state,
// tiles, snapshots) is folded from this log and may be deleted at any time.
//
// The interfaces here hold no SQL and no file names; an engine is a
// subpackage. Store is required, the other interfaces are what an engine may
// also offer; the two engines of this project offer all of them, and
// storetest is the one suite that both pass.
package store

import (
	"context"
	"crypto/sha256"
	"time"
)

// Bounds of one Append. They keep one batch inside what a log with C2SP entry
// bundles can serve (a 16-bit length per entry) and inside bounded memory.
const (
	MaxEntry   = 65535   // bytes of one entry; empty entries are refused too
	MaxContent = 4 << 20 // bytes of one Blob
	MaxNote    = 65535   // bytes of one Note
	MaxEntries = 1 << 16 // entries of one Batch
)

// Head names one state of the log: how many entries, and their RFC 6962 root.
// The engine stores the root and compares it; it never computes one, so only
// a fold over the entries (registry/ledger) shows that it is right.
type Head struct {
	Size uint64
	Root [32]byte
}

// EmptyHead is the head of a log without entries: RFC 9162 §2.1.1 defines the
// root of the empty tree as the hash of the empty string.
func EmptyHead() Head { return Head{Root: sha256.Sum256(nil)} }

// Blob is content kept beside the log under its digest. The digest is over a
// context-prefixed canonical form that the engine does not know, so neither
// writing nor reading verifies it: whoever reads does (internal/canon).
type Blob struct {
	Digest [32]byte
	Data   []byte
}

// Note is a signed checkpoint: the text of a signed note for the log at Size.
// There is one text per size for ever, so that no two roots can be published
// for one size, by however many processes.
type Note struct {
	Size uint64
	Text []byte
}

// Batch is what one Append writes, all of it or nothing.
type Batch struct {
	Entries [][]byte // next.Size - prev.Size of them; may be none, then next == prev
	Content []Blob   // may repeat what is stored already, byte for byte
	Notes   []Note   // of sizes up to next.Size; may repeat a stored note, byte for byte
}

// Store is the log. All methods may be called at the same time.
type Store interface {
	// Append writes b and moves the head from prev to next, durably, if and
	// only if the head is still exactly prev.
	//
	//   nil                 everything is durable
	//   Unwritten(err)      nothing was written: ErrConflict (the head moved), or
	//                       the batch was refused (ErrBatch, ErrEntrySize,
	//                       ErrNoteExists, ErrContentExists, ErrClosed)
	//   any other error     the outcome is unknown (wraps ErrUnknownOutcome):
	//                       read the head again before anything else
	//
	// It is never cancelled by ctx, since a cancelled commit may or may not
	// have happened (PostgreSQL then even shows what no standby has); ctx
	// carries values only. Give up waiting on the caller's side.
	Append(ctx context.Context, prev, next Head, b Batch) error

	// Read returns at most max entries from index from on, in order and
	// without gaps; fewer only at the end of the log, none at or beyond it.
	// An entry missing below the head is ErrGap.
	Read(ctx context.Context, from uint64, max int) ([][]byte, error)

	// Head is linearizable: it shows every Append that returned before the
	// call, by any process.
	Head(ctx context.Context) (Head, error)

	// Wait returns nil when the log is longer than size, or early for no
	// reason: it is a hint, so the caller asks for the Head afterwards. It
	// returns ctx.Err() when ctx ends.
	Wait(ctx context.Context, size uint64) error

	// Close waits for a running Append. Afterwards every method is ErrClosed.
	Close() error
}

// Contents reads blobs. The caller verifies the digest of what it gets.
type Contents interface {
	Content(ctx context.Context, digest [32]byte) ([]byte, error) // ErrNotFound
}

// Notes reads checkpoints, which Append writes.
type Notes interface {
	LatestNote(ctx context.Context) (Note, error)                    // the largest size; ErrNotFound
	Note(ctx context.Context, size uint64) (Note, error)             // ErrNotFound
	Notes(ctx context.Context, from uint64, max int) ([]Note, error) // sizes >= from, ascending
}

// Leases tell who may still act on an older view, so that a revocation is
// acknowledged once nobody can.
//
// The order that makes this sound: write the lease, then ask for the Head,
// fold up to it, and act on that view only until the lease ends. A lease
// written after a revocation's commit is then always followed by a Head that
// shows it. Until is wall clock, compared on one machine (SQLite) or against
// the database's allowance for drift (PostgreSQL).
type Leases interface {
	// Lease records that id may act on a view of applied entries until then.
	Lease(ctx context.Context, id string, applied uint64, until time.Time) error
	// Lagging counts leases unexpired at now with a view of fewer than
	// applied entries. A lease that cannot be read counts.
	Lagging(ctx context.Context, applied uint64, now time.Time) (int, error)
	// Unlease ends the lease of id, which promises to act no more.
	Unlease(ctx context.Context, id string) error
}

// Turns is a fair queue between the processes that share one log: whoever
// lost a compare-and-swap takes a turn, catches up, validates again and
// appends without being overtaken by another member that takes turns. It is a
// hint; correctness is Append's. Release is idempotent; the turn of a process
// that dies is free at once.
type Turns interface {
	Turn(ctx context.Context) (release func(), err error)
}

// Backup writes a consistent copy while the log is in use. The path must not
// exist; the file there is complete and synced, or absent.
type Backup interface {
	BackupTo(ctx context.Context, path string) error
}

// Repair is one thing that opening the store mended after a crash: bytes that
// no committed transaction owned. It stays on record, so that verification
// keeps reporting it and does not cry wolf either.
type Repair struct {
	At     time.Time
	Kind   string // RepairTornTail, RepairLostTail
	Bytes  uint64 // how much was dropped
	Head   Head   // the head that was left
	Detail string // for people
}

// Kinds of Repair.
const (
	// RepairTornTail: the end of the write-ahead log held an incomplete or
	// damaged transaction, as a crash leaves it. It was dropped. If the tear was a
	// crash, nothing acknowledged was in it; whether that is so, a checkpoint kept
	// elsewhere shows.
	RepairTornTail = "torn-tail"
	// RepairLostTail: the whole write-ahead log was unreadable and was dropped.
	RepairLostTail = "lost-tail"
)

// Repairs lists what was mended at any opening so far, oldest first.
type Repairs interface {
	Repairs(ctx context.Context) ([]Repair, error)
}

// Checker looks for damage below the rows (page structure, indexes, missing
// rows). It reads everything. Damage inside a row is for the ledger to find,
// by the root.
type Checker interface {
	Check(ctx context.Context) error
}
