package registry

import (
	"github.com/pratique-dev/pratique/credentials"
)

// ReleaseRequest is an operator's: the version of the tool that has this
// digest was read and is cleared. Where the proof names the version as its
// base, Digest may be left out.
type ReleaseRequest struct {
	Digest credentials.Digest `json:"digest,omitzero"`
	Reason string             `json:"reason"`
}

// OriginReasonRequest is an operator's act about an origin.
type OriginReasonRequest struct {
	Origin string `json:"origin"`
	Reason string `json:"reason"`
}

// ContestView is one name that somebody else claimed while it was held.
type ContestView struct {
	Origin   string                  `json:"origin"`
	Name     string                  `json:"name"`
	Holder   credentials.ToolID      `json:"holder"`
	Owner    credentials.PrincipalID `json:"owner"` // of Holder now
	Claimant credentials.PrincipalID `json:"claimant"`
	Index    uint64                  `json:"index"` // ledger index of the claim
}

// ContestList is the answer to a listing of contests.
type ContestList struct {
	Contests []ContestView `json:"contests"`
}
