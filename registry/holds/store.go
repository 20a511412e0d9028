package holds

import (
	"context"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/canon"
)

// A Store is a folder of holds. It is safe for concurrent use, by several
// processes too.
type Store struct{ opt Options }

// Digest is what a Subject has of a content, as it came.
func Digest(content []byte) credentials.Digest { return canon.Digest("pratique/hold/v1", content) }

// Open opens the folder, and makes it where it is missing.
func Open(dir string, o Options) (*Store, error) { return &Store{o}, nil }

// Put keeps a content. h.Digest is set by it, ID, At, Size and Kept are its
// answer. What is held already for this agent is answered as it is: the same
// subject has one hold. An error means that nothing was kept; what it was about is
// withheld all the same.
func (s *Store) Put(ctx context.Context, h Hold, content []byte) (Hold, error) {
	return h, ErrOptions
}

// List are all holds, oldest first. With an error come those that could be read.
func (s *Store) List() ([]Hold, error) { return nil, nil }

// Get is one hold. ErrMissing, ErrDamaged.
func (s *Store) Get(id string) (Hold, error) { return Hold{}, ErrMissing }

// Content is what is held, byte for byte. ErrMissing, ErrNotKept, ErrDamaged.
func (s *Store) Content(id string) ([]byte, error) { return nil, ErrMissing }

// Pushed are what made room for others.
func (s *Store) Pushed() ([]Pushed, error) { return nil, nil }

// Sign makes an act of an operator's key.
func (s *Store) Sign(key *envelope.Signer, op string, sub Subject, loose bool) (string, error) {
	return "", ErrOptions
}

// Release takes an operator's act: this subject may be handed on from now on. It
// undoes a condemnation of the subject.
func (s *Store) Release(ctx context.Context, token string) (Subject, error) {
	return Subject{}, ErrAct
}

// Condemn takes an operator's act: this subject is never handed on, and nothing
// else of that version of the tool is. It undoes a release.
func (s *Store) Condemn(ctx context.Context, token string) (Subject, error) {
	return Subject{}, ErrAct
}

// Released tells whether exactly this was released, by whoever is an operator
// now. Where the acts cannot be read nothing is.
func (s *Store) Released(sub Subject) bool { return false }

// Condemned tells whether this, or another content of that version of the tool,
// was condemned. Where the acts cannot be read everything is.
func (s *Store) Condemned(sub Subject) bool { return true }

// Err is why acts cannot be read, nil where they can.
func (s *Store) Err() error { return nil }

// LoadKey reads the key of a data folder's holds, and makes it, once, where there
// are none yet.
func LoadKey(data string) ([]byte, error) { return nil, ErrOptions }

// Close ends what is open.
func (s *Store) Close() error { return nil }
