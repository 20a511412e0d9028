package registry

import (
	"time"

	"github.com/pratique-dev/pratique/credentials"
)

// DeletionRequest is an agent's runtime's: results that it deleted from the agent's
// context, as a statement that it signed for this registry (observation+jwt).
type DeletionRequest struct {
	Statement string `json:"statement"`
}

// DeletionView answers to a statement of deletion. It clears once a gateway of the
// run has it on record.
type DeletionView struct {
	Run     string   `json:"run"`
	Results []string `json:"results"`
}

// A WithdrawalEvent says what became of results that an open run holds.
type WithdrawalEvent struct {
	Run     string              `json:"run"`
	Agent   credentials.AgentID `json:"agent"`
	Origin  string              `json:"origin"`
	Kind    string              `json:"kind,omitzero"` // tool, prompt, resource; empty: messages outside of calls
	Name    string              `json:"name,omitzero"`
	Tool    credentials.ToolID  `json:"tool,omitzero"`
	Gen     uint64              `json:"gen,omitzero"`
	Ver     uint64              `json:"ver,omitzero"`
	Why     string              `json:"why"`           // revoked, condemned, violated, item_gone, server_gone
	At      time.Time           `json:"at"`            // when they were withdrawn
	Results []string            `json:"results"`       // ids of results in the context; of cleared ones: that left it
	More    bool                `json:"more,omitzero"` // there may be further ones, whose ids are not known
}
