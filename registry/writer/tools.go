package writer

import (
	"errors"
	"fmt"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/state"
	"github.com/pratique-dev/pratique/registry/store"
)

func (p *plan) register(c *registry.Register) error {
	if len(c.Items) == 0 || len(c.Items) > registry.MaxBatch || len(c.IDs) != len(c.Items) {
		return fmt.Errorf("%w: 1 to %d tools in one registration", registry.ErrTooMany, registry.MaxBatch)
	}
	o, err := origin.Parse(c.Origin)
	if err != nil {
		return err
	}
	if o.String() != c.Origin {
		return origin.ErrForm
	}
	if o.GatewayOnly() && !c.Caller.Local() {
		return registry.ErrGatewayOrigin
	}
	if err := p.mayRegister(c, o); err != nil {
		return err
	}
	if _, err := p.known(c.Caller.Key(), c.JWK); err != nil {
		return err
	}
	if err := p.quota(c); err != nil {
		return err
	}
	names := make(map[string]bool, len(c.Items))
	for i, it := range c.Items {
		if err := credentials.CheckToolName(it.Name); err != nil {
			return err
		}
		if names[it.Name] {
			return fmt.Errorf("%w: %q is in the request twice", registry.ErrNameTaken, it.Name)
		}
		names[it.Name] = true
		if err := p.nameFree(c, it.Name); err != nil {
			return err
		}
		if err := p.add(registry.ToolRegistered, registry.ToolData{
			ID: c.IDs[i], Origin: c.Origin, Name: it.Name, Gen: 1, Ver: 1, Mdg: it.Digest, N: 1,
		}); err != nil {
			return err
		}
		p.content = append(p.content, store.Blob{Digest: it.Digest, Data: it.Canonical})
	}
	return nil
}

// mayRegister applies the registration policy and the operator's vetoes.
func (p *plan) mayRegister(c *registry.Register, o origin.Origin) error {
	site, _ := o.WebOrigin()
	for _, name := range []string{c.Origin, site.String()} {
		if x, err := p.tx.Origin(name); err == nil && x.Condemned {
			return registry.ErrCondemned
		}
	}
	pr, err := p.tx.Principal(c.Caller.Key().Principal())
	if err != nil && !errors.Is(err, registry.ErrNotFound) {
		return err
	}
	if pr != nil && (pr.Condemned || pr.Moved != "") {
		return registry.ErrCondemned
	}
	if p.policy == registry.PolicyOpen {
		return nil
	}
	if pr != nil {
		if _, ok := pr.EnrolledFor(c.Origin); ok {
			return nil
		}
	}
	for _, it := range c.Items { // a topology row may admit it
		if w := p.tx.Weigh(c.Origin, it.Name, c.Caller.Key(), p.now); !w.Attested {
			return registry.ErrNotEnrolled
		}
	}
	return nil
}

func (p *plan) quota(c *registry.Register) error {
	n := len(c.Items)
	if p.tx.Held(c.Caller.Key(), c.Origin)+n > p.quotas.NamesPerOrigin {
		return fmt.Errorf("%w: names of one principal at one origin", registry.ErrTooMany)
	}
	if p.tx.Owned(c.Caller.Key())+n > p.quotas.ToolsPerOwner {
		return fmt.Errorf("%w: tools of one principal", registry.ErrTooMany)
	}
	return nil
}

// nameFree refuses a name that somebody holds, or that the origin's own
// topology gives to others. A contest is put on record, once per claimant, so
// that the operator sees both parties.
func (p *plan) nameFree(c *registry.Register, name string) error {
	if w := p.tx.Weigh(c.Origin, name, c.Caller.Key(), p.now); w.Violated {
		return fmt.Errorf("%w: %q", registry.ErrReserved, name)
	}
	old, err := p.tx.Named(c.Origin, name)
	if errors.Is(err, registry.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if !old.Live {
		if old.Owner == c.Caller.Key() || p.now.Unix() >= old.Kept {
			return nil
		}
		return fmt.Errorf("%w: %q", registry.ErrNameKept, name)
	}
	if old.Owner == c.Caller.Key() {
		return fmt.Errorf("%w: %q is %s, overwrite it with its handle", registry.ErrNameTaken, name, old.Row.Tool)
	}
	if !p.tx.HasContest(c.Origin, name, c.Caller.Key()) && p.tx.Contested(c.Origin, name) < p.quotas.ContestsPerName {
		p.events, p.content, p.keepsRecord = nil, nil, true
		if err := p.add(registry.ToolContested, registry.ContestData{
			Origin: c.Origin, Name: name, Holder: old.Row.Tool, Claimant: c.Caller.Key(),
		}); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: %q is held by %s", registry.ErrNameTaken, name, old.Owner.Principal())
}

func (p *plan) replace(c *registry.Replace) error {
	t, err := p.holdsBase(c.Holder, credentials.Overwrite, c.Base)
	if err != nil {
		return err
	}
	if c.Item.Name != t.Name {
		return fmt.Errorf("%w: the metadata names %q, the tool is %q", registry.ErrNotFound, c.Item.Name, t.Name)
	}
	if c.Item.Digest == t.Digest {
		return registry.ErrUnchanged
	}
	if pr, err := p.tx.Principal(t.Owner.Principal()); err == nil && pr.Condemned {
		return registry.ErrCondemned
	}
	if !p.rate.allow(t.Row.Tool, p.quotas.Overwrites, p.now) {
		return fmt.Errorf("%w: overwrites of one tool per hour", registry.ErrTooMany)
	}
	d := next(t)
	d.Ver, d.Base, d.Mdg = t.Ver+1, t.Digest, c.Item.Digest
	if h := c.Holder.Claims(); h.Par != "" {
		d.Par = h.Jti
	}
	p.content = append(p.content, store.Blob{Digest: c.Item.Digest, Data: c.Item.Canonical})
	return p.add(registry.ToolOverwritten, d)
}

func (p *plan) revokeTool(c *registry.RevokeTool) error {
	t, err := p.holdsBase(c.Holder, credentials.Revoke, c.Base)
	if err != nil {
		return err
	}
	return p.endTool(t, "")
}

func (p *plan) endTool(t *registry.Tool, reason string) error {
	d := next(t)
	d.Gen, d.Reason = t.Gen+1, reason
	return p.add(registry.ToolRevoked, d)
}

// transfer needs the owner's own handle: a delegate gives nothing away.
func (p *plan) transfer(c *registry.Transfer) error {
	t, err := p.holdsBase(c.Holder, credentials.Delegate, c.Base)
	if err != nil {
		return err
	}
	if c.Holder.Claims().Par != "" {
		return registry.ErrNotOwner
	}
	if c.To == t.Owner {
		return registry.ErrExists
	}
	if err := c.Accept.ForTool(t.Row.Tool, t.Gen, t.Digest, c.To); err != nil {
		return err
	}
	if p.tx.Spent(c.Accept.Jti()) {
		return registry.ErrSpent
	}
	if _, err := p.known(c.To, c.JWK); err != nil {
		return err
	}
	if p.tx.Owned(c.To)+1 > p.quotas.ToolsPerOwner {
		return registry.ErrTooMany
	}
	d := next(t)
	d.Gen, d.From, d.To, d.Accept = t.Gen+1, t.Owner, c.To, c.Accept.Jti()
	return p.add(registry.ToolTransferred, d)
}

func (p *plan) undoTransfer(c *registry.UndoTransfer) error {
	t, err := p.tx.Tool(c.Tool)
	if err != nil {
		return err
	}
	m, err := p.tx.Transfer(c.Tool)
	if err != nil {
		return err
	}
	from, err := p.tx.Principal(m.From.Principal())
	if err != nil {
		return err
	}
	recovers := from.Recovery != "" && from.Recovery == c.Caller.Key()
	if !recovers && p.operator(c.Caller) != nil {
		return registry.ErrNotOwner
	}
	if p.at > m.At+registry.EmergencyHold.Milliseconds() {
		return registry.ErrTooLate
	}
	if !t.Live || t.Owner != m.To {
		return registry.ErrToolRevoked
	}
	to, err := p.returnsTo(from)
	if err != nil {
		return err
	}
	d := next(t)
	d.Gen, d.From, d.To = t.Gen+1, t.Owner, to
	return p.add(registry.ToolReturned, d)
}

// returnsTo is where a former owner's tools go back to: where recovery moved
// it, its lost key must not get them again.
func (p *plan) returnsTo(from *registry.Principal) (credentials.KeyID, error) {
	for hops := 0; from.Moved != ""; hops++ {
		next, err := p.tx.Principal(from.Moved)
		if err != nil || hops > 16 {
			return "", registry.ErrNotFound
		}
		from = next
	}
	return from.ID.Key(), nil
}

func (p *plan) recordTopology(c *registry.RecordTopology) error {
	if err := p.local(c.Caller); err != nil {
		return err
	}
	if old, err := p.tx.Origin(c.Topology.Origin); err == nil && old.Topology != nil {
		if c.Topology.Ver < old.Topology.Ver {
			return fmt.Errorf("%w: topology version fell", registry.ErrStaleBase)
		}
		if old.Topology.Token == c.Topology.Token {
			return registry.ErrUnchanged
		}
	}
	if err := p.add(registry.TopologyRead, c.Topology); err != nil {
		return err
	}
	p.content = append(p.content, store.Blob{Digest: c.Topology.Token, Data: c.Token})
	rows, err := state.ReadRows(c.Topology)
	if err != nil {
		return err
	}
	// What the topology gives to others is revoked in the same breath.
	for t := range p.tx.AtSite(c.Topology.Origin) {
		if t.Live && p.tx.Takes(rows, t) {
			if err := p.endTool(t, state.ReasonTopology); err != nil {
				return err
			}
		}
	}
	return nil
}
