package client_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyset"
)

func newKeys(t testing.TB, f *fake, edit func(*client.KeysOptions, *client.Trust)) *client.Keys {
	t.Helper()
	o := client.KeysOptions{Network: f.network()}
	tr := client.Trust{Roots: []credentials.KeyID{f.root()}}
	if edit != nil {
		edit(&o, &tr)
	}
	k, err := client.NewKeys(fakeURL, tr, &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return k
}

// withKid is a handle that claims to be signed by a key of this id.
func withKid(handle, kid string) string {
	head := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"EdDSA","kid":"` + kid + `","typ":"tool-handle+jwt"}`))
	for i := range handle {
		if handle[i] == '.' {
			return head + handle[i:]
		}
	}
	return handle
}

func randomKid() string {
	var b [32]byte
	rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// stranger is a handle signed by a key that was never in the key set.
func stranger(t testing.TB, f *fake) string {
	s, err := envelope.NewSigner(envelope.Handle, key("stranger"))
	if err != nil {
		t.Fatal(err)
	}
	owner := keyOf(t, "owner")
	tok, err := s.Sign(&credentials.HandleClaims{
		Registered: credentials.NewRegistered(fakeURL, someJti, f.now(), time.Hour),
		Sub:        owner.ID.Principal(), Aud: fakeURL, ToolID: toolPay, Gen: 1, Ver: 1, Mdg: credentials.Digest{1},
		Act: credentials.AllActions(), Cnf: credentials.Confirmation{Jkt: owner.ID},
	})
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// TestCaseO12JWKSStale is case O-12, steps 1 to 7, with the verifier's key
// source; the control is tried in every step.
func TestCaseO12JWKSStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		f := newFake(t, time.Now)
		v := newKeys(t, f, nil)
		defer v.Close()
		good := func(step, h string) {
			t.Helper()
			if _, err := v.Handle(ctx, h); err != nil {
				t.Errorf("step %s: refused: %v", step, err)
			}
		}
		control := stranger(t, f)
		bad := func(step, h string) {
			t.Helper()
			if _, err := v.Handle(ctx, h); !errors.Is(err, envelope.ErrUnknownKey) {
				t.Errorf("step %s: want unknown key, got %v", step, err)
			}
		}

		// 1: H1 by k1.
		h1 := f.handle("owner")
		good("1", h1)

		// 2: rotate. k2, published all along, signs; then its successor has to,
		// at once, so that V meets a key that it has never heard of.
		k1 := f.activeKid(credentials.RoleHandle)
		if _, err := f.ring.Rotate(credentials.RoleHandle); err != nil {
			t.Fatal(err)
		}
		good("2", f.handle("owner")) // by the published successor: no fetch needed
		if n := f.fetches.Load(); n != 1 {
			t.Errorf("step 2: %d fetches, want the first one only", n)
		}
		if _, err := f.ring.Revoke(f.activeKid(credentials.RoleHandle), "test"); err != nil {
			t.Fatal(err)
		}
		h2 := f.handle("owner")
		if f.activeKid(credentials.RoleHandle) == k1 {
			t.Fatal("rotation did nothing")
		}

		// 3: accepted on first try.
		good("3", h2)
		bad("3", control)
		good("3", h1)

		// 4 and 5: 1,000 random kids within 5 s, H1 and H2 in between.
		time.Sleep(client.SeekEvery) // the worst case: a look is allowed again
		before := f.fetches.Load()
		for i := range 1000 {
			bad("4", withKid(h1, randomKid()))
			if i%20 == 0 {
				time.Sleep(100 * time.Millisecond)
				good("5", h1)
				good("5", h2)
				bad("5", control)
			}
		}
		if n := f.fetches.Load() - before; n > 3 {
			t.Errorf("step 4: %d fetches for 1,000 unknown kids in 5 s, want at most 3", n)
		}

		// 6: a bad answer changes nothing.
		status := v.Status()
		for name, answer := range map[string]http.HandlerFunc{
			"500": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
			"html": func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				io.WriteString(w, "<html>")
			},
			"json": func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, `{"keys":[]}`)
			},
			"refused": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(0) },
		} {
			f.set(func() { f.jwks = answer })
			for range 4 {
				time.Sleep(40 * time.Second) // past Refresh and past SeekEvery
				good("6 "+name, h1)
				good("6 "+name, h2)
				bad("6 "+name, withKid(h1, randomKid()))
				bad("6 "+name, control)
			}
		}
		if v.Status().Version != status.Version || v.Status().Failures == 0 {
			t.Errorf("step 6: %+v", v.Status())
		}
		// ... for the documented time, and then nothing verifies.
		time.Sleep(client.DefaultMaxStale)
		if _, err := v.Handle(ctx, f.handle("owner")); !errors.Is(err, keyset.ErrStale) {
			t.Errorf("step 6: after the bound: %v", err)
		}

		// 7: no fetch per request, whatever Cache-Control says.
		f.set(func() {
			f.jwks = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Cache-Control", "no-cache, no-store, max-age=0")
				w.Write(f.document())
			}
		})
		time.Sleep(client.DefaultRefresh)
		h1 = f.handle("owner")
		good("7", h1)
		before = f.fetches.Load()
		for range 100 {
			good("7", h1)
		}
		bad("7", control) // not looked for: it was, not long ago
		if n := f.fetches.Load() - before; n > 1 {
			t.Errorf("step 7: %d fetches for 100 requests", n)
		}
	})
}

// TestCaseO14Skew is the verifier's half of case O-14: its clock against the
// issuer's, with one tolerance for iat, nbf and exp.
func TestCaseO14Skew(t *testing.T) {
	for _, c := range []struct {
		name string
		skew time.Duration
		want error
	}{
		{"45 s behind", -45 * time.Second, nil},
		{"exact", 0, nil},
		{"45 s ahead", 45 * time.Second, nil},
		{"10 min behind", -10 * time.Minute, credentials.ErrNotYet},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t, time.Now)
				clock := func() time.Time { return time.Now().Add(c.skew) }
				v := newKeys(t, f, func(o *client.KeysOptions, _ *client.Trust) { o.Now = clock })
				defer v.Close()
				if _, err := v.Handle(t.Context(), f.handle("owner")); !errors.Is(err, c.want) {
					t.Errorf("fresh handle: got %v, want %v", err, c.want)
				}
				l := newLabels(t, f, func(o *client.LabelOptions, _ *client.Trust) { o.Now = clock })
				defer l.Close()
				if _, err := l.Verify(t.Context(), f.labelOf(nil), shownPay(t)); !errors.Is(err, c.want) {
					t.Errorf("fresh label: got %v, want %v", err, c.want)
				}
			})
		})
	}
	t.Run("expired 5 min ago", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(t, time.Now)
			v := newKeys(t, f, nil)
			defer v.Close()
			h := f.handle("owner")
			time.Sleep(time.Hour + 5*time.Minute)
			if _, err := v.Handle(t.Context(), h); !errors.Is(err, credentials.ErrExpired) {
				t.Errorf("got %v, want %v", err, credentials.ErrExpired)
			}
		})
	})
	t.Run("plain rotation", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(t, time.Now)
			v := newKeys(t, f, nil)
			defer v.Close()
			h1, k1 := f.handle("owner"), f.activeKid(credentials.RoleHandle)
			if _, err := f.ring.Rotate(credentials.RoleHandle); err != nil {
				t.Fatal(err)
			}
			h2 := f.handle("owner")
			if u, err := envelope.Precheck(h2, envelope.Handle); err != nil || u.KeyID == k1 {
				t.Fatalf("new handles carry %v, %v", u.KeyID, err)
			}
			time.Sleep(59 * time.Minute) // until its own end
			for _, h := range []string{h1, h2} {
				if _, err := v.Handle(t.Context(), h); err != nil {
					t.Errorf("after a plain rotation: %v", err)
				}
			}
		})
	})
	t.Run("emergency", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(t, time.Now)
			v := newKeys(t, f, nil)
			defer v.Close()
			h1 := f.handle("owner")
			if _, err := v.Handle(t.Context(), h1); err != nil {
				t.Fatal(err)
			}
			if _, err := f.ring.Revoke(f.activeKid(credentials.RoleHandle), "k1 leaked"); err != nil {
				t.Fatal(err)
			}
			// Within the bound of a client that asks every Refresh.
			time.Sleep(client.DefaultRefresh)
			v.Handle(t.Context(), h1)
			synctest.Wait()
			if _, err := v.Handle(t.Context(), h1); !errors.Is(err, envelope.ErrRevokedKey) {
				t.Errorf("got %v, want %v", err, envelope.ErrRevokedKey)
			}
			if _, err := v.Handle(t.Context(), f.handle("owner")); err != nil {
				t.Errorf("re-minted: %v", err)
			}
		})
	})
}

// One kid that is in no set is looked for once, not whenever a look is allowed
// again; when a refresh brings it, it is good at once.
func TestMissingKidIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, time.Now)
		v := newKeys(t, f, nil)
		defer v.Close()
		h := f.handle("owner")
		if _, err := v.Handle(t.Context(), h); err != nil {
			t.Fatal(err)
		}
		kid := randomKid()
		for range 8 {
			if _, err := v.Handle(t.Context(), withKid(h, kid)); !errors.Is(err, envelope.ErrUnknownKey) {
				t.Errorf("got %v", err)
			}
			time.Sleep(client.SeekEvery + time.Second)
		}
		if n := f.seeks.Load(); n != 1 {
			t.Errorf("looked for %d times in 4 minutes", n)
		}
		// Successors appear while no look is allowed.
		v.Handle(t.Context(), withKid(h, randomKid()))
		for range 2 {
			if _, err := f.ring.Revoke(f.activeKid(credentials.RoleHandle), "test"); err != nil {
				t.Fatal(err)
			}
		}
		h = f.handle("owner")
		if _, err := v.Handle(t.Context(), h); !errors.Is(err, envelope.ErrUnknownKey) {
			t.Errorf("no look was allowed: %v", err)
		}
		time.Sleep(client.DefaultRefresh)
		v.Handle(t.Context(), h)
		synctest.Wait()
		if _, err := v.Handle(t.Context(), h); err != nil {
			t.Errorf("after a refresh: %v", err)
		}
	})
}

// A thousand callers at once, none of whom has keys yet, fetch once.
func TestFirstFetchIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, time.Now)
		v := newKeys(t, f, nil)
		defer v.Close()
		h := f.handle("owner")
		slow := make(chan struct{})
		f.set(func() {
			f.jwks = func(w http.ResponseWriter, _ *http.Request) {
				<-slow
				w.Header().Set("Content-Type", "application/json")
				w.Write(f.document())
			}
		})
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				if _, err := v.Handle(t.Context(), h); err != nil {
					t.Error(err)
				}
			})
		}
		// One caller who gives up takes nobody along.
		ctx, cancel := context.WithCancel(t.Context())
		wg.Go(func() {
			if _, err := v.Handle(ctx, h); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(slow)
		wg.Wait()
		if n := f.fetches.Load(); n != 1 {
			t.Errorf("%d fetches", n)
		}
	})
}

// While there is no good set at all, failures are not repeated per request.
func TestFirstFetchFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, time.Now)
		f.jwks = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }
		v := newKeys(t, f, nil)
		defer v.Close()
		h := f.handle("owner")
		for range 1000 {
			if _, err := v.Handle(t.Context(), h); !errors.Is(err, client.ErrNoKeys) {
				t.Fatalf("got %v", err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		if n := f.fetches.Load(); n > 8 {
			t.Errorf("%d fetches in 10 s", n)
		}
		f.set(func() { f.jwks = nil })
		time.Sleep(client.DefaultRefresh)
		if _, err := v.Handle(t.Context(), h); err != nil {
			t.Errorf("after it came back: %v", err)
		}
	})
}

// A hanging server costs the callers of a good set nothing, and does not hang
// Close.
func TestHangingServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, time.Now)
		v := newKeys(t, f, nil)
		h := f.handle("owner")
		if _, err := v.Handle(t.Context(), h); err != nil {
			t.Fatal(err)
		}
		f.set(func() {
			f.jwks = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		})
		time.Sleep(client.DefaultRefresh)
		start := time.Now()
		for range 10 {
			if _, err := v.Handle(t.Context(), h); err != nil {
				t.Error(err)
			}
		}
		if time.Since(start) != 0 {
			t.Errorf("callers waited %v", time.Since(start))
		}
		if err := v.Close(); err != nil {
			t.Error(err)
		}
		if _, err := v.Handle(t.Context(), h); err == nil {
			t.Error("verifies after Close")
		}
	})
}
