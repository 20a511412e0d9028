package api_test

import (
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/registry"
)

func TestOwnersWay(t *testing.T) {
	r := newRig(t)
	for _, alice := range []*party{newParty(t), newECParty(t)} {
		reg := r.register(alice, names(3, "tool-"+string(alice.public.Alg))...)
		if len(reg.Tools) != 3 || reg.Tools[0].Generation != 1 || reg.Tools[0].Version != 1 || reg.Tools[0].Owner != alice.id() {
			t.Fatalf("registered: %+v", reg.Tools)
		}
		h := reg.Tools[0]
		shown := into[registry.ToolView](t, r.get("/v1/tools/"+string(h.ID)), 200)
		if shown.Digest != h.Digest || len(shown.Metadata) == 0 {
			t.Errorf("shown: %+v", shown)
		}
		for i := range 3 {
			next := into[registry.HandleView](t, r.send(overwrite(alice, h, string(rune('a'+i)))), 200)
			if next.Version != h.Version+1 || next.Digest == h.Digest || next.Handle == h.Handle {
				t.Fatalf("overwritten: %+v", next)
			}
			h = next
		}
		h2 := into[registry.HandleView](t, r.send(renew(alice, h.ID)), 200)
		if h2.Version != 4 || h2.Handle == "" {
			t.Errorf("renewed: %+v", h2)
		}
		gone := into[registry.ToolView](t, r.send(revoke(alice, h2)), 200)
		if gone.Status != "revoked" {
			t.Errorf("revoked: %+v", gone)
		}
		r.send(overwrite(alice, h2, "after")).want(t, 410, "tool_revoked")
		vs := into[registry.VersionList](t, r.get("/v1/tools/"+string(h.ID)+"/versions"), 200)
		if len(vs.Versions) != 5 || vs.Versions[0].Event != registry.ToolRevoked || vs.Versions[4].Event != registry.ToolRegistered ||
			vs.Versions[0].Digest != h.Digest || vs.Versions[4].Version != 1 {
			t.Errorf("versions: %+v", vs)
		}
	}
}

func TestRetryGetsTheFirstOutcome(t *testing.T) {
	r := newRig(t)
	alice := newParty(t)
	q := registration(alice, "a", "b")
	q.header = map[string][]string{"Idempotency-Key": {"command-0123456789"}}
	one := into[registry.RegisterResponse](t, r.send(q), 201)
	head := r.head()
	two := into[registry.RegisterResponse](t, r.send(q), 201)
	if one.Index != two.Index || one.Tools[1].ID != two.Tools[1].ID || r.head() != head {
		t.Errorf("a retry made something new: %+v %+v", one, two)
	}
	into[registry.HandleView](t, r.send(overwrite(alice, two.Tools[0], "x")), 200)
	other := registration(alice, "c")
	other.header = q.header
	r.send(other).want(t, 409, "command_reused")
	q.header = map[string][]string{"Idempotency-Key": {"short"}}
	r.send(q).want(t, 400, "bad_command")
}

func TestTransferAndUndo(t *testing.T) {
	r := newRig(t)
	alice, bob, rescue := newParty(t), newParty(t), newParty(t)
	create := req{method: "POST", path: "/v1/principals", op: proof.PrincipalCreate, by: alice, body: registry.PrincipalRequest{RecoveryKey: rescue.public.JWK()}}
	p := into[registry.PrincipalView](t, r.send(create), 201)
	if p.ID != alice.id() || p.Recovery != rescue.public.ID {
		t.Errorf("principal: %+v", p)
	}
	r.send(create).want(t, 409, "exists")
	h := r.register(alice, "pay").Tools[0]
	acc := r.accept(bob, registry.AcceptClaims{ToolID: h.ID, Gen: h.Generation, Mdg: h.Digest})
	moved := into[registry.ToolView](t, r.send(transfer(alice, h, bob, acc)), 200)
	if moved.Owner != bob.id() || moved.Generation != 2 {
		t.Errorf("moved: %+v", moved)
	}
	r.send(overwrite(alice, h, "late")).want(t, 409, "stale_generation")
	hb := into[registry.HandleView](t, r.send(renew(bob, h.ID)), 200)
	into[registry.HandleView](t, r.send(overwrite(bob, hb, "bob's")), 200)
	undo := req{method: "POST", path: "/v1/tools/" + string(h.ID) + "/transfer/undo", op: proof.ToolTransferUndo, tool: h.ID}
	for _, x := range []*party{bob, newParty(t), alice} { // the lost key itself cannot
		undo.by = x
		r.send(undo).want(t, 403, "not_owner")
	}
	undo.by = rescue
	back := into[registry.ToolView](t, r.send(undo), 200)
	if back.Owner != alice.id() || back.Generation != 3 {
		t.Errorf("back: %+v", back)
	}
	// What was accepted once is spent.
	ha := into[registry.HandleView](t, r.send(renew(alice, h.ID)), 200)
	r.send(transfer(alice, ha, bob, acc)).want(t, 422, "bad_acceptance")

	// Recovery moves what is left, to a key that accepts.
	carol := newParty(t)
	rec := req{method: "POST", path: "/v1/principals/" + string(alice.id()) + "/recovery", op: proof.PrincipalRecover, by: rescue,
		body: registry.RecoverRequest{NewKey: carol.public.JWK(), Accept: r.accept(carol, registry.AcceptClaims{From: alice.id()})}}
	stranger := rec
	stranger.by = newParty(t)
	r.send(stranger).want(t, 403, "not_owner")
	now := into[registry.PrincipalView](t, r.send(rec), 200)
	if now.ID != carol.id() || now.Tools != 1 {
		t.Errorf("recovered: %+v", now)
	}
	into[registry.HandleView](t, r.send(renew(carol, h.ID)), 200)
	r.send(renew(alice, h.ID)).want(t, 403, "not_owner")
}

func TestTransferUndoHasAnEnd(t *testing.T) {
	r := newRig(t)
	alice, bob := newParty(t), newParty(t)
	h := r.register(alice, "pay").Tools[0]
	acc := r.accept(bob, registry.AcceptClaims{ToolID: h.ID, Gen: h.Generation, Mdg: h.Digest})
	into[registry.ToolView](t, r.send(transfer(alice, h, bob, acc)), 200)
	r.advance(registry.EmergencyHold + time.Minute)
	r.send(req{method: "POST", path: "/v1/tools/" + string(h.ID) + "/transfer/undo", op: proof.ToolTransferUndo, tool: h.ID, by: r.operator}).want(t, 409, "too_late")
}

func TestDelegation(t *testing.T) {
	r := newRig(t)
	alice, bob, carol := newParty(t), newParty(t), newParty(t)
	h := r.register(alice, "pay", "other").Tools[0]
	exp := r.now().Add(30 * time.Minute)
	d := into[registry.DelegationView](t, r.send(delegate(alice, h, bob, exp, credentials.Overwrite)), 201)
	hb := registry.HandleView{ToolView: h.ToolView, Handle: d.Handle}
	hb = into[registry.HandleView](t, r.send(overwrite(bob, hb, "by bob")), 200)
	if hb.Owner != alice.id() || hb.Expires.After(exp) {
		t.Errorf("a delegate's handle: %+v", hb)
	}
	r.send(revoke(bob, hb)).want(t, 403, "action")
	r.send(delegate(bob, hb, carol, exp, credentials.Overwrite)).want(t, 403, "action")
	again := into[registry.HandleView](t, r.send(renew(bob, h.ID)), 200)
	if again.Expires.After(exp) {
		t.Errorf("renewed beyond its delegation: %v", again.Expires)
	}
	h.Digest = hb.Digest
	list := req{method: "GET", path: "/v1/tools/" + string(h.ID) + "/delegations", op: proof.DelegationList, by: alice, tool: h.ID, handle: h.Handle}
	if l := into[registry.DelegationList](t, r.send(list), 200); len(l.Delegations) != 1 || l.Delegations[0].ID != d.ID || l.Delegations[0].Handle != "" {
		t.Errorf("list: %+v", l)
	}
	list.by, list.handle = bob, hb.Handle
	r.send(list).want(t, 403, "not_owner")

	for _, c := range []struct {
		name   string
		q      req
		status int
		code   string
	}{
		{"delegating the right to delegate", delegate(alice, h, carol, exp, credentials.Delegate), 403, "delegation_depth"},
		{"longer than the handle", delegate(alice, h, carol, r.now().Add(3*time.Hour), credentials.Revoke), 403, "wider"},
		{"in the past", delegate(alice, h, carol, r.now().Add(-time.Minute), credentials.Revoke), 409, "too_late"},
		{"to the owner", delegate(alice, h, alice, exp, credentials.Revoke), 409, "exists"},
		{"no action", delegate(alice, h, carol, exp), 422, "bad_action"},
		{"unknown action", delegate(alice, h, carol, exp, "own"), 422, "bad_action"},
	} {
		t.Run(c.name, func(t *testing.T) { r.send(c.q).want(t, c.status, c.code) })
	}
	end := req{method: "DELETE", path: "/v1/delegations/" + string(d.ID), op: proof.DelegationRevoke, by: alice, tool: h.ID, handle: h.Handle}
	theirs := end
	theirs.by, theirs.handle = bob, hb.Handle
	r.send(theirs).want(t, 403, "not_owner")
	into[registry.DelegationView](t, r.send(end), 200)
	r.send(overwrite(bob, hb, "after")).want(t, 401, "invalid_token")
	r.send(renew(bob, h.ID)).want(t, 403, "not_owner")

	// A parent's end is its child's.
	d = into[registry.DelegationView](t, r.send(delegate(alice, h, bob, exp, credentials.Overwrite)), 201)
	kill := req{method: "DELETE", path: "/v1/handles/" + string(d.Parent), op: proof.HandleRevoke, by: alice, tool: h.ID, handle: h.Handle}
	into[registry.ToolView](t, r.send(kill), 200)
	r.send(overwrite(bob, registry.HandleView{ToolView: h.ToolView, Handle: d.Handle}, "orphan")).want(t, 401, "invalid_token")
	r.send(kill).want(t, 401, "invalid_token")
	ha := into[registry.HandleView](t, r.send(renew(alice, h.ID)), 200)
	all := req{method: "DELETE", path: "/v1/tools/" + string(h.ID) + "/handles", op: proof.HandleRevokeAll, by: alice, tool: h.ID, handle: ha.Handle}
	if v := into[registry.ToolView](t, r.send(all), 200); v.Generation != 2 {
		t.Errorf("after all handles: %+v", v)
	}
	r.send(overwrite(alice, ha, "stale")).want(t, 409, "stale_generation")
}
