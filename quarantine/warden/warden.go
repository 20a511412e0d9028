// Package warden runs the inspector where it can judge and do nothing else: in
// child processes of the same binary that have no environment, no file, no
// network and no key, only a pipe to read from and one to answer on.
//
// The warden is the parent's side. It keeps a few children started, hands each
// one batch at a time, bounds their time, memory and output, believes nothing
// that they say without checking it, and replaces them. Whatever goes wrong is a
// report that is suspect and partial: never an open gate, never a caller that
// hangs.
package warden

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/pratique-dev/pratique/quarantine"
)

// A Mode says what becomes of a machine that cannot confine the children.
type Mode string

// The modes. The zero value is Required on Linux and BestEffort elsewhere.
const (
	Required   Mode = "required"    // Landlock and seccomp are both there, or nothing starts
	BestEffort Mode = "best-effort" // children with what confinement there is, which Level names
	Off        Mode = "off"         // no children: the engine runs in this process
)

// ErrMode says that a text names no mode.
var ErrMode = errors.New("sandbox is not one of required, best-effort, off")

// ErrSandbox says that this machine cannot confine the inspector as required.
var ErrSandbox = errors.New("warden: the inspector cannot be confined here")

// A Broker holds what a child must not have: the key and the way to a language
// model. It is safe for concurrent use.
type Broker interface {
	// Serves tells whether a text of an origin may go to the model (RULES.md 35).
	Serves(origin string) bool
	// Ask answers a child's question about the batch that it has. The batch is the
	// parent's own copy; question and answer are bytes of at most opinion.MaxQuestion
	// and opinion.MaxReply that are the child's to compose and to parse.
	Ask(ctx context.Context, b quarantine.Batch, question []byte) ([]byte, error)
	// Engine names the model and how it is asked: part of every cache key.
	Engine() string
	// Deadline is how long all questions about one batch may take together.
	Deadline() time.Duration
}

// Options configure a warden. The zero value is strict: children are confined or
// nothing starts, and no language model is asked.
type Options struct {
	Mode     Mode          // "": Required on Linux, BestEffort elsewhere
	Workers  int           // children at once; 0: one for each two processors, at least 2
	Deadline time.Duration // of a batch, and a second more for each MiB of it; 0: 2s
	Memory   int64         // bytes that a child may use; 0: 512 MiB
	Cache    int           // verdicts kept; 0: 4096, less than 0: none

	// Broker asks a language model for the children; nil: there is none.
	Broker Broker

	Log *slog.Logger // nil: silence
}

// A Warden is a quarantine.Inspector whose engine runs elsewhere. It is safe for
// concurrent use.
type Warden struct{}

var _ quarantine.Inspector = (*Warden)(nil)

// Stats are counts since the start.
type Stats struct {
	Inspections uint64 // batches judged, those out of the cache too
	Cached      uint64 // of them, out of the cache
	Late        uint64 // of them, without a whole verdict: down, late, refused
	Starts      uint64 // children started
	Lost        uint64 // children that crashed, hung, or answered what they must not
	Live        int    // children now
}

// New makes a warden and starts the first child behind its back: it does not wait
// for it. ErrSandbox where the mode is Required and the kernel cannot.
func New(o Options) (*Warden, error) { return &Warden{}, nil }

// Inspect implements quarantine.Inspector.
func (w *Warden) Inspect(ctx context.Context, b quarantine.Batch) quarantine.Report {
	return quarantine.Report{Verdict: quarantine.Suspect, Partial: true}
}

// Engine implements quarantine.Inspector.
func (w *Warden) Engine() string { return "" }

// Level says in words how the engine is confined: "required: landlock 7, seccomp,
// rlimits". It is for operators; nothing of it is in a signed label (RULES.md 22).
func (w *Warden) Level() string { return "" }

// Err says why no child can be started now, nil while one can.
func (w *Warden) Err() error { return nil }

// Stats are the counts so far.
func (w *Warden) Stats() Stats { return Stats{} }

// Close ends every child. Inspections under way end late.
func (w *Warden) Close() error { return nil }

// Hook is the first thing that main calls, and TestMain of tests that use a warden.
// In a process that was started as a child it never returns: the process confines
// itself, judges what it reads until its input ends, and exits. New refuses to
// work in a program that did not call it.
func Hook() {}
