// Package vectortest holds the test vectors for tokens and runs them against a
// verifier, so that both libraries answer the same questions. Only tests import
// it.
//
// Our own set is testdata/tokens.json: tokens with the one verdict that every
// verifier must give. Wycheproof has no EdDSA JWS vector at all, so most of ours
// are EdDSA. Published suites (Wycheproof, RFC 7520, RFC 8037, CCTV) are read
// from the folder that PRATIQUE_VECTORS names; without it their tests skip.
package vectortest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	_ "embed"
	"errors"
	"testing"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/canon"
)

//go:generate go run ./gen testdata/tokens.json

//go:embed testdata/tokens.json
var golden []byte

// Golden are the bytes of the committed set.
func Golden() []byte { return golden }

// A Case is one token and the verdict on it.
type Case struct {
	Name    string        `json:"name"`
	Typ     envelope.Type `json:"typ"` // what it is presented as
	Token   string        `json:"token"`
	Verdict string        `json:"verdict"` // "good" or a name of Sentinel
}

// Cases reads the committed set.
func Cases(t testing.TB) []Case {
	t.Helper()
	var cs []Case
	if err := canon.Unmarshal(golden, &cs, canon.Limits{AllowNUL: true}); err != nil {
		t.Fatal(err)
	}
	return cs
}

// Sentinel are the errors that verdicts name.
var Sentinel = map[string]error{
	"type": envelope.ErrType, "size": envelope.ErrTokenSize, "blank": envelope.ErrBlank,
	"segments": envelope.ErrSegments, "encoding": envelope.ErrEncoding, "header": envelope.ErrHeader,
	"header-member": envelope.ErrHeaderMember, "alg": envelope.ErrAlg, "typ": envelope.ErrTyp,
	"kid": credentials.ErrKeyID, "signature": envelope.ErrSignature, "unknown-key": envelope.ErrUnknownKey,
	"revoked-key": envelope.ErrRevokedKey, "retired-key": envelope.ErrRetiredKey, "wrong-role": envelope.ErrWrongRole,
	"jwk": envelope.ErrJWK, "key-kind": envelope.ErrKeyKind, "key-point": envelope.ErrKeyPoint,
	"private-key": envelope.ErrPrivateKey, "symmetric-key": envelope.ErrSymmetricKey,
	"url-member": envelope.ErrURLMember, "key-use": envelope.ErrKeyUse, "key-id": envelope.ErrKeyIDMismatch,
}

// Is reports whether err is what the verdict says.
func Is(err error, verdict string) bool {
	if verdict == "good" {
		return err == nil
	}
	want, ok := Sentinel[verdict]
	return ok && errors.Is(err, want)
}

// Ed25519 is a key that depends on its name only.
func Ed25519(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("pratique vector key " + name))
	return ed25519.NewKeyFromSeed(seed[:])
}

// P256 is a key that depends on its name only.
func P256(name string) *ecdsa.PrivateKey { return ec(elliptic.P256(), name) }

func ec(curve elliptic.Curve, name string) *ecdsa.PrivateKey {
	d := sha256.Sum256([]byte("pratique vector key " + name))
	raw := make([]byte, (curve.Params().BitSize+7)/8)
	copy(raw[len(raw)-32:], d[:])
	raw[len(raw)-32] &= 0x7f // below the order of the curve
	k, err := ecdsa.ParseRawPrivateKey(curve, raw)
	if err != nil {
		panic(err)
	}
	return k
}

// ID is the key id of a private key's public half.
func ID(k crypto.Signer) credentials.KeyID { return mustKey(k).ID }

func mustKey(k crypto.Signer) envelope.Key {
	key, err := envelope.NewKey(k.Public())
	if err != nil {
		panic(err)
	}
	return key
}

// Keys resolves the keys that the set is about: "ed" and "ec" verify anything,
// "revoked" and "retired" are what they say, "label" only signs labels.
func Keys() envelope.Keys {
	type known struct {
		key envelope.Key
		err error
	}
	m := map[credentials.KeyID]known{}
	add := func(k crypto.Signer, err error) { m[ID(k)] = known{mustKey(k), err} }
	add(Ed25519("ed"), nil)
	add(P256("ec"), nil)
	add(Ed25519("revoked"), envelope.ErrRevokedKey)
	add(Ed25519("retired"), envelope.ErrRetiredKey)
	label := mustKey(Ed25519("label"))
	return envelope.KeysFunc(func(typ envelope.Type, kid credentials.KeyID) (envelope.Key, error) {
		if kid == label.ID {
			if typ != envelope.Label {
				return envelope.Key{}, envelope.ErrWrongRole
			}
			return label, nil
		}
		k, ok := m[kid]
		if !ok {
			return envelope.Key{}, envelope.ErrUnknownKey
		}
		return k.key, k.err
	})
}
