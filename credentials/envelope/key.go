package envelope

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
)

// Errors of keys. None repeats key material.
var (
	ErrJWK           = errors.New("not a strict JWK: a JSON object with kty, crv, x and, for P-256, y")
	ErrKeyKind       = errors.New("key is neither Ed25519 nor P-256")
	ErrKeyPoint      = errors.New("key is no point of its curve, of low order, or not in its one encoding")
	ErrPrivateKey    = errors.New("private key material where a public key is wanted")
	ErrSymmetricKey  = errors.New("symmetric key where a public key is wanted")
	ErrURLMember     = errors.New("key points to an address or certificate; keys are taken from their own members only")
	ErrKeyUse        = errors.New("key is declared for another use or algorithm")
	ErrKeyIDMismatch = errors.New("kid is not the key's own thumbprint")
)

// A Key is a public key that may verify: its algorithm is fixed by what it is,
// and its id is its RFC 7638 thumbprint. The zero Key verifies nothing.
type Key struct {
	ID     credentials.KeyID
	Alg    Alg
	Public crypto.PublicKey // ed25519.PublicKey or *ecdsa.PublicKey on P-256
}

// maxJWK is the longest JWK that is looked at: a private RSA key of 4096 bits
// still fits, so that its refusal can say what it is.
const maxJWK = 8 << 10

var b64 = base64.RawURLEncoding.Strict()

// NewKey takes an Ed25519 or P-256 public key. Points off the curve, of low
// order (under which anybody can make a signature that verifies) or in a
// non-canonical encoding (a second thumbprint for one key) are ErrKeyPoint.
func NewKey(pub crypto.PublicKey) (Key, error) {
	var k Key
	switch p := pub.(type) {
	case ed25519.PublicKey:
		if !strongEd25519(p) || !onEd25519(p) {
			return Key{}, ErrKeyPoint
		}
		k = Key{Alg: EdDSA, Public: p}
	case *ecdsa.PublicKey:
		if p == nil || p.Curve != elliptic.P256() {
			return Key{}, ErrKeyKind
		}
		if pointP256(p) == nil {
			return Key{}, ErrKeyPoint
		}
		k = Key{Alg: ES256, Public: p}
	default:
		return Key{}, ErrKeyKind
	}
	k.ID = thumbprint(k.JWK())
	return k, nil
}

// pointP256 is the uncompressed point, nil for one that is off the curve. A key
// without coordinates makes the standard library panic; it is nil here.
func pointP256(p *ecdsa.PublicKey) (point []byte) {
	defer func() {
		if recover() != nil {
			point = nil
		}
	}()
	point, err := p.Bytes()
	if err != nil || len(point) != 65 {
		return nil
	}
	return point
}

func thumbprint(jwk []byte) credentials.KeyID {
	sum := sha256.Sum256(jwk)
	return ThumbprintText(sum[:])
}

// ThumbprintText is the key id of a thumbprint, a SHA-256.
func ThumbprintText(sum []byte) credentials.KeyID {
	return credentials.KeyID(b64.EncodeToString(sum))
}

// JWK is the canonical public JWK, the input of the thumbprint (RFC 7638
// section 3.2): {"crv":…,"kty":…,"x":…} and "y" for P-256. Nil for the zero Key.
func (k Key) JWK() []byte { return k.append(nil, "", "") }

// PublishedJWK is the JWK as a key set shows it: with alg, kid and use.
func (k Key) PublishedJWK() []byte {
	return k.append(nil, `"alg":"`+string(k.Alg)+`",`, `"kid":"`+string(k.ID)+`",`)
}

// append writes the members in their canonical order; alg and kid come with
// their quotes and commas or are empty.
func (k Key) append(b []byte, alg, kid string) []byte {
	use := ""
	if kid != "" {
		use = `"use":"sig",`
	}
	switch p := k.Public.(type) {
	case ed25519.PublicKey:
		b = append(b, `{`+alg+`"crv":"Ed25519",`+kid+`"kty":"OKP",`+use+`"x":"`...)
		b = b64.AppendEncode(b, p)
	case *ecdsa.PublicKey:
		pt := pointP256(p)
		if pt == nil {
			return nil
		}
		b = append(b, `{`+alg+`"crv":"P-256",`+kid+`"kty":"EC",`+use+`"x":"`...)
		b = b64.AppendEncode(b, pt[1:33])
		b = append(b, `","y":"`...)
		b = b64.AppendEncode(b, pt[33:65])
	default:
		return nil
	}
	return append(b, `"}`...)
}

// jwk are the members that a public JWK may have. What WebCrypto's exportKey
// adds (ext, key_ops) is allowed when it says "verify".
type jwk struct {
	Kty    string   `json:"kty"`
	Crv    string   `json:"crv"`
	X      string   `json:"x"`
	Y      *string  `json:"y"`
	Alg    *string  `json:"alg"`
	Kid    *string  `json:"kid"`
	Use    *string  `json:"use"`
	KeyOps []string `json:"key_ops"`
	Ext    bool     `json:"ext"`
}

// ParseJWK reads one public JWK, strictly. alg, use, key_ops and kid are
// optional; where present they must fit the key.
func ParseJWK(data []byte) (Key, error) {
	k, err := parseJWK(data)
	if err != nil {
		return Key{}, err
	}
	if p, ok := k.Public.(ed25519.PublicKey); ok && !onEd25519(p) {
		return Key{}, ErrKeyPoint
	}
	return k, nil
}

// parseJWK leaves out the costly test that an Ed25519 point is on the curve. A
// point that is not verifies nothing, so where a signature under the same key
// is checked at once (proofs), the test would add nothing.
func parseJWK(data []byte) (Key, error) {
	var j jwk
	if err := canon.Unmarshal(data, &j, canon.Limits{Bytes: maxJWK, Depth: 2, NoNull: true}); err != nil {
		return Key{}, explainJWK(data, err)
	}
	k, err := j.point()
	if err != nil {
		return Key{}, err
	}
	if j.Alg != nil && *j.Alg != string(k.Alg) || j.Use != nil && *j.Use != "sig" ||
		j.KeyOps != nil && (len(j.KeyOps) != 1 || j.KeyOps[0] != "verify") {
		return Key{}, ErrKeyUse
	}
	k.ID = thumbprint(k.JWK())
	if j.Kid != nil && *j.Kid != string(k.ID) {
		return Key{}, ErrKeyIDMismatch
	}
	return k, nil
}

func (j *jwk) point() (Key, error) {
	switch {
	case j.Kty == "OKP" && j.Crv == "Ed25519":
		x, err := coordinate(j.X)
		if err != nil || j.Y != nil || !strongEd25519(x) {
			return Key{}, ErrKeyPoint
		}
		return Key{Alg: EdDSA, Public: ed25519.PublicKey(x)}, nil
	case j.Kty == "EC" && j.Crv == "P-256":
		if j.Y == nil {
			return Key{}, ErrKeyPoint
		}
		x, errX := coordinate(j.X)
		y, errY := coordinate(*j.Y)
		if errX != nil || errY != nil {
			return Key{}, ErrKeyPoint
		}
		pub, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, x...), y...))
		if err != nil {
			return Key{}, ErrKeyPoint
		}
		return Key{Alg: ES256, Public: pub}, nil
	}
	return Key{}, ErrKeyKind
}

// coordinate reads 32 bytes in their one base64url spelling.
func coordinate(s string) ([]byte, error) {
	if len(s) != 43 || hasLineEnd(s) {
		return nil, ErrKeyPoint
	}
	return b64.DecodeString(s)
}

// explainJWK finds the best name for why a JWK was refused.
func explainJWK(data []byte, cause error) error {
	if !errors.Is(cause, canon.ErrMember) {
		return fmt.Errorf("%w: %w", ErrJWK, cause)
	}
	var m map[string]any
	if canon.Unmarshal(data, &m, canon.Limits{}) != nil {
		return ErrJWK
	}
	has := func(names ...string) bool {
		for _, n := range names {
			if _, ok := m[n]; ok {
				return true
			}
		}
		return false
	}
	switch kty, _ := m["kty"].(string); {
	case kty == "oct" || has("k"):
		return ErrSymmetricKey
	case has("d", "p", "q", "dp", "dq", "qi", "oth", "priv"):
		return ErrPrivateKey
	case has("jku", "x5u", "x5c", "x5t", "x5t#S256"):
		return ErrURLMember
	case kty != "OKP" && kty != "EC":
		return ErrKeyKind
	}
	return fmt.Errorf("%w: %w", ErrJWK, cause)
}

// Members are the members of the key's JWK, as claims hold it.
func (k Key) Members() credentials.PublicJWK {
	var m credentials.PublicJWK
	if jwk := k.JWK(); jwk != nil && canon.Unmarshal(jwk, &m, canon.Limits{}) != nil {
		return credentials.PublicJWK{}
	}
	return m
}

// FromMembers makes a key of the members in claims, as strictly as ParseJWK.
func FromMembers(m credentials.PublicJWK) (Key, error) {
	raw, err := canon.Marshal(m)
	if err != nil {
		return Key{}, ErrJWK
	}
	return ParseJWK(raw)
}
