package client_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/credentials/keyset"
)

func TestTrustIsNeeded(t *testing.T) {
	if _, err := client.NewLabels(fakeURL, client.Trust{}, nil); !errors.Is(err, client.ErrNoTrust) {
		t.Errorf("got %v", err)
	}
	if _, err := client.NewLabels(fakeURL, client.Trust{State: &client.MemoryState{}}, nil); err != nil {
		t.Errorf("nil options: %v", err)
	}
	if _, err := client.NewKeys(fakeURL, client.Trust{Roots: []credentials.KeyID{"x"}}, nil); !errors.Is(err, credentials.ErrKeyID) {
		t.Errorf("got %v", err)
	}
	for _, o := range []client.KeysOptions{{MaxStale: -1}, {MaxStale: 25 * time.Hour}, {Refresh: time.Second}} {
		if _, err := client.NewKeys(fakeURL, client.Trust{State: &client.MemoryState{}}, &o); !errors.Is(err, client.ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// The first root met is recorded, durably, and nobody else's is believed after.
func TestFirstUseIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state.json")
		onFile := func(_ *client.KeysOptions, tr *client.Trust) {
			*tr = client.Trust{State: client.FileState(path)}
		}
		f, evil := newFake(t, time.Now), newFake(t, time.Now)
		k := newKeys(t, f, onFile)
		if _, err := k.Handle(t.Context(), f.handle("owner")); err != nil {
			t.Fatal(err)
		}
		if k.Status().Root != f.root() {
			t.Errorf("recorded %v", k.Status().Root)
		}
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("state file: %v, %v", st.Mode(), err)
		}
		k = newKeys(t, evil, onFile)
		defer k.Close()
		if _, err := k.Handle(t.Context(), evil.handle("owner")); !errors.Is(err, keyset.ErrRoot) {
			t.Errorf("another root: %v", err)
		}
	})
}

// A state that cannot be written means that nothing is believed: the next start
// would not know better.
func TestNothingIsBelievedBeforeItIsKept(t *testing.T) {
	f := newFake(t, time.Now)
	k := newKeys(t, f, func(_ *client.KeysOptions, tr *client.Trust) {
		tr.State = client.FileState(filepath.Join(t.TempDir(), "no such folder", "state.json"))
	})
	if _, err := k.Handle(t.Context(), f.handle("owner")); !errors.Is(err, client.ErrNoKeys) {
		t.Errorf("got %v", err)
	}
}

// Older documents are refused, over a restart too; the last good set stays.
func TestRollbackIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, time.Now)
		onFile := func(_ *client.KeysOptions, tr *client.Trust) {
			tr.State = client.FileState(filepath.Join(t.TempDir(), "state.json"))
		}
		state := client.Trust{}
		onFile(nil, &state)
		same := func(_ *client.KeysOptions, tr *client.Trust) { tr.State = state.State }
		k := newKeys(t, f, same)
		older := f.document()
		k1 := f.activeKid(credentials.RoleHandle)
		leaked := f.handle("owner")
		if _, err := f.ring.Revoke(k1, "leaked"); err != nil {
			t.Fatal(err)
		}
		good := f.handle("owner")
		if _, err := k.Handle(t.Context(), good); err != nil {
			t.Fatal(err)
		}
		serve := func(doc []byte) {
			f.set(func() {
				f.jwks = func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					w.Write(doc)
				}
			})
		}
		serve(older)
		time.Sleep(client.DefaultRefresh)
		for range 2 {
			if _, err := k.Handle(t.Context(), good); err != nil {
				t.Errorf("the last good set is gone: %v", err)
			}
			synctest.Wait()
		}
		if !errors.Is(k.Status().Err, keyset.ErrRollback) {
			t.Errorf("an older list: %v", k.Status().Err)
		}
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		k = newKeys(t, f, same)
		defer k.Close()
		if _, err := k.Handle(t.Context(), leaked); !errors.Is(err, keyset.ErrRollback) {
			t.Errorf("after a restart: %v", err)
		}
		// The same list with an older label event.
		f.set(func() { f.jwks, f.seq = nil, 20 })
		time.Sleep(client.DefaultRefresh)
		if _, err := k.Handle(t.Context(), good); err != nil {
			t.Fatal(err)
		}
		doc, err := f.ring.Document(f.now(), keyring.Inputs{Seq: 19})
		if err != nil {
			t.Fatal(err)
		}
		serve(doc)
		time.Sleep(client.DefaultRefresh)
		_, _ = k.Handle(t.Context(), good)
		synctest.Wait()
		if !errors.Is(k.Status().Err, keyset.ErrRollback) {
			t.Errorf("an older seq: %v", k.Status().Err)
		}
	})
}

// The root changes; a client that pins or recorded the old one gets over, one
// that pins a stranger's does not.
func TestRootChangeIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, time.Now)
		old := f.root()
		pinned := newKeys(t, f, nil)
		defer pinned.Close()
		state := &client.MemoryState{}
		recorded := newKeys(t, f, func(_ *client.KeysOptions, tr *client.Trust) { *tr = client.Trust{State: state} })
		defer recorded.Close()
		h := f.handle("owner")
		for _, k := range []*client.Keys{pinned, recorded} {
			if _, err := k.Handle(t.Context(), h); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := f.ring.Rotate(credentials.RoleRoot); err != nil {
			t.Fatal(err)
		}
		if f.root() == old {
			t.Fatal("the root did not change")
		}
		for _, k := range []*client.Keys{pinned, recorded} {
			time.Sleep(client.DefaultRefresh)
			_, _ = k.Handle(t.Context(), h)
			synctest.Wait()
			if k.Status().Err != nil || k.Status().Root != f.root() {
				t.Errorf("after the change: %+v", k.Status())
			}
		}
		// A restart with the state of the new root and the pin of the old one: the
		// recorded root follows from the pinned one.
		for pin, want := range map[credentials.KeyID]error{old: nil, f.root(): nil, keyOf(t, "stranger").ID: client.ErrRoots} {
			k := newKeys(t, f, func(_ *client.KeysOptions, tr *client.Trust) {
				*tr = client.Trust{Roots: []credentials.KeyID{pin}, State: state}
			})
			if _, err := k.Handle(t.Context(), h); !errors.Is(err, want) {
				t.Errorf("pinned %v: got %v, want %v", pin, err, want)
			}
			k.Close()
		}
		// Several pins: any one of them will do.
		k := newKeys(t, f, func(_ *client.KeysOptions, tr *client.Trust) {
			tr.Roots = []credentials.KeyID{keyOf(t, "stranger").ID, old}
		})
		defer k.Close()
		if _, err := k.Handle(t.Context(), h); err != nil {
			t.Error(err)
		}
	})
}

func TestIssuerIsHeld(t *testing.T) {
	f := newFake(t, time.Now)
	k := newKeys(t, f, func(o *client.KeysOptions, _ *client.Trust) { o.Issuer = "https://other.example" })
	if _, err := k.Handle(t.Context(), f.handle("owner")); !errors.Is(err, credentials.ErrIssuer) {
		t.Errorf("got %v", err)
	}
}

func TestLoadRoots(t *testing.T) {
	dir := t.TempDir()
	kid := string(keyOf(t, "root").ID)
	for name, c := range map[string]struct {
		text string
		n    int // 0: refused
	}{
		"one":     {kid, 1},
		"two":     {"# roots\r\n" + kid + "\r\n\r\n  " + string(keyOf(t, "root2").ID) + "  \n", 2},
		"bom":     {"\ufeff" + kid + "\n", 1},
		"none":    {"# nothing\n", 0},
		"empty":   {"", 0},
		"garbage": {kid + "\nnot a thumbprint\n", 0},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := client.LoadRoots(path)
		if len(got) != c.n || (err != nil) != (c.n == 0) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := client.LoadRoots(filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// Several processes share a state: nothing in it goes down.
func TestStateOnlyRises(t *testing.T) {
	root := keyOf(t, "root").ID
	kept := func(ver, seq uint64, tool uint64) client.Kept {
		return client.Kept{Pins: keyset.Pins{Iss: fakeURL, Root: root, Ver: ver, Seq: seq},
			Seqs: map[credentials.ToolID]uint64{toolPay: tool}}
	}
	file := client.FileState(filepath.Join(t.TempDir(), "state.json"))
	for _, s := range []client.State{file, &client.MemoryState{}} {
		if k, err := s.Load(t.Context()); err != nil || k.Pins.Root != "" {
			t.Errorf("empty state: %+v, %v", k, err)
		}
		for _, k := range []client.Kept{kept(3, 10, 7), kept(5, 8, 9), kept(4, 20, 5)} {
			if _, err := s.Save(t.Context(), k); err != nil {
				t.Fatal(err)
			}
		}
		k, err := s.Load(t.Context())
		if err != nil || k.Pins.Ver != 5 || k.Pins.Seq != 20 || k.Seqs[toolPay] != 9 || k.Pins.Root != root {
			t.Errorf("kept %+v, %v", k, err)
		}
		other := kept(9, 9, 9)
		other.Pins.Iss = "https://other.example"
		if _, err := s.Save(t.Context(), other); !errors.Is(err, client.ErrStateForm) {
			t.Errorf("another registry's: %v", err)
		}
	}
	// A file that is damaged or can be touched by others is an error, never empty.
	for name, spoil := range map[string]func() error{
		"loose":   func() error { return os.Chmod(string(file), 0o644) },
		"garbage": func() error { return os.WriteFile(string(file), []byte("{}"), 0o600) },
		"empty":   func() error { return os.WriteFile(string(file), nil, 0o600) },
	} {
		if _, err := file.Save(t.Context(), kept(9, 9, 9)); err != nil {
			t.Fatal(err)
		}
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if _, err := file.Load(t.Context()); err == nil {
			t.Errorf("%s: loaded", name)
		}
		os.Remove(string(file))
	}
}
