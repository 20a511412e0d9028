package vectortest

import (
	"bytes"
	"crypto/elliptic"
	"strings"

	"github.com/pratique-dev/pratique/credentials/envelope"
)

// A HostileJWK is what an attacker may put into a proof's header or a key set.
type HostileJWK struct{ Name, Alg, JWK, Verdict string }

// HostileJWKs are the eight that made libraries panic, hang or accept
// (jwx v2.1.7 panics on four), and more of their kind.
func HostileJWKs() []HostileJWK {
	x := func(n int) string { return b64(bytes.Repeat([]byte{7}, n)) }
	big := b64(bytes.Repeat([]byte{0xff}, 4096))
	ed := func(x string) string { return `{"kty":"OKP","crv":"Ed25519","x":"` + x + `"}` }
	ecKey := func(x, y string) string { return `{"kty":"EC","crv":"P-256","x":"` + x + `","y":"` + y + `"}` }
	ones := b64(bytes.Repeat([]byte{1}, 32))
	p384 := ec(elliptic.P384(), "ec384").PublicKey
	point, err := p384.Bytes()
	if err != nil {
		panic(err)
	}
	low := append([]byte{1}, make([]byte, 31)...)
	return []HostileJWK{
		{"Ed25519 x of 31 bytes", "EdDSA", ed(x(31)), "key-point"},
		{"Ed25519 x empty", "EdDSA", ed(""), "key-point"},
		{"Ed25519 x of 33 bytes", "EdDSA", ed(x(33)), "key-point"},
		{"P-256 off the curve", "ES256", ecKey(ones, ones), "key-point"},
		{"P-256 coordinates of 4096 bytes", "ES256", ecKey(big, big), "jwk"},
		{"P-256 zero point", "ES256", ecKey("AA", "AA"), "key-point"},
		{"RSA e=1", "EdDSA", `{"kty":"RSA","n":"` + big[:342] + `","e":"AQ"}`, "key-kind"},
		{"RSA n of 64 KiB", "EdDSA", `{"kty":"RSA","n":"` + b64(bytes.Repeat([]byte{0xff}, 64<<10)) + `","e":"AQAB"}`, "jwk"},

		{"Ed25519 of low order", "EdDSA", ed(b64(low)), "key-point"},
		{"Ed25519 x of 1 byte", "EdDSA", ed("AQ"), "key-point"},
		{"Ed25519 not canonical (y = p)", "EdDSA", ed(b64(append(append([]byte{0xed}, bytes.Repeat([]byte{0xff}, 30)...), 0x7f))), "key-point"},
		{"Ed25519 with y", "EdDSA", `{"kty":"OKP","crv":"Ed25519","x":"` + x(32) + `","y":"` + x(32) + `"}`, "key-point"},
		{"Ed25519 x with loose trailing bits", "EdDSA", ed(loose(x(32))), "key-point"},
		{"Ed25519 x with a line end inside", "EdDSA", ed(x(32)[:20] + `\n` + x(32)[20:]), "key-point"},
		{"P-256 all zero", "ES256", ecKey(strings.Repeat("A", 43), strings.Repeat("A", 43)), "key-point"},
		{"P-256 without y", "ES256", `{"kty":"EC","crv":"P-256","x":"` + ones + `"}`, "key-point"},
		{"P-384 under ES256", "ES256", `{"kty":"EC","crv":"P-384","x":"` + b64(point[1:49]) + `","y":"` + b64(point[49:]) + `"}`, "key-kind"},
		{"symmetric", "EdDSA", `{"kty":"oct","k":"AAAA"}`, "symmetric-key"},
		{"post-quantum", "EdDSA", `{"kty":"AKP","alg":"ML-DSA-44","pub":"AAAA"}`, "key-kind"},
		{"no kty", "EdDSA", `{}`, "key-kind"},
	}
}

func (g *generator) proofs() {
	ed, ec := Ed25519("holder"), P256("holder")
	edJWK, ecJWK := string(mustKey(ed).JWK()), string(mustKey(ec).JWK())
	head := func(alg, jwk string) string { return `{"alg":"` + alg + `","jwk":` + jwk + `,"typ":"dpop+jwt"}` }
	with := func(jwk, member string) string { return strings.TrimSuffix(jwk, "}") + "," + member + "}" }
	add := func(name, tok, verdict string) { g.add("proof: "+name, envelope.Proof, tok, verdict) }
	add("good", compact(head("EdDSA", edJWK), claims, ed), "good")
	add("good ES256", compact(head("ES256", ecJWK), claims, ec), "good")
	add("as WebCrypto exports a key", compact(head("ES256", with(ecJWK, `"ext":true,"key_ops":["verify"]`)), claims, ec), "good")
	add("typ escaped", compact(`{"typ":"dpop\u002Bjwt","alg":"EdDSA","jwk":`+edJWK+`}`, claims, ed), "good")
	add("key with its own kid", compact(head("EdDSA", with(edJWK, `"kid":"`+string(ID(ed))+`"`)), claims, ed), "good")
	for _, c := range []struct{ name, header, verdict string }{
		{"signed by another key", head("EdDSA", string(mustKey(Ed25519("other")).JWK())), "signature"},
		{"without jwk", `{"alg":"EdDSA","typ":"dpop+jwt"}`, "header-member"},
		{"jwk null", `{"alg":"EdDSA","jwk":null,"typ":"dpop+jwt"}`, "header"},
		{"jwk a string", `{"alg":"EdDSA","jwk":"x","typ":"dpop+jwt"}`, "jwk"},
		{"with kid", `{"alg":"EdDSA","jwk":` + edJWK + `,"kid":"` + string(ID(ed)) + `","typ":"dpop+jwt"}`, "header-member"},
		{"private key in the header", head("EdDSA", with(edJWK, `"d":"`+b64(ed.Seed())+`"`)), "private-key"},
		{"symmetric member", head("EdDSA", with(edJWK, `"k":"AAAA"`)), "symmetric-key"},
		{"key from a URL", head("EdDSA", with(edJWK, `"x5u":"https://evil.example/"`)), "url-member"},
		{"key with an unknown member", head("EdDSA", with(edJWK, `"foo":1`)), "jwk"},
		{"key with x twice", head("EdDSA", with(edJWK, `"x":"AA"`)), "header"},
		{"key for encryption", head("EdDSA", with(edJWK, `"use":"enc"`)), "key-use"},
		{"key that may sign", head("EdDSA", with(edJWK, `"key_ops":["sign","verify"]`)), "key-use"},
		{"key of another alg", head("EdDSA", with(edJWK, `"alg":"ES256"`)), "key-use"},
		{"key with another's kid", head("EdDSA", with(edJWK, `"kid":"x"`)), "key-id"},
		{"alg of another kind of key", head("ES256", edJWK), "alg"},
		{"alg HS256", head("HS256", edJWK), "alg"},
		{"typ JWT", `{"alg":"EdDSA","jwk":` + edJWK + `,"typ":"JWT"}`, "typ"},
		{"crit", `{"alg":"EdDSA","crit":["x"],"jwk":` + edJWK + `,"typ":"dpop+jwt"}`, "header-member"},
	} {
		add(c.name, compact(c.header, claims, ed), c.verdict)
	}
	add("a handle", g.edToken(), "header-member")
	for _, h := range HostileJWKs() {
		verdict := h.Verdict // of the key; the token may be refused before
		tok := compact(head(h.Alg, h.JWK), claims, ed)
		switch {
		case len(tok) > envelope.MaxToken:
			tok, verdict = tok[:envelope.MaxToken+1], "size"
		case len(head(h.Alg, h.JWK)) > 1<<10:
			verdict = "header"
		}
		add("hostile key: "+h.Name, tok, verdict)
	}
	// Under the neutral point (R = identity, S = 0) verifies for any message.
	low := append([]byte{1}, make([]byte, 31)...)
	in := b64([]byte(head("EdDSA", `{"crv":"Ed25519","kty":"OKP","x":"`+b64(low)+`"}`))) + "." + b64([]byte(claims))
	add("universal signature under a low-order key", in+"."+b64(append(low, make([]byte, 32)...)), "key-point")
}
