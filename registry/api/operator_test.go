package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/api"
)

// operatorActs are all acts that only an operator may do.
func operatorActs(r *rig, h registry.HandleView) map[string]req {
	tool, prn := "/v1/tools/"+string(h.ID), "/v1/principals/"+string(h.Owner)
	why := registry.ReasonRequest{Reason: "because"}
	kid := r.ring.List()[1].Kid
	return map[string]req{
		"enrol":             {method: "POST", path: prn + "/enrolment", op: proof.PrincipalEnrol, body: registry.EnrolRequest{Origin: site}},
		"condemn principal": {method: "POST", path: prn + "/condemnation", op: proof.PrincipalCondemn, body: why},
		"condemn tool":      {method: "POST", path: tool + "/condemnation", op: proof.ToolCondemn, tool: h.ID, body: why},
		"release":           {method: "POST", path: tool + "/release", op: proof.ToolRelease, tool: h.ID, body: registry.ReleaseRequest{Digest: h.Digest, Reason: "read"}},
		"condemn origin":    {method: "POST", path: "/v1/origins/condemnation", op: proof.OriginCondemn, body: registry.OriginReasonRequest{Origin: site, Reason: "because"}},
		"enrol observer":    {method: "POST", path: prn + "/observer", op: proof.ObserverEnrol},
		"dismiss observer":  {method: "DELETE", path: prn + "/observer", op: proof.ObserverDismiss},
		"reviews":           {method: "GET", path: "/v1/reviews", op: proof.OperatorRead},
		"contests":          {method: "GET", path: "/v1/contests", op: proof.OperatorRead},
		"new agent":         {method: "POST", path: "/v1/agents", op: proof.AgentCreate, body: registry.AgentRequest{Name: "helper", Profile: "personal"}},
		"agents":            {method: "GET", path: "/v1/agents", op: proof.AgentList},
		"revoke agent":      {method: "DELETE", path: "/v1/agents/agt_01JB2Z6T4E9W8K3Q5R7XAAAAAA", op: proof.AgentRevoke},
		"rotate":            {method: "POST", path: "/v1/keys/rotations", op: proof.KeyRotate, body: registry.RotateRequest{Role: "handle"}},
		"revoke key":        {method: "POST", path: "/v1/keys/" + string(kid) + "/revocation", op: proof.KeyRevoke, body: why},
	}
}

func TestOperatorsActsAreOperators(t *testing.T) {
	r := newRig(t)
	alice := newParty(t)
	h := r.register(alice, "a").Tools[0]
	before := r.head()
	ver := r.ring.Ver()
	for name, q := range operatorActs(r, h) {
		t.Run(name, func(t *testing.T) {
			q.by = alice // the owner itself is none
			r.send(q).want(t, 403, "not_operator")
		})
	}
	if r.head() != before || r.ring.Ver() != ver {
		t.Error("something has changed")
	}
	// And an operator never does what is a registrant's (RULES.md 26).
	op := r.operator
	for _, q := range []req{overwrite(op, h, "x"), revoke(op, h)} {
		r.send(q).want(t, 401, "invalid_token")
	}
	r.send(renew(op, h.ID)).want(t, 403, "not_owner")
}

func TestAgents(t *testing.T) {
	r := newRig(t)
	q := req{method: "POST", path: "/v1/agents", op: proof.AgentCreate, by: r.operator, body: registry.AgentRequest{Name: "helper", Profile: "personal"},
		header: map[string][]string{"Idempotency-Key": {"agent-0123456789abcdef"}}}
	a := into[registry.AgentView](t, r.send(q), 201)
	if !strings.HasPrefix(a.Credential, api.AgentCredentialPrefix) || len(a.Credential) < 50 {
		t.Fatalf("credential: %q", a.Credential)
	}
	v, err := r.writer.View()
	must(t, err)
	rec, err := v.AgentBySecret(canon.Digest(api.AgentSecretContext, []byte(a.Credential)))
	if err != nil || rec.ID != a.ID {
		t.Errorf("the record does not know the credential: %v", err)
	}
	if again := into[registry.AgentView](t, r.send(q), 201); again.ID != a.ID || again.Credential != "" {
		t.Errorf("a retry: %+v", again)
	}
	list := into[registry.AgentList](t, r.send(req{method: "GET", path: "/v1/agents", op: proof.AgentList, by: r.operator}), 200)
	if len(list.Agents) != 1 || list.Agents[0].Credential != "" {
		t.Errorf("list: %+v", list)
	}
	end := req{method: "DELETE", path: "/v1/agents/" + string(a.ID), op: proof.AgentRevoke, by: r.operator}
	if gone := into[registry.AgentView](t, r.send(end), 200); !gone.Revoked {
		t.Errorf("revoked: %+v", gone)
	}
	r.send(end).want(t, 409, "exists")
	q.body = registry.AgentRequest{Name: "a b", Profile: "personal"}
	q.header = nil
	r.send(q).want(t, 422, "bad_agent")
	// An agent's credential opens nothing here (RULES.md 11).
	x := registration(newParty(t), "a")
	x.header = map[string][]string{"Authorization": {"Bearer " + a.Credential}}
	r.send(x).want(t, 400, "authorization_not_allowed")
}

func TestJudgements(t *testing.T) {
	r := newRig(t)
	alice := newParty(t)
	tools := r.register(alice, "a", "b").Tools
	h := tools[0]
	label := func(id credentials.ToolID) registry.LabelView {
		return into[registry.LabelView](t, r.get("/v1/labels/"+string(id)), 200)
	}
	act := func(name string) req {
		q := operatorActs(r, h)[name]
		q.by = r.operator
		return q
	}
	if l := label(h.ID); l.Tier != "yellow" || l.Standing != "unknown" || l.Content != "uninspected" {
		t.Errorf("at first: %+v", l)
	}
	into[registry.PrincipalView](t, r.send(act("enrol")), 200)
	into[registry.ToolView](t, r.send(act("release")), 200)
	if l := label(h.ID); l.Tier != "green" || l.Content != "inspected" {
		t.Errorf("enrolled and released: %+v", l)
	}
	h2 := into[registry.HandleView](t, r.send(overwrite(alice, h, "next")), 200)
	if l := label(h.ID); l.Tier != "yellow" || l.Digest != h2.Digest {
		t.Errorf("overwritten: %+v", l)
	}
	r.send(act("release")).want(t, 412, "stale_base")
	q := act("release")
	q.body = registry.ReleaseRequest{Reason: "read"}
	r.send(q).want(t, 422, "bad_digest")
	q.body = registry.ReleaseRequest{Digest: h2.Digest}
	r.send(q).want(t, 422, "bad_reason")
	q = act("condemn tool")
	q.body = registry.ReasonRequest{Reason: "line\nend"}
	r.send(q).want(t, 422, "bad_reason")
	into[registry.ToolView](t, r.send(act("condemn tool")), 200)
	r.send(act("condemn tool")).want(t, 409, "exists")
	if l := label(h.ID); l.Tier != "red" || l.Content != "violated" {
		t.Errorf("condemned: %+v", l)
	}
	vs := into[registry.VersionList](t, r.get("/v1/tools/"+string(h.ID)+"/versions?limit=2"), 200)
	if len(vs.Versions) != 2 || vs.Versions[0].Event != registry.ToolCondemned || vs.Versions[0].Version != 2 || vs.Cursor == "" {
		t.Errorf("versions: %+v", vs)
	}
	rest := into[registry.VersionList](t, r.get("/v1/tools/"+string(h.ID)+"/versions?cursor="+vs.Cursor), 200)
	if len(rest.Versions) != 2 || rest.Versions[0].Event != registry.ToolReleased || rest.Versions[0].Version != 1 || rest.Versions[0].Digest != h.Digest || rest.Cursor != "" {
		t.Errorf("the rest: %+v", rest)
	}
	into[registry.TopologyView](t, r.send(act("condemn origin")), 200)
	if l := label(tools[1].ID); l.Tier != "red" || l.Standing != "vetoed" {
		t.Errorf("at a condemned origin: %+v", l)
	}
	r.send(registration(newParty(t), "c")).want(t, 403, "condemned")
	into[registry.PrincipalView](t, r.send(act("condemn principal")), 200)
	r.send(overwrite(alice, h2, "more")).want(t, 403, "condemned")
	r.send(renew(alice, h.ID)).want(t, 403, "condemned")
}

// TestCaseO14RotateAndSkew is the API's part of O-14: a plain rotation spoils
// nothing, an emergency ends at once what the key signed and says which key.
func TestCaseO14RotateAndSkew(t *testing.T) {
	r := newRig(t)
	alice := newParty(t)
	h1 := r.register(alice, "pay").Tools[0]
	k1 := kidOf(t, h1.Handle)
	rotate := req{method: "POST", path: "/v1/keys/rotations", op: proof.KeyRotate, by: r.operator, body: registry.RotateRequest{Role: "handle", DryRun: true}}
	if res := into[registry.KeyChangeResponse](t, r.send(rotate), 200); res.Applied || len(res.Changes) == 0 {
		t.Errorf("dry run: %+v", res)
	}
	rotate.body = registry.RotateRequest{Role: "handle"}
	into[registry.KeyChangeResponse](t, r.send(rotate), 200)
	r.send(rotate).want(t, 409, "key_too_early")

	// H1 works until its own end; what is new carries k2.
	h2 := into[registry.HandleView](t, r.send(overwrite(alice, h1, "after the rotation")), 200)
	if k := kidOf(t, h2.Handle); k == k1 {
		t.Error("the retired key goes on signing")
	}
	jwks := string(r.get("/.well-known/jwks.json").body)
	if !strings.Contains(jwks, string(k1)) {
		t.Error("k1 has left the key set while what it signed lives")
	}
	late := overwrite(alice, registry.HandleView{ToolView: h2.ToolView, Handle: h1.Handle}, "with H1")
	r.advance(55 * time.Minute)
	h3 := into[registry.HandleView](t, r.send(late), 200)
	r.advance(10 * time.Minute)
	late = overwrite(alice, registry.HandleView{ToolView: h3.ToolView, Handle: h1.Handle}, "too late")
	out := r.send(late)
	out.want(t, 401, "invalid_token")
	if !strings.Contains(out.Detail, "expired") {
		t.Errorf("the reason is not named: %q", out.Detail)
	}

	// The emergency: k2 leaked.
	h4 := into[registry.HandleView](t, r.send(renew(alice, h1.ID)), 200)
	k2 := kidOf(t, h4.Handle)
	into[registry.HandleView](t, r.send(overwrite(alice, registry.HandleView{ToolView: h3.ToolView, Handle: h4.Handle}, "cached")), 200)
	end := req{method: "POST", path: "/v1/keys/" + string(k2) + "/revocation", op: proof.KeyRevoke, by: r.operator, body: registry.ReasonRequest{Reason: "leaked"}}
	into[registry.KeyChangeResponse](t, r.send(end), 200)
	out = r.send(overwrite(alice, registry.HandleView{ToolView: h3.ToolView, Handle: h4.Handle}, "after"))
	out.want(t, 401, "invalid_token")
	if !strings.Contains(out.Detail, string(k2)) || !strings.Contains(out.Detail, "revoked") {
		t.Errorf("the reason does not name the key: %q", out.Detail)
	}
	h5 := into[registry.HandleView](t, r.send(renew(alice, h1.ID)), 200)
	if k := kidOf(t, h5.Handle); k == k2 || k == k1 {
		t.Error("a revoked or retired key signs")
	}
	into[registry.HandleView](t, r.send(overwrite(alice, h5, "and on")), 200)

	// A retired key's handle.
	r.advance(27 * time.Hour)
	_, err := r.ring.Tick(r.now())
	must(t, err)
	if _, err := r.ring.Key(envelope.Handle, k1); err == nil {
		t.Fatal("k1 is not retired")
	}
	r.send(overwrite(alice, registry.HandleView{ToolView: h5.ToolView, Handle: h1.Handle}, "retired")).want(t, 401, "invalid_token")
}

func kidOf(t *testing.T, tok string) credentials.KeyID {
	t.Helper()
	u, err := envelope.Precheck(tok, envelope.Handle)
	must(t, err)
	return u.KeyID
}

func TestKeys(t *testing.T) {
	r := newRig(t)
	l := into[registry.KeyList](t, r.get("/v1/keys"), 200)
	if len(l.Keys) < 12 {
		t.Errorf("keys: %+v", l)
	}
	rotate := req{method: "POST", path: "/v1/keys/rotations", op: proof.KeyRotate, by: r.operator, body: registry.RotateRequest{Role: "all"}}
	r.send(rotate).want(t, 422, "bad_role")
	rotate.body = registry.RotateRequest{Role: "label"}
	for _, c := range []struct {
		err  error
		code string
	}{{keyring.ErrConflict, "key_conflict"}, {keyring.ErrState, "key_state"}, {keyring.ErrRootOffline, "root_offline"}} {
		undo := inject(&r.failKeys, c.err)
		r.send(rotate).want(t, 409, c.code)
		undo()
	}
	end := req{method: "POST", path: "/v1/keys/" + strings.Repeat("A", 43) + "/revocation", op: proof.KeyRevoke, by: r.operator, body: registry.ReasonRequest{Reason: "x"}}
	r.send(end).want(t, 404, "not_found")
	end.path = "/v1/keys/short/revocation"
	r.send(end).want(t, 400, "bad_id")
}

func TestPrincipals(t *testing.T) {
	r := newRig(t)
	create := req{method: "POST", path: "/v1/principals", op: proof.PrincipalCreate, by: newParty(t)}
	for name, jwk := range map[string]string{
		"symmetric": `{"kty":"oct","k":"AAAA"}`, "private": `{"kty":"OKP","crv":"Ed25519","x":"AAAA","d":"AAAA"}`,
		"RSA": `{"kty":"RSA","n":"AAAA","e":"AQAB"}`, "low order": `{"kty":"OKP","crv":"Ed25519","x":"` + strings.Repeat("A", 43) + `"}`,
		"short": `{"kty":"OKP","crv":"Ed25519","x":"AAAA"}`, "with an address": `{"kty":"OKP","crv":"Ed25519","x":"AAAA","x5u":"https://evil.example"}`,
	} {
		t.Run(name, func(t *testing.T) {
			create.body = []byte(`{"recovery_key":` + jwk + `}`)
			before := r.head()
			r.send(create).want(t, 422, "bad_key")
			if r.head() != before {
				t.Error("the log has grown")
			}
		})
	}
	r.get("/v1/principals/prn_"+strings.Repeat("A", 43)).want(t, 404, "not_found")
	r.get("/v1/principals/me").want(t, 400, "bad_id")
}
