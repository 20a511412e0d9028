package proof

import (
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
)

// Confirmed says that whoever sent a request holds a key and made a fresh
// proof for exactly this request. Its one maker is Checker.Check; the zero
// value confirms nothing.
type Confirmed struct {
	key   envelope.Key
	op    Op
	jti   credentials.TokenID
	iat   int64
	tool  credentials.ToolID
	base  credentials.Digest
	bdg   credentials.Digest
	ath   [32]byte // SHA-256 of the handle shown with it; zero where there was none
	token string
}

// Key is the key that made the proof.
func (c Confirmed) Key() envelope.Key { return c.key }

// Jkt is the thumbprint of the key; empty where nothing is confirmed.
func (c Confirmed) Jkt() credentials.KeyID { return c.key.ID }

// Op is the operation that the proof was made for.
func (c Confirmed) Op() Op { return c.op }

// JTI names the proof, which is good once.
func (c Confirmed) JTI() credentials.TokenID { return c.jti }

// MadeAt is when the sender's clock says that it made the proof.
func (c Confirmed) MadeAt() time.Time { return time.Unix(c.iat, 0) }

// ToolID is the tool that the proof is about; empty for operations without one.
func (c Confirmed) ToolID() credentials.ToolID { return c.tool }

// Base is the digest of the version that the sender wants to replace, for the
// compare-and-swap with the version there is; zero for operations without one.
func (c Confirmed) Base() credentials.Digest { return c.base }

// Body is the SHA-256 of the body that the proof covers; zero without one.
func (c Confirmed) Body() credentials.Digest { return c.bdg }

// Ath is the SHA-256 of the handle that the proof was made for; zero for
// operations without one.
func (c Confirmed) Ath() [32]byte { return c.ath }

// Token is the proof itself, as received: the log keeps it beside what it
// caused.
func (c Confirmed) Token() string { return c.token }
