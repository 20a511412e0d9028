// Package observed keeps the accounts of what the items of upstreams did: one for
// each version of each item, folded from the calls that this deployment's gateways
// carried (RULES.md 20, 21).
//
// Several processes share the folder, a file per origin. What a process has seen
// of calls that went well is kept in memory and written every few seconds, so that
// a call costs no sync; a process that dies loses that much praise and nothing
// else. What lowers a label is written, durably, before Add returns, and holds in
// this process even if it cannot be.
//
// An account is added to and merged in any order (package labels/observe), so no
// process waits for another but for the moment of a write.
package observed

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/shelf"
	"github.com/pratique-dev/pratique/labels/observe"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// Errors of a store.
var (
	// ErrDamaged: what an upstream's items did is not known. Nothing of it may be
	// shown: its labels could be too good.
	ErrDamaged = errors.New("observed: the file is damaged")
	ErrClosed  = errors.New("observed: closed")
)

// MaxAccounts bounds the accounts of one origin. Beyond it those are dropped that
// nothing speaks against, oldest first.
const MaxAccounts = 20_000

// A Subject is what an account is of: one version of one item. Digest is of the
// item's metadata.
type Subject struct {
	gate.Key
	Tool     credentials.ToolID
	Gen, Ver uint64
	Digest   credentials.Digest
}

// SubjectOf is the version of an entry as it is now.
func SubjectOf(e *gate.Entry) Subject {
	return Subject{Key: e.Key, Tool: e.Tool, Gen: e.Gen, Ver: e.Ver, Digest: e.Digest}
}

func (s Subject) compare(o Subject) int {
	return cmp.Or(s.Key.Compare(o.Key), strings.Compare(string(s.Tool), string(o.Tool)), cmp.Compare(s.Gen, o.Gen),
		cmp.Compare(s.Ver, o.Ver), strings.Compare(s.Digest.String(), o.Digest.String()))
}

// A Cite is where the decision on a call stands in the decision log.
type Cite struct {
	Spool string `json:"spool"`
	Entry uint64 `json:"entry"`
}

// Options are what a store needs beside its folder.
type Options struct {
	Now        func() time.Time   // nil: time.Now
	Thresholds observe.Thresholds // zero members: the least
	Every      time.Duration      // how often what was seen is written; 0: 10 s
	// Sign and Verify seal the files with a key of the node; nil for both: a file is
	// only summed, so that damage shows and intent does not.
	Sign   func(message []byte) ([]byte, error)
	Verify func(message, signature []byte) error
	Log    *slog.Logger // nil: nothing
}

// A Store is the folder. It is safe for concurrent use, by several processes too.
type Store struct {
	opt   Options
	files shelf.Shelf

	mu     sync.Mutex // owns what follows; each place has a lock of its own
	places map[string]*Place
	closed bool
}

// Open opens the folder, and makes it where it is missing. Thresholds that are
// looser than the least are observe.ErrThresholds.
func Open(dir string, o Options) (*Store, error) {
	f, err := shelf.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("observed: %w", err)
	}
	return newStore(f, o)
}

// NewMemory is a store without a folder: it ends with the process.
func NewMemory(o Options) (*Store, error) { return newStore(shelf.Memory(), o) }

func newStore(f shelf.Shelf, o Options) (*Store, error) {
	var err error
	if o.Thresholds, err = o.Thresholds.Check(); err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Every <= 0 {
		o.Every = 10 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Store{opt: o, files: f, places: map[string]*Place{}}, nil
}

// Place is what is kept of one origin.
func (s *Store) Place(origin string) *Place {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.places[origin]
	if p == nil {
		p = &Place{s: s, origin: origin, name: fileName(origin), fresh: map[Subject]record{}, ended: s.closed}
		s.places[origin] = p
	}
	return p
}

// Places are the origins of which anything is kept, sorted. A file that does not
// read is left out of the list and in the error.
func (s *Store) Places() ([]string, error) {
	names, err := s.files.List()
	if err != nil {
		return nil, fmt.Errorf("observed: %w", err)
	}
	var out []string
	var bad error
	for _, n := range names {
		if !strings.HasSuffix(n, fileSuffix) {
			continue
		}
		data, _, err := s.files.Read(n, maxFile)
		var doc *document
		if err == nil {
			doc, err = s.decode(data, "")
		}
		if err != nil {
			bad = errors.Join(bad, fmt.Errorf("%w: %s: %w", ErrDamaged, n, err))
			continue
		}
		out = append(out, doc.Origin)
	}
	return out, bad
}

// Due are what the registry's log is to be told now of the origins that this
// process has to do with.
func (s *Store) Due() ([]Due, error) {
	var out []Due
	var bad error
	for _, p := range s.all() {
		due, err := p.Due()
		out, bad = append(out, due...), errors.Join(bad, err)
	}
	return out, bad
}

// all are the origins that this process has to do with.
func (s *Store) all() []*Place {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.places))
}

// Close writes what is not written yet. Afterwards nothing is added.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	var err error
	for _, p := range s.all() {
		err = errors.Join(err, p.close())
	}
	return err
}
