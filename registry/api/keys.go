package api

import (
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry"
)

func (s *Server) listKeys(c *call) (*answer, error) {
	list, err := s.opt.Keys.List(c.ctx)
	if err != nil {
		return nil, err
	}
	return ok(list)
}

func (s *Server) rotateKeys(c *call) (*answer, error) {
	var req registry.RotateRequest
	if err := c.decode(&req); err != nil {
		return nil, err
	}
	if req.Role != "" && !credentials.KnownRole(credentials.Role(req.Role)) {
		return nil, at("/role", errRole)
	}
	res, err := s.opt.Keys.Rotate(c.ctx, c.caller.Key().Principal(), req)
	if err != nil {
		return nil, err
	}
	return ok(res)
}

// revokeKey ends a key at once: the epoch has moved on when it returns, and
// with it every token remembered under the old one.
func (s *Server) revokeKey(c *call) (*answer, error) {
	kid, err := credentials.ParseKeyID(c.vars[0])
	if err != nil {
		return nil, err
	}
	reason, err := c.reason()
	if err != nil {
		return nil, err
	}
	if len(reason) > 200 { // what the key ring keeps
		return nil, at("/reason", errReason)
	}
	res, err := s.opt.Keys.Revoke(c.ctx, c.caller.Key().Principal(), kid, reason)
	if err != nil {
		return nil, err
	}
	return ok(res)
}
