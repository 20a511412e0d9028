package store

import "errors"

// What Append refuses; nothing was written.
var (
	// ErrConflict: the head is not prev. Catch up, validate again, try again.
	ErrConflict = errors.New("store: the head has moved")
	// ErrBatch: the batch contradicts its heads or its bounds; a bug of the caller.
	ErrBatch = errors.New("store: batch does not fit its heads")
	// ErrEntrySize: an entry, blob or note is empty or too long.
	ErrEntrySize = errors.New("store: entry is empty or too long")
	// ErrNoteExists: another text was already published for this size. Whoever
	// has signed the refused one must not show it to anybody.
	ErrNoteExists = errors.New("store: another checkpoint exists for this size")
	// ErrContentExists: other bytes are stored under this digest: one of the
	// two does not have it.
	ErrContentExists = errors.New("store: other content exists for this digest")
	// ErrClosed: Close was called.
	ErrClosed = errors.New("store: closed")
)

// What else can go wrong.
var (
	// ErrUnknownOutcome: the batch may or may not be durable. Read the head:
	// it is prev, next, or beyond. Never append the same commands again
	// without that.
	ErrUnknownOutcome = errors.New("store: outcome of the append is unknown")
	// ErrNotFound: no such content or note.
	ErrNotFound = errors.New("store: not found")
	// ErrGap: an entry below the head is missing. Poison: stop acting on this log.
	ErrGap = errors.New("store: entry missing below the head")
	// ErrFull: the disk or a quota is full.
	ErrFull = errors.New("store: no space left")
	// ErrIO: reading, writing or syncing failed.
	ErrIO = errors.New("store: input/output error")
	// ErrCorrupt: the database is damaged. It is not repaired by guessing:
	// restore, or verify against a checkpoint kept elsewhere.
	ErrCorrupt = errors.New("store: damaged")
	// ErrBusy: another process holds the log in a way that excludes this.
	ErrBusy = errors.New("store: in use by another process")
	// ErrForeign: the file belongs to another program, or a newer schema.
	ErrForeign = errors.New("store: not a log of ours, or of a newer version")
	// ErrUnsafe: the engine cannot promise durability as configured
	// (version with a known defect, synchronous mode, file system).
	ErrUnsafe = errors.New("store: engine cannot keep its promises")
	// ErrPermission: a folder or file is a symbolic link, is not ours, or others
	// may read or write it.
	ErrPermission = errors.New("store: unsafe permissions")
)

// Unwritten reports that a failed Append certainly wrote nothing. It is false
// for every error it does not know.
func Unwritten(err error) bool {
	if err == nil || errors.Is(err, ErrUnknownOutcome) {
		return false
	}
	for _, e := range []error{ErrConflict, ErrBatch, ErrEntrySize, ErrNoteExists, ErrContentExists, ErrClosed} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
