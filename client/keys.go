package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyset"
	"github.com/pratique-dev/pratique/registry"
)

// Times of keeping keys fresh. How long an answer may be cached by HTTP's rules
// plays no part: they are a server's wish, these are our bounds.
const (
	// DefaultRefresh is how often the key set is asked for. A key revoked in an
	// emergency is refused here at most that much later.
	DefaultRefresh = time.Minute
	// MinRefresh is the least Refresh.
	MinRefresh = 15 * time.Second
	// DefaultMaxStale is how long the last good key set is used while no newer
	// one can be had, counted from when the registry said it was fresh.
	DefaultMaxStale = credentials.MaxFreshnessLife
	// MaxMaxStale is the largest MaxStale: the life of a label.
	MaxMaxStale = credentials.MaxLabelLife
	// SeekEvery is how often the key set is fetched because a token names a key
	// that is not in it, however many such tokens come.
	SeekEvery = 30 * time.Second

	missingFor = 5 * time.Minute // a kid that was looked for in vain
	maxMissing = 4096            // how many of those are remembered
	firstRetry = time.Second     // after a failed fetch; doubles up to Refresh
)

// Errors of key sets. Nothing is verified by a key set that is not there.
var (
	// ErrNoKeys means that no good key set was ever had.
	ErrNoKeys = errors.New("no good key set could be had from the registry yet")
	// ErrOptions refuses options that contradict each other or a bound.
	ErrOptions = errors.New("options are out of bounds")
	// ErrClosed is the answer of what was closed.
	ErrClosed = errors.New("closed")
)

// KeysOptions are the settings of Keys. Nil and the zero value are strict.
type KeysOptions struct {
	Network

	// Issuer is the iss that the registry must have; "" accepts the one that the
	// pinned root first signed, for ever.
	Issuer   string
	MaxStale time.Duration // 0: DefaultMaxStale; at most MaxMaxStale
	Refresh  time.Duration // 0: DefaultRefresh; at least MinRefresh
}

// Keys keeps a registry's key set fresh and verifies by it, with jwx. It is
// safe for concurrent use.
//
// A token by a key that is not in the set has the set fetched anew, at once but
// at most every SeekEvery. Otherwise it is fetched every Refresh, in the
// background. A fetch that fails, or brings anything but a key set that the
// pinned root vouches for, changes nothing: the last good set stays in use
// until MaxStale is over, and then nothing verifies.
type Keys struct {
	*conn
	trust Trust
	o     KeysOptions
	mem   memory

	ctx    context.Context // of fetches; they outlive whoever waits for them
	cancel context.CancelFunc
	wg     sync.WaitGroup

	view atomic.Pointer[snapshot] // the last good set; nil before the first
	due  atomic.Int64             // Unix nanoseconds of the next fetch

	mu      sync.Mutex // guards what follows
	flight  *flight    // the fetch that is going on
	sought  time.Time  // when a fetch for an unknown kid began last
	fails   int        // failed fetches in a row
	last    error      // why the last one failed
	missing *bounded[credentials.KeyID, time.Time]
	linked  credentials.KeyID // recorded root found to follow from a pinned one
	closed  bool

	// onView follows each good fetch, on its goroutine. Its error takes nothing
	// back; the next fetch only comes sooner.
	onView func(context.Context, *snapshot) error
}

// A snapshot is one verified key set.
type snapshot struct {
	*keyset.View
	epoch uint64 // changes with the list of keys, not with its freshness
}

// at is when the registry said that the set was fresh.
func (s *snapshot) at() time.Time {
	return time.Unix(s.Freshness().Iat, 0).Add(credentials.Backdate)
}

// NewKeys makes a source of the registry's keys. It fetches nothing yet.
func NewKeys(registryURL string, trust Trust, opt *KeysOptions) (*Keys, error) {
	var o KeysOptions
	if opt != nil {
		o = *opt
	}
	c, err := newConn(registryURL, o.Network)
	if err != nil {
		return nil, err
	}
	if o.MaxStale == 0 {
		o.MaxStale = DefaultMaxStale
	}
	if o.Refresh == 0 {
		o.Refresh = DefaultRefresh
	}
	if o.MaxStale < 0 || o.MaxStale > MaxMaxStale || o.Refresh < MinRefresh {
		return nil, fmt.Errorf("%w: MaxStale is up to %v, Refresh from %v", ErrOptions, MaxMaxStale, MinRefresh)
	}
	if trust, err = trust.check(); err != nil {
		return nil, err
	}
	k := &Keys{conn: c, trust: trust, o: o, mem: memory{state: trust.State},
		missing: newBounded[credentials.KeyID, time.Time](maxMissing),
		onView:  func(context.Context, *snapshot) error { return nil }}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	return k, nil
}

// Close ends fetches that are going on and saves what was seen. What is closed
// verifies nothing.
func (k *Keys) Close() error {
	k.mu.Lock()
	if k.closed {
		k.mu.Unlock()
		return nil
	}
	k.closed = true
	k.mu.Unlock()
	k.cancel()
	k.wg.Wait()
	k.close()
	if k.view.Swap(nil) == nil {
		return nil
	}
	return k.mem.update(context.Background(), func(*Kept) {})
}

// with runs try under a fresh set; once more if a key was unknown and has been
// found.
func (k *Keys) with(ctx context.Context, typ envelope.Type, token string, try func(*snapshot, time.Time) error) error {
	s, err := k.current(ctx)
	if err != nil {
		return err
	}
	if err = try(s, k.now()); !errors.Is(err, envelope.ErrUnknownKey) {
		return err
	}
	u, bad := envelope.Precheck(token, typ)
	if bad != nil {
		return err
	}
	if err := k.seek(ctx, u.KeyID); err != nil {
		return err
	}
	if s, err = k.current(ctx); err != nil {
		return err
	}
	return try(s, k.now())
}

// Verify verifies a token of this type by the keys of the registry. Claims are
// the caller's business.
func (k *Keys) Verify(ctx context.Context, typ envelope.Type, token string) (o envelope.Opened, err error) {
	err = k.with(ctx, typ, token, func(s *snapshot, now time.Time) error {
		v, err := s.Verifier(now)
		if err != nil {
			return err
		}
		o, err = v.Verify(typ, token)
		return err
	})
	return o, err
}

// Handle verifies a handle offline: signature, type, issuer, audience (the
// registry itself) and time. Whether its tool's generation and owner still fit,
// and whether it was revoked, only the registry knows, and only its holder's
// proof makes it worth anything: this is for those who pass handles on.
func (k *Keys) Handle(ctx context.Context, token string) (*credentials.HandleClaims, error) {
	o, err := k.Verify(ctx, envelope.Handle, token)
	if err != nil {
		return nil, err
	}
	var h credentials.HandleClaims
	if err := envelope.Claims(o, &h); err != nil {
		return nil, err
	}
	iss := k.mem.pins().Iss
	if err := (registry.HandleRules{Issuer: iss, Audience: iss}).CheckHandle(&h, k.now()); err != nil {
		return nil, err
	}
	return &h, nil
}

// KeysStatus is how a source of keys stands.
type KeysStatus struct {
	Issuer   string
	Root     credentials.KeyID // pinned, or recorded at first use
	Version  uint64            // of the list of keys
	Seq      uint64            // of the newest label event known
	Age      time.Duration     // of the last good set; valid if Version is not 0
	StaleAt  time.Time         // when it stops being used
	Failures int               // fetches that failed since the last good one
	Err      error             // why the last of them failed
}

// Status tells how the source stands, without fetching anything.
func (k *Keys) Status() KeysStatus {
	k.mu.Lock()
	st := KeysStatus{Failures: k.fails, Err: k.last}
	k.mu.Unlock()
	p := k.mem.pins()
	st.Issuer, st.Root, st.Seq = p.Iss, p.Root, p.Seq
	if s := k.view.Load(); s != nil {
		st.Version, st.Age, st.StaleAt = s.Pins().Ver, s.Age(k.now()), s.FreshUntil()
	}
	return st
}
