package registry

import (
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// A Tool is the record of one tool: the decision row and what surrounds it.
// Records are shared between readers and never changed in place.
type Tool struct {
	gate.Row
	Origin    string
	Name      string
	Events    uint64 // how many events of the log are about it
	Index     uint64 // ledger index of the last of them
	Changed   int64  // time of the last of them, milliseconds since the epoch
	Kept      int64  // a revoked tool's name is kept until then, seconds since the epoch
	Reset     uint64 // index of the event that put standing and content back; 0: none
	Used      uint64 // index of the event of our first cleared use under the key it has now; 0: none yet
	Level     credentials.Level
	Named     bool // this record holds (Origin, Name)
	Condemned bool
	Publisher credentials.KeyID // whose key put the current version there: the owner's or a delegate's
}

// Status is the word for the tool's state: live or revoked.
func (t *Tool) Status() string {
	if t.Live {
		return "live"
	}
	return "revoked"
}

// View is the tool as anybody may see it, without its metadata.
func (t *Tool) View() ToolView {
	return ToolView{
		ID: t.Row.Tool, Origin: t.Origin, Name: t.Name, Owner: t.Owner.Principal(),
		Generation: t.Gen, Version: t.Ver, Digest: t.Digest, Level: t.Level,
		Status: t.Status(), Index: t.Index, Events: t.Events, Changed: time.UnixMilli(t.Changed).UTC(),
	}
}

// A Principal is the record of one principal.
type Principal struct {
	ID        credentials.PrincipalID
	JWK       []byte
	Recovery  credentials.KeyID
	Enrolled  []Enrolment
	Created   int64 // milliseconds since the epoch
	Operator  bool
	Observer  bool // an operator enrolled it as one
	Condemned bool
	Moved     credentials.PrincipalID // where recovery moved its tools, or empty
}

// An Enrolment says that a principal speaks for an origin since an event.
type Enrolment struct {
	Origin string
	Index  uint64
}

// EnrolledFor is the index of the enrolment for the origin, and whether there
// is one.
func (p *Principal) EnrolledFor(origin string) (uint64, bool) {
	for _, e := range p.Enrolled {
		if e.Origin == origin {
			return e.Index, true
		}
	}
	return 0, false
}

// A Delegation is a narrower handle for another key.
type Delegation struct {
	ID     credentials.TokenID // jti of the child handle
	Parent credentials.TokenID
	Tool   credentials.ToolID
	Gen    uint64
	To     credentials.KeyID
	Act    []credentials.Action
	Exp    int64 // seconds since the epoch
}

// A Moved is what is remembered of a tool's transfers, so that they can be
// undone: all of the last EmergencyHold, oldest first. A thief who passes a
// tool on does not shake its owner off.
type Moved struct {
	Tool  credentials.ToolID
	Moves []Move
}

// A Move is one transfer.
type Move struct {
	From  credentials.KeyID
	To    credentials.KeyID
	At    int64 // milliseconds since the epoch
	Index uint64
}

// MaxMoves bounds the transfers of one tool within EmergencyHold.
const MaxMoves = 16

// Within are the moves that can still be undone at a time, oldest first.
func (m *Moved) Within(at int64) []Move {
	if m == nil {
		return nil
	}
	for i := range m.Moves {
		if at <= m.Moves[i].At+EmergencyHold.Milliseconds() {
			return m.Moves[i:]
		}
	}
	return nil
}

// An Agent is the record of one agent credential.
type Agent struct {
	ID      credentials.AgentID
	Name    string
	Profile string
	Secret  credentials.Digest // digest of the credential
	Created int64              // milliseconds since the epoch
	Revoked bool
}

// A Contest records that somebody else claimed a name that is taken.
type Contest struct {
	Origin   string
	Name     string
	Holder   credentials.ToolID
	Claimant credentials.KeyID
	Index    uint64
}

// A Key is what the log says of one signing key of the service.
type Key struct {
	ID     credentials.KeyID
	Role   string
	State  string
	Reason string
	Ver    uint64 // of the key ring that made the change
	Index  uint64
}
