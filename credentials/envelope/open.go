package envelope

import (
	"bytes"
	"fmt"

	jose "github.com/go-jose/go-jose/v4"

	"github.com/pratique-dev/pratique/internal/canon"
)

type verifier struct{ keys Keys }

// NewVerifier verifies with go-jose. Proofs are not its business, since their
// key is in their own header: see OpenProof. With nil keys it refuses all.
func NewVerifier(keys Keys) Verifier { return &verifier{keys} }

// Verify implements Verifier.
func (v *verifier) Verify(typ Type, tok string) (Opened, error) {
	if typ == Proof {
		return Opened{}, ErrType
	}
	u, err := Precheck(tok, typ)
	if err != nil {
		return Opened{}, err
	}
	key, err := Resolve(v.keys, u)
	if err != nil {
		return Opened{}, err
	}
	return open(tok, u, key)
}

// Resolve finds the key for a token and holds the token's alg against the key's.
func Resolve(keys Keys, u Unverified) (Key, error) {
	if keys == nil {
		return Key{}, ErrUnknownKey
	}
	key, err := keys.Key(u.Type, u.KeyID)
	switch {
	case err != nil:
		return Key{}, err
	case key.ID != u.KeyID || key.ID == "":
		return Key{}, ErrUnknownKey
	case key.Alg != u.Alg:
		return Key{}, ErrAlg
	}
	return key, nil
}

// OpenProof verifies a proof under the key that its own header carries. Opened
// then says that the sender holds Opened.Key, and nothing about who that is.
func OpenProof(tok string) (Opened, error) {
	u, err := Precheck(tok, Proof)
	if err != nil {
		return Opened{}, err
	}
	return open(tok, u, u.Holder)
}

// open has go-jose verify tok, which passed Precheck as u, under key. A panic in
// there is a refusal: tokens are foreign bytes, the service goes on.
func open(tok string, u Unverified, key Key) (o Opened, err error) {
	defer func() {
		if recover() != nil {
			o, err = Opened{}, ErrSignature
		}
	}()
	jws, err := jose.ParseSignedCompact(tok, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(key.Alg)})
	if err != nil {
		return Opened{}, ErrSignature
	}
	payload, err := jws.Verify(key.Public)
	if err != nil || !bytes.Equal(payload, u.Payload) {
		return Opened{}, ErrSignature
	}
	return Opened{Payload: payload, Key: key}, nil
}

// Claims decodes the claims of an opened token into v, whose members are the
// closed set of its type: case-sensitive, without duplicates or others. That
// required ones are there, and what they say, is for v's own checks.
func Claims[T any](o Opened, v *T) error {
	if err := canon.Unmarshal(o.Payload, v, canon.Limits{Bytes: MaxListToken, Depth: 8, NoNull: true}); err != nil {
		return fmt.Errorf("%w: %w", ErrPayload, err)
	}
	return nil
}
