package keyset

import (
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/canon"
)

var epoch = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

const (
	testIss = "https://registry.example"
	testJti = credentials.TokenID("AAAAAAAAAAAAAAAAAAAAAA")
)

// testKey is a key that depends on its name only.
func testKey(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("pratique test key " + name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func mustKey(t testing.TB, s crypto.Signer) envelope.Key {
	t.Helper()
	k, err := envelope.NewKey(s.Public())
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func sign(t testing.TB, typ envelope.Type, by crypto.Signer, claims any) string {
	t.Helper()
	s, err := envelope.NewSigner(typ, by)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := s.Sign(claims)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// service is what a registry would serve, and the knobs that a test turns.
type service struct {
	root, freshBy crypto.Signer
	list          credentials.KeySetClaims
	fresh         credentials.FreshnessClaims
	jwks          []credentials.PublishedKey
	roots         []string
	listToken     string // set: served instead of the signed list
}

func newService(t testing.TB) *service {
	s := &service{root: testKey("root"), freshBy: testKey("key-set")}
	s.list = credentials.KeySetClaims{Registered: credentials.NewRegistered(testIss, testJti, epoch, credentials.MaxKeySetLife), Ver: 7}
	for _, r := range credentials.Roles() {
		s.add(t, string(r), r, credentials.KeyActive)
	}
	s.fresh = credentials.FreshnessClaims{
		Registered: credentials.NewRegistered(testIss, testJti, epoch, credentials.MaxFreshnessLife),
		Ver:        7, Seq: 40, Checkpoint: credentials.CheckpointRef{Size: 100, Digest: credentials.Digest{1}},
	}
	return s
}

func (s *service) add(t testing.TB, name string, role credentials.Role, state credentials.KeyState) {
	k := mustKey(t, testKey(name))
	s.list.Keys = append(s.list.Keys, credentials.KeyEntry{
		Kid: k.ID, Role: role, Alg: string(k.Alg), State: state, Jwk: k.Members(), Since: epoch.Unix(),
	})
	if state.Verifies() {
		s.jwks = append(s.jwks, credentials.PublishedKey{PublicJWK: k.Members(), Alg: string(k.Alg), Kid: k.ID, Role: role, Use: "sig"})
	}
}

func (s *service) entry(t testing.TB, name string) *credentials.KeyEntry {
	id := mustKey(t, testKey(name)).ID
	i := slices.IndexFunc(s.list.Keys, func(e credentials.KeyEntry) bool { return e.Kid == id })
	return &s.list.Keys[i]
}

// unpublish takes a key out of the plain JWKS.
func (s *service) unpublish(t testing.TB, name string) {
	id := mustKey(t, testKey(name)).ID
	s.jwks = slices.DeleteFunc(s.jwks, func(k credentials.PublishedKey) bool { return k.Kid == id })
}

func (s *service) document(t testing.TB) []byte {
	t.Helper()
	d := credentials.KeySetDocument{Keys: s.jwks, List: s.listToken, Roots: s.roots}
	if d.List == "" {
		d.List = sign(t, envelope.KeySet, s.root, s.list)
	}
	if s.fresh.List.IsZero() {
		s.fresh.List = credentials.KeyListDigest(d.List)
		defer func() { s.fresh.List = credentials.Digest{} }()
	}
	d.Freshness = sign(t, envelope.Freshness, s.freshBy, s.fresh)
	raw, err := canon.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func (s *service) pins(t testing.TB) Pins {
	return Pins{Iss: testIss, Root: mustKey(t, testKey("root")).ID, Ver: 7, Seq: 40,
		Checkpoint: credentials.CheckpointRef{Size: 100, Digest: credentials.Digest{1}}}
}

func TestOpenAcceptsWhatThePinnedRootSigned(t *testing.T) {
	s := newService(t)
	v, err := Open(s.document(t), Pins{Root: s.pins(t).Root}, epoch, 0)
	if err != nil {
		t.Fatal(err)
	}
	if v.Pins() != s.pins(t) {
		t.Errorf("pins to keep: %+v", v.Pins())
	}
	label := sign(t, envelope.Label, testKey("label"), map[string]int{"seq": 1})
	ver, err := v.Verifier(epoch)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ver.Verify(envelope.Label, label); err != nil {
		t.Errorf("label by the label key: %v", err)
	}
	if len(v.Entries()) != 6 || len(v.Set().IDs()) != 6 || v.Freshness().Seq != 40 {
		t.Error("the view does not show what was signed")
	}
	first, err := FirstUse(s.document(t))
	if err != nil || first != (Pins{Iss: testIss, Root: s.pins(t).Root}) {
		t.Errorf("first use: %+v, %v", first, err)
	}
}

// Each row is one thing wrong with a document or with its time.
func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*service, *Pins, *time.Time)
		want error
	}{
		{"no pin", func(_ *service, p *Pins, _ *time.Time) { p.Root = "" }, ErrNoPin},
		{"another root is pinned", func(_ *service, p *Pins, _ *time.Time) { p.Root = mustKey(t, testKey("other")).ID }, ErrRoot},
		{"another issuer is pinned", func(_ *service, p *Pins, _ *time.Time) { p.Iss = "https://other.example" }, credentials.ErrIssuer},
		{"list by a stranger", func(s *service, _ *Pins, _ *time.Time) { s.root = testKey("stranger") }, ErrRoot},
		{"list by a key of another role", func(s *service, _ *Pins, _ *time.Time) { s.root = testKey("label") }, ErrRoot},
		{"list altered", func(s *service, _ *Pins, _ *time.Time) {
			tok := sign(t, envelope.KeySet, s.root, s.list)
			s.list.Ver = 8
			other := sign(t, envelope.KeySet, s.root, s.list)
			s.listToken = other[:strings.LastIndex(other, ".")] + tok[strings.LastIndex(tok, "."):]
		}, envelope.ErrSignature},
		{"list older than one seen", func(_ *service, p *Pins, _ *time.Time) { p.Ver = 8 }, ErrRollback},
		{"labels older than seen", func(_ *service, p *Pins, _ *time.Time) { p.Seq = 41 }, ErrRollback},
		{"log shorter than seen", func(_ *service, p *Pins, _ *time.Time) { p.Checkpoint.Size = 101 }, ErrRollback},
		{"log forked", func(_ *service, p *Pins, _ *time.Time) { p.Checkpoint.Digest = credentials.Digest{2} }, ErrFork},
		{"list expired", func(s *service, _ *Pins, now *time.Time) {
			*now = now.Add(367 * 24 * time.Hour)
			s.fresh.Registered = credentials.NewRegistered(testIss, testJti, *now, credentials.MaxFreshnessLife)
		}, credentials.ErrExpired},
		{"root revoked", func(s *service, _ *Pins, _ *time.Time) { s.entry(t, "root").State = credentials.KeyRevoked }, ErrRoot},
		{"kid of another key", func(s *service, _ *Pins, _ *time.Time) {
			s.entry(t, "label").Jwk = mustKey(t, testKey("evil")).Members()
		}, envelope.ErrKeyIDMismatch},
		{"alg of another key", func(s *service, _ *Pins, _ *time.Time) { s.entry(t, "label").Alg = "ES256" }, envelope.ErrKeyUse},
		{"a key twice", func(s *service, _ *Pins, _ *time.Time) { s.list.Keys = append(s.list.Keys, s.list.Keys[0]) }, credentials.ErrClaims},
		{"a role nobody knows", func(s *service, _ *Pins, _ *time.Time) { s.entry(t, "label").Role = "admin" }, credentials.ErrClaims},
		{"jwks has a key that the list has not", func(s *service, _ *Pins, _ *time.Time) {
			k := mustKey(t, testKey("evil"))
			s.jwks = append(s.jwks, credentials.PublishedKey{PublicJWK: k.Members(), Alg: "EdDSA", Kid: k.ID, Role: "label", Use: "sig"})
		}, envelope.ErrUnknownKey},
		{"jwks has a revoked key", func(s *service, _ *Pins, _ *time.Time) { s.entry(t, "label").State = credentials.KeyRevoked }, envelope.ErrRevokedKey},
		{"jwks gives a key another role", func(s *service, _ *Pins, _ *time.Time) { s.jwks[1].Role = "label" }, ErrKeyRole},
		{"freshness of another list", func(s *service, _ *Pins, _ *time.Time) { s.fresh.List = credentials.Digest{9} }, ErrFork},
		{"freshness of another ver", func(s *service, _ *Pins, _ *time.Time) { s.fresh.Ver = 6 }, ErrFork},
		{"freshness by the label key", func(s *service, _ *Pins, _ *time.Time) { s.freshBy = testKey("label") }, envelope.ErrWrongRole},
		{"freshness by a stranger", func(s *service, _ *Pins, _ *time.Time) { s.freshBy = testKey("stranger") }, envelope.ErrUnknownKey},
		{"freshness by a revoked key", func(s *service, _ *Pins, _ *time.Time) {
			s.entry(t, "key-set").State = credentials.KeyRevoked
			s.unpublish(t, "key-set")
		}, envelope.ErrRevokedKey},
		{"freshness that lives a day", func(s *service, _ *Pins, _ *time.Time) { s.fresh.Exp += 86400 }, credentials.ErrLife},
		{"freshness from the future", func(_ *service, _ *Pins, now *time.Time) { *now = now.Add(-10 * time.Minute) }, credentials.ErrNotYet},
		{"freshness of another issuer", func(s *service, _ *Pins, _ *time.Time) { s.fresh.Iss = "https://other.example" }, credentials.ErrIssuer},
		{"freshness 16 minutes old", func(_ *service, _ *Pins, now *time.Time) { *now = now.Add(16 * time.Minute) }, ErrStale},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, now := newService(t), epoch
			p := s.pins(t)
			c.edit(s, &p, &now)
			if v, err := Open(s.document(t), p, now, 0); !errors.Is(err, c.want) || v != nil {
				t.Fatalf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestOpenToleratesSkewOf45Seconds(t *testing.T) {
	for _, d := range []time.Duration{-45 * time.Second, 0, 45 * time.Second} {
		s := newService(t)
		if _, err := Open(s.document(t), s.pins(t), epoch.Add(d), 0); err != nil {
			t.Errorf("clock off by %v: %v", d, err)
		}
	}
}

func TestStaleSaysHowOld(t *testing.T) {
	s := newService(t)
	doc := s.document(t)
	at := epoch.Add(50 * time.Minute)
	_, err := Open(doc, s.pins(t), at, 0)
	var stale *StaleError
	if !errors.As(err, &stale) || stale.Age != 50*time.Minute || stale.Bound != 15*time.Minute {
		t.Fatalf("without a bound of one's own: %v", err)
	}
	v, err := Open(doc, s.pins(t), at, time.Hour)
	if err != nil || v.Age(at) != 50*time.Minute {
		t.Fatalf("max stale one hour: %v", err)
	}
	if _, err := v.Verifier(epoch.Add(61 * time.Minute)); !errors.Is(err, ErrStale) {
		t.Fatalf("a view must turn stale while it is held: %v", err)
	}
	if _, err := v.Keys(epoch.Add(59 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	if v, err = Open(doc, s.pins(t), epoch, 500*24*time.Hour); err != nil || v.FreshUntil().After(epoch.Add(credentials.MaxKeySetLife)) {
		t.Fatalf("no bound outlives the list: %v", err)
	}
}

// The state now decides, whatever time a token claims to be from.
func TestKeyStateNowDecides(t *testing.T) {
	label := sign(t, envelope.Label, testKey("label"), map[string]int64{"iat": epoch.Add(-24 * time.Hour).Unix()})
	for _, c := range []struct {
		state credentials.KeyState
		ends  time.Duration
		want  error
	}{
		{credentials.KeyPublished, 0, nil},
		{credentials.KeyActive, 0, nil},
		{credentials.KeyRetiring, 0, nil},
		{credentials.KeyRetiring, time.Hour, nil},
		{credentials.KeyRetiring, -time.Hour, envelope.ErrRetiredKey},
		{credentials.KeyPending, 0, envelope.ErrRetiredKey},
		{credentials.KeyRetired, 0, envelope.ErrRetiredKey},
		{credentials.KeyRevoked, 0, envelope.ErrRevokedKey},
	} {
		s := newService(t)
		e := s.entry(t, "label")
		e.State = c.state
		if c.ends != 0 {
			e.Ends = epoch.Add(c.ends).Unix()
		}
		s.unpublish(t, "label")
		v, err := Open(s.document(t), s.pins(t), epoch, 0)
		if err != nil {
			t.Fatal(err)
		}
		ver, _ := v.Verifier(epoch)
		if _, err := ver.Verify(envelope.Label, label); !errors.Is(err, c.want) {
			t.Errorf("%s, ends %v: got %v, want %v", c.state, c.ends, err, c.want)
		}
	}
}

// A key verifies the types of its role and no other, with every pair tried.
func TestRoleDecidesWhichTypesAKeyVerifies(t *testing.T) {
	s := newService(t)
	v, err := Open(s.document(t), s.pins(t), epoch, 0)
	if err != nil {
		t.Fatal(err)
	}
	ver, _ := v.Verifier(epoch)
	good := 0
	for _, role := range credentials.Roles() {
		for _, typ := range envelope.Types() {
			if typ == envelope.Proof {
				continue
			}
			want := error(envelope.ErrWrongRole)
			if typ.Role() == role {
				want, good = nil, good+1
			}
			tok := sign(t, typ, testKey(string(role)), map[string]int{"a": 1})
			if _, err := ver.Verify(typ, tok); !errors.Is(err, want) {
				t.Errorf("%s by role %s: got %v, want %v", typ, role, err, want)
			}
			if _, err := NewVerifier(v.Set()).Verify(typ, tok); !errors.Is(err, want) {
				t.Errorf("%s by role %s in the plain set: got %v, want %v", typ, role, err, want)
			}
		}
	}
	if good != 6 {
		t.Errorf("%d pairs are good, want 6", good)
	}
}
