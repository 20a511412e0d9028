package surface

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// A Keeper keeps the surface of one link for one agent. It is safe for concurrent
// use.
type Keeper struct {
	opt   Options
	epoch gate.Epoch
	links links
	gone  lapsed
	told  sync.Map // gate.Kind: those that a list of was returned for

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup

	settling sync.Mutex          // one settlement at a time; taken before mu
	noted    map[gate.Key]string // settling owns it: what was last recorded of items that were not cleared

	spared   float64 // settling owns these three: entries that are left of what may be written
	sparedAt time.Time
	silent   bool

	mu       sync.Mutex // owns everything below
	lists    [len(sources)]list
	closed   bool
	input    gate.Input     // of the surface
	surface  *gate.Surface  // nil before the first settlement
	unsure   bool           // a verdict in it is missing
	partial  bool           // a verdict in it stands for now only
	judged   time.Time      // when it was judged
	joined   *gate.Baseline // by whose releases it was judged as a whole
	greeting [32]byte       // of the welcome that is in it
	whole    *gate.Surface  // the last complete one
	fold     folded
}

// A list is what is known of one list of the protocol.
type list struct {
	source
	items  []gate.Judged
	last   *collection   // as it was sent
	ttl    time.Duration // negative: none
	got    bool          // the last reading was complete, and has been judged
	err    error         // why it was not
	failed time.Time
	tried  uint64    // marks when the reading began that failed
	began  time.Time // when that reading began
	number uint64    // of that reading
	marks  uint64    // how often something was signalled
	seen   uint64    // marks when the reading began
	asked  bool      // a notification wants it read without anybody needing it
	pacing bool      // it will be, soon
	landed time.Time // when the last reading ended
	signal bool      // a notification came that agents were not told of
	flight *flight
}

// A flight is one reading of a list under way, shared by all who wait for it.
type flight struct {
	done   chan struct{}
	number uint64
	err    error
}

// folded is what a surface was built from besides the lists.
type folded struct {
	baseline *gate.Baseline
	head     uint64
	seen     uint64 // of what was observed
	standing labels.Standing
	until    int64 // seconds since the epoch: when an attested standing, a consistent content or an effect ends; 0: none does
}

// ends says that something ends at a time, 0 for never.
func (f *folded) ends(at int64) {
	if at != 0 && (f.until == 0 || at < f.until) {
		f.until = at
	}
}

func newKeeper(o Options) *Keeper {
	k := &Keeper{opt: o, noted: map[gate.Key]string{}}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	for i, s := range sources {
		k.lists[i].source = s
	}
	k.links.max = o.Limits.Links
	return k
}

// Start begins to collect. It returns at once; whatever needs the surface waits
// for it, for Limits.Early at most.
func (k *Keeper) Start() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range k.lists {
		k.takeOff(&k.lists[i])
	}
}

// Close ends what the keeper began, and waits for it.
func (k *Keeper) Close() {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.epoch.Move("")
	k.cancel()
	k.work.Wait()
}

// Digest is the digest of the surface as it is, zero before there is one.
func (k *Keeper) Digest() credentials.Digest {
	if s := k.Surface(); s != nil {
		return s.Digest()
	}
	return credentials.Digest{}
}

// Surface is the surface as it is, for scans and people, nil before there is one.
func (k *Keeper) Surface() *gate.Surface {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.surface
}

// Linked remembers a URI that the upstream linked or embedded in a result, so
// that the agent may read it.
func (k *Keeper) Linked(uri string) { k.links.add(uri) }

// links are the URIs that an upstream linked, the newest at most.
type links struct {
	mu   sync.Mutex
	max  int
	has  map[string]bool
	ring []string
	next int
}

func (l *links) add(uri string) {
	if len(uri) > gate.MaxURI {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.has[uri]:
		return
	case l.has == nil:
		l.has = map[string]bool{}
	}
	if len(l.ring) < l.max {
		l.ring = append(l.ring, uri)
	} else {
		delete(l.has, l.ring[l.next])
		l.ring[l.next] = uri
		l.next = (l.next + 1) % l.max
	}
	l.has[uri] = true
}

func (l *links) linked(uri string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.has[uri]
}

// lapsed are items that went away since they were listed: when they come back
// they are new to the agent, which has to list them again (RULES.md 8).
type lapsed struct {
	mu  sync.Mutex
	set map[gate.Key]bool
}

func (l *lapsed) put(keys []gate.Key, gone bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range keys {
		switch {
		case !gone:
			delete(l.set, k)
		case l.set == nil:
			l.set = map[gate.Key]bool{k: true}
		default:
			l.set[k] = true
		}
	}
}

func (l *lapsed) has(k gate.Key) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.set[k]
}

// shown is what the agent was shown less what went away since.
type shown struct{ k *Keeper }

// Shown implements gate.Shown.
func (s shown) Shown(key gate.Key) (d credentials.Digest, ok bool, err error) {
	if s.k.gone.has(key) {
		return d, false, nil
	}
	return s.k.opt.Shown.Shown(key)
}

// incomplete wraps why a list is not complete.
func incomplete(l *list, err error) error {
	return fmt.Errorf("%w: %s: %w", gate.ErrIncomplete, l.method, err)
}
