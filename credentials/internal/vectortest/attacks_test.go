package vectortest

import "testing"

// The list of 27 attacks on the two libraries, each with the case that it became.
// Without the pre-check each library accepts some of them.
func TestAttackListIsCovered(t *testing.T) {
	verdicts := map[string]string{}
	for _, c := range Cases(t) {
		verdicts[c.Name] = c.Verdict
	}
	attacks := [][2]string{
		{"baseline", "good"},
		{"typ absent", "typ absent"},
		{"header alg HS256, EdDSA-signed", "alg HS256, signed with Ed25519"},
		{"header alg none, EdDSA-signed", "alg none, signed with Ed25519"},
		{"header alg missing", "alg absent"},
		{"alg none, empty signature", "alg none without signature"},
		{"alg nOnE, empty signature", "alg nOnE without signature"},
		{"unknown critical extension", "header has crit with an unknown extension"},
		{"crit empty", "header has crit empty"},
		{"b64 false without crit", "header has b64 false"},
		{"duplicate kid", "kid twice, the good one last"},
		{"duplicate alg", "alg twice"},
		{"kid path traversal", "kid a path"},
		{"jku", "header has jku"},
		{"embedded jwk", "header has embedded jwk"},
		{"trailing bits of the signature", "signature with loose trailing bits"},
		{"CRLF in the signature", "CRLF in the signature"},
		{"LF in the payload", "LF in the payload"},
		{"LF in the header", "LF in the header"},
		{"padding", "padded"},
		{"standard base64", "standard base64"},
		{"blanks around", "blank before"},
		{"S+L", "signature S plus the group order"},
		{"low-order key, universal signature", "proof: universal signature under a low-order key"},
		{"Ed25519 key of 1 byte", "proof: hostile key: Ed25519 x of 1 byte"},
		{"private key in a header jwk", "proof: private key in the header"},
		{"ES256 with a P-384 key", "proof: hostile key: P-384 under ES256"},
	}
	if len(attacks) != 27 {
		t.Fatalf("%d attacks", len(attacks))
	}
	for _, a := range attacks {
		v, ok := verdicts[a[1]]
		if !ok || (v == "good") != (a[0] == "baseline") {
			t.Errorf("%s: case %q has verdict %q", a[0], a[1], v)
		}
	}
	if n := len(HostileJWKs()); n < 8 {
		t.Errorf("%d hostile keys", n)
	}
}
