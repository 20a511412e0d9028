package client

import (
	"context"
	"net/http"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/registry"
)

// CreatePrincipal makes a principal of the actor's key. recoveryJWK is the
// public key that may later move all of its tools; nil for none, which cannot
// be changed afterwards.
func (a *Actor) CreatePrincipal(ctx context.Context, recoveryJWK []byte) (registry.PrincipalView, error) {
	var out registry.PrincipalView
	var body registry.PrincipalRequest
	if recoveryJWK != nil {
		k, err := envelope.ParseJWK(recoveryJWK)
		if err != nil {
			return out, err
		}
		body.RecoveryKey = k.JWK()
	}
	return changed(ctx, a, act{op: proof.PrincipalCreate, method: http.MethodPost, path: "/v1/principals", body: body}, out)
}

// Principal is one principal.
func (c *Client) Principal(ctx context.Context, id credentials.PrincipalID) (registry.PrincipalView, error) {
	var out registry.PrincipalView
	path, err := principalPath(id, "")
	if err != nil {
		return out, err
	}
	return got(ctx, c.conn, path, nil, out)
}

// Enrol is an operator's: the principal speaks for the origin.
func (a *Actor) Enrol(ctx context.Context, id credentials.PrincipalID, origin string) (registry.PrincipalView, error) {
	var out registry.PrincipalView
	path, err := principalPath(id, "/enrolment")
	if err != nil {
		return out, err
	}
	body := registry.EnrolRequest{Origin: origin}
	return changed(ctx, a, act{op: proof.PrincipalEnrol, method: http.MethodPost, path: path, body: body}, out)
}

// CondemnPrincipal is an operator's: nothing of this principal is shown any
// more.
func (a *Actor) CondemnPrincipal(ctx context.Context, id credentials.PrincipalID, reason string) (registry.PrincipalView, error) {
	var out registry.PrincipalView
	path, err := principalPath(id, "/condemnation")
	if err != nil {
		return out, err
	}
	body := registry.ReasonRequest{Reason: reason}
	return changed(ctx, a, act{op: proof.PrincipalCondemn, method: http.MethodPost, path: path, body: body}, out)
}

func principalPath(id credentials.PrincipalID, rest string) (string, error) {
	if _, err := credentials.ParsePrincipalID(string(id)); err != nil {
		return "", err
	}
	return "/v1/principals/" + string(id) + rest, nil
}
