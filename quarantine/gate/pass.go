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
	spent  atomic.Bool
}

// Spend uses the pass up for a call with exactly these params bytes.
func (p Pass) Spend(method string, params []byte) error {
	if p.p == nil {
		return ErrNoPass
	}
	if p.p.method != method || p.p.params != sha256.Sum256(params) {
		return ErrOtherCall
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
