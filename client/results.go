package client

import (
	"context"
	"errors"
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
var ErrRun = errors.New("client: want the id of a run, run_..., and of results in it, res_...")

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
