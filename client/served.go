package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/keyset"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

// What follows is as the registry serves it: nothing of it is verified. It is
// for showing to people and for keeping in files, which VerifyOffline reads;
// whoever acts on labels uses Labels.

// ServedLabel is a tool's label as the registry serves it.
func (c *Client) ServedLabel(ctx context.Context, tool credentials.ToolID) (registry.LabelView, error) {
	var out registry.LabelView
	path, err := labelPath(tool)
	if err != nil {
		return out, err
	}
	return got(ctx, c.conn, path, nil, out)
}

// ServedKeys is the key-set document as the registry serves it.
func (c *Client) ServedKeys(ctx context.Context) ([]byte, error) {
	doc, _, err := c.exchange(ctx, call{method: http.MethodGet, path: "/.well-known/jwks.json", limit: keyset.MaxDocument,
		accept: "application/json, application/jwk-set+json"})
	return doc, err
}

// ServedLowered is the list of lowered labels that has this digest (zero: the
// newest) as the registry serves it.
func (c *Client) ServedLowered(ctx context.Context, digest credentials.Digest) ([]byte, error) {
	q := url.Values{}
	if !digest.IsZero() {
		q.Set("digest", digest.String())
	}
	list, _, err := c.exchange(ctx, call{method: http.MethodGet, path: "/v1/labels/lowered", query: q, limit: labels.MaxLowered})
	return list, err
}
