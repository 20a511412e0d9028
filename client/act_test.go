package client_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/internal/problem"
	"github.com/pratique-dev/pratique/labels/observe"
	"github.com/pratique-dev/pratique/registry"
)

func newActor(t testing.TB, f *fake, name string, edit func(*client.Options)) *client.Actor {
	t.Helper()
	o := client.Options{Network: f.network()}
	if edit != nil {
		edit(&o)
	}
	c, err := client.New(fakeURL, &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	a, err := c.As(key(name))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func parsed(t testing.TB, tok string) client.Handle {
	t.Helper()
	h, err := client.ParseHandle(tok + "\r\n")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Every act is the request that the table of operations wants, with a proof
// that the registry's own checker accepts, and an id for its command.
func TestActsAsTheTableSays(t *testing.T) {
	f := newFake(t, time.Now)
	a := newActor(t, f, "owner", nil)
	ctx := t.Context()
	h := parsed(t, f.handle("owner"))
	other := keyOf(t, "other")
	prn := other.ID.Principal()
	tool := "/v1/tools/" + string(toolPay)
	jti := string(someJti)
	const agent = "agt_01JB2Z6T4E9W8K3Q5R7XAAAAAA"
	for _, c := range []struct {
		op     proof.Op
		method string
		path   string
		handle bool
		base   bool
		body   string // a member that the body must have; "": no body
		do     func(context.Context) error
	}{
		{proof.PrincipalCreate, "POST", "/v1/principals", false, false, "recovery_key", func(ctx context.Context) error { _, err := a.CreatePrincipal(ctx, other.JWK()); return err }},
		{proof.PrincipalEnrol, "POST", "/v1/principals/" + string(prn) + "/enrolment", false, false, "origin", func(ctx context.Context) error { _, err := a.Enrol(ctx, prn, originShop); return err }},
		{proof.PrincipalCondemn, "POST", "/v1/principals/" + string(prn) + "/condemnation", false, false, "reason", func(ctx context.Context) error { _, err := a.CondemnPrincipal(ctx, prn, "bad"); return err }},
		{proof.PrincipalRecover, "POST", "/v1/principals/" + string(prn) + "/recovery", false, false, "accept", func(ctx context.Context) error { _, err := a.Recover(ctx, prn, other.JWK(), "tok"); return err }},
		{proof.AgentCreate, "POST", "/v1/agents", false, false, "profile", func(ctx context.Context) error { _, err := a.CreateAgent(ctx, "n", "p"); return err }},
		{proof.AgentList, "GET", "/v1/agents", false, false, "", func(ctx context.Context) error { _, err := a.Agents(ctx); return err }},
		{proof.AgentRevoke, "DELETE", "/v1/agents/" + agent, false, false, "", func(ctx context.Context) error { _, err := a.RevokeAgent(ctx, agent); return err }},
		{proof.ToolRegister, "POST", "/v1/tools", false, false, "command", func(ctx context.Context) error {
			_, err := a.Register(ctx, registry.RegisterRequest{Origin: originShop, Tools: []jsontext.Value{jsontext.Value(metaPay)}})
			return err
		}},
		{proof.ToolOverwrite, "PUT", tool, true, true, "command", func(ctx context.Context) error { _, err := a.Overwrite(ctx, h, jsontext.Value(metaPay)); return err }},
		{proof.ToolRevoke, "DELETE", tool, true, true, "", func(ctx context.Context) error { _, err := a.Revoke(ctx, h); return err }},
		{proof.ToolTransfer, "POST", tool + "/transfer", true, true, "command", func(ctx context.Context) error { _, err := a.Transfer(ctx, h, other.JWK(), "tok"); return err }},
		{proof.ToolTransferUndo, "POST", tool + "/transfer/undo", false, false, "", func(ctx context.Context) error { _, err := a.UndoTransfer(ctx, toolPay); return err }},
		{proof.ToolCondemn, "POST", tool + "/condemnation", false, false, "reason", func(ctx context.Context) error { _, err := a.CondemnTool(ctx, toolPay, "bad"); return err }},
		{proof.ToolRelease, "POST", tool + "/release", false, false, "digest", func(ctx context.Context) error { _, err := a.ReleaseTool(ctx, toolPay, h.Base, "read"); return err }},
		{proof.HandleRenew, "POST", tool + "/handle", false, false, "", func(ctx context.Context) error { _, err := a.Renew(ctx, toolPay); return err }},
		{proof.HandleRevokeAll, "DELETE", tool + "/handles", true, false, "", func(ctx context.Context) error { _, err := a.RevokeHandles(ctx, h); return err }},
		{proof.HandleRevoke, "DELETE", "/v1/handles/" + jti, true, false, "", func(ctx context.Context) error { _, err := a.RevokeHandle(ctx, h, someJti); return err }},
		{proof.DelegationCreate, "POST", "/v1/delegations", true, false, "command", func(ctx context.Context) error {
			_, err := a.Delegate(ctx, h, other.JWK(), []credentials.Action{credentials.Overwrite}, time.Now().Add(time.Minute))
			return err
		}},
		{proof.DelegationRevoke, "DELETE", "/v1/delegations/" + jti, true, false, "", func(ctx context.Context) error { _, err := a.RevokeDelegation(ctx, h, someJti); return err }},
		{proof.DelegationList, "GET", tool + "/delegations", true, false, "", func(ctx context.Context) error { _, err := a.Delegations(ctx, h); return err }},
		{proof.TopologyRead, "POST", "/v1/topologies", false, false, "origin", func(ctx context.Context) error { _, err := a.ReadTopology(ctx, originShop); return err }},
		{proof.OriginCondemn, "POST", "/v1/origins/condemnation", false, false, "reason", func(ctx context.Context) error { _, err := a.CondemnOrigin(ctx, originShop, "bad"); return err }},
		{proof.KeyRotate, "POST", "/v1/keys/rotations", false, false, "role", func(ctx context.Context) error { _, err := a.RotateKeys(ctx, "label", false); return err }},
		{proof.KeyRevoke, "POST", "/v1/keys/" + string(other.ID) + "/revocation", false, false, "reason", func(ctx context.Context) error { _, err := a.RevokeKey(ctx, other.ID, "leaked"); return err }},
		{proof.ObserverEnrol, "POST", "/v1/principals/" + string(prn) + "/observer", false, false, "", func(ctx context.Context) error { _, err := a.EnrolObserver(ctx, prn); return err }},
		{proof.ObserverDismiss, "DELETE", "/v1/principals/" + string(prn) + "/observer", false, false, "", func(ctx context.Context) error { _, err := a.DismissObserver(ctx, prn); return err }},
		{proof.ToolReport, "POST", tool + "/observations", false, false, "observation", func(ctx context.Context) error {
			_, err := a.Observe(ctx, registry.ToolView{ID: toolPay, Generation: 1, Version: 1, Digest: h.Base}, observe.OutputUnfit)
			return err
		}},
		{proof.OperatorRead, "GET", "/v1/reviews", false, false, "", func(ctx context.Context) error { _, err := a.Reviews(ctx, ""); return err }},
		{proof.OperatorRead, "GET", "/v1/contests", false, false, "", func(ctx context.Context) error { _, err := a.Contests(ctx, originShop); return err }},
	} {
		t.Run(string(c.op), func(t *testing.T) {
			calls := 0
			f.acts = func(w http.ResponseWriter, r *http.Request, body []byte) {
				calls++
				if r.Method != c.method || r.URL.Path != c.path {
					t.Errorf("got %s %s, want %s %s", r.Method, r.URL.Path, c.method, c.path)
				}
				if c.method != "GET" && r.URL.RawQuery != "" {
					t.Errorf("a query on a path that changes something: %s", r.URL.RawQuery)
				}
				rule, _ := proof.RuleOf(c.op)
				var base credentials.Digest
				if c.base {
					base = h.Base
				}
				id := credentials.ToolID("")
				if rule.ToolID == proof.Present {
					id = toolPay
				}
				if err := f.proved(r, body, c.op, id, base); err != nil {
					refuse(w, err)
					return
				}
				if want := map[bool]string{true: "DPoP " + h.Token}[c.handle]; r.Header.Get("Authorization") != want {
					t.Error("Authorization is not what the operation wants")
				}
				checkCommand(t, r, body, c.body, c.method)
				answer(w, 200, canned(c.op))
			}
			if err := c.do(ctx); err != nil {
				t.Error(err)
			}
			if calls < 1 || calls > 2 {
				t.Errorf("%d requests", calls)
			}
		})
	}
}

func canned(op proof.Op) any {
	if op == proof.ToolRegister {
		return registry.RegisterResponse{Tools: make([]registry.HandleView, 1)}
	}
	return struct{}{}
}

func checkCommand(t *testing.T, r *http.Request, body []byte, member, method string) {
	t.Helper()
	var m map[string]any
	if (member == "") != (len(body) == 0) {
		t.Errorf("body is %q", body)
	} else if member != "" {
		if err := json.Unmarshal(body, &m); err != nil || m[member] == nil {
			t.Errorf("body has no %s: %s", member, body)
		}
		if r.Header.Get("Content-Type") != "application/json" {
			t.Error("body is not declared to be JSON")
		}
	}
	inBody, _ := m["command"].(string)
	inHeader := r.Header.Get("Idempotency-Key")
	if method == "GET" {
		if inHeader != "" {
			t.Error("a read has a command")
		}
		return
	}
	if _, err := registry.ParseCommandID(inBody + inHeader); err != nil {
		t.Errorf("command: body %q, header %q", inBody, inHeader)
	}
}

// An act of unknown outcome is repeated with the same bytes and command id, and
// a fresh proof each time.
func TestRepeatsUnderOneCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, time.Now)
		a := newActor(t, f, "owner", nil)
		trouble := []func(http.ResponseWriter){
			func(w http.ResponseWriter) { w.WriteHeader(0) }, // the connection breaks
			func(w http.ResponseWriter) { problem.New(503, "unknown_outcome", "unknown").Write(w) },
			func(w http.ResponseWriter) {
				p := problem.New(503, "overload", "busy")
				p.RetryAfter = 3600
				p.Write(w)
			},
		}
		bodies, proofs := map[[32]byte]int{}, map[string]bool{}
		f.acts = func(w http.ResponseWriter, r *http.Request, body []byte) {
			if err := f.proved(r, body, proof.ToolOverwrite, toolPay, credentials.Digest{}); err != nil {
				refuse(w, err)
				return
			}
			bodies[sha256.Sum256(body)]++
			proofs[r.Header.Get("DPoP")] = true
			if n := bodies[sha256.Sum256(body)]; n <= len(trouble) {
				trouble[n-1](w)
				return
			}
			answer(w, 200, registry.HandleView{Handle: "new"})
		}
		start := time.Now()
		got, err := a.Overwrite(t.Context(), parsed(t, f.handle("owner")), jsontext.Value(metaPay))
		if err != nil || got.Handle != "new" {
			t.Fatalf("%v, %v", got, err)
		}
		if len(bodies) != 1 || len(proofs) != 4 {
			t.Errorf("%d bodies and %d proofs in 4 tries", len(bodies), len(proofs))
		}
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("Retry-After parked the client for %v", d)
		}

		// More trouble than Retries, and a caller who gives up.
		f.acts = func(w http.ResponseWriter, _ *http.Request, _ []byte) {
			problem.New(503, "unknown_outcome", "unknown").Write(w)
		}
		if _, err := a.Renew(t.Context(), toolPay); !errors.Is(err, registry.ErrUnknownOutcome) {
			t.Errorf("got %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := a.Renew(ctx, toolPay); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, registry.ErrUnknownOutcome) {
			t.Errorf("gave up: %v", err)
		}
	})
}

func TestWithCommand(t *testing.T) {
	f := newFake(t, time.Now)
	a := newActor(t, f, "owner", func(o *client.Options) { o.Retries = -1 })
	var ids []string
	f.acts = func(w http.ResponseWriter, r *http.Request, _ []byte) {
		ids = append(ids, r.Header.Get("Idempotency-Key"))
		w.WriteHeader(0)
	}
	ctx := client.WithCommand(t.Context(), "kept-across-a-restart")
	for range 2 {
		if _, err := a.Renew(ctx, toolPay); !errors.Is(err, client.ErrUnreachable) {
			t.Error(err)
		}
	}
	if len(ids) != 2 || ids[0] != "kept-across-a-restart" || ids[1] != ids[0] {
		t.Errorf("ids: %q", ids)
	}
	if _, err := a.Renew(client.WithCommand(t.Context(), "short"), toolPay); err == nil || len(ids) != 2 {
		t.Errorf("a bad id was sent: %v", err)
	}
}

// A handle that the registry will not have any more is renewed once, by proof;
// the version that is replaced stays the one the caller saw.
func TestAutoRenew(t *testing.T) {
	f := newFake(t, time.Now)
	var told []registry.HandleView
	a := newActor(t, f, "owner", func(o *client.Options) {
		o.AutoRenew = true
		o.OnRenew = func(h registry.HandleView) { told = append(told, h) }
	})
	old := parsed(t, f.handle("owner"))
	fresh := f.handle("owner")
	code, served := "stale_generation", 0
	f.acts = func(w http.ResponseWriter, r *http.Request, body []byte) {
		if strings.HasSuffix(r.URL.Path, "/handle") {
			if err := f.proved(r, body, proof.HandleRenew, toolPay, credentials.Digest{}); err != nil {
				refuse(w, err)
				return
			}
			answer(w, 200, registry.HandleView{Handle: fresh})
			return
		}
		if err := f.proved(r, body, proof.ToolRevoke, toolPay, old.Base); err != nil {
			refuse(w, err)
			return
		}
		served++
		if r.Header.Get("Authorization") != "DPoP "+fresh {
			problem.New(409, code, "the handle is outworn").Write(w)
			return
		}
		answer(w, 200, registry.ToolView{Status: "revoked"})
	}
	if v, err := a.Revoke(t.Context(), old); err != nil || v.Status != "revoked" {
		t.Fatal(err)
	}
	if len(told) != 1 || told[0].Handle != fresh {
		t.Errorf("told of %v", told)
	}
	// What a fresh handle cannot mend is not tried again.
	for _, code = range []string{"stale_base", "not_owner", "tool_revoked"} {
		served = 0
		if _, err := a.Revoke(t.Context(), old); client.Code(err) != code || served != 1 {
			t.Errorf("%s: %v, %d requests", code, err, served)
		}
	}
	if !errors.Is(func() error { code = "stale_base"; _, err := a.Revoke(t.Context(), old); return err }(), registry.ErrStaleBase) {
		t.Error("a refusal is not the registry's sentinel")
	}
	// Without AutoRenew nothing is renewed.
	b := newActor(t, f, "owner", nil)
	code = "stale_generation"
	if _, err := b.Revoke(t.Context(), old); !errors.Is(err, registry.ErrStaleGeneration) {
		t.Error(err)
	}
}

func TestRegisterBounds(t *testing.T) {
	f := newFake(t, time.Now)
	a := newActor(t, f, "owner", nil)
	tools := make([]jsontext.Value, 2500)
	for i := range tools {
		tools[i] = jsontext.Value(metaPay)
	}
	var sizes []int
	f.acts = func(w http.ResponseWriter, r *http.Request, body []byte) {
		if err := f.proved(r, body, proof.ToolRegister, "", credentials.Digest{}); err != nil {
			refuse(w, err)
			return
		}
		var req registry.RegisterRequest
		if err := json.Unmarshal(body, &req); err != nil {
			t.Error(err)
		}
		sizes = append(sizes, len(req.Tools))
		if len(sizes) == 3 {
			problem.New(409, "name_taken", "taken").Write(w)
			return
		}
		answer(w, 201, registry.RegisterResponse{Tools: make([]registry.HandleView, len(req.Tools))})
	}
	req := registry.RegisterRequest{Origin: originShop, Tools: tools}
	if _, err := a.Register(t.Context(), req); !errors.Is(err, client.ErrBatch) || len(sizes) > 0 {
		t.Errorf("2,500 tools at once: %v", err)
	}
	if _, err := a.Register(t.Context(), registry.RegisterRequest{Origin: originShop}); !errors.Is(err, client.ErrBatch) {
		t.Errorf("no tools: %v", err)
	}
	done := 0
	var last error
	for out, err := range a.RegisterSplit(t.Context(), req, 0) {
		if last = err; err == nil {
			done += len(out.Tools)
		}
	}
	if done != 2000 || !errors.Is(last, registry.ErrNameTaken) || len(sizes) != 3 || sizes[2] != 500 {
		t.Errorf("split: %d done in %v, then %v", done, sizes, last)
	}
}

func TestTransferIsAccepted(t *testing.T) {
	f := newFake(t, time.Now)
	to := newActor(t, f, "other", nil)
	tool := registry.ToolView{ID: toolPay, Generation: 3, Digest: credentials.Digest{7}}
	tok, err := to.Accept(tool)
	if err != nil {
		t.Fatal(err)
	}
	acc, err := registry.OpenAcceptance(tok, keyOf(t, "other"), fakeURL, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := acc.ForTool(toolPay, 3, credentials.Digest{7}, to.KeyID()); err != nil {
		t.Error(err)
	}
	if err := acc.ForTool(toolPay, 3, credentials.Digest{8}, to.KeyID()); err == nil {
		t.Error("an acceptance of one version is one of another")
	}
	from := keyOf(t, "owner").ID.Principal()
	if tok, err = to.AcceptAll(from); err != nil {
		t.Fatal(err)
	}
	if acc, err = registry.OpenAcceptance(tok, keyOf(t, "other"), fakeURL, time.Now()); err != nil || acc.ForAll(from, to.KeyID()) != nil {
		t.Errorf("for all: %v", err)
	}
}
