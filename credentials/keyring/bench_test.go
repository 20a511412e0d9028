package keyring

import (
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
)

// BenchmarkRing: what each request pays.
func BenchmarkRing(b *testing.B) {
	r := open(b, newDir(b), Options{Create: true, Issuer: issuer})
	kid := activeKid(b, r, credentials.RoleHandle)
	c := claims(r)
	b.Run("Epoch", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.Epoch()
		}
	})
	b.Run("Key", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.Key(envelope.Handle, kid); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("SignToken", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.SignToken(envelope.Handle, c); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Document", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.Document(time.Now(), Inputs{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRotate: a whole rotation, synced to disk, in a young ring.
func BenchmarkRotate(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		c := newClock()
		r := open(b, newDir(b), c.options())
		b.StartTimer()
		if _, err := r.Rotate(credentials.RoleHandle); err != nil {
			b.Fatal(err)
		}
	}
}
