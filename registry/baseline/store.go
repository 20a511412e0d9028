package baseline

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/shelf"
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
	// Own tells whether the key registered an item, or the version of it that is there:
	// it releases nothing of its own. nil: nobody registered anything.
	Own func(origin string, k Key, key credentials.KeyID) bool
	// Sign and Verify seal the files with a key of the node; nil for both: a file
	// is only summed, so that damage shows and intent does not.
	Sign   func(message []byte) ([]byte, error)
	Verify func(message, signature []byte) error
}

// A Store is the folder of the baselines. It is safe for concurrent use, by
// several processes too.
type Store struct {
	opt    Options
	files  shelf.Shelf
	code   codeSums
	secret []byte // keys the digests of values, and the names of places

	mu     sync.Mutex // owns places and named; each place has a lock of its own
	places map[string]*place
	named  map[string]string // origins by the names of their files
}

// A place is what this process holds of one upstream's file.
type place struct {
	name string // of the file

	mu   sync.Mutex
	tag  shelf.Tag // of the file as it was read; nil: never
	held time.Time // when that was last seen to hold
	sum  [sha256.Size]byte
	base *Baseline
	err  error
	high uint64 // the highest revision that this process saw
	acts map[string]verified

	signers map[credentials.KeyID]string // an act of each operator in it
	doubted []string                     // some acts that do not verify
	asked   time.Time                    // when that was last found to be so
	rate    bucket
}

// Open opens the folder, and makes it where it is missing.
func Open(dir string, o Options) (*Store, error) {
	f, err := shelf.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("baseline: %w", err)
	}
	return newStore(f, o)
}

// NewMemory is a store without a folder, for tests: what survives is the store.
func NewMemory(o Options) *Store {
	s, err := newStore(shelf.Memory(), o)
	if err != nil { // only randomness can fail
		panic(err)
	}
	return s
}

func newStore(f shelf.Shelf, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	s := &Store{opt: o, files: f, places: map[string]*place{}, named: map[string]string{}}
	var err error
	if s.secret, err = s.openSecret(); err != nil {
		return nil, fmt.Errorf("baseline: %w", err)
	}
	return s, nil
}

const (
	fileSuffix = ".surface"
	secretFile = "secret"
	secretSize = 32

	maxFile = 192 << 20 // bytes; far above what encode lets out
)

// openSecret reads the folder's secret. It is made once, before the first
// baseline: a folder that has baselines but no secret has lost something.
func (s *Store) openSecret() ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	unlock, err := s.files.Lock(ctx, secretFile)
	if err != nil {
		return nil, err
	}
	defer unlock()
	held, _, err := s.files.Read(secretFile, secretSize+sha256.Size+1)
	switch {
	case err != nil:
		return nil, err
	case held != nil:
		return openedSecret(held)
	}
	names, err := s.files.List()
	if err != nil || slices.ContainsFunc(names, isSurface) {
		return nil, errors.Join(fmt.Errorf("%w: the file %s is missing", ErrDamaged, secretFile), err)
	}
	key := make([]byte, secretSize)
	if _, err := io.ReadFull(s.opt.Rand, key); err != nil {
		return nil, err
	}
	sum := secretSum(key)
	return key, s.files.Write(secretFile, append(slices.Clone(key), sum[:]...))
}

// openedSecret is the secret that a file holds. A damaged one would make other
// places of all that were seen, and their next sight a first one; so it ends in
// its sum.
func openedSecret(held []byte) ([]byte, error) {
	if len(held) == secretSize+sha256.Size {
		if sum := secretSum(held[:secretSize]); bytes.Equal(sum[:], held[secretSize:]) {
			return held[:secretSize:secretSize], nil
		}
	}
	return nil, fmt.Errorf("%w: the file %s is not what was written", ErrDamaged, secretFile)
}

func secretSum(key []byte) [sha256.Size]byte {
	return sha256.Sum256(append([]byte("pratique/surface-secret/v1\x00"), key...))
}

func isSurface(name string) bool { return strings.HasSuffix(name, fileSuffix) }

func (s *Store) place(origin string) *place {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.places[origin]
	if p == nil {
		sum := sha256.Sum256([]byte("pratique/surface-file/v1\x00" + origin))
		p = &place{name: hex.EncodeToString(sum[:16]) + fileSuffix, rate: newBucket(s.opt.Now())}
		s.places[origin] = p
	}
	return p
}

// Get is the upstream's baseline now: shared, immutable, read again only when
// the file has changed. ErrDamaged: nothing of the upstream may be shown. An
// upstream that was never seen has an empty one of revision 0.
func (s *Store) Get(origin string) (*Baseline, error) {
	p := s.place(origin)
	p.mu.Lock()
	defer p.mu.Unlock()
	return s.read(origin, p)
}

// recent is for how long Recent takes what Get has just seen.
const recent = 200 * time.Microsecond

// Recent is Get for a second question of the same request: the file is not looked
// at again if that was done within the last 200 µs.
func (s *Store) Recent(origin string) (*Baseline, error) {
	p := s.place(origin)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tag != nil && time.Since(p.held) < recent {
		return p.base, p.err
	}
	return s.read(origin, p)
}

// read is Get with the place locked.
func (s *Store) read(origin string, p *place) (*Baseline, error) {
	asked := time.Now() // of the machine, not of the options: it is about this very moment
	if p.tag != nil && p.tag.Fresh() && s.signed(p, asked) {
		p.held = asked
		return p.base, p.err
	}
	p.held = time.Time{}
	data, t, err := s.files.Read(p.name, maxFile)
	if err != nil {
		p.tag = nil
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	sum := sha256.Sum256(data)
	same := p.tag != nil && p.acts != nil && sum == p.sum && p.err == nil
	p.tag, p.sum = t, sum
	if same {
		return p.base, nil
	}
	p.base, p.err = s.decode(origin, p, data)
	if p.err == nil && p.base.revision < p.high {
		p.base, p.err = nil, fmt.Errorf("%w: revision %d after %d", ErrDamaged, p.base.revision, p.high)
	}
	if p.err == nil {
		p.high = p.base.revision
	}
	return p.base, p.err
}

// Update changes a baseline under a lock between processes. What change did to
// the draft is durable when Update returns nil; where change returns an error, or
// changed nothing, nothing is written. It returns the baseline that then holds.
func (s *Store) Update(ctx context.Context, origin string, change func(*Draft) error) (*Baseline, error) {
	p := s.place(origin)
	unlock, err := s.files.Lock(ctx, p.name)
	if err != nil {
		return nil, fmt.Errorf("baseline: %w", err)
	}
	defer unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tag = nil // under the lock the file decides, not its date
	b, err := s.read(origin, p)
	if err != nil {
		return nil, err
	}
	d := newDraft(s, p, b)
	if err := change(d); err != nil {
		return b, err
	}
	if d.failed != nil {
		return b, d.failed
	}
	if !d.changed {
		return b, nil
	}
	d.revision++
	data, err := s.encode(&d.Baseline)
	if err != nil {
		return b, err
	}
	p.tag = nil // whatever comes of the write, the file is read again
	if err := s.files.Write(p.name, data); err != nil {
		return b, fmt.Errorf("baseline: %w", err)
	}
	return s.read(origin, p)
}

// Others are the baselines of all origins but one, in the order of their files. Those
// that do not read are left out. Looking again costs little where nothing changed.
func (s *Store) Others(origin string) ([]*Baseline, error) {
	names, err := s.files.List()
	if err != nil {
		return nil, fmt.Errorf("baseline: %w", err)
	}
	var out []*Baseline
	for _, n := range names {
		if !isSurface(n) {
			continue
		}
		o, ok := s.originIn(n)
		if !ok || o == origin {
			continue
		}
		if b, err := s.Get(o); err == nil {
			out = append(out, b)
		}
	}
	return out, nil
}

// originIn is whose file it is, which never changes.
func (s *Store) originIn(name string) (string, bool) {
	s.mu.Lock()
	o, ok := s.named[name]
	s.mu.Unlock()
	if ok {
		return o, true
	}
	data, _, err := s.files.Read(name, maxFile)
	if err == nil {
		o, err = originOf(data)
	}
	if err != nil || s.place(o).name != name {
		return "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.named[name] = o
	return o, true
}

// Origins are the origins that have a baseline, in no order. One that does not
// read is left out of the list and in the error.
func (s *Store) Origins() ([]string, error) {
	names, err := s.files.List()
	if err != nil {
		return nil, fmt.Errorf("baseline: %w", err)
	}
	var out []string
	var bad error
	for _, n := range names {
		if !isSurface(n) {
			continue
		}
		data, _, err := s.files.Read(n, maxFile)
		if err == nil && data == nil {
			continue
		}
		var o string
		if err == nil {
			o, err = originOf(data)
		}
		if err != nil {
			bad = errors.Join(bad, fmt.Errorf("%w: %s: %w", ErrDamaged, n, err))
			continue
		}
		out = append(out, o)
	}
	return out, bad
}
