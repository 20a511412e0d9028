package api

import (
	"encoding/base64"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/registry"
)

// AgentSecretContext is the digest context under which the record knows an
// agent's credential: canon.Digest(AgentSecretContext, credential).
const AgentSecretContext = "pratique/agent-credential/v1"

// AgentCredentialPrefix is how an agent's credential begins, so that scanners
// of leaked secrets find it.
const AgentCredentialPrefix = "pratique_agent_"

// createAgent issues a credential. It is shown in this answer only: a retry
// that finds the command done gets the agent without it.
func (s *Server) createAgent(c *call) (*answer, error) {
	var req registry.AgentRequest
	if err := c.decode(&req); err != nil {
		return nil, err
	}
	if credentials.CheckToolName(req.Name) != nil || credentials.CheckToolName(req.Profile) != nil {
		return nil, errAgent
	}
	var secret [32]byte
	s.random(secret[:])
	credential := AgentCredentialPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
	cmd := &registry.CreateAgent{
		Agent: credentials.AgentID("agt_" + s.newULID(c.now)), Name: req.Name, Profile: req.Profile,
		Secret: canon.Digest(AgentSecretContext, []byte(credential)),
	}
	v, out, err := s.do(c, "", cmd)
	if err != nil {
		return nil, err
	}
	var d registry.AgentData
	if err := firstOf(out, registry.AgentCreated, &d); err != nil {
		return nil, err
	}
	a, err := v.Agent(d.ID)
	if err != nil {
		return nil, err
	}
	view := agentView(a)
	if d.Secret == cmd.Secret {
		view.Credential = credential
	}
	return created(view)
}

func (s *Server) listAgents(c *call) (*answer, error) {
	list := registry.AgentList{Agents: []registry.AgentView{}}
	for a := range c.view.Agents() {
		list.Agents = append(list.Agents, agentView(a))
	}
	return ok(list)
}

func (s *Server) revokeAgent(c *call) (*answer, error) {
	id, err := credentials.ParseAgentID(c.vars[0])
	if err != nil {
		return nil, err
	}
	v, _, err := s.do(c, "", &registry.RevokeAgent{Agent: id})
	if err != nil {
		return nil, err
	}
	a, err := v.Agent(id)
	if err != nil {
		return nil, err
	}
	return ok(agentView(a))
}

func agentView(a *registry.Agent) registry.AgentView {
	return registry.AgentView{ID: a.ID, Name: a.Name, Profile: a.Profile, Created: time.UnixMilli(a.Created).UTC(), Revoked: a.Revoked}
}

// firstOf decodes the first event of a type.
func firstOf(out registry.Outcome, typ registry.EventType, data any) error {
	for i := range out.Events {
		if out.Events[i].Type == typ {
			return out.Events[i].Decode(data)
		}
	}
	return errOutcome
}

func (s *Server) newULID(now time.Time) string {
	var u ulid.ULID
	s.random(u[6:])
	if err := u.SetTime(ulid.Timestamp(now)); err != nil {
		panic("api: clock is past the year 10889")
	}
	return u.String()
}

// newULIDs are n ids in ascending order.
func (s *Server) newULIDs(now time.Time, n int) []string {
	out := make([]string, n)
	if n == 0 {
		return out
	}
	var u ulid.ULID
	s.random(u[6:])
	u[6] &= 0x7f // room to count up
	if err := u.SetTime(ulid.Timestamp(now)); err != nil {
		panic("api: clock is past the year 10889")
	}
	for i := range out {
		out[i] = u.String()
		for b := len(u) - 1; b >= 6; b-- {
			if u[b]++; u[b] != 0 {
				break
			}
		}
	}
	return out
}
