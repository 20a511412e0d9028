package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/registry"
)

// The acts below are an operator's. An operator condemns and hides; it never
// overwrites, revokes or uses a registrant's handle (RULES.md 26).

// CondemnTool has a tool shown to nobody.
func (a *Actor) CondemnTool(ctx context.Context, tool credentials.ToolID, reason string) (registry.ToolView, error) {
	return a.judgeTool(ctx, proof.ToolCondemn, tool, "/condemnation", registry.ReasonRequest{Reason: reason})
}

// ReleaseTool clears one version of a tool that the operator has read.
func (a *Actor) ReleaseTool(ctx context.Context, tool credentials.ToolID, version credentials.Digest, reason string) (registry.ToolView, error) {
	return a.judgeTool(ctx, proof.ToolRelease, tool, "/release", registry.ReleaseRequest{Digest: version, Reason: reason})
}

func (a *Actor) judgeTool(ctx context.Context, op proof.Op, tool credentials.ToolID, rest string, body any) (registry.ToolView, error) {
	var out registry.ToolView
	path, err := toolPath(tool, rest)
	if err != nil {
		return out, err
	}
	return changed(ctx, a, act{op: op, method: http.MethodPost, path: path, tool: tool, body: body}, out)
}

// CondemnOrigin has all tools of an origin shown to nobody.
func (a *Actor) CondemnOrigin(ctx context.Context, origin, reason string) (registry.TopologyView, error) {
	var out registry.TopologyView
	body := registry.OriginReasonRequest{Origin: origin, Reason: reason}
	return changed(ctx, a, act{op: proof.OriginCondemn, method: http.MethodPost, path: "/v1/origins/condemnation", body: body}, out)
}

// EnrolObserver lets a principal report what it saw tools do, and an agent's runtime
// confirm what it deleted; DismissObserver ends that.
func (a *Actor) EnrolObserver(ctx context.Context, id credentials.PrincipalID) (registry.PrincipalView, error) {
	return a.observer(ctx, proof.ObserverEnrol, http.MethodPost, id)
}

// DismissObserver ends what EnrolObserver allowed. What was reported stays.
func (a *Actor) DismissObserver(ctx context.Context, id credentials.PrincipalID) (registry.PrincipalView, error) {
	return a.observer(ctx, proof.ObserverDismiss, http.MethodDelete, id)
}

func (a *Actor) observer(ctx context.Context, op proof.Op, method string, id credentials.PrincipalID) (registry.PrincipalView, error) {
	var out registry.PrincipalView
	path, err := principalPath(id, "/observer")
	if err != nil {
		return out, err
	}
	return changed(ctx, a, act{op: op, method: method, path: path}, out)
}

// Contests lists the names that somebody else claimed while they were held, at
// one origin or at all.
func (a *Actor) Contests(ctx context.Context, origin string) ([]registry.ContestView, error) {
	var out registry.ContestList
	q := url.Values{}
	set(q, "origin", origin)
	err := a.do(ctx, act{op: proof.OperatorRead, method: http.MethodGet, path: "/v1/contests", query: q}, &out)
	return out.Contests, err
}

// CreateAgent issues a credential for one agent, bound to one profile. The
// answer is the only place where the credential stands.
func (a *Actor) CreateAgent(ctx context.Context, name, profile string) (registry.AgentView, error) {
	var out registry.AgentView
	body := registry.AgentRequest{Name: name, Profile: profile}
	return changed(ctx, a, act{op: proof.AgentCreate, method: http.MethodPost, path: "/v1/agents", body: body}, out)
}

// Agents lists the agents.
func (a *Actor) Agents(ctx context.Context) ([]registry.AgentView, error) {
	var out registry.AgentList
	err := a.do(ctx, act{op: proof.AgentList, method: http.MethodGet, path: "/v1/agents"}, &out)
	return out.Agents, err
}

// RevokeAgent ends an agent's credential.
func (a *Actor) RevokeAgent(ctx context.Context, id credentials.AgentID) (registry.AgentView, error) {
	var out registry.AgentView
	if _, err := credentials.ParseAgentID(string(id)); err != nil {
		return out, err
	}
	return changed(ctx, a, act{op: proof.AgentRevoke, method: http.MethodDelete, path: "/v1/agents/" + string(id)}, out)
}

// ReadTopology has the registry read an origin's topology now. Anybody may ask;
// what counts is what the registry finds at the origin itself.
func (a *Actor) ReadTopology(ctx context.Context, origin string) (registry.TopologyView, error) {
	var out registry.TopologyView
	body := registry.TopologyRequest{Origin: origin}
	return changed(ctx, a, act{op: proof.TopologyRead, method: http.MethodPost, path: "/v1/topologies", body: body}, out)
}

// Topology is what the registry knows of an origin.
func (c *Client) Topology(ctx context.Context, origin string) (registry.TopologyView, error) {
	var out registry.TopologyView
	return got(ctx, c.conn, "/v1/topologies", url.Values{"origin": {origin}}, out)
}

// KeyList lists the service's signing keys as the API shows them, for people.
// Nothing is verified by it: see Keys.
func (c *Client) KeyList(ctx context.Context) (registry.KeyList, error) {
	var out registry.KeyList
	return got(ctx, c.conn, "/v1/keys", nil, out)
}

// RotateKeys rotates one role's key as scheduled, or all roles' if role is
// empty; dryRun only says what would be done.
func (a *Actor) RotateKeys(ctx context.Context, role credentials.Role, dryRun bool) (registry.KeyChangeResponse, error) {
	var out registry.KeyChangeResponse
	body := registry.RotateRequest{Role: string(role), DryRun: dryRun}
	return changed(ctx, a, act{op: proof.KeyRotate, method: http.MethodPost, path: "/v1/keys/rotations", body: body}, out)
}

// RevokeKey is the emergency: nothing that the key signed is good from now on,
// and its published successor takes over at once.
func (a *Actor) RevokeKey(ctx context.Context, kid credentials.KeyID, reason string) (registry.KeyChangeResponse, error) {
	var out registry.KeyChangeResponse
	if _, err := credentials.ParseKeyID(string(kid)); err != nil {
		return out, err
	}
	body := registry.ReasonRequest{Reason: reason}
	path := "/v1/keys/" + string(kid) + "/revocation"
	return changed(ctx, a, act{op: proof.KeyRevoke, method: http.MethodPost, path: path, body: body}, out)
}
