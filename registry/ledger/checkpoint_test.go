package ledger

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"github.com/transparency-dev/formats/log"
	"golang.org/x/mod/sumdb/note"
)

const testOrigin = "registry.example.test/log"

// testKey is an Ed25519 key made from one byte.
func testKey(b byte) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = b
	return ed25519.NewKeyFromSeed(seed)
}

func testSigner(t testing.TB, keys ...byte) *Signer {
	t.Helper()
	var s *Signer
	var err error
	switch len(keys) {
	case 1:
		s, err = NewSigner(testOrigin, testKey(keys[0]))
	case 2:
		s, err = NewSigner(testOrigin, testKey(keys[0]), testKey(keys[1]))
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustPolicy(t testing.TB, vkeys ...string) Policy {
	t.Helper()
	p, err := NewPolicy(vkeys...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func testHead(n int) Head {
	var tree Tree
	for i := range n {
		tree.AppendHash(LeafHash([]byte{byte(i)}))
	}
	return tree.Head()
}

func TestCheckpointReadByOthers(t *testing.T) {
	s := testSigner(t, 1)
	h := testHead(3)
	raw, err := s.Sign(h)
	if err != nil {
		t.Fatal(err)
	}
	v, err := note.NewVerifier(s.VerifierKeys()[0])
	if err != nil {
		t.Fatal(err)
	}
	cp, rest, _, err := log.ParseCheckpoint(raw, testOrigin, v)
	if err != nil || cp.Size != 3 || string(cp.Hash) != string(h.Root[:]) || len(rest) != 0 {
		t.Fatalf("formats reads %v %q %v", cp, rest, err)
	}
	vkey, err := VerifierKey(testOrigin, testKey(1).Public().(ed25519.PublicKey))
	if err != nil || vkey != s.VerifierKeys()[0] {
		t.Errorf("VerifierKey %q %v", vkey, err)
	}
	c, err := mustPolicy(t, vkey).Open(raw)
	if err != nil || c.Head != h || c.Origin != testOrigin || string(c.Note) != string(raw) {
		t.Errorf("Open %+v %v", c, err)
	}
	if o, hh, err := ParseUnverified(raw); err != nil || o != testOrigin || hh != h {
		t.Errorf("ParseUnverified %v %v %v", o, hh, err)
	}
}

// TestRotationDualSigning walks a checkpoint-key rotation: old key alone, both,
// new alone, and readers that know the old key, both, or the new one.
func TestRotationDualSigning(t *testing.T) {
	oldS, both, newS := testSigner(t, 1), testSigner(t, 2, 1), testSigner(t, 2)
	oldK, newK := oldS.VerifierKeys()[0], newS.VerifierKeys()[0]
	if k := both.VerifierKeys(); len(k) != 2 || k[0] != newK || k[1] != oldK {
		t.Fatalf("announced %v", k)
	}
	h := testHead(5)
	for _, tc := range []struct {
		signer *Signer
		keys   []string
		ok     bool
	}{
		{oldS, []string{oldK}, true}, {oldS, []string{newK}, false}, {oldS, []string{oldK, newK}, true},
		{both, []string{oldK}, true}, {both, []string{newK}, true}, {both, []string{oldK, newK}, true},
		{newS, []string{oldK}, false}, {newS, []string{newK}, true}, {newS, []string{oldK, newK}, true},
	} {
		raw, err := tc.signer.Sign(h)
		if err != nil {
			t.Fatal(err)
		}
		c, err := mustPolicy(t, tc.keys...).Open(raw)
		if (err == nil) != tc.ok || tc.ok && c.Head != h || !tc.ok && !errors.Is(err, ErrSignature) {
			t.Errorf("signed by %v, known %v: %v", tc.signer.VerifierKeys(), tc.keys, err)
		}
	}
	// One wrong signature of a known key spoils the note, whatever the other says.
	raw, _ := both.Sign(h)
	lines := strings.SplitAfter(string(raw), "\n")
	other, _ := both.Sign(testHead(6))
	lines[5] = strings.SplitAfter(string(other), "\n")[5]
	if _, err := mustPolicy(t, oldK, newK).Open([]byte(strings.Join(lines, ""))); !errors.Is(err, ErrSignature) {
		t.Errorf("note with one wrong signature: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	s := testSigner(t, 1)
	p := mustPolicy(t, s.VerifierKeys()...)
	good, _ := s.Sign(testHead(3))
	sign := func(text string) []byte {
		n, err := note.Sign(&note.Note{Text: text}, s.signers...)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	root := strings.Split(string(good), "\n")[2]
	for name, tc := range map[string]struct {
		raw  []byte
		want error
	}{
		"empty":         {nil, ErrNote},
		"huge":          {make([]byte, MaxNote+1), ErrNote},
		"no signature":  {[]byte(testOrigin + "\n3\n" + root + "\n"), ErrNote},
		"other origin":  {sign("other.example/log\n3\n" + root + "\n"), ErrOrigin},
		"leading zero":  {sign(testOrigin + "\n03\n" + root + "\n"), ErrNote},
		"plus":          {sign(testOrigin + "\n+3\n" + root + "\n"), ErrNote},
		"negative":      {sign(testOrigin + "\n-3\n" + root + "\n"), ErrNote},
		"2^63":          {sign(testOrigin + "\n9223372036854775808\n" + root + "\n"), ErrNote},
		"short root":    {sign(testOrigin + "\n3\n" + root[4:] + "\n"), ErrNote},
		"loose base64":  {sign(testOrigin + "\n3\n" + root[:42] + string(root[42]+1) + "=\n"), ErrNote},
		"two lines":     {sign(testOrigin + "\n3\n"), ErrNote},
		"empty root":    {sign(testOrigin + "\n0\n" + root + "\n"), ErrNote},
		"changed size":  {[]byte(strings.Replace(string(good), "\n3\n", "\n4\n", 1)), ErrSignature},
		"other key":     {func() []byte { n, _ := testSigner(t, 9).Sign(testHead(3)); return n }(), ErrSignature},
		"cut in middle": {good[:len(good)-10], ErrNote},
	} {
		if _, err := p.Open(tc.raw); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
	if _, err := (Policy{}).Open(good); !errors.Is(err, ErrSignature) {
		t.Errorf("zero policy: %v", err)
	}
}

func TestKeysRefused(t *testing.T) {
	ec, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if _, err := NewSigner(testOrigin, ec); !errors.Is(err, ErrKey) {
		t.Errorf("P-256: %v", err)
	}
	if _, err := NewSigner(testOrigin); !errors.Is(err, ErrKey) {
		t.Errorf("none: %v", err)
	}
	if _, err := NewSigner(testOrigin, nil); !errors.Is(err, ErrKey) {
		t.Errorf("nil: %v", err)
	}
	if _, err := NewSigner(testOrigin, testKey(1), testKey(1)); !errors.Is(err, ErrKey) {
		t.Errorf("twice: %v", err)
	}
	for _, o := range []string{"", "a b", "a+b", "a\nb", "a\x00b"} {
		if _, err := NewSigner(o, testKey(1)); !errors.Is(err, ErrKey) {
			t.Errorf("origin %q: %v", o, err)
		}
	}
	k := testSigner(t, 1).VerifierKeys()[0]
	other, _ := VerifierKey("other", testKey(1).Public().(ed25519.PublicKey))
	for _, bad := range [][]string{{}, {""}, {k + "x"}, {strings.Replace(k, "+", "+0", 1)}, {"x" + k}, {k, other}, {strings.ToUpper(k)}} {
		if _, err := NewPolicy(bad...); !errors.Is(err, ErrKey) {
			t.Errorf("NewPolicy(%q): %v", bad, err)
		}
	}
}

func BenchmarkSign(b *testing.B) {
	b.ReportAllocs()
	s, h := testSigner(b, 1), testHead(3)
	for b.Loop() {
		if _, err := s.Sign(h); err != nil {
			b.Fatal(err)
		}
	}
}
