package content

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/pratique-dev/pratique/labels/args"
)

// wide is a text in UTF-16.
func wide(s string, big bool) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(s)) {
		if big {
			b.WriteByte(byte(u >> 8))
		}
		b.WriteByte(byte(u))
		if !big {
			b.WriteByte(byte(u >> 8))
		}
	}
	return b.String()
}

// moved is a text whose letters stand in another form, so far from themselves.
func moved(s string, lower, upper, digit rune) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r + lower
		case r >= 'A' && r <= 'Z':
			return r + upper
		case r >= '0' && r <= '9':
			return r + digit
		}
		return r
	}, s)
}

func entitiesOf(s, form string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, form, s[i])
	}
	return b.String()
}

// TestForms of letters: a credential in letters that stand for its own is found, and
// the first look does not pass over it.
func TestOtherLetters(t *testing.T) {
	j := judge(t, Default())
	for _, v := range []string{"glpat-" + some(20), "ghp_" + some(36), "sk_live_" + some(24)} {
		for name, text := range map[string]string{
			"full width": moved(v, 0xfee0, 0xfee0, 0xfee0), "first letter of full width": string(rune(v[0])+0xfee0) + v[1:], "last letters of full width": v[:len(v)-3] + moved(v[len(v)-3:], 0xfee0, 0xfee0, 0xfee0),
			"bold": moved(v, 0x1d41a-'a', 0x1d400-'A', 0x1d7ce-'0'), "circled": moved(v, 0x24d0-'a', 0x24b6-'A', 0), "full width and invisible": strings.Join(strings.Split(moved(v, 0xfee0, 0xfee0, 0xfee0), ""), "\u200b"),
			"full width in words": "the key is " + moved(v, 0xfee0, 0xfee0, 0xfee0) + ", 鍵", "full width in pieces": `"` + string(rune(v[0])+0xfee0) + v[1:8] + `" + "` + v[8:] + `"`,
			"entities": entitiesOf(v, "&#%d;"), "hex entities": entitiesOf(v, "&#x%x;"), "long entities": entitiesOf(v, "&#0000%d;"), "one entity": fmt.Sprintf("&#%d;", v[0]) + v[1:], "entity inside": v[:3] + fmt.Sprintf("&#X%X;", v[3]) + v[4:], "entities twice": strings.ReplaceAll(entitiesOf(v, "&#%d;"), "&", "&amp;"), "named entity": strings.ReplaceAll(v, "_", "&lowbar;"),
			"UTF-16 in base64": base64.StdEncoding.EncodeToString([]byte(wide("key "+v, false))), "UTF-16 with a mark in base64": base64.StdEncoding.EncodeToString([]byte("\xff\xfe" + wide(v, false))), "big UTF-16 in base64": base64.StdEncoding.EncodeToString([]byte("\xfe\xff" + wide(v, true))), "UTF-16 in hex": hex.EncodeToString([]byte(wide("key "+v, true))),
			"base64 in full width": moved(base64.RawURLEncoding.EncodeToString([]byte("the key is "+v)), 0xfee0, 0xfee0, 0xfee0), "entities in base64": base64.StdEncoding.EncodeToString([]byte(entitiesOf(v, "&#%d;"))),
		} {
			if got := said(j.Check(Write{Path: "a.txt", Content: "first\n" + text})); got != "secret 2" {
				t.Errorf("%.4s…, %s: %q", v, name, got)
			}
			if !suspicious(text) {
				t.Errorf("%.4s…, %s: passed over", v, name)
			}
			if got := found(t, j, `{"x":`+jsonText(text)+`}`); got != "secret /x" {
				t.Errorf("%.4s…, %s: %q of a call", v, name, got)
			}
		}
	}
	for _, text := range []string{
		"１０月３１日にＡＢＣ社がＸＹＺを発表した。詳しくはＷｅｂで。", "価格は￥１２，３４５（税込）です。", "x² + y² = z², and 2ⁿ for n ≥ 0 — “of course”… it’s so.", "&#169; 2026 &amp; &lt;b&gt; &#8212; &nbsp;", "ﬁne ﬂowers, ½ of №5", base64.StdEncoding.EncodeToString([]byte(wide("a sentence that is in UTF-16 and harmless", false))),
		"\x00\x01\x02", strings.Repeat("\x00", 100), moved("a sentence in letters of full width, with nothing in it", 0xfee0, 0xfee0, 0xfee0),
	} {
		if got := said(j.Check(Write{Path: "a.txt", Content: text})); got != "" {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestLettersOfLanguages: prose of most languages has no letters that cost a second
// look.
func TestLettersOfLanguages(t *testing.T) {
	for _, text := range []string{"Größe, déjà vu, naïve", "Это обычное предложение на русском языке.", "これは普通の文です。カタカナも。", "这是一个普通的句子，没有别的。", "이것은 평범한 문장입니다.", "Αυτή είναι μια πρόταση.", "“Quoted” — it’s so…", "यह एक साधारण वाक्य है।"} {
		if invisible(text) {
			t.Errorf("%s: looked at twice", text)
		}
		if visible(text) != text {
			t.Errorf("%s: became %s", text, visible(text))
		}
	}
}

// TestNames: names of members are held against secrets, and no finding repeats one.
func TestNames(t *testing.T) {
	for _, cfg := range []*Config{Default(), judged(), {}} {
		j := judge(t, cfg)
		v := "ghp_" + some(36)
		for arguments, want := range map[string]string{
			`{"headers":{"X-V":"1"}}`:                           "secret /headers",
			`{"metadata":{"V":""}}`:                             "secret /metadata",
			`{"files":{"V":"x"}}`:                               "secret /files",
			`{"files":{"a/V.txt":"x"}}`:                         "secret /files",
			`{"files":{"a/V.txt":{"content":"x"}}}`:             "secret /files",
			`{"V":1}`:                                           "secret ",
			`{"a":[{"b":{"V":null}}]}`:                          "secret /a/0/b",
			`{"a":{"V":{"b":"V"}}}`:                             "secret /a",
			`{"a":{"V":{"b":{"c":[{"V":1}]}}}}`:                 "secret /a",
			`{"o":"{\"V\":\"x\"}"}`:                             "secret /o",
			`{"a":{"` + percent(v) + `":1}}`:                    "secret /a",
			`{"a":{"` + entitiesOf(v, "&#%d;") + `":1}}`:        "secret /a",
			`{"a":{"` + hex.EncodeToString([]byte(v)) + `":1}}`: "secret /a",
			`{"headers":{"X-ghp_name":"1","ghp_` + strings.Repeat("x", 36) + `":"2","src/components/authentication/index.test.ts":"3"}}`: "",
		} {
			in := strings.ReplaceAll(arguments, "V", v)
			got := found(t, j, in)
			if first, _, _ := strings.Cut(got, ","); first != want || strings.Contains(got, v) {
				t.Errorf("%s: got %q, want %q", arguments, got, want)
			}
		}
	}
	off := judge(t, &Config{Secrets: "off"})
	if got := found(t, off, `{"package.json":{"ghp_`+some(36)+`":"x"}}`); strings.Contains(got, "ghp_") {
		t.Errorf("the place repeats a name: %s", got)
	}
}

// TestNothingOfNames: whatever is found below a name that holds a credential, it is
// told without it.
func TestNothingOfNames(t *testing.T) {
	v := "glpat-" + some(20)
	tree, err := args.Parse([]byte(`{"files":{"` + v + `/package.json":"{\"dependencies\":{\"evil\":\"1\"}}","` + v + `":{"x.npmrc":"y","path":".npmrc","content":"script-shell=x"}},"paths":["` + v + `/setup.py"],"content":"setup()"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Release()
	list := judge(t, judged()).Call(tree.Root())
	if len(list) < 4 {
		t.Errorf("%d findings", len(list))
	}
	for _, f := range list {
		if strings.Contains(fmt.Sprintf("%+v", f), v) {
			t.Errorf("%+v", f)
		}
	}
}
