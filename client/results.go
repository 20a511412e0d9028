package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/registry"
)

// ErrRun says that a text is no id of a run, or that a statement names no results.
var ErrRun = errors.New("client: want the id of a run (run_) and of results in it (res_)")

// ConfirmLife is how long a statement made here is good.
const ConfirmLife = 10 * time.Minute

// ConfirmDeleted states, as the runtime of an agent that an operator enrolled as an
// observer, that results were deleted from the agent's context; refusals and
// FollowWithdrawn name those that have to be. A gateway of the run puts the statement
// on record before it clears anything.
func (a *Actor) ConfirmDeleted(ctx context.Context, run string, results []string) (registry.DeletionView, error) {
	var out registry.DeletionView
	if !strings.HasPrefix(run, "run_") || strings.Contains(run, "/") || len(results) == 0 {
		return out, ErrRun
	}
	jti, err := token(a.c.rand)
	if err != nil {
		return out, err
	}
	s, err := envelope.NewSigner(envelope.Observation, a.key)
	if err != nil {
		return out, err
	}
	now := a.c.now()
	said, err := s.Sign(registry.ClearClaims{
		Registered: credentials.NewRegistered(string(a.ID()), credentials.TokenID(jti), now, ConfirmLife),
		Aud:        a.c.base, Op: registry.OpResultsDeleted, Run: run, Results: results, Until: now.UnixMilli(),
	})
	if err != nil {
		return out, err
	}
	err = a.do(ctx, act{op: proof.ResultsDeleted, method: http.MethodPost, path: "/v1/runs/" + url.PathEscape(run) + "/deletions",
		body: registry.DeletionRequest{Statement: said}}, &out)
	return out, err
}

// Kinds of what FollowWithdrawn hears.
const (
	ResultsWithdrawn = "withdrawn" // results are withdrawn from a context: delete them
	ResultsCleared   = "cleared"   // they left it, or their run has ended
)

// FollowWithdrawn follows, as an operator or enrolled observer, which results are
// withdrawn from agents' contexts, until ctx ends, whose error it returns. It begins
// with all that is withdrawn, at each time that the stream is opened anew, and calls f
// on this goroutine. An error of the registry that says that the actor may not, or that
// there is no such stream, ends it.
func (a *Actor) FollowWithdrawn(ctx context.Context, f func(kind string, e registry.WithdrawalEvent)) error {
	for try, asked := 1, false; ; try++ {
		got, err := a.followWithdrawn(ctx, f)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if got {
			try = 1
		}
		if e, ok := errors.AsType[*Error](err); ok {
			switch {
			case e.Code == codeUseNonce && !asked:
				asked = true // the nonce that came along is kept
				continue
			case e.Status == http.StatusForbidden || e.Status == http.StatusNotFound:
				return err
			}
		}
		asked = false
		if err := pause(ctx, a.c.backoff(try, firstReopen, lastReopen)); err != nil {
			return err
		}
	}
}

// followWithdrawn reads one connection to its end; got says that something came.
func (a *Actor) followWithdrawn(ctx context.Context, f func(kind string, e registry.WithdrawalEvent)) (got bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	const path = "/v1/results/withdrawn"
	shown, err := a.prover.Make(proof.Params{Method: http.MethodGet, URL: a.c.base + path, Op: proof.ResultsWatch,
		Nonce: a.c.nonces.get(a.KeyID()), Now: a.c.now(), Rand: a.c.rand})
	if err != nil {
		return false, err
	}
	req, err := a.c.request(ctx, call{method: http.MethodGet, path: path, header: http.Header{"Dpop": {shown}, "Cache-Control": {"no-cache"}}, accept: "text/event-stream"})
	if err != nil {
		return false, err
	}
	watch := newWatchdog(StreamSilence, cancel)
	defer watch.stop()
	resp, err := a.c.rt.RoundTrip(req)
	if err != nil {
		return false, unreachable(ctx, err)
	}
	defer resp.Body.Close()
	a.c.nonces.put(a.KeyID(), resp.Header.Get("Dpop-Nonce"))
	if err := judge(resp, "text/event-stream"); err != nil {
		return false, err
	}
	err = readEvents(io.TeeReader(resp.Body, watch), func(e event) error {
		if e.kind != ResultsWithdrawn && e.kind != ResultsCleared {
			return nil // of a later version
		}
		var w registry.WithdrawalEvent
		if err := decode(e.data, &w); err != nil {
			return err
		}
		got = true
		f(e.kind, w)
		return nil
	})
	return got, err
}
