package api

import (
	"errors"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/state"
	"github.com/pratique-dev/pratique/registry/writer"

	"github.com/go-json-experiment/json"
)

// TopologyContext is the digest context of a topology's token in the log.
const TopologyContext = "pratique/topology/v1"

// readTopology has the registry itself read a site's topology: what the caller
// says of it counts for nothing (RULES.md 16). A reading that fails changes
// nothing, so what was attested before stays so until it expires.
func (s *Server) readTopology(c *call) (*answer, error) {
	var req registry.TopologyRequest
	if err := c.decode(&req); err != nil {
		return nil, err
	}
	o, err := parseOrigin("/origin", req.Origin)
	if err != nil {
		return nil, err
	}
	site, has := o.WebOrigin()
	if !has || s.opt.Fetcher == nil {
		return nil, registry.ErrGatewayOrigin
	}
	resp, err := s.opt.Fetcher.Get(c.ctx, site.TopologyURL(), labels.TopologyMediaType)
	if err != nil {
		return nil, err
	}
	t, err := openTopology(c.view, site, resp.Body, c)
	if err != nil {
		return nil, &topologyError{err}
	}
	cmd, err := s.reading(c, site, t)
	if err != nil {
		return nil, err
	}
	out, err := s.opt.Record.Do(c.ctx, cmd)
	if errors.Is(err, registry.ErrStaleBase) { // another reading came in between: this one was held against less
		return nil, &topologyError{labels.ErrRolledBack}
	}
	if err != nil && !errors.Is(err, registry.ErrUnchanged) {
		return nil, err
	}
	v, err := s.opt.Record.View()
	if err != nil {
		return nil, err
	}
	view, err := topologyView(v, site.String())
	if err != nil {
		return nil, err
	}
	for i := range out.Events {
		if out.Events[i].Type == registry.ToolRevoked {
			view.Revoked++
		}
	}
	return ok(view)
}

// reading is the command that puts a topology on record, with the reading that
// it was held against.
func (s *Server) reading(c *call, site origin.Origin, t *labels.Topology) (*registry.RecordTopology, error) {
	rows, err := t.RowsJSON()
	if err != nil {
		return nil, err
	}
	cmd := &registry.RecordTopology{Token: []byte(t.Token), Topology: registry.TopologyData{
		Origin: site.String(), Ver: t.Ver, Site: t.Site, Token: canon.Digest(TopologyContext, []byte(t.Token)),
		Exp: t.Expires.Unix(), Rows: rows,
	}}
	if rec, err := c.view.Origin(site.String()); err == nil && rec.Topology != nil {
		cmd.Seen = rec.Index
	}
	// What was read is the service's own finding, whoever asked for the reading.
	cmd.CommandMeta = registry.CommandMeta{ID: registry.CommandID(s.newToken()), Req: cmd.Topology.Token, Caller: registry.UnsafeLocal("")}
	return cmd, nil
}

// openTopology holds what was read against what is known. A new site key that
// the old one did not sign counts where the operator enrolled it for the site.
func openTopology(v *writer.Snapshot, site origin.Origin, body []byte, c *call) (*labels.Topology, error) {
	var known labels.Known
	if rec, err := v.Origin(site.String()); err == nil {
		known.Topology = rec.Declared()
	}
	t, err := labels.OpenTopology(site, body, known, c.now)
	if !errors.Is(err, labels.ErrSiteKey) || known.Topology == nil {
		return t, err
	}
	var doc labels.TopologyDocument
	if json.Unmarshal(body, &doc) != nil {
		return nil, err
	}
	k, keyErr := envelope.ParseJWK(doc.Key)
	if keyErr != nil {
		return nil, err
	}
	p, findErr := v.Principal(k.ID.Principal())
	if findErr != nil || p.Condemned {
		return nil, err
	}
	if _, enrolled := p.EnrolledFor(site.String()); !enrolled {
		return nil, err
	}
	known.Enrolled = []credentials.KeyID{k.ID}
	return labels.OpenTopology(site, body, known, c.now)
}

func (s *Server) showTopology(c *call) (*answer, error) {
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	o, err := parseOrigin("origin", q.Get("origin"))
	if err != nil {
		return nil, err
	}
	v, err := s.opt.Record.View()
	if err != nil {
		return nil, err
	}
	site, has := o.WebOrigin()
	if !has {
		return nil, registry.ErrNotFound
	}
	view, err := topologyView(v, site.String())
	if err != nil {
		return nil, err
	}
	return ok(view)
}

func topologyView(v *writer.Snapshot, name string) (registry.TopologyView, error) {
	o, err := v.Origin(name)
	if err != nil {
		return registry.TopologyView{}, err
	}
	return viewOfOrigin(o), nil
}

func viewOfOrigin(o *state.Origin) registry.TopologyView {
	view := registry.TopologyView{Origin: o.Name, Condemned: o.Condemned}
	if t := o.Topology; t != nil {
		view.Version, view.Site, view.Rows, view.Index = t.Ver, t.Site, t.Rows, o.Index
		view.Expires = seconds(t.Exp)
	}
	return view
}

func (s *Server) condemnOrigin(c *call) (*answer, error) {
	var req registry.OriginReasonRequest
	if err := c.decode(&req); err != nil {
		return nil, err
	}
	o, err := parseOrigin("/origin", req.Origin)
	if err != nil {
		return nil, err
	}
	reason, err := checkReason(req.Reason)
	if err != nil {
		return nil, err
	}
	v, _, err := s.do(c, "", &registry.Condemn{Origin: o.String(), Reason: reason})
	if err != nil {
		return nil, err
	}
	view, err := topologyView(v, o.String())
	if err != nil {
		return nil, err
	}
	return ok(view)
}

func (s *Server) listContests(c *call) (*answer, error) {
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	name := ""
	if raw := q.Get("origin"); raw != "" {
		o, err := parseOrigin("origin", raw)
		if err != nil {
			return nil, err
		}
		name = o.String()
	}
	list := registry.ContestList{Contests: []registry.ContestView{}}
	for x := range c.view.Contests(name) {
		if len(list.Contests) == maxPage {
			break
		}
		view := registry.ContestView{Origin: x.Origin, Name: x.Name, Holder: x.Holder, Claimant: x.Claimant.Principal(), Index: x.Index}
		if t, err := c.view.Tool(x.Holder); err == nil {
			view.Owner = t.Owner.Principal()
		}
		list.Contests = append(list.Contests, view)
	}
	return ok(list)
}
