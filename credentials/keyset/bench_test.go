package keyset_test

import (
	"crypto/ed25519"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/internal/vectortest"
	"github.com/pratique-dev/pratique/credentials/keyset"
)

// BenchmarkVerify holds both libraries against the bare signature, in one run.
func BenchmarkVerify(b *testing.B) {
	key := vectortest.Ed25519("ed")
	s, err := envelope.NewSigner(envelope.Label, key)
	if err != nil {
		b.Fatal(err)
	}
	tok, err := s.Sign(map[string]string{"sub": strings.Repeat("x", 400)})
	if err != nil {
		b.Fatal(err)
	}
	msg := []byte(tok[:strings.LastIndexByte(tok, '.')])
	sig := ed25519.Sign(key, msg)
	b.Run("raw-ed25519", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !ed25519.Verify(key.Public().(ed25519.PublicKey), msg, sig) {
				b.Fatal("bad")
			}
		}
	})
	for name, v := range map[string]envelope.Verifier{
		"jwx": keyset.NewVerifier(vectortest.Keys()), "go-jose": envelope.NewVerifier(vectortest.Keys()),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := v.Verify(envelope.Label, tok); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParseJWKS(b *testing.B) {
	for _, n := range []int{1, 16, 256} {
		members := make([]string, n)
		for i := range members {
			k, err := envelope.NewKey(vectortest.Ed25519(fmt.Sprint("bench ", i)).Public())
			if err != nil {
				b.Fatal(err)
			}
			members[i] = string(k.PublishedJWK())
		}
		doc := []byte(`{"keys":[` + strings.Join(members, ",") + `]}`)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := keyset.ParseJWKS(doc); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkOpenDocument(b *testing.B) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	doc := exampleDocument(now)
	pins, err := keyset.FirstUse(doc)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := keyset.Open(doc, pins, now, 0); err != nil {
			b.Fatal(err)
		}
	}
}
