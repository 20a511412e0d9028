package envelope_test

import (
	"errors"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/internal/vectortest"
)

// ring is the smallest key ring: one key, its state, and the count of changes.
type ring struct {
	key   envelope.Key
	state error
	epoch uint64
}

func (r *ring) Key(_ envelope.Type, kid credentials.KeyID) (envelope.Key, error) {
	if kid != r.key.ID {
		return envelope.Key{}, envelope.ErrUnknownKey
	}
	return r.key, r.state
}

// always lets everything live: the test is about keys.
type always struct{}

func (always) Live(*credentials.HandleClaims) error { return nil }

// A key that is revoked or retired refuses its tokens at once, cached ones too,
// and whatever time they claim to be from.
func TestRevokedKeyRefusesCachedTokensAtOnce(t *testing.T) {
	key := vectortest.Ed25519("ed")
	s := newSigner(t, envelope.Handle, key)
	r := &ring{key: s.Key()}
	v := envelope.NewVerifier(r)
	now := time.Unix(1e9, 0)
	cache := envelope.NewCache(func(tok string) (*credentials.HandleClaims, time.Time, error) {
		o, err := v.Verify(envelope.Handle, tok)
		if err != nil {
			return nil, time.Time{}, err
		}
		var h credentials.HandleClaims
		if err := envelope.Claims(o, &h); err != nil {
			return nil, time.Time{}, err
		}
		return &h, time.Unix(h.Exp, 0), h.Check()
	}, func() uint64 { return r.epoch }, 0)
	tok := mustSign(t, s, handleClaims(s.Key()))
	for range 2 {
		if _, err := cache.Open(tok, now, always{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, state := range []error{envelope.ErrRetiredKey, envelope.ErrRevokedKey} {
		r.state = state
		r.epoch++
		if _, err := cache.Open(tok, now, always{}); !errors.Is(err, state) {
			t.Errorf("got %v, want %v", err, state)
		}
	}
	r.state = nil
	r.epoch++
	if _, err := cache.Open(tok, now.Add(2*time.Hour), always{}); err != nil {
		t.Fatal(err) // the opener here does not look at the clock
	}
}

// A good signature of one issuer's key says nothing to another issuer, whose
// keys are resolved apart (a cache by kid alone once mixed them up).
func TestKeysOfOneIssuerMeanNothingToAnother(t *testing.T) {
	a, b := newSigner(t, envelope.Handle, vectortest.Ed25519("a")), newSigner(t, envelope.Handle, vectortest.Ed25519("b"))
	tok := mustSign(t, a, handleClaims(a.Key()))
	if _, err := envelope.NewVerifier(one(b.Key())).Verify(envelope.Handle, tok); !errors.Is(err, envelope.ErrUnknownKey) {
		t.Errorf("got %v", err)
	}
	// Even a resolver that hands out the wrong key for a kid is caught.
	wrong := envelope.KeysFunc(func(envelope.Type, credentials.KeyID) (envelope.Key, error) { return b.Key(), nil })
	if _, err := envelope.NewVerifier(wrong).Verify(envelope.Handle, tok); !errors.Is(err, envelope.ErrUnknownKey) {
		t.Errorf("got %v", err)
	}
}
