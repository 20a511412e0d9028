package api_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/internal/fetch"
	"github.com/pratique-dev/pratique/internal/problem"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/api"
	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/store/sqlite"
	"github.com/pratique-dev/pratique/registry/writer"
)

const site = "https://tools.example"

// seen are the codes that the tests of this package have met.
var seen sync.Map

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if code == 0 && flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == "" {
		var doc struct {
			Components struct {
				Schemas map[string]struct {
					Properties map[string]struct {
						Enum []string `json:"enum"`
					} `json:"properties"`
				} `json:"schemas"`
			} `json:"components"`
		}
		if err := json.Unmarshal(api.Description(), &doc); err != nil {
			fmt.Println("openapi.json:", err)
			os.Exit(1)
		}
		all := doc.Components.Schemas["Problem"].Properties["code"].Enum
		if len(all) < 50 {
			fmt.Println("openapi.json: codes are not where they were")
			code = 1
		}
		for _, c := range all {
			if _, ok := seen.Load(c); !ok {
				fmt.Printf("FAIL: code %q is documented and no test of this package meets it\n", c)
				code = 1
			}
		}
	}
	os.Exit(code)
}

// A rig is a whole registry on a real store, writer and key ring, behind a
// listener, with a clock that tests can push and places to inject faults.
type rig struct {
	t        testing.TB
	url      string
	server   *api.Server
	options  api.Options
	writer   *writer.Writer
	ring     *keyring.Ring
	log      *sqlite.Log
	client   *http.Client
	operator *party
	offset   atomic.Int64 // of the clock
	failDo   atomic.Pointer[error]
	failView atomic.Pointer[error]
	failKeys atomic.Pointer[error]
	failOpen atomic.Pointer[error]
	fetch    func(ctx context.Context, url string) (*fetch.Response, error)
	logs     syncBuffer
}

func (r *rig) now() time.Time { return time.Now().Add(time.Duration(r.offset.Load())) }

// advance pushes the clock and waits until the view is of the new time.
func (r *rig) advance(d time.Duration) {
	r.offset.Add(int64(d))
	if _, err := r.writer.Barrier(context.Background()); err != nil {
		r.t.Fatal(err)
	}
}

func inject(p *atomic.Pointer[error], err error) (undo func()) {
	p.Store(&err)
	return func() { p.Store(nil) }
}

func injected(p *atomic.Pointer[error]) error {
	if e := p.Load(); e != nil {
		return *e
	}
	return nil
}

type faultyRecord struct {
	*writer.Writer
	r *rig
}

func (f faultyRecord) Do(ctx context.Context, cmd registry.Command) (registry.Outcome, error) {
	if err := injected(&f.r.failDo); err != nil {
		return registry.Outcome{}, err
	}
	return f.Writer.Do(ctx, cmd)
}

func (f faultyRecord) View() (*writer.Snapshot, error) {
	if err := injected(&f.r.failView); err != nil {
		return nil, err
	}
	return f.Writer.View()
}

type faultyKeys struct {
	r *rig
}

func (k faultyKeys) Key(typ envelope.Type, kid credentials.KeyID) (envelope.Key, error) {
	if err := injected(&k.r.failOpen); err != nil {
		return envelope.Key{}, err
	}
	return k.r.ring.Key(typ, kid)
}

func (k faultyKeys) Document(ctx context.Context, now time.Time) ([]byte, error) {
	return k.r.ring.Document(now, keyring.Inputs{})
}

func (k faultyKeys) Lowered(d credentials.Digest) (labels.Lowered, error) {
	if d == (labels.Lowered{}).Digest() {
		return labels.Lowered{}, nil
	}
	return labels.Lowered{}, registry.ErrNotFound
}

func (k faultyKeys) List(context.Context) (registry.KeyList, error) {
	out := registry.KeyList{Version: k.r.ring.Ver(), Keys: []registry.KeyView{}}
	for _, i := range k.r.ring.List() {
		out.Keys = append(out.Keys, registry.KeyView{Kid: i.Kid, Role: string(i.Role), Algorithm: string(i.Alg), State: string(i.State), Since: time.Unix(i.Since, 0).UTC()})
	}
	return out, nil
}

func (k faultyKeys) changed(cs []keyring.Change, err error, applied bool) (registry.KeyChangeResponse, error) {
	if e := injected(&k.r.failKeys); e != nil {
		return registry.KeyChangeResponse{}, e
	}
	out := registry.KeyChangeResponse{Version: k.r.ring.Ver(), Applied: applied, Changes: []registry.KeyChange{}}
	for _, c := range cs {
		out.Changes = append(out.Changes, registry.KeyChange{Kid: c.Kid, Role: string(c.Role), From: string(c.From), To: string(c.To), Reason: c.Reason})
	}
	return out, err
}

func (k faultyKeys) Rotate(_ context.Context, _ credentials.PrincipalID, req registry.RotateRequest) (registry.KeyChangeResponse, error) {
	var modes []keyring.Mode
	if req.DryRun {
		modes = append(modes, keyring.DryRun)
	}
	cs, err := k.r.ring.Rotate(credentials.Role(req.Role), modes...)
	return k.changed(cs, err, !req.DryRun)
}

func (k faultyKeys) Revoke(_ context.Context, _ credentials.PrincipalID, kid credentials.KeyID, reason string) (registry.KeyChangeResponse, error) {
	cs, err := k.r.ring.Revoke(kid, reason)
	return k.changed(cs, err, true)
}

type fetcher struct{ r *rig }

func (f fetcher) Get(ctx context.Context, url string, _ ...string) (*fetch.Response, error) {
	return f.r.fetch(ctx, url)
}

// settings are what a test may change before the rig is built.
type settings struct {
	api    api.Options
	policy registry.RegistrationPolicy
	quotas registry.Quotas
	replay *proof.Replay
	plain  bool // no validation against the description: benchmarks
	timing keyring.Timing
}

func newRig(t testing.TB, change ...func(*settings)) *rig {
	t.Helper()
	s := settings{policy: registry.PolicyOpen, quotas: registry.DefaultQuotas(), replay: proof.NewReplay(1<<20, 1<<20)}
	for _, f := range change {
		f(&s)
	}
	r := &rig{t: t}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	r.url = "http://" + l.Addr().String()
	dir := t.TempDir()
	r.ring, err = keyring.Open(dir+"/keys", keyring.Options{Create: true, Issuer: r.url, Now: r.now, WorkFactor: 2, Timing: s.timing})
	must(t, err)
	r.log, err = sqlite.Open(context.Background(), dir+"/log", nil)
	must(t, err)
	t.Cleanup(func() { r.log.Close() })
	r.writer, err = writer.Open(context.Background(), writer.Options{Store: r.log, Checkpoints: r.checkpoints(), Policy: s.policy, Quotas: &s.quotas, Now: r.now})
	must(t, err)
	t.Cleanup(func() { r.writer.Close() })
	nonces, err := proof.NewNonces("r1", nil)
	must(t, err)
	checker, err := proof.NewChecker(r.url, nonces, s.replay)
	must(t, err)
	tiles := ledger.NewTiles(r.log, nil)
	o := s.api
	o.ExternalURL, o.Record, o.Log, o.Prover, o.Signer = r.url, faultyRecord{r.writer, r}, r.log, tiles, r.ring
	o.Verifier, o.Keys, o.Proofs, o.Now, o.Fetcher = envelope.NewVerifier(faultyKeys{r}), faultyKeys{r}, checker, r.now, fetcher{r}
	o.Ledger = r.ledger(tiles)
	if !s.plain {
		o.Logger = r.logger()
	}
	o.Policy = s.policy
	r.options = o
	r.server, err = api.New(o)
	must(t, err)
	hs := r.server.HTTPServer()
	go hs.Serve(l)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := errors.Join(r.server.Shutdown(ctx), hs.Shutdown(ctx)); err != nil {
			t.Error("shutdown:", err)
		}
	})
	tr := &http.Transport{MaxIdleConnsPerHost: 128}
	t.Cleanup(tr.CloseIdleConnections)
	r.client = &http.Client{Transport: &validator{t: t, next: tr, plain: s.plain}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r.operator = newParty(t)
	cmd := &registry.EnrolOperator{JWK: r.operator.public.JWK()}
	cmd.ID, cmd.Caller = "enrol-the-operator", registry.UnsafeLocal("")
	_, err = r.writer.Do(context.Background(), cmd)
	must(t, err)
	return r
}

func (r *rig) checkpoints() func() (*ledger.Signer, error) {
	return func() (*ledger.Signer, error) {
		keys, err := r.ring.CheckpointSigners()
		if err != nil {
			return nil, err
		}
		return ledger.NewSigner("registry.example/log", keys...)
	}
}

// ledger serves the log; it posts the newest stored checkpoint when asked.
func (r *rig) ledger(tiles *ledger.Tiles) http.Handler {
	board := &ledger.Board{}
	h := ledger.NewHandler(tiles, board, func() []string { return []string{"key"} })
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if n, err := r.log.LatestNote(q.Context()); err == nil {
			_ = board.Publish(n.Text)
		}
		h.ServeHTTP(w, q)
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A party is somebody with a key.
type party struct {
	key    crypto.Signer
	public envelope.Key
	prover *proof.Prover
	mu     sync.Mutex
	nonce  string
}

func newParty(t testing.TB) *party {
	t.Helper()
	_, priv, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	return partyOf(t, priv)
}

func newECParty(t testing.TB) *party {
	t.Helper()
	priv, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	return partyOf(t, priv)
}

func partyOf(t testing.TB, key crypto.Signer) *party {
	t.Helper()
	p := &party{key: key}
	var err error
	p.prover, err = proof.NewProver(key)
	must(t, err)
	p.public = p.prover.Key()
	return p
}

func (p *party) id() credentials.PrincipalID { return p.public.ID.Principal() }

// A req is one request to send.
type req struct {
	method, path string
	op           proof.Op
	by           *party
	tool         credentials.ToolID
	base         credentials.Digest
	handle       string
	body         any // []byte as it is, else JSON
	header       http.Header
	host         string
	tweak        func(*proof.Params)
	token        string // a proof made before
	keepToken    *string
	noAuth       bool // the proof says ath, the header is left out
	oldNonce     bool // no second try with the nonce that comes along
}

type res struct {
	status int
	header http.Header
	body   []byte
	problem.Problem
}

func (r *rig) send(q req) res {
	r.t.Helper()
	for try := 0; ; try++ {
		out := r.once(q)
		if q.by != nil {
			if n := out.header.Get("DPoP-Nonce"); n != "" {
				q.by.mu.Lock()
				q.by.nonce = n
				q.by.mu.Unlock()
			}
		}
		if out.Code == "use_dpop_nonce" && try == 0 && !q.oldNonce && q.token == "" {
			continue
		}
		return out
	}
}

func (r *rig) once(q req) res {
	r.t.Helper()
	var raw []byte
	switch b := q.body.(type) {
	case nil:
	case []byte:
		raw = b
	default:
		var err error
		raw, err = json.Marshal(b, json.Deterministic(true))
		must(r.t, err)
	}
	var rd io.Reader
	if raw != nil {
		rd = bytes.NewReader(raw)
	}
	h, err := http.NewRequest(q.method, r.url+q.path, rd)
	must(r.t, err)
	if raw != nil {
		h.Header.Set("Content-Type", "application/json")
	}
	if q.handle != "" && !q.noAuth {
		h.Header.Set("Authorization", "DPoP "+q.handle)
	}
	if q.op != "" {
		if q.token == "" {
			q.token = r.prove(q, raw)
		}
		if q.keepToken != nil {
			*q.keepToken = q.token
		}
		h.Header.Set("DPoP", q.token)
	}
	for k, vs := range q.header {
		h.Header[k] = vs
	}
	if q.host != "" {
		h.Host = q.host
	}
	resp, err := r.client.Do(h)
	must(r.t, err)
	return read(r.t, resp)
}

func (r *rig) prove(q req, body []byte) string {
	r.t.Helper()
	q.by.mu.Lock()
	nonce := q.by.nonce
	q.by.mu.Unlock()
	p := proof.Params{Method: q.method, URL: r.url + q.path, Op: q.op, ToolID: q.tool, Base: q.base, Body: body, Handle: q.handle, Nonce: nonce, Now: r.now()}
	if q.tweak != nil {
		q.tweak(&p)
	}
	tok, err := q.by.prover.Make(p)
	must(r.t, err)
	return tok
}

func read(t testing.TB, resp *http.Response) res {
	t.Helper()
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must(t, err)
	out := res{status: resp.StatusCode, header: resp.Header, body: body}
	if resp.StatusCode >= 400 {
		if err := json.Unmarshal(body, &out.Problem); err != nil {
			t.Fatalf("status %d is no problem: %v\n%s", resp.StatusCode, err, body)
		}
		if out.Instance == "" || out.Instance != resp.Header.Get("X-Request-Id") {
			t.Errorf("problem %s does not name its request", out.Code)
		}
		seen.Store(out.Code, true)
	}
	return out
}

// into decodes a success.
func into[T any](t testing.TB, r res, status int) (v T) {
	t.Helper()
	if r.status != status {
		t.Fatalf("status %d %s %q %s, want %d", r.status, r.Code, r.Detail, r.Field, status)
	}
	if err := json.Unmarshal(r.body, &v, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%v\n%s", err, r.body)
	}
	return v
}

func (r res) want(t testing.TB, status int, code string) {
	t.Helper()
	if r.status != status || r.Code != code {
		t.Errorf("got %d %s %q (%s), want %d %s", r.status, r.Code, r.Detail, r.Field, status, code)
	}
}

func (r *rig) get(path string) res { r.t.Helper(); return r.send(req{method: "GET", path: path}) }

func (r *rig) head() uint64 {
	r.t.Helper()
	v, err := r.writer.Barrier(context.Background())
	must(r.t, err)
	return v.Head.Size
}

// register registers tools by name at the site.
func (r *rig) register(p *party, names ...string) registry.RegisterResponse {
	r.t.Helper()
	return into[registry.RegisterResponse](r.t, r.send(registration(p, names...)), 201)
}

func registration(p *party, names ...string) req {
	b := registry.RegisterRequest{Origin: site}
	for _, n := range names {
		b.Tools = append(b.Tools, metadata(n, "first"))
	}
	return req{method: "POST", path: "/v1/tools", op: proof.ToolRegister, by: p, body: b}
}

func metadata(name, text string) []byte {
	return fmt.Appendf(nil, `{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, name, text)
}

func overwrite(p *party, h registry.HandleView, text string) req {
	return req{method: "PUT", path: "/v1/tools/" + string(h.ID), op: proof.ToolOverwrite, by: p, tool: h.ID, base: h.Digest,
		handle: h.Handle, body: registry.OverwriteRequest{Tool: metadata(h.Name, text)}}
}

func revoke(p *party, h registry.HandleView) req {
	return req{method: "DELETE", path: "/v1/tools/" + string(h.ID), op: proof.ToolRevoke, by: p, tool: h.ID, base: h.Digest, handle: h.Handle}
}

func renew(p *party, id credentials.ToolID) req {
	return req{method: "POST", path: "/v1/tools/" + string(id) + "/handle", op: proof.HandleRenew, by: p, tool: id}
}

func delegate(p *party, h registry.HandleView, to *party, exp time.Time, act ...credentials.Action) req {
	return req{method: "POST", path: "/v1/delegations", op: proof.DelegationCreate, by: p, tool: h.ID, handle: h.Handle,
		body: registry.DelegationRequest{To: to.public.JWK(), Actions: act, Expires: exp.UTC().Truncate(time.Second)}}
}

// accept is a recipient's statement, with changes for attacks.
func (r *rig) accept(p *party, c registry.AcceptClaims) string {
	r.t.Helper()
	s, err := envelope.NewSigner(envelope.ToolAccept, p.key)
	must(r.t, err)
	if c.Jti == "" {
		var b [16]byte
		rand.Read(b[:])
		c.Jti = credentials.TokenID(base64.RawURLEncoding.EncodeToString(b[:]))
	}
	c.Registered = credentials.NewRegistered(string(p.id()), c.Jti, r.now(), time.Hour)
	c.Sub = p.id()
	if c.Aud == "" {
		c.Aud = r.url
	}
	tok, err := s.Sign(c)
	must(r.t, err)
	return tok
}

func transfer(p *party, h registry.HandleView, to *party, accept string) req {
	return req{method: "POST", path: "/v1/tools/" + string(h.ID) + "/transfer", op: proof.ToolTransfer, by: p, tool: h.ID, base: h.Digest,
		handle: h.Handle, body: registry.TransferRequest{To: to.public.JWK(), Accept: accept}}
}

// validator holds every exchange against the description: an answer always, a
// request where it was accepted.
type validator struct {
	t     testing.TB
	next  http.RoundTripper
	plain bool
}

var description = sync.OnceValues(func() (routers.Router, error) {
	doc, err := openapi3.NewLoader().LoadFromData(api.Description())
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, err
	}
	return legacy.NewRouter(doc)
})

func (v *validator) RoundTrip(q *http.Request) (*http.Response, error) {
	if v.plain {
		return v.next.RoundTrip(q)
	}
	var sent []byte
	if q.Body != nil {
		sent, _ = io.ReadAll(q.Body)
		q.Body = io.NopCloser(bytes.NewReader(sent))
	}
	resp, err := v.next.RoundTrip(q)
	if err != nil {
		return resp, err
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return resp, nil
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		return resp, err
	}
	v.check(q, sent, resp, body)
	return resp, nil
}

func (v *validator) check(q *http.Request, sent []byte, resp *http.Response, body []byte) {
	router, err := description()
	if err != nil {
		v.t.Errorf("openapi.json: %v", err)
		return
	}
	again := q.Clone(context.Background())
	again.URL.Scheme, again.URL.Host, again.Host = "", "", ""
	again.Body = io.NopCloser(bytes.NewReader(sent))
	if again.Method == "HEAD" {
		return
	}
	route, vars, err := router.FindRoute(again)
	if err != nil || strings.HasSuffix(q.URL.Path, "/") {
		if resp.StatusCode != 404 && resp.StatusCode != 405 && resp.StatusCode != 204 && !strings.HasPrefix(q.URL.Path, "/ledger/tile/") &&
			resp.StatusCode != 421 && resp.StatusCode != 431 {
			v.t.Errorf("%s %s: %d, and not described: %v", q.Method, q.URL.Path, resp.StatusCode, err)
		}
		return
	}
	in := &openapi3filter.RequestValidationInput{Request: again, PathParams: vars, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true}}
	if resp.StatusCode < 400 && len(sent) < 1<<20 {
		if err := openapi3filter.ValidateRequest(context.Background(), in); err != nil {
			v.t.Errorf("%s %s: accepted, and not as described: %v", q.Method, q.URL.Path, err)
		}
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: resp.StatusCode, Header: resp.Header, Options: in.Options}
	out.SetBodyBytes(body)
	if err := openapi3filter.ValidateResponse(context.Background(), out); err != nil {
		v.t.Errorf("%s %s: %d is not as described: %v", q.Method, q.URL.Path, resp.StatusCode, err)
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func names(n int, prefix string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return slices.Clip(out)
}

func (r *rig) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(&r.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
