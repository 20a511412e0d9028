package keyset_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"math/big"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/internal/vectortest"
	"github.com/pratique-dev/pratique/credentials/keyset"
)

// FuzzDifferential gives one token to both libraries behind the pre-check: any
// disagreement fails. Bits of how choose the key, where the header comes from and
// what is done to the token. In the header, KID stands for the key's id, so that
// mutations get past the look-up; the signature is good unless how spoils it, so
// that what is refused is refused for its form.
func FuzzDifferential(f *testing.F) {
	for _, c := range vectortest.Cases(f) {
		head, rest, ok := strings.Cut(c.Token, ".")
		body, _, ok2 := strings.Cut(rest, ".")
		h, err := base64.RawURLEncoding.DecodeString(head)
		p, err2 := base64.RawURLEncoding.DecodeString(body)
		if !ok || !ok2 || err != nil || err2 != nil || len(c.Token) > 2000 {
			continue
		}
		text := strings.ReplaceAll(string(h), string(vectortest.ID(vectortest.Ed25519("ed"))), "KID")
		f.Add([]byte(text), p, uint16(0))
	}
	for how := range uint16(128) {
		alg := [...]string{"EdDSA", "ES256"}[how&1]
		f.Add([]byte(`{"alg":"`+alg+`","kid":"KID","typ":"tool-handle+jwt"}`), []byte(`{"iss":"x"}`), how|how<<8)
	}
	jwx, gojose := keyset.NewVerifier(vectortest.Keys()), envelope.NewVerifier(vectortest.Keys())
	f.Fuzz(func(t *testing.T, header, payload []byte, how uint16) {
		tok, spoilt := forge(header, payload, how)
		o, err := jwx.Verify(envelope.Handle, tok)
		disagree(t, "fuzzed", o, err, gojose, envelope.Handle, tok)
		u, form := envelope.Precheck(tok, envelope.Handle)
		if err == nil && form != nil {
			t.Errorf("opened and yet malformed: %v", form)
		}
		if err == nil && !bytes.Equal(o.Payload, u.Payload) {
			t.Error("the payload opened is not the payload that was looked at")
		}
		if form == nil && !spoilt && u.KeyID == vectortest.ID(key(how)) && u.Alg == alg(how) && err != nil {
			t.Errorf("well-formed, well signed, and refused: %v", err)
		}
	})
}

func key(how uint16) crypto.Signer {
	if how&1 != 0 {
		return vectortest.P256("ec")
	}
	return vectortest.Ed25519("ed")
}

func alg(how uint16) envelope.Alg {
	if how&1 != 0 {
		return envelope.ES256
	}
	return envelope.EdDSA
}

// shape makes the header of the fuzzed bytes: as they are, or of our form, so
// that the libraries and not only the pre-check have something to do.
func shape(fuzzed []byte, how uint16) []byte {
	good := `{"alg":"` + string(alg(how)) + `","kid":"KID","typ":"tool-handle+jwt"}`
	switch how >> 4 & 3 {
	case 1:
		return []byte(good)
	case 2:
		return append(append([]byte("{"), fuzzed...), good[1:]...)
	case 3: // each byte decides about one blank
		out, n := []byte{}, 0
		for i := range len(good) {
			if out = append(out, good[i]); strings.IndexByte("{:,", good[i]) >= 0 && n < len(fuzzed) {
				out, n = append(out, " \t\r\n"[fuzzed[n]&3]), n+1
			}
		}
		return out
	}
	return fuzzed
}

// forge makes a token and does to it what how says; spoilt tells that the
// signature may not hold any more.
func forge(header, payload []byte, how uint16) (tok string, spoilt bool) {
	k := key(how)
	header = bytes.ReplaceAll(shape(header, how), []byte("KID"), []byte(vectortest.ID(k)))
	b64 := base64.RawURLEncoding.EncodeToString
	in := b64(header) + "." + b64(payload)
	sig := signRaw(k, in)
	at := int(how >> 8)
	switch how >> 1 & 7 {
	case 1: // one bit of the signature
		sig[at%len(sig)] ^= 1 << (at % 8)
		return in + "." + b64(sig), true
	case 2: // one letter of the token
		raw := []byte(in + "." + b64(sig))
		raw[at%len(raw)] ^= 1 << (at % 7)
		return string(raw), true
	case 3: // blanks put into the header after it was signed
		return b64(bytes.ReplaceAll(header, []byte(":"), []byte(": "))) + "." + b64(payload) + "." + b64(sig), true
	case 4: // blanks around the header after it was signed
		return b64(append([]byte{" \t\r\n"[at%4]}, header...)) + "." + b64(payload) + "." + b64(sig), true
	case 5: // a payload of the same length
		return b64(header) + "." + b64(bytes.Repeat([]byte("a"), len(payload))) + "." + b64(sig), true
	case 6: // a signature of another length
		return in + "." + b64(append(sig, byte(at))), true
	case 7: // letters of the token cut out
		raw := in + "." + b64(sig)
		i := at % len(raw)
		return raw[:i] + raw[min(i+1+at%4, len(raw)):], true
	}
	return in + "." + b64(sig), false
}

func signRaw(k crypto.Signer, in string) []byte {
	switch k := k.(type) {
	case ed25519.PrivateKey:
		return ed25519.Sign(k, []byte(in))
	case *ecdsa.PrivateKey:
		sum := sha256.Sum256([]byte(in))
		der, err := k.Sign(nil, sum[:], crypto.SHA256)
		if err != nil {
			panic(err)
		}
		var rs struct{ R, S *big.Int }
		if _, err := asn1.Unmarshal(der, &rs); err != nil {
			panic(err)
		}
		out := make([]byte, 64)
		rs.R.FillBytes(out[:32])
		rs.S.FillBytes(out[32:])
		return out
	}
	panic("no such key")
}

// FuzzParseJWKS: no panic on any bytes, and what is accepted holds keys that are
// read the same when written again.
func FuzzParseJWKS(f *testing.F) {
	ed := vectortest.Ed25519("ed")
	k, err := envelope.NewKey(ed.Public())
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"keys":[` + string(k.PublishedJWK()) + `]}`))
	for _, h := range vectortest.HostileJWKs() {
		f.Add([]byte(`{"keys":[` + string(k.PublishedJWK()) + `,` + h.JWK + `]}`))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		s, err := keyset.ParseJWKS(doc)
		if err != nil {
			return
		}
		for _, id := range s.IDs() {
			k, _, ok := s.Lookup(id)
			again, err := envelope.ParseJWK(k.PublishedJWK())
			if !ok || err != nil || again.ID != id {
				t.Errorf("key %s does not survive being written: %v", id, err)
			}
		}
	})
}
