package intent

import (
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
)

// What a token says, as claim "op".
const (
	OpSeal   = "intent.seal"   // of a run that has not begun
	OpNarrow = "intent.narrow" // in the place of the intent that Was names
)

// TokenLife is how long after it was signed a token can be used. What it sealed
// then stands until the intent ends.
const TokenLife = 10 * time.Minute

// Claims are the claims of an operator's token over exactly one intent (typ
// intent+jwt, RULES.md 25).
type Claims struct {
	credentials.Registered
	Aud    string              `json:"aud"` // the name of the folder's log
	Op     string              `json:"op"`
	Agent  credentials.AgentID `json:"agent"`
	Intent credentials.Digest  `json:"intent"`
	Was    credentials.Digest  `json:"was,omitzero"`         // OpNarrow: what is sealed now
	Loose  bool                `json:"unprotected,omitzero"` // the key was read unencrypted (RULES.md 13)
}

// Open verifies a token for an audience. It is false for whatever is not an operator's
// word; who signed it comes with it. When it is used, and what for, is asked elsewhere.
func Open(v envelope.Verifier, token, audience string) (c Claims, by credentials.KeyID, ok bool) {
	if v == nil || token == "" || audience == "" {
		return Claims{}, "", false
	}
	o, err := v.Verify(envelope.Intent, token)
	if err != nil || envelope.Claims(o, &c) != nil {
		return Claims{}, "", false
	}
	by = o.Key.ID
	ok = c.Aud == audience && c.Iss == string(by.Principal()) && !c.Intent.IsZero() && c.Agent != "" &&
		(c.Op == OpSeal && c.Was.IsZero() || c.Op == OpNarrow && !c.Was.IsZero())
	if !ok {
		return Claims{}, "", false
	}
	return c, by, true
}
