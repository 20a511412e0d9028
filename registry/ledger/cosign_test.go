package ledger

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// TestCosignatureAsOthersMake: the note in testdata was signed and cosigned
// with transparency-dev/formats v0.1.1. It opens here, and the same keys at
// the same second make the same bytes.
func TestCosignatureAsOthersMake(t *testing.T) {
	raw, err := os.ReadFile("testdata/cosigned-by-formats-v0.1.1.note")
	if err != nil {
		t.Fatal(err)
	}
	s := testSigner(t, 1)
	w := testCosigner(t, "witness.example.test", 7, time.Unix(0x6b0cf83f, 0))
	p, err := mustPolicy(t, s.VerifierKeys()...).WithWitnesses(1, w.VerifierKey())
	if err != nil {
		t.Fatal(err)
	}
	cp, err := p.Open(raw)
	if err != nil || len(cp.Witnesses) != 1 || cp.Witnesses[0] != "witness.example.test" {
		t.Fatalf("%+v %v", cp, err)
	}
	own, err := s.Sign(EmptyHead())
	if err != nil {
		t.Fatal(err)
	}
	line, err := w.Cosign(cp)
	if err != nil {
		t.Fatal(err)
	}
	if own, err = p.AddCosignatures(own, line); err != nil || string(own) != string(raw) {
		t.Errorf("%v\n%s", err, own)
	}
}

func testCosigner(t testing.TB, name string, key byte, now time.Time) *Cosigner {
	t.Helper()
	c, err := NewCosigner(name, testKey(key), func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestQuorum(t *testing.T) {
	s := testSigner(t, 1)
	log := mustPolicy(t, s.VerifierKeys()...)
	raw, _ := s.Sign(testHead(4))
	cp, err := log.Open(raw)
	if err != nil {
		t.Fatal(err)
	}
	var keys, lines []string
	for i, name := range []string{"w1", "w2", "stranger"} {
		c := testCosigner(t, name, byte(10+i), time.Unix(1e9, 0))
		l, err := c.Cosign(cp)
		if err != nil {
			t.Fatal(err)
		}
		keys, lines = append(keys, c.VerifierKey()), append(lines, l)
	}
	p, err := log.WithWitnesses(2, keys[:2]...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Open(raw); !errors.Is(err, ErrQuorum) {
		t.Errorf("none of 2: %v", err)
	}
	one, err := p.AddCosignatures(raw, lines[2]+lines[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Open(one); !errors.Is(err, ErrQuorum) {
		t.Errorf("one of 2 and a stranger: %v", err)
	}
	if strings.Contains(string(one), "stranger") {
		t.Error("a stranger's signature was kept")
	}
	both, err := p.AddCosignatures(one, lines[1]+lines[0])
	if err != nil {
		t.Fatal(err)
	}
	if cp, err := p.Open(both); err != nil || len(cp.Witnesses) != 2 || strings.Count(string(both), "w1 ") != 1 {
		t.Errorf("%v %v\n%s", cp.Witnesses, err, both)
	}
	// The log's signature is not replaced by any number of witnesses.
	head, _, _ := strings.Cut(string(both), "\n\n")
	if _, err := p.Open([]byte(head + "\n\n" + lines[0] + lines[1])); !errors.Is(err, ErrSignature) {
		t.Errorf("witnesses only: %v", err)
	}
	for name, l := range map[string]string{"stranger only": lines[2], "nothing": "", "nonsense": "x\n",
		"wrong": strings.Replace(lines[0], "AAAAAA", "AAAAAB", 1), "of another note": otherLine(t, s, log)} {
		if out, err := p.AddCosignatures(raw, l); !errors.Is(err, ErrSignature) || out != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, f := range map[string]func() (Policy, error){
		"more than there are": func() (Policy, error) { return log.WithWitnesses(4, keys...) },
		"negative":            func() (Policy, error) { return log.WithWitnesses(-1, keys...) },
		"twice the same":      func() (Policy, error) { return log.WithWitnesses(2, keys[0], keys[0]) },
		"a log's key":         func() (Policy, error) { return log.WithWitnesses(1, s.VerifierKeys()[0]) },
	} {
		p, err := f()
		if !errors.Is(err, ErrKey) || p.origin != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewPolicy(keys[0]); !errors.Is(err, ErrKey) {
		t.Errorf("a witness's key as a log's: %v", err)
	}
}

func otherLine(t *testing.T, s *Signer, log Policy) string {
	raw, _ := s.Sign(testHead(5))
	cp, err := log.Open(raw)
	if err != nil {
		t.Fatal(err)
	}
	l, err := testCosigner(t, "w1", 10, time.Unix(1e9, 0)).Cosign(cp)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
