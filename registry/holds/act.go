package holds

import (
	"github.com/pratique-dev/pratique/credentials"
)

// Acts, as claim "op" says.
const (
	OpRelease = "quarantine.release"
	OpCondemn = "quarantine.condemn"
)

// Act are the claims of an operator's act (typ operator-act+jwt) on exactly one
// subject.
type Act struct {
	credentials.Registered
	Aud     string  `json:"aud"`
	Op      string  `json:"op"`
	Subject Subject `json:"subject"`
	Loose   bool    `json:"unprotected,omitzero"` // the key was read unencrypted
}
