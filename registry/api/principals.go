package api

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/writer"
)

// maxReason is the longest reason of an operator's act, in bytes.
const maxReason = 500

func (s *Server) createPrincipal(c *call) (*answer, error) {
	var req registry.PrincipalRequest
	if err := c.decode(&req); err != nil {
		return nil, err
	}
	cmd := &registry.CreatePrincipal{JWK: c.proof.Key().JWK()}
	if len(req.RecoveryKey) > 0 {
		k, err := publicKey("/recovery_key", req.RecoveryKey)
		if err != nil {
			return nil, err
		}
		cmd.Recovery = k.ID
	}
	v, _, err := s.do(c, "", cmd)
	if err != nil {
		return nil, err
	}
	p, err := principalView(v, c.caller.Key().Principal())
	if err != nil {
		return nil, err
	}
	return created(p)
}

func (s *Server) showPrincipal(c *call) (*answer, error) {
	id, err := credentials.ParsePrincipalID(c.vars[0])
	if err != nil {
		return nil, err
	}
	v, err := s.opt.Record.View()
	if err != nil {
		return nil, err
	}
	p, err := principalView(v, id)
	if err != nil {
		return nil, err
	}
	return ok(p)
}

func (s *Server) enrolPrincipal(c *call) (*answer, error) {
	id, err := credentials.ParsePrincipalID(c.vars[0])
	if err != nil {
		return nil, err
	}
	var req registry.EnrolRequest
	if err := c.decode(&req); err != nil {
		return nil, err
	}
	o, err := parseOrigin("/origin", req.Origin)
	if err != nil {
		return nil, err
	}
	return s.aboutPrincipal(c, id, &registry.EnrolPrincipal{Principal: id, Origin: o.String()})
}

func (s *Server) condemnPrincipal(c *call) (*answer, error) {
	id, err := credentials.ParsePrincipalID(c.vars[0])
	if err != nil {
		return nil, err
	}
	reason, err := c.reason()
	if err != nil {
		return nil, err
	}
	return s.aboutPrincipal(c, id, &registry.Condemn{Principal: id, Reason: reason})
}

// recoverPrincipal answers with the principal that has the tools now.
func (s *Server) recoverPrincipal(c *call) (*answer, error) {
	from, err := credentials.ParsePrincipalID(c.vars[0])
	if err != nil {
		return nil, err
	}
	var req registry.RecoverRequest
	if err := c.decode(&req); err != nil {
		return nil, err
	}
	to, accept, err := s.acceptance(c, "/new_key", req.NewKey, req.Accept)
	if err != nil {
		return nil, err
	}
	return s.aboutPrincipal(c, to.ID.Principal(), &registry.RecoverPrincipal{From: from, To: to.ID, JWK: to.JWK(), Accept: accept})
}

// aboutPrincipal carries a command out and shows what became of a principal.
func (s *Server) aboutPrincipal(c *call, id credentials.PrincipalID, cmd registry.Command) (*answer, error) {
	v, _, err := s.do(c, "", cmd)
	if err != nil {
		return nil, err
	}
	p, err := principalView(v, id)
	if err != nil {
		return nil, err
	}
	return ok(p)
}

// do sends a command and returns what it did, with a view that shows it.
func (s *Server) do(c *call, id registry.CommandID, cmd registry.Command) (*writer.Snapshot, registry.Outcome, error) {
	meta, err := c.command(id)
	if err != nil {
		return nil, registry.Outcome{}, err
	}
	*cmd.Meta() = meta
	out, err := s.opt.Record.Do(c.ctx, cmd)
	if err != nil {
		return nil, out, err
	}
	v, err := s.opt.Record.View()
	if err != nil {
		// It was done and must not look undone: the view from before serves for
		// what the outcome does not say.
		return c.view, out, nil
	}
	return v, out, nil
}

func principalView(v *writer.Snapshot, id credentials.PrincipalID) (registry.PrincipalView, error) {
	p, err := v.Principal(id)
	if err != nil {
		return registry.PrincipalView{}, err
	}
	out := registry.PrincipalView{
		ID: p.ID, JWK: p.JWK, Recovery: p.Recovery, Enrolled: make([]string, 0, len(p.Enrolled)), Operator: p.Operator,
		Observer: p.Observer, Condemned: p.Condemned, Tools: v.Owned(p.ID.Key()), Created: time.UnixMilli(p.Created).UTC(),
	}
	for _, e := range p.Enrolled {
		out.Enrolled = append(out.Enrolled, e.Origin)
	}
	return out, nil
}

// reason reads the body of an operator's act.
func (c *call) reason() (string, error) {
	var req registry.ReasonRequest
	if err := c.decode(&req); err != nil {
		return "", err
	}
	return checkReason(req.Reason)
}

func checkReason(s string) (string, error) {
	if s == "" || len(s) > maxReason {
		return "", at("/reason", errReason)
	}
	for _, r := range s {
		if r < ' ' || r == 0x7f {
			return "", at("/reason", errReason)
		}
	}
	return s, nil
}

func parseOrigin(field, s string) (origin.Origin, error) {
	o, err := origin.Parse(s)
	if err != nil {
		return o, at(field, &originError{err})
	}
	return o, nil
}

// acceptance reads a recipient's key and its statement.
func (s *Server) acceptance(c *call, field string, jwk jsontext.Value, token string) (envelope.Key, registry.Acceptance, error) {
	to, err := publicKey(field, jwk)
	if err != nil {
		return to, registry.Acceptance{}, err
	}
	a, err := registry.OpenAcceptance(token, to, s.opt.ExternalURL, c.now)
	if err != nil {
		return to, a, at("/accept", &acceptError{err})
	}
	return to, a, nil
}
