package content

import (
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unicode"
)

// scraps are what texts are made of at random: words, code, encodings, and what cuts a
// credential.
var scraps = []string{
	" ", " ", " ", "  ", "\n", "\n", "\n\t", "\r\n", "\t", "\n\n", "\"", "'", "`", "\\", "\\\n", "\\n", "\\x41", "\\u0041", "\" + \"", "', '", "`+\n`", "\" \\\n\t\"", "=", ": ", " = ", "://", ":AA", "@", "%", "%41", "%%%", "-", "--", "-----", "-----BEGIN ", "----BEGIN ", "PuTTY-User", "PuTTY", "-User", "\"kty\"", "\"kty", "kty", "eyJ", "eyJhbGciOiJIUzI1NiJ9.",
	"All work and no play. ", "the quick brown fox ", "it's ", "don't", "attention", "should", "secret", "section: ", "api_key=", "token: ", "Authorization: Bearer ", "password", "https://", "user:pass@host", "a.b/c-d_e", "internal/gateway/server.go", "func (l *look) ends(i int) bool {\n\treturn false\n}\n", "strings.HasPrefix(t[i:],", "{\"a\":\"b\",\"c\":[1,2]}", "if err != nil {\n\t\treturn err\n\t}\n",
	"ü", "é", "—", "“", "世界", "\u200b", "\u00ad", "\u0600", "\ufeff", "\U000e0041", "ｇ", "ＡＢＣ", "１", "𝐚𝐛", "ⓧ", "²", "&#103;", "&#x67", "&amp;#", "&lowbar;", "&nbsp;", "\xe2\x80", "…", "，", "\xff", "\x80", "\xa0", "\xc2", "\x00", "\x01", "\x7f", "\x1f", "\v", "!", "#", "$", "&", "(", ")", "*", "+", ",", ".", "/", "0", "9", ";", "<", ">", "?", "[", "]", "^", "_", "{", "|", "}", "~", "a", "s.", "Z", "gh", "sk",
}

// mixed is a text of scraps, credentials, encodings and pieces of them.
func mixed(r *rand.Rand) string {
	var b strings.Builder
	part := func(s string) string { // mostly not as a whole
		switch from := r.IntN(len(s) + 1); r.IntN(4) {
		case 0:
			return s
		case 1:
			return s[from:]
		case 2:
			return s[:from]
		default:
			return s[:from] + scraps[r.IntN(len(scraps))] + s[from:]
		}
	}
	for range 1 + r.IntN(12) {
		switch r.IntN(12) {
		case 0:
			b.WriteString(part(token(&forms[r.IntN(len(forms))])))
		case 1:
			s := base64.StdEncoding.EncodeToString([]byte(some(r.IntN(40)) + "the key is here"))
			b.WriteString(part(s[r.IntN(len(s)):]))
		case 2:
			b.WriteString(part(hex.EncodeToString([]byte(some(r.IntN(30))))))
		case 3:
			b.WriteString(part(some(1 + r.IntN(40))))
		case 4:
			v := token(&forms[r.IntN(len(forms))])
			for n := 1 + r.IntN(len(v)); len(v) > 0; v = v[min(n, len(v)):] {
				b.WriteString(v[:min(n, len(v))] + []string{"\n", "\" + \"", "\\\n", " \n  ", "', '", "\r\n", "\""}[r.IntN(7)])
			}
		case 5: // cut by any signs
			v := token(&forms[r.IntN(len(forms))])
			for from := 0; from < len(v); {
				to := min(len(v), from+1+r.IntN(len(v)))
				b.WriteString(v[from:to])
				for from = to; r.IntN(4) > 0; {
					b.WriteByte(" \t\r\n\"'`\\+,.&  \n\"\\"[r.IntN(17)])
				}
			}
		case 6:
			b.WriteString(strings.Repeat(scraps[r.IntN(len(scraps))], 1+r.IntN(30)))
		default:
			b.WriteString(scraps[r.IntN(len(scraps))])
		}
	}
	return b.String()
}

// TestByBlocks: the look by blocks says no to nothing that the one byte by byte says yes
// to, and yes to little more, of texts at random and of every credential with a cut at
// every place.
func TestByBlocks(t *testing.T) {
	n, yes, more := 0, 0, 0
	same := func(s string) {
		n++
		want := suspiciousBytes(s)
		if want {
			yes++
		}
		switch got := suspicious(s); {
		case want && !got:
			t.Fatalf("no for %q, byte by byte yes", s)
		case got && !want:
			more++
		}
	}
	for i := range forms {
		v := token(&forms[i])
		for k := range len(v) + 1 {
			for j, cut := range []string{"", " ", "\n", "\r\n", " \t\n ", "\"", "\" + \"", "\\\n", "\\", "'", "`,\n`", " \"\" \"", " \\\n", "\\\n\"", ".", "ü", "%", ":", "@"} {
				before := "a sentence. "[(k+j)%12:]
				same(v[:k] + cut + v[k:])
				same(before + v[:k] + cut + v[k:] + " and")
				same("it's " + before + "x=" + v[:k/2] + cut + v[k/2:k] + cut + v[k:])
			}
		}
	}
	r := rand.New(rand.NewPCG(5, 7))
	for range 200_000 {
		same(mixed(r))
	}
	if yes < n/20 || yes > n*19/20 {
		t.Errorf("%d of %d are suspicious: that compares little", yes, n)
	}
	if more > n/50 {
		t.Errorf("%d of %d are suspicious by blocks alone", more, n)
	}
	t.Logf("%d texts, %d of them suspicious, %d more by blocks", n, yes, more)
}

// TestMayBeKey: no name of a secret is passed over.
func TestMayBeKey(t *testing.T) {
	for _, k := range secretKeys {
		for _, name := range []string{k, strings.ToUpper(k), "my_" + k + "-1", k[:2] + "_" + k[2:], k[:3] + "." + strings.ToUpper(k[3:])} {
			if keyName(name) && !mayBeKey(name) {
				t.Errorf("%q is passed over", name)
			}
		}
	}
}

// TestBlockSets: what is asked of a byte before something else is says no to nothing that
// is.
func TestBlockSets(t *testing.T) {
	for c := range 256 {
		for _, s := range []string{"\"" + string([]byte{byte(c)}) + "\"", "\\" + string([]byte{byte(c)}) + " a"} {
			if pieceEnd(s, 0) != 0 && !mayJoin(s, 0) {
				t.Errorf("%q is passed over", s)
			}
		}
	}
	for r := range rune(unicode.MaxRune) {
		if s := string(r); invisible(s) && marks[s[0]]&isLead == 0 {
			t.Errorf("%q is passed over", s)
		}
	}
	for i := range forms {
		if s := forms[i].prefix; len(s) <= 7 && plainEnd((" look at " + s)[len(s)+1:]) {
			t.Errorf("%q is passed over", s)
		}
		if strings.ContainsAny(forms[i].prefix, " \t\r\n\"'`\\") {
			t.Errorf("%q is more than a word", forms[i].prefix)
		}
	}
}

// FuzzSuspicious: whatever is suspicious byte by byte, or holds a credential, is so by
// blocks.
func FuzzSuspicious(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		f.Add(mixed(r))
	}
	for _, s := range scraps {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for k := range 9 { // at every place in a block
			if in := "a sentence, and"[:k] + " " + s; !suspicious(in) && (suspiciousBytes(in) || credential(in)) {
				t.Fatalf("%q is passed over", in)
			}
		}
		if !suspicious(s) && (suspiciousBytes(s) || credential(s)) {
			t.Fatalf("%q is passed over", s)
		}
	})
}

// notes is plain prose as people write it into issues and files.
const notes = `The release went out on Monday, and most of what we planned is in it. Two things are
left: the import of old projects still asks twice when a folder has a blank in its name,
and the summary mail comes late if the queue is long. Neither loses data, so we agreed to
wait for the next round rather than to hurry a fix. Anna looks at the first one, because
she wrote that part; I'll take the second.

What we learned: a test that waits for a clock is a test that fails on a slow machine. We
found three of them this week, and each had cost somebody an afternoon. They now wait for
what they want to see, with a bound that is long enough for everybody. The rest of the
week is for the documentation - it says "see below" in places where nothing is below, and
the pictures still show the old menu. If you know of more, write it down here: a short
list is better than none, and we'll go through it together on Friday at ten.
`

// BenchmarkSuspicious measures the look by blocks, and the one byte by byte beside it.
func BenchmarkSuspicious(b *testing.B) {
	code, err := os.ReadFile("toml.go")
	if err != nil {
		b.Fatal(err)
	}
	short := []string{"group/sub/project", "feature/update-notes", "docs/release/notes.md", "docs: notes", "Ada Lovelace", "encoding", "2026-11-30T12:00:00Z", "fix: keep the order of the list", "f3b1c2d4e5", "https://example.com/a/b?c=d", "yes, please", "src/components/Button.tsx"}
	for _, text := range []struct {
		name string
		list []string
	}{
		{"sentence", []string{strings.Repeat("All work and no play. ", 35)}}, {"notes", []string{notes}}, {"line", []string{strings.ReplaceAll(notes, "\n", " ")}}, {"typeset", []string{strings.NewReplacer(" - ", " — ", "'", "’", `"`, "“").Replace(notes)}}, {"German", []string{strings.Repeat("Für die Änderung wäre es schöner, wenn der Text gründlich geprüft würde. ", 12)}},
		{"code", []string{string(code)}}, {"JSON", []string{strings.Repeat(`{"id":17,"name":"some thing","tags":["a","b"],"done":false},`, 20)}}, {"CJK", []string{strings.Repeat("这是一个测试文本，没有空格。", 20)}}, {"base64", []string{base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x00\x81\xfe\x07", 300)))}}, {"short", short},
	} {
		size := 0
		for _, s := range text.list {
			if size += len(s); suspicious(s) {
				b.Errorf("%s is suspicious: %.30q", text.name, s)
			}
		}
		for _, how := range []struct {
			name string
			f    func(string) bool
		}{{"bytes", suspiciousBytes}, {"blocks", suspicious}} {
			b.Run(text.name+"/"+how.name, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(size))
				for b.Loop() {
					for _, s := range text.list {
						how.f(s)
					}
				}
			})
		}
	}
}
