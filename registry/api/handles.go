package api

import (
	"slices"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/writer"
)

// A grant says for whom a handle is made. An owner's has no parent.
type grant struct {
	to    credentials.KeyID
	act   []credentials.Action
	jti   credentials.TokenID // of a delegation; empty: drawn
	par   credentials.TokenID
	until int64 // seconds since the epoch, of a delegation
}

func ownersGrant(t *registry.Tool) grant {
	return grant{to: t.Owner, act: credentials.AllActions()}
}

// grantOf is the grant that a handle was made under: an owner's is as wide as
// the owner's right, a delegate's never wider or longer than its delegation.
func grantOf(v *writer.Snapshot, h *credentials.HandleClaims) grant {
	if h.Par == "" {
		return grant{to: h.Cnf.Jkt, act: credentials.AllActions()}
	}
	if d, err := v.Delegation(h.Jti); err == nil {
		return delegatesGrant(d)
	}
	return grant{to: h.Cnf.Jkt, act: h.Act, jti: h.Jti, par: h.Par, until: h.Exp}
}

func delegatesGrant(d *registry.Delegation) grant {
	return grant{to: d.To, act: d.Act, jti: d.ID, par: d.Parent, until: d.Exp}
}

// claims are those of a handle for the tool as t has it. The life never
// exceeds what the key ring keeps the signing key for (Options.HandleLife).
func (s *Server) claims(t *registry.Tool, g grant, now time.Time) *credentials.HandleClaims {
	jti := g.jti
	if jti == "" {
		jti = s.newToken()
	}
	h := &credentials.HandleClaims{
		Registered: credentials.NewRegistered(s.opt.ExternalURL, jti, now, s.opt.HandleLife),
		Sub:        t.Owner.Principal(), Aud: s.opt.ExternalURL, ToolID: t.Row.Tool, Gen: t.Gen, Ver: t.Ver, Mdg: t.Digest,
		Act: g.act, Cnf: credentials.Confirmation{Jkt: g.to}, Prv: t.Level,
	}
	if g.par != "" {
		h.Par, h.Dpt = g.par, 1
		h.Exp = min(h.Exp, g.until)
	}
	return h
}

// mint signs a handle. Where the origin's topology leaves its publisher no
// action at all, there is no handle.
func (s *Server) mint(v *writer.Snapshot, t *registry.Tool, g grant, now time.Time) (string, time.Time, error) {
	g.act = narrow(v, t, g.act, now)
	if len(g.act) == 0 {
		return "", time.Time{}, nil
	}
	h := s.claims(t, g, now)
	tok, err := s.opt.Signer.SignToken(envelope.Handle, h)
	if err != nil {
		return "", time.Time{}, err
	}
	return tok, time.Unix(h.Exp, 0).UTC(), nil
}

func (s *Server) handleView(v *writer.Snapshot, t *registry.Tool, g grant, c *call) (registry.HandleView, error) {
	tok, exp, err := s.mint(v, t, g, c.now)
	if err != nil {
		return registry.HandleView{}, err
	}
	return registry.HandleView{ToolView: t.View(), Handle: tok, Expires: exp}, nil
}

// narrow takes away the actions that the origin's topology does not give to
// whoever published the tool. An expired topology goes on restricting.
func narrow(v *writer.Snapshot, t *registry.Tool, act []credentials.Action, now time.Time) []credentials.Action {
	o, err := origin.Parse(t.Origin)
	if err != nil {
		return act
	}
	site, has := o.WebOrigin()
	if !has {
		return act
	}
	rec, err := v.Origin(site.String())
	if err != nil || rec.Declared() == nil {
		return act
	}
	f := rec.Declared().Evaluate(labels.Registration{Name: t.Name, Publisher: t.Owner, Held: true}, now)
	if f.Actions == nil {
		return act
	}
	var out []credentials.Action
	for _, a := range act {
		if slices.Contains(f.Actions, a) {
			out = append(out, a)
		}
	}
	return out
}

// renewHandle needs no old handle: the key alone proves the right, so that
// holders go on after a handle or a signing key of ours was lost.
func (s *Server) renewHandle(c *call) (*answer, error) {
	t, err := c.view.Tool(c.proof.ToolID())
	if err != nil {
		if c.view, err = s.opt.Record.Barrier(c.ctx); err != nil {
			return nil, err
		}
		if t, err = c.view.Tool(c.proof.ToolID()); err != nil {
			return nil, err
		}
	}
	if !t.Live {
		return nil, registry.ErrToolRevoked
	}
	g := ownersGrant(t)
	if t.Owner != c.caller.Key() {
		d := s.delegationFor(c, t)
		if d == nil {
			return nil, registry.ErrNotOwner
		}
		g = delegatesGrant(d)
	}
	for _, k := range []credentials.KeyID{t.Owner, g.to} {
		if p, err := c.view.Principal(k.Principal()); err == nil && p.Condemned {
			return nil, registry.ErrCondemned
		}
	}
	h, err := s.handleView(c.view, t, g, c)
	if err != nil {
		return nil, err
	}
	if h.Handle == "" {
		return nil, registry.ErrAction
	}
	return ok(h)
}

// delegationFor is the delegation of the tool to the caller that lives
// longest, or nil. What the view would refuse in a handle is not renewed.
func (s *Server) delegationFor(c *call, t *registry.Tool) *registry.Delegation {
	var best *registry.Delegation
	for d := range c.view.Delegations(t.Row.Tool) {
		if d.To != c.caller.Key() || d.Exp <= c.now.Unix() || best != nil && best.Exp >= d.Exp {
			continue
		}
		if c.view.Live(s.claims(t, delegatesGrant(d), c.now)) == nil {
			best = d
		}
	}
	return best
}

func (s *Server) revokeHandles(c *call) (*answer, error) {
	return s.aboutTool(c, "", &registry.RevokeHandles{Holder: c.holder})
}

func (s *Server) revokeHandle(c *call) (*answer, error) {
	jti, err := credentials.ParseTokenID(c.vars[0])
	if err != nil {
		return nil, err
	}
	return s.aboutTool(c, "", &registry.RevokeHandle{Holder: c.holder, Jti: jti})
}
