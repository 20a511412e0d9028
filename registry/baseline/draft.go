package baseline

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/quarantine"
)

// A Draft is a baseline under change. It is used inside Update only.
type Draft struct {
	Baseline // as it is so far
}

// Pin accepts an item without an operator: by is ByFirstSight, ByRegistrant or
// ByWording. raw is canonical. A new name gets an id; one that was gone a new
// generation; another digest a new version. The same digest changes nothing.
// Whatever waited under the name is settled.
func (d *Draft) Pin(k Key, digest credentials.Digest, raw jsontext.Value, by string) (*Accepted, error) {
	panic("not yet")
}

// Accept takes an operator's act for the item that waits under the act's name.
// ErrMissing: nothing waits; ErrStale: the act names another digest than what
// waits, or another than what it replaces; ErrAct: no operator signed it.
func (d *Draft) Accept(act string) (*Accepted, error) { panic("not yet") }

// Observe records what differs from what was accepted, or is new, as waiting. It
// replaces what waited under the name before, and tells whether that changed
// anything. Beyond the bounds it is dropped: not recorded is not accepted.
func (d *Draft) Observe(k Key, digest credentials.Digest, raw jsontext.Value, v quarantine.Verdict) bool {
	panic("not yet")
}

// Settle drops what waits under the name: the item is again what was accepted.
func (d *Draft) Settle(k Key) { panic("not yet") }

// Leave marks an accepted item as gone and drops what waits under its name.
func (d *Draft) Leave(k Key) { panic("not yet") }

// Complete records that the surface was seen complete: first sight is over.
func (d *Draft) Complete() { panic("not yet") }

// PinLaunch pins the launch where none is pinned (first sight); any other than
// the pinned one is recorded as the next launch, for review.
func (d *Draft) PinLaunch(l *Launch) { panic("not yet") }

// AcceptLaunch takes an operator's act for the next launch, or for the pinned one
// where that is unpinned code.
func (d *Draft) AcceptLaunch(act string) error { panic("not yet") }
