package api

import (
	"errors"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/store"
)

func observationRoutes() []*route {
	return []*route{
		{method: post, path: "/v1/tools/{id}/observations", op: string(proof.ToolReport), who: key, about: pathTool, body: maxSmallBody, do: (*Server).reportTool,
			id: "reportTool", tag: "tools", summary: "Report what an enrolled observer saw a tool do", takes: registry.ObservationRequest{},
			gives: registry.ObservationView{}, status: 200, codes: anyCodes + "bad_id bad_observation not_observer own_tool not_found tool_revoked stale_base stale_generation spent exists"},
		{method: get, path: "/v1/reviews", op: string(proof.OperatorRead), do: (*Server).listReviews,
			id: "listReviews", tag: "tools", summary: "List versions against which an observer's word stands", query: []parameter{{"tool", "a tool's id", "string", false}},
			gives: registry.ReviewList{}, status: 200, codes: "bad_parameter bad_id"},
		{method: post, path: "/v1/principals/{id}/observer", op: string(proof.ObserverEnrol), do: (*Server).enrolObserver,
			id: "enrolObserver", tag: "principals", summary: "Enrol a principal as an observer",
			gives: registry.PrincipalView{}, status: 200, codes: anyCodes + "bad_id not_found exists condemned"},
		{method: del, path: "/v1/principals/{id}/observer", op: string(proof.ObserverDismiss), do: (*Server).dismissObserver,
			id: "dismissObserver", tag: "principals", summary: "Dismiss an observer; what it reported stays",
			gives: registry.PrincipalView{}, status: 200, codes: anyCodes + "bad_id not_found exists"},
	}
}

// reportTool takes an observer's statement. The proof is of the key that signed
// it: who knows of a statement cannot send it for its signer.
func (s *Server) reportTool(c *call) (*answer, error) {
	var req registry.ObservationRequest
	if err := c.decode(&req); err != nil {
		return nil, err
	}
	if !c.view.IsObserver(c.caller.Key()) { // before a signature is checked
		return nil, registry.ErrNotObserver
	}
	o, err := registry.OpenObservation(req.Observation, c.proof.Key(), s.opt.ExternalURL, c.now)
	if err == nil && o.Claims().Sub != c.proof.ToolID() {
		err = credentials.ErrClaims
	}
	if err != nil {
		return nil, at("/observation", &reportError{err})
	}
	v, out, err := s.do(c, req.Command, &registry.ReportTool{Tool: c.proof.ToolID(), Observation: o, Token: []byte(req.Observation)})
	if err != nil {
		return nil, err
	}
	t, err := v.Tool(c.proof.ToolID())
	if err != nil {
		return nil, err
	}
	view := registry.ObservationView{Tool: t.Row.Tool, Recorded: len(out.Events) > 0, Content: t.ContentAt(c.now).String()}
	if view.Recorded {
		view.Index = out.Index
	}
	return ok(view)
}

func (s *Server) enrolObserver(c *call) (*answer, error) {
	id, err := credentials.ParsePrincipalID(c.vars[0])
	if err != nil {
		return nil, err
	}
	return s.aboutPrincipal(c, id, &registry.EnrolObserver{Principal: id})
}

func (s *Server) dismissObserver(c *call) (*answer, error) {
	id, err := credentials.ParsePrincipalID(c.vars[0])
	if err != nil {
		return nil, err
	}
	return s.aboutPrincipal(c, id, &registry.DismissObserver{Principal: id})
}

// listReviews shows what only operators see of an observation: what was seen.
func (s *Server) listReviews(c *call) (*answer, error) {
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	tool := credentials.ToolID(q.Get("tool"))
	if tool != "" {
		if _, err := credentials.ParseToolID(string(tool)); err != nil {
			return nil, at("tool", err)
		}
	}
	list := registry.ReviewList{Reviews: []registry.ReviewView{}}
	for r := range c.view.Reviews(tool) {
		if len(list.Reviews) == maxPage {
			break
		}
		x, err := s.reviewView(c, r)
		if err != nil {
			return nil, err
		}
		list.Reviews = append(list.Reviews, x)
	}
	return ok(list)
}

func (s *Server) reviewView(c *call, r *registry.Review) (registry.ReviewView, error) {
	t, err := c.view.Tool(r.Tool)
	if err != nil {
		return registry.ReviewView{}, err
	}
	said, err := s.said(c, r.Token)
	if err != nil {
		return registry.ReviewView{}, err
	}
	return registry.ReviewView{
		Tool: r.Tool, Origin: t.Origin, Name: t.Name, Owner: t.Owner.Principal(), Generation: r.Gen, Version: r.Ver, Digest: r.Mdg,
		Content: t.ContentAt(c.now).String(), Observer: r.By.Principal(), Saw: said.Saw, Index: r.Index, At: time.UnixMilli(r.At).UTC(),
	}, nil
}

// said is what an observer's statement says, which was verified when it came.
func (s *Server) said(c *call, d credentials.Digest) (*registry.ObservationClaims, error) {
	b, err := s.opt.Log.Content(c.ctx, d)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if err != nil || canon.Digest(registry.ObservationContext, b) != d {
		return nil, errContent
	}
	u, err := envelope.Precheck(string(b), envelope.Observation)
	if err != nil {
		return nil, errContent
	}
	var said registry.ObservationClaims
	if canon.Unmarshal(u.Payload, &said, canon.Limits{}) != nil {
		return nil, errContent
	}
	return &said, nil
}
