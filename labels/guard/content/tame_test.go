package content

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/args"
)

// written are strings of JSON, as they stand between their quotes.
var written = []string{
	`The form asks for a name.\nIt says what is missing.\n`, `# Notes\n\nA line\n`, `AKIAQWER\nTYUIOPAS DFGH`, `glpat_ sk\nAKIA \n \nx`, `a .env`, `b.\nenv`,
	`.ENV`, `x.e`, `abcdefgh\nijklmnopqrstuvwx`, `abcdefghijklmnopqrst`, `aa abcdefghijklmnopqrs\n`, `abcdefghijklmnopqrstuvwxyz`, `\n`, `\\n`, `\u000a`, `a\tb`, `ASIA`, `they\nlikeyJ\n`, ``,
}

// tameAgrees tells whether what tame passes over is nothing for the looks it stands for.
func tameAgrees(t *testing.T, s string) (is bool) {
	tree, err := args.Parse([]byte(`{"o":"` + s + `"}`))
	if err != nil {
		return false
	}
	defer tree.Release()
	v := tree.Root().First()
	if tree.Root().Len() != 1 || v.Kind() != '"' || v.Marked() || !tame(v.Written()) {
		return false
	}
	if d := v.Text(); suspicious(d) || suspiciousBytes(d) || variables(d, false) {
		t.Fatalf("passed over: %s", s)
	}
	return true
}

func FuzzTame(f *testing.F) {
	for _, s := range written {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { tameAgrees(t, s) })
}

// TestTame: prose is passed over at the first look, and nothing else is.
func TestTame(t *testing.T) {
	for s, want := range map[string]bool{
		"": true, "accounts": true, `The form asks for them. It says they are missing.\n\nSo they do.\n`: true, `# A\n`: true, `a.b\n`: true, "a {b} [c] (d)!": true,
		"abcdefghijklmnopqrs": true, "abcdefghijklmnopqrst": false, "a abcdefghijklmnopqrst": false, `abc\nabcdefghijklmnopqrst`: false, "abcdefghijklmnopqrst a": false, `a abcdefghijklmnopqrst\n`: false,
		".env": false, "a.Env": false, `AKIA\nQ`: false, `AKIA \n Q`: false, "a-b": false, "a=b": false, `a\tb`: false, `a\\n`: false, `\u0061`: false, "'a'": false, "é": false, "a&b": false, "1234567.e": false, "12345678.e": false,
	} {
		if got := tameAgrees(t, s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
	r := rand.New(rand.NewPCG(5, 7))
	pieces := []string{" ", " ", `\n`, ".", ".e", "AKIA", "ghp_", "s.", "ey", "eyJ", "QWERTYUI", "hf_", "a", "word", "prose", "12345678", ",", "(", "/"}
	tamed := 0
	for range 200_000 {
		var b strings.Builder
		for range 1 + r.IntN(14) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		if tameAgrees(t, b.String()) {
			tamed++
		}
	}
	for range 50_000 { // credentials that are cut
		tameAgrees(t, strings.NewReplacer("\\", `\\`, "\n", `\n`, "\"", `\"`, "\t", `\t`, "\r", `\r`).Replace(torn(r)))
	}
	if tamed < 10_000 {
		t.Errorf("only %d texts were tame", tamed)
	}
}
