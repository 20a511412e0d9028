package writer

import (
	"errors"
	"fmt"
	"slices"

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
	all := make([]string, len(c.Items))
	for i := range c.Items {
		all[i] = c.Items[i].Name
	}
	if err := p.mayHold(c.Caller.Key(), c.Origin, all); err != nil {
		return err
	}
	if _, err := p.known(c.Caller.Key(), c.JWK); err != nil {
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

// mayHold applies the registration policy, the operator's vetoes and the
// quotas to whoever is to hold names at an origin: by registration or by
// transfer.
func (p *plan) mayHold(key credentials.KeyID, at string, names []string) error {
	o, err := origin.Parse(at)
	if err != nil {
		return err
	}
	site, _ := o.WebOrigin()
	for _, name := range []string{at, site.String()} {
		if x, err := p.tx.Origin(name); err == nil && x.Condemned {
			return registry.ErrCondemned
		}
	}
	pr, err := p.tx.Principal(key.Principal())
	if err != nil && !errors.Is(err, registry.ErrNotFound) {
		return err
	}
	if pr != nil && (pr.Condemned || pr.Moved != "") {
		return registry.ErrCondemned
	}
	if p.policy != registry.PolicyOpen && !p.admitted(pr, key, at, names) {
		return registry.ErrNotEnrolled
	}
	if p.tx.Held(key, at)+len(names) > p.quotas.NamesPerOrigin {
		return fmt.Errorf("%w: names of one principal at one origin", registry.ErrTooMany)
	}
	if p.tx.Owned(key)+len(names) > p.quotas.ToolsPerOwner {
		return fmt.Errorf("%w: tools of one principal", registry.ErrTooMany)
	}
	return nil
}

// admitted reports whether a key is enrolled for the origin, or the origin's
// topology gives it every one of the names.
func (p *plan) admitted(pr *registry.Principal, key credentials.KeyID, at string, names []string) bool {
	if pr != nil {
		if _, ok := pr.EnrolledFor(at); ok {
			return true
		}
	}
	for _, n := range names {
		if !p.tx.Weigh(at, n, key, p.now).Attested {
			return false
		}
	}
	return true
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
		if p.keptFor(old, c.Caller.Key()) {
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

// keptFor reports whether a revoked tool's name is free for a key: it is its
// last owner's (where recovery moved that one, its successor's), and after a
// time anybody's. While a transfer can be undone it is nobody's, or else ending
// the tool and beginning anew would be a way round the undo.
func (p *plan) keptFor(old *registry.Tool, key credentials.KeyID) bool {
	if m, err := p.tx.Transfer(old.Row.Tool); err == nil && len(m.Within(p.at)) > 0 {
		return false
	}
	if old.Owner == key || p.now.Unix() >= old.Kept {
		return true
	}
	pr, err := p.tx.Principal(old.Owner.Principal())
	if err != nil || pr.Moved == "" {
		return false
	}
	to, err := p.returnsTo(pr)
	return err == nil && to == key
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
	if !p.rate.allow(string(t.Row.Tool), p.quotas.Overwrites, p.now) {
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
	if w := p.tx.Weigh(t.Origin, t.Name, c.To, p.now); w.Violated {
		return fmt.Errorf("%w: %q", registry.ErrReserved, t.Name)
	}
	if err := p.mayHold(c.To, t.Origin, []string{t.Name}); err != nil {
		return err
	}
	if m, err := p.tx.Transfer(t.Row.Tool); err == nil && len(m.Within(p.at)) >= registry.MaxMoves {
		return fmt.Errorf("%w: transfers of one tool", registry.ErrTooMany)
	}
	d := next(t)
	d.Gen, d.From, d.To, d.Accept = t.Gen+1, t.Owner, c.To, c.Accept.Jti()
	return p.add(registry.ToolTransferred, d)
}

// undoTransfer takes transfers of the last EmergencyHold back: an operator the
// latest, a recovery key all since its own principal lost the tool, through
// however many hands it went, and also where one of them has ended it.
func (p *plan) undoTransfer(c *registry.UndoTransfer) error {
	t, err := p.tx.Tool(c.Tool)
	if err != nil {
		return err
	}
	m, err := p.tx.Transfer(c.Tool)
	if err != nil {
		return err
	}
	undone, from, err := p.undoes(m, c.Caller)
	if err != nil {
		return err
	}
	if !t.Live && !t.Named {
		return registry.ErrToolRevoked // the origin's topology took the name
	}
	to, err := p.returnsTo(from)
	if err != nil {
		return err
	}
	if pr, err := p.tx.Principal(to.Principal()); err != nil || pr.Condemned {
		return registry.ErrCondemned
	}
	d := next(t)
	d.Gen, d.From, d.To, d.Undoes = t.Gen+1, t.Owner, to, undone
	return p.add(registry.ToolReturned, d)
}

// undoes finds the transfer that a caller may take back, and from whom it was.
func (p *plan) undoes(m *registry.Moved, by registry.Caller) (index uint64, from *registry.Principal, err error) {
	moves := m.Within(p.at)
	known := false
	for _, x := range m.Moves {
		pr, err := p.tx.Principal(x.From.Principal())
		if err != nil {
			return 0, nil, err
		}
		if pr.Recovery != "" && pr.Recovery == by.Key() {
			known = true
			if slices.Contains(moves, x) {
				return x.Index, pr, nil
			}
		}
	}
	if p.operator(by) != nil && !known {
		return 0, nil, registry.ErrNotOwner
	}
	if len(moves) == 0 || known && p.operator(by) != nil {
		return 0, nil, registry.ErrTooLate
	}
	last := moves[len(moves)-1]
	pr, err := p.tx.Principal(last.From.Principal())
	return last.Index, pr, err
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
		if c.Seen != old.Index {
			return fmt.Errorf("%w: the origin was read meanwhile", registry.ErrStaleBase)
		}
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
