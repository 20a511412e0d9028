package api_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/registry"
)

// TestCaseO20OwnerHandleOnly is the registry's half of O-20: two registrants
// at one origin, in both orders.
func TestCaseO20OwnerHandleOnly(t *testing.T) {
	r := newRig(t)
	shop, ads := newParty(t), newParty(t)
	h1 := r.register(shop, "checkout").Tools[0]

	refusals := 0
	refused := func(out res, status int, code string) {
		t.Helper()
		out.want(t, status, code)
		refusals++
	}
	// ads.js: by name, without a handle. There is no such request.
	refused(r.send(req{method: "DELETE", path: "/v1/tools/checkout", op: proof.ToolRevoke, by: ads, tool: h1.ID, base: h1.Digest, handle: h1.Handle}), 400, "bad_id")
	refused(r.send(registration(ads, "checkout")), 409, "name_taken")
	h2 := r.register(ads, "banner").Tools[0]
	evil := overwrite(ads, h1, "evil")
	evil.handle = h2.Handle
	refused(r.send(evil), 403, "wrong_tool")
	// h2 with h1's tool in its payload, under h2's signature.
	evil.handle = graft(t, h2.Handle, string(h2.ID), string(h1.ID))
	refused(r.send(evil), 401, "invalid_token")
	// h1 itself, without its key.
	evil.handle = h1.Handle
	refused(r.send(evil), 401, "invalid_token")
	// h2 of another registry.
	other := newRig(t)
	evil.handle = other.register(ads, "checkout").Tools[0].Handle
	refused(r.send(evil), 401, "invalid_token")
	// h1 after its end, by its owner.
	late := overwrite(shop, h1, "late")
	old := r.handleClaims(h1, shop)
	old.Iat, old.Nbf, old.Exp = old.Iat-7200, old.Nbf-7200, old.Exp-3600-10
	late.handle = r.sign(old)
	refused(r.send(late), 401, "invalid_token")

	// One audit record each, with what was tried by whom, and no token.
	text := r.logs.String()
	if n := strings.Count(text, `"msg":"refused"`); n < refusals {
		t.Errorf("%d records of %d refusals", n, refusals)
	}
	if !strings.Contains(text, `"by":"`+string(ads.public.ID)+`"`) || strings.Contains(text, h1.Handle) {
		t.Error("the records do not say who, or hold a handle")
	}
	if v := into[registry.ToolView](t, r.get("/v1/tools/"+string(h1.ID)), 200); v.Digest != h1.Digest || v.Owner != shop.id() || v.Status != "live" {
		t.Errorf("checkout has changed: %+v", v)
	}

	// The control: the owner updates, then revokes.
	h1 = into[registry.HandleView](t, r.send(overwrite(shop, h1, "Pays the basket.")), 200)
	into[registry.ToolView](t, r.send(revoke(shop, h1)), 200)
	if l := into[registry.ToolList](t, r.get("/v1/tools?status=live&name=checkout"), 200); len(l.Tools) != 0 {
		t.Errorf("still listed: %+v", l)
	}

	// Second order: ads.js was first. shop.js learns by whom the name is taken,
	// and the operator sees both.
	r2 := newRig(t)
	first := r2.register(ads, "checkout").Tools[0]
	out := r2.send(registration(shop, "checkout"))
	out.want(t, 409, "name_taken")
	if !strings.Contains(out.Detail, string(ads.id())) {
		t.Errorf("the answer does not say by whom: %q", out.Detail)
	}
	l := into[registry.ContestList](t, r2.send(req{method: "GET", path: "/v1/contests?origin=" + site, op: proof.OperatorRead, by: r2.operator}), 200)
	if len(l.Contests) != 1 || l.Contests[0].Holder != first.ID || l.Contests[0].Owner != ads.id() || l.Contests[0].Claimant != shop.id() {
		t.Errorf("contests: %+v", l)
	}
	if v := into[registry.ToolView](t, r2.get("/v1/tools/"+string(first.ID)), 200); v.Digest != first.Digest {
		t.Error("replaced silently")
	}
}

// graft replaces text in a token's payload and keeps its signature.
func graft(t *testing.T, tok, from, to string) string {
	t.Helper()
	p := strings.Split(tok, ".")
	raw, err := base64.RawURLEncoding.DecodeString(p[1])
	must(t, err)
	p[1] = base64.RawURLEncoding.EncodeToString([]byte(strings.ReplaceAll(string(raw), from, to)))
	return strings.Join(p, ".")
}

// TestStatementsAreSpentOnce: an acceptance acts once, whatever it is of.
func TestStatementsAreSpentOnce(t *testing.T) {
	r := newRig(t)
	alice, bob := newParty(t), newParty(t)
	tools := r.register(alice, "a", "b").Tools
	acc := func(h registry.HandleView) string {
		c := registry.AcceptClaims{ToolID: h.ID, Gen: h.Generation, Mdg: h.Digest}
		c.Jti = "the-same-statement"
		return r.accept(bob, c)
	}
	into[registry.ToolView](t, r.send(transfer(alice, tools[0], bob, acc(tools[0]))), 200)
	r.send(transfer(alice, tools[1], bob, acc(tools[1]))).want(t, 409, "spent")

	for name, c := range map[string]registry.AcceptClaims{
		"another tool":       {ToolID: tools[0].ID, Gen: 1, Mdg: tools[1].Digest},
		"another generation": {ToolID: tools[1].ID, Gen: 2, Mdg: tools[1].Digest},
		"another version":    {ToolID: tools[1].ID, Gen: 1, Mdg: tools[0].Digest},
		"another registry":   {ToolID: tools[1].ID, Gen: 1, Mdg: tools[1].Digest, Aud: "https://other.example"},
		"all tools":          {From: alice.id()},
	} {
		t.Run(name, func(t *testing.T) {
			before := r.head()
			r.send(transfer(alice, tools[1], bob, r.accept(bob, c))).want(t, 422, "bad_acceptance")
			if r.head() != before {
				t.Error("the log has grown")
			}
		})
	}
	t.Run("by another", func(t *testing.T) {
		q := transfer(alice, tools[1], bob, r.accept(newParty(t), registry.AcceptClaims{ToolID: tools[1].ID, Gen: 1, Mdg: tools[1].Digest}))
		r.send(q).want(t, 422, "bad_acceptance")
	})
	t.Run("expired", func(t *testing.T) {
		tok := r.accept(bob, registry.AcceptClaims{ToolID: tools[1].ID, Gen: 1, Mdg: tools[1].Digest})
		r.advance(70 * time.Minute)
		h := into[registry.HandleView](t, r.send(renew(alice, tools[1].ID)), 200)
		r.send(transfer(alice, h, bob, tok)).want(t, 422, "bad_acceptance")
	})
}
