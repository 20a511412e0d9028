package proof

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
)

// BenchmarkVerify is the floor: the bare signature check of both algorithms.
func BenchmarkVerify(b *testing.B) {
	msg := make([]byte, 700)
	b.Run("EdDSA", func(b *testing.B) {
		pub, key, _ := ed25519.GenerateKey(rand.Reader)
		sig := ed25519.Sign(key, msg)
		b.ReportAllocs()
		for b.Loop() {
			if !ed25519.Verify(pub, msg, sig) {
				b.Fatal("bad")
			}
		}
	})
	b.Run("ES256", func(b *testing.B) {
		key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		sum := sha256.Sum256(msg)
		sig, _ := ecdsa.SignASN1(rand.Reader, key, sum[:])
		b.ReportAllocs()
		for b.Loop() {
			sum := sha256.Sum256(msg)
			if !ecdsa.VerifyASN1(&key.PublicKey, sum[:], sig) {
				b.Fatal("bad")
			}
		}
	})
}

// BenchmarkCheck is the whole check of an overwrite with a body of 4 KiB.
func BenchmarkCheck(b *testing.B) {
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	ec, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	for _, k := range []struct {
		name string
		key  crypto.Signer
	}{{"EdDSA", ed}, {"ES256", ec}} {
		b.Run(k.name, func(b *testing.B) {
			n, _ := NewNonces("a", nil)
			c, _ := NewChecker("https://reg.example", n, NewReplay(0, 0))
			q, tok := overwriteFor(b, k.key, n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Check(tok, q); err != nil {
					b.Fatal(err)
				}
				c.replay = NewReplay(8, 8) // the same proof again
			}
		})
	}
}

func overwriteFor(b *testing.B, key crypto.Signer, n *Nonces) (Request, string) {
	b.Helper()
	const tool = credentials.ToolID("tool_01JB2Z6T4E9W8K3Q5R7X6Y2ABC")
	q := Request{Method: "PUT", URL: "/v1/tools/" + string(tool), Op: ToolOverwrite, ToolID: tool, Base: sha256.Sum256(nil),
		Body: make([]byte, 4<<10), Handle: string(make([]byte, 663)), Now: start}
	k, err := envelope.NewKey(key.Public())
	if err != nil {
		b.Fatal(err)
	}
	nonce, _ := n.New(k.ID, start)
	tok, err := Make(key, Params{Method: q.Method, URL: "https://reg.example" + q.URL, Op: q.Op, ToolID: tool, Base: q.Base,
		Body: q.Body, Handle: q.Handle, Nonce: nonce, Now: start})
	if err != nil {
		b.Fatal(err)
	}
	return q, tok
}

// BenchmarkRefuse is what a stranger's nonsense costs: a proof for another
// address, refused before its signature is looked at.
func BenchmarkRefuse(b *testing.B) {
	c, tok, q := prepared(b)
	q.URL = "/v1/other"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Check(tok, q); err == nil {
			b.Fatal("accepted")
		}
	}
}

func BenchmarkMake(b *testing.B) {
	_, key, _ := ed25519.GenerateKey(rand.Reader)
	p, _ := NewProver(key)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Make(Params{Method: "GET", URL: "https://reg.example/v1/events", Op: EventsRead, Nonce: "n", Now: start}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReplayAdd(b *testing.B) {
	r := NewReplay(1<<20, 1<<20)
	jkt := jktOf(1)
	ids := make([]credentials.TokenID, 1<<16)
	for i := range ids {
		ids[i] = credentials.TokenID(fmt.Sprintf("%022d", i))
	}
	now := start
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		if i%len(ids) == 0 {
			now = now.Add(replayLife(0) * 2)
			r = NewReplay(1<<20, 1<<20)
		}
		if err := r.add(jkt, ids[i%len(ids)], now, now.Add(replayLife(0))); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
