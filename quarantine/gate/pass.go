package gate

import (
	"crypto/sha256"
	"errors"
	"sync/atomic"

	"github.com/pratique-dev/pratique/credentials"
)

// Errors of a pass. Whoever gets one forwards nothing.
var (
	ErrNoPass    = errors.New("gate: no pass")
	ErrSpent     = errors.New("gate: the pass was used before")
	ErrOtherCall = errors.New("gate: the pass is for another call")
	ErrMoved     = errors.New("gate: the upstream may have changed since the pass was made") // nothing was sent; ask again
)

// A Pass is the permission of one call: this method, these bytes, once. Only a
// Surface makes one; the zero value opens nothing. Whatever carries a
// call to an upstream spends it first.
type Pass struct {
	p *pass
}

type pass struct {
	method string
	params [sha256.Size]byte
	item   credentials.Digest
	epoch  stamp
	spent  atomic.Bool
}

// An Epoch counts the times at which an upstream may have changed, by kind of
// item. A pass ends with the epoch that it was made in, so that none reaches a
// server, or a state of it, that it was not made for (RULES.md 7). The zero value
// is ready.
type Epoch struct {
	n [len(Kinds) + 1]atomic.Uint64
}

type stamp struct {
	n  *atomic.Uint64
	at uint64
}

// Move ends the epoch for a kind; an empty kind means all.
func (e *Epoch) Move(kind Kind) {
	for i := range e.n {
		if kind == "" || i == kind.rank() {
			e.n[i].Add(1)
		}
	}
}

func (e *Epoch) at(kind Kind) stamp {
	if e == nil {
		return stamp{}
	}
	n := &e.n[kind.rank()]
	return stamp{n, n.Load()}
}

// Spend uses the pass up for a call with exactly these params bytes.
func (p Pass) Spend(method string, params []byte) error {
	if p.p == nil {
		return ErrNoPass
	}
	if p.p.method != method || p.p.params != sha256.Sum256(params) {
		return ErrOtherCall
	}
	if p.p.epoch.n != nil && p.p.epoch.n.Load() != p.p.epoch.at {
		return ErrMoved
	}
	if !p.p.spent.CompareAndSwap(false, true) {
		return ErrSpent
	}
	return nil
}

// Item is the digest of the item that the pass was made for.
func (p Pass) Item() credentials.Digest {
	if p.p == nil {
		return credentials.Digest{}
	}
	return p.p.item
}
