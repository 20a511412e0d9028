package baseline

import (
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
)

// Acts, as claim "op" says.
const (
	OpAcceptItem   = "surface.accept"
	OpAcceptLaunch = "launch.accept"
)

// ActLife is how long after it was signed an act can be used. What it accepted
// then stands until something else is accepted.
const ActLife = 10 * time.Minute

// Act are the claims of an operator's acceptance (typ operator-act+jwt): of
// exactly one digest, in the place of exactly one other.
type Act struct {
	credentials.Registered
	Aud    string             `json:"aud"`
	Op     string             `json:"op"`
	Origin string             `json:"origin"`
	Kind   Kind               `json:"kind,omitzero"` // OpAcceptItem
	Name   string             `json:"name,omitzero"`
	Was    credentials.Digest `json:"was,omitzero"`         // zero: nothing was accepted
	Digest credentials.Digest `json:"digest"`               // of the item, or Launch.Digest
	Loose  bool               `json:"unprotected,omitzero"` // the key was read unencrypted
}

// SignAct signs an acceptance of a waiting item.
func (s *Store) SignAct(key *envelope.Signer, b *Baseline, k Key, loose bool) (string, error) {
	panic("not yet")
}

// SignLaunch signs an acceptance of the launch that waits, or of the pinned one
// that fetches its code.
func (s *Store) SignLaunch(key *envelope.Signer, b *Baseline, loose bool) (string, error) {
	panic("not yet")
}
