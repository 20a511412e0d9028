package labels_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/internal/fetch"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
)

var (
	script    = "sha384-" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 48))
	scriptKey = "ed25519-" + base64.StdEncoding.EncodeToString(key('k').Public().(ed25519.PublicKey))
)

// A doc is a topology document in the making. The zero changes give a good one.
type doc struct {
	site   origin.Origin
	claims map[string]any
	typ    envelope.Type
	signer byte           // seed of the key that signs
	key    jsontext.Value // what is shown as the key
	before []any          // handovers
	tamper func(string) string
	more   map[string]any // further members of the document
	raw    string         // the body instead of all this
}

func row(name, level string, publishers ...string) map[string]any {
	if publishers == nil {
		publishers = []string{}
	}
	return map[string]any{"name": name, "publishers": publishers, "level": level, "actions": []string{"overwrite", "revoke"}}
}

func newDoc(site origin.Origin, ver uint64, rows ...any) *doc {
	if rows == nil {
		rows = []any{}
	}
	return &doc{site: site, typ: envelope.Topology, signer: 's', claims: map[string]any{
		"iss": site.String(), "org": site.String(), "jti": "abcdefghijklmnopqrstuv", "ver": ver, "rows": rows,
		"iat": t0.Unix() - 60, "nbf": t0.Unix() - 60, "exp": t0.Unix() + 86400,
	}}
}

func (d *doc) set(k string, v any) *doc { d.claims[k] = v; return d }

func (d *doc) signed() map[string]any {
	s := signer(d.typ, d.signer)
	token, err := s.Sign(d.claims)
	if err != nil {
		panic(err)
	}
	if d.tamper != nil {
		token = d.tamper(token)
	}
	k := d.key
	if k == nil {
		k = s.Key().JWK()
	}
	return map[string]any{"token": token, "key": k}
}

func (d *doc) body() string {
	if d.raw != "" {
		return d.raw
	}
	m := d.signed()
	if d.before != nil {
		m["before"] = d.before
	}
	for k, v := range d.more {
		m[k] = v
	}
	b, err := canon.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// handover is a pair for before: ver, signed by seed from, naming seed to; it
// has expired.
func handover(site origin.Origin, ver uint64, from, to byte) map[string]any {
	d := newDoc(site, ver, row("checkout", "pop", string(kid('p')))).set("next", kid(to))
	d.set("iat", t0.Unix()-7200).set("nbf", t0.Unix()-7200).set("exp", t0.Unix()-3600)
	d.signer = from
	return d.signed()
}

// publishers are the columns of the table: who registers "checkout", and how.
var publishers = []struct {
	name string
	reg  labels.Registration
}{
	{"site", labels.Registration{Publisher: kid('s')}},
	{"listed", labels.Registration{Publisher: kid('p')}},
	{"script", labels.Registration{Publisher: kid('x'), Script: script, Signer: scriptKey}},
	{"stranger", labels.Registration{Publisher: kid('a')}},
	{"bearer", labels.Registration{}},
	{"stranger, held", labels.Registration{Publisher: kid('a'), Held: true}},
	{"listed, held", labels.Registration{Publisher: kid('p'), Held: true}},
	{"enrolled, held", labels.Registration{Publisher: kid('e'), Held: true, Enrolled: true}},
}

// An outcome is one letter of standing (v, u, p, a) and one of measure (f
// refuse, k revoke, v veto, w withhold, + accept) per publisher, in order.
const (
	//           site list scri stra bear str-h lis-h enr-h
	nothing   = "u+   u+   u+   u+   u+   u+    u+    a+" // no topology is in force
	good      = "a+   a+   vf   vf   vf   vk    a+    vv" // the site's server and one listed key
	restricts = "u+   u+   vf   vf   vf   vk    u+    vv" // good, expired: attests nothing; enrolment is outweighed still
	scripts   = "vf   vf   a+   vf   vf   vk    vk    vv" // by the script's hash or key
	reserved  = "vf   vf   vf   vf   vf   vk    vk    vv" // for others, or for nobody
	serverish = "a+   vf   vf   vf   vf   vk    vk    vv" // by the site's server only
	tooLow    = "a+   vf   vf   vf   vf   vk    vv    vv" // the listed key's level is too low: a person decides
	uncovered = "uw   uw   uw   uw   uw   uw    uw    uw" // no row says anything
	onlyKey   = "vf   a+   vf   vf   vf   vk    a+    vv" // by the listed key only
)

// TestTopologies reads every document over TLS through the bounded fetcher,
// once where nothing was known of the site and once where version 5 of a good
// one was, and holds every publisher against what is in force then.
func TestTopologies(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range readings() {
		if seen[r.name] {
			t.Fatalf("%q is there twice", r.name)
		}
		seen[r.name] = true
		t.Run(r.name, func(t *testing.T) {
			site, f := serve(t, r)
			first, err := labels.OpenTopology(site, []byte(newDoc(site, 5, goodRows()...).body()), labels.Known{}, t0)
			if err != nil {
				t.Fatal(err)
			}
			if r.known == "" {
				r.known = r.fresh
			}
			if r.kerr == nil {
				r.kerr = r.err
			}
			for _, c := range []struct {
				name  string
				known *labels.Topology
				err   error
				want  string
			}{{"nothing known", nil, r.err, r.fresh}, {"known", first, r.kerr, r.known}} {
				now, err := read(t, f, site, labels.Known{Topology: c.known})
				if !errors.Is(err, c.err) {
					t.Errorf("%s: read gives %v, want %v", c.name, err, c.err)
				}
				if got := outcome(now, t0); got != strings.Join(strings.Fields(c.want), " ") {
					t.Errorf("%s:\n got %s\nwant %s", c.name, got, strings.Join(strings.Fields(c.want), " "))
				}
			}
		})
	}
	if len(seen) < 25 {
		t.Errorf("only %d documents", len(seen))
	}
}

// read does what the registry does: what could not be read or is not taken
// leaves what was known.
func read(t *testing.T, f *fetch.Fetcher, site origin.Origin, known labels.Known) (*labels.Topology, error) {
	t.Helper()
	resp, err := f.Get(t.Context(), site.TopologyURL(), labels.TopologyMediaType)
	if err != nil {
		return known.Topology, err
	}
	now, err := labels.OpenTopology(site, resp.Body, known, t0)
	if err != nil {
		return known.Topology, err
	}
	return now, nil
}

func outcome(top *labels.Topology, now time.Time) string {
	var out []string
	for _, p := range publishers {
		p.reg.Name = "checkout"
		f := top.Evaluate(p.reg, now)
		out = append(out, f.Standing.String()[:1]+map[labels.Measure]string{
			labels.Refuse: "f", labels.Revoke: "k", labels.Veto: "v", labels.Withhold: "w", labels.Accept: "+",
		}[f.Measure])
	}
	return strings.Join(out, " ")
}

func serve(t *testing.T, r reading) (origin.Origin, *fetch.Fetcher) {
	t.Helper()
	var body string
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch {
		case req.URL.Path != origin.WellKnown:
			http.NotFound(w, req)
		case r.serve != nil:
			r.serve(w, req)
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, body)
		}
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	site := origin.Must(srv.URL)
	if r.doc != nil {
		body = r.doc(site).body()
	}
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	opt := fetch.Options{RootCAs: roots, AllowPrivate: fetch.Loopback()}
	if errors.Is(r.err, fetch.ErrTimeout) {
		opt.Timeout = 200 * time.Millisecond
	}
	return site, fetch.New(&opt)
}

// Origins that point into the network that the registry is in are never
// connected to; registrations there stay unattested.
func TestTopologyOfPrivateTargets(t *testing.T) {
	f := fetch.New(nil)
	for _, o := range []string{
		"https://127.0.0.1", "https://localhost", "https://[::1]", "https://0.0.0.0", "https://10.0.0.1:8443", "https://192.168.1.1",
		"https://172.16.0.1", "https://169.254.169.254", "https://100.64.0.1", "https://[fd00::1]", "https://[fe80::1]",
		"https://[64:ff9b::a9fe:a9fe]", "https://[2002:a9fe:a9fe::]", "https://224.0.0.1", "https://127.0.0.1:1/mcp",
	} {
		site := origin.Must(o)
		now, err := read(t, f, site, labels.Known{})
		if !errors.Is(err, fetch.ErrAddress) {
			t.Errorf("%s: %v, want %v", o, err, fetch.ErrAddress)
		}
		if got := outcome(now, t0); got != strings.Join(strings.Fields(nothing), " ") {
			t.Errorf("%s: %s", o, got)
		}
	}
}

func TestExpiredTopologyRestrictsAndDoesNotAttest(t *testing.T) {
	site := origin.Must("https://shop.example")
	top, err := labels.OpenTopology(site, []byte(newDoc(site, 5, goodRows()...).body()), labels.Known{}, t0)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		at   time.Time
		want string
	}{{top.Expires.Add(-time.Second), good}, {top.Expires, restricts}, {top.Expires.Add(1000 * time.Hour), restricts}} {
		if got := outcome(top, tt.at); got != strings.Join(strings.Fields(tt.want), " ") {
			t.Errorf("at %v:\n got %s\nwant %s", tt.at, got, tt.want)
		}
	}
	f := top.Evaluate(labels.Registration{Name: "other", Publisher: kid('p')}, top.Expires)
	if f.Outcome != labels.RowUncovered || f.Measure != labels.Withhold {
		t.Errorf("uncovered after the end: %+v", f)
	}
	srv := labels.Registration{Name: "checkout", Publisher: kid('s')}
	if f := top.Evaluate(srv, t0); f.Level != credentials.LevelSrv || !f.Until.Equal(top.Expires) {
		t.Errorf("before the end: %+v", f)
	}
	if f := top.Evaluate(srv, top.Expires); f.Level != credentials.LevelPoP || !f.Until.IsZero() {
		t.Errorf("after the end: %+v", f)
	}
}
