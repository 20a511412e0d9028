package proof

import "slices"

// An Op says what a request does. It is signed, so that a proof made for one
// operation never serves for another at the same address.
type Op string

// The operations.
const (
	PrincipalCreate  Op = "principal.create"
	PrincipalEnrol   Op = "principal.enrol"
	PrincipalCondemn Op = "principal.condemn"
	PrincipalRecover Op = "principal.recover"
	ObserverEnrol    Op = "observer.enrol"
	ObserverDismiss  Op = "observer.dismiss"
	AgentCreate      Op = "agent.create"
	AgentList        Op = "agent.list"
	AgentRevoke      Op = "agent.revoke"
	ToolRegister     Op = "tool.register"
	ToolOverwrite    Op = "tool.overwrite"
	ToolRevoke       Op = "tool.revoke"
	ToolTransfer     Op = "tool.transfer"
	ToolTransferUndo Op = "tool.transfer_undo"
	ToolCondemn      Op = "tool.condemn"
	ToolRelease      Op = "tool.release"
	ToolReport       Op = "tool.report"
	HandleRenew      Op = "handle.renew"
	HandleRevoke     Op = "handle.revoke"
	HandleRevokeAll  Op = "handle.revoke_all"
	DelegationCreate Op = "delegation.create"
	DelegationRevoke Op = "delegation.revoke"
	DelegationList   Op = "delegation.list"
	TopologyRead     Op = "topology.read"
	OriginCondemn    Op = "origin.condemn"
	KeyRotate        Op = "key.rotate"
	KeyRevoke        Op = "key.revoke"
	EventsRead       Op = "events.read"
	OperatorRead     Op = "operator.read"
	ResultsWatch     Op = "results.watch"
	ResultsDeleted   Op = "results.deleted"
)

// A Presence says whether a member belongs into a proof. The zero value is the
// strict one.
type Presence uint8

// The presences.
const (
	Absent  Presence = iota // must not be there
	Present                 // must be there
	ByBody                  // bdg only: there exactly when the request has a body
)

// A Rule is what the proof of one operation holds beside htm, htu, iat, jti,
// nonce and op, which every proof holds.
type Rule struct {
	Ath    Presence // the handle is shown with the request
	ToolID Presence
	Base   Presence // the digest being replaced: a precondition, signed
	Bdg    Presence // the body
}

// The shapes that the operations come in.
var (
	// An operator's request, or one made before a handle exists.
	plain     = Rule{Bdg: ByBody}
	plainBody = Rule{Bdg: Present}
	plainRead = Rule{}
	// The same, about one tool.
	onTool = Rule{ToolID: Present, Bdg: ByBody}
	// The holder of a handle acts on its tool.
	held     = Rule{Ath: Present, ToolID: Present, Bdg: ByBody}
	heldBody = Rule{Ath: Present, ToolID: Present, Bdg: Present}
	heldRead = Rule{Ath: Present, ToolID: Present}
	// The same, on exactly the version that the holder has seen.
	heldBase     = Rule{Ath: Present, ToolID: Present, Base: Present, Bdg: ByBody}
	heldBaseBody = Rule{Ath: Present, ToolID: Present, Base: Present, Bdg: Present}
)

// rules is the table of RULES.md 27: which members each operation has. What is
// not in it has no proof.
var rules = map[Op]Rule{
	PrincipalCreate:  plainBody,
	PrincipalEnrol:   plain,
	PrincipalCondemn: plain,
	PrincipalRecover: plainBody,
	ObserverEnrol:    plain,
	ObserverDismiss:  plain,
	AgentCreate:      plainBody,
	AgentList:        plainRead,
	AgentRevoke:      plain,
	ToolRegister:     plainBody,
	ToolOverwrite:    heldBaseBody,
	ToolRevoke:       heldBase,
	ToolTransfer:     heldBaseBody,
	ToolTransferUndo: onTool,
	ToolCondemn:      onTool,
	ToolRelease:      onTool,
	ToolReport:       onTool,
	HandleRenew:      onTool, // the old handle may have expired: the key alone renews
	HandleRevoke:     held,
	HandleRevokeAll:  held,
	DelegationCreate: heldBody,
	DelegationRevoke: held,
	DelegationList:   heldRead,
	TopologyRead:     plain,
	OriginCondemn:    plain,
	KeyRotate:        plain,
	KeyRevoke:        plain,
	EventsRead:       plainRead,
	OperatorRead:     plainRead,
	ResultsWatch:     plainRead,
	ResultsDeleted:   plainBody,
}

// RuleOf is the rule of an operation; ok is false for one that is not known.
func RuleOf(op Op) (r Rule, ok bool) {
	r, ok = rules[op]
	return r, ok
}

// Ops lists the operations in alphabetical order.
func Ops() []Op {
	out := make([]Op, 0, len(rules))
	for op := range rules {
		out = append(out, op)
	}
	slices.Sort(out)
	return out
}
