package vectortest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/internal/form"
)

// Dir is the folder of the published vectors; the test skips without it.
func Dir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("PRATIQUE_VECTORS")
	if dir == "" {
		t.Skip("PRATIQUE_VECTORS is not set")
	}
	return dir
}

// Load reads one JSON file of the vectors. The files hold more members than the
// tests need, so this is the lax decoder of the standard library.
func Load(t testing.TB, path string, v any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(Dir(t), path))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatal(err)
	}
}

// An OpenUnder is a library's call below the pre-check.
type OpenUnder func(tok string, u envelope.Unverified, key envelope.Key) (envelope.Opened, error)

// Counts say what a suite came to.
type Counts struct {
	Vectors, KeyRefused, InPolicy, Valid, AcceptedValid, AcceptedInvalid int
}

// Wycheproof runs all JWS vectors of the three suites through the strict key
// rules, the form of the pre-check and the library.
func Wycheproof(t *testing.T, open OpenUnder) Counts {
	var n Counts
	for _, name := range []string{"json_web_signature_test", "json_web_key_test", "json_web_crypto_test"} {
		var f struct {
			TestGroups []struct {
				Public, Private json.RawMessage
				Tests           []struct {
					TcID    int
					Comment string
					JWS     json.RawMessage
					Result  string
				}
			}
		}
		Load(t, "wycheproof/"+name+".json", &f)
		for _, g := range f.TestGroups {
			jwk := g.Public
			if len(jwk) == 0 {
				jwk = g.Private
			}
			for _, c := range g.Tests {
				if len(c.JWS) == 0 {
					continue
				}
				id := fmt.Sprintf("%s %d %s", name, c.TcID, c.Comment)
				n.count(t, id, jwk, text(c.JWS), c.Result == "valid", open)
			}
		}
	}
	return n
}

// text is the content of a JSON string, or the JSON itself: some vectors are
// tokens in JSON serialisation.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func (n *Counts) count(t *testing.T, id string, jwk []byte, tok string, valid bool, open OpenUnder) {
	n.Vectors++
	kid, key, err := foreignKey(jwk)
	if err != nil {
		n.KeyRefused++
		return
	}
	n.InPolicy++
	if valid {
		n.Valid++
	}
	switch err := OpenForeign(tok, kid, key, open); {
	case err == nil && valid:
		n.AcceptedValid++
	case err == nil:
		n.AcceptedInvalid++
		t.Errorf("%s: accepted, and is invalid", id)
	case valid:
		t.Errorf("%s: refused, and is valid: %v", id, err)
	}
}

// foreignKey reads a JWK or JWKS whose kid is not a thumbprint, by the rules of
// the strict loader otherwise: alg and use are there and fit, and a set with one
// bad key is refused whole.
func foreignKey(raw []byte) (kid string, key envelope.Key, err error) {
	var set struct{ Keys []json.RawMessage }
	if err := json.Unmarshal(raw, &set); err != nil {
		return "", key, err
	}
	if set.Keys == nil {
		set.Keys = []json.RawMessage{raw}
	}
	for _, one := range set.Keys {
		var m map[string]any
		if err := json.Unmarshal(one, &m); err != nil {
			return "", key, err
		}
		if m["alg"] == nil || m["use"] == nil {
			return "", key, errors.New("alg or use is missing")
		}
		kid, _ = m["kid"].(string)
		delete(m, "kid")
		rest, err := json.Marshal(m)
		if err != nil {
			return "", key, err
		}
		if key, err = envelope.ParseJWK(rest); err != nil {
			return "", key, err
		}
	}
	if len(set.Keys) != 1 {
		return "", key, errors.New("more than one key")
	}
	return kid, key, nil
}

// OpenForeign opens a token whose header is not ours: it may lack kid and typ,
// and kid is the one of the vector's key. Everything else is as for ours.
func OpenForeign(tok, kid string, key envelope.Key, open OpenUnder) error {
	head, payload, err := form.Split(tok, envelope.MaxToken)
	if err != nil {
		return err
	}
	h, err := form.ParseHeader(head)
	switch {
	case err != nil:
		return err
	case h.Alg == nil || envelope.Alg(*h.Alg) != key.Alg:
		return envelope.ErrAlg
	case h.Jwk != nil || h.Kid != nil && *h.Kid != kid:
		return envelope.ErrHeaderMember
	}
	_, err = open(tok, envelope.Unverified{Alg: key.Alg, Payload: payload}, key)
	return err
}

// CheckWycheproof runs the suite and pins what it comes to, so that a change
// that makes it vacuous shows. Of 476 vectors, 422 are refused at the key (RSA,
// HMAC, other curves, bad keys); 54 reach the token checks, 3 of them valid.
func CheckWycheproof(t *testing.T, open OpenUnder) {
	got := Wycheproof(t, open)
	want := Counts{Vectors: 476, KeyRefused: 422, InPolicy: 54, Valid: 3, AcceptedValid: 3}
	t.Logf("%+v", got)
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// CheckCookbook runs the signatures of RFC 7520 and RFC 8037: those within the
// policy are accepted, all others refused at the key or the header.
func CheckCookbook(t *testing.T, open OpenUnder) {
	for path, good := range map[string]bool{
		"curve25519/jws.json": true, "jws/4_1.rsa_v15_signature.json": false, "jws/4_2.rsa-pss_signature.json": false,
		"jws/4_3.ecdsa_signature.json": false, "jws/4_4.hmac-sha2_integrity_protection.json": false,
		"rfc7797/hmac-sha2_b64_false.json": false,
	} {
		var f struct {
			Input  struct{ Key map[string]any }
			Output struct{ Compact string }
		}
		Load(t, "rfc7520/"+path, &f)
		delete(f.Input.Key, "d") // the private half is no part of what verifies
		raw, err := json.Marshal(f.Input.Key)
		if err != nil || f.Output.Compact == "" && path[:3] != "rfc" {
			t.Fatalf("%s: nothing to test: %v", path, err)
		}
		key, err := envelope.ParseJWK(raw)
		if err == nil {
			err = OpenForeign(f.Output.Compact, "", key, open)
		}
		if (err == nil) != good {
			t.Errorf("%s: %v", path, err)
		}
	}
}
