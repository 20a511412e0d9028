package registry

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
)

// MaxEntry is the largest entry of the log, in bytes: C2SP tlog-tiles counts
// an entry's length in 16 bits.
const MaxEntry = 65535

// ErrEvent says that an entry of the log is not an event of this version. A
// view that meets one is poisoned: it must not guess.
var ErrEvent = errors.New("entry is not an event this version knows")

// An EventType names what happened. The names are stable: they stand in logs.
type EventType string

// The events of the registry log.
const (
	PrincipalCreated   EventType = "principal.created"
	PrincipalEnrolled  EventType = "principal.enrolled"
	PrincipalCondemned EventType = "principal.condemned"
	PrincipalRecovered EventType = "principal.recovered"
	PrincipalSecured   EventType = "principal.secured"
	OperatorEnrolled   EventType = "operator.enrolled"
	ObserverEnrolled   EventType = "observer.enrolled"
	ObserverDismissed  EventType = "observer.dismissed"
	AgentCreated       EventType = "agent.created"
	AgentRevoked       EventType = "agent.revoked"
	ToolRegistered     EventType = "tool.registered"
	ToolOverwritten    EventType = "tool.overwritten"
	ToolRevoked        EventType = "tool.revoked"
	ToolTransferred    EventType = "tool.transferred"
	ToolReturned       EventType = "tool.returned"
	ToolContested      EventType = "tool.contested"
	ToolCondemned      EventType = "tool.condemned"
	ToolReleased       EventType = "tool.released"
	ToolInspected      EventType = "tool.inspected"
	ToolObserved       EventType = "tool.observed"
	ToolUsed           EventType = "tool.used"
	HandleRevoked      EventType = "handle.revoked"
	HandlesRevoked     EventType = "handles.revoked"
	DelegationCreated  EventType = "delegation.created"
	DelegationRevoked  EventType = "delegation.revoked"
	TopologyRead       EventType = "topology.read"
	OriginCondemned    EventType = "origin.condemned"
	KeysChanged        EventType = "keys.changed"
	LogRestored        EventType = "log.restored"
	DecisionsAnchored  EventType = "decisions.anchored"
)

// An Event is one entry of the log, in the shape in which it is stored. Data
// is one of the types below, by Type.
type Event struct {
	V     int                `json:"v"`              // 1
	Type  EventType          `json:"type"`           //
	At    int64              `json:"at"`             // milliseconds since the epoch
	Cmd   CommandID          `json:"cmd"`            // the command it comes from; shared by all events of a batch
	Req   credentials.Digest `json:"req,omitzero"`   // digest of the request, on a command's first event
	By    credentials.KeyID  `json:"by,omitzero"`    // whose key proved the command
	Proof string             `json:"proof,omitzero"` // the DPoP proof, on a command's first event
	Data  jsontext.Value     `json:"data"`           //
}

// PrincipalData is the data of principal.created and operator.enrolled.
type PrincipalData struct {
	ID       credentials.PrincipalID `json:"id"`
	JWK      jsontext.Value          `json:"jwk"`
	Recovery credentials.KeyID       `json:"recovery,omitzero"` // thumbprint of the recovery key
}

// SecuredData is the data of principal.secured: a recovery key, named once.
type SecuredData struct {
	ID       credentials.PrincipalID `json:"id"`
	Recovery credentials.KeyID       `json:"recovery"`
}

// EnrolledData is the data of principal.enrolled.
type EnrolledData struct {
	ID     credentials.PrincipalID `json:"id"`
	Origin string                  `json:"origin"`
}

// ReasonData is the data of the events that condemn or release: exactly one of
// ID, Tool and Origin is set, by event type.
type ReasonData struct {
	ID     credentials.PrincipalID `json:"id,omitzero"`
	Tool   credentials.ToolID      `json:"tool,omitzero"`
	Origin string                  `json:"origin,omitzero"`
	Mdg    credentials.Digest      `json:"mdg,omitzero"` // the version judged; tools only
	Reason string                  `json:"reason,omitzero"`
	N      uint64                  `json:"n,omitzero"`
	Last   uint64                  `json:"last,omitzero"`
}

// RecoveredData is the data of principal.recovered: a tool.transferred of every
// live tool of From follows in the same batch.
type RecoveredData struct {
	From   credentials.PrincipalID `json:"from"`
	To     credentials.PrincipalID `json:"to"`
	Accept credentials.TokenID     `json:"accept,omitzero"` // the new key's statement, spent
}

// AgentData is the data of the agent events. Secret is the digest of the
// credential, never the credential.
type AgentData struct {
	ID      credentials.AgentID `json:"id"`
	Name    string              `json:"name,omitzero"`
	Profile string              `json:"profile,omitzero"`
	Secret  credentials.Digest  `json:"secret,omitzero"`
}

// ToolData is the data of the events about one tool. N counts the events of
// the tool and Last is the index of the one before, so that a withheld version
// shows (RULES.md 28).
type ToolData struct {
	ID     credentials.ToolID  `json:"id"`
	Origin string              `json:"origin,omitzero"` // tool.registered
	Name   string              `json:"name,omitzero"`   // tool.registered
	Gen    uint64              `json:"gen,omitzero"`    // after the event
	Ver    uint64              `json:"ver,omitzero"`    // after the event
	Base   credentials.Digest  `json:"base,omitzero"`   // tool.overwritten: the digest replaced
	Mdg    credentials.Digest  `json:"mdg,omitzero"`    // after the event
	From   credentials.KeyID   `json:"from,omitzero"`   // tool.transferred, tool.returned
	To     credentials.KeyID   `json:"to,omitzero"`     // tool.transferred, tool.returned
	Accept credentials.TokenID `json:"accept,omitzero"` // tool.transferred: the recipient's statement, spent
	Undoes uint64              `json:"undoes,omitzero"` // tool.returned: index of the earliest transfer that it takes back
	Par    credentials.TokenID `json:"par,omitzero"`    // tool.overwritten by a delegate: the delegation
	Reason string              `json:"reason,omitzero"`
	N      uint64              `json:"n"`
	Last   uint64              `json:"last"`
}

// ContestData is the data of tool.contested: a second claimant of a name.
type ContestData struct {
	Origin   string             `json:"origin"`
	Name     string             `json:"name"`
	Holder   credentials.ToolID `json:"holder"`
	Claimant credentials.KeyID  `json:"claimant"`
}

// HandleData is the data of handle.revoked and of the delegation events.
type HandleData struct {
	Jti  credentials.TokenID  `json:"jti"`
	Par  credentials.TokenID  `json:"par,omitzero"`
	Tool credentials.ToolID   `json:"tool,omitzero"`
	Gen  uint64               `json:"gen,omitzero"`
	To   credentials.KeyID    `json:"to,omitzero"`
	Act  []credentials.Action `json:"act,omitzero"`
	Exp  int64                `json:"exp"` // seconds since the epoch
}

// TopologyData is the data of topology.read: what the registry itself read
// from the origin. Rows are kept as read; the token is content by digest.
type TopologyData struct {
	Origin string             `json:"origin"`
	Ver    uint64             `json:"ver"`
	Site   credentials.KeyID  `json:"site"`
	Token  credentials.Digest `json:"token"`
	Exp    int64              `json:"exp"`
	Rows   jsontext.Value     `json:"rows"`
}

// KeysData is the data of keys.changed.
type KeysData struct {
	Ver     uint64                  `json:"ver"`
	By      credentials.PrincipalID `json:"by,omitzero"` // the operator who asked for it
	Changes []KeyChange             `json:"changes"`
}

// A KeyChange is one transition of one signing key, without key material.
type KeyChange struct {
	Kid    credentials.KeyID `json:"kid"`
	Role   string            `json:"role"`
	From   string            `json:"from"`
	To     string            `json:"to"`
	Reason string            `json:"reason,omitzero"`
}

// RestoredData is the data of log.restored.
type RestoredData struct {
	Size   uint64 `json:"size"`
	Reason string `json:"reason,omitzero"`
}

// AnchorData is the data of decisions.anchored: one spool of the decision log had
// so many entries, with this RFC 6962 root and this keyed chain after the last.
// Nothing of any call is in it.
type AnchorData struct {
	Spool string             `json:"spool"` // spool_ and a ULID
	Size  uint64             `json:"size"`
	Root  credentials.Digest `json:"root"`
	Chain credentials.Digest `json:"chain"`
}

// NewEvent builds an event of a type with its data.
func NewEvent(typ EventType, at int64, cmd CommandID, by credentials.KeyID, data any) (Event, error) {
	raw, err := json.Marshal(data, json.Deterministic(true))
	if err != nil {
		return Event{}, fmt.Errorf("event %s: %w", typ, err)
	}
	return Event{V: 1, Type: typ, At: at, Cmd: cmd, By: by, Data: raw}, nil
}

// Encode is the event as it is stored and hashed. An event over MaxEntry bytes
// is refused.
func (e *Event) Encode() ([]byte, error) {
	b, err := json.Marshal(e, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	if len(b) > MaxEntry {
		return nil, fmt.Errorf("event %s of %d bytes: over %d", e.Type, len(b), MaxEntry)
	}
	return b, nil
}

// ParseEvent reads a stored event: strict, and of this version only.
func ParseEvent(b []byte) (Event, error) {
	var e Event
	if err := json.Unmarshal(b, &e, json.RejectUnknownMembers(true)); err != nil {
		return Event{}, fmt.Errorf("%w: %w", ErrEvent, err)
	}
	if e.V != 1 {
		return Event{}, fmt.Errorf("%w: version %d", ErrEvent, e.V)
	}
	return e, nil
}

// Decode reads the data of an event into v, strictly.
func (e *Event) Decode(v any) error {
	if err := json.Unmarshal(e.Data, v, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrEvent, e.Type, err)
	}
	return nil
}
