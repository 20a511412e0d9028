package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/ledger"
)

func TestListing(t *testing.T) {
	r := newRig(t)
	alice, bob := newParty(t), newParty(t)
	var all []string
	for _, x := range append(r.register(alice, names(25, "a")...).Tools, r.register(bob, names(7, "b")...).Tools...) {
		all = append(all, string(x.ID))
	}
	into[registry.ToolView](t, r.send(revoke(bob, into[registry.HandleView](t, r.send(renew(bob, credentials.ToolID(all[30]))), 200))), 200)
	pages := func(query string) (out []string) {
		cursor := ""
		for range 20 {
			l := into[registry.ToolList](t, r.get("/v1/tools?limit=10"+query+cursor), 200)
			if len(l.Tools) > 10 {
				t.Fatalf("a page of %d", len(l.Tools))
			}
			for _, x := range l.Tools {
				out = append(out, string(x.ID))
			}
			if l.Cursor == "" {
				return out
			}
			cursor = "&cursor=" + l.Cursor
		}
		t.Fatal("pages without end")
		return nil
	}
	same := func(name string, got, want []string) {
		t.Helper()
		slices.Sort(got)
		want = slices.Clone(want)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d tools, want %d", name, len(got), len(want))
		}
	}
	same("all", pages(""), all)
	same("at the origin", pages("&origin="+site), all)
	same("at another", pages("&origin=https://other.example"), nil)
	same("of bob", pages("&owner="+string(bob.id())), all[25:])
	same("of bob at the origin", pages("&origin="+site+"&owner="+string(bob.id())), all[25:])
	same("revoked", pages("&status=revoked"), all[30:31])
	same("live of bob", pages("&status=live&owner="+string(bob.id())), append(slices.Clone(all[25:30]), all[31]))
	same("by name", pages("&name=a7"), all[7:8])
	same("by name at the origin", pages("&name=a7&origin="+site), all[7:8])
	for _, q := range []string{"owner=me", "status=dead", "name=a%20b", "origin=x", "limit=-1", "cursor=%21"} {
		r.get("/v1/tools?"+q).want(t, 400, "bad_parameter")
	}
}

func TestLabels(t *testing.T) {
	r := newRig(t)
	alice := newParty(t)
	h := r.register(alice, "a").Tools[0]
	path := "/v1/labels/" + string(h.ID)
	l := into[registry.LabelView](t, r.get(path), 200)
	open := func(l registry.LabelView, text []byte) labels.Verified {
		t.Helper()
		v, err := labels.Verify(envelope.NewVerifier(r.ring), l.Label, labels.Shown{Issuer: r.url, Metadata: text, Tool: h.ID,
			Origin: origin.Must(site), Gen: l.Generation, Ver: l.Version, Fresh: labels.Freshness{At: r.now(), MaxStale: time.Minute}}, r.now())
		must(t, err)
		return v
	}
	v := open(l, metadata("a", "first"))
	if v.Tier() != labels.Yellow || v.Statement().Own != alice.public.ID || v.Statement().Seq != l.Seq {
		t.Errorf("statement: %+v", v.Statement())
	}
	if again := into[registry.LabelView](t, r.get(path), 200); again.Label != l.Label {
		t.Error("a second reading is signed anew")
	}
	by := into[registry.LabelList](t, r.get("/v1/labels?digest="+h.Digest.String()), 200)
	if len(by.Labels) != 1 || by.Labels[0].Label != l.Label {
		t.Errorf("by digest: %+v", by)
	}
	h2 := into[registry.HandleView](t, r.send(overwrite(alice, h, "second")), 200)
	l2 := into[registry.LabelView](t, r.get(path), 200)
	if l2.Label == l.Label || l2.Seq <= l.Seq || l2.Digest != h2.Digest {
		t.Errorf("after the overwrite: %+v", l2)
	}
	open(l2, metadata("a", "second"))
	if by := into[registry.LabelList](t, r.get("/v1/labels?digest="+h.Digest.String()), 200); len(by.Labels) != 0 {
		t.Errorf("by a digest of the past: %+v", by)
	}
	// The same metadata elsewhere is another tool under the same digest.
	q := registration(newParty(t))
	q.body = registry.RegisterRequest{Origin: "https://copy.example", Tools: append(registry.RegisterRequest{}.Tools, metadata("a", "second"))}
	into[registry.RegisterResponse](t, r.send(q), 201)
	if by := into[registry.LabelList](t, r.get("/v1/labels?digest="+h2.Digest.String()), 200); len(by.Labels) != 2 {
		t.Errorf("two tools of one digest: %+v", by)
	}
	// Another key of the role is another label, and a revoked tool's is red.
	_, err := r.ring.Rotate(credentials.RoleLabel)
	must(t, err)
	l3 := into[registry.LabelView](t, r.get(path), 200)
	if l3.Label == l2.Label {
		t.Error("the label outlived its key's activity")
	}
	into[registry.ToolView](t, r.send(revoke(alice, h2)), 200)
	l4 := into[registry.LabelView](t, r.get(path), 200)
	if l4.Tier != "red" || l4.Seq <= l2.Seq {
		t.Errorf("of a revoked tool: %+v", l4)
	}
	// Half a label's life later it is signed anew, and lives no longer than a day.
	if d := l4.Expires.Sub(r.now()); d > 24*time.Hour || d < 23*time.Hour {
		t.Errorf("life: %v", d)
	}
	r.advance(13 * time.Hour)
	if l5 := into[registry.LabelView](t, r.get(path), 200); l5.Label == l4.Label {
		t.Error("an old label is served past half its life")
	}
	low := r.get("/v1/labels/lowered")
	if _, err := labels.ParseLowered(low.body); err != nil || low.status != 200 {
		t.Errorf("lowered: %d %v", low.status, err)
	}
	r.get("/v1/labels/lowered?digest="+(labels.Lowered{}).Digest().String()).want(t, 200, "")
	r.get("/v1/labels/lowered?digest="+h.Digest.String()).want(t, 404, "not_found")
}

func TestEventsAndProofs(t *testing.T) {
	r := newRig(t)
	alice := newParty(t)
	h := r.register(alice, names(9, "t")...).Tools[0]
	into[registry.HandleView](t, r.send(overwrite(alice, h, "x")), 200)
	size := r.head()
	var all []registry.EventView
	for from := uint64(0); from < size; {
		l := into[registry.EventList](t, r.get(fmt.Sprintf("/v1/events?from=%d&limit=4", from)), 200)
		if l.Size != size || len(l.Events) == 0 {
			t.Fatalf("page: %+v", l)
		}
		all = append(all, l.Events...)
		from += uint64(len(l.Events))
		if (l.Next != 0) != (from < size) || l.Next != 0 && l.Next != from {
			t.Errorf("next: %d at %d of %d", l.Next, from, size)
		}
	}
	last := all[len(all)-1]
	if uint64(len(all)) != size || last.Event.Type != registry.ToolOverwritten || last.Event.By != alice.public.ID {
		t.Errorf("%d events, last %+v", len(all), last)
	}
	var p registry.ProofView
	for range 4000 { // the checkpoint's row may ride in a later append
		if out := r.get(fmt.Sprintf("/v1/events/%d/proof", last.Index)); out.status == 200 {
			p = into[registry.ProofView](t, out, 200)
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	_, head, err := ledger.ParseUnverified([]byte(p.Checkpoint))
	must(t, err)
	path := make([]ledger.Hash, len(p.Path))
	for i, d := range p.Path {
		path[i] = ledger.Hash(d)
	}
	must(t, ledger.VerifyInclusion(head, p.Index, ledger.Hash(p.Leaf), path))
	if one := into[registry.EventView](t, r.get(fmt.Sprintf("/v1/events/%d", last.Index)), 200); one.Leaf != p.Leaf || ledger.LeafHash(one.Entry) != ledger.Hash(p.Leaf) {
		t.Errorf("one: %+v", one)
	}
	into[registry.ProofView](t, r.get(fmt.Sprintf("/v1/events/%d/proof?size=%d", last.Index, p.Size)), 200)
	r.get(fmt.Sprintf("/v1/events/%d/proof?size=99999", last.Index)).want(t, 404, "not_found")
	r.get("/v1/events/0/proof?size=x").want(t, 400, "bad_parameter")

	if out := r.get("/ledger/checkpoint"); out.status != 200 || !strings.HasPrefix(string(out.body), "registry.example/log\n") {
		t.Errorf("checkpoint: %d %s", out.status, out.body)
	}
	if out := r.get("/ledger/key"); out.status != 200 || out.header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("key: %d", out.status)
	}
	if out := r.get(fmt.Sprintf("/ledger/tile/entries/000.p/%d", p.Size)); out.status != 200 || len(out.body) == 0 {
		t.Errorf("bundle: %d", out.status)
	}
	r.get("/ledger/tile/0/x999").want(t, 400, "bad_parameter")
	r.get("/ledger/tile/0/001").want(t, 404, "not_found")
	r.get("/ledger/nothing").want(t, 404, "not_found")
	r.send(req{method: "POST", path: "/ledger/checkpoint"}).want(t, 405, "method_not_allowed")
}

func TestDiscovery(t *testing.T) {
	r := newRig(t)
	out := r.get("/.well-known/oauth-protected-resource")
	var m map[string]any
	must(t, json.Unmarshal(out.body, &m))
	if m["resource"] != r.url || m["jwks_uri"] != r.url+"/.well-known/jwks.json" || m["dpop_bound_access_tokens_required"] != true || m["pratique_registration"] != "open" {
		t.Errorf("resource: %v", m)
	}
	ages := map[string]bool{}
	for range 60 {
		out := r.get("/.well-known/jwks.json")
		var age int
		if _, err := fmt.Sscanf(out.header.Get("Cache-Control"), "public, max-age=%d", &age); err != nil || age < 270 || age > 330 || out.header.Get("ETag") == "" {
			t.Fatalf("caching: %q %q", out.header.Get("Cache-Control"), out.header.Get("ETag"))
		}
		ages[out.header.Get("Cache-Control")] = true
	}
	if len(ages) < 10 {
		t.Errorf("max-age has no jitter: %v", ages)
	}
	doc := r.get("/openapi.json")
	tag := doc.header.Get("ETag")
	if again := r.send(req{method: "GET", path: "/openapi.json", header: map[string][]string{"If-None-Match": {`"x", ` + tag}}}); again.status != 304 || len(again.body) != 0 {
		t.Errorf("conditional: %d", again.status)
	}
}
