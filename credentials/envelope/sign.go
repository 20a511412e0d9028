package envelope

import (
	"crypto"
	"fmt"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/cryptosigner"

	"github.com/pratique-dev/pratique/internal/canon"
)

// A Signer signs tokens of one type with one key. It is safe for concurrent use
// if its key is. It holds no key material, only the crypto.Signer.
type Signer struct {
	typ Type
	key Key
	jws jose.Signer
}

// NewSigner signs tokens of any type but Proof.
func NewSigner(typ Type, key crypto.Signer) (*Signer, error) {
	if typ == Proof || typ.Max() == 0 {
		return nil, ErrType
	}
	return newSigner(typ, key)
}

// NewProofSigner signs proofs (RFC 9449): the public key goes into the header.
func NewProofSigner(key crypto.Signer) (*Signer, error) { return newSigner(Proof, key) }

func newSigner(typ Type, key crypto.Signer) (*Signer, error) {
	if key == nil {
		return nil, ErrKeyKind
	}
	k, err := NewKey(key.Public())
	if err != nil {
		return nil, err
	}
	opts := (&jose.SignerOptions{}).WithType(jose.ContentType(typ))
	if typ == Proof {
		opts.EmbedJWK = true
	} else {
		opts.WithHeader("kid", string(k.ID))
	}
	s, err := jose.NewSigner(jose.SigningKey{
		Algorithm: jose.SignatureAlgorithm(k.Alg),
		Key:       cryptosigner.Opaque(key),
	}, opts)
	if err != nil {
		return nil, fmt.Errorf("envelope: %w", err)
	}
	return &Signer{typ: typ, key: k, jws: s}, nil
}

// Key is the public half.
func (s *Signer) Key() Key { return s.key }

// Sign signs the canonical JSON of claims.
func (s *Signer) Sign(claims any) (string, error) {
	payload, err := canon.Marshal(claims)
	if err != nil {
		return "", err
	}
	o, err := s.jws.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("envelope: cannot sign: %w", err)
	}
	tok, err := o.CompactSerialize()
	if err != nil {
		return "", fmt.Errorf("envelope: cannot sign: %w", err)
	}
	if len(tok) > s.typ.Max() {
		return "", ErrTokenSize
	}
	return tok, nil
}
