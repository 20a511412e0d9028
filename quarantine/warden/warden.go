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
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect/opinion"
	"github.com/pratique-dev/pratique/quarantine/warden/internal/jail"
	"github.com/pratique-dev/pratique/quarantine/warden/internal/wire"
)

// A Mode says what becomes of a machine that cannot confine the children.
type Mode string

// The modes. The zero value is Required on Linux and BestEffort elsewhere.
const (
	Required   Mode = "required"    // Landlock and seccomp are both there, or nothing starts
	BestEffort Mode = "best-effort" // children with what confinement there is, which Level names
	Off        Mode = "off"         // no children: the engine runs in this process
)

// ParseMode reads a mode; "" is the default of this system.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case Required, BestEffort, Off:
		return m, nil
	case "":
		if runtime.GOOS == "linux" {
			return Required, nil
		}
		return BestEffort, nil
	}
	return "", ErrMode
}

// Errors of New.
var (
	// ErrMode says that a text names no mode.
	ErrMode = errors.New("warden: want required, best-effort or off")
	// ErrSandbox says that this machine cannot confine the inspector as required.
	ErrSandbox = errors.New("warden: the inspector cannot be confined here as inspector.sandbox: required wants it")
	// ErrHook says that the program does not start as a child would have to: its
	// main does not call Hook.
	ErrHook = errors.New("warden: main does not call warden.Hook")
)

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
	Workers  int           // children at once; 0: one for each processor, 2 to 8, and 8 with a Broker
	Deadline time.Duration // of a batch, and a second more for each MiB of it; 0: DefaultDeadline
	Memory   int64         // bytes of data that a child may have; 0: DefaultMemory
	Cache    int           // verdicts kept; 0: 4096, less than 0: none

	// Broker asks a language model for the children, within Opinion's bounds; nil:
	// there is none.
	Broker  Broker
	Opinion opinion.Config

	Log *slog.Logger // nil: silence

	argv []string // of a child; nil: what Hook knows. Tests have children that misbehave
}

// Defaults and bounds of Options.
const (
	DefaultDeadline = 5 * time.Second
	DefaultMemory   = 512 << 20
	MinMemory       = 256 << 20 // the runtime takes a hundred of it to begin with
	MaxWorkers      = 64
)

// A Warden is a quarantine.Inspector whose engine runs elsewhere. It is safe for
// concurrent use.
type Warden struct {
	opt   Options
	log   *slog.Logger
	local *engines // names engines, and is the engine of Off
	cache *cache
	pool  *pool // nil: Off

	inspections, cached, partial, lost atomic.Uint64
}

var _ quarantine.Inspector = (*Warden)(nil)

// Stats are counts since the start.
type Stats struct {
	Inspections uint64 // batches judged, those out of the cache too
	Cached      uint64 // of them, out of the cache
	Partial     uint64 // of them, without a whole report: down, late, refused, more findings than one names
	Starts      uint64 // children started
	Lost        uint64 // children that crashed, hung, or answered what they must not
	Live        int    // children now
}

// New makes a warden and starts the first child behind its back: it does not wait
// for it. ErrSandbox where the mode is Required and the kernel cannot.
func New(o Options) (*Warden, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	w := &Warden{opt: o, log: o.Log, cache: newCache(o.Cache)}
	w.local = newEngines(w.askHere, o.Opinion, o.Broker != nil)
	if o.Mode == Off {
		w.log.Warn("the inspector runs unconfined in this process, as inspector.sandbox: off says")
		return w, nil
	}
	if !hooked.Load() {
		return nil, ErrHook
	}
	have := jail.Probe()
	if o.Mode == Required && !have.Whole() {
		return nil, fmt.Errorf("%w: %s", ErrSandbox, have)
	}
	w.pool = newPool(o.Workers, newStarter(&w.opt, w.local.plain.Engine()))
	w.pool.level.Store(&have)
	if !have.Whole() {
		w.log.Warn("the inspector's processes are not confined as they could be", "sandbox", w.Level())
	}
	w.pool.warm()
	return w, nil
}

func (o *Options) fill() (err error) {
	if o.Mode, err = ParseMode(string(o.Mode)); err != nil {
		return err
	}
	if o.Workers <= 0 {
		o.Workers = min(max(runtime.NumCPU(), 2), 8)
		if o.Broker != nil { // who waits for a model takes no processor
			o.Workers = 8
		}
	}
	o.Workers = min(o.Workers, MaxWorkers)
	if o.Deadline <= 0 {
		o.Deadline = DefaultDeadline
	}
	if o.Memory <= 0 {
		o.Memory = DefaultMemory
	}
	o.Memory = max(o.Memory, MinMemory)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}

// limit is how long a child may work on a batch.
func (w *Warden) limit(b *quarantine.Batch) time.Duration {
	return w.opt.Deadline + time.Duration(wire.Size(*b))*time.Second>>20
}

// serves tells whether a language model may be asked about a batch.
func (w *Warden) serves(b *quarantine.Batch) bool {
	return w.opt.Broker != nil && b.Depth == quarantine.Full && w.opt.Broker.Serves(b.Origin)
}

// Inspect implements quarantine.Inspector. It takes at most the deadline twice,
// once for a child to be free and once for its work, and where a language model is
// asked the broker's deadline twice more.
func (w *Warden) Inspect(ctx context.Context, b quarantine.Batch) quarantine.Report {
	w.inspections.Add(1)
	asks := w.serves(&b)
	name := w.name(b.Depth, asks)
	if len(b.Specimens) == 0 {
		return quarantine.Report{Verdict: quarantine.Clear, Engine: name}
	}
	if !wire.Fits(b) { // first of all: what is too large is not even read
		w.partial.Add(1)
		r := failed(&b, quarantine.Unreadable)
		r.Engine = name
		return r
	}
	key := keyOf(name, &b)
	if r, ok := w.cache.get(key, &b); ok {
		w.cached.Add(1)
		r.Engine = name
		return r
	}
	r := w.judge(ctx, b, asks)
	r.Engine = name
	if r.Partial {
		w.partial.Add(1)
	} else {
		w.cache.put(key, &r)
	}
	return r
}

func (w *Warden) judge(ctx context.Context, b quarantine.Batch, asks bool) quarantine.Report {
	switch {
	case ctx.Err() != nil:
		return failed(&b, quarantine.Late)
	case w.pool != nil:
		return w.send(ctx, b, asks)
	}
	r, err := check(w.local.inspect(context.WithValue(ctx, batchKey{}, b), b, asks), &b, w.local.ran(b.Depth, asks))
	if err != nil {
		return failed(&b, quarantine.Late)
	}
	return r
}

type batchKey struct{}

// askHere is how the engine of this process asks: about the batch that it has.
func (w *Warden) askHere(ctx context.Context, question []byte) ([]byte, error) {
	b, ok := ctx.Value(batchKey{}).(quarantine.Batch)
	if !ok || w.opt.Broker == nil {
		return nil, errRefused
	}
	ctx, cancel := context.WithTimeout(ctx, w.opt.Broker.Deadline())
	defer cancel()
	return w.opt.Broker.Ask(ctx, b, question)
}

// failed is the report of an inspection that did not come to its end. Its path is
// that of no specimen: it is about the whole batch.
func failed(b *quarantine.Batch, c quarantine.Category) quarantine.Report {
	f := quarantine.Finding{Category: c, Verdict: quarantine.Suspect}
	if len(b.Specimens) > 0 {
		f.Span.To = len(b.Specimens[0].Text)
	}
	return quarantine.Report{Verdict: quarantine.Suspect, Findings: []quarantine.Finding{f}, Partial: true}
}

// Engine implements quarantine.Inspector.
func (w *Warden) Engine() string { return w.name(quarantine.Full, w.opt.Broker != nil) }

// name names what judges a batch, the model included.
func (w *Warden) name(d quarantine.Depth, asks bool) string {
	n := w.local.ran(d, asks)
	if asks {
		n += "+" + w.opt.Broker.Engine()
	}
	return n
}

// Level says in words how the engine is confined: "required: landlock 7, seccomp,
// rlimits". It is for operators; nothing of it is in a signed label (RULES.md 22).
func (w *Warden) Level() string {
	if w.pool == nil {
		return string(Off) + ": unsandboxed"
	}
	return fmt.Sprintf("%s: %s", w.opt.Mode, *w.pool.level.Load())
}

// Confined tells whether every fence stands around the engine.
func (w *Warden) Confined() bool { return w.pool != nil && w.pool.level.Load().Whole() }

// Err says why no child can be started now, nil while one can.
func (w *Warden) Err() error {
	if w.pool == nil {
		return nil
	}
	return w.pool.fault()
}

// Stats are the counts so far.
func (w *Warden) Stats() Stats {
	s := Stats{Inspections: w.inspections.Load(), Cached: w.cached.Load(), Partial: w.partial.Load(), Lost: w.lost.Load()}
	if w.pool != nil {
		s.Starts, s.Live = w.pool.counts()
	}
	return s
}

// Close ends every child. Inspections under way end late, and so does each that
// comes after.
func (w *Warden) Close() error {
	if w.pool != nil {
		w.pool.close()
	}
	return nil
}
