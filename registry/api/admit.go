package api

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/registry"
)

// admit lets a proved request in: headers, body, tool, proof, rate of the key,
// view, then what the route demands of the key. Each step uses the result of
// the step before; the first that fails ends the request, and nothing has
// changed. release gives the body's memory back.
func (s *Server) admit(c *call) (release func(), err error) {
	token, handle, err := authorization(c)
	if err != nil {
		return nil, err
	}
	// What is no proof or no handle by its form is refused before a byte of the
	// body is read.
	if _, err := envelope.Precheck(token, envelope.Proof); err != nil {
		return nil, fmt.Errorf("%w: %w", proof.ErrProof, err)
	}
	release = func() {}
	if c.route.body > 0 {
		if release, err = s.takeBody(c, token); err != nil {
			return nil, err
		}
	}
	if err = s.admitProof(c, token, handle); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

func (s *Server) admitProof(c *call, token, handle string) error {
	tool, err := c.tool(handle)
	if err != nil {
		return err
	}
	if c.proof, err = s.prove(c, token, handle, tool); err != nil {
		return err
	}
	c.caller = registry.NewCaller(c.proof)
	if err := s.rates.allow(&s.rates.key, string(c.caller.Key())); err != nil {
		return err
	}
	if c.view, err = s.opt.Record.View(); err != nil {
		return err
	}
	switch c.route.who {
	case operator:
		if !c.view.IsOperator(c.caller.Key()) {
			return registry.ErrNotOperator
		}
	case holder:
		return s.hold(c, handle, tool)
	}
	return nil
}

// authorization finds the proof and, where the route takes one, the handle.
func authorization(c *call) (token, handle string, err error) {
	proofs, auth := c.r.Header.Values("DPoP"), c.r.Header.Values("Authorization")
	if len(proofs) != 1 || proofs[0] == "" {
		return "", "", fmt.Errorf("%w: exactly one DPoP header is needed", proof.ErrProof)
	}
	if c.route.who != holder {
		if len(auth) > 0 {
			return "", "", errAuthorization
		}
		return proofs[0], "", nil
	}
	if len(auth) != 1 {
		return "", "", errNoHandle
	}
	scheme, handle, _ := strings.Cut(auth[0], " ")
	if !strings.EqualFold(scheme, "DPoP") || handle == "" {
		return "", "", errNoHandle
	}
	return proofs[0], handle, nil
}

// takeBody reads the body within its bound and the bound of all bodies. Memory
// is charged as bytes arrive, not as they are announced: whoever promises much
// and sends nothing takes nothing from others.
func (s *Server) takeBody(c *call, token string) (release func(), err error) {
	held, addr := int64(0), addressOf(c.r.RemoteAddr)
	release = func() { s.bytes.release(addr, held) }
	c.body, err = c.readBody(c.route.body, func(more int64) error {
		if held == 0 { // beyond what is free for all: for holders of a key only
			if _, err := envelope.OpenProof(token); err != nil {
				return fmt.Errorf("%w: %w", proof.ErrProof, err)
			}
		}
		if err := s.bytes.take(c.ctx, addr, more); err != nil {
			return err
		}
		held += more
		return nil
	})
	if err == nil && len(c.body) == 0 {
		err = canon.ErrEmpty
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// tool is the tool that the request is about: by its path, or by the handle
// where the path names a token. What a handle says before it is verified only
// chooses what the proof is compared with; hold compares the verified claims.
func (c *call) tool(handle string) (credentials.ToolID, error) {
	switch c.route.about {
	case pathTool:
		return credentials.ParseToolID(c.vars[0])
	case handleTool:
		u, err := envelope.Precheck(handle, envelope.Handle)
		if err != nil {
			return "", &handleError{err}
		}
		var h credentials.HandleClaims
		if err := canon.Unmarshal(u.Payload, &h, canon.Limits{Bytes: envelope.MaxToken, Depth: 4, NoNull: true}); err != nil {
			return "", &handleError{envelope.ErrPayload}
		}
		id, err := credentials.ParseToolID(string(h.ToolID))
		if err != nil {
			return "", &handleError{err}
		}
		return id, nil
	}
	return "", nil
}

// prove checks the proof, and offers the next nonce with every answer to it.
func (s *Server) prove(c *call, token, handle string, tool credentials.ToolID) (proof.Confirmed, error) {
	got, err := s.opt.Proofs.Check(token, proof.Request{
		Method: c.r.Method, URL: c.r.URL.EscapedPath(), Op: proof.Op(c.route.op),
		ToolID: tool, Body: c.body, Handle: handle, Now: c.now,
	})
	jkt := got.Jkt()
	if err != nil {
		if u, e := envelope.Precheck(token, envelope.Proof); e == nil {
			jkt = u.Holder.ID
		}
	}
	if jkt != "" {
		if n, e := s.opt.Proofs.Nonces().New(jkt, c.now); e == nil {
			c.w.Header().Set("DPoP-Nonce", n)
		}
	}
	return got, err
}

// hold opens the handle for this caller and tool. Where the view says that the
// tool is not there, or is of another generation, another process may have
// written what this view does not show yet: the head is asked for once.
func (s *Server) hold(c *call, handle string, tool credentials.ToolID) error {
	var err error
	c.holder, err = s.handles.Hold(handle, c.proof, tool, c.view, c.now)
	if errors.Is(err, registry.ErrNotFound) || errors.Is(err, registry.ErrStaleGeneration) || errors.Is(err, registry.ErrHandleRevoked) {
		if c.view, err = s.opt.Record.Barrier(c.ctx); err != nil {
			return err
		}
		c.holder, err = s.handles.Hold(handle, c.proof, tool, c.view, c.now)
	}
	if err != nil {
		return &handleError{err}
	}
	return nil
}

// command fills in what all commands have. The id is the body's member where
// there is one, else the Idempotency-Key header, else drawn. What was asked is
// digested over everything that could make two requests differ, so that one id
// never answers for another request.
func (c *call) command(id registry.CommandID) (registry.CommandMeta, error) {
	if keys := c.r.Header.Values("Idempotency-Key"); len(keys) > 0 {
		if len(keys) > 1 || id != "" && string(id) != keys[0] {
			return registry.CommandMeta{}, errCommandTwice
		}
		id = registry.CommandID(keys[0])
	}
	if id == "" {
		id = registry.CommandID(c.s.newToken())
	} else if _, err := registry.ParseCommandID(string(id)); err != nil {
		return registry.CommandMeta{}, errCommandID
	}
	b, bdg := c.proof.Base(), c.proof.Body()
	asked := make([]byte, 0, 256)
	asked = append(asked, c.route.op...)
	asked = append(asked, 0)
	asked = append(asked, c.proof.ToolID()...) // the path does not always name it
	asked = append(asked, 0)
	asked = append(asked, c.r.URL.Path...)
	asked = append(asked, 0)
	asked = append(append(asked, b[:]...), bdg[:]...)
	return registry.CommandMeta{ID: id, Req: canon.Digest("pratique/request/v1", asked), Caller: c.caller}, nil
}

// decode reads a small body strictly.
func (c *call) decode(v any) error {
	return canon.Unmarshal(c.body, v, canon.Limits{Bytes: maxOverwriteBody, Depth: 16, NoNull: true})
}

// publicKey reads a public JWK of a body.
func publicKey(field string, raw jsontext.Value) (envelope.Key, error) {
	if len(raw) == 0 {
		return envelope.Key{}, at(field, errMissing)
	}
	k, err := envelope.ParseJWK(raw)
	if err != nil {
		return envelope.Key{}, at(field, fmt.Errorf("%w: %w", errKey, err))
	}
	return k, nil
}

// at names the member that an error is about, as a JSON Pointer.
func at(field string, err error) error {
	if err == nil {
		return nil
	}
	return &fieldError{field, err}
}

type fieldError struct {
	field string
	err   error
}

func (e *fieldError) Error() string { return e.field + ": " + e.err.Error() }
func (e *fieldError) Unwrap() error { return e.err }
