package keyring

import (
	"crypto"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/secret"
)

const issuer = "https://reg.example"

// A clock is set by the test.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Unix(1_800_000_000, 0)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func (c *clock) options() Options {
	return Options{Create: true, Issuer: issuer, Now: c.Now, WorkFactor: 2}
}

func newDir(t testing.TB) string { return filepath.Join(t.TempDir(), "ring") }

func open(t testing.TB, dir string, o Options) *Ring {
	t.Helper()
	r, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func newRing(t testing.TB) (*Ring, *clock) {
	t.Helper()
	c := newClock()
	return open(t, newDir(t), c.options()), c
}

func activeKid(t testing.TB, r *Ring, role Role) credentials.KeyID {
	t.Helper()
	_, k, err := r.Signer(role)
	if err != nil {
		t.Fatal(err)
	}
	return k.ID
}

func claims(r *Ring) *credentials.Registered {
	c := credentials.NewRegistered(issuer, "0123456789abcdef", r.o.Now(), time.Hour)
	return &c
}

// usable checks all that must hold of a ring at any time, by using it.
func usable(t testing.TB, r *Ring) {
	t.Helper()
	if err := check(r.view.Load().man.slots()); err != nil {
		t.Fatalf("invariant: %v", err)
	}
	if err := r.Health(); err != nil {
		t.Fatalf("health: %v", err)
	}
	v := envelope.NewVerifier(r)
	for _, typ := range []envelope.Type{envelope.Handle, envelope.Label, envelope.Freshness, envelope.KeySet, envelope.RootChange} {
		tok, err := r.SignToken(typ, claims(r))
		if err != nil {
			t.Fatalf("sign %s: %v", typ, err)
		}
		if _, err := v.Verify(typ, tok); err != nil {
			t.Fatalf("verify %s: %v", typ, err)
		}
	}
	for _, role := range Roles() {
		s, k, err := r.Signer(role)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := envelope.NewKey(s.Public()); err != nil || m.ID != k.ID {
			t.Fatalf("signer of %s has another key", role)
		}
	}
	if _, err := r.Document(r.o.Now(), Inputs{}); err != nil {
		t.Fatalf("document: %v", err)
	}
	if _, err := v.Verify(envelope.KeySet, r.view.Load().man.List); err != nil {
		t.Fatalf("list: %v", err)
	}
	checkFiles(t, r)
}

// checkFiles: 0700 and 0600, one file per private key that should exist, and
// nothing else.
func checkFiles(t testing.TB, r *Ring) {
	t.Helper()
	if st, err := os.Stat(r.dir); err != nil || st.Mode().Perm() != 0o700 {
		t.Fatalf("folder %v, %v", st.Mode(), err)
	}
	want := []string{manifestName, lockName, ringKeyName}
	if r.vault.id != nil {
		want[2] = ringKeyAgeName
	}
	for _, e := range r.view.Load().man.Keys {
		if e.File != "" {
			want = append(want, e.File)
		}
	}
	es, err := os.ReadDir(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		if i := slices.Index(want, e.Name()); i >= 0 {
			want = slices.Delete(want, i, i+1)
		} else {
			t.Errorf("surplus file %s", e.Name())
		}
		if st, err := e.Info(); err != nil || st.Mode() != 0o600 {
			t.Errorf("%s: mode %v", e.Name(), st.Mode())
		}
	}
	if len(want) > 0 {
		t.Errorf("missing files %v", want)
	}
}

func TestBootstrap(t *testing.T) {
	dir, c := newDir(t), newClock()
	if _, err := Open(dir, Options{Now: c.Now}); !errors.Is(err, ErrNoRing) {
		t.Errorf("no ring: %v", err)
	}
	if _, err := Open(dir, Options{Create: true}); err == nil {
		t.Error("a ring without an issuer")
	}
	r := open(t, dir, c.options())
	usable(t, r)
	if n := len(r.List()); n != 12 || r.Ver() != 1 {
		t.Errorf("%d keys, version %d", n, r.Ver())
	}
	again := open(t, dir, c.options())
	usable(t, again)
	if again.Ver() != 1 || activeKid(t, again, credentials.RoleHandle) != activeKid(t, r, credentials.RoleHandle) {
		t.Error("opening again changed the ring")
	}
	o := c.options()
	o.Algs = map[Role]envelope.Alg{credentials.RoleHandle: envelope.ES256, credentials.RoleLabel: envelope.ES256}
	usable(t, open(t, newDir(t), o))
	o.Algs[credentials.RoleCheckpoint] = envelope.ES256
	if _, err := Open(newDir(t), o); !errors.Is(err, ErrAlg) {
		t.Errorf("ES256 checkpoints: %v", err)
	}
}

func TestRotate(t *testing.T) {
	r, c := newRing(t)
	const role = credentials.RoleHandle
	old := activeKid(t, r, role)
	s, _, _ := r.Signer(role)
	tok, err := r.SignToken(envelope.Handle, claims(r))
	if err != nil {
		t.Fatal(err)
	}
	file := r.view.Load().man.entry(old).File
	epoch := r.Epoch()
	changes, err := r.Rotate(role)
	if err != nil {
		t.Fatal(err)
	}
	usable(t, r)
	if r.Epoch() == epoch || r.Ver() != 2 {
		t.Errorf("epoch %d, version %d", r.Epoch(), r.Ver())
	}
	// The successors of the first key set are ripe from the start; later ones
	// are not.
	var early *EarlyError
	if _, err := r.Rotate(role); !errors.As(err, &early) || !early.At.Equal(c.Now().Add(15*time.Minute)) {
		t.Fatalf("too early: %v", err)
	}
	if r.Ver() != 2 {
		t.Error("a refused rotation changed the ring")
	}
	if _, err := os.Lstat(filepath.Join(r.dir, file)); err == nil {
		t.Error("private key of the retiring key is still there")
	}
	if _, err := s.Sign(rand.Reader, []byte("x"), crypto.Hash(0)); !errors.Is(err, ErrNotActive) {
		t.Errorf("old signer: %v", err)
	}
	v := envelope.NewVerifier(r)
	if _, err := v.Verify(envelope.Handle, tok); err != nil {
		t.Errorf("token of the retiring key: %v", err)
	}
	text, _ := json.Marshal(changes)
	if len(changes) != 4 || !strings.Contains(string(text), `"to":"active"`) || slices.ContainsFunc(changes, func(c Change) bool { return c.Ver != 2 || c.At == 0 || c.Reason == "" }) {
		t.Errorf("changes %s", text)
	}
	if _, err := r.Rotate(role); !errors.Is(err, ErrTooEarly) {
		t.Errorf("a second rotation at once: %v", err)
	}
	if _, err := r.Retire(old); !errors.As(err, &early) || !early.At.Equal(c.Now().Add(25*time.Hour)) {
		t.Errorf("retire: %v", err)
	}
	c.Add(25*time.Hour - time.Second)
	if _, err := r.Key(envelope.Handle, old); err != nil {
		t.Errorf("a second before the end: %v", err)
	}
	c.Add(time.Second)
	if _, err := r.Key(envelope.Handle, old); !errors.Is(err, envelope.ErrRetiredKey) || !strings.Contains(err.Error(), string(old)) {
		t.Errorf("at the end, before any tick: %v", err)
	}
	if _, err := r.Tick(c.Now()); err != nil {
		t.Fatal(err)
	}
	usable(t, r)
	if m := r.view.Load().man.entry(old); m.State != retired {
		t.Errorf("state %s", m.State)
	}
	if got := r.Changes(1); len(got) != 5 || got[4].Ver != 3 {
		t.Errorf("recorded changes %+v", got)
	}
	if r.Changes(3) != nil {
		t.Error("changes beyond the last")
	}
}

func TestKeyByState(t *testing.T) {
	r, _ := newRing(t)
	ch, err := r.Generate(credentials.RoleHandle, envelope.ES256)
	if err != nil {
		t.Fatal(err)
	}
	kid := ch[0].Kid
	for _, tt := range []struct {
		typ  envelope.Type
		kid  credentials.KeyID
		want error
	}{
		{envelope.Handle, kid, envelope.ErrUnknownKey}, // pending
		{envelope.Handle, activeKid(t, r, credentials.RoleHandle), nil},
		{envelope.Label, activeKid(t, r, credentials.RoleHandle), envelope.ErrWrongRole},
		{envelope.Handle, activeKid(t, r, credentials.RoleRoot), envelope.ErrWrongRole},
		{envelope.Topology, activeKid(t, r, credentials.RoleRoot), envelope.ErrWrongRole},
		{envelope.Handle, "x", envelope.ErrUnknownKey},
	} {
		if _, err := r.Key(tt.typ, tt.kid); !errors.Is(err, tt.want) || tt.want == nil && err != nil {
			t.Errorf("%s %s: %v, want %v", tt.typ, tt.kid, err, tt.want)
		}
	}
	if _, err := r.Publish(kid); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Key(envelope.Handle, kid); err != nil {
		t.Errorf("published: %v", err)
	}
	if _, _, err := r.Signer("x"); !errors.Is(err, ErrRole) {
		t.Errorf("signer of no role: %v", err)
	}
	if _, err := r.SignToken(envelope.Intent, claims(r)); !errors.Is(err, envelope.ErrWrongRole) {
		t.Errorf("sign an intent: %v", err)
	}
	if _, err := r.Export(kid); err != nil {
		t.Error(err)
	}
	if _, err := r.Export("x"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}

func TestRevoke(t *testing.T) {
	r, c := newRing(t)
	const role = credentials.RoleHandle
	old := activeKid(t, r, role)
	tok, _ := r.SignToken(envelope.Handle, claims(r))
	for _, bad := range []string{"", strings.Repeat("x", 201), "a\nb", "a\xff"} {
		if _, err := r.Revoke(old, bad); !errors.Is(err, ErrReason) {
			t.Errorf("reason %q: %v", bad, err)
		}
	}
	if _, err := r.Revoke("x", "leaked"); !errors.Is(err, ErrNotFound) {
		t.Errorf("no key: %v", err)
	}
	epoch := r.Epoch()
	ch, err := r.Revoke(old, "compromise")
	if err != nil || len(ch) != 4 {
		t.Fatalf("%v %v", ch, err)
	}
	usable(t, r)
	if r.Epoch() == epoch {
		t.Error("epoch stays")
	}
	_, err = envelope.NewVerifier(r).Verify(envelope.Handle, tok)
	if !errors.Is(err, envelope.ErrRevokedKey) || !strings.Contains(err.Error(), string(old)) {
		t.Errorf("token of a revoked key: %v", err)
	}
	if ch, err := r.Revoke(old, "again"); err != nil || ch != nil || r.Ver() != 2 {
		t.Errorf("revoking twice: %v %v", ch, err)
	}
	// A successor, a pending and a retired key can be revoked too.
	for _, st := range []State{published, pending, retiring} {
		switch st {
		case pending:
			r.Generate(role, "")
		case retiring:
			c.Add(time.Hour)
			if _, err := r.Rotate(role); err != nil {
				t.Fatal(err)
			}
		}
		kid := of(r.view.Load().man.slots(), role, st)[0].Kid
		if _, err := r.Revoke(kid, "superseded"); err != nil {
			t.Fatal(err)
		}
		usable(t, r)
		if _, err := r.Key(envelope.Handle, kid); !errors.Is(err, envelope.ErrRevokedKey) {
			t.Errorf("revoked from %s: %v", st, err)
		}
	}
}

// TestNeverBack: a revoked key does not return by import, nor a known one.
func TestNeverBack(t *testing.T) {
	r, _ := newRing(t)
	p, err := NewPrivate(envelope.EdDSA, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Import(credentials.RoleLabel, []*Private{p}); err != nil {
		t.Fatal(err)
	}
	usable(t, r)
	if _, err := r.Import(credentials.RoleHandle, []*Private{p}); !errors.Is(err, ErrKnownKey) {
		t.Errorf("import again: %v", err)
	}
	if _, err := r.Revoke(p.Key().ID, "compromise"); err != nil {
		t.Fatal(err)
	}
	fresh, _ := NewPrivate(envelope.EdDSA, nil)
	n := len(r.List())
	if _, err := r.Import(credentials.RoleLabel, []*Private{fresh, p}); !errors.Is(err, envelope.ErrRevokedKey) || !strings.Contains(err.Error(), string(p.Key().ID)) {
		t.Errorf("import of a revoked key: %v", err)
	}
	if len(r.List()) != n {
		t.Error("half an import")
	}
	usable(t, r)
}

func TestTickSchedule(t *testing.T) {
	r, c := newRing(t)
	at := r.Plan()[0].NextAt
	c.Add(time.Unix(at, 0).Sub(c.Now()) - time.Second)
	if ch, err := r.Tick(c.Now()); err != nil || ch != nil || r.Ver() != 1 {
		t.Errorf("a second before: %v %v", ch, err)
	}
	c.Add(time.Second)
	if ch, err := r.Tick(c.Now()); err != nil || len(ch) < 4 {
		t.Errorf("on time: %v %v", ch, err)
	}
	for range 24 * 31 {
		c.Add(time.Hour)
		if _, err := r.Tick(c.Now()); err != nil {
			t.Fatal(err)
		}
	}
	usable(t, r)
	ver := r.Ver()
	if ver < 9 {
		t.Errorf("version %d after a month", ver)
	}
	// The list is signed anew before it ends, though nothing else is due.
	exp := r.view.Load().man.ListExp
	c.Add(time.Unix(exp, 0).Sub(c.Now()) - listRenew + time.Minute)
	if _, err := r.Tick(c.Now()); err != nil {
		t.Fatal(err)
	}
	if got := r.view.Load().man.ListExp; got <= exp {
		t.Errorf("list still ends at %d", got)
	}
}

func TestDryRun(t *testing.T) {
	r, c := newRing(t)
	c.Add(time.Hour)
	ch, err := r.Rotate(credentials.RoleHandle, DryRun)
	if err != nil || len(ch) != 4 || r.Ver() != 1 {
		t.Errorf("%v %v, version %d", ch, err, r.Ver())
	}
	usable(t, r)
}

// TestLongerLife: tokens that live longer than the ring was made for keep
// their key in the set long enough, even when the option goes back.
func TestLongerLife(t *testing.T) {
	dir, c := newDir(t), newClock()
	open(t, dir, c.options())
	o := c.options()
	o.Timing.TTL = map[Role]time.Duration{credentials.RoleLabel: 72 * time.Hour}
	r := open(t, dir, o)
	old := activeKid(t, r, credentials.RoleLabel)
	if got := r.view.Load().man.entry(old).Cover; got < 72*3600 {
		t.Fatalf("cover %d s before the first token", got)
	}
	r = open(t, dir, c.options())
	c.Add(time.Hour)
	if _, err := r.Rotate(credentials.RoleLabel); err != nil {
		t.Fatal(err)
	}
	c.Add(72 * time.Hour)
	r.Tick(c.Now())
	if _, err := r.Key(envelope.Label, old); err != nil {
		t.Errorf("after 72 h: %v", err)
	}
}

func TestNewIssuer(t *testing.T) {
	dir, c := newDir(t), newClock()
	open(t, dir, c.options())
	o := c.options()
	o.Issuer = "https://other.example"
	r := open(t, dir, o)
	if r.Ver() != 2 || r.view.Load().man.Iss != o.Issuer {
		t.Errorf("version %d, issuer %s", r.Ver(), r.view.Load().man.Iss)
	}
	usable(t, r)
}

func TestCheckpointSigners(t *testing.T) {
	r, c := newRing(t)
	ss, err := r.CheckpointSigners()
	if err != nil || len(ss) != 2 {
		t.Fatalf("%d signers, %v", len(ss), err)
	}
	for _, s := range ss {
		if _, err := s.Sign(rand.Reader, []byte("note"), crypto.Hash(0)); err != nil {
			t.Error(err)
		}
	}
	c.Add(time.Hour)
	if _, err := r.Rotate(credentials.RoleCheckpoint); err != nil {
		t.Fatal(err)
	}
	if _, err := ss[0].Sign(rand.Reader, []byte("note"), crypto.Hash(0)); !errors.Is(err, ErrNotActive) {
		t.Errorf("old key: %v", err)
	}
	if _, err := ss[1].Sign(rand.Reader, []byte("note"), crypto.Hash(0)); err != nil {
		t.Errorf("its successor, now active: %v", err)
	}
}

// TestSecretsDoNotPrint: no verb, encoder or logger shows key material, of the
// ring or of what it hands out.
func TestSecretsDoNotPrint(t *testing.T) {
	r, _ := newRing(t)
	p, _ := NewPrivate(envelope.EdDSA, nil)
	seed, _ := p.jwk()
	d := strings.Split(string(seed), `"`)[3] // base64 of the seed
	s, _, _ := r.Signer(credentials.RoleHandle)
	priv := r.view.Load().private(activeKid(t, r, credentials.RoleHandle))
	pem, _ := priv.pkcs8()
	raw := fmt.Sprint(priv.get())
	var out strings.Builder
	log := slog.New(slog.NewTextHandler(&out, nil))
	type holder struct {
		P *Private
		r *Ring
		s crypto.Signer
	}
	h := holder{priv, r, s}
	for _, v := range []any{p, priv, r, s, h, &h, *r.view.Load().keys[priv.key.ID], secret.New([]byte(d))} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		log.Info("x", "v", v)
		b, err := json.Marshal(v)
		out.Write(b)
		if err != nil {
			out.WriteString(err.Error())
		}
	}
	for name, bad := range map[string]string{"seed": d, "pem": strings.Split(string(pem), "\n")[1][20:], "bytes": raw[1:40]} {
		if strings.Contains(out.String(), bad) {
			t.Errorf("%s was printed", name)
		}
	}
	if !strings.Contains(out.String(), secret.Hidden) {
		t.Error("control: nothing was printed at all")
	}
}

func Example() {
	dir, _ := os.MkdirTemp("", "keyring")
	defer os.RemoveAll(dir)
	now := time.Unix(1_800_000_000, 0)
	ring, err := Open(filepath.Join(dir, "keys"), Options{
		Create: true, Issuer: "https://reg.example", Now: func() time.Time { return now },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	token, _ := ring.SignToken(envelope.Label, credentials.NewRegistered("https://reg.example", "0123456789abcdef", now, time.Hour))

	// The first key set has the successor: no cache lacks it.
	changes, _ := ring.Rotate(credentials.RoleLabel)
	for _, c := range changes {
		fmt.Printf("%s: %q to %q\n", c.Role, c.From, c.To)
	}
	_, err = envelope.NewVerifier(ring).Verify(envelope.Label, token)
	fmt.Println("signed before the rotation:", err)

	_, err = ring.Rotate(credentials.RoleLabel) // the next one is not in every cache yet
	fmt.Println(errors.Is(err, ErrTooEarly))
	// Output:
	// label: "active" to "retiring"
	// label: "published" to "active"
	// label: "" to "pending"
	// label: "pending" to "published"
	// signed before the rotation: <nil>
	// true
}
