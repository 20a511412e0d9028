package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry"
)

func toolsNoun() noun {
	return noun{name: "tools", usage: "register tools, and change what is yours", verbs: slices.Concat(toolsWriteVerbs(), toolsReadVerbs(), toolsShareVerbs(), toolsOperatorVerbs(), toolsObserverVerbs())}
}

func toolsWriteVerbs() []verb {
	file := func(what string) *option {
		return &option{name: "file", arg: "FILE", usage: what + "; - is standard input", required: true}
	}
	return []verb{
		{
			name: "register", usage: "register the tools of a list at one origin: all of them or none",
			about: "TOOLS is an MCP tools/list result, {\"server\", \"instructions\", \"tools\"}, or an array of tool objects; up to 1,000 tools go in one request under one proof. The folder of --handles gets one handle file per tool, named by the tool's name, and " + indexName + ", which names the few that could not be.",
			flags: actorFlags("the registrant", &option{name: "origin", arg: "ORIGIN", usage: "where the tools come from: a claim until attested", required: true},
				file("the list of tools"),
				&option{name: "handles", arg: "DIR", usage: "folder for the handles; without it they are printed, with --json only"},
				&option{name: "split", arg: "N", usage: "register in batches of N; each is all or none, the whole is not", kind: number}),
			out: registerOutput{}, run: registerTools,
		},
		{
			name: "overwrite", usage: "replace the metadata of one tool",
			about: "Refused if the tool has changed since the handle was issued. The fresh handle replaces the one in the handle file.",
			flags: actorFlags("the registrant or a delegate", handleFlag(), file("the tool object")),
			out:   handleOutput{}, run: overwriteTool,
		},
		{
			name: "revoke", usage: "end one tool for good",
			flags: actorFlags("the registrant", handleFlag(), yesFlag()), out: toolOutput{}, run: revokeTool,
		},
		{
			name: "renew", usage: "fetch a fresh handle by the key alone",
			about: "The old handle may have expired or been revoked. With --handle, its file gets the fresh one; with --tool, --out does; with --handles, every handle of the folder is renewed.",
			flags: actorFlags("the registrant or a delegate", &option{name: "handle", arg: "FILE", usage: "handle file to renew"},
				&option{name: "tool", arg: "ID", usage: "id of the tool"}, &option{name: "handles", arg: "DIR", usage: "folder to renew"},
				&option{name: "out", arg: "FILE", usage: "new file for the handle of --tool"}),
			out: renewOutput{}, run: renewTool,
		},
		{
			name: "revoke-handle", usage: "end one handle of a tool, and what was delegated from it",
			flags: actorFlags("the registrant", handleFlag(), &option{name: "id", arg: "JTI", usage: "id of the handle to end; default: the one shown"}),
			out:   toolOutput{}, run: revokeHandle,
		},
		{
			name: "revoke-handles", usage: "end every handle of a tool by raising its generation",
			flags: actorFlags("the registrant", handleFlag(), yesFlag()), out: toolOutput{}, run: revokeHandles,
		},
	}
}

// registerOutput is what tools register prints.
type registerOutput struct {
	Registry string           `json:"registry"`
	Origin   string           `json:"origin"`
	Owner    string           `json:"owner" doc:"the principal that owns them now"`
	Handles  string           `json:"handles,omitzero" doc:"the folder"`
	Count    int              `json:"count"`
	Index    uint64           `json:"index" doc:"ledger index of the first event"`
	Tools    []registeredTool `json:"tools"`
}

type registeredTool struct {
	indexedTool
	Handle  string    `json:"handle,omitzero" doc:"only without --handles"`
	Expires time.Time `json:"expires"`
}

func (o registerOutput) show(w io.Writer) {
	fmt.Fprintf(w, "registered %d tools at %s for %s\n", o.Count, plain(o.Origin), o.Owner)
	if o.Handles != "" {
		fmt.Fprintf(w, "handles are in %s\n", plain(o.Handles))
	} else {
		fmt.Fprintln(w, "no --handles: fetch a handle with pratique tools renew")
	}
}

func registerTools(c *call) (any, error) {
	raw, err := c.readFile(c.str("file"), maxText)
	if err != nil {
		return nil, err
	}
	list, err := parseTools(c.str("file"), raw)
	if err != nil {
		return nil, err
	}
	if list.cursor {
		c.note("note: the list has a nextCursor: it is one page of several, and only this page is registered")
	}
	size := int(min(c.num("split"), registry.MaxBatch))
	if size == 0 && len(list.tools) > registry.MaxBatch {
		return nil, fmt.Errorf("%w: %d tools; one request takes %d. --split %[3]d registers them in several, not all or none",
			errInput, len(list.tools), registry.MaxBatch)
	}
	if c.has("command") && size > 0 && len(list.tools) > size {
		return nil, usagef("--command is for one request, and --split %d makes several", size)
	}
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	out := registerOutput{Registry: a.Client().URL(), Origin: c.str("origin"), Owner: string(a.ID()), Handles: c.str("handles"), Tools: []registeredTool{}}
	var folder *handleFolder
	if out.Handles != "" {
		if folder, err = openHandles(out.Handles, out.Registry, out.Origin, list.names); err != nil {
			return nil, fmt.Errorf("handles: %w", err)
		}
	}
	err = c.registerAll(ctx, a, list, size, folder, &out)
	if err != nil && out.Count == 0 {
		if folder != nil {
			os.Remove(folder.dir) // goes only if it is empty
		}
		return nil, err
	}
	return out, err
}

// registerAll sends the batches and keeps the handles of each at once, so that
// what has been registered when a later batch fails is kept.
func (c *call) registerAll(ctx context.Context, a *client.Actor, list toolsFile, size int, folder *handleFolder, out *registerOutput) error {
	step, end := c.progress("registering", len(list.tools))
	defer end()
	req := registry.RegisterRequest{Origin: out.Origin, Tools: list.tools}
	for part, err := range a.RegisterSplit(ctx, req, size) {
		if err != nil {
			return err
		}
		if out.Count == 0 {
			out.Index = part.Index
		}
		for _, v := range part.Tools {
			t := registeredTool{indexedTool: indexedTool{v.Name, v.ID, "", v.Digest, v.Generation, v.Version}, Expires: v.Expires}
			if folder == nil {
				t.Handle = v.Handle
			} else if t.File, err = folder.add(v); err != nil {
				return lostHandle(v, err)
			}
			out.Tools = append(out.Tools, t)
			out.Count++
		}
		step(len(part.Tools))
		if folder != nil {
			if err := folder.close(); err != nil {
				return fmt.Errorf("the tools are registered, but the index was not written: %w", err)
			}
		}
	}
	return nil
}

func lostHandle(v registry.HandleView, err error) error {
	return fmt.Errorf("the tools are registered, but the handle of %s (%s) could not be kept (pratique tools renew fetches another): %w", v.Name, v.ID, err)
}

// handleOutput is a tool with its fresh handle.
type handleOutput struct {
	registry.HandleView
	File string `json:"file,omitzero" doc:"the handle file that holds it now"`
}

func (o handleOutput) show(w io.Writer) {
	pairs(w, "tool", string(o.ID), "name", o.Name, "version", strconv.FormatUint(o.Version, 10), "digest", o.Digest.String(), "handle file", o.File, "expires", moment(o.Expires))
	if o.File == "" {
		fmt.Fprintln(w, o.Handle)
	}
}

func overwriteTool(c *call) (any, error) {
	h, file, err := c.handle()
	if err != nil {
		return nil, err
	}
	raw, err := c.readFile(c.str("file"), maxText)
	if err != nil {
		return nil, err
	}
	tool, err := parseTool(c.str("file"), raw)
	if err != nil {
		return nil, err
	}
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	v, err := a.Overwrite(ctx, h, tool)
	if err != nil {
		return nil, err
	}
	if err := keepHandle(file, v.Handle); err != nil {
		return handleOutput{HandleView: v}, lostHandle(v, err)
	}
	return handleOutput{v, file}, nil
}

func revokeTool(c *call) (any, error) {
	h, _, err := c.handle()
	if err != nil {
		return nil, err
	}
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	if err := c.sureIfPerson(fmt.Sprintf("End tool %s for good?", h.Tool)); err != nil {
		return nil, err
	}
	v, err := a.Revoke(ctx, h)
	return or(toolOutput{v}, err)
}

// renewOutput are the fresh handles.
type renewOutput struct {
	Tools []handleOutput `json:"tools"`
}

func (o renewOutput) show(w io.Writer) {
	for _, t := range o.Tools {
		if t.File == "" {
			fmt.Fprintln(w, t.Handle)
		}
	}
	fmt.Fprintf(w, "renewed %d handles\n", len(o.Tools))
}

func renewTool(c *call) (any, error) {
	which, err := c.exactlyOne("handle", "tool", "handles")
	if err != nil {
		return nil, err
	}
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	out := renewOutput{Tools: []handleOutput{}}
	one := func(id credentials.ToolID, file string) error {
		v, err := a.Renew(ctx, id)
		if err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		out.Tools = append(out.Tools, handleOutput{v, file})
		return keepHandle(file, v.Handle)
	}
	switch which {
	case "handle":
		h, file, err := c.handle()
		if err != nil {
			return nil, err
		}
		return or(&out, one(h.Tool, file))
	case "tool":
		id, err := c.toolID()
		if err != nil {
			return nil, err
		}
		if f := c.str("out"); f != "" && exists(f) {
			return nil, usagef("--out %s exists; --handle renews a handle file", f)
		}
		return or(&out, one(id, c.str("out")))
	}
	return c.renewFolder(&out, one)
}

// renewFolder renews every handle of a folder; one that cannot be renewed does
// not keep the others from it.
func (c *call) renewFolder(out *renewOutput, one func(credentials.ToolID, string) error) (any, error) {
	dir := c.str("handles")
	x, err := readIndex(dir)
	if err != nil {
		return nil, err
	}
	step, end := c.progress("renewing", len(x.Tools))
	defer end()
	var errs []error
	for _, t := range x.Tools {
		if err := one(t.ID, dir+"/"+t.File); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", t.Name, err))
		}
		if c.Err() != nil {
			break
		}
		step(1)
	}
	return *out, errors.Join(errs...)
}

func revokeHandle(c *call) (any, error) {
	h, _, err := c.handle()
	if err != nil {
		return nil, err
	}
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	jti := credentials.TokenID(c.str("id"))
	if jti == "" {
		jti = h.ID
	}
	v, err := a.RevokeHandle(ctx, h, jti)
	return or(toolOutput{v}, err)
}

func revokeHandles(c *call) (any, error) {
	h, _, err := c.handle()
	if err != nil {
		return nil, err
	}
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	if err := c.sureIfPerson(fmt.Sprintf("End every handle of %s?", h.Tool)); err != nil {
		return nil, err
	}
	v, err := a.RevokeHandles(ctx, h)
	return or(toolOutput{v}, err)
}
