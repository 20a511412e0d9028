package writer_test

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/store/sqlite"
	"github.com/pratique-dev/pratique/registry/writer"
)

const (
	site = "https://tools.example"
	home = "https://registry.example"
)

var ctx = context.Background()

// logKey signs the checkpoints of these tests.
var logKey = func() ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("checkpoint key of the writer's tests"))
	return ed25519.NewKeyFromSeed(seed[:])
}()

// checkpoints signs with one fixed key.
func checkpoints(t testing.TB) func() (*ledger.Signer, error) {
	t.Helper()
	s, err := ledger.NewSigner("registry.example/log", logKey)
	if err != nil {
		t.Fatal(err)
	}
	return func() (*ledger.Signer, error) { return s, nil }
}

func openLog(t testing.TB, dir string) *sqlite.Log {
	t.Helper()
	l, err := sqlite.Open(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func newFolder(t testing.TB) string { return filepath.Join(t.TempDir(), "data") }

// openWriter opens with an open policy; change may say otherwise.
func openWriter(t testing.TB, l writer.Log, change ...func(*writer.Options)) *writer.Writer {
	t.Helper()
	w, err := tryOpen(t, l, change...)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func tryOpen(t testing.TB, l writer.Log, change ...func(*writer.Options)) (*writer.Writer, error) {
	o := writer.Options{Store: l, Checkpoints: checkpoints(t), Policy: registry.PolicyOpen}
	for _, c := range change {
		c(&o)
	}
	w, err := writer.Open(ctx, o)
	if err == nil {
		t.Cleanup(func() { w.Close() })
	}
	return w, err
}

// A party has a key.
type party struct {
	private crypto.Signer
	key     envelope.Key
}

func newParty(t testing.TB) party {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	k, err := envelope.NewKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	return party{private, k}
}

func (p party) id() credentials.PrincipalID { return p.key.ID.Principal() }

func item(t testing.TB, name, text string) registry.Item {
	t.Helper()
	c, d, err := canon.Metadata(fmt.Appendf(nil, `{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, name, text))
	if err != nil {
		t.Fatal(err)
	}
	return registry.Item{Name: name, Digest: d, Canonical: c}
}

func random() string {
	var b [16]byte
	rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// by fills in what all commands have, for a caller that has proved its key.
func by(k credentials.KeyID) registry.CommandMeta {
	m := registry.CommandMeta{ID: registry.CommandID(random()), Caller: registry.UnsafeLocal(k)}
	m.Req = sha256.Sum256([]byte(m.ID))
	return m
}

func newTool() credentials.ToolID { return credentials.ToolID("tool_" + ulid.Make().String()) }

func (p party) register(origin string, items ...registry.Item) *registry.Register {
	c := &registry.Register{CommandMeta: p.meta(), JWK: p.key.JWK(), Origin: origin, Items: items}
	for range items {
		c.IDs = append(c.IDs, newTool())
	}
	return c
}

// A desk issues handles and checks proofs, as the API does, so that tests get
// the holders, callers and acceptances that only it can make.
type desk struct {
	t       testing.TB
	issuer  *envelope.Signer
	handles *registry.Handles
	proofs  *proof.Checker
	nonces  *proof.Nonces
}

type anyState struct{}

func (anyState) Live(*credentials.HandleClaims) error { return nil } // the writer asks the state itself

func newDesk(t testing.TB) *desk {
	t.Helper()
	issuer := newParty(t)
	d := &desk{t: t}
	var err error
	if d.issuer, err = envelope.NewSigner(envelope.Handle, issuer.private); err != nil {
		t.Fatal(err)
	}
	keys := envelope.KeysFunc(func(envelope.Type, credentials.KeyID) (envelope.Key, error) { return issuer.key, nil })
	d.handles = registry.NewHandles(envelope.NewVerifier(keys), registry.HandleRules{Issuer: home, Audience: home}, func() uint64 { return 1 }, time.Now)
	if d.nonces, err = proof.NewNonces("test", nil); err != nil {
		t.Fatal(err)
	}
	if d.proofs, err = proof.NewChecker(home, d.nonces, proof.NewReplay(1<<16, 1<<16)); err != nil {
		t.Fatal(err)
	}
	return d
}

// claims are those of an owner's handle.
func claims(x *registry.Tool) credentials.HandleClaims {
	return credentials.HandleClaims{
		Registered: credentials.NewRegistered(home, credentials.TokenID(random()), time.Now(), time.Hour),
		Sub:        x.Owner.Principal(), Aud: home, ToolID: x.Row.Tool, Gen: x.Gen, Ver: x.Ver, Mdg: x.Digest,
		Act: credentials.AllActions(), Cnf: credentials.Confirmation{Jkt: x.Owner}, Prv: x.Level,
	}
}

// hold is p showing a handle with these claims, and a proof.
func (d *desk) hold(p party, h credentials.HandleClaims) registry.Holder {
	d.t.Helper()
	tok, err := d.issuer.Sign(h)
	if err != nil {
		d.t.Fatal(err)
	}
	nonce, err := d.nonces.New(p.key.ID, time.Now())
	if err != nil {
		d.t.Fatal(err)
	}
	made, err := proof.Make(p.private, proof.Params{Method: "DELETE", URL: home + "/x", Op: proof.HandleRevokeAll, ToolID: h.ToolID, Handle: tok, Nonce: nonce, Now: time.Now()})
	if err != nil {
		d.t.Fatal(err)
	}
	c, err := d.proofs.Check(made, proof.Request{Method: "DELETE", URL: "/x", Op: proof.HandleRevokeAll, ToolID: h.ToolID, Handle: tok, Now: time.Now()})
	if err != nil {
		d.t.Fatal(err)
	}
	holder, err := d.handles.Hold(tok, c, h.ToolID, anyState{}, time.Now())
	if err != nil {
		d.t.Fatal(err)
	}
	return holder
}

// accept is p agreeing to take a tool over.
func (d *desk) accept(p party, change func(*registry.AcceptClaims)) registry.Acceptance {
	d.t.Helper()
	s, err := envelope.NewSigner(envelope.ToolAccept, p.private)
	if err != nil {
		d.t.Fatal(err)
	}
	c := registry.AcceptClaims{Registered: credentials.NewRegistered(string(p.id()), credentials.TokenID(random()), time.Now(), time.Hour), Aud: home, Sub: p.id()}
	change(&c)
	tok, err := s.Sign(c)
	if err != nil {
		d.t.Fatal(err)
	}
	a, err := registry.OpenAcceptance(tok, p.key, home, time.Now())
	if err != nil {
		d.t.Fatal(err)
	}
	return a
}

func (p party) meta() registry.CommandMeta { return by(p.key.ID) }

// do carries a command out that must succeed.
func do(t testing.TB, w *writer.Writer, c registry.Command) registry.Outcome {
	t.Helper()
	out, err := w.Do(ctx, c)
	if err != nil {
		t.Fatalf("%T: %v", c, err)
	}
	return out
}

// tool reads a tool at the head of the log.
func tool(t testing.TB, w *writer.Writer, id credentials.ToolID) *registry.Tool {
	t.Helper()
	v, err := w.Barrier(ctx)
	if err != nil {
		t.Fatal(err)
	}
	x, err := v.Tool(id)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// registered is a new tool of p.
func registered(t testing.TB, w *writer.Writer, p party, name string) *registry.Tool {
	t.Helper()
	c := p.register(site, item(t, name, "Does "+name+"."))
	do(t, w, c)
	return tool(t, w, c.IDs[0])
}

// proved is p as a caller by a proof of its own, not as the service itself.
func proved(p party) registry.Caller {
	nonces, err := proof.NewNonces("test", nil)
	if err != nil {
		panic(err)
	}
	checker, err := proof.NewChecker(home, nonces, proof.NewReplay(8, 8))
	if err != nil {
		panic(err)
	}
	nonce, err := nonces.New(p.key.ID, time.Now())
	if err != nil {
		panic(err)
	}
	made, err := proof.Make(p.private, proof.Params{Method: "GET", URL: home + "/x", Op: proof.OperatorRead, Nonce: nonce, Now: time.Now()})
	if err != nil {
		panic(err)
	}
	c, err := checker.Check(made, proof.Request{Method: "GET", URL: "/x", Op: proof.OperatorRead, Now: time.Now()})
	if err != nil {
		panic(err)
	}
	return registry.NewCaller(c)
}

// A clock is pushed by hand, from now on.
type clock struct{ off atomic.Int64 }

func newClock() *clock                   { return &clock{} }
func (c *clock) now() time.Time          { return time.Now().Add(time.Duration(c.off.Load())) }
func (c *clock) advance(d time.Duration) { c.off.Add(int64(d)) }
