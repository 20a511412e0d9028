package client_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/internal/problem"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

const (
	fakeURL    = "https://registry.example"
	toolPay    = credentials.ToolID("tool_01JB2Z6T4E9W8K3Q5R7XAAAAAA")
	toolOther  = credentials.ToolID("tool_01JB2Z6T4E9W8K3Q5R7XBBBBBB")
	someJti    = credentials.TokenID("AAAAAAAAAAAAAAAAAAAAAA")
	metaPay    = `{"name":"pay","description":"Pays.","inputSchema":{"type":"object"}}`
	originShop = "https://shop.example"
)

// key is a key that depends on its name only.
func key(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("pratique client test " + name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func keyOf(t testing.TB, name string) envelope.Key {
	t.Helper()
	k, err := envelope.NewKey(key(name).Public())
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// fake is a small registry: a real key ring, real tokens, real proofs, and of
// the rest only what a test asks for.
type fake struct {
	t     testing.TB
	ring  *keyring.Ring
	check *proof.Checker
	now   func() time.Time

	fetches atomic.Int64 // of the key set
	seeks   atomic.Int64 // of those, for an unknown kid
	lowGets atomic.Int64 // of the list of lowered labels
	labGets atomic.Int64 // of labels by tool

	mu      sync.Mutex
	seq     uint64
	lowered labels.Lowered
	ckpt    credentials.CheckpointRef
	jwks    http.HandlerFunc // replaces the key set's answer
	label   map[credentials.ToolID]string
	acts    func(w http.ResponseWriter, r *http.Request, body []byte) // what is under /v1 and not below
	ledger  http.Handler
	changes chan string // raw text of the stream
	streams []string    // Last-Event-ID of each stream opened
}

func newFake(t testing.TB, now func() time.Time) *fake {
	t.Helper()
	ring, err := keyring.Open(filepath.Join(t.TempDir(), "keys"), keyring.Options{Create: true, Issuer: fakeURL, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	nonces, err := proof.NewNonces("r1", nil)
	if err != nil {
		t.Fatal(err)
	}
	check, err := proof.NewChecker(fakeURL, nonces, proof.NewReplay(1000, 1000))
	if err != nil {
		t.Fatal(err)
	}
	return &fake{t: t, ring: ring, check: check, now: now, seq: 10, label: map[credentials.ToolID]string{},
		changes: make(chan string)}
}

func (f *fake) document() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	doc, err := f.ring.Document(f.now(), keyring.Inputs{Checkpoint: f.ckpt, Lowered: f.lowered.Digest(), Seq: f.seq})
	if err != nil {
		f.t.Error(err)
	}
	return doc
}

func (f *fake) set(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	jwks, acts, list, ledger := f.jwks, f.acts, f.lowered, f.ledger
	f.mu.Unlock()
	switch {
	case r.URL.Path == "/.well-known/jwks.json":
		f.fetches.Add(1)
		if r.Header.Get("Cache-Control") == "no-cache" {
			f.seeks.Add(1)
		}
		if jwks != nil {
			jwks(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(f.document())
	case r.URL.Path == "/v1/labels/lowered":
		f.lowGets.Add(1)
		if r.URL.Query().Get("digest") != list.Digest().String() {
			problem.New(404, "not_found", "no such list").Write(w)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(list.JSON())
	case r.URL.Path == "/v1/labels/stream":
		f.stream(w, r)
	case strings.HasPrefix(r.URL.Path, "/v1/labels/"):
		f.labGets.Add(1)
		tool := credentials.ToolID(strings.TrimPrefix(r.URL.Path, "/v1/labels/"))
		f.mu.Lock()
		tok, ok := f.label[tool]
		f.mu.Unlock()
		if !ok {
			problem.New(404, "not_found", "no such tool").Write(w)
			return
		}
		answer(w, 200, registry.LabelView{Tool: tool, Label: tok})
	case strings.HasPrefix(r.URL.Path, "/ledger/") && ledger != nil:
		ledger.ServeHTTP(w, r)
	case acts != nil:
		body, _ := io.ReadAll(r.Body)
		acts(w, r, body)
	default:
		problem.New(404, "not_found", "no such path").Write(w)
	}
}

func (f *fake) stream(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.streams = append(f.streams, r.Header.Get("Last-Event-ID"))
	f.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(200)
	io.WriteString(w, ": hello\n\n")
	for {
		select {
		case text := <-f.changes:
			if text == "" {
				return
			}
			io.WriteString(w, text)
		case <-r.Context().Done():
			return
		}
	}
}

func answer(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(b)
}

// proved checks the proof of a request as the registry does.
func (f *fake) proved(r *http.Request, body []byte, op proof.Op, tool credentials.ToolID, base credentials.Digest) error {
	handle, _ := strings.CutPrefix(r.Header.Get("Authorization"), "DPoP ")
	_, err := f.check.Check(r.Header.Get("DPoP"), proof.Request{
		Method: r.Method, URL: r.URL.EscapedPath(), Op: op, ToolID: tool, Base: base, Body: body, Handle: handle, Now: f.now(),
	})
	return err
}

// refuse answers as the registry does where a proof is refused.
func refuse(w http.ResponseWriter, err error) {
	p := problem.New(401, "invalid_dpop_proof", "proof refused").WithDetail("%v", err)
	if n, ok := err.(*proof.NonceError); ok {
		p = problem.New(401, "use_dpop_nonce", "proof needs a nonce")
		p.Nonce = n.Nonce
	}
	p.Write(w)
}

// handle issues a handle for toolPay to the owner, as of now.
func (f *fake) handle(owner string) string {
	k := keyOf(f.t, owner)
	_, digest, err := canon.Metadata([]byte(metaPay))
	if err != nil {
		f.t.Fatal(err)
	}
	return f.sign(envelope.Handle, &credentials.HandleClaims{
		Registered: credentials.NewRegistered(fakeURL, f.jti(), f.now(), time.Hour),
		Sub:        k.ID.Principal(), Aud: fakeURL, ToolID: toolPay, Gen: 1, Ver: 1, Mdg: digest,
		Act: credentials.AllActions(), Cnf: credentials.Confirmation{Jkt: k.ID}, Prv: credentials.LevelPoP,
	})
}

// statement is a Yellow label of toolPay at the registry's seq.
func (f *fake) statement(edit func(*labels.Statement)) *labels.Statement {
	_, digest, err := canon.Metadata([]byte(metaPay))
	if err != nil {
		f.t.Fatal(err)
	}
	org, err := origin.Parse(originShop)
	if err != nil {
		f.t.Fatal(err)
	}
	f.mu.Lock()
	seq := f.seq
	f.mu.Unlock()
	s := &labels.Statement{
		Registered: credentials.NewRegistered(fakeURL, f.jti(), f.now(), 12*time.Hour),
		Sub:        toolPay, Mdg: digest, Gen: 1, Ver: 1, Own: keyOf(f.t, "owner").ID, Org: org, Name: "pay",
		Prv: credentials.LevelPoP, Standing: labels.Attested, Content: labels.Uninspected, Tier: labels.Yellow, Seq: seq,
	}
	if edit != nil {
		edit(s)
	}
	return s
}

func (f *fake) labelOf(edit func(*labels.Statement)) string {
	return f.sign(envelope.Label, f.statement(edit))
}

func (f *fake) sign(typ envelope.Type, claims any) string {
	f.t.Helper()
	tok, err := f.ring.SignToken(typ, claims)
	if err != nil {
		f.t.Fatal(err)
	}
	return tok
}

var jtis atomic.Uint64

func (f *fake) jti() credentials.TokenID {
	return credentials.TokenID(fmt.Sprintf("jti-%018d", jtis.Add(1)))
}

func shownPay(t testing.TB) labels.Shown {
	org, err := origin.Parse(originShop)
	if err != nil {
		t.Fatal(err)
	}
	return labels.Shown{Metadata: []byte(metaPay), Tool: toolPay, Origin: org}
}

func (f *fake) network() client.Network {
	return client.Network{Transport: inProcess{f}, Now: f.now}
}

// root is the thumbprint of the ring's root key.
func (f *fake) root() credentials.KeyID {
	for _, s := range f.ring.List() {
		if s.Role == credentials.RoleRoot && s.State == credentials.KeyActive {
			return s.Kid
		}
	}
	f.t.Fatal("no root")
	return ""
}

// activeKid is the active key of a role.
func (f *fake) activeKid(role credentials.Role) credentials.KeyID {
	_, k, err := f.ring.Signer(role)
	if err != nil {
		f.t.Fatal(err)
	}
	return k.ID
}

// inProcess is a transport that calls a handler. Everything in it is durably
// blocked as testing/synctest wants it; bodies stream.
type inProcess struct{ h http.Handler }

func (p inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	pr, pw := io.Pipe()
	w := &pipeWriter{pw: pw, head: make(chan *http.Response, 1), h: http.Header{}, body: pr}
	in := httptest.NewRequest(req.Method, req.URL.String(), bytes.NewReader(bodyOf(req))).WithContext(req.Context())
	in.Header = req.Header.Clone()
	stop := context.AfterFunc(req.Context(), func() { pr.CloseWithError(req.Context().Err()) })
	go func() {
		defer stop()
		defer pw.Close()
		defer w.WriteHeader(200)
		p.h.ServeHTTP(w, in)
	}()
	select {
	case resp := <-w.head:
		if resp == nil {
			return nil, io.ErrUnexpectedEOF
		}
		return resp, nil
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

func bodyOf(req *http.Request) []byte {
	if req.Body == nil {
		return nil
	}
	b, _ := io.ReadAll(req.Body)
	req.Body.Close()
	return b
}

type pipeWriter struct {
	pw   *io.PipeWriter
	body io.ReadCloser
	head chan *http.Response
	h    http.Header
	once sync.Once
}

func (w *pipeWriter) Header() http.Header { return w.h }

func (w *pipeWriter) WriteHeader(status int) {
	w.once.Do(func() {
		if status == 0 { // the connection breaks
			w.head <- nil
			return
		}
		w.head <- &http.Response{StatusCode: status, Status: strconv.Itoa(status), Header: w.h.Clone(), Body: w.body}
	})
}

func (w *pipeWriter) Write(b []byte) (int, error) {
	w.WriteHeader(200)
	return w.pw.Write(b)
}

func digestOf(t testing.TB, metadata []byte) credentials.Digest {
	t.Helper()
	_, d, err := canon.Metadata(metadata)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
