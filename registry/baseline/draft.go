package baseline

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/quarantine"
)

// A Draft is a baseline under change. It is used inside Update only.
type Draft struct {
	Baseline // as it is so far

	store   *Store
	place   *place
	now     time.Time
	changed bool
	charged bool  // this update has paid for what it observed
	failed  error // of something that has no error to return
}

func newDraft(s *Store, p *place, b *Baseline) *Draft {
	return &Draft{Baseline: b.clone(), store: s, place: p, now: s.opt.Now()}
}

// Pin accepts an item without an operator: by is ByFirstSight, ByRegistrant or
// ByWording. raw is canonical. A new name gets an id; one that was gone a new
// generation; another digest a new version. The same digest changes nothing.
// Whatever waited under the name is settled.
func (d *Draft) Pin(k Key, digest credentials.Digest, raw jsontext.Value, by string) (*Accepted, error) {
	switch by {
	case ByFirstSight, ByRegistrant, ByWording:
	default:
		return nil, ErrAct
	}
	return d.put(&Accepted{Key: k, Digest: digest, Raw: raw, By: by})
}

// put makes a the accepted item of its name.
func (d *Draft) put(a *Accepted) (*Accepted, error) {
	if !a.Kind.Known() || a.Digest.IsZero() {
		return nil, fmt.Errorf("baseline: %s is no kind of item, or it has no digest", a.Kind)
	}
	old := d.accepted[a.Key]
	switch {
	case old == nil && len(d.accepted) >= MaxItems || len(a.Raw) > MaxItem:
		return nil, ErrLimit
	case old == nil:
		id, err := ulid.New(ulid.Timestamp(d.now), d.store.opt.Rand)
		if err != nil {
			return nil, fmt.Errorf("baseline: %w", err)
		}
		a.ID = credentials.ToolID("tool_" + id.String())
	case !old.Gone && old.Digest == a.Digest && !old.Broken && a.Released == "":
		d.Settle(a.Key)
		return old, nil
	default:
		a.ID = old.ID
	}
	a.Gen, a.Ver = d.Numbers(a.Key, a.Digest)
	a.At = d.now.UnixMilli()
	d.accepted[a.Key] = a
	delete(d.pending, a.Key)
	d.changed = true
	return a, nil
}

// Accept takes an operator's act for the item that waits under the act's name.
// ErrMissing: nothing waits; ErrStale: the act names another digest than what
// waits, or another than what it replaces; ErrAct: no operator signed it, or it
// was used before; ErrVerdict, ErrCondemned: whether it is shown is for a release to
// say.
func (d *Draft) Accept(token string) (*Accepted, error) {
	act, loose, err := d.open(token, OpAcceptItem)
	if err != nil {
		return nil, err
	}
	k := Key{act.Kind, act.Name}
	w := d.pending[k]
	if w == nil {
		return nil, ErrMissing
	}
	switch {
	case w.Digest != act.Digest || act.Was != d.was(k):
		return nil, ErrStale
	case w.Verdict != quarantine.Clear.String():
		return nil, ErrVerdict
	case d.Condemned(k, w.Digest) != nil:
		return nil, ErrCondemned
	}
	a, err := d.put(&Accepted{Key: k, Digest: w.Digest, Raw: w.Raw, By: ByOperator, Act: token, Loose: loose})
	if err == nil {
		d.spend(act)
	}
	return a, err
}

// was is the digest that an acceptance of k replaces.
func (d *Draft) was(k Key) credentials.Digest {
	if a := d.Baseline.Accepted(k); a != nil {
		return a.Digest
	}
	return credentials.Digest{}
}

// open checks an act that is about to be used now, once.
func (d *Draft) open(token, op string) (*Act, bool, error) {
	act, _, loose, err := d.openBy(token, op)
	return act, loose, err
}

// openBy is open with whose act it is.
func (d *Draft) openBy(token, op string) (*Act, credentials.KeyID, bool, error) {
	v := d.store.openAct(token)
	switch {
	case !v.ok || v.act.Op != op || v.act.Origin != d.origin:
		return nil, "", false, ErrAct
	case d.spent[v.act.Jti] != 0:
		return nil, "", false, fmt.Errorf("%w: it was used before", ErrAct)
	}
	if err := v.act.CheckTime(d.now, ActLife); err != nil {
		return nil, "", false, fmt.Errorf("%w: %w", ErrAct, err)
	}
	return &v.act, v.key, v.act.Loose || d.store.loose(v.key), nil
}

// spend keeps the act's id for as long as the act could be used.
func (d *Draft) spend(act *Act) {
	for jti, exp := range d.spent {
		if exp+int64(credentials.Leeway/time.Second) < d.now.Unix() {
			delete(d.spent, jti)
		}
	}
	d.spent[act.Jti] = act.Exp
	d.changed = true
}

// Observe records what differs from what was accepted, or is new, as waiting. It
// replaces what waited under the name before, and tells whether that changed
// anything. Beyond the bounds, of size and of changes per time, it is dropped:
// not recorded is not accepted. found is why the verdict is what it is.
func (d *Draft) Observe(k Key, digest credentials.Digest, raw jsontext.Value, v quarantine.Verdict, found ...quarantine.Finding) bool {
	old := d.pending[k]
	if old != nil && old.Digest == digest && old.Verdict == v.String() {
		return false
	}
	if !k.Kind.Known() || len(raw) > MaxItem || old == nil && len(d.pending) >= MaxPending {
		return false
	}
	if !d.charged && !d.place.rate.take(d.now) {
		return false
	}
	d.charged = true
	w := &Pending{Key: k, Digest: digest, Raw: raw, Was: d.was(k), Verdict: v.String(), At: d.now.UnixMilli()}
	for _, f := range found {
		if len(w.Found) < MaxFound && len(f.Path) <= maxFoundPath {
			w.Found = append(w.Found, f)
		}
	}
	d.pending[k] = w
	d.changed = true
	return true
}

// Settle drops what waits under the name: the item is again what was accepted.
func (d *Draft) Settle(k Key) {
	if d.pending[k] != nil {
		delete(d.pending, k)
		d.changed = true
	}
}

// Leave marks an accepted item as gone and drops what waits under its name.
func (d *Draft) Leave(k Key) {
	d.Settle(k)
	if a := d.accepted[k]; a != nil && !a.Gone {
		gone := *a
		gone.Gone = true
		d.accepted[k] = &gone
		d.changed = true
	}
}

// Complete records that the surface was seen complete: first sight is over.
func (d *Draft) Complete() {
	if d.seen == 0 {
		d.seen = max(1, d.now.UnixMilli())
		d.changed = true
	}
}

// PinLaunch pins the launch where none is pinned (first sight); any other than
// the pinned one is recorded as the next launch, for review.
func (d *Draft) PinLaunch(l *Launch) {
	switch {
	case d.launch == nil:
		d.launch = &Pinned{Launch: *l, By: ByFirstSight, At: d.now.UnixMilli()}
	case d.launch.Launch.Equal(l):
		if d.next == nil {
			return
		}
		d.next = nil
	default:
		if d.next != nil && d.next.Equal(l) || !d.place.rate.take(d.now) {
			return
		}
		next := *l
		d.next = &next
	}
	d.changed = true
}

// AcceptLaunch takes an operator's act for the next launch, or for the pinned one
// where that fetches its code, or its own acceptance is broken.
func (d *Draft) AcceptLaunch(token string) error {
	act, loose, err := d.open(token, OpAcceptLaunch)
	if err != nil {
		return err
	}
	l, was := d.reviewed()
	if l == nil {
		return ErrMissing
	}
	if act.Digest != l.Digest() || act.Was != was {
		return ErrStale
	}
	d.launch = &Pinned{Launch: *l, By: ByOperator, At: d.now.UnixMilli(), Act: token, Loose: loose}
	d.next = nil
	d.spend(act)
	return nil
}

// reviewed is the launch that an operator can accept, with the digest of the one
// that it replaces.
func (b *Baseline) reviewed() (l *Launch, was credentials.Digest) {
	switch {
	case b.launch == nil:
		return nil, was
	case b.next != nil:
		return b.next, b.launch.Launch.Digest()
	case b.launch.Broken || b.launch.Launch.Unpinned && b.launch.By != ByOperator:
		return &b.launch.Launch, b.launch.Launch.Digest()
	}
	return nil, was
}

// A bucket bounds how often an upstream can have its file written by showing
// something else: 60 times at once, then once in five seconds.
type bucket struct {
	left float64
	at   time.Time
}

const (
	bucketSize  = 60
	bucketEvery = 5 * time.Second
)

func newBucket(now time.Time) bucket { return bucket{bucketSize, now} }

func (b *bucket) take(now time.Time) bool {
	if d := now.Sub(b.at); d > 0 {
		b.left = min(bucketSize, b.left+float64(d)/float64(bucketEvery))
		b.at = now
	}
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}
