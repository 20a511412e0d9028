package api

import (
	"context"
	"net"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"github.com/pratique-dev/pratique/registry"
)

// Limits bound what callers can cost (RULES.md 40). Zero fields are defaults.
type Limits struct {
	Requests    int           // at once, streams aside (512); of one address half of them
	Streams     int           // at once (256); of one address half of them
	StreamQueue int           // events that a stream may lag behind (256)
	HeaderBytes int           // of one request (16 KiB)
	BodyBytes   int64         // of all bodies held at once (128 MiB)
	ReadTime    time.Duration // for a whole request to arrive (30 s)
	WorkTime    time.Duration // for a request to be answered (30 s)
	Labels      int           // signed labels kept (16,384)
	Digests     int           // tools in the index by metadata digest (4,194,304)

	// PerAddress and PerKey are proved requests per second with a burst: by
	// remote address before any signature is checked, by key afterwards (a key
	// could otherwise be locked out by whoever knows its public half).
	PerAddress, PerKey     rate.Limit // 1,000 and 500
	AddressBurst, KeyBurst int        // 4,000 and 2,000
	ReadsPerAddress        rate.Limit // unproved requests (2,000)
	ReadsBurst             int        // (8,000)
	Tracked                int        // addresses, and keys, that are remembered (65,536)
}

// The bounds of bodies, in bytes.
const (
	maxSmallBody     = 64 << 10
	maxOverwriteBody = 2 << 20
	maxRegisterBody  = 16 << 20
)

func or[T comparable](v *T, dflt T) {
	var zero T
	if *v == zero {
		*v = dflt
	}
}

func (l Limits) orDefault() Limits {
	or(&l.Requests, 512)
	or(&l.Streams, 256)
	or(&l.StreamQueue, 256)
	or(&l.HeaderBytes, 16<<10)
	or(&l.BodyBytes, 128<<20)
	or(&l.ReadTime, 30*time.Second)
	or(&l.WorkTime, 30*time.Second)
	or(&l.Labels, 1<<14)
	or(&l.Digests, 1<<22)
	or(&l.PerAddress, 1000)
	or(&l.AddressBurst, 4000)
	or(&l.PerKey, 500)
	or(&l.KeyBurst, 2000)
	or(&l.ReadsPerAddress, 2000)
	or(&l.ReadsBurst, 8000)
	or(&l.Tracked, 1<<16)
	l.BodyBytes = max(l.BodyBytes, maxRegisterBody)
	return l
}

// rates holds the limiters of one process.
type rates struct {
	now              func() time.Time
	proved, key, any limiters
}

func newRates(l Limits, now func() time.Time) *rates {
	return &rates{
		now:    now,
		proved: limiters{limit: l.PerAddress, burst: l.AddressBurst, most: l.Tracked},
		key:    limiters{limit: l.PerKey, burst: l.KeyBurst, most: l.Tracked},
		any:    limiters{limit: l.ReadsPerAddress, burst: l.ReadsBurst, most: l.Tracked},
	}
}

func (r *rates) allow(ls *limiters, who string) error {
	if !ls.allow(who, r.now()) {
		return registry.ErrTooMany
	}
	return nil
}

// limiters are token buckets by name. When most are tracked, those that have
// filled up again are forgotten; if none has, a newcomer is refused.
type limiters struct {
	limit rate.Limit
	burst int
	most  int

	mu    sync.Mutex // owns what follows
	m     map[string]*rate.Limiter
	swept time.Time
}

func (l *limiters) allow(who string, now time.Time) bool {
	l.mu.Lock()
	b := l.m[who]
	if b == nil {
		if l.m == nil {
			l.m = map[string]*rate.Limiter{}
		}
		if len(l.m) >= l.most && !l.sweep(now) {
			l.mu.Unlock()
			return false
		}
		b = rate.NewLimiter(l.limit, l.burst)
		l.m[who] = b
	}
	l.mu.Unlock()
	return b.AllowN(now, 1)
}

// sweep makes room, at most once a second: it walks the whole map.
func (l *limiters) sweep(now time.Time) bool {
	if d := now.Sub(l.swept); d >= 0 && d < time.Second {
		return false
	}
	l.swept = now
	for k, b := range l.m {
		if b.TokensAt(now) >= float64(b.Burst()) {
			delete(l.m, k)
		}
	}
	return len(l.m) < l.most
}

// addressOf is the peer's address; an IPv6 peer counts by its /64, which one
// subscriber has whole. Forwarded headers are not read: anybody can write them.
func addressOf(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return remote
	}
	ip := net.ParseIP(host)
	if ip == nil || ip.To4() != nil {
		return host
	}
	return ip.Mask(net.CIDRMask(64, 128)).String()
}

// A crowd bounds what one address has open at once, so that whoever sends
// slowly from one place cannot take all the room.
type crowd struct {
	most int
	mu   sync.Mutex // owns m
	m    map[string]int
}

func (c *crowd) enter(who string) (leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil {
		c.m = map[string]int{}
	}
	if c.m[who] >= c.most {
		return nil, registry.ErrTooMany
	}
	c.m[who]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.m[who]--; c.m[who] == 0 {
			delete(c.m, who)
		}
	}, nil
}

// freeBody is what each request may send without asking the budget of all: the
// acts of operators and owners are smaller, so that large registrations never
// keep them out. The number of requests bounds it.
const freeBody = 64 << 10

// A budget bounds the memory of all bodies that are held at once, and what of
// it one address may hold: a quarter.
type budget struct {
	sem  *semaphore.Weighted
	most int64 // of one address

	mu   sync.Mutex // owns held
	held map[string]int64
}

func newBudget(n int64) *budget {
	return &budget{sem: semaphore.NewWeighted(n), most: max(n/4, 2*maxRegisterBody), held: map[string]int64{}}
}

// take waits briefly for n more bytes for an address.
func (b *budget) take(ctx context.Context, who string, n int64) error {
	b.mu.Lock()
	if b.held[who]+n > b.most {
		b.mu.Unlock()
		return registry.ErrTooMany
	}
	b.held[who] += n
	b.mu.Unlock()
	if b.sem.TryAcquire(n) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := b.sem.Acquire(ctx, n); err != nil {
		b.forget(who, n)
		return errOverload
	}
	return nil
}

func (b *budget) release(who string, n int64) {
	if n > 0 {
		b.sem.Release(n)
		b.forget(who, n)
	}
}

func (b *budget) forget(who string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held[who] -= n; b.held[who] == 0 {
		delete(b.held, who)
	}
}
