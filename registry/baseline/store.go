package baseline

import (
	"context"
	"io"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
)

// Options are what a store needs beside its folder.
type Options struct {
	Now  func() time.Time // nil: time.Now
	Rand io.Reader        // nil: crypto/rand
	// Acts verifies operators' acts; nil refuses them all.
	Acts envelope.Verifier
	// Audience is what acts of this folder name as aud: the name of its log.
	Audience string
	// Unprotected tells of a key that it lies unencrypted on this machine, so that
	// its acts are recorded as unprotected (RULES.md 13). nil: none is known to.
	Unprotected func(credentials.KeyID) bool
	// Sign and Verify seal the files with a key of the node; nil for both: a file
	// is only summed, so that damage shows and intent does not.
	Sign   func(message []byte) ([]byte, error)
	Verify func(message, signature []byte) error
}

// A Store is the folder of the baselines. It is safe for concurrent use, by
// several processes too.
type Store struct{}

// Open opens the folder, and makes it where it is missing.
func Open(dir string, o Options) (*Store, error) { panic("not yet") }

// NewMemory is a store without a folder, for tests: what survives is the store.
func NewMemory(o Options) *Store { panic("not yet") }

// Get is the upstream's baseline now: shared, immutable, read again only when
// the file has changed. ErrDamaged: nothing of the upstream may be shown. An
// upstream that was never seen has an empty one of revision 0.
func (s *Store) Get(origin string) (*Baseline, error) { panic("not yet") }

// Update changes a baseline under a lock between processes. What change did to
// the draft is durable when Update returns nil; where change returns an error, or
// changed nothing, nothing is written. It returns the baseline that then holds.
func (s *Store) Update(ctx context.Context, origin string, change func(*Draft) error) (*Baseline, error) {
	panic("not yet")
}
