package envelope_test

import (
	"crypto/ed25519"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/internal/vectortest"
)

// handleClaims are those of a real handle: its token has some 900 bytes.
func handleClaims(key envelope.Key) credentials.HandleClaims {
	return credentials.HandleClaims{
		Registered: credentials.NewRegistered("https://registry.example", "AAAAAAAAAAAAAAAAAAAAAA", time.Unix(1e9, 0), time.Hour),
		Sub:        key.ID.Principal(), Aud: "https://registry.example", ToolID: "tool_01JB2Z6T4E9W8K3Q5R7X2C4V6B",
		Gen: 3, Ver: 17, Mdg: credentials.Digest{1}, Act: credentials.AllActions(),
		Cnf: credentials.Confirmation{Jkt: key.ID}, Prv: credentials.LevelPoP,
	}
}

// BenchmarkOpen holds opening a handle against what its signature alone costs,
// in the same run.
func BenchmarkOpen(b *testing.B) {
	key := vectortest.Ed25519("ed")
	s := newSigner(b, envelope.Handle, key)
	tok := mustSign(b, s, handleClaims(s.Key()))
	v := envelope.NewVerifier(one(s.Key()))
	b.Run("raw-ed25519", func(b *testing.B) {
		msg := []byte(tok[:len(tok)-87])
		sig := ed25519.Sign(key, msg)
		b.ReportAllocs()
		for b.Loop() {
			if !ed25519.Verify(key.Public().(ed25519.PublicKey), msg, sig) {
				b.Fatal("bad")
			}
		}
	})
	b.Run("precheck", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := envelope.Precheck(tok, envelope.Handle); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("verify", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := v.Verify(envelope.Handle, tok); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("verify+claims", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			o, err := v.Verify(envelope.Handle, tok)
			if err != nil {
				b.Fatal(err)
			}
			var h credentials.HandleClaims
			if err := envelope.Claims(o, &h); err != nil || h.Check() != nil {
				b.Fatal(err)
			}
		}
	})
	ec := newSigner(b, envelope.Handle, vectortest.P256("ec"))
	ectok, ecv := mustSign(b, ec, handleClaims(ec.Key())), envelope.NewVerifier(one(ec.Key()))
	b.Run("verify-ES256", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ecv.Verify(envelope.Handle, ectok); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkSign(b *testing.B) {
	for alg, key := range signers() {
		b.Run(alg, func(b *testing.B) {
			s := newSigner(b, envelope.Handle, key)
			claims := handleClaims(s.Key())
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Sign(claims); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParseJWK(b *testing.B) {
	for alg, key := range signers() {
		b.Run(alg, func(b *testing.B) {
			k, err := envelope.NewKey(key.Public())
			if err != nil {
				b.Fatal(err)
			}
			jwk := k.PublishedJWK()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := envelope.ParseJWK(jwk); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
