package keyset

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/canon"
)

func jwks(members ...string) []byte {
	return []byte(`{"keys":[` + strings.Join(members, ",") + `]}`)
}

// published is the JWK of a named key, with members replaced, added or, where
// the value is "", taken out.
func published(t testing.TB, name string, edits ...string) string {
	k := mustKey(t, testKey(name))
	m := map[string]any{"alg": "EdDSA", "crv": "Ed25519", "kid": string(k.ID), "kty": "OKP", "use": "sig", "x": k.Members().X}
	for i := 0; i < len(edits); i += 2 {
		if delete(m, edits[i]); edits[i+1] != "" {
			m[edits[i]] = edits[i+1]
		}
	}
	raw, err := canon.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestUnknownKeyTypesAreSkippedAndTheRestIsKept(t *testing.T) {
	good := published(t, "a", "role", "label")
	for _, other := range []string{
		`{"kty":"AKP","alg":"ML-DSA-44","pub":"AAAA","kid":"pq"}`,
		`{"kty":"OKP","crv":"Ed448","x":"AAAA","kid":"x","alg":"EdDSA","use":"sig"}`,
		`{"kty":"OKP","crv":"X25519","x":"AAAA","use":"enc"}`,
		`{"kty":"EC","crv":"secp256k1","x":"AA","y":"AA","alg":"ES256K"}`,
		`{"kty":"EC","crv":"P-384","x":"AA","y":"AA","alg":"ES384","use":"sig"}`,
		`{"kty":"RSA","n":"AQAB","e":"AQ","alg":"RS256"}`,
		`{"kty":"RSA","n":"` + strings.Repeat("_", 87380) + `","e":"AQAB","alg":"RS256"}`, // 64 KiB modulus
		`{"kty":"from the year 2040","whatever":[1,2,{"a":"b"}]}`,
	} {
		for _, doc := range [][]byte{jwks(other, good), jwks(good, other)} {
			s, err := ParseJWKS(doc)
			if err != nil {
				t.Errorf("%.60s: %v", other, err)
				continue
			}
			if len(s.IDs()) != 1 || s.Skipped() != 1 {
				t.Errorf("%.60s: %d kept, %d skipped", other, len(s.IDs()), s.Skipped())
			}
			if _, err := s.Key(envelope.Label, mustKey(t, testKey("a")).ID); err != nil {
				t.Errorf("%.60s: the good key: %v", other, err)
			}
		}
	}
}

func TestJWKSRefused(t *testing.T) {
	good := published(t, "a")
	many := make([]string, credentials.MaxKeys+1)
	for i := range many {
		many[i] = `{"kty":"AKP"}`
	}
	for _, c := range []struct {
		name string
		doc  []byte
		want error
	}{
		{"alg-less", jwks(published(t, "a", "alg", "")), ErrKeyAlg},
		{"kid-less", jwks(published(t, "a", "kid", "")), ErrKeyAlg},
		{"use-less", jwks(published(t, "a", "use", "")), ErrKeyAlg},
		{"for encryption", jwks(published(t, "a", "use", "enc")), envelope.ErrKeyUse},
		{"RFC 9864's name for the algorithm", jwks(published(t, "a", "alg", "Ed25519")), envelope.ErrKeyUse},
		{"alg of another kind of key", jwks(published(t, "a", "alg", "ES256")), envelope.ErrKeyUse},
		{"alg none", jwks(published(t, "a", "alg", "none")), envelope.ErrKeyUse},
		{"HS256 over a public key", jwks(published(t, "a", "alg", "HS256")), envelope.ErrKeyUse},
		{"kid is not the thumbprint", jwks(published(t, "a", "kid", string(mustKey(t, testKey("b")).ID))), envelope.ErrKeyIDMismatch},
		{"kid as a path", jwks(published(t, "a", "kid", "../../dev/null")), envelope.ErrKeyIDMismatch},
		{"duplicate kid", jwks(good, good), ErrTwice},
		{"private key", jwks(published(t, "a", "d", "AAAA")), envelope.ErrPrivateKey},
		{"private RSA key", jwks(good, `{"kty":"RSA","n":"AQAB","e":"AQAB","d":"AA","p":"AA"}`), envelope.ErrPrivateKey},
		{"private post-quantum key", jwks(good, `{"kty":"AKP","priv":"AA"}`), envelope.ErrPrivateKey},
		{"symmetric key", jwks(good, `{"kty":"oct","k":"c2VjcmV0","alg":"HS256"}`), envelope.ErrSymmetricKey},
		{"symmetric member in a public key", jwks(published(t, "a", "k", "c2VjcmV0")), envelope.ErrSymmetricKey},
		{"jku", jwks(published(t, "a", "jku", "https://evil.example/")), envelope.ErrURLMember},
		{"x5u", jwks(published(t, "a", "x5u", "https://evil.example/")), envelope.ErrURLMember},
		{"x5c in a key of another type", jwks(good, `{"kty":"RSA","n":"AQAB","e":"AQAB","x5c":["AA"]}`), envelope.ErrURLMember},
		{"unknown member", jwks(published(t, "a", "extra", "1")), envelope.ErrJWK},
		{"unknown role", jwks(published(t, "a", "role", "admin")), ErrKeyRole},
		{"no kty", jwks(published(t, "a", "kty", "")), envelope.ErrJWK},
		{"31-byte x", jwks(published(t, "a", "x", b64url(31), "kid", strings.Repeat("A", 43))), envelope.ErrKeyPoint},
		{"a member twice", jwks(strings.Replace(good, `"use":"sig"`, `"use":"enc","use":"sig"`, 1)), canon.ErrDuplicate},
		{"a member that is null", jwks(strings.Replace(good, `"use":"sig"`, `"use":null`, 1)), canon.ErrNull},
		{"too many keys", jwks(many...), ErrTooMany},
		{"too long", append(jwks(good), bytes.Repeat([]byte(" "), MaxDocument)...), canon.ErrSize},
		{"no keys", jwks(), ErrNoKeys},
		{"only keys of other types", jwks(`{"kty":"AKP"}`), ErrNoKeys},
		{"one bare key", []byte(good), ErrNoKeys},
		{"keys is an object", []byte(`{"keys":{}}`), ErrDocument},
		{"a key is a number", []byte(`{"keys":[1]}`), ErrDocument},
		{"not JSON", []byte("<html>"), ErrDocument},
		{"empty", nil, canon.ErrEmpty},
		{"byte order mark", append([]byte("\ufeff"), jwks(good)...), canon.ErrBOM},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := ParseJWKS(c.doc)
			if !errors.Is(err, c.want) || s != nil {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if err != nil && (strings.Contains(err.Error(), "evil") || strings.Contains(err.Error(), "c2VjcmV0")) {
				t.Errorf("the error repeats what it refused: %v", err)
			}
		})
	}
}

func b64url(n int) string { return base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{7}, n)) }

func TestLaterDocumentsMayHaveMoreMembers(t *testing.T) {
	doc := []byte(fmt.Sprintf(`{"keys":[%s],"something":{"new":true}}`, published(t, "a")))
	if _, err := ParseJWKS(doc); err != nil {
		t.Fatal(err)
	}
}
