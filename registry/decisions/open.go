package decisions

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/spool"
	"github.com/pratique-dev/pratique/registry/vault"
)

// claimUpTo bounds the spool that is continued rather than a new one begun: a
// start reads all of what it continues.
const claimUpTo = 64 << 20

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Quota == 0 {
		o.Quota = spool.DefaultQuota
	}
	if o.Segment == 0 {
		o.Segment = min(spool.DefaultSegment, o.Quota)
	}
	if o.Open == 0 {
		o.Open = DefaultOpen
	}
	return o
}

// Open opens the decision log of a data folder for this process: it claims a
// spool whose process is gone or makes one, and puts on record what other dead
// processes left open. Where the folder is a registry's too, that is opened first.
//
// A spool that is damaged, or shorter than or other than its anchor, stops the
// start: ErrAnchor or spool.ErrDamaged, naming it.
func Open(data string, o Options) (_ *Log, err error) {
	l := &Log{o: o.withDefaults(), data: data}
	l.ids = ulid.Monotonic(l.o.Rand, 0)
	if l.keys, err = makeKeys(data, l.o.Rand); err != nil {
		return nil, err
	}
	if err := durable.MkdirPrivate(filepath.Join(data, spoolFolder)); err != nil {
		return nil, err
	}
	if err := CheckAnchors(data, l.o.Anchors); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil && l.spool != nil {
			l.spool.Close()
		}
	}()
	if err := l.adoptAll(); err != nil {
		return nil, err
	}
	if l.spool == nil {
		if err := l.begin(); err != nil {
			return nil, err
		}
	}
	l.vault, err = vault.Open(vaultDir(data), vault.Options{
		Key: l.keys.vault, Owner: l.spool.Name(), Retention: l.o.Retention, Rand: l.o.Rand})
	return l, err
}

// begin makes a spool of this process's own. Another that starts at the same time
// may take the new folder for a dead one's: then that is its.
func (l *Log) begin() error {
	for {
		sp, p, err := l.openSpool(spoolPrefix + l.newULID())
		if errors.Is(err, spool.ErrInUse) {
			continue
		}
		l.spool, l.past = sp, p
		return err
	}
}

// adoptAll goes over the spools that are there. Those of living processes are
// theirs. A dead one's open calls are lost, which it says from then on; the first
// that is small enough is continued by this process.
func (l *Log) adoptAll() error {
	names, err := spoolNames(l.data)
	if err != nil {
		return err
	}
	for _, name := range names {
		left, err := l.readLeft(name)
		if err != nil {
			return err
		}
		want := l.spool == nil && l.fits(name)
		if left != nil && !want {
			continue // ended in order, and not needed
		}
		if err := l.adopt(name, left, want); err != nil && !errors.Is(err, spool.ErrInUse) {
			return err
		}
	}
	return nil
}

// adopt takes a spool that nobody holds: to keep, or only to say what was lost.
func (l *Log) adopt(name string, left *Anchor, keep bool) error {
	sp, p, err := l.openSpool(name)
	if err != nil {
		return err
	}
	if left != nil && *left != anchorOf(name, sp.Head()) {
		return errors.Join(fmt.Errorf("%w: %s was left with %d entries and has %d, or others", ErrAnchor, name, left.Size, sp.Size()), sp.Close())
	}
	// The mark goes before anything is written: without it the spool counts as
	// one whose process died.
	err = durable.Remove(filepath.Join(spoolDir(l.data, name), leftFile))
	if err == nil {
		err = l.sayLost(sp, &p)
	}
	if err != nil {
		return errors.Join(err, sp.Close())
	}
	if keep {
		l.spool, l.past = sp, p
		return nil
	}
	return l.leave(sp, &p)
}

// fits tells whether a spool is one to continue.
func (l *Log) fits(name string) bool {
	es, err := os.ReadDir(spoolDir(l.data, name))
	total := int64(0)
	for _, e := range es {
		if st, err := e.Info(); err == nil {
			total += st.Size()
		}
	}
	return err == nil && total <= min(claimUpTo, l.o.Quota/2+l.o.Segment)
}

// openSpool opens a spool and folds its entries.
func (l *Log) openSpool(name string) (*spool.Spool, past, error) {
	p := newPast()
	o := spool.Options{Key: l.keys.spool, Segment: l.o.Segment, Quota: l.o.Quota, Now: l.o.Now, Files: spool.Files{Sync: l.o.Sync, WriteAt: l.o.WriteAt}}
	for _, a := range l.o.Anchors {
		if a.Spool == name {
			o.Known = spool.Head{Size: a.Size, Root: a.Root, Chain: a.Chain}
		}
	}
	var odd error // told only if the spool is what was written: else that explains it
	o.Visit = func(index uint64, b []byte) error {
		e, err := parse(b)
		if err == nil {
			err = p.take(index, &e)
		}
		if err != nil && odd == nil {
			odd = fmt.Errorf("%w: %s: entry %d: %w", spool.ErrDamaged, name, index, err)
		}
		return nil
	}
	sp, err := spool.Open(spoolDir(l.data, name), o)
	switch {
	case errors.Is(err, spool.ErrBehind):
		return nil, p, fmt.Errorf("%w: %w", ErrAnchor, err)
	case err != nil:
		return nil, p, err
	case odd != nil:
		return nil, p, errors.Join(odd, sp.Close())
	}
	return sp, p, nil
}

// sayLost puts on record that a process ended without a word: which calls were
// open, and what of the end was torn.
func (l *Log) sayLost(sp *spool.Spool, p *past) error {
	calls := p.lost()
	if len(calls) == 0 && len(sp.Mended()) == 0 {
		return nil
	}
	w := &Log{o: l.o, spool: sp, past: *p, ids: l.ids}
	torn := int64(0)
	for _, m := range sp.Mended() {
		torn += m.Bytes
	}
	err := w.Note(&registry.Entry{Type: registry.EntryRecover,
		Detail: fmt.Sprintf("its process ended without a word: %d calls open, %d bytes torn", len(calls), torn)})
	for _, call := range calls {
		if err != nil && !errors.Is(err, ErrFull) {
			break
		}
		t := Ticket{call: call, index: p.open[call].index}
		err = w.Finished(t, &registry.Entry{Outcome: registry.OutcomeLost, Invoked: "unknown"}, nil)
	}
	*p = w.past
	if errors.Is(err, ErrFull) { // what it could not say, it is asked again at the next start
		err = nil
	}
	if err == nil {
		err = translate(sp.Sync(0))
	}
	return err
}

// leftFile marks a spool that was ended in order, with its head: a start need
// not read it, and a shorter one shows even where no anchor tells.
const leftFile = "left"

type leftMark struct {
	Anchor
	MAC []byte `json:"mac"`
}

// leave closes a spool. It is marked as ended in order unless calls are open.
func (l *Log) leave(sp *spool.Spool, p *past) error {
	h, name := sp.Head(), sp.Name()
	if err := sp.Sync(0); err != nil || len(p.open) > 0 {
		return errors.Join(translate(err), sp.Close())
	}
	m := leftMark{Anchor: anchorOf(name, h)}
	m.MAC = l.macOf(m.Anchor)
	b, err := json.Marshal(m, json.Deterministic(true))
	if err == nil {
		err = durable.WriteFile(filepath.Join(spoolDir(l.data, name), leftFile), b, 0o600)
	}
	return errors.Join(err, sp.Close())
}

// readLeft reads the mark of a spool that was ended in order; nil where there
// is none.
func (l *Log) readLeft(name string) (*Anchor, error) {
	b, err := durable.ReadPrivate(filepath.Join(spoolDir(l.data, name), leftFile), 1<<12)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var m leftMark
	if err := json.Unmarshal(b, &m, json.RejectUnknownMembers(true)); err != nil || !hmac.Equal(m.MAC, l.macOf(m.Anchor)) || m.Spool != name {
		return nil, fmt.Errorf("%w: the mark in %s was not made by us", ErrAnchor, name)
	}
	return &m.Anchor, nil
}

// Left are the heads of the spools that were ended in order and nobody has
// claimed since.
func (l *Log) Left() (out []Anchor, err error) {
	names, err := spoolNames(l.data)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		a, err := l.readLeft(name)
		if err != nil {
			return nil, err
		}
		if a != nil {
			out = append(out, *a)
		}
	}
	return out, nil
}

func (l *Log) macOf(a Anchor) []byte {
	m := hmac.New(sha256.New, l.keys.spool)
	fmt.Fprintf(m, "pratique/spool-left/v1\x00%s\x00%d\x00%s\x00%s", a.Spool, a.Size, a.Root, a.Chain)
	return m.Sum(nil)
}

// CheckAnchors holds every spool of a data folder against what the registry's
// log says of it, as far as one segment of each tells: that it is there, reaches
// that far, and has the chain there. ErrAnchor names the first that is not so.
func CheckAnchors(data string, anchors []Anchor) error {
	for _, a := range anchors {
		if a.Size == 0 || filepath.Base(a.Spool) != a.Spool {
			continue
		}
		chain, err := spool.ChainAt(spoolDir(data, a.Spool), a.Size)
		if errors.Is(err, spool.ErrBehind) || err == nil && chain != a.Chain {
			return fmt.Errorf("%w: %s is shorter than, or differs at, entry %d", ErrAnchor, a.Spool, a.Size)
		}
		if err != nil {
			return fmt.Errorf("decisions: %s: %w", a.Spool, err)
		}
	}
	return nil
}
