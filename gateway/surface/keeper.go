package surface

import (
	"context"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// A Keeper keeps the surface of one link for one agent. It is safe for concurrent
// use.
type Keeper struct{ opt Options }

func newKeeper(o Options) *Keeper { return &Keeper{opt: o} }

// Start begins to collect. It returns at once; whatever needs the surface waits
// for it, for Limits.Early at most.
func (k *Keeper) Start() { panic("not yet") }

// Welcome is what the upstream says of itself, as far as it is cleared: without
// it instructions are left out, and serverInfo is the operator's name. It waits
// for the surface; what it returns counts as shown.
func (k *Keeper) Welcome(ctx context.Context) mcp.Welcome { panic("not yet") }

// List is what a list of this kind returns: cleared items in a stable order,
// those that keep allows (nil: all). They count as shown once it returned.
// Errors: gate.ErrShut and ErrIncomplete, both retryable.
func (k *Keeper) List(ctx context.Context, kind gate.Kind, keep func(*gate.Entry) bool) ([]gate.Entry, error) {
	panic("not yet")
}

// Look finds an item that the agent names. The entry may come with an error, for
// the record. Errors are those of gate.
func (k *Keeper) Look(ctx context.Context, kind gate.Kind, name string) (gate.Entry, error) {
	panic("not yet")
}

// Readable finds what opens a URI for resources/read and subscriptions.
func (k *Keeper) Readable(ctx context.Context, uri string) (gate.Entry, error) { panic("not yet") }

// Current makes sure that the entry is unchanged now (RULES.md 7), listing again
// where that is not known, and returns it as it is now, or with why it must not
// be used.
func (k *Keeper) Current(ctx context.Context, e gate.Entry) (gate.Entry, error) { panic("not yet") }

// Pass is the permission for one call with exactly these params. It is asked for
// after Current and right before the call. gate.ErrMoved: something was signalled
// since Current; ask that again.
func (k *Keeper) Pass(e gate.Entry, method string, params []byte) (gate.Pass, error) {
	panic("not yet")
}

// Admit is Current and Pass in one, again if something moves in between.
func (k *Keeper) Admit(ctx context.Context, e gate.Entry, method string, params []byte) (gate.Pass, error) {
	panic("not yet")
}

// After is the check before the answer of a consequential call is delivered: it
// lists again if a change was signalled or the list is too old, and is nil if
// the item is still the one that was called. On any error the result is held.
func (k *Keeper) After(ctx context.Context, e gate.Entry) error { panic("not yet") }

// Notice takes a notification of the upstream; it tells whether it was about a
// list. OnChanged passes the news on when the new list was judged.
func (k *Keeper) Notice(method string) bool { panic("not yet") }

// Lost says that the connection broke or was made again: nothing learnt before
// is known to hold. It returns at once, and from then on no pass that was made
// before opens anything.
func (k *Keeper) Lost(err error) { panic("not yet") }

// Stale says that a list may be another, for instance after an error; an empty
// kind means all. Nobody is told; it is read again when it is needed.
func (k *Keeper) Stale(kind gate.Kind) { panic("not yet") }

// Linked remembers a URI that the upstream linked or embedded in a result, so
// that the agent may read it.
func (k *Keeper) Linked(uri string) { panic("not yet") }

// Digest is the digest of the surface as it is, zero before there is one.
func (k *Keeper) Digest() credentials.Digest { panic("not yet") }

// Surface is the surface as it is, for scans and people, nil before there is one.
func (k *Keeper) Surface() *gate.Surface { panic("not yet") }

// Check looks whether something was accepted meanwhile, and tells OnChanged.
// It asks the upstream nothing.
func (k *Keeper) Check() { panic("not yet") }

// Close ends what the keeper began, and waits for it.
func (k *Keeper) Close() { panic("not yet") }
