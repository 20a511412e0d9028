package content

import (
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
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

// TestFilesOfVariables: the first look knows a file of variables however its path is
// written, and wherever it stands.
func TestFilesOfVariables(t *testing.T) {
	j := judge(t, Default())
	for _, path := range []string{".env", ".ENV", ".%65nv", "a/./.Env.local", `conf\.eNv.`, "prod.env", "%252eenv", "\uff0e\uff45nv", ".e\u00adnv", ".e\u33b5", strings.Repeat("a/", 200) + ".ENV"} {
		p := jsonText(path)
		for _, arguments := range []string{
			`{"path":P,"content":V}`, `{"files":{P:V}}`, `{"files":{P:{"content":V}}}`, `{"name":P,"text":V}`, `{"x":{"file":P},"content":V}`, `{"paths":[P],"contents":[V]}`, `{"dir":"a","name":P,"content":V}`, `{"options":J}`,
		} {
			fill := strings.NewReplacer("P", p, "V", `"FOO=Zx9Kq2Lm8Pv4Rt7Wy1Bn5Cd3"`)
			if strings.Contains(arguments, "J") {
				arguments = strings.Replace(arguments, "J", jsonText(fill.Replace(`{"path":P,"content":V}`)), 1)
			} else {
				arguments = fill.Replace(arguments)
			}
			if got := found(t, j, arguments); !strings.Contains(got, "secret") {
				t.Errorf("%s: %q", arguments, got)
			}
			if got := found(t, j, strings.ReplaceAll(arguments, "Zx9Kq2Lm8Pv4Rt7Wy1Bn5Cd3", "a value")); got != "" {
				t.Errorf("%s of no secret: %q", arguments, got)
			}
		}
	}
}

// TestLinesInLists: a credential that is cut into the lines of a list is found.
func TestLinesInLists(t *testing.T) {
	j := judge(t, Default())
	v := "glpat-" + some(20)
	for _, name := range []string{"content", "lines", "new_text"} {
		if got := found(t, j, `{"path":"a","`+name+`":["`+v[:12]+`","`+v[12:]+`"]}`); got == "" {
			t.Errorf("%s: nothing is found", name)
		}
	}
}

// TestFilesLikeVariables: a file that is to be read as one of variables is.
func TestFilesLikeVariables(t *testing.T) {
	cfg := Default()
	cfg.Like = map[string][]string{".env": {"conf/vars"}}
	if got := found(t, judge(t, cfg), `{"path":"conf/vars","content":"FOO=Zx9Kq2Lm8Pv4Rt7Wy1Bn5Cd3"}`); got == "" {
		t.Error("nothing is found")
	}
}

// TestVariablesByLetters: no letter that stands for one of ".env", or is left out of a
// path, hides a file of variables from the first look.
func TestVariablesByLetters(t *testing.T) {
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		plain := strings.ToLower(norm.NFKC.String(string(r)))
		if plain == string(r) && !unicode.In(r, unicode.Cf, unicode.Variation_Selector) && r != 0x34f {
			continue
		}
		for _, s := range []string{".e" + string(r) + "nv", strings.Replace(".env", plain, string(r), 1)} {
			if strings.Contains(fold(s), ".env") && !variables(s, true) {
				t.Fatalf("%q (%U) is passed over", s, r)
			}
		}
	}
}
