package keyring

import (
	"crypto"
	"crypto/rand"
	"testing"
	"time"
)

func TestSmoke(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	r, err := Open(t.TempDir()+"/ring", Options{Create: true, Issuer: "https://reg.example", Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r)
	for _, i := range r.List() {
		t.Logf("%+v", i)
	}
	s, k, err := r.Signer("handle")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sign(rand.Reader, []byte("x"), crypto.Hash(0)); err != nil {
		t.Log(err)
	}
	if _, err := r.Rotate("handle"); err == nil {
		t.Fatal("too early")
	} else {
		t.Log(err)
	}
	now = now.Add(16 * time.Minute)
	c, err := r.Rotate("handle")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", c)
	if _, err := s.Sign(rand.Reader, []byte("x"), crypto.Hash(0)); err == nil {
		t.Fatal("signed")
	} else {
		t.Log(err, k.ID)
	}
	d, err := r.Document(now, Inputs{})
	t.Log(string(d), err)
}
