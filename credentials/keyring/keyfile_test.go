package keyring_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/internal/secret"
)

// texts are one key of each kind as JWK and as PEM, with its thumbprint.
func texts(t testing.TB) map[string]struct {
	text string
	kid  credentials.KeyID
} {
	t.Helper()
	out := map[string]struct {
		text string
		kid  credentials.KeyID
	}{}
	for _, alg := range []envelope.Alg{envelope.EdDSA, envelope.ES256} {
		path := filepath.Join(t.TempDir(), "k.jwk")
		p, err := keyring.NewKeyFile(path, alg, secret.Value{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		jwk, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[string(alg)+" jwk"] = struct {
			text string
			kid  credentials.KeyID
		}{strings.TrimSpace(string(jwk)), p.Key().ID}
		var k crypto.Signer
		if alg == envelope.ES256 {
			k, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		} else {
			k = edKey(t)
		}
		text, kid := pemOf(t, k)
		out[string(alg)+" pem"] = struct {
			text string
			kid  credentials.KeyID
		}{strings.TrimSpace(text), kid}
	}
	return out
}

func pemOf(t testing.TB, k crypto.Signer) (string, credentials.KeyID) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	kid := credentials.KeyID("")
	if e, err := envelope.NewKey(k.Public()); err == nil {
		kid = e.ID
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), kid
}

func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := durable.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCaseO13KeyFiles: white space, line ends and a byte order mark around a
// key make no difference to its thumbprint.
func TestCaseO13KeyFiles(t *testing.T) {
	dressings := map[string]func(string) string{
		"clean":           func(s string) string { return s },
		"line end":        func(s string) string { return s + "\n" },
		"line ends":       func(s string) string { return "\n\n" + s + "\r\n\r\n" },
		"CRLF":            func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") + "\r\n" },
		"CR":              func(s string) string { return strings.ReplaceAll(s, "\n", "\r") + "\r" },
		"BOM":             func(s string) string { return "\ufeff" + s },
		"BOM and CRLF":    func(s string) string { return "\ufeff" + strings.ReplaceAll(s, "\n", "\r\n") },
		"blanks":          func(s string) string { return " \t" + s + " \t" },
		"trailing blanks": func(s string) string { return strings.ReplaceAll(s, "\n", "  \n") },
	}
	for kind, k := range texts(t) {
		for name, dress := range dressings {
			p, err := keyring.LoadKeyFile(write(t, t.TempDir(), "k", dress(k.text)), secret.Value{})
			if err != nil {
				t.Errorf("%s, %s: %v", kind, name, err)
				continue
			}
			if p.Key().ID != k.kid {
				t.Errorf("%s, %s: another thumbprint", kind, name)
			}
		}
	}
}

// TestCaseO13Directory: a folder with one good and two bad files names the bad
// ones, imports nothing and says so.
func TestCaseO13Directory(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	k := texts(t)["EdDSA jwk"]
	write(t, dir, "a.jwk", k.text)
	write(t, dir, "b.jwk", "")
	write(t, dir, "c.jwk", "{\n")
	before, ver := len(w.ring.List()), w.ring.Ver()
	_, err := w.ring.ImportFiles(credentials.RoleHandle, dir, secret.Value{})
	if err == nil || !errors.Is(err, keyring.ErrKeyEmpty) || !errors.Is(err, keyring.ErrKeyFormat) {
		t.Fatalf("import: %v", err)
	}
	for _, name := range []string{"b.jwk", "c.jwk", "nothing imported"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%q is not in %q", name, err)
		}
	}
	if strings.Contains(err.Error(), "a.jwk") {
		t.Errorf("the good file is blamed: %v", err)
	}
	if len(w.ring.List()) != before || w.ring.Ver() != ver {
		t.Error("half an import")
	}
	if _, err := w.ring.Export(k.kid); err == nil {
		t.Error("the good key was taken in")
	}
	os.Remove(filepath.Join(dir, "b.jwk"))
	os.Remove(filepath.Join(dir, "c.jwk"))
	ch, err := w.ring.ImportFiles(credentials.RoleHandle, dir, secret.Value{})
	if err != nil || len(ch) != 1 || ch[0].Kid != k.kid || ch[0].To != credentials.KeyPending {
		t.Errorf("the good one alone: %v %v", ch, err)
	}
	if _, err := keyring.LoadKeyDir(t.TempDir(), secret.Value{}); !errors.Is(err, keyring.ErrNotFound) {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := keyring.LoadKeyDir(filepath.Join(dir, "none"), secret.Value{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

// TestKeyFileRefuses: what cannot be read whole is refused by name.
func TestKeyFileRefuses(t *testing.T) {
	all := texts(t)
	jwk, ec, pm := all["EdDSA jwk"].text, all["ES256 jwk"].text, all["EdDSA pem"].text
	member := func(s, m string) string { return "{" + m + "," + s[1:] }
	rsaKey, _ := rsa.GenerateKey(rand.Reader, 2048)
	rsaPEM, _ := pemOf(t, rsaKey)
	p384, _ := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	p384PEM, _ := pemOf(t, p384)
	p256, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	sec1, _ := x509.MarshalECPrivateKey(p256)
	spki, _ := x509.MarshalPKIXPublicKey(p256.Public())
	utf16 := []byte{0xff, 0xfe}
	for _, c := range []byte(jwk) {
		utf16 = append(utf16, c, 0)
	}
	field := func(s, name string) string {
		_, rest, _ := strings.Cut(s, `"`+name+`":"`)
		v, _, _ := strings.Cut(rest, `"`)
		return v
	}
	other := texts(t)["EdDSA jwk"].text
	for name, tt := range map[string]struct {
		text string
		want error
	}{
		"empty":             {"", keyring.ErrKeyEmpty},
		"blank":             {" \r\n\t", keyring.ErrKeyEmpty},
		"BOM only":          {"\ufeff", keyring.ErrKeyEmpty},
		"UTF-16":            {string(utf16), keyring.ErrKeyEncoding},
		"BOM inside":        {jwk[:5] + "\ufeff" + jwk[5:], keyring.ErrKeyEncoding},
		"NUL":               {jwk + "\x00", keyring.ErrKeyEncoding},
		"text":              {"hello", keyring.ErrKeyFormat},
		"half a JWK":        {jwk[:len(jwk)/2], keyring.ErrKeyFormat},
		"half a PEM":        {pm[:len(pm)/2], keyring.ErrKeyFormat},
		"two JWKs":          {jwk + "\n" + jwk, keyring.ErrKeyTrailing},
		"two PEMs":          {pm + "\n" + pm, keyring.ErrKeyTrailing},
		"text after PEM":    {pm + "\nhello", keyring.ErrKeyTrailing},
		"text before PEM":   {"hello\n" + pm, keyring.ErrKeyTrailing},
		"broken PEM first":  {"-----BEGIN X-----\n" + pm, keyring.ErrKeyTrailing},
		"duplicate member":  {member(jwk, `"kty":"OKP"`), keyring.ErrKeyFormat},
		"unknown member":    {member(jwk, `"p":"x"`), keyring.ErrKeyFormat},
		"public JWK":        {strings.Replace(jwk, `"d":"`+field(jwk, "d")+`",`, "", 1), keyring.ErrKeyPublic},
		"public PEM":        {string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: spki})), keyring.ErrKeyPublic},
		"SEC1 PEM":          {string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: sec1})), keyring.ErrKeyPEM},
		"headers in PEM":    {strings.Replace(pm, "\n", "\nProc-Type: 4,ENCRYPTED\n\n", 1), keyring.ErrKeyPEM},
		"RSA":               {rsaPEM, keyring.ErrKeyKind},
		"P-384":             {p384PEM, keyring.ErrKeyKind},
		"garbage DER":       {"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", keyring.ErrKeyFormat},
		"wrong x":           {strings.Replace(jwk, field(jwk, "x"), field(other, "x"), 1), keyring.ErrKeyMismatch},
		"no y":              {strings.Replace(ec, `,"y":"`+field(ec, "y")+`"`, "", 1), keyring.ErrKeyMismatch},
		"short d":           {strings.Replace(jwk, field(jwk, "d"), field(jwk, "d")[:40], 1), keyring.ErrKeyFormat},
		"line end inside d": {strings.Replace(jwk, field(jwk, "d"), field(jwk, "d")[:20]+`\n`+field(jwk, "d")[20:], 1), keyring.ErrKeyFormat},
		"zero scalar":       {strings.Replace(ec, field(ec, "d"), strings.Repeat("A", 43), 1), keyring.ErrKeyFormat},
		"for encryption":    {member(jwk, `"use":"enc"`), keyring.ErrKeyUse},
		"other algorithm":   {member(jwk, `"alg":"ES256"`), keyring.ErrKeyUse},
		"key_ops":           {member(jwk, `"key_ops":["deriveKey"]`), keyring.ErrKeyUse},
		"X25519":            {strings.Replace(jwk, "Ed25519", "X25519", 1), keyring.ErrKeyKind},
		"symmetric":         {`{"kty":"oct","d":"` + field(jwk, "d") + `","x":"AAAA","crv":""}`, keyring.ErrKeyKind},
		"age without key":   {"-----BEGIN AGE ENCRYPTED FILE-----\nAAAA\n-----END AGE ENCRYPTED FILE-----\n", keyring.ErrKeyEncrypted},
	} {
		_, err := keyring.LoadKeyFile(write(t, t.TempDir(), "k", tt.text), secret.Value{})
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), field(jwk, "d")[:20]) {
			t.Errorf("%s: the error shows the key", name)
		}
	}
	for name, text := range map[string]string{
		"extras of WebCrypto": member(jwk, `"alg":"Ed25519","ext":true,"key_ops":["sign"],"kid":"mine"`),
	} {
		if _, err := keyring.ParseKey([]byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKeyFilePermissions(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "k.jwk")
	p, err := keyring.NewKeyFile(path, envelope.EdDSA, secret.Value{}, nil)
	if err != nil || p.Protected() {
		t.Fatal(err)
	}
	if st, _ := os.Stat(path); st.Mode() != 0o600 {
		t.Errorf("mode %v", st.Mode())
	}
	if _, err := keyring.NewKeyFile(path, envelope.EdDSA, secret.Value{}, nil); !errors.Is(err, keyring.ErrKeyExists) {
		t.Errorf("overwritten: %v", err)
	}
	os.Chmod(path, 0o640)
	if _, err := keyring.LoadKeyFile(path, secret.Value{}); !errors.Is(err, durable.ErrLoose) {
		t.Errorf("loose: %v", err)
	}
	os.Chmod(path, 0o600)
	os.Symlink(path, path+"-link")
	if _, err := keyring.LoadKeyFile(path+"-link", secret.Value{}); !errors.Is(err, durable.ErrSymlink) {
		t.Errorf("link: %v", err)
	}
	if _, err := keyring.NewKeyFile(filepath.Join(dir, "x"), "RS256", secret.Value{}, nil); !errors.Is(err, keyring.ErrAlg) {
		t.Errorf("RS256: %v", err)
	}
	if _, err := keyring.NewKeyFile(filepath.Join(dir, "x"), envelope.EdDSA, secret.Value{}, bytes.NewReader(nil)); err == nil {
		t.Error("a key without randomness")
	}
}

// TestKeyFilePassphrase: an encrypted file is marked protected (RULES.md 13
// tells acts of protected keys from others).
func TestKeyFilePassphrase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.age")
	pass := secret.FromString("correct horse")
	p, err := keyring.NewWeakKeyFile(path, envelope.EdDSA, pass)
	if err != nil || !p.Protected() {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(path)
	crlf := write(t, t.TempDir(), "k", "\ufeff"+strings.ReplaceAll(string(text), "\n", "\r\n"))
	for _, f := range []string{path, crlf} {
		q, err := keyring.LoadKeyFile(f, pass)
		if err != nil || !q.Protected() || q.Key().ID != p.Key().ID {
			t.Errorf("%s: %v", f, err)
		}
	}
	for _, bad := range []secret.Value{{}, secret.FromString("wrong")} {
		if _, err := keyring.LoadKeyFile(path, bad); !errors.Is(err, keyring.ErrKeyEncrypted) {
			t.Errorf("wrong passphrase: %v", err)
		}
	}
	cut := write(t, t.TempDir(), "k", string(text[:len(text)-60]))
	if _, err := keyring.LoadKeyFile(cut, pass); !errors.Is(err, keyring.ErrKeyFormat) {
		t.Errorf("cut: %v", err)
	}
}

// FuzzParseKey: no text panics; a key that is read has one thumbprint, however
// it is dressed, and signs under it.
func FuzzParseKey(f *testing.F) {
	for _, k := range texts(f) {
		f.Add([]byte(k.text))
		f.Add([]byte("\ufeff" + k.text + "\r\n"))
		f.Add([]byte(k.text[:len(k.text)/2]))
	}
	f.Add([]byte(`{"kty":"EC","crv":"P-256","d":"AAAA"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := keyring.ParseKey(bytes.Clone(b))
		if err != nil {
			return
		}
		again, err := keyring.ParseKey(slices.Concat([]byte("\ufeff\r\n"), b, []byte("\r\n")))
		if bytes.HasPrefix(b, []byte("\ufeff")) {
			return // two marks are one too many
		}
		if err != nil || again.Key().ID != p.Key().ID {
			t.Errorf("dressed: %v", err)
		}
		if s, err := envelope.NewSigner(envelope.Intent, p); err != nil {
			t.Error(err)
		} else if _, err := s.Sign(credentials.Registered{}); err != nil {
			t.Error(err)
		}
	})
}

func edKey(t testing.TB) crypto.Signer {
	t.Helper()
	_, k, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func ExampleNewKeyFile() {
	dir, _ := os.MkdirTemp("", "keyfile")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "me.jwk")
	made, err := keyring.NewKeyFile(path, envelope.EdDSA, secret.Value{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	read, err := keyring.LoadKeyFile(path, secret.Value{})
	fmt.Println(read.Key().ID == made.Key().ID, err)
	fmt.Println(read)
	// Output:
	// true <nil>
	// [secret]
}
