package client

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/registry"
)

// A Handle is a capability for one tool, as its holder keeps it. It is of no
// use without the key that it is bound to.
type Handle struct {
	Token string
	Tool  credentials.ToolID
	// Base is the digest of the version that the holder last saw. Acts that
	// replace or end a version name it, and are refused if it is not the current
	// one any more (registry.ErrStaleBase).
	Base    credentials.Digest
	ID      credentials.TokenID // jti
	Expires time.Time
}

// ParseHandle reads the text of a handle file: blanks and line ends around it
// are tolerated. The handle is not verified; only the registry that issued it
// can say what it is worth.
func ParseHandle(text string) (Handle, error) {
	tok, err := envelope.ParseToken(text)
	if err != nil {
		return Handle{}, fmt.Errorf("handle: %w", err)
	}
	u, err := envelope.Precheck(tok, envelope.Handle)
	if err != nil {
		return Handle{}, fmt.Errorf("handle: %w", err)
	}
	var h credentials.HandleClaims
	if err := envelope.Claims(envelope.Opened{Payload: u.Payload}, &h); err != nil {
		return Handle{}, fmt.Errorf("handle: %w", err)
	}
	if err := h.Check(); err != nil {
		return Handle{}, fmt.Errorf("handle: %w", err)
	}
	return Handle{Token: tok, Tool: h.ToolID, Base: h.Mdg, ID: h.Jti, Expires: time.Unix(h.Exp, 0).UTC()}, nil
}

// Renew issues a fresh handle for a tool to its owner or a delegate. The key is
// all that is shown: the old handle may have expired, or its signing key may
// have been revoked.
func (a *Actor) Renew(ctx context.Context, tool credentials.ToolID) (registry.HandleView, error) {
	var out registry.HandleView
	path, err := toolPath(tool, "/handle")
	if err != nil {
		return out, err
	}
	// A renewal leaves no mark in the log: repeating it is harmless.
	return changed(ctx, a, act{op: proof.HandleRenew, method: http.MethodPost, path: path, tool: tool}, out)
}

// RevokeHandle ends one handle of the holder's tool, and every delegation made
// from it.
func (a *Actor) RevokeHandle(ctx context.Context, h Handle, jti credentials.TokenID) (registry.ToolView, error) {
	var out registry.ToolView
	if _, err := credentials.ParseTokenID(string(jti)); err != nil {
		return out, err
	}
	return changed(ctx, a, act{
		op: proof.HandleRevoke, method: http.MethodDelete, path: "/v1/handles/" + string(jti),
		tool: h.Tool, handle: h.Token,
	}, out)
}

// RevokeHandles ends every handle of a tool, the one shown included, by raising
// the tool's generation. The owner goes on with Renew.
func (a *Actor) RevokeHandles(ctx context.Context, h Handle) (registry.ToolView, error) {
	var out registry.ToolView
	path, err := toolPath(h.Tool, "/handles")
	if err != nil {
		return out, err
	}
	return changed(ctx, a, act{op: proof.HandleRevokeAll, method: http.MethodDelete, path: path, tool: h.Tool, handle: h.Token}, out)
}

// toolPath is the path of something about one tool. Ids are checked before they
// become part of an address.
func toolPath(tool credentials.ToolID, rest string) (string, error) {
	if _, err := credentials.ParseToolID(string(tool)); err != nil {
		return "", err
	}
	return "/v1/tools/" + string(tool) + rest, nil
}
