package guard

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/labels/args"
)

// squashedBefore is squashed as it was: one letter after the other.
func squashedBefore(b []byte, name string) ([]byte, sign) {
	start, s := len(b), sign(0)
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 0x80:
			return squashMore(b[:start], name), oddName
		case 'A' <= c && c <= 'Z':
			b = append(b, c+'a'-'A')
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			b = append(b, c)
		case odd[c]:
			s = oddName
		}
	}
	return b, s
}

// signsBefore is signsIn as it was: it looks at every text.
func signsBefore(text string, k kind) (s sign) {
	if text != "" && k&isLoose == 0 && severalURLs(text) {
		s |= hasURL
	}
	if text == "" || !opening[text[0]] {
		return s
	}
	if isFetched(text) && !(k&isLoose != 0 && blankInside(text)) {
		s |= hasURL
	}
	if beginsWithDash(text) {
		s |= hasDash
	}
	return s
}

// sameAsBefore holds one text as a name and as a value against the former code.
func sameAsBefore(t *testing.T, s string) {
	quoted, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return
	}
	tree, err := args.Parse([]byte(`{"o":` + string(quoted) + `}`))
	if err != nil {
		return
	}
	defer tree.Release()
	for _, k := range []kind{0, isProse, isLoose, isLoose | isProse, isURL} {
		if got, want := signsIn(tree.Root().First(), k), signsBefore(s, k); got != want {
			t.Fatalf("%q of %b has %b, and before %b", s, k, got, want)
		}
	}
	got, signs := squashed([]byte("x"), s)
	want, before := squashedBefore([]byte("x"), s)
	if string(got) != string(want) || signs != before {
		t.Fatalf("%q is %q and %b, and before %q and %b", s, got, signs, want, before)
	}
}

func FuzzAsBefore(f *testing.F) {
	for _, s := range []string{"", "target_branch", "a/b", "Ünï", "-x", " \t-x", "\n//h.test", "https://a https://b", "git+ssh://h", `\\h.test`, "\x00-", "\ufeffhttp://h", "_", "A.b"} {
		f.Add(s)
	}
	f.Fuzz(sameAsBefore)
}

// TestAsBefore: names and texts are read as by the former code.
func TestAsBefore(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	pieces := []string{" ", "\n", "\t", "-", "--", "http", "https", "git", "+", ":", "//", "/", `\`, `\\`, ".", "a", "B", "_", "9", "%", "~", "é", "\ufeff", "\u200b", "@", "[", "localhost", "\x00", `"`}
	for range 100_000 {
		var b strings.Builder
		for range r.IntN(8) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		sameAsBefore(t, b.String())
	}
}
