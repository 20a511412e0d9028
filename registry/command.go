package registry

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
)

// A Command asks for a change. It is validated against the view at the head of
// the log and becomes events, or is refused and changes nothing. The set is
// closed: a writer refuses what it does not know.
type Command interface {
	// Meta is what all commands have.
	Meta() *CommandMeta
}

// CommandMeta is common to all commands.
type CommandMeta struct {
	ID     CommandID          // a retry with the same id and Req gets the first outcome
	Req    credentials.Digest // digest of what was asked
	Caller Caller             // who proved it
}

// Meta implements Command.
func (m *CommandMeta) Meta() *CommandMeta { return m }

// An Item is the metadata of one tool, read once and strictly.
type Item struct {
	Name      string
	Digest    credentials.Digest
	Canonical []byte // what the digest is over
}

// Register holds or owns names at an origin: all items or none. The ids are
// drawn before validation, one per item.
type Register struct {
	CommandMeta
	JWK    jsontext.Value // public key of the caller, for a principal not seen before
	Origin string
	IDs    []credentials.ToolID
	Items  []Item
}

// Replace puts new metadata in place of Base.
type Replace struct {
	CommandMeta
	Holder Holder
	Base   credentials.Digest
	Item   Item
}

// RevokeTool ends a tool.
type RevokeTool struct {
	CommandMeta
	Holder Holder
	Base   credentials.Digest
}

// Transfer gives a tool to another key, which has accepted.
type Transfer struct {
	CommandMeta
	Holder Holder
	Base   credentials.Digest
	To     credentials.KeyID
	JWK    jsontext.Value // of To
	Accept Acceptance
}

// UndoTransfer takes the latest transfer of a tool back, within EmergencyHold.
// The caller is the former owner's recovery key or an operator.
type UndoTransfer struct {
	CommandMeta
	Tool credentials.ToolID
}

// RevokeHandles ends every handle of a tool by raising its generation.
type RevokeHandles struct {
	CommandMeta
	Holder Holder
}

// RevokeHandle ends one handle of the holder's tool, and what was delegated
// from it. Exp is the latest time at which the handle could still live.
type RevokeHandle struct {
	CommandMeta
	Holder Holder
	Jti    credentials.TokenID
	Exp    time.Time
}

// CreateDelegation makes a narrower child of the holder's handle.
type CreateDelegation struct {
	CommandMeta
	Holder Holder
	Jti    credentials.TokenID // of the child
	To     credentials.KeyID
	JWK    jsontext.Value // of To: a delegate is a principal, so that it can be condemned
	Act    []credentials.Action
	Exp    time.Time
}

// RevokeDelegation ends one delegation of the holder's tool.
type RevokeDelegation struct {
	CommandMeta
	Holder Holder
	Jti    credentials.TokenID
}

// CreatePrincipal makes a principal of the caller's key.
type CreatePrincipal struct {
	CommandMeta
	JWK      jsontext.Value
	Recovery credentials.KeyID
}

// EnrolPrincipal is an operator's: the principal speaks for the origin.
type EnrolPrincipal struct {
	CommandMeta
	Principal credentials.PrincipalID
	Origin    string
}

// RecoverPrincipal moves all tools of From to a new key. The caller is From's
// recovery key or an operator.
type RecoverPrincipal struct {
	CommandMeta
	From   credentials.PrincipalID
	To     credentials.KeyID
	JWK    jsontext.Value // of To
	Accept Acceptance
}

// Condemn is an operator's veto; exactly one of Principal, Tool and Origin is
// set.
type Condemn struct {
	CommandMeta
	Principal credentials.PrincipalID
	Tool      credentials.ToolID
	Origin    string
	Reason    string
}

// ReleaseTool is an operator's: this version of the tool was read and is
// cleared.
type ReleaseTool struct {
	CommandMeta
	Tool   credentials.ToolID
	Base   credentials.Digest // the version judged
	Reason string
}

// CreateAgent is an operator's: Secret is the digest of the credential.
type CreateAgent struct {
	CommandMeta
	Agent   credentials.AgentID
	Name    string
	Profile string
	Secret  credentials.Digest
}

// RevokeAgent is an operator's.
type RevokeAgent struct {
	CommandMeta
	Agent credentials.AgentID
}

// RecordTopology records what the registry itself read from an origin. It is
// the service's own command: nobody may send one.
type RecordTopology struct {
	CommandMeta
	Topology TopologyData
	Token    []byte // content of Topology.Token
	// Seen is the index of the reading that this one was held against, 0 for
	// none: where another came in between, what was checked no longer counts.
	Seen uint64
}

// RecordKeys records changes of the service's keys, already journalled.
type RecordKeys struct {
	CommandMeta
	Keys KeysData
}

// EnrolOperator makes a key an operator's. It is the service's own command, of
// the first start and of the host's administrator.
type EnrolOperator struct {
	CommandMeta
	JWK jsontext.Value
}

// RecordRestore records that this log was restored from a copy.
type RecordRestore struct {
	CommandMeta
	Size   uint64
	Reason string
}

// RecordAnchor records where a spool of the decision log stands, so that a shorter
// or other one shows. It is the service's own command.
type RecordAnchor struct {
	CommandMeta
	Anchor AnchorData
}

// An Outcome is what a command did.
type Outcome struct {
	Index  uint64  // ledger index of the first event; of the head where nothing was added
	Events []Event // what was added, in order
	Replay bool    // the command had been carried out before
}
