package envelope

import (
	"crypto/sha256"
	"errors"
	"sync"
	"time"
)

// ErrNotLive means that Cache.Open was given nothing to ask about the present.
var ErrNotLive = errors.New("no state was given to check the claims against")

const cacheShards = 64

// DefaultCacheSize is how many tokens a Cache holds by default.
const DefaultCacheSize = 1 << 16

// A Live holds claims against the state of now: generation, revoked jti, owner,
// whatever can change while a token is still good. It is asked on every Open,
// hit or miss, so no answer about the present is ever cached. A view of the
// registry implements it.
type Live[T any] interface {
	Live(claims *T) error
}

// An Opener is the cold path: verify, decode, check everything in the token. It
// returns the claims and the time until which they may be believed.
type Opener[T any] func(tok string) (claims *T, until time.Time, err error)

// A Cache remembers tokens that opened, by the SHA-256 of their bytes. It saves
// the signature check and the decoding, and nothing else: a hit is refused past
// its time, after any change of the epoch (the count of key-state changes), and
// whenever Live refuses. A token has several encodings, so the cache never
// serves to recognise one again: replay and revocation go by jti.
//
// It is bounded and safe for concurrent use; only tokens that verified get in.
type Cache[T any] struct {
	open  Opener[T]
	epoch func() uint64
	shard [cacheShards]cacheShard[T]
}

type cacheShard[T any] struct {
	mu   sync.RWMutex
	m    map[[32]byte]cacheEntry[T]
	ring [][32]byte // oldest first from pos on; what is evicted next
	pos  int
	_    [24]byte // keeps two shards off one cache line
}

type cacheEntry[T any] struct {
	claims *T
	until  int64 // seconds since the epoch, not included
	epoch  uint64
}

// NewCache makes a cache of up to size tokens (0: DefaultCacheSize) before open.
// epoch is read before each cold opening and each hit; it must change whenever
// any key's state does.
func NewCache[T any](open Opener[T], epoch func() uint64, size int) *Cache[T] {
	if size <= 0 {
		size = DefaultCacheSize
	}
	c := &Cache[T]{open: open, epoch: epoch}
	per := (size + cacheShards - 1) / cacheShards
	for i := range c.shard {
		c.shard[i].m = make(map[[32]byte]cacheEntry[T])
		c.shard[i].ring = make([][32]byte, 0, per)
	}
	return c
}

// Open returns the claims of tok if it is good at now and live agrees. The
// claims are shared: they must not be changed.
func (c *Cache[T]) Open(tok string, now time.Time, live Live[T]) (*T, error) {
	if live == nil {
		return nil, ErrNotLive
	}
	if len(tok) == 0 || len(tok) > MaxToken {
		return nil, ErrTokenSize
	}
	sum := tokenSum(tok)
	s := &c.shard[sum[0]%cacheShards]
	epoch := c.epoch() // before the lookup: a change during it only costs a miss next time
	s.mu.RLock()
	e, ok := s.m[sum]
	s.mu.RUnlock()
	if !ok || e.epoch != epoch || now.Unix() >= e.until {
		claims, until, err := c.open(tok)
		if err != nil {
			return nil, err
		}
		e = cacheEntry[T]{claims: claims, until: until.Unix(), epoch: epoch}
		s.put(sum, e)
	}
	if err := live.Live(e.claims); err != nil {
		return nil, err
	}
	return e.claims, nil
}

// tokenSum is the SHA-256 of tok; up to 2 KiB, which handles and labels stay
// below, it does not allocate.
func tokenSum(tok string) [32]byte {
	var buf [2 << 10]byte
	if len(tok) > len(buf) {
		return sha256.Sum256([]byte(tok))
	}
	return sha256.Sum256(buf[:copy(buf[:], tok)])
}

func (s *cacheShard[T]) put(sum [32]byte, e cacheEntry[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.m[sum]; !ok {
		if len(s.ring) < cap(s.ring) {
			s.ring = append(s.ring, sum)
		} else {
			delete(s.m, s.ring[s.pos])
			s.ring[s.pos] = sum
			s.pos = (s.pos + 1) % len(s.ring)
		}
	}
	s.m[sum] = e
}

// Len is how many tokens the cache holds.
func (c *Cache[T]) Len() int {
	n := 0
	for i := range c.shard {
		c.shard[i].mu.RLock()
		n += len(c.shard[i].m)
		c.shard[i].mu.RUnlock()
	}
	return n
}
