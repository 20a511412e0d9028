package vectortest

import (
	"crypto/elliptic"
	"encoding/asn1"
	"encoding/base64"
	"math/big"
	"strings"

	"github.com/pratique-dev/pratique/credentials/envelope"
)

func (g *generator) keys() {
	typ := string(envelope.Handle)
	stranger := Ed25519("stranger")
	for _, c := range []struct{ name, kid, verdict string }{
		{"kid of nobody", string(ID(stranger)), "unknown-key"},
		{"kid of a revoked key", string(ID(Ed25519("revoked"))), "revoked-key"},
		{"kid of a retired key", string(ID(Ed25519("retired"))), "retired-key"},
		{"kid of a key of another role", string(ID(Ed25519("label"))), "wrong-role"},
		{"kid empty", "", "kid"},
		{"kid a path", "../../dev/null", "kid"},
		{"kid SQL", "x' OR '1'='1", "kid"},
		{"kid a URL", "https://evil.example/key", "kid"},
		{"kid one letter short", g.ed[:42], "kid"},
		{"kid one letter long", g.ed + "A", "kid"},
		{"kid with a line end", g.ed + `\n`, "kid"},
		{"kid in another case", strings.ToUpper(g.ed), "unknown-key"},
		{"kid with padding", g.ed[:42] + "=", "kid"},
	} {
		g.handle(c.name, compact(header("EdDSA", c.kid, typ), claims, stranger), c.verdict)
	}
	g.handle("signed by a stranger under the good kid", compact(g.edHeader(), claims, stranger), "signature")
	g.handle("signed by the revoked key under the good kid", compact(g.edHeader(), claims, Ed25519("revoked")), "signature")
	g.handle("revoked key, its own good signature", compact(header("EdDSA", string(ID(Ed25519("revoked"))), typ), claims, Ed25519("revoked")), "revoked-key")
	g.handle("retired key, its own good signature", compact(header("EdDSA", string(ID(Ed25519("retired"))), typ), claims, Ed25519("retired")), "retired-key")
	g.add("label key signs a label", envelope.Label, compact(header("EdDSA", string(ID(Ed25519("label"))), string(envelope.Label)), claims, Ed25519("label")), "good")
}

func (g *generator) types() {
	ed := Ed25519("ed")
	for _, typ := range envelope.Types() {
		if typ != envelope.Handle && typ != envelope.Proof {
			g.handle(string(typ)+" as a handle", compact(header("EdDSA", g.ed, string(typ)), claims, ed), "typ")
			g.add("handle as "+string(typ), typ, g.edToken(), "typ")
		}
	}
	for _, typ := range []string{"", "JWT", "at+jwt", "dpop+jwt", "TOOL-HANDLE+JWT", "application/tool-handle+jwt", "tool-handle+jwt ", "tool-handle"} {
		g.handle("typ "+typ, compact(header("EdDSA", g.ed, typ), claims, ed), "typ")
	}
	g.add("presented as no type of ours", "JWT", g.edToken(), "type")
	g.add("presented as no type", "", g.edToken(), "type")
}

func (g *generator) encodings() {
	head, body, sig := g.parts()
	ed := Ed25519("ed")
	in := func(s string, at int, what string) string { return s[:at] + what + s[at:] }
	if !strings.Contains(sig, "-") {
		panic("the good token must have a letter that only base64url has")
	}
	for _, c := range []struct{ name, tok, verdict string }{
		{"signature with loose trailing bits", head + "." + body + "." + loose(sig), "encoding"},
		{"CRLF in the signature", head + "." + body + "." + in(sig, 10, "\r\n"), "blank"},
		{"LF in the payload", head + "." + in(body, 4, "\n") + "." + sig, "blank"},
		{"LF in the header", in(head, 4, "\n") + "." + body + "." + sig, "blank"},
		{"blank before", " " + g.edToken(), "blank"},
		{"blank after", g.edToken() + " ", "blank"},
		{"line end after", g.edToken() + "\n", "blank"},
		{"CRLF after", g.edToken() + "\r\n", "blank"},
		{"blank inside", head + " ." + body + "." + sig, "blank"},
		{"tab inside", head + ".\t" + body + "." + sig, "blank"},
		{"padded", g.edToken() + "==", "encoding"},
		{"padded header", head + "=." + body + "." + sig, "encoding"},
		{"standard base64", head + "." + body + "." + strings.Replace(sig, "-", "+", 1), "encoding"},
		{"NUL inside", in(g.edToken(), 5, "\x00"), "encoding"},
		{"byte order mark before", "\ufeff" + g.edToken(), "encoding"},
		{"invisible character inside", in(g.edToken(), 5, "\u200b"), "encoding"},
		{"look-alike letter", strings.Replace(g.edToken(), "e", "\u0435", 1), "encoding"},
		{"percent-encoded dot", head + "%2E" + body + "." + sig, "segments"},
		{"no token", "", "size"},
		{"only dots", "..", "segments"},
		{"two segments", head + "." + body, "segments"},
		{"four segments", g.edToken() + "." + sig, "segments"},
		{"five segments", head + "." + body + "." + sig + "." + sig + "." + sig, "segments"},
		{"thousands of dots", strings.Repeat(".", 10000), "segments"},
		{"no header", "." + body + "." + sig, "segments"},
		{"no payload", head + ".." + sig, "segments"},
		{"JSON serialisation", `{"payload":"` + body + `","protected":"` + head + `","signature":"` + sig + `"}`, "segments"},
		{"longer than 16 KiB", compact(g.edHeader(), strings.Repeat("a", 13<<10), ed), "size"},
	} {
		g.handle(c.name, c.tok, c.verdict)
	}
	// Segments with loose trailing bits that were signed as they stand.
	for _, s := range []struct{ name, head, body string }{
		{"header with loose trailing bits, signed so", loose(b64([]byte(g.edHeader() + " "))), body},
		{"payload with loose trailing bits, signed so", head, loose(b64([]byte(claims + " ")))},
	} {
		tok := s.head + "." + s.body
		g.handle(s.name, tok+"."+b64(rawSign(ed, tok)), "encoding")
	}
}

// loose is a second spelling of the same bytes: it sets a bit that the last
// letter carries for nothing. s must not encode a multiple of three bytes.
func loose(s string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	if len(s)%4 == 0 {
		return loose(b64(append(decode(s), ' ')))
	}
	i := strings.IndexByte(alphabet, s[len(s)-1])
	return s[:len(s)-1] + string(alphabet[i^1])
}

func decode(s string) []byte {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

func (g *generator) signatures() {
	head, body, sig := g.parts()
	raw := decode(sig)
	tok := func(s []byte) string { return head + "." + body + "." + b64(s) }
	flip := func(i int) []byte { c := append([]byte(nil), raw...); c[i] ^= 1; return c }
	swap := append(append([]byte(nil), raw[32:]...), raw[:32]...)
	for _, c := range []struct {
		name string
		sig  []byte
	}{
		{"all zero", make([]byte, 64)},
		{"one bit of R flipped", flip(0)},
		{"one bit of S flipped", flip(40)},
		{"S plus the group order", plusOrder(raw)},
		{"S with the top bit set", flip(63)},
		{"halves swapped", swap},
		{"63 bytes", raw[:63]},
		{"65 bytes", append(raw[:64:64], 0)},
		{"1 byte", raw[:1]},
		{"of another payload", rawSign(Ed25519("ed"), head+"."+b64([]byte("other")))},
		{"over the decoded bytes", rawSign(Ed25519("ed"), g.edHeader()+"."+claims)},
	} {
		g.handle("signature "+c.name, tok(c.sig), "signature")
	}
	g.handle("payload replaced", head+"."+b64([]byte(`{"iss":"evil"}`))+"."+sig, "signature")
	for _, c := range []struct{ name, header, verdict string }{
		{"blank before", " " + g.edHeader(), "header"},
		{"line end after", g.edHeader() + "\n", "header"},
		{"blank inside", "{ " + g.edHeader()[1:], "signature"},
		{"members in another order", `{"kid":"` + g.ed + `","alg":"EdDSA","typ":"tool-handle+jwt"}`, "signature"},
		{"letter escaped", strings.Replace(g.edHeader(), "alg", `\u0061lg`, 1), "signature"},
	} {
		// jwx, without the pre-check, accepts the first two as they stand and
		// refuses them when they are signed so; go-jose does the opposite.
		g.handle("header rewritten: "+c.name, b64([]byte(c.header))+"."+body+"."+sig, c.verdict)
		if c.verdict == "header" {
			g.handle("header signed with a "+c.name, compact(c.header, claims, Ed25519("ed")), c.verdict)
		}
	}
	g.ecdsaSignatures()
}

// plusOrder is the malleated signature that lax Ed25519 verifiers accept.
func plusOrder(sig []byte) []byte {
	l := []byte{0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 31: 0x10}
	out := append([]byte(nil), sig...)
	carry := 0
	for i := range 32 {
		v := int(sig[32+i]) + int(l[i]) + carry
		out[32+i], carry = byte(v), v>>8
	}
	return out
}

func (g *generator) ecdsaSignatures() {
	key := P256("ec")
	in := b64([]byte(header("ES256", g.ec, string(envelope.Handle)))) + "." + b64([]byte(claims))
	r, s := ecdsaSign(key, in)
	n := elliptic.P256().Params().N
	pair := func(r, s *big.Int) []byte {
		out := make([]byte, 64)
		r.FillBytes(out[:32])
		s.FillBytes(out[32:])
		return out
	}
	zero, one := new(big.Int), big.NewInt(1)
	max := new(big.Int).Sub(new(big.Int).Lsh(one, 256), one)
	for _, c := range []struct {
		name    string
		sig     []byte
		verdict string
	}{
		// ECDSA is malleable: n-s verifies too. Nothing is recognised by the bytes
		// of a token, so this is no attack.
		{"n-s", pair(r, new(big.Int).Sub(n, s)), "good"},
		{"r zero", pair(zero, s), "signature"},
		{"s zero", pair(r, zero), "signature"},
		{"both zero", pair(zero, zero), "signature"},
		{"both one", pair(one, one), "signature"},
		{"r the order", pair(n, s), "signature"},
		{"s the order", pair(r, n), "signature"},
		{"all ones", pair(max, max), "signature"},
		{"halves swapped", pair(s, r), "signature"},
		{"in DER", der(r, s), "signature"},
		{"of a P-384 key", rawSign(ec(elliptic.P384(), "ec384"), in), "signature"},
		{"of another P-256 key", rawSign(P256("stranger"), in), "signature"},
	} {
		g.handle("ES256 signature "+c.name, in+"."+b64(c.sig), c.verdict)
	}
}

func der(r, s *big.Int) []byte {
	b, err := asn1.Marshal(struct{ R, S *big.Int }{r, s})
	if err != nil {
		panic(err)
	}
	return b
}
