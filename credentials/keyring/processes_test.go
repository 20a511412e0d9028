package keyring

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/secret"
)

// pair opens one folder twice, as two processes would.
func pair(t *testing.T) (a, b *Ring, c *clock) {
	dir, c := newDir(t), newClock()
	return open(t, dir, c.options()), open(t, dir, c.options()), c
}

// TestOthersChangesAreSeen: without being told, within Poll; at once by Reload.
func TestOthersChangesAreSeen(t *testing.T) {
	a, b, c := pair(t)
	tok, _ := b.SignToken(envelope.Handle, claims(b))
	old := activeKid(t, a, credentials.RoleHandle)
	if _, err := a.Revoke(old, "compromise"); err != nil {
		t.Fatal(err)
	}
	epoch := b.Epoch()
	c.Add(time.Second)
	if b.Epoch() == epoch {
		t.Error("epoch stays")
	}
	if _, err := envelope.NewVerifier(b).Verify(envelope.Handle, tok); !errors.Is(err, envelope.ErrRevokedKey) {
		t.Errorf("after a poll: %v", err)
	}
	usable(t, b)
	if _, err := b.Revoke(activeKid(t, b, credentials.RoleHandle), "again"); err != nil {
		t.Fatal(err)
	}
	if err := a.Reload(); err != nil || a.Ver() != b.Ver() {
		t.Errorf("reload: %v, %d and %d", err, a.Ver(), b.Ver())
	}
	usable(t, a)
}

// TestLostRace: whoever loses the compare-and-swap reads again. A rotation is
// then in conflict, since the wish was about what is gone; a revocation by key
// is carried out all the same.
func TestLostRace(t *testing.T) {
	a, b, c := pair(t)
	c.Add(time.Hour)
	once := sync.Once{}
	b.o.beforeLock = func() {
		once.Do(func() {
			if _, err := a.Rotate(credentials.RoleHandle); err != nil {
				t.Error(err)
			}
		})
	}
	if _, err := b.Rotate(credentials.RoleHandle); !errors.Is(err, ErrConflict) {
		t.Errorf("rotation that lost: %v", err)
	}
	if b.Ver() != 2 || activeKid(t, a, credentials.RoleHandle) != activeKid(t, b, credentials.RoleHandle) {
		t.Error("the loser did not read again")
	}
	if _, err := b.Rotate(credentials.RoleHandle); !errors.Is(err, ErrTooEarly) {
		t.Errorf("rotated twice: %v", err)
	}
	once = sync.Once{}
	kid := activeKid(t, b, credentials.RoleHandle)
	b.o.beforeLock = func() {
		once.Do(func() {
			if _, err := a.Rotate(credentials.RoleLabel); err != nil {
				t.Error(err)
			}
		})
	}
	if _, err := b.Revoke(kid, "compromise"); err != nil {
		t.Errorf("revocation that lost: %v", err)
	}
	if b.Ver() != 4 {
		t.Errorf("version %d", b.Ver())
	}
	usable(t, b)
	a.Reload()
	usable(t, a)
}

// TestManyTickers: eight rings on one folder tick at once through four months;
// nothing rotates twice, and no token signed by any of them is refused by
// another while it lives.
func TestManyTickers(t *testing.T) {
	dir, c := newDir(t), newClock()
	var rings []*Ring
	for range 8 {
		rings = append(rings, open(t, dir, c.options()))
	}
	var refused atomic.Int64
	for range 40 {
		c.Add(3 * 24 * time.Hour)
		var wg sync.WaitGroup
		for i, r := range rings {
			wg.Go(func() {
				if _, err := r.Tick(c.Now()); err != nil {
					t.Error(err)
				}
				tok, err := r.SignToken(envelope.Handle, claims(r))
				if err != nil {
					t.Error(err)
					return
				}
				other := rings[(i+3)%len(rings)]
				if err := other.Reload(); err != nil {
					t.Error(err)
				}
				if _, err := envelope.NewVerifier(other).Verify(envelope.Handle, tok); err != nil {
					refused.Add(1)
				}
			})
		}
		wg.Wait()
	}
	if n := refused.Load(); n != 0 {
		t.Errorf("%d good tokens refused", n)
	}
	for _, r := range rings {
		r.Reload()
		if r.Ver() != rings[0].Ver() {
			t.Errorf("versions %d and %d", r.Ver(), rings[0].Ver())
		}
	}
	if n := len(of(rings[0].view.Load().man.slots(), credentials.RoleHandle, published)); n != 1 {
		t.Errorf("%d successors", n)
	}
	usable(t, rings[0])
}

// TestConcurrentUse: signing, verifying and rotating at once, for the race
// detector; no signature is lost to a rotation.
func TestConcurrentUse(t *testing.T) {
	r, c := newRing(t)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				tok, err := r.SignToken(envelope.Handle, claims(r))
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := envelope.NewVerifier(r).Verify(envelope.Handle, tok); err != nil {
					t.Error(err)
					return
				}
				r.Epoch()
				r.List()
			}
		})
	}
	for range 10 {
		c.Add(16 * time.Minute)
		if _, err := r.Rotate(credentials.RoleHandle); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	wg.Wait()
	usable(t, r)
}

// TestRootOffline: with the root away the ring signs, verifies and serves as
// before; what needs a new list is refused by name until the root is handed in.
func TestRootOffline(t *testing.T) {
	for _, pass := range []secret.Value{{}, secret.FromString("far away")} {
		r, c := newRing(t)
		r.o.WorkFactor = 2
		out := t.TempDir()
		files, err := r.TakeOffline(out, pass)
		if err != nil || len(files) != 2 {
			t.Fatal(files, err)
		}
		for _, i := range r.List() {
			if i.Role == credentials.RoleRoot && i.Private != "offline" {
				t.Errorf("root key is %s", i.Private)
			}
		}
		checkFiles(t, r)
		again := open(t, r.dir, c.options())
		c.Add(time.Hour)
		if _, err := again.Document(c.Now(), Inputs{}); err != nil {
			t.Errorf("document: %v", err)
		}
		if _, err := again.SignToken(envelope.Handle, claims(again)); err != nil {
			t.Errorf("sign: %v", err)
		}
		if _, err := again.SignToken(envelope.KeySet, claims(again)); !errors.Is(err, ErrRootOffline) {
			t.Errorf("sign a list: %v", err)
		}
		leaked := activeKid(t, again, credentials.RoleHandle)
		ver := again.Ver()
		for name, f := range map[string]func() error{
			"rotate": func() error { _, err := again.Rotate(credentials.RoleHandle); return err },
			"revoke": func() error { _, err := again.Revoke(leaked, "compromise"); return err },
			"root":   func() error { _, err := again.Rotate(credentials.RoleRoot); return err },
		} {
			if err := f(); !errors.Is(err, ErrRootOffline) || again.Ver() != ver {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := again.Generate(credentials.RoleHandle, ""); err != nil {
			t.Errorf("a pending key needs no list: %v", err)
		}
		var roots []*Private
		for _, f := range files {
			p, err := LoadKeyFile(f, pass)
			if err != nil {
				t.Fatal(err)
			}
			roots = append(roots, p)
		}
		stranger, _ := NewPrivate(envelope.EdDSA, nil)
		if err := again.HandIn(stranger); !errors.Is(err, ErrNotFound) {
			t.Errorf("a stranger's root: %v", err)
		}
		if err := again.HandIn(roots[0], roots[1]); err != nil {
			t.Fatal(err)
		}
		if _, err := again.Rotate(credentials.RoleHandle); err != nil {
			t.Errorf("rotate with the root: %v", err)
		}
		if _, err := again.Revoke(leaked, "compromise"); err != nil {
			t.Errorf("revoke with the root: %v", err)
		}
		if _, err := again.Rotate(credentials.RoleRoot); err != nil {
			t.Errorf("rotate the root: %v", err)
		}
		if n := len(again.view.Load().man.Roots); n != 2 {
			t.Errorf("%d root changes", n)
		}
		if err := again.HandIn(); err != nil {
			t.Error(err)
		}
		c.Add(time.Hour)
		if _, err := again.Rotate(credentials.RoleLabel); !errors.Is(err, ErrRootOffline) {
			t.Errorf("after the root was taken back: %v", err)
		}
		if _, err := os.Stat(filepath.Join(out, filepath.Base(files[0]))); err != nil {
			t.Error(err)
		}
	}
}

func TestExportPrivate(t *testing.T) {
	r, _ := newRing(t)
	kid := activeKid(t, r, credentials.RoleLabel)
	if _, err := r.ExportPrivate(kid, secret.Value{}); !errors.Is(err, ErrPassphrase) {
		t.Errorf("without passphrase: %v", err)
	}
	pass := secret.FromString("p")
	text, err := r.ExportPrivate(kid, pass)
	if err != nil {
		t.Fatal(err)
	}
	p, err := parseKey(text, pass)
	if err != nil || p.Key().ID != kid || !p.Protected() {
		t.Errorf("read back: %v", err)
	}
	if _, err := r.ExportPrivate("x", pass); !errors.Is(err, ErrNotFound) {
		t.Errorf("no key: %v", err)
	}
}
