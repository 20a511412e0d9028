package client

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/labels/observe"
	"github.com/pratique-dev/pratique/registry"
)

// Observe reports what the actor, an enrolled observer, saw a tool do, in exactly
// the version given (EnrolObserver). It makes the version suspect at most; with no
// sign it is praise, which is not recorded. The statement is signed for this
// registry alone, and good once.
func (a *Actor) Observe(ctx context.Context, tool registry.ToolView, saw ...observe.Sign) (registry.ObservationView, error) {
	var out registry.ObservationView
	path, err := toolPath(tool.ID, "/observations")
	if err != nil {
		return out, err
	}
	jti, err := token(a.c.rand)
	if err != nil {
		return out, err
	}
	s, err := envelope.NewSigner(envelope.Observation, a.key)
	if err != nil {
		return out, err
	}
	signs := append([]observe.Sign{}, saw...)
	slices.Sort(signs)
	statement, err := s.Sign(registry.ObservationClaims{
		Registered: credentials.NewRegistered(string(a.ID()), credentials.TokenID(jti), a.c.now(), registry.MaxObservationLife/2),
		Aud:        a.c.base, Op: registry.ObservationOp, Sub: tool.ID, Gen: tool.Generation, Ver: tool.Version, Mdg: tool.Digest,
		Saw: slices.Compact(signs),
	})
	if err != nil {
		return out, err
	}
	id, err := a.c.command(ctx, "")
	if err != nil {
		return out, err
	}
	return done(ctx, a, act{
		op: proof.ToolReport, method: http.MethodPost, path: path, tool: tool.ID,
		body: registry.ObservationRequest{Command: id, Observation: statement},
	}, out)
}

// Reviews lists, for an operator, the versions against which an observer's word
// stands; of one tool, or of all where it is empty. A release or a condemnation
// ends them.
func (a *Actor) Reviews(ctx context.Context, tool credentials.ToolID) ([]registry.ReviewView, error) {
	var out registry.ReviewList
	q := url.Values{}
	set(q, "tool", string(tool))
	err := a.do(ctx, act{op: proof.OperatorRead, method: http.MethodGet, path: "/v1/reviews", query: q}, &out)
	return out.Reviews, err
}
