package keyring

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/internal/secret"
)

// snapshot is every file of a folder by name.
func snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(b)
	}
	return out
}

func sameFiles(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return true
}

func put(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDamage: every file of the ring, damaged in every way, stops the start
// with a named error, and nothing is made anew in its place.
func TestDamage(t *testing.T) {
	for _, pass := range []string{"", "correct horse"} {
		c := newClock()
		o := c.options()
		if pass != "" {
			o.Passphrase = secret.FromString(pass)
		}
		dir := newDir(t)
		open(t, dir, o)
		good := snapshot(t, dir)
		ways := map[string]func(string) (string, bool){
			"missing":   func(string) (string, bool) { return "", false },
			"empty":     func(string) (string, bool) { return "", true },
			"truncated": func(s string) (string, bool) { return s[:len(s)/2], true },
			"zeros":     func(s string) (string, bool) { return string(make([]byte, len(s))), true },
			"flipped":   func(s string) (string, bool) { b := []byte(s); b[len(b)/2] ^= 1; return string(b), true },
			"doubled":   func(s string) (string, bool) { return s + s, true },
		}
		for name, text := range good {
			if name == lockName {
				continue
			}
			for way, f := range ways {
				bad := map[string]string{}
				for k, v := range good {
					bad[k] = v
				}
				if s, ok := f(text); ok {
					bad[name] = s
				} else {
					delete(bad, name)
				}
				at := newDir(t)
				put(t, at, bad)
				_, err := Open(at, o)
				if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrPassphrase) {
					t.Errorf("%s %s: %v", name, way, err)
				}
				if errors.Is(err, ErrPassphrase) && name != ringKeyAgeName {
					t.Errorf("%s %s: blames the passphrase", name, way)
				}
				if err != nil && strings.Contains(err.Error(), "PRIVATE") && !strings.Contains(err.Error(), "PEM") {
					t.Errorf("error shows content: %v", err)
				}
				if !sameFiles(snapshot(t, at), bad) {
					t.Errorf("%s %s: the folder was changed", name, way)
				}
			}
		}
	}
}

// TestSwappedKeyFiles: files that are whole but not the ones the manifest
// names are damage too.
func TestSwappedKeyFiles(t *testing.T) {
	r, c := newRing(t)
	a := r.view.Load().man.entry(activeKid(t, r, credentials.RoleHandle)).File
	b := r.view.Load().man.entry(activeKid(t, r, credentials.RoleLabel)).File
	files := snapshot(t, r.dir)
	files[a], files[b] = files[b], files[a]
	at := newDir(t)
	put(t, at, files)
	if _, err := Open(at, c.options()); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "another key") {
		t.Errorf("swapped: %v", err)
	}
	// A manifest of another ring does not pass either: its MAC key is another.
	other, _ := newRing(t)
	files = snapshot(t, r.dir)
	files[manifestName] = snapshot(t, other.dir)[manifestName]
	at = newDir(t)
	put(t, at, files)
	if _, err := Open(at, c.options()); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "authentication") {
		t.Errorf("foreign manifest: %v", err)
	}
}

func TestPermissions(t *testing.T) {
	r, c := newRing(t)
	files := snapshot(t, r.dir)
	for name := range files {
		if name == lockName {
			continue
		}
		path := filepath.Join(r.dir, name)
		for _, mode := range []fs.FileMode{0o640, 0o604, 0o620, 0o666} {
			os.Chmod(path, mode)
			if _, err := Open(r.dir, c.options()); !errors.Is(err, durable.ErrLoose) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s mode %v: %v", name, mode, err)
			}
		}
		os.Chmod(path, 0o600)
		if err := os.Rename(path, path+"-real"); err != nil {
			t.Fatal(err)
		}
		os.Symlink(path+"-real", path)
		if _, err := Open(r.dir, c.options()); !errors.Is(err, durable.ErrSymlink) {
			t.Errorf("%s is a link: %v", name, err)
		}
		os.Rename(path+"-real", path)
	}
	for _, mode := range []fs.FileMode{0o750, 0o701, 0o777} {
		os.Chmod(r.dir, mode)
		if _, err := Open(r.dir, c.options()); !errors.Is(err, durable.ErrLoose) {
			t.Errorf("folder mode %v: %v", mode, err)
		}
	}
	os.Chmod(r.dir, 0o700)
	link := newDir(t)
	os.Symlink(r.dir, link)
	if _, err := Open(link, c.options()); !errors.Is(err, durable.ErrSymlink) {
		t.Errorf("folder is a link: %v", err)
	}
	usable(t, open(t, r.dir, c.options()))
}

// TestForeignFolder: a folder with something else in it never becomes a ring.
func TestForeignFolder(t *testing.T) {
	c := newClock()
	for _, name := range []string{"notes.txt", "ring.key", "handle-0123456789abcdef.pem", ".keys.json.tmp-00"} {
		dir := newDir(t)
		put(t, dir, map[string]string{name: "x"})
		if _, err := Open(dir, c.options()); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPassphrase(t *testing.T) {
	dir, c := newDir(t), newClock()
	o := c.options()
	o.Passphrase = secret.FromString("correct horse")
	r := open(t, dir, o)
	usable(t, r)
	for name, text := range snapshot(t, dir) {
		if name != lockName && name != manifestName && !bytes.HasPrefix([]byte(text), []byte("-----BEGIN AGE ENCRYPTED FILE-----")) {
			t.Errorf("%s is not encrypted", name)
		}
	}
	c.Add(time.Hour)
	if _, err := r.Rotate(credentials.RoleHandle); err != nil {
		t.Fatal(err)
	}
	usable(t, open(t, dir, o))
	for _, pass := range []secret.Value{{}, secret.FromString("wrong")} {
		o.Passphrase = pass
		if _, err := Open(dir, o); !errors.Is(err, ErrPassphrase) {
			t.Errorf("wrong passphrase: %v", err)
		}
	}
	plain := newDir(t)
	open(t, plain, c.options())
	o.Passphrase = secret.FromString("x")
	if _, err := Open(plain, o); !errors.Is(err, ErrPlain) {
		t.Errorf("passphrase for a plain ring: %v", err)
	}
	if !r.view.Load().private(activeKid(t, r, credentials.RoleHandle)).Protected() {
		t.Error("key of an encrypted ring is not protected")
	}
}

func TestReadPassphrase(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "p")
	for text, want := range map[string]string{"a b": "a b", "a\n": "a", "a\r\n": "a", "\ufeffa\n": "a", " a ": " a ", "a\r": "a"} {
		durable.WriteFile(path, []byte(text), 0o600)
		if v, err := ReadPassphraseFile(path); err != nil || string(v.Reveal()) != want {
			t.Errorf("%q: %q %v", text, v.Reveal(), err)
		}
		var fds [2]int // not os.Pipe: its files would close the descriptor a second time
		if err := syscall.Pipe(fds[:]); err != nil {
			t.Fatal(err)
		}
		syscall.Write(fds[1], []byte(text))
		syscall.Close(fds[1])
		if v, err := ReadPassphraseFD(uintptr(fds[0])); err != nil || string(v.Reveal()) != want {
			t.Errorf("descriptor, %q: %q %v", text, v.Reveal(), err)
		}
	}
	for _, text := range []string{"", "\n", "a\nb", "a\n\n", "a\x00", strings.Repeat("a", maxPassphrase+1)} {
		durable.WriteFile(path, []byte(text), 0o600)
		if _, err := ReadPassphraseFile(path); err == nil {
			t.Errorf("%.10q accepted", text)
		}
	}
	durable.WriteFile(path, []byte("a"), 0o644)
	if _, err := ReadPassphraseFile(path); !errors.Is(err, durable.ErrLoose) {
		t.Errorf("readable by all: %v", err)
	}
	if _, err := ReadPassphraseFD(987); err == nil {
		t.Error("a descriptor that is not open")
	}
}

// TestRollback: an older copy of the folder is refused where a newer version
// is known, at the start and while running.
func TestRollback(t *testing.T) {
	r, c := newRing(t)
	old := snapshot(t, r.dir)
	leaked := activeKid(t, r, credentials.RoleHandle)
	if _, err := r.Revoke(leaked, "compromise"); err != nil {
		t.Fatal(err)
	}
	for name, text := range old {
		if err := durable.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Reload(); !errors.Is(err, ErrRollback) {
		t.Errorf("reload: %v", err)
	}
	if _, _, err := r.Signer(credentials.RoleHandle); !errors.Is(err, ErrStale) {
		t.Errorf("signer: %v", err)
	}
	if _, err := r.Key("tool-handle+jwt", leaked); !errors.Is(err, ErrStale) {
		t.Errorf("key: %v", err)
	}
	if r.Epoch() != ^uint64(0) {
		t.Error("caches still hold")
	}
	o := c.options()
	o.MinVer = 2
	if _, err := Open(r.dir, o); !errors.Is(err, ErrRollback) {
		t.Errorf("open: %v", err)
	}
}

// TestStale: a ring whose folder cannot be read any more decides nothing after
// the bound.
func TestStale(t *testing.T) {
	r, c := newRing(t)
	aside := r.dir + "-aside"
	if err := os.Rename(r.dir, aside); err != nil {
		t.Fatal(err)
	}
	kid := r.view.Load().active[credentials.RoleHandle].Kid
	c.Add(10 * time.Second)
	if _, err := r.Key("tool-handle+jwt", kid); err != nil {
		t.Errorf("within the bound: %v", err)
	}
	c.Add(21 * time.Second)
	if _, err := r.Key("tool-handle+jwt", kid); !errors.Is(err, ErrStale) {
		t.Errorf("beyond the bound: %v", err)
	}
	if err := r.Health(); !errors.Is(err, ErrStale) {
		t.Errorf("health: %v", err)
	}
	os.Rename(aside, r.dir)
	usable(t, r)
}
