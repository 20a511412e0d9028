package api_test

import (
	"context"
	"crypto"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/internal/fetch"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

// A webSite serves a topology over TLS.
type webSite struct {
	t      *testing.T
	url    string
	roots  *x509.CertPool
	answer atomic.Pointer[http.HandlerFunc]
}

func newSite(t *testing.T) *webSite {
	s := &webSite{t: t, roots: x509.NewCertPool()}
	s.serve(http.NotFound)
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != origin.WellKnown {
			http.NotFound(w, r)
			return
		}
		(*s.answer.Load())(w, r)
	}))
	t.Cleanup(srv.Close)
	srv.Config.ErrorLog = nil
	s.url = srv.URL
	s.roots.AddCert(srv.Certificate())
	return s
}

func (s *webSite) serve(h http.HandlerFunc) { s.answer.Store(&h) }

// fetcher reaches the site, which is on loopback.
func (s *webSite) fetcher() *fetch.Fetcher {
	return fetch.New(&fetch.Options{RootCAs: s.roots, AllowPrivate: fetch.Loopback(), Burst: 1000})
}

// publish serves a signed topology.
func (s *webSite) publish(key crypto.Signer, at time.Time, c labels.TopologyClaims) {
	s.t.Helper()
	if c.Org.IsZero() {
		c.Org = origin.Must(s.url)
	}
	if c.Exp == 0 {
		c.Registered = credentials.NewRegistered(c.Org.String(), "topology-0123456", at, 6*24*time.Hour)
	}
	if c.Rows == nil {
		c.Rows = []labels.Row{}
	}
	signer, err := envelope.NewSigner(envelope.Topology, key)
	must(s.t, err)
	tok, err := signer.Sign(c)
	must(s.t, err)
	doc, err := json.Marshal(labels.TopologyDocument{SignedTopology: labels.SignedTopology{Token: tok, Key: signer.Key().JWK()}})
	must(s.t, err)
	s.serve(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", labels.TopologyMediaType)
		w.Write(doc)
	})
}

func row(name string, by ...*party) labels.Row {
	r := labels.Row{Name: labels.Pattern(name), Publishers: []labels.Publisher{}, Level: credentials.LevelPoP, Actions: credentials.AllActions()}
	for _, p := range by {
		r.Publishers = append(r.Publishers, labels.Publisher(p.public.ID))
	}
	return r
}

func readTopology(by *party, at string) req {
	return req{method: "POST", path: "/v1/topologies", op: proof.TopologyRead, by: by, body: registry.TopologyRequest{Origin: at}}
}

func TestTopologyAttests(t *testing.T) {
	r := newRig(t)
	web := newSite(t)
	f := web.fetcher()
	r.fetch = func(ctx context.Context, url string) (*fetch.Response, error) {
		return f.Get(ctx, url, labels.TopologyMediaType)
	}
	alice, squatter, other := newParty(t), newParty(t), newParty(t)
	reg := func(p *party, ns ...string) req {
		q := registration(p, ns...)
		b := q.body.(registry.RegisterRequest)
		b.Origin = web.url
		q.body = b
		return q
	}
	// Somebody else was here first: unattested names are held, not owned.
	held := into[registry.RegisterResponse](t, r.send(reg(squatter, "checkout", "banner")), 201).Tools
	siteKey := newParty(t)
	web.publish(siteKey.key, r.now(), labels.TopologyClaims{Ver: 1, Rows: []labels.Row{row("checkout", alice), {Name: "ro*", Publishers: []labels.Publisher{labels.Publisher(alice.public.ID)}, Level: credentials.LevelPoP, Actions: []credentials.Action{credentials.Overwrite}}}})
	// Anybody may ask for the reading: what counts is what is read.
	view := into[registry.TopologyView](t, r.send(readTopology(other, web.url)), 200)
	if view.Version != 1 || view.Site != siteKey.public.ID || view.Revoked != 1 {
		t.Errorf("read: %+v", view)
	}
	into[registry.TopologyView](t, r.send(readTopology(other, web.url)), 200) // the same again
	r.send(overwrite(squatter, held[0], "x")).want(t, 410, "tool_revoked")
	if l := into[registry.LabelView](t, r.get("/v1/labels/"+string(held[1].ID)), 200); l.Tier != "red" || l.Standing != "unknown" {
		t.Errorf("what no row covers is withheld: %+v", l)
	}
	r.send(reg(squatter, "checkout")).want(t, 403, "reserved")
	mine := into[registry.RegisterResponse](t, r.send(reg(alice, "checkout", "ro1")), 201).Tools
	l := into[registry.LabelView](t, r.get("/v1/labels/"+string(mine[0].ID)), 200)
	if l.Standing != "attested" || l.Expires.After(view.Expires) {
		t.Errorf("attested: %+v", l)
	}
	// A row bounds what a handle may do.
	r.send(revoke(alice, mine[1])).want(t, 403, "action")
	into[registry.HandleView](t, r.send(overwrite(alice, mine[1], "next")), 200)

	// What fails to be read detaches nothing.
	for name, c := range map[string]struct {
		set    func()
		status int
		code   string
	}{
		"missing":  {func() { web.serve(http.NotFound) }, 404, "topology_missing"},
		"redirect": {func() { web.serve(http.RedirectHandler("https://evil.example/", http.StatusFound).ServeHTTP) }, 502, "topology_unreachable"},
		"broken":   {func() { web.serve(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }) }, 502, "topology_unreachable"},
		"huge":     {func() { web.serve(body(strings.Repeat(" ", 300<<10))) }, 502, "topology_unreachable"},
		"no JSON":  {func() { web.serve(body("<html>")) }, 422, "bad_topology"},
		"rolled back": {func() {
			web.publish(siteKey.key, r.now(), labels.TopologyClaims{Ver: 1, Rows: []labels.Row{row("checkout", squatter)}})
		}, 422, "bad_topology"},
		"another key": {func() {
			web.publish(squatter.key, r.now(), labels.TopologyClaims{Ver: 2, Rows: []labels.Row{row("*", squatter)}})
		}, 422, "bad_topology"},
		"other site": {func() {
			web.publish(siteKey.key, r.now(), labels.TopologyClaims{Ver: 2, Org: origin.Must("https://other.example")})
		}, 422, "bad_topology"},
		"expired": {func() { web.publish(siteKey.key, r.now().Add(-7*24*time.Hour), labels.TopologyClaims{Ver: 2}) }, 422, "bad_topology"},
	} {
		t.Run(name, func(t *testing.T) {
			c.set()
			before := r.head()
			r.send(readTopology(other, web.url)).want(t, c.status, c.code)
			if r.head() != before {
				t.Error("the log has grown")
			}
		})
	}
	if l := into[registry.LabelView](t, r.get("/v1/labels/"+string(mine[0].ID)), 200); l.Standing != "attested" {
		t.Errorf("detached by a failed reading: %+v", l)
	}

	// An operator vouches for a new site key.
	next := newParty(t)
	into[registry.PrincipalView](t, r.send(req{method: "POST", path: "/v1/principals", op: proof.PrincipalCreate, by: next, body: registry.PrincipalRequest{}}), 201)
	web.publish(next.key, r.now(), labels.TopologyClaims{Ver: 3, Rows: []labels.Row{row("*", alice)}})
	r.send(readTopology(other, web.url)).want(t, 422, "bad_topology")
	into[registry.PrincipalView](t, r.send(req{method: "POST", path: "/v1/principals/" + string(next.id()) + "/enrolment", op: proof.PrincipalEnrol, by: r.operator, body: registry.EnrolRequest{Origin: web.url}}), 200)
	if v := into[registry.TopologyView](t, r.send(readTopology(other, web.url)), 200); v.Site != next.public.ID || v.Version != 3 {
		t.Errorf("new site key: %+v", v)
	}
	if v := into[registry.TopologyView](t, r.get("/v1/topologies?origin="+web.url), 200); v.Version != 3 || len(v.Rows) == 0 {
		t.Errorf("shown: %+v", v)
	}
	// A page of an attested site may call.
	out := r.send(req{method: "GET", path: "/v1/tools", header: http.Header{"Origin": {web.url}}})
	if out.header.Get("Access-Control-Allow-Origin") != web.url {
		t.Error("the page of an attested site may not call")
	}
	// And when the topology has expired, what it attested is so no more.
	r.advance(6*24*time.Hour + time.Minute)
	if l := into[registry.LabelView](t, r.get("/v1/labels/"+string(mine[0].ID)), 200); l.Standing == "attested" {
		t.Errorf("attested past the topology's end: %+v", l)
	}
}

func body(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", labels.TopologyMediaType)
		w.Write([]byte(text))
	}
}

// TestTopologyReachesNothingInside: the strict fetcher, as it ships.
func TestTopologyReachesNothingInside(t *testing.T) {
	r := newRig(t)
	f := fetch.New(&fetch.Options{Burst: 2})
	r.fetch = func(ctx context.Context, url string) (*fetch.Response, error) {
		return f.Get(ctx, url, labels.TopologyMediaType)
	}
	alice := newParty(t)
	for _, at := range []string{"https://127.0.0.1:8443", "https://10.0.0.1", "https://169.254.169.254", "https://[::1]", "https://[fd00::1]"} {
		out := r.send(readTopology(alice, at))
		out.want(t, 502, "topology_unreachable")
	}
	f = fetch.New(&fetch.Options{Burst: 2, AllowPrivate: fetch.Loopback()})
	for range 2 {
		r.send(readTopology(alice, "https://127.0.0.1:1")).want(t, 502, "topology_unreachable")
	}
	r.send(readTopology(alice, "https://127.0.0.1:1")).want(t, 429, "too_many")
	r.send(readTopology(alice, "stdio:server")).want(t, 403, "gateway_origin")
	r.send(readTopology(alice, "https://user@evil.example")).want(t, 422, "bad_origin")
	r.get("/v1/topologies?origin=https://unknown.example").want(t, 404, "not_found")
	r.get("/v1/topologies").want(t, 422, "bad_origin")
}
