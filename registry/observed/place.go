package observed

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/shelf"
	"github.com/pratique-dev/pratique/labels/observe"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// lockWait is how long a write waits for another process's.
const lockWait = 5 * time.Second

// A Place is what is kept of one origin. It is safe for concurrent use.
type Place struct {
	s      *Store
	origin string
	name   string // of the file

	writing sync.Mutex // one write of this process at a time; taken before mu

	mu    sync.Mutex // owns what follows
	tag   shelf.Tag  // of the file as it was read; nil: never
	held  time.Time  // when that was last seen to hold
	sum   [sha256.Size]byte
	err   error
	rev   uint64             // of the file
	high  uint64             // the highest that this process saw
	whole map[Subject]record // as read; replaced, never changed
	fresh map[Subject]record // seen by this process and not in the file
	timer *time.Timer        // nil: nothing waits to be written
	ended bool

	uses map[Subject]uint64 // that this process carried, and nobody took up yet

	head   uint64    // changes whenever a content may have
	next   time.Time // when something that is consistent is so no longer; zero: never
	broken breaches
	old    bool // these are of what was known before
}

// Add takes one observation of a version. owner is the registrant's key, empty
// where nobody registered the item. What lowers the label is durable when Add
// returns nil; on an error it holds in this process alone.
func (p *Place) Add(s Subject, owner credentials.KeyID, o observe.Observation, at Cite) error {
	add := record{Owner: owner, Account: observe.Account{}.Add(o)}
	_, bad := add.Account.Worst()
	switch {
	case bad:
		add.Bad = at
	case add.Account.Calls > 0:
		add.Good = at
	}
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		return ErrClosed
	}
	p.fresh[s] = p.fresh[s].merge(add)
	if bad {
		p.old = true
	} else {
		p.later()
	}
	p.mu.Unlock()
	if !bad {
		return nil
	}
	return p.flush()
}

// later has what is fresh written, some time from now. mu is held.
func (p *Place) later() {
	if p.timer == nil {
		p.timer = time.AfterFunc(p.s.opt.Every, func() {
			if err := p.flush(); err != nil {
				p.s.opt.Log.Warn("what was observed is not written yet", "cause", err)
			}
		})
	}
}

// Release forgives what was seen of a version until a time: an operator read it.
func (p *Place) Release(s Subject, at time.Time) error {
	p.mu.Lock()
	p.fresh[s] = p.fresh[s].merge(record{Account: observe.Account{}.Release(at.UnixMilli())})
	p.old = true
	p.mu.Unlock()
	return p.flush()
}

// tell notes what the registry's log says of a version now.
func (p *Place) tell(s Subject, t Told) error {
	p.mu.Lock()
	p.fresh[s] = p.fresh[s].merge(record{Told: t})
	p.old = true
	p.mu.Unlock()
	return p.flush()
}

// flush merges what is fresh into the file. Whatever comes in meanwhile stays
// fresh.
func (p *Place) flush() error {
	p.writing.Lock()
	defer p.writing.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	unlock, err := p.s.files.Lock(ctx, p.name)
	if err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.again()
		return fmt.Errorf("observed: %w", err)
	}
	defer unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stop()
	if len(p.fresh) == 0 {
		return nil
	}
	p.tag = nil // under the lock the file decides, not its date
	if err := p.read(); err != nil {
		return err
	}
	all := make(map[Subject]record, len(p.whole)+len(p.fresh))
	for s, r := range p.whole {
		all[s] = r
	}
	for s, r := range p.fresh {
		all[s] = all[s].merge(r)
	}
	trim(all)
	data, err := p.s.encode(&document{p.origin, p.rev + 1, sorted(all)})
	if err != nil {
		return err
	}
	p.tag = nil // whatever comes of the write, the file is read again
	if err := p.s.files.Write(p.name, data); err != nil {
		p.again()
		return fmt.Errorf("observed: %w", err)
	}
	clear(p.fresh)
	return p.read()
}

// again tries later what could not be written. mu is held.
func (p *Place) again() {
	p.stop()
	if !p.ended {
		p.later()
	}
}

func (p *Place) stop() {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}

func (p *Place) close() error {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	return p.flush()
}

// recent is for how long the file is not looked at again: the questions of one
// request.
const recent = 200 * time.Microsecond

// read makes whole what the file says. mu is held.
func (p *Place) read() error {
	asked := time.Now() // of the machine, not of the options: it is about this very moment
	if p.tag != nil && (asked.Sub(p.held) < recent || p.tag.Fresh()) {
		if asked.Sub(p.held) >= recent {
			p.held = asked
		}
		return p.err
	}
	p.held = time.Time{}
	data, t, err := p.s.files.Read(p.name, maxFile)
	if err != nil {
		p.tag, p.err = nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		return p.err
	}
	sum := sha256.Sum256(data)
	same := p.tag != nil && sum == p.sum && p.err == nil
	p.tag, p.sum = t, sum
	if same {
		return nil
	}
	p.err, p.old = p.take(data), true
	return p.err
}

func (p *Place) take(data []byte) error {
	if data == nil {
		if p.high > 0 {
			return fmt.Errorf("%w: it is gone", ErrDamaged)
		}
		p.whole = map[Subject]record{}
		return nil
	}
	d, err := p.s.decode(data, p.origin)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	case d.Revision < p.high:
		return fmt.Errorf("%w: revision %d after %d", ErrDamaged, d.Revision, p.high)
	}
	whole := make(map[Subject]record, len(d.Accounts))
	for i := range d.Accounts {
		whole[d.Accounts[i].subject()] = d.Accounts[i].record
	}
	p.whole, p.rev, p.high = whole, d.Revision, d.Revision
	return nil
}

// at is what is known of a version now. mu is held, and read was called.
func (p *Place) at(s Subject) (record, bool) {
	w, inFile := p.whole[s]
	f, here := p.fresh[s]
	switch {
	case !here:
		return w, inFile
	case !inFile:
		return f, true
	}
	return w.merge(f), true
}

// Account is what was observed of a version.
func (p *Place) Account(s Subject) (observe.Account, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.read(); err != nil {
		return observe.Account{}, err
	}
	r, _ := p.at(s)
	return r.Account, nil
}

// Knows tells whether an item was seen with the digest before, as any version.
func (p *Place) Knows(k gate.Key, tool credentials.ToolID, d credentials.Digest) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.read() != nil {
		return true // and whoever asks holds nothing against it
	}
	for _, m := range []map[Subject]record{p.whole, p.fresh} {
		for s := range m {
			if s.Key == k && s.Tool == tool && s.Digest == d {
				return true
			}
		}
	}
	return false
}
