// Package runs keeps what hangs on a run: which items of each upstream an agent
// was shown, by digest. A run is everything that one agent credential does
// between two acts of an operator, or one launch (RULES.md 1): reconnects,
// restarts and new sessions join it, whatever they say of themselves.
//
// A file per agent holds its newest run. It is shared by all processes on the
// data folder, and durable before anything that it says is shown. It also says of
// which tools the run holds results, and which of those were withdrawn: as long as
// one is in its context, that is at its worst (RULES.md 9). The run of a launch is
// in memory, until something of it is withdrawn: then it has a file too, so that
// an operator can clear it.
package runs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/shelf"
	"github.com/pratique-dev/pratique/registry/baseline"
)

// Errors of runs. On each of them nothing is shown or called.
var (
	ErrDamaged = errors.New("runs: the file of this agent's run is damaged; end the run to begin another")
	ErrEnded   = errors.New("runs: the run has ended")
	ErrLimit   = errors.New("runs: more items than a run holds")
)

// Bounds of one run.
const (
	MaxOrigins = 256
	MaxItems   = 100_000 // of all origins
)

// Options are what a store needs beside its folder.
type Options struct {
	Now  func() time.Time // nil: time.Now
	Rand io.Reader        // nil: crypto/rand
	// Acts verifies operators' acts, and Observers statements of runtimes that the
	// operator enrolled; nil refuses them all.
	Acts, Observers envelope.Verifier
	// Intents verifies operators' tokens over intents; nil refuses them all, and
	// whatever is sealed is then closed.
	Intents envelope.Verifier
	// Audience is what acts name as aud: the name of the folder's log; Registry what
	// statements do: the registry's external URL.
	Audience, Registry string
	// Unprotected tells of a key that it lies unencrypted on this machine (RULES.md
	// 13). nil: none is known to.
	Unprotected func(credentials.KeyID) bool
}

// A Store is the folder of the runs; several processes may use it.
type Store struct {
	opt     Options
	files   shelf.Shelf
	intents shelf.Shelf // of launches too, whose runs are elsewhere
	dir     string      // empty: in memory
	boot    uint64

	mu       sync.Mutex         // owns what follows; each holder has a lock of its own
	known    map[string]*holder // by file
	launched []*holder          // of this process
	tokens   map[string]opened  // acts and statements as they were verified
	sealing  bool               // launches are sealed, or nothing is launched
	next     *Run               // of a launch that was sealed, until it is launched
}

// A holder is what this process knows of one agent's file.
type holder struct {
	store *Store
	agent credentials.AgentID
	file  string
	lazy  *launchShelf // of a launch; nil: a credential's

	mu   sync.Mutex
	tag  shelf.Tag // of the file as it was read; nil: never
	doc  *document // as read; nil: there is none
	err  error
	high uint64 // the highest revision seen
	seen *View  // of doc
	res  *results
	run  string // whose results res are

	binding seenBinding
}

// Open opens the folder, and makes it where it is missing.
func Open(dir string, o Options) (*Store, error) {
	f, err := shelf.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	s := newStore(f, o)
	s.dir = dir
	return s, nil
}

// NewMemory is a store without a folder: its runs end with it.
func NewMemory(o Options) *Store { return newStore(shelf.Memory(), o) }

func newStore(f shelf.Shelf, o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	return &Store{opt: o, files: f, intents: f, boot: bootID(), known: map[string]*holder{}, tokens: map[string]opened{}}
}

func (s *Store) holder(agent credentials.AgentID) *holder { return s.holderOf(agent, runSuffix) }

func (s *Store) holderOf(agent credentials.AgentID, suffix string) *holder {
	s.mu.Lock()
	defer s.mu.Unlock()
	file := string(agent) + suffix
	h := s.known[file]
	if h == nil {
		h = &holder{store: s, agent: agent, file: file}
		s.known[file] = h
	}
	return h
}

// results are those of a run.
func (h *holder) results(run string) *results {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.resultsLocked(run)
}

// resultsLocked is results with mu held.
func (h *holder) resultsLocked(run string) *results {
	if h.res == nil || h.run != run {
		if h.res != nil {
			_ = h.res.close() // of a run that has ended
		}
		h.res, h.run = &results{boot: h.store.boot}, run
		if h.store.dir != "" {
			h.res.path = filepath.Join(h.store.dir, run+resultsSuffix)
		}
	}
	return h.res
}

// Close has the ids of results on the disk, and ends the runs of launches. The store
// is not used afterwards.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, h := range slices.AppendSeq(slices.Clone(s.launched), maps.Values(s.known)) {
		h.mu.Lock()
		if h.res != nil {
			err = errors.Join(err, h.res.close())
		}
		h.leave()
		h.mu.Unlock()
	}
	return err
}

// Current is the agent's open run; it begins one where there is none. began
// tells that this very call did.
func (s *Store) Current(agent credentials.AgentID, profile string) (r *Run, began bool, err error) {
	if _, err := credentials.ParseAgentID(string(agent)); err != nil {
		return nil, false, fmt.Errorf("runs: %w", err)
	}
	h := s.holder(agent)
	if d, err := h.read(); err != nil {
		return nil, false, err
	} else if d != nil && d.Ended == 0 {
		return h.runOf(d), false, nil
	}
	d, err := h.change(context.Background(), func(d *document) (*document, error) {
		if d != nil && d.Ended == 0 {
			return nil, nil // another process began it
		}
		if d != nil && s.dir != "" {
			_ = os.Remove(filepath.Join(s.dir, d.Run+resultsSuffix)) // what it held is nobody's any more
		}
		id, err := s.draw("run_")
		if err != nil {
			return nil, err
		}
		next := &document{Run: id, Agent: agent, Profile: profile, Began: s.opt.Now().UnixMilli()}
		if err := s.bindRun(h, d, next); err != nil {
			return nil, err
		}
		began = true
		return next, nil
	})
	if err != nil {
		return nil, false, err
	}
	return h.runOf(d), began, nil
}

func (h *holder) runOf(d *document) *Run {
	return &Run{h: h, id: d.Run, sealed: d.Sealed, over: d.Over}
}

func (s *Store) draw(prefix string) (string, error) {
	id, err := ulid.New(ulid.Timestamp(s.opt.Now()), s.opt.Rand)
	if err != nil {
		return "", fmt.Errorf("runs: %w", err)
	}
	return prefix + id.String(), nil
}

// Launch begins a run of a launch. It is kept in memory until something of it is
// withdrawn, and ends with the process. Where SealLaunch sealed one, that one is
// given, once, and no other.
func (s *Store) Launch(profile string) (*Run, error) {
	s.mu.Lock()
	r, sealing := s.next, s.sealing
	s.next = nil
	s.mu.Unlock()
	if sealing {
		if r == nil {
			return nil, ErrPresented
		}
		return r, nil
	}
	agent, err := s.draw("agt_")
	if err != nil {
		return nil, err
	}
	return s.launch(credentials.AgentID(agent), profile, credentials.Digest{})
}

// End ends the agent's open run, for the reason that it gives; a damaged one too.
// Where none is open it does nothing.
func (s *Store) End(agent credentials.AgentID, reason string) error {
	h := s.holder(agent)
	_, err := h.change(context.Background(), func(d *document) (*document, error) { return s.ended(d, reason) })
	if !errors.Is(err, ErrDamaged) {
		return err
	}
	_, err = h.replace(context.Background(), func() (*document, error) {
		id, err := s.draw("run_") // what it was is not known
		d, _ := s.ended(&document{Run: id, Agent: agent, Began: s.opt.Now().UnixMilli()}, reason)
		return d, err
	})
	return err
}

// ended is the document of a run that ends now; nil: there is nothing to end.
func (s *Store) ended(d *document, reason string) (*document, error) {
	if d == nil || d.Ended != 0 {
		return nil, nil
	}
	e := *d
	e.Ended, e.Reason, e.Shown = max(1, s.opt.Now().UnixMilli()), reason, nil
	e.Held, e.Lost, e.Clears, e.Overflow = nil, nil, nil, false
	return &e, nil
}

// A Run is one run. It is safe for concurrent use.
type Run struct {
	h      *holder
	id     string
	sealed credentials.Digest // the intent that bound it when it was opened; zero: none did when it began
	over   bool               // it is not the run that the intent was sealed for
}

// ID is run_ and a ULID.
func (r *Run) ID() string { return r.id }

// Agent is whose run it is; of a launch it was drawn for it.
func (r *Run) Agent() credentials.AgentID { return r.h.agent }

// Launched tells whether it is the run of a launch, behind which no credential
// stands.
func (r *Run) Launched() bool { return strings.HasSuffix(r.h.file, launchSuffix) }

// Open tells whether the run goes on: nil, ErrEnded or ErrDamaged.
func (r *Run) Open() error {
	_, err := r.read()
	return err
}

func (r *Run) read() (*document, error) {
	d, err := r.h.read()
	if err != nil {
		return nil, err
	}
	return d, r.check(d)
}

// check refuses what is not this run, or no longer open.
func (r *Run) check(d *document) error {
	if d == nil || d.Run != r.id || d.Ended != 0 {
		return ErrEnded
	}
	return nil
}

// Shown is the digest under which the item of an upstream was last shown to this
// agent, in any of its processes. ErrEnded, ErrDamaged: show and call nothing.
func (r *Run) Shown(origin string, k baseline.Key) (credentials.Digest, bool, error) {
	d, err := r.read()
	if err != nil {
		return credentials.Digest{}, false, err
	}
	sum, ok := d.Shown[origin][k.Kind][k.Name]
	return sum, ok, nil
}

// All is everything that was shown of an upstream, by kind and name. It is
// shared and must not be changed; it is the same map for as long as nothing
// changed.
func (r *Run) All(origin string) (Shown, error) {
	d, err := r.read()
	if err != nil {
		return nil, err
	}
	return d.Shown[origin], nil
}

// Show records what is about to be shown. Only when it returned nil may it be
// shown: it is durable. Items that are recorded with the same digest cost
// nothing.
func (r *Run) Show(ctx context.Context, origin string, set map[baseline.Key]credentials.Digest) error {
	return r.change(ctx, origin, func(was Shown) (Shown, error) { return was.with(set), nil })
}

// Replace records that of one kind exactly this was shown: what is not in it is
// as if it never was.
func (r *Run) Replace(ctx context.Context, origin string, kind baseline.Kind, names map[string]credentials.Digest) error {
	return r.change(ctx, origin, func(was Shown) (Shown, error) { return was.replaced(kind, names), nil })
}

// Forget records that items are not shown any more.
func (r *Run) Forget(ctx context.Context, origin string, keys ...baseline.Key) error {
	return r.change(ctx, origin, func(was Shown) (Shown, error) { return was.without(keys), nil })
}

// change replaces what is recorded of one origin; nil: as it was.
func (r *Run) change(ctx context.Context, origin string, f func(Shown) (Shown, error)) error {
	if d, err := r.read(); err != nil {
		return err
	} else if next, err := f(d.Shown[origin]); err != nil || next == nil {
		return err // nothing to write: the common case takes no lock
	}
	_, err := r.h.change(ctx, func(d *document) (*document, error) {
		if err := r.check(d); err != nil {
			return nil, err
		}
		next, err := f(d.Shown[origin])
		if err != nil || next == nil {
			return nil, err
		}
		return d.withShown(origin, next)
	})
	return err
}
