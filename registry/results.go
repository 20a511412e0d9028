package registry

import "github.com/pratique-dev/pratique/credentials"

// What takes withdrawn results out of a run's context, as claim "op".
const (
	OpRunClear       = "run.clear"       // operator-act+jwt: a person has seen to it
	OpResultsDeleted = "results.deleted" // observation+jwt: the agent's runtime deleted them
)

// ClearClaims are the claims of an operator's act that takes withdrawn results out of
// a run's context, and of a runtime's statement that it deleted them (RULES.md 9, 25).
type ClearClaims struct {
	credentials.Registered
	Aud     string   `json:"aud"` // of an act the name of the folder's log, of a statement the registry's external URL
	Op      string   `json:"op"`
	Run     string   `json:"run"`
	Results []string `json:"results,omitzero"`     // none: all that were withdrawn by then, which only an operator can say
	Until   int64    `json:"until"`                // "then": milliseconds since the epoch
	Loose   bool     `json:"unprotected,omitzero"` // the key was read unencrypted
}
