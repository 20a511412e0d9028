package content

import (
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"
)

// cuts are what stands in the middle of a credential that is in pieces or lines.
var cuts = []string{"\n", "\r\n", "\r", "\r\r\n", " \r\n", "\n\r", "\n  ", "\r\n\t", "\" + \"", "\" +\n  \"", "\"\r\n+ \"", "'\n'", "' \\\n '", "\\\n", "\\\r\n", "`,\r\n`", "\", \"", "\"\n", "\",\n\"", "\n# ", "\n * ", "\\n", "\" \"", ".", "\"\t.\t'", "\"\r\"", "\v", "\n\n", "+\n", "+ ", "\"\r\n    . \""}

// torn is a text with a credential in it that is encoded, cut and surrounded at random.
func torn(r *rand.Rand) string {
	v := token(&forms[r.IntN(len(forms))])
	for range r.IntN(3) {
		switch r.IntN(5) {
		case 0:
			v = base64.StdEncoding.EncodeToString([]byte(v))
		case 1:
			v = hex.EncodeToString([]byte(v))
		case 2:
			v = base64.URLEncoding.EncodeToString([]byte("xyz"[r.IntN(3):] + v))
		case 3:
			v = strings.ToUpper(hex.EncodeToString([]byte(v)))
		default:
			v = []string{"token: ", "api_key=", "https://user:", "x=", "{\"secret\":\"", "Authorization: Bearer "}[r.IntN(6)] + v
		}
	}
	var b strings.Builder
	for range r.IntN(4) {
		b.WriteString(scraps[r.IntN(len(scraps))])
	}
	cut, n := cuts[r.IntN(len(cuts))], 1+r.IntN(len(v)+8)
	for v != "" {
		k := min(n, len(v))
		if b.WriteString(v[:k]); k < len(v) {
			b.WriteString(cut)
		}
		v = v[k:]
		if r.IntN(4) == 0 {
			n, cut = 1+r.IntN(40), cuts[r.IntN(len(cuts))]
		}
	}
	for range r.IntN(4) {
		b.WriteString(scraps[r.IntN(len(scraps))])
	}
	return b.String()
}

// TestFirstLook: the first look never says no of a text in which a credential is found.
func TestFirstLook(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 13))
	n, found, missed := 250_000, 0, 0
	for i := range n {
		s := torn(r)
		if i%4 == 0 {
			s = mixed(r)
		}
		if !credential(s) {
			continue
		}
		if found++; !suspicious(s) {
			if missed++; missed <= 40 {
				t.Errorf("%q holds a credential, and is passed over", s)
			}
		}
	}
	if found < n/10 {
		t.Errorf("%d of %d texts hold a credential: that compares little", found, n)
	}
	t.Logf("%d texts, %d hold a credential, %d passed over", n, found, missed)
}
