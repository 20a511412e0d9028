package decisions

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/spool"
	"github.com/pratique-dev/pratique/registry/vault"
)

// lostRoom bounds a spool that is opened only to say what was lost in it: what
// it was bounded by before does not keep that from being said.
const lostRoom = 1 << 40

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Total == 0 {
		o.Total = DefaultTotal
	}
	if o.Roll == 0 {
		o.Roll = DefaultRoll
	}
	o.Roll = min(o.Roll, o.Total)
	if o.Quota > 0 {
		o.Roll = min(o.Roll, o.Quota)
	}
	if o.Segment == 0 {
		o.Segment = min(spool.DefaultSegment, o.Roll)
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
	l.shares = &vault.Shares{Quota: l.o.Values}
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
		if err != nil && l.cur != nil {
			l.cur.spool.Close()
		}
	}()
	if err := l.adoptAll(); err != nil {
		return nil, err
	}
	if l.cur == nil {
		l.cur, err = l.begin()
	} else {
		err = l.equip(l.cur)
	}
	if err != nil {
		return nil, err
	}
	l.today()
	return l, nil
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
		want := l.cur == nil && (left == nil || !left.Rolled) && l.fits(name)
		if left != nil && !want {
			continue // ended in order, and not needed
		}
		if err := l.adopt(name, want); err != nil && !errors.Is(err, spool.ErrInUse) {
			return err
		}
	}
	return nil
}

// adopt takes a spool that nobody holds: to keep, or only to say what was lost.
func (l *Log) adopt(name string, keep bool) error {
	room := l.o.Roll
	if !keep {
		room = lostRoom
	}
	p, err := l.openSpool(name, room)
	if err != nil {
		return err
	}
	left, err := l.heldLeft(p)
	if err == nil && left != nil && (!keep || left.Rolled) {
		return p.spool.Close() // ended in order since it was looked at, and not needed
	}
	if err == nil {
		err = l.claim(p)
	}
	if err == nil {
		err = l.sayLost(p)
	}
	if err != nil {
		return errors.Join(err, p.spool.Close())
	}
	if keep {
		l.cur = p
		return nil
	}
	return l.leave(p, true)
}

// heldLeft is the mark of a spool that this process holds, which is what it says only
// now: before, another process may have gone on in it and left it with more. ErrAnchor
// where the spool is not what it was left with.
func (l *Log) heldLeft(p *part) (*leftMark, error) {
	left, err := l.readLeft(p.spool.Name())
	if err == nil && left != nil && left.Anchor != anchorOf(p.spool.Name(), p.spool.Head()) {
		return nil, fmt.Errorf("%w: %s was left with %d entries and has %d, or others", ErrAnchor, p.spool.Name(), left.Size, p.spool.Size())
	}
	return left, err
}

// claim takes the mark away before anything is written: without it the spool counts as
// one whose process died.
func (l *Log) claim(p *part) error {
	return durable.Remove(filepath.Join(spoolDir(l.data, p.spool.Name()), leftFile))
}

// fits tells whether a spool is one to continue: one that has a segment's room.
// A start reads all of it.
func (l *Log) fits(name string) bool {
	total, err := sizeOf(l.data, name)
	return err == nil && total+l.o.Segment <= l.o.Roll
}

// openSpool opens a spool for so many bytes and folds its entries.
func (l *Log) openSpool(name string, room int64) (*part, error) {
	p := newPast()
	o := spool.Options{Key: l.keys.spool, Segment: l.o.Segment, Quota: room, Now: l.o.Now, Files: spool.Files{Sync: l.o.Sync, WriteAt: l.o.WriteAt}}
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
		return nil, fmt.Errorf("%w: %w", ErrAnchor, err)
	case err != nil:
		return nil, err
	case odd != nil:
		return nil, errors.Join(odd, sp.Close())
	}
	return &part{spool: sp, past: p}, nil
}

// sayLost puts on record that a process ended without a word: which calls were
// open, and what of the end was torn.
func (l *Log) sayLost(p *part) error {
	calls := p.past.lost()
	if len(calls) == 0 && len(p.spool.Mended()) == 0 {
		return nil
	}
	torn := int64(0)
	for _, m := range p.spool.Mended() {
		torn += m.Bytes
	}
	at := l.o.Now().UnixMilli()
	_, err := l.write(p, &registry.Entry{V: 1, Type: registry.EntryRecover, At: at,
		Detail: fmt.Sprintf("its process ended without a word: %d calls open, %d bytes torn", len(calls), torn)})
	for _, call := range calls {
		if err != nil {
			break
		}
		o := p.past.open[call]
		_, err = l.write(p, &registry.Entry{V: 1, Type: registry.EntryOutcome, At: at, Call: call, Run: o.run, Agent: o.agent,
			Outcome: registry.OutcomeLost, Invoked: "unknown"})
	}
	if errors.Is(err, ErrFull) { // what it could not say, it is asked again at the next start
		err = nil
	}
	if err == nil {
		err = translate(p.spool.Sync(0))
	}
	return err
}

// leftFile marks a spool that was ended in order, with its head: a start need
// not read it, and a shorter one shows even where no anchor tells.
const leftFile = "left"

type leftMark struct {
	Anchor
	Rolled bool   `json:"rolled,omitzero"` // its process went on in another: nobody continues this one
	MAC    []byte `json:"mac"`
}

// leave closes a part. Its spool is marked as ended in order unless calls are
// open.
func (l *Log) leave(p *part, rolled bool) error {
	sp := p.spool
	h, name := sp.Head(), sp.Name()
	var shut error
	if p.vault != nil {
		shut = p.vault.Close()
	}
	if err := sp.Sync(0); err != nil || len(p.past.open) > 0 {
		return errors.Join(translate(err), shut, sp.Close())
	}
	m := leftMark{Anchor: anchorOf(name, h), Rolled: rolled}
	m.MAC = l.macOf(&m)
	b, err := json.Marshal(m, json.Deterministic(true))
	if err == nil {
		err = durable.WriteFile(filepath.Join(spoolDir(l.data, name), leftFile), b, 0o600)
	}
	return errors.Join(err, shut, sp.Close())
}

// readLeft reads the mark of a spool that was ended in order; nil where there
// is none.
func (l *Log) readLeft(name string) (*leftMark, error) {
	b, err := durable.ReadPrivate(filepath.Join(spoolDir(l.data, name), leftFile), 1<<12)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var m leftMark
	if err := json.Unmarshal(b, &m, json.RejectUnknownMembers(true)); err != nil || !hmac.Equal(m.MAC, l.macOf(&m)) || m.Spool != name {
		return nil, fmt.Errorf("%w: the mark in %s was not made by us", ErrAnchor, name)
	}
	return &m, nil
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
			out = append(out, a.Anchor)
		}
	}
	return out, nil
}

func (l *Log) macOf(a *leftMark) []byte {
	m := hmac.New(sha256.New, l.keys.spool)
	fmt.Fprintf(m, "pratique/spool-left/v1\x00%s\x00%d\x00%s\x00%s", a.Spool, a.Size, a.Root, a.Chain)
	if a.Rolled {
		m.Write([]byte("\x00rolled"))
	}
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
