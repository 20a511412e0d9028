package keyset

import (
	"bytes"
	"crypto"

	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jws"

	"github.com/pratique-dev/pratique/credentials/envelope"
)

type verifier struct{ keys envelope.Keys }

// NewVerifier verifies with jwx. It accepts exactly what envelope.NewVerifier
// accepts; tests and a fuzz target hold the two against each other.
func NewVerifier(keys envelope.Keys) envelope.Verifier { return &verifier{keys} }

// Verify implements envelope.Verifier.
func (v *verifier) Verify(typ envelope.Type, tok string) (envelope.Opened, error) {
	if typ == envelope.Proof {
		return envelope.Opened{}, envelope.ErrType
	}
	u, err := envelope.Precheck(tok, typ)
	if err != nil {
		return envelope.Opened{}, err
	}
	key, err := envelope.Resolve(v.keys, u)
	if err != nil {
		return envelope.Opened{}, err
	}
	return open(tok, u, key)
}

// open is the one call of jws.Verify: compact form only, one key, the key's own
// algorithm, never what a header says.
func open(tok string, u envelope.Unverified, key envelope.Key) (o envelope.Opened, err error) {
	defer func() {
		if recover() != nil {
			o, err = envelope.Opened{}, envelope.ErrSignature
		}
	}()
	payload, err := jws.Verify([]byte(tok), jws.WithKey(jwa.SignatureAlgorithm(key.Alg), key.Public), jws.WithCompact())
	if err != nil || !bytes.Equal(payload, u.Payload) {
		return envelope.Opened{}, envelope.ErrSignature
	}
	return envelope.Opened{Payload: payload, Key: key}, nil
}

// secondReading has jwx read a key that the strict loader accepted, and refuses
// it unless both find the same thumbprint.
func secondReading(key envelope.Key) (err error) {
	defer func() {
		if recover() != nil {
			err = envelope.ErrKeyPoint
		}
	}()
	k, err := jwk.ParseKey(key.JWK())
	if err != nil {
		return envelope.ErrKeyPoint
	}
	sum, err := k.Thumbprint(crypto.SHA256)
	if err != nil || envelope.ThumbprintText(sum) != key.ID {
		return envelope.ErrKeyIDMismatch
	}
	return nil
}
