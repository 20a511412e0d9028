package registry

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
)

// The shapes below are the bodies of the HTTP API under /v1: what api writes,
// client reads and the CLI prints. Times are RFC 3339 in UTC.

// PrincipalRequest creates a principal for the key that made the proof.
type PrincipalRequest struct {
	// RecoveryKey is the public JWK of a key that may later move all tools of
	// the principal to a new key (RULES.md 26). Optional.
	RecoveryKey jsontext.Value `json:"recovery_key,omitzero"`
}

// PrincipalView is one principal as anybody may see it.
type PrincipalView struct {
	ID        credentials.PrincipalID `json:"id"`
	JWK       jsontext.Value          `json:"jwk"`
	Recovery  credentials.KeyID       `json:"recovery,omitzero"` // thumbprint of the recovery key
	Enrolled  []string                `json:"enrolled"`          // origins for which an operator enrolled it
	Operator  bool                    `json:"operator,omitzero"`
	Observer  bool                    `json:"observer,omitzero"` // may report what it saw tools do
	Condemned bool                    `json:"condemned,omitzero"`
	Tools     int                     `json:"tools"` // live tools it owns
	Created   time.Time               `json:"created"`
}

// EnrolRequest is an operator's: the principal speaks for the origin.
type EnrolRequest struct {
	Origin string `json:"origin"`
}

// ReasonRequest carries the reason of an operator's act.
type ReasonRequest struct {
	Reason string `json:"reason"`
}

// RecoverRequest moves all tools of a principal to a new key. It is proved by
// the recovery key or an operator; NewKey's holder states its acceptance in
// Accept (a tool-accept+jwt whose tool_id is "*").
type RecoverRequest struct {
	NewKey jsontext.Value `json:"new_key"`
	Accept string         `json:"accept"`
}

// AgentRequest is an operator's: issue a credential for one agent.
type AgentRequest struct {
	Name    string `json:"name"`
	Profile string `json:"profile"`
}

// AgentView is one agent. Credential is present once, in the answer that
// issued it.
type AgentView struct {
	ID         credentials.AgentID `json:"id"`
	Name       string              `json:"name"`
	Profile    string              `json:"profile"`
	Created    time.Time           `json:"created"`
	Revoked    bool                `json:"revoked,omitzero"`
	Credential string              `json:"credential,omitzero"`
}

// AgentList is the answer to a listing of agents.
type AgentList struct {
	Agents []AgentView `json:"agents"`
}

// RegisterRequest registers 1 to MaxBatch tools at one origin, all or none.
type RegisterRequest struct {
	Command CommandID        `json:"command,omitzero"` // for a retry; else the service draws one
	Origin  string           `json:"origin"`
	Tools   []jsontext.Value `json:"tools"` // MCP tool objects, each with a name
}

// RegisterResponse answers in the order of the request.
type RegisterResponse struct {
	Tools []HandleView `json:"tools"`
	Index uint64       `json:"index"` // ledger index of the first event
}

// HandleView is one tool with a fresh handle for it.
type HandleView struct {
	ToolView
	Handle  string    `json:"handle"`
	Expires time.Time `json:"expires"`
}

// ToolView is one tool as anybody may see it.
type ToolView struct {
	ID         credentials.ToolID      `json:"id"`
	Origin     string                  `json:"origin"`
	Name       string                  `json:"name"`
	Owner      credentials.PrincipalID `json:"owner"`
	Generation uint64                  `json:"generation"`
	Version    uint64                  `json:"version"`
	Digest     credentials.Digest      `json:"digest"`
	Level      credentials.Level       `json:"level"`
	Status     string                  `json:"status"` // live, revoked
	Index      uint64                  `json:"index"`  // ledger index of the last event about it
	Events     uint64                  `json:"events"` // how many events there are about it
	Changed    time.Time               `json:"changed"`
	Metadata   jsontext.Value          `json:"metadata,omitzero"` // only where one tool is shown
}

// ToolList is one page of tools.
type ToolList struct {
	Tools  []ToolView `json:"tools"`
	Cursor string     `json:"cursor,omitzero"` // for the next page
}

// VersionView is one version of a tool.
type VersionView struct {
	Generation uint64             `json:"generation"`
	Version    uint64             `json:"version"`
	Digest     credentials.Digest `json:"digest"`
	Event      EventType          `json:"event"`
	By         credentials.KeyID  `json:"by,omitzero"` // left out: the service itself
	Index      uint64             `json:"index"`
	At         time.Time          `json:"at"`
}

// VersionList are a tool's events, newest first.
type VersionList struct {
	ID       credentials.ToolID `json:"id"`
	Versions []VersionView      `json:"versions"`
	Cursor   string             `json:"cursor,omitzero"`
}

// OverwriteRequest replaces a tool's metadata. The proof carries tool_id, base
// and the digest of this body.
type OverwriteRequest struct {
	Command CommandID      `json:"command,omitzero"`
	Tool    jsontext.Value `json:"tool"`
}

// TransferRequest gives a tool to another key. Accept is the recipient's
// tool-accept+jwt over this tool, generation and digest.
type TransferRequest struct {
	Command CommandID      `json:"command,omitzero"`
	To      jsontext.Value `json:"to"` // public JWK
	Accept  string         `json:"accept"`
}

// DelegationRequest asks for a narrower handle for another key.
type DelegationRequest struct {
	Command CommandID            `json:"command,omitzero"`
	To      jsontext.Value       `json:"to"` // public JWK of the delegate
	Actions []credentials.Action `json:"actions"`
	Expires time.Time            `json:"expires"`
}

// DelegationView is one delegation; Handle is present only in the answer that
// made it.
type DelegationView struct {
	ID      credentials.TokenID  `json:"id"`
	Parent  credentials.TokenID  `json:"parent"`
	Tool    credentials.ToolID   `json:"tool"`
	To      credentials.KeyID    `json:"to"`
	Actions []credentials.Action `json:"actions"`
	Expires time.Time            `json:"expires"`
	Handle  string               `json:"handle,omitzero"`
}

// DelegationList is the answer to a listing of one tool's delegations.
type DelegationList struct {
	Delegations []DelegationView `json:"delegations"`
}

// TopologyRequest asks the registry to read an origin's topology now.
type TopologyRequest struct {
	Origin string `json:"origin"`
}

// TopologyView is what the registry knows of one origin.
type TopologyView struct {
	Origin    string            `json:"origin"`
	Version   uint64            `json:"version,omitzero"`
	Site      credentials.KeyID `json:"site,omitzero"` // thumbprint of the pinned site key
	Expires   time.Time         `json:"expires,omitzero"`
	Rows      jsontext.Value    `json:"rows,omitzero"`
	Condemned bool              `json:"condemned,omitzero"`
	Index     uint64            `json:"index,omitzero"`   // ledger index of the reading
	Revoked   int               `json:"revoked,omitzero"` // tools that the reading revoked
}

// LabelView is one label: the signed statement and, for people, its parts.
type LabelView struct {
	Tool       credentials.ToolID      `json:"tool"`
	Label      string                  `json:"label"` // tool-label+jwt
	Tier       string                  `json:"tier"`
	Standing   string                  `json:"standing"`
	Content    string                  `json:"content"`
	Origin     string                  `json:"origin"`
	Name       string                  `json:"name"`
	Owner      credentials.PrincipalID `json:"owner"`
	Generation uint64                  `json:"generation"`
	Version    uint64                  `json:"version"`
	Digest     credentials.Digest      `json:"digest"`
	Seq        uint64                  `json:"seq"`
	Expires    time.Time               `json:"expires"`
}

// LabelList is the answer to a look-up by metadata digest.
type LabelList struct {
	Labels []LabelView `json:"labels"`
}

// LabelChange is one event of the label stream: the tool's label changed at
// this ledger index. Withdrawn names result ids to drop (RULES.md 9).
type LabelChange struct {
	Tool      credentials.ToolID `json:"tool"`
	Seq       uint64             `json:"seq"`
	Tier      string             `json:"tier"`
	Status    string             `json:"status"`
	Withdrawn []string           `json:"withdrawn,omitzero"`
}

// KeyView is one signing key of the service, without private material.
type KeyView struct {
	Kid       credentials.KeyID `json:"kid"`
	Role      string            `json:"role"`
	Algorithm string            `json:"alg"`
	State     string            `json:"state"`
	Since     time.Time         `json:"since"`           // when it entered the state
	Next      time.Time         `json:"next,omitzero"`   // earliest next transition
	Reason    string            `json:"reason,omitzero"` // of a revocation
}

// KeyList are all keys, revoked ones included.
type KeyList struct {
	Version uint64    `json:"version"`
	Keys    []KeyView `json:"keys"`
}

// RotateRequest asks for a scheduled rotation of one role, or of all of them
// when Role is empty.
type RotateRequest struct {
	Role   string `json:"role,omitzero"`
	DryRun bool   `json:"dry_run,omitzero"`
}

// KeyChangeResponse tells what an act on keys did.
type KeyChangeResponse struct {
	Version uint64      `json:"version"`
	Applied bool        `json:"applied"`
	Changes []KeyChange `json:"changes"`
	Index   uint64      `json:"index,omitzero"`
}

// EventView is one entry of the log; Entry is its exact bytes, of which Event
// is the reading.
type EventView struct {
	Index uint64             `json:"index"`
	Leaf  credentials.Digest `json:"leaf"` // RFC 6962 leaf hash
	Entry []byte             `json:"entry"`
	Event Event              `json:"event"`
}

// EventList is one page of the log.
type EventList struct {
	Size   uint64      `json:"size"`
	Events []EventView `json:"events"`
	Next   uint64      `json:"next,omitzero"` // index to go on from
}

// ProofView proves that an entry is in the log of a checkpoint.
type ProofView struct {
	Index      uint64               `json:"index"`
	Size       uint64               `json:"size"`
	Leaf       credentials.Digest   `json:"leaf"`
	Path       []credentials.Digest `json:"path"`
	Checkpoint string               `json:"checkpoint"` // signed note for Size
}
