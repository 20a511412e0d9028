package api

import (
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry"
)

func (s *Server) createDelegation(c *call) (*answer, error) {
	var req registry.DelegationRequest
	if err := c.decode(&req); err != nil {
		return nil, err
	}
	to, err := publicKey("/to", req.To)
	if err != nil {
		return nil, err
	}
	if err := credentials.CheckActions(req.Actions); err != nil {
		return nil, at("/actions", err)
	}
	v, out, err := s.do(c, req.Command, &registry.CreateDelegation{
		Holder: c.holder, Jti: s.newToken(), To: to.ID, JWK: to.JWK(), Act: req.Actions, Exp: req.Expires,
	})
	if err != nil {
		return nil, err
	}
	var d registry.HandleData
	if err := firstOf(out, registry.DelegationCreated, &d); err != nil {
		return nil, err
	}
	del := &registry.Delegation{ID: d.Jti, Parent: d.Par, Tool: d.Tool, Gen: d.Gen, To: d.To, Act: d.Act, Exp: d.Exp}
	t, err := v.Tool(d.Tool)
	if err != nil {
		return nil, err
	}
	row := *t
	row.Gen = d.Gen
	view := delegationView(del)
	if view.Handle, _, err = s.mint(v, &row, delegatesGrant(del), c.now); err != nil {
		return nil, err
	}
	return created(view)
}

func (s *Server) revokeDelegation(c *call) (*answer, error) {
	jti, err := credentials.ParseTokenID(c.vars[0])
	if err != nil {
		return nil, err
	}
	_, out, err := s.do(c, "", &registry.RevokeDelegation{Holder: c.holder, Jti: jti})
	if err != nil {
		return nil, err
	}
	var d registry.HandleData
	if err := firstOf(out, registry.DelegationRevoked, &d); err != nil {
		return nil, err
	}
	view := delegationView(&registry.Delegation{ID: d.Jti, Parent: d.Par, Tool: d.Tool, To: d.To, Exp: d.Exp, Act: d.Act})
	if old, err := c.view.Delegation(jti); err == nil {
		view = delegationView(old)
	}
	return ok(view)
}

// listDelegations is for the owner: a delegate learns nothing of others.
func (s *Server) listDelegations(c *call) (*answer, error) {
	if c.holder.Claims().Par != "" {
		return nil, registry.ErrNotOwner
	}
	tool := c.holder.Claims().ToolID
	t, err := c.view.Tool(tool)
	if err != nil {
		return nil, err
	}
	list := registry.DelegationList{Delegations: []registry.DelegationView{}}
	for d := range c.view.Delegations(tool) {
		if d.Gen == t.Gen && d.Exp > c.now.Unix() && !c.view.Revoked(tool, d.Parent) {
			list.Delegations = append(list.Delegations, delegationView(d))
		}
	}
	return ok(list)
}

func delegationView(d *registry.Delegation) registry.DelegationView {
	act := d.Act
	if act == nil {
		act = []credentials.Action{}
	}
	return registry.DelegationView{ID: d.ID, Parent: d.Parent, Tool: d.Tool, To: d.To, Actions: act, Expires: time.Unix(d.Exp, 0).UTC()}
}
