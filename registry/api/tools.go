package api

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/writer"
)

func (s *Server) registerTools(c *call) (*answer, error) {
	var req registry.RegisterRequest
	if err := decodeMetadata(c.body, &req); err != nil {
		return nil, err
	}
	o, err := parseOrigin("/origin", req.Origin)
	if err != nil {
		return nil, err
	}
	if o.GatewayOnly() {
		return nil, registry.ErrGatewayOrigin
	}
	if len(req.Tools) == 0 || len(req.Tools) > registry.MaxBatch {
		return nil, at("/tools", errBatch)
	}
	cmd := &registry.Register{JWK: c.proof.Key().JWK(), Origin: o.String(),
		IDs: make([]credentials.ToolID, len(req.Tools)), Items: make([]registry.Item, len(req.Tools))}
	for i, raw := range req.Tools {
		if cmd.Items[i], err = readItem(raw); err != nil {
			return nil, at("/tools/"+strconv.Itoa(i), err)
		}
	}
	for i, id := range s.newULIDs(c.now, len(cmd.IDs)) {
		cmd.IDs[i] = credentials.ToolID("tool_" + id)
	}
	v, out, err := s.do(c, req.Command, cmd)
	if err != nil {
		return nil, err
	}
	resp := registry.RegisterResponse{Tools: make([]registry.HandleView, 0, len(cmd.IDs)), Index: out.Index}
	for i := range out.Events {
		if out.Events[i].Type != registry.ToolRegistered {
			continue
		}
		t, err := toolAfter(v, out, i)
		if err != nil {
			return nil, err
		}
		h, err := s.handleView(v, t, ownersGrant(t), c)
		if err != nil {
			return nil, err
		}
		resp.Tools = append(resp.Tools, h)
	}
	return created(resp)
}

func (s *Server) overwriteTool(c *call) (*answer, error) {
	var req registry.OverwriteRequest
	if err := decodeMetadata(c.body, &req); err != nil {
		return nil, err
	}
	item, err := readItem(req.Tool)
	if err != nil {
		return nil, at("/tool", err)
	}
	claims := c.holder.Claims()
	if t, err := c.view.Tool(claims.ToolID); err == nil && t.Name != item.Name {
		return nil, at("/tool/name", errName)
	}
	v, out, err := s.do(c, req.Command, &registry.Replace{Holder: c.holder, Base: c.proof.Base(), Item: item})
	if err != nil {
		return nil, err
	}
	t, err := toolAfter(v, out, 0)
	if err != nil {
		return nil, err
	}
	t.Owner = claims.Sub.Key()
	h, err := s.handleView(v, t, grantOf(v, claims), c)
	if err != nil {
		return nil, err
	}
	return ok(h)
}

func (s *Server) revokeTool(c *call) (*answer, error) {
	return s.aboutTool(c, "", &registry.RevokeTool{Holder: c.holder, Base: c.proof.Base()})
}

func (s *Server) transferTool(c *call) (*answer, error) {
	var req registry.TransferRequest
	if err := c.decode(&req); err != nil {
		return nil, err
	}
	to, accept, err := s.acceptance(c, "/to", req.To, req.Accept)
	if err != nil {
		return nil, err
	}
	return s.aboutTool(c, req.Command, &registry.Transfer{Holder: c.holder, Base: c.proof.Base(), To: to.ID, JWK: to.JWK(), Accept: accept})
}

func (s *Server) undoTransfer(c *call) (*answer, error) {
	return s.aboutTool(c, "", &registry.UndoTransfer{Tool: c.proof.ToolID()})
}

func (s *Server) condemnTool(c *call) (*answer, error) {
	reason, err := c.reason()
	if err != nil {
		return nil, err
	}
	return s.aboutTool(c, "", &registry.Condemn{Tool: c.proof.ToolID(), Reason: reason})
}

func (s *Server) releaseTool(c *call) (*answer, error) {
	var req registry.ReleaseRequest
	if err := c.decode(&req); err != nil {
		return nil, err
	}
	base := c.proof.Base() // where the operation's proof signs it
	switch {
	case base.IsZero() && req.Digest.IsZero():
		return nil, at("/digest", credentials.ErrDigest)
	case base.IsZero():
		base = req.Digest
	case !req.Digest.IsZero() && req.Digest != base:
		return nil, registry.ErrStaleBase
	}
	reason, err := checkReason(req.Reason)
	if err != nil {
		return nil, err
	}
	return s.aboutTool(c, "", &registry.ReleaseTool{Tool: c.proof.ToolID(), Base: base, Reason: reason})
}

// aboutTool carries a command about the proof's tool out and shows the tool.
func (s *Server) aboutTool(c *call, id registry.CommandID, cmd registry.Command) (*answer, error) {
	v, out, err := s.do(c, id, cmd)
	if err != nil {
		return nil, err
	}
	for i := range out.Events {
		if t, err := toolAfter(v, out, i); err == nil && t.Row.Tool == c.proof.ToolID() {
			return ok(t.View())
		}
	}
	t, err := v.Tool(c.proof.ToolID())
	if err != nil {
		return nil, err
	}
	return ok(t.View())
}

// toolAfter is the tool as the i-th event of an outcome left it, whatever has
// happened since.
func toolAfter(v *writer.Snapshot, out registry.Outcome, i int) (*registry.Tool, error) {
	if i >= len(out.Events) {
		return nil, errOutcome
	}
	e := &out.Events[i]
	switch e.Type {
	case registry.ToolRegistered, registry.ToolOverwritten, registry.ToolRevoked, registry.ToolTransferred,
		registry.ToolReturned, registry.HandlesRevoked:
	default:
		return nil, errOutcome
	}
	var d registry.ToolData
	if err := e.Decode(&d); err != nil {
		return nil, err
	}
	t := registry.Tool{Origin: d.Origin, Name: d.Name, Level: credentials.LevelPoP}
	t.Row.Tool, t.Owner = d.ID, e.By
	if now, err := v.Tool(d.ID); err == nil {
		t = *now
	} else if e.Type != registry.ToolRegistered {
		return nil, err
	}
	t.Gen, t.Ver, t.Index, t.Events, t.Changed = d.Gen, d.Ver, out.Index+uint64(i), d.N, e.At
	t.Live = e.Type != registry.ToolRevoked
	if !d.Mdg.IsZero() {
		t.Digest = d.Mdg
	}
	switch e.Type {
	case registry.ToolRegistered:
		t.Owner = e.By
	case registry.ToolTransferred, registry.ToolReturned:
		t.Owner = d.To
	}
	return &t, nil
}

// decodeMetadata reads a body that holds tools. Their own rules are held
// against each later; only where the whole cannot be read is it read again, to
// name what is wrong.
func decodeMetadata(body []byte, v any) error {
	err := json.Unmarshal(body, v, json.RejectUnknownMembers(true))
	if err == nil {
		return nil
	}
	if _, named := canon.JSON(body, canon.Limits{Bytes: maxRegisterBody, Depth: canon.DefaultDepth + 3}); named != nil {
		return named
	}
	if errors.Is(err, json.ErrUnknownName) {
		return canon.ErrMember
	}
	return canon.ErrShape
}

// readItem reads the metadata of one tool: one canonical form, one digest, a
// name that may be registered.
func readItem(raw []byte) (registry.Item, error) {
	if len(raw) == 0 {
		return registry.Item{}, errMissing
	}
	if len(raw) > registry.MaxMetadata {
		return registry.Item{}, errMetadataSize
	}
	text, digest, err := canon.Metadata(raw)
	if err != nil {
		if errors.Is(err, canon.ErrSize) {
			err = errMetadataSize
		}
		return registry.Item{}, err
	}
	var named struct {
		Name *string `json:"name"`
	}
	if json.Unmarshal(text, &named) != nil || named.Name == nil {
		return registry.Item{}, fmt.Errorf("%w: it has none", credentials.ErrToolName)
	}
	if err := credentials.CheckToolName(*named.Name); err != nil {
		return registry.Item{}, err
	}
	return registry.Item{Name: *named.Name, Digest: digest, Canonical: text}, nil
}
