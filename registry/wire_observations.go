package registry

import (
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels/observe"
)

// ObservationRequest is an observer's: what it saw a tool do, as a statement that
// it signed for this registry (observation+jwt).
type ObservationRequest struct {
	Command     CommandID `json:"command,omitzero"` // for a retry; else the service draws one
	Observation string    `json:"observation"`
}

// ObservationView answers to an observation: what the version's content is now.
type ObservationView struct {
	Tool     credentials.ToolID `json:"tool"`
	Recorded bool               `json:"recorded"` // praise weighs nothing, and is not
	Content  string             `json:"content"`
	Index    uint64             `json:"index,omitzero"` // ledger index of the event
}

// ReviewView is one open review: an observer's word against a version that no
// operator has released or condemned since.
type ReviewView struct {
	Tool       credentials.ToolID      `json:"tool"`
	Origin     string                  `json:"origin"`
	Name       string                  `json:"name"`
	Owner      credentials.PrincipalID `json:"owner"`
	Generation uint64                  `json:"generation"`
	Version    uint64                  `json:"version"`
	Digest     credentials.Digest      `json:"digest"`
	Content    string                  `json:"content"`
	Observer   credentials.PrincipalID `json:"observer"`
	Saw        []observe.Sign          `json:"saw"`
	Index      uint64                  `json:"index"` // ledger index of the observation
	At         time.Time               `json:"at"`
}

// ReviewList is the answer to a listing of reviews, oldest tool first.
type ReviewList struct {
	Reviews []ReviewView `json:"reviews"`
}
