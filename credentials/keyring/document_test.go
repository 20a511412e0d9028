package keyring_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/credentials/keyset"
	"github.com/pratique-dev/pratique/internal/secret"
)

const issuer = "https://reg.example"

// world is a ring and its time, as the registry uses it.
type world struct {
	t    *testing.T
	now  time.Time
	ring *keyring.Ring
	seq  uint64
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, now: time.Unix(1_800_000_000, 0)}
	ring, err := keyring.Open(filepath.Join(t.TempDir(), "keys"), keyring.Options{
		Create: true, Issuer: issuer, Now: func() time.Time { return w.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.ring = ring
	return w
}

func (w *world) document() []byte {
	w.t.Helper()
	w.seq++
	doc, err := w.ring.Document(w.now, keyring.Inputs{
		Checkpoint: credentials.CheckpointRef{Size: w.seq, Digest: sha256.Sum256([]byte(fmt.Sprint(w.seq)))},
		Lowered:    sha256.Sum256(nil), Seq: w.seq,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return doc
}

// sign makes a token that lives for life.
func (w *world) sign(typ envelope.Type, life time.Duration) string {
	w.t.Helper()
	tok, err := w.ring.SignToken(typ, credentials.NewRegistered(issuer, "0123456789abcdef", w.now, life))
	if err != nil {
		w.t.Fatal(err)
	}
	return tok
}

// a client keeps its pins from document to document and verifies with the
// second library.
type client struct {
	pins keyset.Pins
	view *keyset.View
}

func (c *client) take(doc []byte, now time.Time) error {
	v, err := keyset.Open(doc, c.pins, now, 0)
	if err != nil {
		return err
	}
	c.view, c.pins = v, v.Pins()
	return nil
}

func (c *client) verify(typ envelope.Type, tok string, now time.Time) error {
	v, err := c.view.Verifier(now)
	if err != nil {
		return err
	}
	_, err = v.Verify(typ, tok)
	return err
}

func newClient(t *testing.T, doc []byte, now time.Time) *client {
	t.Helper()
	pins, err := keyset.FirstUse(doc)
	if err != nil {
		t.Fatal(err)
	}
	c := &client{pins: pins}
	if err := c.take(doc, now); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestDocumentThroughRotations: a client that fetches every five minutes, and
// one that stays away, verify with jwx what the ring signed with go-jose,
// through scheduled rotations of every role, the root included, and an
// emergency.
func TestDocumentThroughRotations(t *testing.T) {
	w := newWorld(t)
	first := w.document()
	c := newClient(t, first, w.now)
	away := newClient(t, first, w.now)
	var live []string // labels that have not expired
	for round := range 60 {
		w.now = w.now.Add(5 * time.Minute)
		// What is signed now is verified with the set fetched up to five
		// minutes ago.
		tok := w.sign(envelope.Label, 24*time.Hour)
		if err := c.verify(envelope.Label, tok, w.now); err != nil {
			t.Fatalf("round %d: cached set: %v", round, err)
		}
		live = append(live, tok)
		if err := c.take(w.document(), w.now); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		for i, tok := range live {
			if err := c.verify(envelope.Label, tok, w.now); err != nil {
				t.Fatalf("round %d: label %d: %v", round, i, err)
			}
		}
		if round%4 == 3 {
			role := keyring.Roles()[(round/4)%len(keyring.Roles())]
			if _, err := w.ring.Rotate(role); err != nil {
				t.Fatalf("rotate %s: %v", role, err)
			}
		}
	}
	if err := away.take(w.document(), w.now); err != nil {
		t.Errorf("a client that slept through %d root changes: %v", 2, err)
	}
	if away.pins.Root == newClient(t, first, time.Unix(1_800_000_000, 0)).pins.Root {
		t.Error("control: the root did not change")
	}
	if err := c.take(first, w.now); err == nil {
		t.Error("an old document was taken")
	}

	leaked := w.sign(envelope.Label, time.Hour)
	u, _ := envelope.Precheck(leaked, envelope.Label)
	if _, err := w.ring.Revoke(u.KeyID, "compromise"); err != nil {
		t.Fatal(err)
	}
	if err := c.take(w.document(), w.now); err != nil {
		t.Fatal(err)
	}
	if err := c.verify(envelope.Label, leaked, w.now); !errors.Is(err, envelope.ErrRevokedKey) {
		t.Errorf("after the emergency: %v", err)
	}
	if err := c.verify(envelope.Label, w.sign(envelope.Label, time.Hour), w.now); err != nil {
		t.Errorf("its successor: %v", err)
	}
}

// TestRevokedRoot: a client walks over a root that was revoked in an emergency.
func TestRevokedRoot(t *testing.T) {
	w := newWorld(t)
	c := newClient(t, w.document(), w.now)
	if _, err := w.ring.Revoke(c.pins.Root, "compromise"); err != nil {
		t.Fatal(err)
	}
	old := c.pins.Root
	if err := c.take(w.document(), w.now); err != nil || c.pins.Root == old {
		t.Errorf("root %s, %v", c.pins.Root, err)
	}
}

// TestDocumentShape: what any JOSE reader finds, and what it must not.
func TestDocumentShape(t *testing.T) {
	w := newWorld(t)
	pending, err := w.ring.Generate(credentials.RoleHandle, envelope.ES256)
	if err != nil {
		t.Fatal(err)
	}
	doc := w.document()
	var d struct {
		Keys  []map[string]string
		Roots []string
	}
	if err := json.Unmarshal(doc, &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Keys) != 10 || d.Roots == nil {
		t.Errorf("%d keys, roots %v", len(d.Keys), d.Roots)
	}
	for _, k := range d.Keys {
		if k["role"] == "root" || k["use"] != "sig" || k["alg"] != "EdDSA" || k["d"] != "" || len(k["kid"]) != 43 {
			t.Errorf("key %v", k)
		}
	}
	if strings.Contains(string(doc), string(pending[0].Kid)) {
		t.Error("a pending key is served")
	}
	if roots := string(w.ring.RootKeys()); strings.Count(roots, `"kid"`) != 2 || strings.Contains(roots, `"d"`) {
		t.Errorf("root keys %s", roots)
	}
}

// TestFreshnessEnds: a document is fresh for 15 minutes and no longer.
func TestFreshnessEnds(t *testing.T) {
	w := newWorld(t)
	c := newClient(t, w.document(), w.now)
	tok := w.sign(envelope.Label, time.Hour)
	if err := c.verify(envelope.Label, tok, w.now.Add(14*time.Minute)); err != nil {
		t.Error(err)
	}
	if err := c.verify(envelope.Label, tok, w.now.Add(16*time.Minute)); !errors.Is(err, keyset.ErrStale) {
		t.Errorf("after 16 minutes: %v", err)
	}
}

// TestCaseO14RotateAndSkew is the part of case O-14 that lives in the ring.
func TestCaseO14RotateAndSkew(t *testing.T) {
	w := newWorld(t)
	w.now = w.now.Add(time.Hour)
	kidOf := func(tok string) credentials.KeyID {
		u, err := envelope.Precheck(tok, envelope.Handle)
		if err != nil {
			t.Fatal(err)
		}
		return u.KeyID
	}
	verify := func(tok string, at time.Time) error {
		o, err := envelope.NewVerifier(w.ring).Verify(envelope.Handle, tok)
		if err != nil {
			return err
		}
		var c credentials.Registered
		if err := envelope.Claims(o, &c); err != nil {
			return err
		}
		return c.CheckTime(at, credentials.MaxHandleLife)
	}
	h1 := w.sign(envelope.Handle, time.Hour)
	k1 := kidOf(h1)
	signer1, _, err := w.ring.Signer(credentials.RoleHandle)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := w.ring.Rotate(credentials.RoleHandle)
	if err != nil {
		t.Fatal(err)
	}
	issued := w.now

	// H1 works until its own end; new handles carry k2; k1 signs nothing more.
	for _, after := range []time.Duration{0, 59 * time.Minute} {
		w.now = issued.Add(after)
		if err := verify(h1, w.now); err != nil {
			t.Errorf("H1 after %v: %v", after, err)
		}
	}
	w.now = issued.Add(time.Hour + 5*time.Minute)
	if err := verify(h1, w.now); !errors.Is(err, credentials.ErrExpired) {
		t.Errorf("H1 five minutes after its end: %v", err)
	}
	w.now = issued
	h2 := w.sign(envelope.Handle, credentials.MaxHandleLife)
	k2 := kidOf(h2)
	if k2 == k1 {
		t.Error("H2 carries k1")
	}
	if _, err := signer1.Sign(nil, []byte("x"), nil); !errors.Is(err, keyring.ErrNotActive) {
		t.Errorf("k1 signs: %v", err)
	}

	// The clocks of H2's verifiers.
	for off, want := range map[time.Duration]error{-45 * time.Second: nil, 45 * time.Second: nil, -10 * time.Minute: credentials.ErrNotYet} {
		if err := verify(h2, w.now.Add(off)); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("clock %v off: %v", off, err)
		}
	}

	// k1 leaves the JWKS only when the last handle it could have signed is dead.
	served := func(k credentials.KeyID) bool { return strings.Contains(keysOf(t, w.document()), string(k)) }
	w.now = issued.Add(credentials.MaxHandleLife + credentials.Leeway)
	if _, err := w.ring.Tick(w.now); err != nil || !served(k1) {
		t.Errorf("k1 left while a handle of it can live: %v", err)
	}
	w.now = issued.Add(25 * time.Hour)
	if served(k1) {
		t.Error("k1 is served after its end")
	}

	// The emergency form: refused at once, and the reason names the key.
	h2 = w.sign(envelope.Handle, time.Hour)
	if _, err := w.ring.Revoke(kidOf(h2), "leaked"); err != nil {
		t.Fatal(err)
	}
	if err := verify(h2, w.now); !errors.Is(err, envelope.ErrRevokedKey) || !strings.Contains(err.Error(), string(kidOf(h2))) {
		t.Errorf("after the emergency: %v", err)
	}

	// Control: one record per rotation (all of one version), no key material.
	text, _ := json.Marshal(changes)
	for _, c := range changes {
		if c.Ver != changes[0].Ver {
			t.Error("a rotation spread over versions")
		}
	}
	for _, bad := range []string{`"d"`, `"x"`, "PRIVATE", "jwk"} {
		if strings.Contains(string(text), bad) {
			t.Errorf("record holds %s: %s", bad, text)
		}
	}
}

// keysOf is the plain JWKS in a document.
func keysOf(t *testing.T, doc []byte) string {
	t.Helper()
	var d struct{ Keys json.RawMessage }
	if err := json.Unmarshal(doc, &d); err != nil {
		t.Fatal(err)
	}
	return string(d.Keys)
}

// TestOfflineRootDocument: a ring whose root is away goes on serving fresh
// documents.
func TestOfflineRootDocument(t *testing.T) {
	w := newWorld(t)
	c := newClient(t, w.document(), w.now)
	if _, err := w.ring.TakeOffline(t.TempDir(), secret.Value{}); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(100 * 24 * time.Hour)
	if err := c.take(w.document(), w.now); err != nil {
		t.Error(err)
	}
}
