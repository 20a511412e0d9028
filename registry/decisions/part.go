package decisions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/registry/spool"
	"github.com/pratique-dev/pratique/registry/vault"
)

// A part is one spool of this process, what its entries come to, and the vault
// of its calls. A log goes on in a new part when the one before is full; calls
// end in the part that they began in.
type part struct {
	spool  *spool.Spool
	vault  *vault.Vault
	past   past
	ending bool // it is being left: nothing is written to it any more
}

// errShort says that the spool has no room for a call and the outcomes to come.
var errShort = errors.New("decisions: the spool is full")

// retry is how often a folder is looked at again that had no room.
const retry = time.Second

// enter takes a place for one entry in the current spool, which stays the
// current one until exit; it begins a new spool where need be.
func (l *Log) enter(decision bool) error {
	for {
		l.turn.RLock()
		l.mu.Lock()
		err := l.fit(decision)
		if err == nil {
			l.pending++
		}
		l.mu.Unlock()
		if err == nil {
			return nil
		}
		l.turn.RUnlock()
		if !errors.Is(err, errShort) {
			return err
		}
		if err := l.roll(); err != nil {
			return err
		}
	}
}

// exit writes the entry that enter took a place for; nil: it comes to none.
func (l *Log) exit(write func() error) error {
	defer l.turn.RUnlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending--
	if write == nil {
		return nil
	}
	return write()
}

// fit tells why nothing can be written now. mu is held.
func (l *Log) fit(decision bool) error {
	switch {
	case l.closed:
		return ErrClosed
	case l.broken != nil:
		return l.broken
	case decision && l.opened()+l.pending >= l.o.Open:
		return ErrMany
	}
	if err := l.cur.spool.Err(); err != nil {
		return translate(err)
	}
	if l.cur.spool.Room() < int64(len(l.cur.past.open)+l.pending+2)*reserve {
		return errShort
	}
	return nil
}

// opened is how many calls are open in all parts. mu is held.
func (l *Log) opened() int {
	n := len(l.cur.past.open)
	for _, p := range l.older {
		n += len(p.past.open)
	}
	return n
}

// roll begins a new spool if the current one is still full. All who write a
// decision are done then; outcomes go on being written meanwhile.
func (l *Log) roll() error {
	l.turn.Lock()
	defer l.turn.Unlock()
	l.mu.Lock()
	err, old := l.fit(false), l.cur
	l.mu.Unlock()
	if !errors.Is(err, errShort) {
		return err
	}
	now := l.o.Now()
	if l.refused != nil && now.Sub(l.asked).Abs() < retry {
		return l.refused
	}
	p, err := l.follow(old)
	if l.refused, l.asked = err, now; err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errors.Join(ErrClosed, l.leave(p, false))
	}
	p.past.base = old.past.carry()
	l.cur, l.older = p, append(l.older, old)
	l.own += old.spool.Bytes()
	l.end(old)
	return nil
}

// follow makes the spool after old. What runs count on is on the disk first.
func (l *Log) follow(old *part) (*part, error) {
	if l.o.Quota > 0 && l.own+old.spool.Bytes()+l.o.Roll > l.o.Quota {
		return nil, fmt.Errorf("%w: %d bytes of one process", ErrFull, l.o.Quota)
	}
	if err := old.spool.Sync(0); err != nil {
		return nil, translate(err)
	}
	return l.begin()
}

// begin makes a spool of this process's own, if the folder has room for it.
// Another process that starts at the same time may take the new folder for a dead
// one's: then that is its.
func (l *Log) begin() (*part, error) {
	used, err := used(l.data)
	if err != nil {
		return nil, err
	}
	if used+l.o.Roll > l.o.Total {
		return nil, fmt.Errorf("%w: %d of %d bytes of the data folder", ErrFull, used, l.o.Total)
	}
	for {
		if l.name == "" { // else one could not be made before, and what there is of it is used
			l.mu.Lock()
			l.name = spoolPrefix + l.newULID()
			l.mu.Unlock()
		}
		p, err := l.openSpool(l.name, l.o.Roll)
		if errors.Is(err, spool.ErrInUse) {
			l.name = ""
			continue
		}
		if err != nil {
			return nil, err
		}
		if p.spool.Size() > 0 { // it was another's meanwhile, who is gone again
			if l.name, err = "", p.spool.Close(); err != nil {
				return nil, err
			}
			continue
		}
		err = l.claim(p)
		if err == nil {
			err = l.equip(p)
		}
		if err != nil {
			return nil, errors.Join(err, p.spool.Close())
		}
		l.name = ""
		return p, nil
	}
}

// equip gives a part its vault.
func (l *Log) equip(p *part) (err error) {
	p.vault, err = vault.Open(vaultDir(l.data), vault.Options{
		Key: l.keys.vault, Owner: p.spool.Name(), Retention: l.o.Retention, Rand: l.o.Rand, Shares: l.shares})
	return err
}

// end leaves a part that is not the current one, once no call is open in it. mu
// is held.
func (l *Log) end(p *part) {
	if p == l.cur || p.ending || len(p.past.open) > 0 {
		return
	}
	p.ending = true
	l.ends.Go(func() {
		err := l.leave(p, true)
		l.mu.Lock()
		defer l.mu.Unlock()
		if !errors.Is(err, ErrStopped) { // else nobody knows what a crash would leave of it
			l.final = append(l.final, anchorOf(p.spool.Name(), p.spool.Head()))
		}
		l.older = slices.DeleteFunc(l.older, func(o *part) bool { return o == p })
		if l.endErr = errors.Join(l.endErr, err); errors.Is(err, ErrStopped) && l.broken == nil {
			l.broken = err // a disk that lost something once is not written to again
		}
	})
}

// live are the parts that are open, oldest first. mu is held.
func (l *Log) live() []*part { return append(slices.Clone(l.older), l.cur) }

// Anchors commit to all that this process has written, oldest spool first, once
// that survives a power cut. With an error come those that could be made.
func (l *Log) Anchors() ([]Anchor, error) {
	l.mu.Lock()
	out, live := slices.Clone(l.final), l.live()
	l.mu.Unlock()
	var errs []error
	for _, p := range live {
		h := p.spool.Head()
		if h.Size == 0 {
			continue
		}
		if err := p.spool.Sync(h.Size); err != nil {
			errs = append(errs, translate(err))
			continue
		}
		out = append(out, anchorOf(p.spool.Name(), h))
	}
	return out, errors.Join(errs...)
}

// used is how many bytes the spools of a data folder take.
func used(data string) (total int64, err error) {
	names, err := spoolNames(data)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		n, err := sizeOf(data, name)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// sizeOf is how many bytes the segments of a spool take.
func sizeOf(data, name string) (total int64, err error) {
	es, err := os.ReadDir(spoolDir(data, name))
	if err != nil {
		return 0, err
	}
	for _, e := range es {
		if !strings.HasSuffix(e.Name(), ".spool") {
			continue
		}
		st, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		total += st.Size()
	}
	return total, nil
}
