package client

import (
	"context"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/registry"
)

// AcceptLife is how long an acceptance made here is good.
const AcceptLife = time.Hour

// Accept states that the actor takes a tool over in the very version given. The
// owner hands the statement in with Transfer; it is good once.
func (a *Actor) Accept(tool registry.ToolView) (string, error) {
	return a.accept(registry.AcceptClaims{ToolID: tool.ID, Gen: tool.Generation, Mdg: tool.Digest})
}

// AcceptAll states that the actor takes over all tools of a principal whose key
// was lost: the recovery key or an operator hands it in with Recover.
func (a *Actor) AcceptAll(from credentials.PrincipalID) (string, error) {
	return a.accept(registry.AcceptClaims{From: from})
}

func (a *Actor) accept(c registry.AcceptClaims) (string, error) {
	jti, err := token(a.c.rand)
	if err != nil {
		return "", err
	}
	s, err := envelope.NewSigner(envelope.ToolAccept, a.key)
	if err != nil {
		return "", err
	}
	c.Registered = credentials.NewRegistered(string(a.ID()), credentials.TokenID(jti), a.c.now(), AcceptLife)
	c.Aud, c.Sub = a.c.base, a.ID()
	return s.Sign(c)
}

// Transfer gives the handle's tool to another key, whose acceptance goes along.
// All handles of the tool end; the recipient goes on with Renew.
func (a *Actor) Transfer(ctx context.Context, h Handle, toJWK []byte, accept string) (registry.ToolView, error) {
	var out registry.ToolView
	path, err := toolPath(h.Tool, "/transfer")
	if err != nil {
		return out, err
	}
	to, err := envelope.ParseJWK(toJWK)
	if err != nil {
		return out, err
	}
	id, err := a.c.command(ctx, "")
	if err != nil {
		return out, err
	}
	return done(ctx, a, act{
		op: proof.ToolTransfer, method: http.MethodPost, path: path, tool: h.Tool, base: h.Base, handle: h.Token,
		body: registry.TransferRequest{Command: id, To: to.JWK(), Accept: accept},
	}, out)
}

// UndoTransfer takes the latest transfer of a tool back, within
// registry.EmergencyHold. The actor is the former owner's recovery key or an
// operator.
func (a *Actor) UndoTransfer(ctx context.Context, tool credentials.ToolID) (registry.ToolView, error) {
	var out registry.ToolView
	path, err := toolPath(tool, "/transfer/undo")
	if err != nil {
		return out, err
	}
	return changed(ctx, a, act{op: proof.ToolTransferUndo, method: http.MethodPost, path: path, tool: tool}, out)
}

// Recover moves all tools of a principal to a new key, which has accepted
// (AcceptAll). The actor is the principal's recovery key or an operator.
func (a *Actor) Recover(ctx context.Context, from credentials.PrincipalID, newJWK []byte, accept string) (registry.PrincipalView, error) {
	var out registry.PrincipalView
	path, err := principalPath(from, "/recovery")
	if err != nil {
		return out, err
	}
	to, err := envelope.ParseJWK(newJWK)
	if err != nil {
		return out, err
	}
	body := registry.RecoverRequest{NewKey: jsontext.Value(to.JWK()), Accept: accept}
	return changed(ctx, a, act{op: proof.PrincipalRecover, method: http.MethodPost, path: path, body: body}, out)
}
