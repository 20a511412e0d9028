package api_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/runs"
)

// late is a store of runs that is opened once the registry's address is known.
type late struct{ *runs.Store }

// withRuns is a rig on whose folder runs stand, with a runtime that the operator
// enrolled as an observer.
func withRuns(t *testing.T) (*rig, *runs.Store, *party) {
	t.Helper()
	var l late
	r := newRig(t, func(s *settings) { s.api.Runs = &l })
	observers := envelope.NewVerifier(envelope.KeysFunc(func(typ envelope.Type, kid credentials.KeyID) (envelope.Key, error) {
		v, err := r.writer.View()
		if err != nil || typ != envelope.Observation || !v.IsObserver(kid) {
			return envelope.Key{}, envelope.ErrUnknownKey
		}
		p, err := v.Principal(kid.Principal())
		if err != nil {
			return envelope.Key{}, err
		}
		return envelope.ParseJWK(p.JWK)
	}))
	var err error
	l.Store, err = runs.Open(filepath.Join(t.TempDir(), "runs"), runs.Options{Registry: r.url, Observers: observers})
	must(t, err)
	runtime := newParty(t)
	r.create(runtime)
	into[registry.PrincipalView](t, r.send(req{method: "POST", path: "/v1/principals/" + string(runtime.id()) + "/observer", op: proof.ObserverEnrol, by: r.operator}), 200)
	return r, l.Store, runtime
}

func (r *rig) create(p *party) {
	r.t.Helper()
	into[registry.PrincipalView](r.t, r.send(req{method: "POST", path: "/v1/principals", op: proof.PrincipalCreate, by: p, body: registry.PrincipalRequest{}}), 201)
}

// withdraw has a run hold two results of a tool, and withdraws them.
func withdraw(t *testing.T, s *runs.Store, agent string, tool credentials.ToolID) (r *runs.Run, results []string) {
	t.Helper()
	r, _, err := s.Current(credentials.AgentID("agt_"+agent), "personal")
	must(t, err)
	src := runs.Source{Origin: site, Kind: runs.KindTool, Name: "a", Tool: tool, Gen: 1, Ver: 1}
	for range 2 {
		results = append(results, "res_"+ulid.Make().String())
		must(t, r.Deliver(context.Background(), src, runs.Result{ID: results[len(results)-1]}))
	}
	v, err := r.Look()
	must(t, err)
	for i := range v.Held() {
		must(t, r.End(context.Background(), []runs.End{{Index: i, Why: runs.WhyRevoked}}, func(runs.Withdrawn) error { return nil }))
	}
	slices.Sort(results)
	return r, results
}

// deleted is a runtime's statement, with changes for attacks.
func (r *rig) deleted(by *party, run string, results []string, change ...func(*registry.ClearClaims)) string {
	r.t.Helper()
	s, err := envelope.NewSigner(envelope.Observation, by.key)
	must(r.t, err)
	c := registry.ClearClaims{Registered: credentials.NewRegistered(string(by.id()), credentials.TokenID(rand.Text()), r.now(), runs.ActLife),
		Aud: r.url, Op: registry.OpResultsDeleted, Run: run, Results: results, Until: r.now().UnixMilli()}
	for _, f := range change {
		f(&c)
	}
	token, err := s.Sign(c)
	must(r.t, err)
	return token
}

func deletion(by *party, run, statement string) req {
	return req{method: "POST", path: "/v1/runs/" + run + "/deletions", op: proof.ResultsDeleted, by: by, body: registry.DeletionRequest{Statement: statement}}
}

const agentA, agentB = "01J00000000000000000000000", "01J00000000000000000000001"

// TestDeletions: a runtime's statement counts if an operator enrolled it, its own key
// proves it, it is of this run and registry, and the tool is not the runtime's own.
func TestDeletions(t *testing.T) {
	r, s, runtime := withRuns(t)
	alice := newParty(t)
	h := r.register(alice, "a").Tools[0]
	run, results := withdraw(t, s, agentA, h.ID)
	other, theirs := withdraw(t, s, agentB, "")
	stranger := newParty(t)
	r.create(stranger)
	r.send(deletion(stranger, run.ID(), r.deleted(stranger, run.ID(), results))).want(t, 403, "not_observer")
	r.send(deletion(alice, run.ID(), r.deleted(alice, run.ID(), results))).want(t, 403, "not_observer")
	r.send(deletion(runtime, run.ID(), r.deleted(stranger, run.ID(), results))).want(t, 422, "bad_observation")
	r.send(deletion(runtime, run.ID(), "x")).want(t, 422, "bad_observation")
	for what, change := range map[string]func(*registry.ClearClaims){
		"for another registry": func(c *registry.ClearClaims) { c.Aud = "https://elsewhere.example" },
		"as an operator's act": func(c *registry.ClearClaims) { c.Op = registry.OpRunClear },
		"an observation":       func(c *registry.ClearClaims) { c.Op = "tool.observed" },
		"of everything":        func(c *registry.ClearClaims) { c.Results = nil },
		"of another run":       func(c *registry.ClearClaims) { c.Run = other.ID() },
		"by another":           func(c *registry.ClearClaims) { c.Iss = string(stranger.id()) },
		"old": func(c *registry.ClearClaims) {
			c.Registered = credentials.NewRegistered(c.Iss, c.Jti, r.now().Add(-time.Hour), runs.ActLife)
		},
		"unprotected": func(c *registry.ClearClaims) { c.Loose = true },
	} {
		t.Run(what, func(t *testing.T) {
			r.send(deletion(runtime, run.ID(), r.deleted(runtime, run.ID(), results, change))).want(t, 422, "bad_observation")
		})
	}
	r.send(deletion(runtime, run.ID(), r.deleted(runtime, run.ID(), theirs))).want(t, 404, "not_found")
	const none = "run_01J00000000000000000000009"
	r.send(deletion(runtime, none, r.deleted(runtime, none, results))).want(t, 404, "not_found")

	// An observer that registered the tool itself says nothing of what it returned.
	into[registry.PrincipalView](t, r.send(req{method: "POST", path: "/v1/principals/" + string(alice.id()) + "/observer", op: proof.ObserverEnrol, by: r.operator}), 200)
	r.send(deletion(alice, run.ID(), r.deleted(alice, run.ID(), results))).want(t, 403, "own_tool")
	into[registry.DeletionView](t, r.send(deletion(alice, other.ID(), r.deleted(alice, other.ID(), theirs[:1]))), 200)

	said := r.deleted(runtime, run.ID(), results)
	if v := into[registry.DeletionView](t, r.send(deletion(runtime, run.ID(), said)), 200); v.Run != run.ID() || !slices.Equal(v.Results, results) {
		t.Errorf("%+v", v)
	}
	r.send(deletion(runtime, run.ID(), said)).want(t, 422, "bad_observation") // once
	var noted []runs.Cleared
	must(t, run.Record(context.Background(), func(c runs.Cleared) error { noted = append(noted, c); return nil }))
	v, err := run.Look()
	must(t, err)
	if len(noted) != 1 || noted[0].Op != runs.OpDeleted || noted[0].By != runtime.public.ID || len(v.Withdrawn()) != 0 {
		t.Errorf("%+v, %+v", noted, v.Withdrawn())
	}
}

// A watcher reads the stream of withdrawn results.
type watcher struct {
	t     *testing.T
	lines *bufio.Scanner
}

func (r *rig) watch(t *testing.T, by *party) *watcher {
	t.Helper()
	q := req{method: "GET", path: "/v1/results/withdrawn", op: proof.ResultsWatch, by: by}
	r.send(req{method: q.method, path: "/v1/reviews", op: proof.OperatorRead, by: by}) // for a nonce
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	h, err := http.NewRequestWithContext(ctx, q.method, r.url+q.path, nil)
	must(t, err)
	h.Header.Set("DPoP", r.prove(q, nil))
	resp, err := r.client.Do(h)
	must(t, err)
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("stream: %d", resp.StatusCode)
	}
	return &watcher{t, bufio.NewScanner(resp.Body)}
}

func (w *watcher) next() (kind string, e registry.WithdrawalEvent, ok bool) {
	w.t.Helper()
	for w.lines.Scan() {
		switch line := w.lines.Text(); {
		case strings.HasPrefix(line, "event: "):
			kind = line[7:]
		case strings.HasPrefix(line, "data: "):
			must(w.t, json.Unmarshal([]byte(line[6:]), &e))
		case line == "" && kind != "":
			return kind, e, true
		}
	}
	return "", e, false
}

// TestWithdrawnStream: operators and enrolled observers learn which results are
// withdrawn and which left a context; nobody else does (RULES.md 9, 29).
func TestWithdrawnStream(t *testing.T) {
	r, s, runtime := withRuns(t)
	run, results := withdraw(t, s, agentA, "tool_01J00000000000000000000000")
	stranger := newParty(t)
	r.create(stranger)
	at := req{method: "GET", path: "/v1/results/withdrawn", op: proof.ResultsWatch, by: stranger}
	r.send(at).want(t, 403, "not_observer")
	r.send(req{method: "GET", path: at.path}).want(t, 401, "invalid_dpop_proof")
	for _, by := range []*party{r.operator, runtime} {
		w := r.watch(t, by)
		kind, e, ok := w.next()
		if !ok || kind != "withdrawn" || e.Run != run.ID() || e.Agent != run.Agent() || !slices.Equal(e.Results, results) || e.Why != runs.WhyRevoked || e.Origin != site || e.Tool == "" {
			t.Fatalf("%s %+v", kind, e)
		}
		second, theirs := withdraw(t, s, map[bool]string{true: agentB, false: "01J00000000000000000000002"}[by == runtime], "")
		if kind, e, _ := w.next(); kind != "withdrawn" || e.Run != second.ID() || !slices.Equal(e.Results, theirs) {
			t.Errorf("%s %+v", kind, e)
		}
		into[registry.DeletionView](t, r.send(deletion(runtime, second.ID(), r.deleted(runtime, second.ID(), theirs[:1]))), 200)
		must(t, second.Record(context.Background(), func(runs.Cleared) error { return nil }))
		if kind, e, _ := w.next(); kind != "cleared" || e.Run != second.ID() || !slices.Equal(e.Results, theirs[:1]) {
			t.Errorf("%s %+v", kind, e)
		}
		must(t, s.End(second.Agent(), "operator"))
		if kind, e, _ := w.next(); kind != "cleared" || e.Run != second.ID() || !slices.Equal(e.Results, theirs[1:]) {
			t.Errorf("%s %+v", kind, e)
		}
		if by == runtime { // who is dismissed learns nothing more
			into[registry.PrincipalView](t, r.send(req{method: "DELETE", path: "/v1/principals/" + string(runtime.id()) + "/observer", op: proof.ObserverDismiss, by: r.operator}), 200)
			if _, _, ok := w.next(); ok {
				t.Error("the stream goes on")
			}
		}
	}
}

// TestNoRuns: a registry on whose folder no runs stand has none.
func TestNoRuns(t *testing.T) {
	r := newRig(t)
	r.send(req{method: "GET", path: "/v1/results/withdrawn", op: proof.ResultsWatch, by: r.operator}).want(t, 404, "not_found")
	p := newParty(t)
	r.create(p)
	into[registry.PrincipalView](t, r.send(req{method: "POST", path: "/v1/principals/" + string(p.id()) + "/observer", op: proof.ObserverEnrol, by: r.operator}), 200)
	const none = "run_01J00000000000000000000009"
	r.send(deletion(p, none, r.deleted(p, none, []string{"res_01J00000000000000000000009"}))).want(t, 404, "not_found")
}
