package main

import (
	"context"
	"crypto/rand"
	"encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/internal/secret"
)

// startHere starts a registry as a process of its own until the test ends.
func startHere(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	p, err := startUp(context.Background(), dir, os.Environ(), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			p.kill()
		}
	})
	return p
}

// good runs a command line that must succeed and reads its answer.
func good[T any](t *testing.T, _ T, args ...string) T {
	t.Helper()
	code, stdout, stderr := runHere(t, withJSON(args)...)
	if code != 0 {
		t.Fatalf("%v: code %d\n%s", args, code, stderr)
	}
	return decodeAnswer[T](t, stdout)
}

func decodeAnswer[T any](t *testing.T, stdout string) (out T) {
	t.Helper()
	if err := json.Unmarshal([]byte(stdout), &out); err != nil {
		t.Fatalf("%v\n%s", err, stdout)
	}
	return out
}

// withJSON puts --json where flags go.
func withJSON(args []string) []string {
	for i, a := range args {
		if strings.HasPrefix(a, "-") {
			return slices.Concat(args[:i], []string{"--json"}, args[i:])
		}
	}
	return append(args, "--json")
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestCaseO13HandleFiles: white space around a handle, in a file or on the
// command line, is tolerated; inside, it is refused by name. Never is the answer
// that a signature does not verify.
func TestCaseO13HandleFiles(t *testing.T) {
	dir := t.TempDir()
	p := startHere(t, dir, "--data", filepath.Join(dir, "data"), "--listen", "127.0.0.1:0", "--admin", "off")
	at := func(name string) string { return filepath.Join(dir, name) }
	good(t, keyOutput{}, "principals", "new", "--out", at("me.jwk"))
	good(t, registerOutput{}, "tools", "register", "--registry", p.answer.Registry, "--key", at("me.jwk"), "--origin", "https://o13.example",
		"--file", write(t, at("tools.json"), `[{"name":"pay","description":"x"}]`), "--handles", at("h"))
	n := 0
	overwrite := func(handle string) (int, string) {
		n++
		file := write(t, at("tool.json"), `{"name":"pay","description":"`+strings.Repeat("x", n+1)+`"}`)
		code, _, errs := runHere(t, "tools", "overwrite", "--registry", p.answer.Registry, "--key", at("me.jwk"), "--handle", handle, "--file", file, "--json")
		return code, errs
	}
	fresh := func() string {
		v := good(t, renewOutput{}, "tools", "renew", "--registry", p.answer.Registry, "--key", at("me.jwk"), "--handle", at("h/pay"))
		return v.Tools[0].Handle
	}
	for name, form := range map[string]string{
		"clean": "%", "newline": "%\n", "crlf": "%\r\n", "blanks": " \t% \n\n", "bom": "\ufeff%\r\n",
	} {
		h := strings.Replace(form, "%", fresh(), 1)
		if code, errs := overwrite(write(t, at("h_"+name), h)); code != 0 {
			t.Errorf("file, %s: code %d: %s", name, code, errs)
		}
		h = strings.Replace(form, "%", fresh(), 1)
		if code, errs := overwrite(h); code != 0 {
			t.Errorf("argument, %s: code %d: %s", name, code, errs)
		}
	}
	for name, inside := range map[string]string{"blank": " ", "newline": "\n", "crlf": "\r\n", "tab": "\t"} {
		h := fresh()
		for _, at := range []string{write(t, at("h_inside"), h[:100]+inside+h[100:]), h[:100] + inside + h[100:]} {
			code, errs := overwrite(at)
			if code != int(exitPrecondition) || !strings.Contains(errs, "blank") && !strings.Contains(errs, "white space") {
				t.Errorf("%s inside: code %d: %s", name, code, errs)
			}
		}
	}
	for name, text := range map[string]string{"empty": "", "blank": " \n", "utf16": "\xff\xfee\x00y\x00", "other": "hello"} {
		code, errs := overwrite(write(t, at("h_bad"), text))
		if code != int(exitPrecondition) || strings.Contains(errs, "signature") || len(errs) == 0 {
			t.Errorf("%s: code %d: %s", name, code, errs)
		}
	}
	if code, errs := overwrite(at("absent")); code != int(exitNotFound) || !strings.Contains(errs, "absent") {
		t.Errorf("absent: code %d: %s", code, errs)
	}
}

// pkcs8 is the PEM of a private key file.
func pkcs8(t *testing.T) (text string, id string) {
	t.Helper()
	const fixed = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n" // RFC 8410 section 10.3
	if b, _ := pem.Decode([]byte(fixed)); b == nil {
		t.Fatal("not PEM")
	}
	k, err := keyring.ParseKey([]byte(fixed))
	if err != nil {
		t.Fatal(err)
	}
	return fixed, string(k.Key().ID)
}

// TestCaseO13KeyImport: CRLF PEM and a byte order mark before a JWK give the key
// id of the clean file; a folder with one good and two bad files names the bad
// ones, exits non-zero and imports nothing.
func TestCaseO13KeyImport(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	p := startHere(t, dir, "--data", data, "--listen", "127.0.0.1:0", "--admin", "off")
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	clean, id := pkcs8(t)
	for name, text := range map[string]string{
		"clean": clean, "crlf": strings.ReplaceAll(clean, "\n", "\r\n"), "blanks": "\n  " + clean + " \n\n", "no line end": strings.TrimSpace(clean),
	} {
		if got := dryImport(t, data, write(t, at("k.pem"), text)); got != id {
			t.Errorf("%s: key id %s, want %s", name, got, id)
		}
	}
	if _, err := keyring.NewKeyFile(at("k.jwk"), envelope.ES256, secret.Value{}, rand.Reader); err != nil {
		t.Fatal(err)
	}
	jwk := read(t, at("k.jwk"))
	want := dryImport(t, data, at("k.jwk"))
	for name, text := range map[string]string{"bom": "\ufeff" + jwk, "bom and crlf": "\ufeff" + strings.TrimSpace(jwk) + "\r\n"} {
		if got := dryImport(t, data, write(t, at("k2.jwk"), text)); got != want {
			t.Errorf("%s: key id %s, want %s", name, got, want)
		}
	}

	d := at("d")
	if err := os.Mkdir(d, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(d, "a.jwk"), jwk)
	write(t, filepath.Join(d, "b.jwk"), "")
	write(t, filepath.Join(d, "c.jwk"), "{")
	before := good(t, keysOutput{}, "keys", "list", "--data", data)
	code, out, errs := runHere(t, "keys", "import", "--data", data, "--role", "handle", "--json", d)
	if code == 0 || out != "" || !strings.Contains(errs, "b.jwk") || !strings.Contains(errs, "c.jwk") || strings.Contains(errs, "a.jwk") || !strings.Contains(errs, "nothing imported") {
		t.Errorf("folder: code %d, stdout %q, stderr %q", code, out, errs)
	}
	after := good(t, keysOutput{}, "keys", "list", "--data", data)
	if before.Version != after.Version || len(before.Keys) != len(after.Keys) {
		t.Error("a refused import has changed the ring")
	}
	os.Remove(filepath.Join(d, "b.jwk"))
	os.Remove(filepath.Join(d, "c.jwk"))
	got := good(t, changeOutputs{}, "keys", "import", "--data", data, "--role", "handle", d)
	if len(got.Changes) != 1 || string(got.Changes[0].Kid) != want || !got.Applied {
		t.Errorf("import of the good file: %+v", got)
	}
	if code, _, errs := runHere(t, "keys", "import", "--data", data, "--role", "handle", d); code != int(exitConflict) || !strings.Contains(errs, want) {
		t.Errorf("import again: code %d: %s", code, errs)
	}
}

// dryImport is the key id that an import of the file would have.
func dryImport(t *testing.T, data, file string) string {
	t.Helper()
	return string(good(t, changeOutputs{}, "keys", "import", "--data", data, "--role", "handle", "--dry-run", file).Changes[0].Kid)
}
