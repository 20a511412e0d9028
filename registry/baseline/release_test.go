package baseline_test

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/registry/baseline"
)

// withhold records an item whose text is not clear.
func withhold(name, description string, v quarantine.Verdict) func(*baseline.Draft) error {
	return func(d *baseline.Draft) error {
		raw, sum := item(name, description)
		d.Observe(tool(name), sum, raw, v)
		return nil
	}
}

func (k *kit) signRelease(key *keyring.Private, name, description string) string {
	k.t.Helper()
	_, sum := item(name, description)
	act, err := k.store.SignRelease(k.signer(key), k.get(), tool(name), sum, false)
	if err != nil {
		k.t.Fatal(err)
	}
	return act
}

func (k *kit) signCondemn(name, description string) string {
	k.t.Helper()
	_, sum := item(name, description)
	act, err := k.store.SignCondemn(k.signer(k.key), k.get(), tool(name), sum, false)
	if err != nil {
		k.t.Fatal(err)
	}
	return act
}

func (k *kit) release(act string) error {
	_, err := k.store.Update(k.t.Context(), place, func(d *baseline.Draft) error { _, err := d.Release(act); return err })
	return err
}

func (k *kit) condemn(act string) error {
	_, err := k.store.Update(k.t.Context(), place, func(d *baseline.Draft) error { _, err := d.Condemn(act); return err })
	return err
}

func (k *kit) newKey() *keyring.Private {
	k.t.Helper()
	key, err := keyring.NewPrivate(envelope.EdDSA, rnd())
	if err != nil {
		k.t.Fatal(err)
	}
	return key
}

// TestRelease: a withheld item becomes the accepted version, with the verdict in
// spite of which it is.
func TestRelease(t *testing.T) {
	k := newKit(t)
	k.update(pin("a", "one", baseline.ByFirstSight))
	k.update(withhold("a", "two", quarantine.Hostile))
	act := k.signRelease(k.key, "a", "two")
	if err := k.release(act); err != nil {
		t.Fatal(err)
	}
	for what, s := range map[string]*baseline.Store{"here": k.store, "after a restart": k.open()} {
		b, err := s.Get(place)
		if err != nil {
			t.Fatal(err)
		}
		_, sum := item("a", "two")
		a := b.Accepted(tool("a"))
		if a == nil || a.Digest != sum || a.Ver != 2 || a.By != baseline.ByOperator || a.Released != "hostile" || b.Pending(tool("a")) != nil {
			t.Errorf("%s: %+v", what, a)
		}
	}
	if err := k.release(act); err == nil {
		t.Error("an act was used twice")
	}
	// The same item once more, now as it is accepted: a release is of the same version.
	k.update(withhold("a", "two", quarantine.Suspect))
	if err := k.release(k.signRelease(k.key, "a", "two")); err != nil {
		t.Fatal(err)
	}
	if a := k.get().Accepted(tool("a")); a.Ver != 2 || a.Released != "suspect" {
		t.Errorf("released again: %+v", a)
	}
	// A version that comes later is another.
	k.update(withhold("a", "three", quarantine.Suspect))
	if b := k.get(); b.Pending(tool("a")) == nil || b.Accepted(tool("a")).Digest == b.Pending(tool("a")).Digest {
		t.Error("a later version counts as released")
	}
}

// TestReleaseRefused: whatever is not an operator's act for exactly this changes
// nothing.
func TestReleaseRefused(t *testing.T) {
	held := withhold("a", "bad", quarantine.Suspect)
	for name, c := range map[string]struct {
		do   func(k *kit, act string) string // between signing and use; the act that is used
		want error
	}{
		"as it should be": {func(_ *kit, act string) string { return act }, nil},
		"an agent's key": {func(k *kit, _ string) string {
			return k.signRelease(k.newKey(), "a", "bad")
		}, baseline.ErrAct},
		"expired": {func(k *kit, act string) string {
			k.now = k.now.Add(baseline.ActLife + time.Minute)
			return act
		}, baseline.ErrAct},
		"another digest waits": {func(k *kit, act string) string {
			k.update(withhold("a", "worse", quarantine.Suspect))
			return act
		}, baseline.ErrStale},
		"another verdict": {func(k *kit, act string) string {
			k.update(withhold("a", "bad", quarantine.Hostile))
			return act
		}, baseline.ErrStale},
		"another version came between": {func(k *kit, act string) string {
			k.update(pin("a", "good", baseline.ByRegistrant))
			k.update(held)
			return act
		}, baseline.ErrStale},
		"it went away": {func(k *kit, act string) string {
			k.update(func(d *baseline.Draft) error { d.Settle(tool("a")); return nil })
			return act
		}, baseline.ErrMissing},
		"an acceptance": {func(k *kit, _ string) string {
			act, err := k.store.SignAct(k.signer(k.key), k.get(), tool("a"), false)
			if err != nil {
				k.t.Fatal(err)
			}
			return act
		}, baseline.ErrAct},
		"a condemnation": {func(k *kit, _ string) string { return k.signCondemn("a", "bad") }, baseline.ErrAct},
		"of another origin": {func(k *kit, _ string) string {
			b, err := k.store.Update(k.t.Context(), "stdio:other@abc", held)
			if err != nil {
				k.t.Fatal(err)
			}
			_, sum := item("a", "bad")
			act, err := k.store.SignRelease(k.signer(k.key), b, tool("a"), sum, false)
			if err != nil {
				k.t.Fatal(err)
			}
			return act
		}, baseline.ErrAct},
		"of another name": {func(k *kit, _ string) string {
			k.update(withhold("b", "bad", quarantine.Suspect))
			act := k.signRelease(k.key, "b", "bad")
			k.update(func(d *baseline.Draft) error { d.Settle(tool("b")); return nil })
			return act
		}, baseline.ErrMissing},
		"of another kind": {func(k *kit, _ string) string {
			raw, sum := item("a", "bad")
			p := baseline.Key{Kind: baseline.Prompt, Name: "a"}
			b := k.update(func(d *baseline.Draft) error { d.Observe(p, sum, raw, quarantine.Suspect); return nil })
			act, err := k.store.SignRelease(k.signer(k.key), b, p, sum, false)
			if err != nil {
				k.t.Fatal(err)
			}
			k.update(func(d *baseline.Draft) error { d.Settle(p); return nil })
			return act
		}, baseline.ErrMissing},
		"damaged": {func(_ *kit, act string) string { return act[:len(act)-2] + "AA" }, baseline.ErrAct},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.update(held)
			act := c.do(k, k.signRelease(k.key, "a", "bad"))
			err := k.release(act)
			if !errors.Is(err, c.want) || c.want == nil && err != nil {
				t.Fatalf("%v, want %v", err, c.want)
			}
			if a := k.get().Accepted(tool("a")); (a != nil && a.Released != "") != (c.want == nil) {
				t.Errorf("released: %+v", a)
			}
		})
	}
}

// TestNotByTheRegistrant: an operator who registered a tool releases nothing of it
// (RULES.md 35).
func TestNotByTheRegistrant(t *testing.T) {
	for owner, want := range map[string]error{"own": baseline.ErrOwn, "another's": nil} {
		k := newKit(t)
		o := k.options()
		o.Own = func(_ string, key baseline.Key, by credentials.KeyID) bool {
			return owner == "own" && key == tool("a") && by == k.key.Key().ID
		}
		var err error
		if k.store, err = baseline.Open(k.dir, o); err != nil {
			t.Fatal(err)
		}
		k.update(withhold("a", "bad", quarantine.Suspect))
		if err := k.release(k.signRelease(k.key, "a", "bad")); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%s: %v", owner, err)
		}
	}
}

// TestAcceptIsNoRelease: accepting does not let through what is withheld for its
// text, nor what is condemned.
func TestAcceptIsNoRelease(t *testing.T) {
	k := newKit(t)
	accept := func() error {
		act, err := k.store.SignAct(k.signer(k.key), k.get(), tool("a"), false)
		if err != nil {
			t.Fatal(err)
		}
		_, err = k.store.Update(t.Context(), place, func(d *baseline.Draft) error { _, err := d.Accept(act); return err })
		return err
	}
	for _, v := range []quarantine.Verdict{quarantine.Suspect, quarantine.Hostile, quarantine.Missing} {
		k.update(withhold("a", "bad", v))
		if err := accept(); !errors.Is(err, baseline.ErrVerdict) {
			t.Errorf("%v: %v", v, err)
		}
	}
	k.update(observe("a", "good"))
	if err := k.condemn(k.signCondemn("a", "good")); err != nil {
		t.Fatal(err)
	}
	if err := accept(); !errors.Is(err, baseline.ErrCondemned) {
		t.Errorf("condemned: %v", err)
	}
	if err := k.release(k.signRelease(k.key, "a", "good")); err != nil {
		t.Fatal(err)
	}
	k.update(observe("a", "fine")) // the innocent twin
	if err := accept(); err != nil {
		t.Errorf("clear: %v", err)
	}
	_, sum := item("a", "fine")
	if _, err := k.store.SignRelease(k.signer(k.key), k.get(), tool("a"), sum, false); err != nil {
		t.Fatal(err)
	}
	if err := k.release(k.signRelease(k.key, "a", "fine")); !errors.Is(err, baseline.ErrNotHeld) {
		t.Errorf("release of what is clear: %v", err)
	}
}

// TestForgive: a release for what was observed of an accepted version is an act like
// any other, and accepts nothing.
func TestForgive(t *testing.T) {
	k := newKit(t)
	forgive := func(act string) error {
		_, err := k.store.Update(t.Context(), place, func(d *baseline.Draft) error { _, err := d.Forgive(act); return err })
		return err
	}
	k.update(pin("a", "one", baseline.ByFirstSight))
	act := k.signRelease(k.key, "a", "one")
	if err := k.release(act); !errors.Is(err, baseline.ErrNotHeld) {
		t.Errorf("release: %v", err)
	}
	if err := forgive(act); err != nil {
		t.Errorf("forgive: %v", err)
	}
	if err := forgive(act); !errors.Is(err, baseline.ErrAct) {
		t.Errorf("twice: %v", err)
	}
	if err := forgive(k.signRelease(k.newKey(), "a", "one")); !errors.Is(err, baseline.ErrAct) {
		t.Errorf("by a stranger: %v", err)
	}
	k.update(observe("b", "new"))
	if err := forgive(k.signRelease(k.key, "b", "new")); !errors.Is(err, baseline.ErrNotHeld) || k.get().Accepted(tool("b")) != nil {
		t.Errorf("of what waits: %v", err)
	}
}

// TestCondemn: a condemnation holds for one digest and version, in every process
// and after a restart, whoever is an operator, until a release.
func TestCondemn(t *testing.T) {
	k := newKit(t)
	k.update(pin("a", "one", baseline.ByFirstSight))
	k.update(pin("b", "one", baseline.ByFirstSight))
	other := k.open()
	if _, err := other.Get(place); err != nil {
		t.Fatal(err)
	}
	act := k.signCondemn("a", "one")
	if err := k.condemn(act); err != nil {
		t.Fatal(err)
	}
	_, one := item("a", "one")
	_, two := item("a", "two")
	stranger := k.options()
	stranger.Acts = operators(k.newKey().Key()) // the operator's key was revoked since
	revoked, err := baseline.Open(k.dir, stranger)
	if err != nil {
		t.Fatal(err)
	}
	for what, s := range map[string]*baseline.Store{"here": k.store, "in another process": other, "after a restart": k.open(), "of a revoked operator": revoked} {
		b, err := s.Get(place)
		if err != nil {
			t.Fatal(err)
		}
		c := b.Condemned(tool("a"), one)
		if c == nil || c.Gen != 1 || c.Ver != 1 || c.By != k.key.Key().ID || !b.CondemnedVersion(tool("a"), 1, 1) {
			t.Errorf("%s: %+v", what, c)
		}
		if b.Condemned(tool("a"), two) != nil || b.CondemnedVersion(tool("a"), 1, 2) || b.CondemnedVersion(tool("a"), 2, 1) || b.CondemnedVersion(tool("b"), 1, 1) {
			t.Errorf("%s: more is condemned than was", what)
		}
	}
	if err := k.condemn(act); !errors.Is(err, baseline.ErrAct) {
		t.Errorf("used twice: %v", err)
	}
	if err := k.condemn(k.signCondemn("a", "one")); err != nil {
		t.Errorf("condemned again: %v", err)
	}
	if n := len(k.get().Condemnations()); n != 1 {
		t.Errorf("%d condemnations", n)
	}
	if err := k.release(k.signRelease(k.key, "a", "one")); err != nil {
		t.Fatal(err)
	}
	if b := k.get(); b.Condemned(tool("a"), one) != nil || b.Accepted(tool("a")).Ver != 1 || b.Accepted(tool("a")).By != baseline.ByFirstSight {
		t.Errorf("after the release: %+v", b.Accepted(tool("a")))
	}
	if _, err := k.store.SignCondemn(k.signer(k.key), k.get(), tool("none"), one, false); !errors.Is(err, baseline.ErrMissing) {
		t.Errorf("of nothing: %v", err)
	}
	if _, err := k.store.SignCondemn(k.signer(k.key), k.get(), tool("a"), two, false); !errors.Is(err, baseline.ErrStale) {
		t.Errorf("of another digest: %v", err)
	}
}

// TestRevokedOperator: what a revoked operator released is shown no more, without
// anything else having changed, and is again when the doubt was a passing one.
func TestRevokedOperator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, known := newKit(t), true
		o := k.options()
		o.Acts = envelope.NewVerifier(envelope.KeysFunc(func(_ envelope.Type, id credentials.KeyID) (envelope.Key, error) {
			if !known || id != k.key.Key().ID {
				return envelope.Key{}, envelope.ErrUnknownKey
			}
			return k.key.Key(), nil
		}))
		k.store = baseline.NewMemory(o)
		k.update(withhold("a", "bad", quarantine.Suspect))
		if err := k.release(k.signRelease(k.key, "a", "bad")); err != nil {
			t.Fatal(err)
		}
		for _, now := range []bool{true, false, true} {
			known = now
			time.Sleep(2 * time.Second)
			if got := k.get().Accepted(tool("a")) != nil; got != now {
				t.Errorf("released is %v while the operator is one: %v", got, now)
			}
		}
	})
}

// sumLine is the seal of a store without keys.
func sumLine(body string) string {
	sum := sha256.Sum256([]byte("pratique/surface/v1\x00" + body))
	return "sum:" + base64.RawURLEncoding.EncodeToString(sum[:])
}

// TestReleaseMoved: a release that somebody moved to another version, digest or
// verdict in a file without a node's seal is none.
func TestReleaseMoved(t *testing.T) {
	k := newKit(t)
	k.update(withhold("a", "bad", quarantine.Hostile))
	if err := k.release(k.signRelease(k.key, "a", "bad")); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(k.dir, "*.surface"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	whole, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	for was, is := range map[string]string{`"released":"hostile"`: `"released":"suspect"`, `"ver":1`: `"ver":2`, `,"released":"hostile"`: ``} {
		changed := strings.Replace(string(whole), was, is, 1)
		if changed == string(whole) {
			t.Fatalf("no %s in %s", was, whole)
		}
		_, body, _ := strings.Cut(changed, "\n")
		_, body, _ = strings.Cut(body, "\n")
		if err := os.WriteFile(names[0], []byte("pratique-surface/1\n"+sumLine(body)+"\n"+body), 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := k.open().Get(place)
		if err != nil {
			t.Fatal(err)
		}
		if b.Accepted(tool("a")) != nil {
			t.Errorf("%s is believed", is)
		}
	}
}
