package holds_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pratique-dev/pratique/registry/holds"
)

// FuzzFiles: whatever lies in the place of a hold, or of the acts, is damage, and
// releases nothing.
func FuzzFiles(f *testing.F) {
	f.Add([]byte(""), false)
	f.Add([]byte("pratique-hold/1\n\x00\x00\x00\x30"), false)
	f.Add([]byte("pratique-hold/1\n\xff\xff\xff\xff................................"), false)
	f.Add(make([]byte, 100), true)
	k := newKit(f)
	h := k.put(hold(), "bad")
	k.release(h.Subject)
	names, err := filepath.Glob(filepath.Join(k.dir, "items", "*", "*.hold"))
	if err != nil || len(names) != 1 {
		f.Fatal(names, err)
	}
	paths := map[bool]string{true: filepath.Join(k.dir, "acts"), false: names[0]}
	good := map[bool][]byte{}
	for which, path := range paths {
		if good[which], err = os.ReadFile(path); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, acts bool) {
		if err := os.WriteFile(paths[acts], data, 0o600); err != nil {
			t.Fatal(err)
		}
		defer os.WriteFile(paths[acts], good[acts], 0o600)
		s, err := holds.Open(k.dir, k.opt)
		if err != nil {
			t.Fatal(err)
		}
		if acts {
			if !errors.Is(s.Err(), holds.ErrDamaged) || s.Released(h.Subject) || !s.Condemned(h.Subject) {
				t.Fatal("acts that nobody wrote are believed")
			}
			return
		}
		if _, err := s.Content(h.ID); !errors.Is(err, holds.ErrDamaged) {
			t.Fatal(err)
		}
		if list, err := s.List(); len(list) != 0 || !errors.Is(err, holds.ErrDamaged) {
			t.Fatal(list, err)
		}
	})
}
