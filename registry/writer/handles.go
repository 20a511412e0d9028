package writer

import (
	"fmt"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry"
)

// owns is the tool that the holder owns: acts on handles themselves are the
// owner's, not a delegate's.
func (p *plan) owns(h registry.Holder) (*registry.Tool, error) {
	t, err := p.shows(h)
	if err != nil {
		return nil, err
	}
	if h.Claims().Par != "" {
		return nil, registry.ErrNotOwner
	}
	return t, nil
}

func (p *plan) revokeHandles(c *registry.RevokeHandles) error {
	t, err := p.owns(c.Holder)
	if err != nil {
		return err
	}
	d := next(t)
	d.Gen = t.Gen + 1
	return p.add(registry.HandlesRevoked, d)
}

func (p *plan) revokeHandle(c *registry.RevokeHandle) error {
	t, err := p.shows(c.Holder)
	if err == nil && c.Jti != c.Holder.Claims().Jti { // whoever holds a handle may end that one
		t, err = p.owns(c.Holder)
	}
	if err != nil {
		return err
	}
	if p.tx.Revoked(t.Row.Tool, c.Jti) {
		return registry.ErrExists
	}
	exp := c.Exp
	if latest := p.now.Add(credentials.MaxHandleLife + time.Minute); exp.IsZero() || exp.After(latest) {
		exp = latest
	}
	return p.add(registry.HandleRevoked, registry.HandleData{Jti: c.Jti, Tool: t.Row.Tool, Gen: t.Gen, Exp: exp.Unix()})
}

func (p *plan) createDelegation(c *registry.CreateDelegation) error {
	h := c.Holder.Claims()
	t, err := p.holds(c.Holder, credentials.Delegate)
	if err != nil {
		return err
	}
	if h.Par != "" {
		return registry.ErrDepth
	}
	if err := credentials.CheckActions(c.Act); err != nil {
		return err
	}
	for _, a := range c.Act {
		if a == credentials.Delegate {
			return registry.ErrDepth
		}
	}
	exp := c.Exp.Unix()
	if !credentials.Narrower(c.Act, h.Act) || exp > h.Exp {
		return registry.ErrWider
	}
	if exp <= p.now.Unix() {
		return registry.ErrTooLate
	}
	if c.To == t.Owner {
		return fmt.Errorf("%w: the delegate is the owner", registry.ErrExists)
	}
	if _, err := p.known(c.To, c.JWK); err != nil {
		return err
	}
	n := 0
	for d := range p.tx.Delegations(t.Row.Tool) {
		if d.Gen == t.Gen && d.Exp > p.now.Unix() {
			n++
		}
	}
	if n >= p.quotas.DelegationsTool {
		return fmt.Errorf("%w: delegations of one tool", registry.ErrTooMany)
	}
	return p.add(registry.DelegationCreated, registry.HandleData{
		Jti: c.Jti, Par: h.Jti, Tool: t.Row.Tool, Gen: t.Gen, To: c.To, Act: c.Act, Exp: exp,
	})
}

func (p *plan) revokeDelegation(c *registry.RevokeDelegation) error {
	t, err := p.owns(c.Holder)
	if err != nil {
		return err
	}
	d, err := p.tx.Delegation(c.Jti)
	if err != nil {
		return err
	}
	if d.Tool != t.Row.Tool {
		return registry.ErrNotOwner
	}
	return p.add(registry.DelegationRevoked, registry.HandleData{Jti: d.ID, Par: d.Parent, Tool: d.Tool, Gen: d.Gen, To: d.To, Exp: d.Exp})
}
