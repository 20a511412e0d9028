package keyring

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/secret"
)

// ErrKeyKind means a private key that is neither Ed25519 nor P-256.
var ErrKeyKind = errors.New("private key is neither Ed25519 nor P-256")

// A Private is a private key that signs and never shows: it prints as
// "[secret]", refuses to be marshalled, and cannot be compared. It is a
// crypto.Signer, and everything here takes only that, so that a KMS can stand
// in its place.
type Private struct {
	get       func() crypto.Signer // behind a function, where no %#v reaches
	key       envelope.Key
	protected bool
}

// NewPrivate generates a key from random (nil: crypto/rand).
func NewPrivate(alg envelope.Alg, random io.Reader) (*Private, error) {
	if random == nil {
		random = rand.Reader
	}
	switch alg {
	case envelope.EdDSA:
		seed := make([]byte, ed25519.SeedSize)
		if _, err := io.ReadFull(random, seed); err != nil {
			return nil, fmt.Errorf("generate key: %w", err)
		}
		defer clear(seed)
		return wrap(ed25519.NewKeyFromSeed(seed))
	case envelope.ES256:
		k, err := ecdsa.GenerateKey(elliptic.P256(), random)
		if err != nil {
			return nil, fmt.Errorf("generate key: %w", err)
		}
		return wrap(k)
	}
	return nil, ErrAlg
}

func wrap(s crypto.Signer) (*Private, error) {
	k, err := envelope.NewKey(s.Public())
	if err != nil {
		return nil, err
	}
	return &Private{get: func() crypto.Signer { return s }, key: k}, nil
}

// Key is the public half.
func (p *Private) Key() envelope.Key { return p.key }

// Protected reports whether the key came out of a file that was encrypted with
// a passphrase.
func (p *Private) Protected() bool { return p.protected }

// Public implements crypto.Signer.
func (p *Private) Public() crypto.PublicKey { return p.key.Public }

// Sign implements crypto.Signer.
func (p *Private) Sign(random io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	return p.get().Sign(random, digest, opts)
}

// Format implements fmt.Formatter for every verb.
func (*Private) Format(f fmt.State, _ rune) { io.WriteString(f, secret.Hidden) }

// LogValue implements slog.LogValuer: the key id may be shown.
func (p *Private) LogValue() slog.Value { return slog.StringValue(string(p.key.ID)) }

// MarshalJSON always refuses.
func (*Private) MarshalJSON() ([]byte, error) { return nil, secret.ErrMarshal }

// MarshalText always refuses.
func (*Private) MarshalText() ([]byte, error) { return nil, secret.ErrMarshal }

const pemType = "PRIVATE KEY"

// pkcs8 is the PEM text of the private key.
func (p *Private) pkcs8() ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(p.get())
	if err != nil {
		return nil, ErrKeyKind
	}
	defer clear(der)
	return pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der}), nil
}

// fromPKCS8 reads the DER of a private key.
func fromPKCS8(der []byte) (*Private, error) {
	k, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, ErrKeyFormat // the cause may hold what was read
	}
	switch k := k.(type) {
	case ed25519.PrivateKey:
		return wrap(k)
	case *ecdsa.PrivateKey:
		if k.Curve != elliptic.P256() {
			return nil, ErrKeyKind
		}
		return wrap(k)
	}
	return nil, ErrKeyKind
}

// tokenID draws a fresh jti.
func tokenID(random io.Reader) (credentials.TokenID, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("random: %w", err)
	}
	return credentials.TokenID(base64.RawURLEncoding.EncodeToString(b[:])), nil
}
