// Package decisions is the decision log: every call's decision before its
// effect, its outcome after it, and whatever else moved what an agent is shown.
//
// A log is one process's own spool (registry/spool) in a data folder that many
// processes share; arguments and results are in it by digests under a key of
// their own, and what replay needs lies encrypted in registry/vault. Entries are
// never published; the registry's log names only each spool's size, root and
// chain (RULES.md 28, 29).
//
// Nothing is pruned: a spool stays, and one that is gone stops the start once it
// is anchored. A process whose spool is full begins another; calls end in the
// spool that they began in, and a run's numbers go on over both. Once the spools of
// the folder reach their quota no call is let through any more; what one agent may
// fill of it on one day is for the caller to ask (Log.Spent). Values in the
// vault go when their retention is over. Anchors name what was durable at most
// seconds ago: entries cut off the end of a spool that no anchor and no orderly
// end covers do not show.
//
// Whoever forwards calls does so only after Decided came back without an error:
// a log that is full, failing or closed lets nothing through.
package decisions

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/pratique-dev/pratique/credentials"
)

// Errors of a log. On each of them the caller denies.
var (
	ErrFull    = errors.New("decisions: the spools have reached their quota")
	ErrStopped = errors.New("decisions: the spool could not be written, and is stopped for good")
	ErrClosed  = errors.New("decisions: closed")
	ErrMany    = errors.New("decisions: too many calls are open")
	ErrEntry   = errors.New("decisions: not an entry that is written here")
	ErrTicket  = errors.New("decisions: no such open call")
	ErrAnchor  = errors.New("decisions: a spool is not what the registry's log says of it")
	ErrVault   = errors.New("decisions: the values of a call could not be kept")
	ErrKeys    = errors.New("decisions: keys are missing beside spools that they belong to")
)

// Defaults of Options.
const (
	DefaultRetention = 30 * 24 * time.Hour
	DefaultOpen      = 1 << 14
	DefaultTotal     = 16 << 30
	DefaultRoll      = 64 << 20
)

// Options of a log. The zero value takes the defaults.
type Options struct {
	Now       func() time.Time // nil: time.Now
	Rand      io.Reader        // nil: crypto/rand
	Total     int64            // bytes of all spools of the folder, beyond which none is begun; 0: 16 GiB
	Roll      int64            // bytes of a spool, beyond which this process begins another; 0: 64 MiB
	Quota     int64            // bytes of all spools that this process begins or continues; 0: as Total
	Segment   int64            // bytes of a segment; 0: 4 MiB
	Retention time.Duration    // of values in the vault; 0: 30 days
	Values    int64            // bytes of values that this process keeps on one day, a quarter of them of one agent; 0: 1 GiB
	Open      int              // calls open at once; 0: 16,384
	// Sync and WriteAt are what is done to segments; nil: fdatasync and pwrite. Only
	// tests change them.
	Sync    func(f *os.File) error
	WriteAt func(f *os.File, b []byte, off int64) (int, error)
	// Anchors are what the registry's log says of the spools of this folder. A
	// spool that contradicts its anchor stops the start.
	Anchors []Anchor
}

// An Anchor is what the registry's log says of a spool: so many entries, their
// RFC 6962 root, and the keyed chain after the last of them.
type Anchor struct {
	Spool string             `json:"spool"`
	Size  uint64             `json:"size"`
	Root  credentials.Digest `json:"root"`
	Chain credentials.Digest `json:"chain"`
}
