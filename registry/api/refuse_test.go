package api_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/internal/fetch"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/api"
	"github.com/pratique-dev/pratique/registry/writer"
)

// handleClaims are good claims for the tool, to sign with whatever an attacker
// has.
func (r *rig) handleClaims(h registry.HandleView, who *party) credentials.HandleClaims {
	return credentials.HandleClaims{
		Registered: credentials.NewRegistered(r.url, credentials.TokenID(base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{7}, 16))), r.now(), time.Hour),
		Sub:        who.id(), Aud: r.url, ToolID: h.ID, Gen: h.Generation, Ver: h.Version, Mdg: h.Digest, Act: credentials.AllActions(),
		Cnf: credentials.Confirmation{Jkt: who.public.ID}, Prv: credentials.LevelPoP,
	}
}

// sign has the registry's own key sign claims that it would never make.
func (r *rig) sign(h credentials.HandleClaims) string {
	r.t.Helper()
	tok, err := r.ring.SignToken(envelope.Handle, &h)
	must(r.t, err)
	return tok
}

// TestForeignActs tries every act on a tool from every position but the
// owner's. Each has its status and code, and nothing changes.
func TestForeignActs(t *testing.T) {
	r := newRig(t)
	alice, mallory := newParty(t), newParty(t)
	mine := r.register(alice, "checkout", "basket")
	h := mine.Tools[0]
	theirs := r.register(mallory, "banner").Tools[0]
	with := func(q req, by *party, handle string) req {
		q.by, q.handle = by, handle
		return q
	}
	exp := r.now().Add(10 * time.Minute)
	acceptance := r.accept(mallory, registry.AcceptClaims{ToolID: h.ID, Gen: h.Generation, Mdg: h.Digest})
	forged := r.handleClaims(h, mallory)
	selfSigned, err := envelope.NewSigner(envelope.Handle, mallory.key)
	must(t, err)
	own, err := selfSigned.Sign(&forged)
	must(t, err)
	signed := func(f func(*credentials.HandleClaims)) string {
		c := r.handleClaims(h, alice)
		f(&c)
		return r.sign(c)
	}
	for _, act := range []struct {
		name string
		q    req
	}{
		{"overwrite", overwrite(alice, h, "evil")},
		{"revoke", revoke(alice, h)},
		{"delegate", delegate(alice, h, mallory, exp, credentials.Overwrite)},
		{"transfer", transfer(alice, h, mallory, acceptance)},
		{"revoke handles", req{method: "DELETE", path: "/v1/tools/" + string(h.ID) + "/handles", op: proof.HandleRevokeAll, tool: h.ID}},
		{"list delegations", req{method: "GET", path: "/v1/tools/" + string(h.ID) + "/delegations", op: proof.DelegationList, tool: h.ID}},
	} {
		pathNamesTool := act.name != "delegate"
		for _, c := range []struct {
			name   string
			q      req
			status int
			code   string
		}{
			{"handle without its key", with(act.q, mallory, h.Handle), 401, "invalid_token"},
			{"handle signed by oneself", with(act.q, mallory, own), 401, "invalid_token"},
			{"another audience", with(act.q, alice, signed(func(c *credentials.HandleClaims) { c.Aud = "https://other.example" })), 401, "invalid_token"},
			{"another issuer", with(act.q, alice, signed(func(c *credentials.HandleClaims) { c.Iss = "https://other.example" })), 401, "invalid_token"},
			{"expired", with(act.q, alice, signed(func(c *credentials.HandleClaims) {
				c.Iat, c.Nbf, c.Exp = c.Iat-7200, c.Nbf-7200, c.Exp-3600-10
			})), 401, "invalid_token"},
			{"lives too long", with(act.q, alice, signed(func(c *credentials.HandleClaims) { c.Exp += 24 * 3600 })), 401, "invalid_token"},
			{"another generation", with(act.q, alice, signed(func(c *credentials.HandleClaims) { c.Gen++ })), 409, "stale_generation"},
			{"a delegation that is none", with(act.q, mallory, signed(func(c *credentials.HandleClaims) {
				c.Cnf.Jkt, c.Par, c.Dpt = mallory.public.ID, "0123456789abcdef", 1
			})), 401, "invalid_token"},
			{"no handle", req{method: act.q.method, path: act.q.path, op: act.q.op, by: alice, tool: h.ID, base: act.q.base, handle: h.Handle, body: act.q.body, noAuth: true}, 401, "invalid_token"},
		} {
			t.Run(act.name+"/"+c.name, func(t *testing.T) {
				before := r.head()
				r.send(c.q).want(t, c.status, c.code)
				if r.head() != before {
					t.Error("the log has grown")
				}
			})
		}
		t.Run(act.name+"/with the handle of another tool", func(t *testing.T) {
			before := r.head()
			q := with(act.q, mallory, theirs.Handle)
			if pathNamesTool {
				r.send(q).want(t, 403, "wrong_tool")
			} else { // the handle itself says which tool it is about, and the proof another
				r.send(q).want(t, 401, "invalid_dpop_proof")
			}
			if r.head() != before {
				t.Error("the log has grown")
			}
		})
	}
	if v := into[registry.ToolView](t, r.get("/v1/tools/"+string(h.ID)), 200); v.Digest != h.Digest || v.Version != 1 || v.Generation != 1 {
		t.Errorf("the tool has changed: %+v", v)
	}
	into[registry.HandleView](t, r.send(overwrite(alice, h, "mine")), 200)
}

// TestProofs tries proofs that are not of this request, at this time, by this
// key, once.
func TestProofs(t *testing.T) {
	r := newRig(t)
	alice := newParty(t)
	tools := r.register(alice, "a", "b").Tools
	h := tools[0]
	r.send(req{method: "GET", path: "/v1/agents", op: proof.AgentList, by: r.operator}) // gets a nonce
	good := overwrite(alice, h, "next")
	tweak := func(f func(*proof.Params)) req {
		q := good
		q.tweak = f
		return q
	}
	for _, c := range []struct {
		name   string
		q      req
		status int
		code   string
	}{
		{"altered body", tweak(func(p *proof.Params) { p.Body = append(bytes.Clone(p.Body), ' ') }), 401, "invalid_dpop_proof"},
		{"another path", tweak(func(p *proof.Params) { p.URL = r.url + "/v1/tools/" + string(tools[1].ID) }), 401, "invalid_dpop_proof"},
		{"behind a proxy that renames", tweak(func(p *proof.Params) { p.URL = "https://proxy.example/v1/tools/" + string(h.ID) }), 401, "invalid_dpop_proof"},
		{"another method", tweak(func(p *proof.Params) { p.Method = "POST" }), 401, "invalid_dpop_proof"},
		{"another operation", tweak(func(p *proof.Params) { p.Op = proof.ToolTransfer }), 401, "invalid_dpop_proof"},
		{"another tool", tweak(func(p *proof.Params) { p.ToolID = tools[1].ID }), 401, "invalid_dpop_proof"},
		{"another handle", tweak(func(p *proof.Params) { p.Handle = tools[1].Handle }), 401, "invalid_dpop_proof"},
		{"two minutes ahead", tweak(func(p *proof.Params) { p.Now = p.Now.Add(2 * time.Minute) }), 401, "invalid_dpop_proof"},
		{"two minutes old", tweak(func(p *proof.Params) { p.Now = p.Now.Add(-2 * time.Minute) }), 401, "invalid_dpop_proof"},
		{"another base", tweak(func(p *proof.Params) { p.Base = tools[1].Digest }), 412, "stale_base"},
		{"no JWT", req{method: "PUT", path: good.path, op: good.op, by: alice, tool: h.ID, handle: h.Handle, body: good.body, token: "a.b.c"}, 401, "invalid_dpop_proof"},
		{"invented nonce", req{method: "PUT", path: good.path, op: good.op, by: alice, tool: h.ID, base: h.Digest, handle: h.Handle, body: good.body, oldNonce: true,
			tweak: func(p *proof.Params) { p.Nonce = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" }}, 401, "use_dpop_nonce"},
		{"nonce of another key", req{method: "PUT", path: good.path, op: good.op, by: alice, tool: h.ID, base: h.Digest, handle: h.Handle, body: good.body, oldNonce: true,
			tweak: func(p *proof.Params) { p.Nonce = r.operator.nonce }}, 401, "use_dpop_nonce"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := r.head()
			out := r.send(c.q)
			out.want(t, c.status, c.code)
			if r.head() != before {
				t.Error("the log has grown")
			}
			if out.status == 401 {
				if a := out.header.Get("WWW-Authenticate"); !strings.HasPrefix(a, `DPoP error="`+c.code+`"`) {
					t.Errorf("WWW-Authenticate: %s", a)
				}
			}
			if c.name != "no JWT" && out.header.Get("DPoP-Nonce") == "" {
				t.Error("no nonce for the next try")
			}
		})
	}

	t.Run("replayed", func(t *testing.T) {
		var tok string
		q := good
		q.keepToken = &tok
		next := into[registry.HandleView](t, r.send(q), 200)
		q.token = tok
		r.send(q).want(t, 401, "invalid_dpop_proof")
		q.path = "/v1/tools/" + string(tools[1].ID)
		r.send(q).want(t, 401, "invalid_dpop_proof")
		if next.Version != 2 {
			t.Error("the good one did not count")
		}
	})
	t.Run("of another type", func(t *testing.T) {
		q := registration(alice, "c")
		q.token = h.Handle
		r.send(q).want(t, 401, "invalid_dpop_proof")
		q = overwrite(alice, h, "x")
		q.handle = r.accept(alice, registry.AcceptClaims{ToolID: h.ID, Gen: 1, Mdg: h.Digest})
		r.send(q).want(t, 401, "invalid_token")
	})
	t.Run("twice, none", func(t *testing.T) {
		q := registration(alice, "c")
		q.header = http.Header{"Dpop": {"a.b.c", "d.e.f"}}
		r.send(q).want(t, 401, "invalid_dpop_proof")
		q.header = http.Header{"Dpop": {}}
		r.send(q).want(t, 401, "invalid_dpop_proof")
	})
	t.Run("with Authorization where none belongs", func(t *testing.T) {
		q := registration(alice, "c")
		q.header = http.Header{"Authorization": {"DPoP " + h.Handle}}
		r.send(q).want(t, 400, "authorization_not_allowed")
	})
}

// TestSkew: clocks of holders may be 45 s off either way (O-14).
func TestSkew(t *testing.T) {
	r := newRig(t)
	alice := newParty(t)
	h := r.register(alice, "a").Tools[0]
	for i, d := range []time.Duration{45 * time.Second, -45 * time.Second} {
		q := overwrite(alice, h, fmt.Sprint(i))
		q.tweak = func(p *proof.Params) { p.Now = p.Now.Add(d) }
		h = into[registry.HandleView](t, r.send(q), 200)
	}
}

func TestReplaySetFull(t *testing.T) {
	r := newRig(t, func(s *settings) { s.replay = proof.NewReplay(3, 3) })
	alice := newParty(t)
	r.register(alice, "a")
	r.register(alice, "b")
	r.register(alice, "c")
	before := r.head()
	out := r.send(registration(alice, "d"))
	out.want(t, 503, "replay_full")
	if out.header.Get("Retry-After") == "" || r.head() != before {
		t.Error("no Retry-After, or something was tried")
	}
}

// TestNames: names are never authority, and a second claim is put on record.
func TestNames(t *testing.T) {
	r := newRig(t)
	alice, mallory := newParty(t), newParty(t)
	h := r.register(alice, "checkout").Tools[0]
	for range 20 {
		r.send(registration(mallory, "checkout")).want(t, 409, "name_taken")
	}
	both := registration(mallory, "fresh", "checkout")
	r.send(both).want(t, 409, "name_taken")
	if l := into[registry.ToolList](t, r.get("/v1/tools?origin="+site), 200); len(l.Tools) != 1 {
		t.Errorf("half a batch was taken: %+v", l)
	}
	contests := req{method: "GET", path: "/v1/contests", op: proof.OperatorRead, by: r.operator}
	l := into[registry.ContestList](t, r.send(contests), 200)
	if len(l.Contests) != 1 || l.Contests[0].Claimant != mallory.id() || l.Contests[0].Owner != alice.id() || l.Contests[0].Holder != h.ID {
		t.Errorf("contests: %+v", l)
	}
	contests.by = mallory
	r.send(contests).want(t, 403, "not_operator")
	r.send(registration(alice, "checkout")).want(t, 409, "name_taken")
	into[registry.ToolView](t, r.send(revoke(alice, h)), 200)
	r.send(registration(mallory, "checkout")).want(t, 409, "name_kept")
	again := r.register(alice, "checkout").Tools[0]
	if again.ID == h.ID {
		t.Error("a revoked tool came back under its id")
	}
	r.send(overwrite(alice, registry.HandleView{ToolView: again.ToolView, Handle: h.Handle}, "x")).want(t, 410, "tool_revoked")
}

// TestBadInput: each bad input of the list is a named refusal, and
// changes nothing.
func TestBadInput(t *testing.T) {
	r := newRig(t)
	alice := newParty(t)
	h := r.register(alice, "a").Tools[0]
	raw := func(tools string) []byte { return []byte(`{"origin":"` + site + `","tools":[` + tools + `]}`) }
	deep := func(n int) string { return strings.Repeat(`{"x":`, n) + "1" + strings.Repeat("}", n) }
	for _, c := range []struct {
		name   string
		body   []byte
		status int
		code   string
	}{
		{"invalid UTF-8", raw("{\"name\":\"b\",\"description\":\"\xff\xfe\"}"), 422, "invalid_text"},
		{"half a surrogate", raw(`{"name":"b","description":"\ud800"}`), 422, "invalid_text"},
		{"U+0000", raw(`{"name":"b","description":"\u0000"}`), 422, "invalid_text"},
		{"byte order mark", append([]byte("\ufeff"), raw(`{"name":"b"}`)...), 422, "invalid_text"},
		{"duplicate member", raw(`{"name":"b","name":"c"}`), 422, "duplicate_member"},
		{"duplicate after unescaping", raw(`{"name":"b","n\u0061me":"c"}`), 422, "duplicate_member"},
		{"duplicate outside", []byte(`{"origin":"` + site + `","origin":"https://other.example","tools":[{"name":"b"}]}`), 422, "duplicate_member"},
		{"65 deep", raw(`{"name":"b","x":` + deep(65) + `}`), 422, "nested_too_deep"},
		{"20,000 deep", raw(`{"name":"b","x":` + deep(20000) + `}`), 422, "nested_too_deep"},
		{"number beyond a float", raw(`{"name":"b","max":0.10000000000000000001}`), 422, "bad_number"},
		{"number beyond all", raw(`{"name":"b","max":1e999999999}`), 422, "bad_number"},
		{"more than 1 MiB", raw(`{"name":"b","description":"` + strings.Repeat("x", 1<<20) + `"}`), 422, "metadata_too_large"},
		{"more than 16 MiB", raw(`{"name":"b","description":"` + strings.Repeat("x", 16<<20) + `"}`), 413, "body_too_large"},
		{"no name", raw(`{"description":"b"}`), 422, "bad_name"},
		{"name of another type", raw(`{"name":7}`), 422, "bad_name"},
		{"name with a space", raw(`{"name":"a b"}`), 422, "bad_name"},
		{"name beyond ASCII", raw(`{"name":"раy"}`), 422, "bad_name"},
		{"empty name", raw(`{"name":""}`), 422, "bad_name"},
		{"long name", raw(`{"name":"` + strings.Repeat("n", 129) + `"}`), 422, "bad_name"},
		{"name twice", raw(`{"name":"b"},{"name":"b"}`), 409, "name_taken"},
		{"no tools", raw(``), 422, "bad_batch"},
		{"1,001 tools", raw(strings.TrimSuffix(strings.Repeat(`{"name":"b"},`, 1001), ",")), 422, "bad_batch"},
		{"tool that is no object", raw(`[]`), 400, "bad_json"},
		{"no origin", []byte(`{"tools":[{"name":"b"}]}`), 422, "bad_origin"},
		{"origin with a password", []byte(`{"origin":"https://u:p@tools.example","tools":[{"name":"b"}]}`), 422, "bad_origin"},
		{"plain http", []byte(`{"origin":"http://tools.example","tools":[{"name":"b"}]}`), 422, "bad_origin"},
		{"a launch", []byte(`{"origin":"stdio:x","tools":[{"name":"b"}]}`), 403, "gateway_origin"},
		{"unknown member", []byte(`{"origin":"` + site + `","tools":[{"name":"b"}],"owner":"me"}`), 400, "unknown_member"},
		{"member in another case", []byte(`{"Origin":"` + site + `","tools":[{"name":"b"}]}`), 400, "unknown_member"},
		{"no JSON", []byte(`nonsense`), 400, "bad_json"},
		{"data after it", append(raw(`{"name":"b"}`), "{}"...), 400, "bad_json"},
		{"an array", []byte(`[]`), 400, "bad_json"},
		{"command id", []byte(`{"command":"x","origin":"` + site + `","tools":[{"name":"b"}]}`), 400, "bad_command"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := r.head()
			out := r.send(req{method: "POST", path: "/v1/tools", op: proof.ToolRegister, by: alice, body: c.body})
			out.want(t, c.status, c.code)
			if r.head() != before {
				t.Error("the log has grown")
			}
			if strings.Contains(string(out.body), "p@tools") {
				t.Error("the answer repeats a password")
			}
		})
	}
	t.Run("overwrite under another name", func(t *testing.T) {
		q := overwrite(alice, h, "x")
		q.body = registry.OverwriteRequest{Tool: metadata("b", "x")}
		r.send(q).want(t, 422, "name_mismatch")
	})
	t.Run("overwrite without a tool", func(t *testing.T) {
		q := overwrite(alice, h, "x")
		q.body = []byte(`{}`)
		r.send(q).want(t, 400, "bad_json")
	})
	t.Run("overwrite with the same", func(t *testing.T) {
		r.send(overwrite(alice, h, "first")).want(t, 409, "unchanged")
	})
	t.Run("numbers that differ have digests that differ", func(t *testing.T) {
		q := req{method: "POST", path: "/v1/tools", op: proof.ToolRegister, by: alice, body: raw(`{"name":"n","max":9007199254740992}`)}
		one := into[registry.RegisterResponse](t, r.send(q), 201).Tools[0]
		ow := overwrite(alice, one, "")
		ow.body = []byte(`{"tool":{"name":"n","max":9007199254740993}}`)
		two := into[registry.HandleView](t, r.send(ow), 200)
		if one.Digest == two.Digest {
			t.Error("one digest for two limits")
		}
		ow = overwrite(alice, two, "")
		ow.body = []byte(`{"tool":{"max":9007199254740993.0,"name":"n"}}`)
		r.send(ow).want(t, 409, "unchanged")
	})
}

// TestEdge: what no handler should see.
func TestEdge(t *testing.T) {
	r := newRig(t, func(s *settings) { s.api.CORSOrigins = []string{"https://app.example"} })
	alice := newParty(t)
	h := r.register(alice, "a").Tools[0]
	path := "/v1/tools/" + string(h.ID)
	for _, c := range []struct {
		name   string
		q      req
		status int
		code   string
	}{
		{"another host", req{method: "GET", path: path, host: "evil.example"}, 421, "wrong_host"},
		{"the host with another port", req{method: "GET", path: path, host: "127.0.0.1:1"}, 421, "wrong_host"},
		{"a long header", req{method: "GET", path: path, header: http.Header{"X-Long": {strings.Repeat("x", 17<<10)}}}, 431, "header_too_large"},
		{"another site's page", req{method: "GET", path: path, header: http.Header{"Origin": {"https://evil.example"}}}, 403, "foreign_origin"},
		{"a page without an origin", req{method: "GET", path: path, header: http.Header{"Origin": {"null"}}}, 403, "foreign_origin"},
		{"a page at an operator's path", req{method: "GET", path: "/v1/agents", header: http.Header{"Origin": {"https://app.example"}}}, 403, "foreign_origin"},
		{"no such path", req{method: "GET", path: "/v2/tools"}, 404, "not_found"},
		{"an escaped path", req{method: "GET", path: "/v1%2Ftools"}, 404, "not_found"},
		{"dots", req{method: "GET", path: "/v1/tools/../keys"}, 404, "not_found"},
		{"an empty segment", req{method: "GET", path: "/v1/tools/"}, 404, "not_found"},
		{"no such method", req{method: "PATCH", path: path}, 405, "method_not_allowed"},
		{"a query on a change", req{method: "DELETE", path: path + "?force=1", op: proof.ToolRevoke, by: alice, tool: h.ID, base: h.Digest, handle: h.Handle}, 400, "query_not_allowed"},
		{"a body where none belongs", req{method: "DELETE", path: path, body: []byte("{}"), header: http.Header{"Dpop": {"x"}}}, 400, "body_not_allowed"},
		{"a compressed body", req{method: "POST", path: "/v1/tools", body: []byte("{}"), header: http.Header{"Content-Encoding": {"gzip"}}}, 415, "unsupported_media_type"},
		{"a form", req{method: "POST", path: "/v1/tools", body: []byte("a=b"), header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}}, 415, "unsupported_media_type"},
		{"another charset", req{method: "POST", path: "/v1/tools", body: []byte("{}"), header: http.Header{"Content-Type": {"application/json; charset=utf-16"}}}, 415, "unsupported_media_type"},
		{"an id that is none", req{method: "GET", path: "/v1/tools/checkout"}, 400, "bad_id"},
		{"a tool that is not there", req{method: "GET", path: "/v1/tools/tool_01JB2Z6T4E9W8K3Q5R7XAAAAAA"}, 404, "not_found"},
		{"an unknown parameter", req{method: "GET", path: "/v1/tools?all=1"}, 400, "bad_parameter"},
		{"a parameter twice", req{method: "GET", path: "/v1/tools?limit=1&limit=2"}, 400, "bad_parameter"},
		{"limit 0", req{method: "GET", path: "/v1/tools?limit=0"}, 400, "bad_parameter"},
		{"a cursor that is none", req{method: "GET", path: "/v1/tools?cursor=xyz"}, 400, "bad_parameter"},
		{"a digest that is none", req{method: "GET", path: "/v1/labels?digest=sha-256:x"}, 422, "bad_digest"},
		{"an index that is none", req{method: "GET", path: "/v1/events/007"}, 400, "bad_id"},
		{"an index beyond the end", req{method: "GET", path: "/v1/events/999"}, 404, "not_found"},
	} {
		t.Run(c.name, func(t *testing.T) { r.send(c.q).want(t, c.status, c.code) })
	}
	t.Run("405 says which", func(t *testing.T) {
		if a := r.send(req{method: "PATCH", path: path}).header.Get("Allow"); a != "GET, PUT, DELETE" {
			t.Errorf("Allow: %q", a)
		}
	})
	t.Run("a page that may", func(t *testing.T) {
		out := r.send(req{method: "GET", path: path, header: http.Header{"Origin": {"https://app.example"}}})
		if out.status != 200 || out.header.Get("Access-Control-Allow-Origin") != "https://app.example" || out.header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%d %v", out.status, out.header)
		}
		pre := r.send(req{method: "OPTIONS", path: path, header: http.Header{"Origin": {"https://app.example"}, "Access-Control-Request-Method": {"PUT"}}})
		if pre.status != 204 || pre.header.Get("Access-Control-Allow-Methods") != "PUT" {
			t.Errorf("preflight: %d %v", pre.status, pre.header)
		}
	})
	t.Run("HEAD", func(t *testing.T) {
		if out := r.send(req{method: "HEAD", path: path}); out.status != 200 || len(out.body) != 0 {
			t.Errorf("%d %q", out.status, out.body)
		}
	})
}

// TestFaults: when nothing can be decided, nothing is, and no cause shows.
func TestFaults(t *testing.T) {
	r := newRig(t)
	alice := newParty(t)
	h := r.register(alice, "a").Tools[0]
	secret := errors.New("disk /secret/path on fire")
	t.Run("stale view", func(t *testing.T) {
		defer inject(&r.failView, fmt.Errorf("%w: %w", registry.ErrStaleView, secret))()
		for _, q := range []req{
			overwrite(alice, h, "x"), registration(alice, "b"), renew(alice, h.ID),
			{method: "GET", path: "/v1/labels/" + string(h.ID)}, {method: "GET", path: "/v1/labels?digest=" + h.Digest.String()},
			{method: "GET", path: "/v1/labels/stream"}, {method: "GET", path: "/v1/tools/" + string(h.ID)},
		} {
			out := r.send(q)
			out.want(t, 503, "stale_view")
			if strings.Contains(string(out.body), "secret") {
				t.Error("the answer tells what lies below")
			}
		}
	})
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{fmt.Errorf("%w: %w", registry.ErrUnknownOutcome, secret), 503, "unknown_outcome"},
		{writer.ErrOverload, 503, "overload"},
		{fmt.Errorf("%w: tools of one principal", registry.ErrTooMany), 429, "too_many"},
		{secret, 500, "internal"},
	} {
		t.Run(c.code, func(t *testing.T) {
			defer inject(&r.failDo, c.err)()
			out := r.send(registration(alice, "b"))
			out.want(t, c.status, c.code)
			if strings.Contains(string(out.body), "secret") {
				t.Error("the answer tells what lies below")
			}
		})
	}
	t.Run("stale keys", func(t *testing.T) {
		h := r.register(alice, "unseen").Tools[0] // its handle is in no cache
		defer inject(&r.failOpen, keyring.ErrStale)()
		r.send(overwrite(alice, h, "x")).want(t, 503, "stale_keys")
	})
	t.Run("panic", func(t *testing.T) {
		r.fetch = func(context.Context, string) (*fetch.Response, error) { panic("secret token eyJ") }
		out := r.send(req{method: "POST", path: "/v1/topologies", op: proof.TopologyRead, by: alice, body: registry.TopologyRequest{Origin: site}})
		out.want(t, 500, "internal")
		if strings.Contains(string(out.body), "secret") || strings.Contains(r.logs.String(), "secret token") {
			t.Error("what was being handled shows")
		}
	})
	t.Run("log", func(t *testing.T) {
		text := r.logs.String()
		if !strings.Contains(text, `"code":"stale_view"`) || strings.Contains(text, h.Handle) || strings.Contains(text, "eyJ") {
			t.Error("the log lacks the refusals, or holds a token")
		}
	})
}

func TestRates(t *testing.T) {
	r := newRig(t, func(s *settings) {
		s.api.Limits = api.Limits{PerKey: 0.001, KeyBurst: 3, PerAddress: 0.001, AddressBurst: 12, ReadsPerAddress: 0.001, ReadsBurst: 5}
	})
	alice, bob := newParty(t), newParty(t)
	for i := range 3 {
		r.register(alice, fmt.Sprint("t", i))
	}
	out := r.send(registration(alice, "t4"))
	out.want(t, 429, "too_many")
	if out.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	r.register(bob, "b") // another key is another purse, the address is one
	for range 12 {
		out = r.send(registration(bob, "c"))
	}
	out.want(t, 429, "too_many")
	before := r.head()
	r.send(registration(newParty(t), "d")).want(t, 429, "too_many")
	if r.head() != before {
		t.Error("the log has grown")
	}
	for range 6 {
		out = r.get("/v1/tools")
	}
	out.want(t, 429, "too_many")
}

func TestEnrolledOnly(t *testing.T) {
	r := newRig(t, func(s *settings) { s.policy = registry.PolicyEnrolled })
	alice := newParty(t)
	r.send(registration(alice, "a")).want(t, 403, "not_enrolled")
	into[registry.PrincipalView](t, r.send(req{method: "POST", path: "/v1/principals", op: proof.PrincipalCreate, by: alice, body: registry.PrincipalRequest{}}), 201)
	enrol := req{method: "POST", path: "/v1/principals/" + string(alice.id()) + "/enrolment", op: proof.PrincipalEnrol, by: alice, body: registry.EnrolRequest{Origin: site}}
	r.send(enrol).want(t, 403, "not_operator")
	enrol.by = r.operator
	p := into[registry.PrincipalView](t, r.send(enrol), 200)
	if len(p.Enrolled) != 1 || p.Enrolled[0] != site {
		t.Errorf("enrolled: %+v", p)
	}
	h := r.register(alice, "a").Tools[0]
	l := into[registry.LabelView](t, r.get("/v1/labels/"+string(h.ID)), 200)
	if l.Standing != "attested" || l.Tier != "yellow" || l.Content != "uninspected" {
		t.Errorf("label: %+v", l)
	}
	q := registration(alice, "b")
	q.body = registry.RegisterRequest{Origin: "https://other.example", Tools: nil}
	body := q.body.(registry.RegisterRequest)
	body.Tools = append(body.Tools, metadata("b", "x"))
	q.body = body
	r.send(q).want(t, 403, "not_enrolled")
}
