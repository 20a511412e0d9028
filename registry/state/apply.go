package state

import (
	"fmt"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry"
)

// Apply folds one event, the entry at index, into the tables. An error is
// ErrApply or registry.ErrEvent: the caller aborts and stops trusting the view.
func (t *Txn) Apply(index uint64, e *registry.Event) error {
	if err := t.apply(index, e); err != nil {
		return fmt.Errorf("entry %d: %w", index, err)
	}
	t.remember(index, e)
	t.events++
	return nil
}

// remember counts the event to its command; the events of one command follow
// each other in the log, but not always in one transaction: a follower folds
// in pieces.
func (t *Txn) remember(index uint64, e *registry.Event) {
	k := commandKey{e.By, e.Cmd}
	if n := len(t.done); n > 0 && t.done[n-1].key == k {
		t.done[n-1].Count++
		return
	}
	if len(t.done) == 0 {
		if d, ok := t.View.Command(e.By, e.Cmd); ok && d.Index+uint64(d.Count) == index {
			d.Count++
			t.done = append(t.done, doneCommand{k, d})
			return
		}
	}
	t.done = append(t.done, doneCommand{k, Done{Index: index, Count: 1, Req: e.Req}})
}

// Command is what is remembered of a sender's command, this transaction's
// included.
func (t *Txn) Command(by credentials.KeyID, id registry.CommandID) (Done, bool) {
	k := commandKey{by, id}
	for i := len(t.done) - 1; i >= 0; i-- {
		if t.done[i].key == k {
			return t.done[i].Done, true
		}
	}
	return t.View.Command(by, id)
}

func (t *Txn) apply(index uint64, e *registry.Event) error {
	switch e.Type {
	case registry.ToolRegistered, registry.ToolOverwritten, registry.ToolRevoked,
		registry.ToolTransferred, registry.ToolReturned, registry.HandlesRevoked:
		var d registry.ToolData
		if err := e.Decode(&d); err != nil {
			return err
		}
		return t.applyTool(index, e, &d)
	case registry.PrincipalCreated, registry.OperatorEnrolled:
		return t.applyPrincipal(e)
	case registry.PrincipalEnrolled:
		return t.applyEnrolled(index, e)
	case registry.PrincipalRecovered:
		return t.applyRecovered(e)
	case registry.PrincipalSecured:
		return t.applySecured(e)
	case registry.PrincipalCondemned, registry.OriginCondemned, registry.ToolCondemned, registry.ToolReleased:
		return t.applyJudgement(index, e)
	case registry.ToolInspected, registry.ToolObserved:
		return t.applyConduct(index, e)
	case registry.ToolUsed:
		return t.applyUsed(index, e)
	case registry.ObserverEnrolled, registry.ObserverDismissed:
		return t.applyObserver(e)
	case registry.HandleRevoked, registry.DelegationCreated, registry.DelegationRevoked:
		return t.applyHandle(e)
	case registry.ToolContested:
		var d registry.ContestData
		if err := e.Decode(&d); err != nil {
			return err
		}
		return t.put(tableContests, &registry.Contest{Origin: d.Origin, Name: d.Name, Holder: d.Holder, Claimant: d.Claimant, Index: index})
	case registry.TopologyRead:
		return t.applyTopology(index, e)
	case registry.AgentCreated, registry.AgentRevoked:
		return t.applyAgent(e)
	case registry.KeysChanged:
		return t.applyKeys(index, e)
	case registry.DecisionsAnchored:
		return t.applyAnchor(e)
	case registry.LogRestored:
		return t.applyRestored()
	}
	return fmt.Errorf("%w: type %q", registry.ErrEvent, e.Type)
}

func (t *Txn) applyPrincipal(e *registry.Event) error {
	var d registry.PrincipalData
	if err := e.Decode(&d); err != nil {
		return err
	}
	p := &registry.Principal{ID: d.ID, JWK: d.JWK, Recovery: d.Recovery, Created: e.At}
	old, err := t.Principal(d.ID)
	switch {
	case err == nil && e.Type == registry.OperatorEnrolled:
		c := *old
		p = &c
	case err == nil:
		return fmt.Errorf("%w: principal %s exists", ErrApply, d.ID)
	}
	if e.Type == registry.OperatorEnrolled {
		p.Operator = true
	}
	return t.put(tablePrincipals, p)
}

func (t *Txn) applyEnrolled(index uint64, e *registry.Event) error {
	var d registry.EnrolledData
	if err := e.Decode(&d); err != nil {
		return err
	}
	old, err := t.Principal(d.ID)
	if err != nil {
		return fmt.Errorf("%w: principal %s: %w", ErrApply, d.ID, err)
	}
	p := *old
	p.Enrolled = nil
	for _, x := range old.Enrolled {
		if x.Origin != d.Origin {
			p.Enrolled = append(p.Enrolled, x)
		}
	}
	p.Enrolled = append(p.Enrolled, registry.Enrolment{Origin: d.Origin, Index: index})
	if err := t.put(tablePrincipals, &p); err != nil {
		return err
	}
	k := p.ID.Key()
	return t.reweigh(index, e.At, t.AtOrigin(d.Origin, ""), func(x *registry.Tool) bool { return x.Owner == k || x.Publisher == k })
}

func (t *Txn) applyRecovered(e *registry.Event) error {
	var d registry.RecoveredData
	if err := e.Decode(&d); err != nil {
		return err
	}
	old, err := t.Principal(d.From)
	if err != nil {
		return fmt.Errorf("%w: principal %s: %w", ErrApply, d.From, err)
	}
	if _, err := t.Principal(d.To); err != nil {
		return fmt.Errorf("%w: principal %s: %w", ErrApply, d.To, err)
	}
	p := *old
	p.Moved = d.To
	if err := t.put(tablePrincipals, &p); err != nil {
		return err
	}
	// The recovery key goes along, or a second loss would be for good.
	if to, err := t.Principal(d.To); err == nil && to.Recovery == "" && old.Recovery != to.ID.Key() {
		p := *to
		p.Recovery = old.Recovery
		if err := t.put(tablePrincipals, &p); err != nil {
			return err
		}
	}
	return t.spend(d.Accept, e.At) // the tools follow, an event each
}

func (t *Txn) applySecured(e *registry.Event) error {
	var d registry.SecuredData
	if err := e.Decode(&d); err != nil {
		return err
	}
	old, err := t.Principal(d.ID)
	if err != nil || old.Recovery != "" || d.Recovery == "" {
		return fmt.Errorf("%w: recovery key of %s", ErrApply, d.ID)
	}
	p := *old
	p.Recovery = d.Recovery
	return t.put(tablePrincipals, &p)
}

func (t *Txn) applyHandle(e *registry.Event) error {
	var d registry.HandleData
	if err := e.Decode(&d); err != nil {
		return err
	}
	switch e.Type {
	case registry.DelegationCreated:
		if _, err := t.Delegation(d.Jti); err == nil {
			return fmt.Errorf("%w: delegation exists", ErrApply)
		}
		if err := t.forgetDelegations(d.Tool, e.At); err != nil {
			return err
		}
		return t.put(tableDelegations, &registry.Delegation{
			ID: d.Jti, Parent: d.Par, Tool: d.Tool, Gen: d.Gen, To: d.To, Act: d.Act, Exp: d.Exp,
		})
	case registry.DelegationRevoked:
		if old, err := t.Delegation(d.Jti); err == nil {
			if err := t.drop(tableDelegations, old); err != nil {
				return err
			}
		}
	}
	return t.spendUntil(d.Tool, d.Jti, d.Exp, e.At)
}

// forgetDelegations drops two of a tool's delegations that have expired, so
// that delegating for years costs no more than what is alive.
func (t *Txn) forgetDelegations(tool credentials.ToolID, at int64) error {
	gone := collect(t.Delegations(tool), func(d *registry.Delegation) bool { return d.Exp < at/1000-expiredKept })
	for _, d := range gone[:min(2, len(gone))] {
		if err := t.drop(tableDelegations, d); err != nil {
			return err
		}
	}
	return nil
}

// expiredKept is how long after its end a delegation is remembered, so that
// whoever shows it late is told that it has expired.
const expiredKept = 60 * 60

// acceptKept is how long a spent statement is remembered: longer than any can
// live.
const acceptKept = 48 * 60 * 60

func (t *Txn) spend(jti credentials.TokenID, at int64) error {
	if jti == "" {
		return nil
	}
	return t.spendUntil("", jti, at/1000+acceptKept, at)
}

// spendUntil remembers a jti, and forgets two that nobody can use any more, so
// that the table stays as small as what is alive.
func (t *Txn) spendUntil(tool credentials.ToolID, jti credentials.TokenID, exp, at int64) error {
	it, err := t.txn.Get(tableSpent, "exp_prefix", []byte(nil))
	if err != nil {
		return fmt.Errorf("state: %s: %w", tableSpent, err)
	}
	var gone []*spent
	for o := it.Next(); o != nil && len(gone) < 2; o = it.Next() {
		s := o.(*spent)
		if s.Exp >= at/1000-acceptKept {
			break
		}
		gone = append(gone, s)
	}
	for _, s := range gone {
		if err := t.drop(tableSpent, s); err != nil {
			return err
		}
	}
	return t.put(tableSpent, &spent{ID: jti, Tool: tool, Exp: exp})
}

func (t *Txn) applyAgent(e *registry.Event) error {
	var d registry.AgentData
	if err := e.Decode(&d); err != nil {
		return err
	}
	if e.Type == registry.AgentCreated {
		if _, err := t.Agent(d.ID); err == nil {
			return fmt.Errorf("%w: agent %s exists", ErrApply, d.ID)
		}
		if _, err := t.AgentBySecret(d.Secret); err == nil {
			return fmt.Errorf("%w: agent credential exists", ErrApply)
		}
		return t.put(tableAgents, &registry.Agent{ID: d.ID, Name: d.Name, Profile: d.Profile, Secret: d.Secret, Created: e.At})
	}
	old, err := t.Agent(d.ID)
	if err != nil {
		return fmt.Errorf("%w: agent %s: %w", ErrApply, d.ID, err)
	}
	a := *old
	a.Revoked = true
	return t.put(tableAgents, &a)
}

// applyAnchor takes a spool further. It never goes back: what was anchored once
// stays demanded.
func (t *Txn) applyAnchor(e *registry.Event) error {
	var d registry.AnchorData
	if err := e.Decode(&d); err != nil {
		return err
	}
	old, err := t.Anchor(d.Spool)
	if d.Spool == "" || d.Size == 0 || err == nil && d.Size <= old.Size {
		return fmt.Errorf("%w: anchor of %s at %d", ErrApply, d.Spool, d.Size)
	}
	return t.put(tableAnchors, &d)
}

// applyRestored: what was signed before is ended by the keys that are revoked
// with it. Spools are demanded no longer: the backup may have come to a machine
// that never had them, and the restoring is on record.
func (t *Txn) applyRestored() error {
	gone := collect(t.Anchors(), func(*registry.AnchorData) bool { return true })
	for _, a := range gone {
		if err := t.drop(tableAnchors, a); err != nil {
			return err
		}
	}
	return nil
}

func (t *Txn) applyKeys(index uint64, e *registry.Event) error {
	var d registry.KeysData
	if err := e.Decode(&d); err != nil {
		return err
	}
	for _, c := range d.Changes {
		if old, err := t.Key(c.Kid); err == nil && old.State == "revoked" {
			return fmt.Errorf("%w: revoked key %s came back", ErrApply, c.Kid)
		}
		if err := t.put(tableKeys, &registry.Key{ID: c.Kid, Role: c.Role, State: c.To, Reason: c.Reason, Ver: d.Ver, Index: index}); err != nil {
			return err
		}
	}
	return nil
}
