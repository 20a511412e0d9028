package vault

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

var (
	master = bytes.Repeat([]byte{9}, KeySize)
	noon   = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
)

func open(t testing.TB, dir, owner string) *Vault {
	t.Helper()
	v, err := Open(dir, Options{Key: master, Owner: owner})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return v
}

func put(t testing.TB, v *Vault, at time.Time, id string, value []byte) EntryKey {
	t.Helper()
	k, err := NewKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Put(at, id, &k, value); err != nil {
		t.Fatal(err)
	}
	return k
}

// allFiles is everything under a folder in one string.
func allFiles(t *testing.T, dir string) []byte {
	t.Helper()
	var all []byte
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			b, _ := os.ReadFile(path)
			all = append(all, b...)
			if st, _ := os.Stat(path); st.Mode().Perm() != 0o600 {
				t.Errorf("%s is %v", path, st.Mode())
			}
		}
		return err
	})
	return all
}

func TestPutGetErase(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vault")
	v := open(t, dir, "spool_A")
	ka := put(t, v, noon, "call_1", []byte(`{"secret":"plain text"}`))
	put(t, v, noon, "call_2", nil)
	put(t, v, noon, "call_3", make([]byte, MaxValue+1))
	got, err := Get(dir, master, "spool_A", noon, "call_1")
	if err != nil || string(got.Data) != `{"secret":"plain text"}` || got.Key != ka || !got.Held {
		t.Fatalf("%+v, %v", got, err)
	}
	if got, err := Get(dir, master, "spool_A", noon, "call_2"); err != nil || !got.Held || len(got.Data) != 0 {
		t.Errorf("empty: %+v, %v", got, err)
	}
	if got, err := Get(dir, master, "spool_A", noon, "call_3"); err != nil || got.Held {
		t.Errorf("too large: held %v, %v", got.Held, err)
	}
	raw := allFiles(t, dir)
	if bytes.Contains(raw, []byte("plain")) || bytes.Contains(raw, ka[:]) {
		t.Error("a value or a key lies in the open")
	}
	for name, f := range map[string]func() error{
		"another call":  func() error { _, err := Get(dir, master, "spool_A", noon, "call_9"); return err },
		"another spool": func() error { _, err := Get(dir, master, "spool_B", noon, "call_1"); return err },
		"another week":  func() error { _, err := Get(dir, master, "spool_A", noon.AddDate(0, 0, 7), "call_1"); return err },
	} {
		if err := f(); !errors.Is(err, ErrGone) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Get(dir, bytes.Repeat([]byte{1}, KeySize), "spool_A", noon, "call_1"); !errors.Is(err, ErrDamaged) {
		t.Errorf("another key: %v", err)
	}
	// Erased while the owner is at work: what comes after it stays readable.
	if err := Erase(dir, "spool_A", noon, "call_1"); err != nil {
		t.Fatal(err)
	}
	put(t, v, noon, "call_4", []byte("4"))
	if _, err := Get(dir, master, "spool_A", noon, "call_1"); !errors.Is(err, ErrErased) {
		t.Errorf("erased: %v", err)
	}
	if got, err := Get(dir, master, "spool_A", noon, "call_4"); err != nil || string(got.Data) != "4" {
		t.Errorf("after an erased one: %q, %v", got.Data, err)
	}
}

// TestDigestsAreKeyed: the same value has another digest under each key, and
// under each context.
func TestDigestsAreKeyed(t *testing.T) {
	a, _ := NewKey(nil)
	b, _ := NewKey(nil)
	if once, twice := a.Digest("x", []byte("v")), a.Digest("x", []byte("v")); once != twice {
		t.Error("not a function")
	}
	if a.Digest("x", []byte("v")) == b.Digest("x", []byte("v")) || a.Digest("x", []byte("v")) == a.Digest("y", []byte("v")) {
		t.Error("key or context has no part in it")
	}
}

func TestRetention(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vault")
	v := open(t, dir, "spool_A")
	put(t, v, noon, "old", []byte("1"))
	put(t, v, noon.AddDate(0, 0, 29), "newer", []byte("2"))
	if _, err := Get(dir, master, "spool_A", noon, "old"); err != nil {
		t.Errorf("before its time: %v", err)
	}
	put(t, v, noon.AddDate(0, 0, 31), "newest", []byte("3"))
	if _, err := Get(dir, master, "spool_A", noon, "old"); !errors.Is(err, ErrGone) {
		t.Errorf("after its time: %v", err)
	}
	if _, err := Get(dir, master, "spool_A", noon.AddDate(0, 0, 29), "newer"); err != nil {
		t.Errorf("another day's: %v", err)
	}
	put(t, v, noon, "set back", []byte("4")) // stays in the later file
	if _, err := Get(dir, master, "spool_A", noon.AddDate(0, 0, 31), "set back"); err != nil {
		t.Errorf("clock set back: %v", err)
	}
}

// TestEveryByteOfAnEntry: a changed byte gives no other value.
func TestEveryByteOfAnEntry(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vault")
	v := open(t, dir, "s")
	put(t, v, noon, "call_1", []byte("the value"))
	path := v.f.Name()
	good, _ := os.ReadFile(path)
	for i := range good {
		b := bytes.Clone(good)
		b[i] ^= 0x41
		os.WriteFile(path, b, 0o600)
		if got, err := Get(dir, master, "s", noon, "call_1"); err == nil {
			t.Fatalf("byte %d: %+v", i, got)
		}
	}
	for i := range good {
		os.WriteFile(path, good[:i], 0o600)
		if _, err := Get(dir, master, "s", noon, "call_1"); !errors.Is(err, ErrGone) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
	// Another process goes on beside what a crash left.
	w := open(t, dir, "s")
	put(t, w, noon, "call_2", []byte("2"))
	if got, err := Get(dir, master, "s", noon, "call_2"); err != nil || string(got.Data) != "2" {
		t.Errorf("beside a torn file: %q, %v", got.Data, err)
	}
}

func TestQuotaAndOptions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vault")
	v, err := Open(dir, Options{Key: master, Owner: "s", Quota: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	put(t, v, noon, "1", make([]byte, 900))
	put(t, v, noon, "2", make([]byte, 900))
	if got, err := Get(dir, master, "s", noon, "2"); err != nil || got.Held {
		t.Errorf("over the quota: %v, %v", got.Held, err)
	}
	for _, o := range []Options{{}, {Key: master}, {Key: master[1:], Owner: "s"}, {Key: master, Owner: "a/b"}} {
		if _, err := Open(dir, o); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	k, _ := NewKey(nil)
	if err := v.Put(noon, "", &k, nil); !errors.Is(err, ErrOptions) {
		t.Errorf("no id: %v", err)
	}
}

func TestPolicies(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vault")
	v := open(t, dir, "s")
	d := [32]byte{1}
	for range 2 {
		if err := v.PutPolicy(d, []byte("rules: []")); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := Policy(dir, master, d); err != nil || string(text) != "rules: []" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := Policy(dir, master, [32]byte{2}); !errors.Is(err, ErrGone) {
		t.Errorf("another: %v", err)
	}
	path := policyPath(dir, d)
	b, _ := os.ReadFile(path)
	for i := range b {
		c := bytes.Clone(b)
		c[i] ^= 1
		os.WriteFile(path, c, 0o600)
		if _, err := Policy(dir, master, d); !errors.Is(err, ErrDamaged) {
			t.Fatalf("byte %d: %v", i, err)
		}
	}
	os.Rename(path, policyPath(dir, [32]byte{2}))
	if _, err := Policy(dir, master, [32]byte{2}); err == nil {
		t.Error("a policy passes under another digest")
	}
}

func TestAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vault")
	v := open(t, dir, "s")
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 50 {
				id := fmt.Sprintf("%d-%d", g, i)
				k, _ := NewKey(nil)
				if err := v.Put(noon, id, &k, []byte(id)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for g := range 8 {
		id := fmt.Sprintf("%d-%d", g, 49)
		if got, err := Get(dir, master, "s", noon, id); err != nil || string(got.Data) != id {
			t.Errorf("%s: %q, %v", id, got.Data, err)
		}
	}
}

func FuzzScan(f *testing.F) {
	dir := filepath.Join(f.TempDir(), "vault")
	v := open(f, dir, "s")
	put(f, v, noon, "call_1", []byte("x"))
	good, _ := os.ReadFile(v.f.Name())
	f.Add(good)
	f.Add(good[:30])
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "f")
		os.WriteFile(path, b, 0o600)
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		end, err := scan(file, func(entry) bool { return true })
		if err != nil || end > int64(len(b)) {
			t.Fatalf("%d of %d: %v", end, len(b), err)
		}
	})
}

func BenchmarkPut(b *testing.B) {
	v := open(b, filepath.Join(b.TempDir(), "vault"), "s")
	args := bytes.Repeat([]byte{'x'}, 300)
	b.ReportAllocs()
	for b.Loop() {
		k, _ := NewKey(nil)
		if err := v.Put(noon, "call_01JDZ0000000000000000000AA", &k, args); err != nil {
			b.Fatal(err)
		}
	}
}
