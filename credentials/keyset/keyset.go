// Package keyset reads key sets and is the second, independent verifier.
//
// It is the only package that knows jwx/v2. That library gets no security fixes
// any more, so it is confined: it sees a token only after envelope.Precheck, a
// key only after the strict loader here, always with the algorithm of the key
// record, and every call into it is inside a recover. It fetches nothing and
// caches nothing.
//
// A key-set document (credentials.KeySetDocument) has two readers. To any JOSE
// reader it is a plain JWKS, see ParseJWKS. To readers of ours it is a list of
// keys signed by a pinned root, with a statement of its freshness, see Open.
package keyset

import (
	"errors"
	"fmt"
	"time"
)

// Bounds of a document.
const (
	MaxDocument    = 256 << 10 // bytes
	maxRootChanges = 64
)

// Errors of key sets. Whoever has a good set keeps it, until its bound.
var (
	ErrDocument = errors.New("not a key-set document")
	ErrTooMany  = errors.New("key set has too many keys")
	ErrNoKeys   = errors.New("key set has no key that could be used")
	ErrTwice    = errors.New("key set names one kid twice")
	ErrKeyAlg   = errors.New("a key lacks alg, kid or use")
	ErrKeyRole  = errors.New("a key's role is unknown or not the one in the signed list")
	ErrNoPin    = errors.New("no root key is pinned")
	ErrRoot     = errors.New("the list of keys is not signed by the pinned root or one that follows from it")
	ErrChange   = errors.New("a change of the root key is not signed by both keys")
	ErrRollback = errors.New("the document is older than one seen before")
	ErrFork     = errors.New("the document contradicts one seen before")
	ErrStale    = errors.New("the key set is too old")
)

// A StaleError says how old the key set is. It is ErrStale.
type StaleError struct {
	Age, Bound time.Duration
}

// Error names age and bound.
func (e *StaleError) Error() string {
	return fmt.Sprintf("%v: %v, and at most %v is allowed", ErrStale, e.Age.Round(time.Second), e.Bound)
}

// Is makes errors.Is(err, ErrStale) hold.
func (e *StaleError) Is(target error) bool { return target == ErrStale }
