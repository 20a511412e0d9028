package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/registry"
)

// An act is one request with a proof.
type act struct {
	op     proof.Op
	method string
	path   string
	query  url.Values         // of a read; proofs do not cover it (RFC 9449 section 4.2)
	tool   credentials.ToolID // what it is about, where the op says so
	base   credentials.Digest // the version it replaces or judges, likewise
	handle string             // shown; "" for none
	body   any                // marshalled once: every try sends the same bytes
	// command goes into the header Idempotency-Key; a body that has a member for
	// it carries it there and leaves this empty.
	command registry.CommandID

	raw []byte
}

// Waits between tries of one act.
const (
	firstWait = 250 * time.Millisecond
	lastWait  = 5 * time.Second
)

// do carries out an act and decodes the answer into out (nil: none wanted). It
// repeats, always with the same body and command id and each time with a new
// proof: once for a nonce, once for a fresh handle if wanted, and while the
// outcome is unknown as often as Options.Retries allows.
func (a *Actor) do(ctx context.Context, k act, out any) error {
	if k.body != nil {
		var err error
		if k.raw, err = json.Marshal(k.body, json.Deterministic(true)); err != nil {
			return fmt.Errorf("client: request: %w", err)
		}
	}
	renewed, asked := false, false
	for try := 1; ; {
		body, err := a.send(ctx, k)
		if err == nil {
			return decode(body, out)
		}
		switch {
		case Code(err) == codeUseNonce && !asked:
			asked = true // send has kept the nonce that came along
			continue
		case again(err) && try <= a.c.o.Retries && ctx.Err() == nil:
			if err := pause(ctx, a.wait(err, try)); err != nil {
				return fmt.Errorf("%w: %w", ErrUnreachable, err)
			}
			try, asked = try+1, false
			continue
		case a.c.o.AutoRenew && k.handle != "" && !renewed && outworn(err):
			renewed, asked = true, false
			fresh, rerr := a.Renew(ctx, k.tool)
			if rerr != nil {
				return fmt.Errorf("%w (and no fresh handle: %w)", err, rerr)
			}
			k.handle = fresh.Handle
			if f := a.c.o.OnRenew; f != nil {
				f(fresh)
			}
			continue
		}
		return err
	}
}

// wait is how long before the next try. The registry's Retry-After counts, up
// to a bound: it cannot park a client.
func (a *Actor) wait(err error, try int) time.Duration {
	d := a.c.backoff(try, firstWait, lastWait)
	if e, ok := err.(*Error); ok && e.RetryAfter > 0 {
		d = max(d, min(time.Duration(e.RetryAfter)*time.Second, 2*lastWait))
	}
	return d
}

// send makes one try.
func (a *Actor) send(ctx context.Context, k act) ([]byte, error) {
	rule, _ := proof.RuleOf(k.op)
	p := proof.Params{
		Method: k.method, URL: a.c.base + k.path, Op: k.op, Body: k.raw, Handle: k.handle,
		Nonce: a.c.nonces.get(a.KeyID()), Now: a.c.now(), Rand: a.c.rand,
	}
	if rule.ToolID == proof.Present {
		p.ToolID = k.tool
	}
	if rule.Base == proof.Present {
		p.Base = k.base
	}
	token, err := a.prover.Make(p)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	h := http.Header{"Dpop": {token}}
	if k.handle != "" {
		h.Set("Authorization", "DPoP "+k.handle)
	}
	if k.command != "" {
		h.Set("Idempotency-Key", string(k.command))
	}
	body, got, err := a.c.exchange(ctx, call{method: k.method, path: k.path, query: k.query, header: h, body: k.raw})
	a.c.nonces.put(a.KeyID(), got.Get("Dpop-Nonce"))
	return body, err
}

// done carries out an act whose command, if any, is in its body. out says the
// type of the answer.
func done[T any](ctx context.Context, a *Actor, k act, out T) (T, error) {
	err := a.do(ctx, k, &out)
	return out, err
}

// changed is done for an act whose command goes into the header.
func changed[T any](ctx context.Context, a *Actor, k act, out T) (T, error) {
	err := a.change(ctx, k, &out)
	return out, err
}

// change is do for what changes something and has no command in its body.
func (a *Actor) change(ctx context.Context, k act, out any) error {
	id, err := a.c.command(ctx, "")
	if err != nil {
		return err
	}
	k.command = id
	return a.do(ctx, k, out)
}
