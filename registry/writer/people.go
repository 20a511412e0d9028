package writer

import (
	"errors"
	"fmt"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/registry"
)

func (p *plan) createPrincipal(c *registry.CreatePrincipal) error {
	id := c.Caller.Key().Principal()
	if old, err := p.tx.Principal(id); err == nil {
		return p.secure(old, c)
	} else if !errors.Is(err, registry.ErrNotFound) {
		return err
	}
	if c.Recovery == c.Caller.Key() {
		return fmt.Errorf("%w: the recovery key is the principal's own", registry.ErrExists)
	}
	return p.add(registry.PrincipalCreated, registry.PrincipalData{ID: id, JWK: c.JWK, Recovery: c.Recovery})
}

// secure names the recovery key of a principal that came into being without
// one, by its first registration. It is named once.
func (p *plan) secure(old *registry.Principal, c *registry.CreatePrincipal) error {
	switch {
	case c.Recovery == "" || old.Recovery != "" || c.Recovery == c.Caller.Key():
		return registry.ErrExists
	case old.Condemned || old.Moved != "":
		return registry.ErrCondemned
	}
	return p.add(registry.PrincipalSecured, registry.SecuredData{ID: old.ID, Recovery: c.Recovery})
}

func (p *plan) enrolPrincipal(c *registry.EnrolPrincipal) error {
	if err := p.operator(c.Caller); err != nil {
		return err
	}
	pr, err := p.tx.Principal(c.Principal)
	if err != nil {
		return err
	}
	if pr.Condemned || pr.Moved != "" {
		return registry.ErrCondemned
	}
	if o, err := origin.Parse(c.Origin); err != nil {
		return err
	} else if o.String() != c.Origin {
		return origin.ErrForm
	}
	if len(pr.Enrolled) >= p.quotas.PrincipalsOrigin {
		return fmt.Errorf("%w: origins of one principal", registry.ErrTooMany)
	}
	return p.add(registry.PrincipalEnrolled, registry.EnrolledData{ID: c.Principal, Origin: c.Origin})
}

// recoverPrincipal moves every live tool of a principal to a new key, in one
// batch. The tools keep their ids; every earlier handle ends.
func (p *plan) recoverPrincipal(c *registry.RecoverPrincipal) error {
	from, err := p.tx.Principal(c.From)
	if err != nil {
		return err
	}
	recovers := from.Recovery != "" && from.Recovery == c.Caller.Key()
	if !recovers && p.operator(c.Caller) != nil {
		return registry.ErrNotOwner
	}
	if from.Moved != "" {
		return registry.ErrExists
	}
	if from.Condemned {
		return registry.ErrCondemned
	}
	if c.To == c.From.Key() {
		return registry.ErrExists
	}
	if err := c.Accept.ForAll(c.From, c.To); err != nil {
		return err
	}
	if p.tx.Spent(c.Accept.Jti()) {
		return registry.ErrSpent
	}
	if _, err := p.known(c.To, c.JWK); err != nil {
		return err
	}
	if p.tx.Owned(c.To)+p.tx.Owned(c.From.Key()) > p.quotas.ToolsPerOwner {
		return fmt.Errorf("%w: tools of one principal", registry.ErrTooMany)
	}
	if err := p.add(registry.PrincipalRecovered, registry.RecoveredData{From: c.From, To: c.To.Principal(), Accept: c.Accept.Jti()}); err != nil {
		return err
	}
	for t := range p.tx.OwnedBy(c.From.Key()) {
		if !t.Live {
			continue
		}
		d := next(t)
		d.Gen, d.From, d.To, d.Reason = t.Gen+1, t.Owner, c.To, "recovery"
		if err := p.add(registry.ToolTransferred, d); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) condemn(c *registry.Condemn) error {
	if err := p.operator(c.Caller); err != nil {
		return err
	}
	switch {
	case c.Principal != "":
		pr, err := p.tx.Principal(c.Principal)
		if err != nil {
			return err
		}
		if pr.Condemned {
			return registry.ErrExists
		}
		if pr.ID.Key() == c.Caller.Key() {
			return fmt.Errorf("%w: an operator does not condemn itself", registry.ErrNotOperator)
		}
		return p.add(registry.PrincipalCondemned, registry.ReasonData{ID: c.Principal, Reason: c.Reason})
	case c.Tool != "":
		t, err := p.tx.Tool(c.Tool)
		if err != nil {
			return err
		}
		if t.Condemned {
			return registry.ErrExists
		}
		return p.add(registry.ToolCondemned, registry.ReasonData{Tool: c.Tool, Mdg: t.Digest, Reason: c.Reason, N: t.Events + 1, Last: t.Index})
	}
	if o, err := origin.Parse(c.Origin); err != nil {
		return err
	} else if o.String() != c.Origin {
		return origin.ErrForm
	}
	if o, err := p.tx.Origin(c.Origin); err == nil && o.Condemned {
		return registry.ErrExists
	}
	return p.add(registry.OriginCondemned, registry.ReasonData{Origin: c.Origin, Reason: c.Reason})
}

func (p *plan) releaseTool(c *registry.ReleaseTool) error {
	if err := p.operator(c.Caller); err != nil {
		return err
	}
	t, err := p.tx.Tool(c.Tool)
	if err != nil {
		return err
	}
	switch {
	case !t.Live:
		return registry.ErrToolRevoked
	case t.Digest != c.Base:
		return registry.ErrStaleBase
	case t.Publisher == c.Caller.Key() || t.Owner == c.Caller.Key():
		return fmt.Errorf("%w: nobody releases their own tool", registry.ErrNotOperator)
	}
	return p.add(registry.ToolReleased, registry.ReasonData{Tool: c.Tool, Mdg: c.Base, Reason: c.Reason, N: t.Events + 1, Last: t.Index})
}

func (p *plan) createAgent(c *registry.CreateAgent) error {
	if err := p.operator(c.Caller); err != nil {
		return err
	}
	if _, err := p.tx.Agent(c.Agent); err == nil {
		return registry.ErrExists
	}
	return p.add(registry.AgentCreated, registry.AgentData{ID: c.Agent, Name: c.Name, Profile: c.Profile, Secret: c.Secret})
}

func (p *plan) revokeAgent(c *registry.RevokeAgent) error {
	if err := p.operator(c.Caller); err != nil {
		return err
	}
	a, err := p.tx.Agent(c.Agent)
	if err != nil {
		return err
	}
	if a.Revoked {
		return registry.ErrExists
	}
	return p.add(registry.AgentRevoked, registry.AgentData{ID: c.Agent})
}

func (p *plan) recordKeys(c *registry.RecordKeys) error {
	if err := p.local(c.Caller); err != nil {
		return err
	}
	d := registry.KeysData{Ver: c.Keys.Ver, By: c.Keys.By}
	for _, k := range c.Keys.Changes {
		if old, err := p.tx.Key(k.Kid); err == nil && old.State == "revoked" {
			continue // on record already: a revocation is final
		}
		d.Changes = append(d.Changes, k)
	}
	if len(d.Changes) == 0 {
		return registry.ErrUnchanged
	}
	return p.add(registry.KeysChanged, d)
}

func (p *plan) enrolOperator(c *registry.EnrolOperator) error {
	if err := p.local(c.Caller); err != nil {
		return err
	}
	id, err := principalOf(c.JWK)
	if err != nil {
		return err
	}
	if pr, err := p.tx.Principal(id); err == nil && pr.Operator {
		return registry.ErrExists
	}
	return p.add(registry.OperatorEnrolled, registry.PrincipalData{ID: id, JWK: c.JWK})
}

func (p *plan) recordRestore(c *registry.RecordRestore) error {
	if err := p.local(c.Caller); err != nil {
		return err
	}
	return p.add(registry.LogRestored, registry.RestoredData{Size: c.Size, Reason: c.Reason})
}

// recordAnchor takes a spool's anchor further; one that does not is refused.
func (p *plan) recordAnchor(c *registry.RecordAnchor) error {
	if err := p.local(c.Caller); err != nil {
		return err
	}
	if c.Anchor.Spool == "" || c.Anchor.Size == 0 {
		return registry.ErrNotFound
	}
	if old, err := p.tx.Anchor(c.Anchor.Spool); err == nil && c.Anchor.Size <= old.Size {
		return registry.ErrUnchanged
	}
	return p.add(registry.DecisionsAnchored, c.Anchor)
}

// principalOf is the principal whose public key this is.
func principalOf(jwk []byte) (credentials.PrincipalID, error) {
	k, err := envelope.ParseJWK(jwk)
	if err != nil {
		return "", err
	}
	return k.ID.Principal(), nil
}
