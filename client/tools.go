package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/registry"
)

// ErrBatch refuses a registration of no tools, or of more than registry.MaxBatch
// at once: it would not be all or none any more. RegisterSplit is for that.
var ErrBatch = fmt.Errorf("a registration has 1 to %d tools", registry.MaxBatch)

// Register registers 1 to registry.MaxBatch tools at one origin, all or none,
// under one proof. The answer has a handle for each, in the order of the
// request.
func (a *Actor) Register(ctx context.Context, req registry.RegisterRequest) (registry.RegisterResponse, error) {
	var out registry.RegisterResponse
	if n := len(req.Tools); n == 0 || n > registry.MaxBatch {
		return out, ErrBatch
	}
	var err error
	if req.Command, err = a.c.command(ctx, req.Command); err != nil {
		return out, err
	}
	err = a.do(ctx, act{op: proof.ToolRegister, method: http.MethodPost, path: "/v1/tools", body: req}, &out)
	if err == nil && len(out.Tools) != len(req.Tools) {
		err = fmt.Errorf("%w: %d handles for %d tools", ErrAnswer, len(out.Tools), len(req.Tools))
	}
	return out, err
}

// RegisterSplit registers any number of tools in batches of up to size (0:
// registry.MaxBatch) and yields each batch's answer. Each batch is all or none,
// the whole is not: after an error the batches before it stand, and what was
// yielded says which tools they hold.
func (a *Actor) RegisterSplit(ctx context.Context, req registry.RegisterRequest, size int) iter.Seq2[registry.RegisterResponse, error] {
	if size <= 0 || size > registry.MaxBatch {
		size = registry.MaxBatch
	}
	return func(yield func(registry.RegisterResponse, error) bool) {
		if len(req.Tools) == 0 || req.Command != "" && len(req.Tools) > size {
			yield(registry.RegisterResponse{}, errors.Join(ErrBatch, registry.ErrCommandReused))
			return
		}
		for batch := range slices.Chunk(req.Tools, size) {
			part := req
			part.Tools = batch
			out, err := a.Register(ctx, part)
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}

// Overwrite replaces the metadata of the handle's tool, if Handle.Base is still
// the current version. The answer has a handle for the new version.
func (a *Actor) Overwrite(ctx context.Context, h Handle, tool jsontext.Value) (registry.HandleView, error) {
	var out registry.HandleView
	path, err := toolPath(h.Tool, "")
	if err != nil {
		return out, err
	}
	id, err := a.c.command(ctx, "")
	if err != nil {
		return out, err
	}
	return done(ctx, a, act{
		op: proof.ToolOverwrite, method: http.MethodPut, path: path, tool: h.Tool, base: h.Base, handle: h.Token,
		body: registry.OverwriteRequest{Command: id, Tool: tool},
	}, out)
}

// Revoke ends the handle's tool, if Handle.Base is still the current version.
func (a *Actor) Revoke(ctx context.Context, h Handle) (registry.ToolView, error) {
	var out registry.ToolView
	path, err := toolPath(h.Tool, "")
	if err != nil {
		return out, err
	}
	return changed(ctx, a, act{op: proof.ToolRevoke, method: http.MethodDelete, path: path, tool: h.Tool, base: h.Base, handle: h.Token}, out)
}

// Tool is one tool with its metadata.
func (c *Client) Tool(ctx context.Context, id credentials.ToolID) (registry.ToolView, error) {
	var out registry.ToolView
	path, err := toolPath(id, "")
	if err != nil {
		return out, err
	}
	return got(ctx, c.conn, path, nil, out)
}

// A ToolQuery narrows a listing of tools. Empty members match all.
type ToolQuery struct {
	Origin string
	Owner  credentials.PrincipalID
	Name   string
	Status string // live, revoked
	Limit  int    // tools per page; 0: the registry's choice
}

func (q ToolQuery) values(cursor string) url.Values {
	v := url.Values{}
	set(v, "origin", q.Origin)
	set(v, "owner", string(q.Owner))
	set(v, "name", q.Name)
	set(v, "status", q.Status)
	set(v, "cursor", cursor)
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return v
}

func set(v url.Values, name, value string) {
	if value != "" {
		v.Set(name, value)
	}
}

// Tools lists tools, page by page as they are asked for.
func (c *Client) Tools(ctx context.Context, q ToolQuery) iter.Seq2[registry.ToolView, error] {
	return pages(func(cursor string) ([]registry.ToolView, string, error) {
		var page registry.ToolList
		err := c.get(ctx, "/v1/tools", q.values(cursor), &page)
		return page.Tools, page.Cursor, err
	})
}

// Versions lists the events of one tool, newest first.
func (c *Client) Versions(ctx context.Context, id credentials.ToolID) iter.Seq2[registry.VersionView, error] {
	path, bad := toolPath(id, "/versions")
	return pages(func(cursor string) ([]registry.VersionView, string, error) {
		if bad != nil {
			return nil, "", bad
		}
		var page registry.VersionList
		v := url.Values{}
		set(v, "cursor", cursor)
		err := c.get(ctx, path, v, &page)
		return page.Versions, page.Cursor, err
	})
}

// pages yields the items of one page after the other. A cursor that repeats
// ends the listing with an error instead of going in circles.
func pages[T any](page func(cursor string) (items []T, next string, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for cursor := ""; ; {
			items, next, err := page(cursor)
			if err != nil {
				yield(none, err)
				return
			}
			for _, it := range items {
				if !yield(it, nil) {
					return
				}
			}
			switch {
			case next == "":
				return
			case next == cursor:
				yield(none, fmt.Errorf("%w: a listing that does not advance", ErrAnswer))
				return
			}
			cursor = next
		}
	}
}
