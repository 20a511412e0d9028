package envelope_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/internal/vectortest"
)

// FuzzPrecheck: no panic on any text; what passes is the one encoding of its
// bytes, and is what ParseToken gives of itself.
func FuzzPrecheck(f *testing.F) {
	for _, c := range vectortest.Cases(f) {
		if len(c.Token) < 4096 {
			f.Add(c.Token, c.Typ == envelope.Proof)
		}
	}
	f.Fuzz(func(t *testing.T, tok string, proof bool) {
		typ := envelope.Handle
		if proof {
			typ = envelope.Proof
		}
		u, err := envelope.Precheck(tok, typ)
		if err != nil {
			if u.Payload != nil || u.KeyID != "" || u.Holder.ID != "" {
				t.Errorf("refused, and yet something came out: %v", err)
			}
			return
		}
		for _, s := range strings.Split(tok, ".") {
			raw, err := base64.RawURLEncoding.DecodeString(s)
			if err != nil || base64.RawURLEncoding.EncodeToString(raw) != s {
				t.Errorf("a segment has a second encoding")
			}
		}
		if clean, err := envelope.ParseToken(" " + tok + "\r\n"); err != nil || clean != tok {
			t.Errorf("ParseToken: %v", err)
		}
		if proof != (u.Holder.ID != "") || proof == (u.KeyID != "") {
			t.Error("a proof has a holder, all others a kid")
		}
	})
}

// FuzzParseJWK: no panic, and a key that is accepted is itself when written and
// read again.
func FuzzParseJWK(f *testing.F) {
	for _, h := range vectortest.HostileJWKs() {
		f.Add([]byte(h.JWK))
	}
	for _, key := range signers() {
		k, err := envelope.NewKey(key.Public())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(k.JWK())
		f.Add(k.PublishedJWK())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		k, err := envelope.ParseJWK(raw)
		if err != nil {
			return
		}
		again, err := envelope.ParseJWK(k.PublishedJWK())
		if err != nil || again.ID != k.ID || again.Alg != k.Alg {
			t.Errorf("not the same key again: %v", err)
		}
		if made, err := envelope.NewKey(k.Public); err != nil || made.ID != k.ID {
			t.Errorf("ParseJWK and NewKey differ: %v", err)
		}
	})
}
