package state

import (
	"fmt"
	"iter"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry"
)

// A View reads one snapshot. Look-ups return registry.ErrNotFound where there
// is nothing, never a nil record. What is returned is shared and must not be
// changed.
type View struct {
	txn      *memdb.Txn
	commands *commands
}

func first[T any](v *View, table, index string, key []byte) (*T, error) {
	o, err := v.txn.First(table, index, key)
	if err != nil {
		return nil, fmt.Errorf("state: %s: %w", table, err)
	}
	if o == nil {
		return nil, registry.ErrNotFound
	}
	return o.(*T), nil
}

func all[T any](v *View, table, index string, prefix []byte) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		it, err := v.txn.Get(table, index+"_prefix", prefix)
		if err != nil {
			return // the schema is a constant: its indexes exist
		}
		for o := it.Next(); o != nil; o = it.Next() {
			if !yield(o.(*T)) {
				return
			}
		}
	}
}

// Row is the decision row of a tool: one look-up.
func (v *View) Row(id credentials.ToolID) (*gate.Row, error) {
	t, err := v.Tool(id)
	if err != nil {
		return nil, err
	}
	return &t.Row, nil
}

// Tool is the record of a tool, revoked ones included.
func (v *View) Tool(id credentials.ToolID) (*registry.Tool, error) {
	return first[registry.Tool](v, tableTools, "id", toolKey(id))
}

// Named is the tool that holds a name at an origin: a live one, or a revoked
// one whose name is kept.
func (v *View) Named(origin, name string) (*registry.Tool, error) {
	return first[registry.Tool](v, tableTools, "name", nameKey(origin, name))
}

// Tools walks all tools by id, revoked ones included, from after (exclusive;
// empty: from the start).
func (v *View) Tools(after credentials.ToolID) iter.Seq[*registry.Tool] {
	return func(yield func(*registry.Tool) bool) {
		var from []byte
		if after != "" {
			from = append(toolKey(after), 0)
		}
		it, err := v.txn.LowerBound(tableTools, "id", from)
		if err != nil {
			return
		}
		for o := it.Next(); o != nil; o = it.Next() {
			if !yield(o.(*registry.Tool)) {
				return
			}
		}
	}
}

// AtOrigin walks the tools that hold a name at an origin, by name, from after
// (exclusive; empty: from the start).
func (v *View) AtOrigin(origin, after string) iter.Seq[*registry.Tool] {
	return func(yield func(*registry.Tool) bool) {
		from := append([]byte(origin), 0)
		if after != "" {
			from = append(nameKey(origin, after), 0)
		}
		it, err := v.txn.LowerBound(tableTools, "name", from)
		if err != nil {
			return
		}
		for o := it.Next(); o != nil; o = it.Next() {
			if t := o.(*registry.Tool); t.Origin != origin || !yield(t) {
				return
			}
		}
	}
}

// OwnedBy walks the tools of an owner, revoked ones included.
func (v *View) OwnedBy(k credentials.KeyID) iter.Seq[*registry.Tool] {
	return all[registry.Tool](v, tableTools, "owner", rawKey(k))
}

// Principal is the record of a principal.
func (v *View) Principal(id credentials.PrincipalID) (*registry.Principal, error) {
	return first[registry.Principal](v, tablePrincipals, "id", []byte(id))
}

// Principals walks all principals.
func (v *View) Principals() iter.Seq[*registry.Principal] {
	return all[registry.Principal](v, tablePrincipals, "id", nil)
}

// IsOperator reports whether the key is an operator's.
func (v *View) IsOperator(k credentials.KeyID) bool {
	p, err := v.Principal(k.Principal())
	return err == nil && p.Operator && !p.Condemned
}

// Origin is what is known of an origin.
func (v *View) Origin(name string) (*Origin, error) {
	return first[Origin](v, tableOrigins, "id", []byte(name))
}

// held is the number of live tools of an owner at an origin, as committed.
func (v *View) held(owner credentials.KeyID, origin string) int {
	h, err := first[holding](v, tableHoldings, "id", holdingKey(owner, origin))
	if err != nil {
		return 0
	}
	return h.Live
}

// Held is the number of live tools of an owner at an origin.
func (v *View) Held(owner credentials.KeyID, origin string) int { return v.held(owner, origin) }

// Held is the number of live tools of an owner at an origin, this
// transaction's changes included.
func (t *Txn) Held(owner credentials.KeyID, origin string) int {
	if h := t.holdings[string(holdingKey(owner, origin))]; h != nil {
		return h.Live
	}
	return t.held(owner, origin)
}

// Owned is the number of live tools of an owner in all, as committed.
func (v *View) Owned(owner credentials.KeyID) int {
	n := 0
	for h := range all[holding](v, tableHoldings, "id", rawKey(owner)) {
		n += h.Live
	}
	return n
}

// Delegation is one delegation, by the child handle's jti.
func (v *View) Delegation(id credentials.TokenID) (*registry.Delegation, error) {
	return first[registry.Delegation](v, tableDelegations, "id", []byte(id))
}

// Delegations walks the delegations of a tool, those that have expired
// included.
func (v *View) Delegations(tool credentials.ToolID) iter.Seq[*registry.Delegation] {
	return all[registry.Delegation](v, tableDelegations, "tool", toolKey(tool))
}

// Spent reports whether a statement has acted.
func (v *View) Spent(id credentials.TokenID) bool { return v.Revoked("", id) }

// Revoked reports whether a handle of the tool was revoked by its jti.
func (v *View) Revoked(tool credentials.ToolID, id credentials.TokenID) bool {
	_, err := first[spent](v, tableSpent, "id", spentKey(tool, id))
	return err == nil
}

// Transfer is the latest transfer of a tool.
func (v *View) Transfer(tool credentials.ToolID) (*registry.Moved, error) {
	return first[registry.Moved](v, tableTransfers, "id", toolKey(tool))
}

// Agent is one agent credential's record.
func (v *View) Agent(id credentials.AgentID) (*registry.Agent, error) {
	return first[registry.Agent](v, tableAgents, "id", []byte(id))
}

// AgentBySecret is the agent whose credential has this digest.
func (v *View) AgentBySecret(d credentials.Digest) (*registry.Agent, error) {
	return first[registry.Agent](v, tableAgents, "secret", d[:])
}

// Agents walks all agents.
func (v *View) Agents() iter.Seq[*registry.Agent] {
	return all[registry.Agent](v, tableAgents, "id", nil)
}

// Contests walks the contests of names at an origin; all of them where the
// origin is empty.
func (v *View) Contests(origin string) iter.Seq[*registry.Contest] {
	var p []byte
	if origin != "" {
		p = append([]byte(origin), 0)
	}
	return all[registry.Contest](v, tableContests, "id", p)
}

// Contested counts the claimants recorded for a name.
func (v *View) Contested(origin, name string) int {
	n := 0
	for range all[registry.Contest](v, tableContests, "id", nameKey(origin, name)) {
		n++
	}
	return n
}

// HasContest reports whether this claimant's contest is on record.
func (v *View) HasContest(origin, name string, who credentials.KeyID) bool {
	_, err := first[registry.Contest](v, tableContests, "id", contestKey(origin, name, who))
	return err == nil
}

// Key is what the log says of a signing key.
func (v *View) Key(kid credentials.KeyID) (*registry.Key, error) {
	return first[registry.Key](v, tableKeys, "id", []byte(kid))
}

// Command is what is remembered of a sender's command.
func (v *View) Command(by credentials.KeyID, id registry.CommandID) (Done, bool) {
	return v.commands.get(commandKey{by, id})
}

// Live implements envelope.Live: whether a handle whose signature and time are
// right may be used at this position of the log.
func (v *View) Live(h *credentials.HandleClaims) error {
	t, err := v.Tool(h.ToolID)
	if err != nil {
		return err
	}
	switch {
	case !t.Live:
		return registry.ErrToolRevoked
	case t.Gen != h.Gen:
		return registry.ErrStaleGeneration
	case v.Revoked(h.ToolID, h.Jti) || h.Par != "" && v.Revoked(h.ToolID, h.Par):
		return registry.ErrHandleRevoked
	}
	if h.Par == "" {
		if t.Owner != h.Cnf.Jkt {
			return registry.ErrNotOwner
		}
		return nil
	}
	d, err := v.Delegation(h.Jti)
	if err != nil {
		return registry.ErrHandleRevoked
	}
	if d.To != h.Cnf.Jkt || d.Tool != h.ToolID || d.Gen != h.Gen || d.Parent != h.Par || !credentials.Narrower(h.Act, d.Act) {
		return registry.ErrNotOwner
	}
	return nil
}

// Lowered is the list of labels that fell and may still live at a time.
func (v *View) Lowered(now time.Time) labels.Lowered {
	var falls []labels.Lower
	for l := range all[labels.Lower](v, tableLowered, "id", nil) {
		falls = append(falls, *l)
	}
	return labels.NewLowered(falls, now)
}

// KeysVer is the version of the key ring whose changes the log has up to here.
func (v *View) KeysVer() uint64 {
	ver := uint64(0)
	for k := range all[registry.Key](v, tableKeys, "id", nil) {
		ver = max(ver, k.Ver)
	}
	return ver
}

// Keys walks what the log says of the signing keys.
func (v *View) Keys() iter.Seq[*registry.Key] {
	return all[registry.Key](v, tableKeys, "id", nil)
}

// Anchor is the latest anchor of a spool of the decision log.
func (v *View) Anchor(spool string) (*registry.AnchorData, error) {
	return first[registry.AnchorData](v, tableAnchors, "id", []byte(spool))
}

// Anchors walks the latest anchors of all spools.
func (v *View) Anchors() iter.Seq[*registry.AnchorData] {
	return all[registry.AnchorData](v, tableAnchors, "id", nil)
}

// HasOperator reports whether any operator is enrolled.
func (v *View) HasOperator() bool {
	for p := range v.Principals() {
		if p.Operator && !p.Condemned {
			return true
		}
	}
	return false
}
