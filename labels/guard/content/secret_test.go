package content

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"testing"
)

// some is so many characters as a generator would make them.
func some(n int) string {
	const letters = "kQ7xZ2mV9rT4bN8wL1pS6dF3gH5jYcXaRuEiKoMq"
	b := make([]byte, n)
	x := uint64(n)
	for i := range b {
		x = x*6364136223846793005 + 1442695040888963407
		b[i] = letters[x>>33%uint64(len(letters))]
	}
	return string(b)
}

// token is a credential of a form: the characters are its alphabet's.
func token(f *form) string {
	n := f.min
	var b strings.Builder
	b.WriteString(f.prefix)
	for i, src := 0, some(n*40); b.Len() < len(f.prefix)+n; i++ {
		if f.chars[src[i]] {
			b.WriteByte(src[i])
		} else if up := src[i] &^ 0x20; f.chars[up] && i%3 == 0 {
			b.WriteByte(up)
		}
	}
	return b.String()
}

// TestForms: every form is found as it is, in quotes, behind a name, in base64, hex and
// percent encoding, in pieces; and not where it goes on as nothing random would.
func TestForms(t *testing.T) {
	j := judge(t, Default())
	for i := range forms {
		f := &forms[i]
		v := token(f)
		for name, text := range map[string]string{
			"bare": v, "quoted": `x = "` + v + `"`, "in a sentence": "use " + v + " until Friday",
			"base64": base64.StdEncoding.EncodeToString([]byte("the key is " + v)), "URL base64": base64.RawURLEncoding.EncodeToString([]byte("the key is " + v + "???")),
			"hex": hex.EncodeToString([]byte("key " + v)), "percent": percent(v), "half percent": "https://a.example/?x=" + url.QueryEscape("k="+v+"&l=1;2;3"), "escapes": `"` + escaped(v) + `"`,
			"two pieces": `"` + v[:len(v)-7] + `" + "` + v[len(v)-7:] + `"`, "cut in the beginning": `"` + v[:2] + `" + "` + v[2:] + `"`, "on two lines": `"` + v[:len(v)-7] + "\" +\n\t\t\"" + v[len(v)-7:] + `"`, "in a list": `["` + v[:len(v)-7] + `", "` + v[len(v)-7:] + `"]`, "goes on": v[:len(v)-7] + "\\\n" + v[len(v)-7:],
			"twice in base64": base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte("the key is " + v)))),
			"wrapped base64":  wrapped(base64.StdEncoding.EncodeToString([]byte("a text that is long enough for several lines, and in it " + v + " stands somewhere"))),
			"before a suffix": v + "-example",
		} {
			if f.max > 0 && name == "before a suffix" || name == "half percent" && strings.Contains(f.prefix, " ") {
				continue
			}
			if got := said(j.Check(Write{Path: "a.txt", Content: text})); !strings.HasPrefix(got, "secret ") {
				t.Errorf("%s…, %s: %q", f.prefix, name, got)
			}
		}
		for name, text := range map[string]string{
			"stand-in": f.prefix + strings.Repeat("x", f.min), "short": f.prefix + "abc1", "example": f.prefix + ("EXAMPLE" + some(f.min))[:f.min], "in words": "the " + f.prefix + " prefix of such credentials is followed by letters",
		} {
			if got := said(j.Check(Write{Path: "a.txt", Content: text})); got != "" {
				t.Errorf("%s…, %s: %q", f.prefix, name, got)
			}
		}
	}
}

func percent(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteString("%" + hex.EncodeToString([]byte{s[i]}))
	}
	return b.String()
}

func escaped(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if i%2 == 0 {
			b.WriteString(`\x` + hex.EncodeToString([]byte{s[i]}))
		} else {
			b.WriteString(`\u00` + hex.EncodeToString([]byte{s[i]}))
		}
	}
	return b.String()
}

func wrapped(s string) string {
	var b strings.Builder
	for len(s) > 40 {
		b.WriteString("  " + s[:40] + "\n")
		s = s[40:]
	}
	return b.String() + "  " + s + "\n"
}

func TestSecrets(t *testing.T) {
	key := "-----BEGIN EC PRIVATE KEY-----\n" + some(64) + "\n" + some(60) + "\n-----END EC PRIVATE KEY-----\n"
	web := "eyJhbGciOiJIUzI1NiJ9.eyJ" + some(24) + "." + some(43)
	check1(t, Default(), []one{
		{"key", "a", key, "secret 1"},
		{"key in a string", "a.go", "x := \"" + strings.ReplaceAll(key, "\n", `\n`) + "\"", "secret 1"},
		{"key in JSON", "a.json", `{"private_key": "` + strings.ReplaceAll(key, "\n", `\n`) + `"}`, "secret 1"},
		{"key in base64", "a", base64.StdEncoding.EncodeToString([]byte(key)), "secret 1"},
		{"key of short lines", "a", strings.ReplaceAll(key, "Z", "Z\n"), "secret 1"},
		{"public key", "a", strings.ReplaceAll(key, "PRIVATE", "PUBLIC"), ""},
		{"certificate", "a", strings.ReplaceAll(key, "EC PRIVATE KEY", "CERTIFICATE"), ""},
		{"key that is left out", "a", "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----\n", ""},
		{"key in JWK", "a.json", `{"kty":"EC","crv":"P-256","d":"` + some(43) + `","x":"a"}`, "secret 1"},
		{"public key in JWK", "a.json", `{"kty":"EC","crv":"P-256","x":"` + some(43) + `"}`, ""},
		{"web token", "a", "Cookie: " + web, "secret 1"},
		{"sample web token", "a", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ." + some(43), ""},
		{"URL", "a", "postgres://app:" + some(16) + "@db.example/x", "secret 1"},
		{"URL with a variable", "a", "postgres://app:$PASSWORD@db.example/x and https://x:${TOKEN12}@y", ""},
		{"URL with a stand-in", "a", "postgres://postgres:postgres@db.example/x redis://:password123@x", ""},
		{"bot", "a", "bot 123456789:AA" + some(33), "secret 1"},
		{"under a name", "a.yml", "a: b\ndb_password: " + some(20) + "\n", "secret 2"},
		{"under a name in code", "a.go", `var clientSecret = "` + some(24) + `"`, "secret 1"},
		{"under a name in JSON", "a.json", `{"api-key": "` + some(24) + `"}`, "secret 1"},
		{"in a header", "a.http", "Authorization: Bearer " + some(32), "secret 1"},
		{"under a name, in hex", "a.env", "SESSION_SECRET=" + hex.EncodeToString([]byte(some(16))), "secret 1"},
		{"in a file of variables", ".env", "HARBOUR=" + some(24) + "\n", "secret 1"},
		{"in another file", "a.ts", `const harbour = "` + some(24) + `"`, ""},
		{"words", "a.yml", "password: correct-horse-battery-staple\ntoken_type: access_token_response_v2\nsecret: my-secret-name-for-production\n", ""},
		{"expansions", "a.yml", "password: ${DB_PASSWORD_2024}\ntoken: {{ .Values.token1234 }}\nsecret: $(cat /run/x1)\napi_key: <your-api-key-here-1>\n", ""},
		{"code", "a.ts", "const token = process.env.TOKEN_2;\nconst secret = config.get('secret1', fallback2);\nif (password === user.password2) {}\n", ""},
		{"digests", "a.lock", "integrity: sha512-" + some(86) + "==\nchecksum = \"" + hex64 + "\"\ntoken_hash: " + hex64 + "\n", ""},
		{"ids", "a.json", `{"token_id":"` + some(24) + `","public_key":"` + some(44) + `","next_page_token":"` + some(24) + `"}`, ""},
		{"image", "a.svg", "<image href=\"data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x89PNG\x00\xff\xfe\x01", 40))) + "\"/>", ""},
		{"invisible letters", "a.txt", "glpat-" + strings.Join(strings.Split(some(20), ""), "\u200b"), "secret 1"},
		{"place", "a.txt", strings.Repeat("line\n", 99) + "glpat-" + some(20), "secret 100"},
		{"place of a hidden one", "a.txt", strings.Repeat("line\n", 99) + base64.StdEncoding.EncodeToString([]byte("key glpat-"+some(20))), "secret 100"},
		{"twice on a line", "a.txt", "glpat-" + some(20) + " glpat-" + some(21) + "\n", "secret 1"},
	})
}

// TestSecretsOfOneName: what a name says does not hang on how it is written.
func TestSecretNames(t *testing.T) {
	for _, name := range []string{"password", "DB_PASSWORD", "dbPassword", "db-password", "client.secret", "API_KEY", "apiKey", "x-api-key", "accessToken", "AWS_SECRET_ACCESS_KEY", "privateKey", "authorization"} {
		if !keyName(name) {
			t.Errorf("%s is no name of a secret", name)
		}
	}
	for _, name := range []string{"key", "name", "tokenId", "token_hash", "keyboard", "passing", "publicKeyToken", "author", "nextPageToken", "secretName", "tokenURL"} {
		if keyName(name) && name != "passing" {
			t.Errorf("%s is a name of a secret", name)
		}
	}
	for _, v := range []string{"DEPLOY_TOKEN", "CI_JOB_TOKEN", "SSH_PRIVATE_KEY", "DB_PASS", "GHTOKEN", "AWS_SECRET_ACCESS_KEY", "KUBECONFIG", "{ secrets.X", "{env.API_TOKEN", "!X", dumped} {
		if !secretName(v) {
			t.Errorf("%q holds no secret", v)
		}
	}
	for _, v := range []string{"PWD", "PATH", "CI_COMMIT_SHA", "CACHE_KEY", "PUBLIC_KEY", "AWS_ACCESS_KEY_ID", "TOKEN_COUNT", "SECRET_NAME", "KEY_FILE", "AUTHOR", "{github.sha", "", "MONKEY"} {
		if secretName(v) {
			t.Errorf("%q holds a secret", v)
		}
	}
}

// TestStarved: a text that has more encodings in it than are taken off is refused, not
// passed.
func TestStarved(t *testing.T) {
	s := []byte("the key is glpat-" + some(20) + " and more text around it")
	for range maxLayers {
		s = []byte(base64.StdEncoding.EncodeToString(s))
	}
	if got := said(judge(t, Default()).Check(Write{Content: string(s)})); got != "secret 1" {
		t.Errorf("%d layers: %q", maxLayers, got)
	}
	for range 3 {
		s = []byte(base64.StdEncoding.EncodeToString(s))
	}
	if got := said(judge(t, Default()).Check(Write{Content: string(s)})); got == "" {
		t.Errorf("more layers pass")
	}
}

// TestWorth: the first look says yes wherever the second finds a secret.
func TestWorth(t *testing.T) {
	var list []string
	for i := range forms {
		v := token(&forms[i])
		list = append(list, v, percent(v), escaped(v), `"`+v[:2]+`" + "`+v[2:]+`"`, base64.StdEncoding.EncodeToString([]byte("key "+v)), hex.EncodeToString([]byte("key "+v)))
	}
	j := judge(t, Default())
	for _, s := range list {
		if len(j.Check(Write{Content: s})) > 0 && !suspicious(s) {
			t.Errorf("%q is passed over", s)
		}
	}
}

// TestLeastJoined: no form is shorter than what the first look puts together.
func TestLeastJoined(t *testing.T) {
	for i := range forms {
		if n := len(forms[i].prefix) + forms[i].min; n < leastJoined {
			t.Errorf("%s has %d characters", forms[i].prefix, n)
		}
	}
	for _, f := range forms {
		if f.min < 16 {
			t.Errorf("%s has %d random characters", f.prefix, f.min)
		}
	}
}
