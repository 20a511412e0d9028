package vectortest

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"math/big"
	"strings"

	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/canon"
)

const claims = `{"iss":"https://registry.example","sub":"y"}`

// A generator collects cases. It signs with the standard library, since neither
// library would make most of these.
type generator struct {
	cases  []Case
	ed, ec string // key ids
}

// Generate makes the set. It is deterministic.
func Generate() ([]byte, error) {
	g := &generator{ed: string(ID(Ed25519("ed"))), ec: string(ID(P256("ec")))}
	g.good()
	g.headers()
	g.algorithms()
	g.keys()
	g.types()
	g.encodings()
	g.signatures()
	g.proofs()
	var b bytes.Buffer
	b.WriteString("[\n")
	for i, c := range g.cases {
		line, err := canon.Marshal(c)
		if err != nil {
			return nil, err
		}
		b.Write(line)
		if i < len(g.cases)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("]\n")
	return b.Bytes(), nil
}

func (g *generator) add(name string, typ envelope.Type, tok, verdict string) {
	g.cases = append(g.cases, Case{Name: name, Typ: typ, Token: tok, Verdict: verdict})
}

// handle adds a token that is presented as a handle.
func (g *generator) handle(name, tok, verdict string) { g.add(name, envelope.Handle, tok, verdict) }

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// compact signs header and payload, whatever they are.
func compact(header, payload string, key crypto.Signer) string {
	in := b64([]byte(header)) + "." + b64([]byte(payload))
	return in + "." + b64(rawSign(key, in))
}

func rawSign(key crypto.Signer, in string) []byte {
	switch k := key.(type) {
	case ed25519.PrivateKey:
		return ed25519.Sign(k, []byte(in))
	case *ecdsa.PrivateKey:
		r, s := ecdsaSign(k, in)
		n := (k.Curve.Params().BitSize + 7) / 8
		out := make([]byte, 2*n)
		r.FillBytes(out[:n])
		s.FillBytes(out[n:])
		return out
	}
	panic("no such key")
}

// ecdsaSign is deterministic (RFC 6979).
func ecdsaSign(k *ecdsa.PrivateKey, in string) (r, s *big.Int) {
	sum := sha256.Sum256([]byte(in))
	der, err := k.Sign(nil, sum[:], crypto.SHA256)
	if err != nil {
		panic(err)
	}
	var sig struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &sig); err != nil {
		panic(err)
	}
	return sig.R, sig.S
}

// header is a header of ours with its members given as JSON.
func header(alg, kid, typ string) string {
	return `{"alg":"` + alg + `","kid":"` + kid + `","typ":"` + typ + `"}`
}

func (g *generator) edHeader() string { return header("EdDSA", g.ed, string(envelope.Handle)) }

// edToken is the good token that others are made from.
func (g *generator) edToken() string { return compact(g.edHeader(), claims, Ed25519("ed")) }

// parts are its three segments.
func (g *generator) parts() (head, body, sig string) {
	p := strings.Split(g.edToken(), ".")
	return p[0], p[1], p[2]
}

func (g *generator) good() {
	ed := Ed25519("ed")
	g.handle("good", g.edToken(), "good")
	g.handle("good ES256", compact(header("ES256", g.ec, string(envelope.Handle)), claims, P256("ec")), "good")
	for _, typ := range envelope.Types() {
		if typ != envelope.Proof && typ != envelope.Handle {
			g.add("good "+string(typ), typ, compact(header("EdDSA", g.ed, string(typ)), claims, ed), "good")
		}
	}
	g.handle("header in another order", compact(`{"typ":"tool-handle+jwt","kid":"`+g.ed+`","alg":"EdDSA"}`, claims, ed), "good")
	g.handle("header with blanks", compact("{ \"alg\" : \"EdDSA\",\r\n\t\"kid\":\""+g.ed+"\",\"typ\":\"tool-handle+jwt\" }", claims, ed), "good")
	g.handle("header escapes the plus sign as .NET does", compact(`{"alg":"EdDSA","kid":"`+g.ed+`","typ":"tool-handle\u002Bjwt"}`, claims, ed), "good")
	g.handle("header escapes a member name", compact(`{"\u0061lg":"EdDSA","kid":"`+g.ed+`","typ":"tool-handle+jwt"}`, claims, ed), "good")
	g.handle("payload is no JSON: the claims' business", compact(g.edHeader(), "\x00\xff not JSON", ed), "good")
	g.handle("payload of 10 KiB", compact(g.edHeader(), strings.Repeat("a", 10<<10), ed), "good")
	g.handle("payload with duplicate members: the claims' business", compact(g.edHeader(), `{"aud":"a","aud":"b"}`, ed), "good")
}

func (g *generator) headers() {
	ed := Ed25519("ed")
	base := strings.TrimSuffix(g.edHeader(), "}")
	for _, c := range []struct{ name, member string }{
		{"crit with an unknown extension", `"crit":["exp2"],"exp2":1`},
		{"crit empty", `"crit":[]`},
		{"b64 false", `"b64":false`},
		{"b64 false and crit", `"crit":["b64"],"b64":false`},
		{"b64 true", `"b64":true`},
		{"jku", `"jku":"https://evil.example/jwks"`},
		{"x5u", `"x5u":"https://evil.example/cert"`},
		{"x5c", `"x5c":["AA"]`},
		{"x5t", `"x5t":"AA"`},
		{"zip", `"zip":"DEF"`},
		{"cty", `"cty":"JWT"`},
		{"nonce", `"nonce":"x"`},
		{"iss in the header", `"iss":"x"`},
		{"ALG beside alg", `"ALG":"none"`},
		{"embedded jwk", `"jwk":` + string(mustKey(ed).JWK())},
		{"a member without a name", `"":1`},
	} {
		g.handle("header has "+c.name, compact(base+","+c.member+"}", claims, ed), "header-member")
	}
	g.handle("header has jwk null", compact(base+`,"jwk":null}`, claims, ed), "header")
	g.malformedHeaders(base)
}

func (g *generator) malformedHeaders(base string) {
	for _, c := range []struct{ name, header, verdict string }{
		{"kid twice, the good one last", `{"alg":"EdDSA","kid":"zz","kid":"` + g.ed + `","typ":"tool-handle+jwt"}`, "header"},
		{"alg twice", `{"alg":"none","alg":"EdDSA","kid":"` + g.ed + `","typ":"tool-handle+jwt"}`, "header"},
		{"typ twice, once escaped", `{"alg":"EdDSA","kid":"` + g.ed + `","typ":"tool-handle+jwt","\u0074yp":"dpop+jwt"}`, "header"},
		{"typ absent", `{"alg":"EdDSA","kid":"` + g.ed + `"}`, "header-member"},
		{"kid absent", `{"alg":"EdDSA","typ":"tool-handle+jwt"}`, "header-member"},
		{"alg absent", `{"kid":"` + g.ed + `","typ":"tool-handle+jwt"}`, "header-member"},
		{"alg null", `{"alg":null,"kid":"` + g.ed + `","typ":"tool-handle+jwt"}`, "header"},
		{"alg a number", `{"alg":1,"kid":"` + g.ed + `","typ":"tool-handle+jwt"}`, "header"},
		{"kid an array", `{"alg":"EdDSA","kid":["` + g.ed + `"],"typ":"tool-handle+jwt"}`, "header"},
		{"header empty object", `{}`, "header-member"},
		{"header null", `null`, "header"},
		{"header array", `[{"alg":"EdDSA"}]`, "header"},
		{"header string", `"alg"`, "header"},
		{"header not JSON", `alg=EdDSA`, "header"},
		{"header with data after it", g.edHeader() + `{}`, "header"},
		{"header with a byte order mark", "\ufeff" + g.edHeader(), "header"},
		{"header with a comment", strings.Replace(g.edHeader(), "{", "{/**/", 1), "header"},
		{"header with a trailing comma", base + ",}", "header"},
		{"header invalid UTF-8", strings.Replace(g.edHeader(), "tool", "\xff", 1), "header"},
		{"header with half a surrogate pair", strings.Replace(g.edHeader(), "tool", `\ud800`, 1), "header"},
		{"header with U+0000", strings.Replace(g.edHeader(), "tool", `\u0000`, 1), "header"},
		{"header in single quotes", strings.ReplaceAll(g.edHeader(), `"`, `'`), "header"},
		{"header of 2 KiB", "{" + strings.Repeat(" ", 2<<10) + g.edHeader()[1:], "header"},
		{"header nested deep", base + `,"x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "}", "header"},
	} {
		g.handle(c.name, compact(c.header, claims, Ed25519("ed")), c.verdict)
	}
}

func (g *generator) algorithms() {
	ed, ec := Ed25519("ed"), P256("ec")
	typ := string(envelope.Handle)
	for _, alg := range []string{"none", "nOnE", "", "HS256", "RS256", "PS256", "ES384", "ES512", "ES256K", "Ed25519", "Ed448", "eddsa", "EDDSA", "EdDSA "} {
		g.handle("alg "+alg+", signed with Ed25519", compact(header(alg, g.ed, typ), claims, ed), "alg")
	}
	unsigned := func(alg string) string { return b64([]byte(header(alg, g.ed, typ))) + "." + b64([]byte(claims)) + "." }
	g.handle("alg none without signature", unsigned("none"), "signature")
	g.handle("alg nOnE without signature", unsigned("nOnE"), "signature")
	g.handle("alg EdDSA without signature", unsigned("EdDSA"), "signature")
	g.handle("alg ES256 for an Ed25519 key", compact(header("ES256", g.ed, typ), claims, ed), "alg")
	g.handle("alg EdDSA for a P-256 key", compact(header("EdDSA", g.ec, typ), claims, ec), "alg")
	in := b64([]byte(header("HS256", g.ed, typ))) + "." + b64([]byte(claims))
	mac := hmac.New(sha256.New, ed.Public().(ed25519.PublicKey))
	mac.Write([]byte(in))
	g.handle("HS256 with the public key as secret", in+"."+b64(mac.Sum(nil)), "signature")
	in = b64([]byte(g.edHeader())) + "." + b64([]byte(claims))
	mac = hmac.New(sha256.New, ed.Public().(ed25519.PublicKey))
	mac.Write([]byte(in))
	g.handle("HMAC with the public key under alg EdDSA", in+"."+b64(append(mac.Sum(nil), make([]byte, 32)...)), "signature")
}
