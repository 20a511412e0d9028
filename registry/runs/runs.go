// Package runs keeps what hangs on a run: which items of each upstream an agent
// was shown, by digest. A run is everything that one agent credential does
// between two acts of an operator, or one launch (RULES.md 1): reconnects,
// restarts and new sessions join it, whatever they say of themselves.
package runs

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry/baseline"
)

// Errors of runs.
var (
	ErrDamaged = errors.New("runs: the file of this run is damaged; end the run to begin another")
	ErrEnded   = errors.New("runs: the run has ended")
	ErrLimit   = errors.New("runs: more items than a run holds")
)

// Options are what a store needs beside its folder.
type Options struct {
	Now  func() time.Time // nil: time.Now
	Rand io.Reader        // nil: crypto/rand
}

// A Store is the folder of the runs; several processes may use it.
type Store struct{}

// Open opens the folder, and makes it where it is missing.
func Open(dir string, o Options) (*Store, error) { panic("not yet") }

// NewMemory is a store without a folder: its runs end with it.
func NewMemory(o Options) *Store { panic("not yet") }

// Current is the agent's open run; it begins one where there is none. began
// tells that this very call did.
func (s *Store) Current(agent credentials.AgentID, profile string) (r *Run, began bool, err error) {
	panic("not yet")
}

// Launch begins a run of a launch. It is kept in memory only, and ends with the
// process.
func (s *Store) Launch(profile string) *Run { panic("not yet") }

// End ends the agent's open run, for the reason that it gives. None: nothing.
func (s *Store) End(agent credentials.AgentID, reason string) error { panic("not yet") }

// A Run is one run. It is safe for concurrent use.
type Run struct{}

// ID is run_ and a ULID.
func (r *Run) ID() string { panic("not yet") }

// Agent is whose run it is; of a launch it was drawn for it.
func (r *Run) Agent() credentials.AgentID { panic("not yet") }

// Shown is the digest under which the item of an upstream was last shown to this
// agent, in any of its processes. ErrEnded, ErrDamaged: show and call nothing.
func (r *Run) Shown(origin string, k baseline.Key) (credentials.Digest, bool, error) {
	panic("not yet")
}

// Show records what is about to be shown. Only when it returned nil may it be
// shown: it is durable. Items that are recorded with the same digest cost
// nothing.
func (r *Run) Show(ctx context.Context, origin string, set map[baseline.Key]credentials.Digest) error {
	panic("not yet")
}
