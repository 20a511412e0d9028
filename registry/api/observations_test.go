package api_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/observe"
	"github.com/pratique-dev/pratique/registry"
)

// saw is what p says that it saw a version do; change makes it another.
func (r *rig) saw(p *party, h registry.HandleView, signs []observe.Sign, change ...func(*registry.ObservationClaims)) string {
	r.t.Helper()
	s, err := envelope.NewSigner(envelope.Observation, p.key)
	must(r.t, err)
	c := registry.ObservationClaims{
		Registered: credentials.NewRegistered(string(p.id()), credentials.TokenID(strings.Repeat("j", 15)+string(h.ID[len(h.ID)-6:])+string(p.public.ID[:8])), r.now(), 10*time.Minute),
		Aud:        r.url, Op: registry.ObservationOp, Sub: h.ID, Gen: h.Generation, Ver: h.Version, Mdg: h.Digest, Saw: signs,
	}
	for _, f := range change {
		f(&c)
	}
	tok, err := s.Sign(c)
	must(r.t, err)
	return tok
}

func reporting(p *party, h registry.HandleView, token string) req {
	return req{method: "POST", path: "/v1/tools/" + string(h.ID) + "/observations", op: proof.ToolReport, by: p, tool: h.ID, body: registry.ObservationRequest{Observation: token}}
}

func (r *rig) inspected(id credentials.ToolID, d credentials.Digest, c labels.Content) {
	r.t.Helper()
	cmd := &registry.RecordInspection{Tool: id, Base: d, Content: c}
	cmd.ID, cmd.Caller = registry.CommandID("inspected-"+string(id)+c.String()), registry.UnsafeLocal("")
	_, err := r.writer.Do(context.Background(), cmd)
	must(r.t, err)
}

func jti(n string) func(*registry.ObservationClaims) {
	return func(c *registry.ObservationClaims) { c.Jti = credentials.TokenID("an-observation-" + n) }
}

// TestObservations is RULES.md 21 and 25 over the wire: who may say what of which
// tool, that it acts once, and that it makes a version suspect at most.
func TestObservations(t *testing.T) {
	r := newRig(t)
	alice, watcher, other := newParty(t), newParty(t), newParty(t)
	tools := r.register(alice, "a", "b").Tools
	h := tools[0]
	for _, p := range []*party{watcher, other} {
		into[registry.PrincipalView](t, r.send(req{method: "POST", path: "/v1/principals", op: proof.PrincipalCreate, by: p, body: registry.PrincipalRequest{}}), 201)
	}
	observer := func(method string, p *party) req {
		op := proof.ObserverEnrol
		if method == "DELETE" {
			op = proof.ObserverDismiss
		}
		return req{method: method, path: "/v1/principals/" + string(p.id()) + "/observer", op: op, by: r.operator}
	}
	bad := []observe.Sign{observe.EgressUnsaid, observe.OutputUnfit}
	r.send(reporting(watcher, h, r.saw(watcher, h, bad))).want(t, 403, "not_observer")
	r.send(observer("DELETE", watcher)).want(t, 409, "exists")
	r.send(observer("POST", newParty(t))).want(t, 404, "not_found")
	for _, p := range []*party{watcher, alice} {
		if v := into[registry.PrincipalView](t, r.send(observer("POST", p)), 200); !v.Observer {
			t.Errorf("enrolled: %+v", v)
		}
	}
	r.send(observer("POST", watcher)).want(t, 409, "exists")
	r.inspected(h.ID, h.Digest, labels.Inspected)

	before := r.head()
	r.send(reporting(alice, h, r.saw(alice, h, bad))).want(t, 403, "own_tool")
	r.send(reporting(watcher, h, r.saw(other, h, bad))).want(t, 422, "bad_observation") // somebody else's statement
	r.send(reporting(watcher, tools[1], r.saw(watcher, h, bad))).want(t, 422, "bad_observation")
	for name, change := range map[string]func(*registry.ObservationClaims){
		"audience": func(c *registry.ObservationClaims) { c.Aud = "https://other.example" },
		"op":       func(c *registry.ObservationClaims) { c.Op = "results.deleted" },
		"expired":  func(c *registry.ObservationClaims) { c.Exp, c.Iat, c.Nbf = c.Exp-3600, c.Iat-3600, c.Nbf-3600 },
		"sign":     func(c *registry.ObservationClaims) { c.Saw = []observe.Sign{"seen_it_all"} },
	} {
		t.Run(name, func(t *testing.T) {
			r.send(reporting(watcher, h, r.saw(watcher, h, bad, change))).want(t, 422, "bad_observation")
		})
	}
	r.send(reporting(watcher, h, "no token")).want(t, 422, "bad_observation")
	r.send(reporting(watcher, h, r.saw(watcher, h, bad, func(c *registry.ObservationClaims) { c.Mdg[0]++ }))).want(t, 412, "stale_base")
	r.send(reporting(watcher, h, r.saw(watcher, h, bad, func(c *registry.ObservationClaims) { c.Gen++ }))).want(t, 409, "stale_generation")
	if v := into[registry.ObservationView](t, r.send(reporting(watcher, h, r.saw(watcher, h, []observe.Sign{}))), 200); v.Recorded || v.Content != "inspected" {
		t.Errorf("praise: %+v", v)
	}
	if r.head() != before {
		t.Error("the log has grown")
	}

	q := reporting(watcher, h, r.saw(watcher, h, bad, jti("one")))
	q.header = map[string][]string{"Idempotency-Key": {"observed-0123456789"}}
	v := into[registry.ObservationView](t, r.send(q), 200)
	if !v.Recorded || v.Content != "suspect" || v.Index != before {
		t.Errorf("recorded: %+v", v)
	}
	if again := into[registry.ObservationView](t, r.send(q), 200); again.Index != v.Index {
		t.Errorf("a retry: %+v", again)
	}
	q.header = nil
	r.send(q).want(t, 409, "spent")
	r.send(reporting(watcher, h, r.saw(watcher, h, bad, jti("two")))).want(t, 409, "exists")
	l := into[registry.LabelView](t, r.get("/v1/labels/"+string(h.ID)), 200)
	if l.Content != "suspect" || l.Tier != "red" { // of an origin that is unknown
		t.Errorf("label: %+v", l)
	}
	// Nothing of what was seen is public: not in the event, not in the label.
	e := into[registry.EventView](t, r.get("/v1/events/"+fmt.Sprint(v.Index)), 200)
	if text := string(e.Entry); strings.Contains(text, "output") || strings.Contains(text, "egress") {
		t.Errorf("the event says why: %s", text)
	}
	vs := into[registry.VersionList](t, r.get("/v1/tools/"+string(h.ID)+"/versions"), 200)
	if len(vs.Versions) != 3 || vs.Versions[0].Event != registry.ToolObserved || vs.Versions[0].Version != 1 || vs.Versions[1].Event != registry.ToolInspected {
		t.Errorf("versions: %+v", vs)
	}
	reviews := func(query string) []registry.ReviewView {
		return into[registry.ReviewList](t, r.send(req{method: "GET", path: "/v1/reviews" + query, op: proof.OperatorRead, by: r.operator}), 200).Reviews
	}
	open := reviews("")
	if len(open) != 1 || open[0].Tool != h.ID || open[0].Observer != watcher.id() || len(open[0].Saw) != 2 || open[0].Saw[0] != observe.EgressUnsaid || open[0].Index != v.Index {
		t.Errorf("reviews: %+v", open)
	}
	if len(reviews("?tool="+string(tools[1].ID))) != 0 || len(reviews("?tool="+string(h.ID))) != 1 {
		t.Error("reviews by tool")
	}
	r.send(req{method: "GET", path: "/v1/reviews?tool=x", op: proof.OperatorRead, by: r.operator}).want(t, 400, "bad_id")
	r.send(req{method: "GET", path: "/v1/reviews", op: proof.OperatorRead, by: watcher}).want(t, 403, "not_operator")

	release := operatorActs(r, h)["release"]
	release.by = r.operator
	into[registry.ToolView](t, r.send(release), 200)
	if l := into[registry.LabelView](t, r.get("/v1/labels/"+string(h.ID)), 200); l.Content != "inspected" || len(reviews("")) != 0 {
		t.Errorf("released: %+v", l)
	}
	if v := into[registry.PrincipalView](t, r.send(observer("DELETE", watcher)), 200); v.Observer {
		t.Errorf("dismissed: %+v", v)
	}
	r.send(reporting(watcher, h, r.saw(watcher, h, bad, jti("three")))).want(t, 403, "not_observer")
}

// TestConsistentLabel: what is consistent is so in the label, which ends with it.
func TestConsistentLabel(t *testing.T) {
	r := newRig(t)
	alice := newParty(t)
	h := r.register(alice, "a").Tools[0]
	enrol := operatorActs(r, h)["enrol"]
	enrol.by = r.operator
	into[registry.PrincipalView](t, r.send(enrol), 200)
	r.inspected(h.ID, h.Digest, labels.Inspected)
	cmd := &registry.RecordConduct{Tool: h.ID, Gen: 1, Ver: 1, Base: h.Digest, Content: labels.Consistent, Until: r.now().Add(3 * time.Hour), Spool: "spool_01JB2Z6T4E9W8K3Q5R7XAAAAAA", Entry: 1}
	cmd.ID, cmd.Caller = "consistent-0123456789", registry.UnsafeLocal("")
	_, err := r.writer.Do(context.Background(), cmd)
	must(t, err)
	l := into[registry.LabelView](t, r.get("/v1/labels/"+string(h.ID)), 200)
	if l.Content != "consistent" || l.Tier != "green" || l.Expires.Sub(r.now()) > 3*time.Hour {
		t.Errorf("consistent: %+v", l)
	}
	r.advance(4 * time.Hour)
	if l := into[registry.LabelView](t, r.get("/v1/labels/"+string(h.ID)), 200); l.Content != "inspected" {
		t.Errorf("expired: %+v", l)
	}
	cmd = &registry.RecordConduct{Tool: h.ID, Gen: 1, Ver: 1, Base: h.Digest, Content: labels.Violated, Spool: "spool_01JB2Z6T4E9W8K3Q5R7XAAAAAA", Entry: 2}
	cmd.ID, cmd.Caller = "violated-0123456789", registry.UnsafeLocal("")
	_, err = r.writer.Do(context.Background(), cmd)
	must(t, err)
	if l := into[registry.LabelView](t, r.get("/v1/labels/"+string(h.ID)), 200); l.Content != "violated" || l.Tier != "red" {
		t.Errorf("contradicted: %+v", l)
	}
}

// TestFirstUseLabel is RULES.md 19 and 22: the label of a tool whose key alone speaks
// for it says unknown before our first cleared use and pinned after it, under a new
// sequence number; an observer's word makes no such use.
func TestFirstUseLabel(t *testing.T) {
	r := newRig(t)
	alice, watcher := newParty(t), newParty(t)
	h := r.register(alice, "a").Tools[0]
	into[registry.PrincipalView](t, r.send(req{method: "POST", path: "/v1/principals", op: proof.PrincipalCreate, by: watcher, body: registry.PrincipalRequest{}}), 201)
	into[registry.PrincipalView](t, r.send(req{method: "POST", path: "/v1/principals/" + string(watcher.id()) + "/observer", op: proof.ObserverEnrol, by: r.operator}), 200)
	r.inspected(h.ID, h.Digest, labels.Inspected)
	label := func() registry.LabelView {
		t.Helper()
		return into[registry.LabelView](t, r.get("/v1/labels/"+string(h.ID)), 200)
	}
	into[registry.ObservationView](t, r.send(reporting(watcher, h, r.saw(watcher, h, []observe.Sign{}))), 200)
	before := label()
	if before.Standing != "unknown" || before.Content != "inspected" {
		t.Fatalf("before: %+v", before)
	}
	cmd := &registry.RecordUse{Tool: h.ID, Gen: 1, Base: h.Digest, View: r.head()}
	cmd.ID, cmd.Caller = "used-0123456789abcdef", registry.UnsafeLocal("")
	out, err := r.writer.Do(context.Background(), cmd)
	must(t, err)
	after := label()
	if after.Standing != "pinned" || after.Content != "inspected" || after.Tier != "yellow" || after.Seq <= before.Seq || after.Seq != out.Index {
		t.Errorf("after: %+v, before %+v", after, before)
	}
	e := into[registry.EventView](t, r.get("/v1/events/"+fmt.Sprint(out.Index)), 200)
	if text := string(e.Entry); strings.Contains(text, "spool") || strings.Contains(text, "call_") {
		t.Errorf("the event says of which call: %s", text)
	}
	vs := into[registry.VersionList](t, r.get("/v1/tools/"+string(h.ID)+"/versions"), 200)
	if len(vs.Versions) != 3 || vs.Versions[0].Event != registry.ToolUsed || vs.Versions[0].Version != 1 || vs.Versions[0].Digest != h.Digest {
		t.Errorf("versions: %+v", vs)
	}
}
