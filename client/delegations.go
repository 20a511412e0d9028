package client

import (
	"context"
	"net/http"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/registry"
)

// Delegate makes a narrower handle of the same tool for another key: some of
// the handle's actions, no delegation further, not longer than the handle
// itself. It is revoked by its id, or with the handle that it comes from.
func (a *Actor) Delegate(ctx context.Context, h Handle, toJWK []byte, actions []credentials.Action, expires time.Time) (registry.DelegationView, error) {
	var out registry.DelegationView
	to, err := envelope.ParseJWK(toJWK)
	if err != nil {
		return out, err
	}
	if err := credentials.CheckActions(actions); err != nil {
		return out, err
	}
	id, err := a.c.command(ctx, "")
	if err != nil {
		return out, err
	}
	return done(ctx, a, act{
		op: proof.DelegationCreate, method: http.MethodPost, path: "/v1/delegations", tool: h.Tool, handle: h.Token,
		body: registry.DelegationRequest{Command: id, To: to.JWK(), Actions: actions, Expires: expires.UTC()},
	}, out)
}

// RevokeDelegation ends one delegation of the handle's tool.
func (a *Actor) RevokeDelegation(ctx context.Context, h Handle, id credentials.TokenID) (registry.DelegationView, error) {
	var out registry.DelegationView
	if _, err := credentials.ParseTokenID(string(id)); err != nil {
		return out, err
	}
	return changed(ctx, a, act{
		op: proof.DelegationRevoke, method: http.MethodDelete, path: "/v1/delegations/" + string(id),
		tool: h.Tool, handle: h.Token,
	}, out)
}

// Delegations lists the live delegations of the handle's tool.
func (a *Actor) Delegations(ctx context.Context, h Handle) ([]registry.DelegationView, error) {
	path, err := toolPath(h.Tool, "/delegations")
	if err != nil {
		return nil, err
	}
	var out registry.DelegationList
	err = a.do(ctx, act{op: proof.DelegationList, method: http.MethodGet, path: path, tool: h.Tool, handle: h.Token}, &out)
	return out.Delegations, err
}
