package baseline_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/registry/baseline"
)

const place = "stdio:files@abc"

// A kit is a folder with an operator.
type kit struct {
	t     *testing.T
	dir   string
	now   time.Time
	key   *keyring.Private
	store *baseline.Store
}

func newKit(t *testing.T) *kit {
	t.Helper()
	key, err := keyring.NewPrivate(envelope.EdDSA, rnd())
	if err != nil {
		t.Fatal(err)
	}
	k := &kit{t: t, dir: filepath.Join(t.TempDir(), "surface"), now: time.Unix(1_800_000_000, 0), key: key}
	k.store = k.open()
	return k
}

// operators knows one key.
func operators(key envelope.Key) envelope.Verifier {
	return envelope.NewVerifier(envelope.KeysFunc(func(_ envelope.Type, id credentials.KeyID) (envelope.Key, error) {
		if id != key.ID {
			return envelope.Key{}, envelope.ErrUnknownKey
		}
		return key, nil
	}))
}

func (k *kit) options() baseline.Options {
	return baseline.Options{Now: func() time.Time { return k.now }, Acts: operators(k.key.Key()), Audience: "pratique-registry/x"}
}

func (k *kit) open() *baseline.Store {
	k.t.Helper()
	s, err := baseline.Open(k.dir, k.options())
	if err != nil {
		k.t.Fatal(err)
	}
	return s
}

func (k *kit) signer(key *keyring.Private) *envelope.Signer {
	k.t.Helper()
	s, err := envelope.NewSigner(envelope.OperatorAct, key)
	if err != nil {
		k.t.Fatal(err)
	}
	return s
}

func (k *kit) update(change func(*baseline.Draft) error) *baseline.Baseline {
	k.t.Helper()
	b, err := k.store.Update(k.t.Context(), place, change)
	if err != nil {
		k.t.Fatal(err)
	}
	return b
}

func (k *kit) get() *baseline.Baseline {
	k.t.Helper()
	b, err := k.store.Get(place)
	if err != nil {
		k.t.Fatal(err)
	}
	return b
}

func tool(name string) baseline.Key { return baseline.Key{Kind: baseline.Tool, Name: name} }

func item(name, description string) (jsontext.Value, credentials.Digest) {
	raw, sum, err := canon.Metadata(fmt.Appendf(nil, `{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, name, description))
	if err != nil {
		panic(err)
	}
	return raw, sum
}

func pin(name, description, by string) func(*baseline.Draft) error {
	return func(d *baseline.Draft) error {
		raw, sum := item(name, description)
		_, err := d.Pin(tool(name), sum, raw, by)
		return err
	}
}

func observe(name, description string) func(*baseline.Draft) error {
	return func(d *baseline.Draft) error {
		raw, sum := item(name, description)
		d.Observe(tool(name), sum, raw, quarantine.Clear)
		return nil
	}
}

// TestBaselineSurvives: what was pinned is there in another store on the folder,
// with id, generation and version; and a store that held it notices a change by
// another.
func TestBaselineSurvives(t *testing.T) {
	k := newKit(t)
	if b := k.get(); b.Revision() != 0 || b.Seen() || len(b.Items()) != 0 {
		t.Fatalf("an upstream that was never seen: %+v", b)
	}
	k.update(func(d *baseline.Draft) error {
		d.Complete()
		return pin("read_file", "Reads.", baseline.ByFirstSight)(d)
	})
	first := k.get().Accepted(tool("read_file"))
	if first == nil || first.Gen != 1 || first.Ver != 1 || first.By != baseline.ByFirstSight {
		t.Fatalf("pinned: %+v", first)
	}
	other := k.open()
	b, err := other.Get(place)
	if err != nil || !b.Seen() || b.Accepted(tool("read_file")).ID != first.ID {
		t.Fatalf("read by another: %v %v", b, err)
	}
	if again := k.get(); again != k.get() {
		t.Error("an unchanged file was read twice") // also where the date is too fresh to trust: same bytes, same value
	}
	if _, err := other.Update(t.Context(), place, pin("read_file", "Reads a file.", baseline.ByWording)); err != nil {
		t.Fatal(err)
	}
	now := k.get().Accepted(tool("read_file"))
	if now.ID != first.ID || now.Ver != 2 || now.Gen != 1 || now.By != baseline.ByWording {
		t.Errorf("after another's change: %+v", now)
	}
	if r := k.update(func(*baseline.Draft) error { return nil }).Revision(); r != 2 {
		t.Errorf("an update without change made revision %d", r)
	}
}

// TestBaselineGone: what goes away is no longer accepted; the same name coming
// back is a new generation of the id.
func TestBaselineGone(t *testing.T) {
	k := newKit(t)
	k.update(pin("a", "A.", baseline.ByFirstSight))
	id := k.get().Accepted(tool("a")).ID
	b := k.update(func(d *baseline.Draft) error { d.Leave(tool("a")); return nil })
	if b.Accepted(tool("a")) != nil || !b.Known(tool("a")).Gone {
		t.Fatal("gone and still accepted")
	}
	a := k.update(pin("a", "A.", baseline.ByFirstSight)).Accepted(tool("a"))
	if a.ID != id || a.Gen != 2 || a.Ver != 1 {
		t.Errorf("back: %+v", a)
	}
}

// TestBaselineAcceptance: an operator's act accepts exactly what was reviewed:
// approving v4 does not approve v5 (O-09), nothing is accepted twice by one act,
// and nobody else's act counts.
func TestBaselineAcceptance(t *testing.T) {
	k := newKit(t)
	k.update(pin("a", "v3", baseline.ByFirstSight))
	k.update(observe("a", "v4"))
	act, err := k.store.SignAct(k.signer(k.key), k.get(), tool("a"), true)
	if err != nil {
		t.Fatal(err)
	}
	accept := func(token string) error {
		_, err := k.store.Update(t.Context(), place, func(d *baseline.Draft) error { _, err := d.Accept(token); return err })
		return err
	}
	k.update(observe("a", "v5"))
	if err := accept(act); !errors.Is(err, baseline.ErrStale) {
		t.Fatalf("v5 by an act for v4: %v", err)
	}
	stranger, _ := keyring.NewPrivate(envelope.EdDSA, rnd())
	forged, _ := k.store.SignAct(k.signer(stranger), k.get(), tool("a"), false)
	for _, bad := range []string{forged, "", act + "x", strings.Replace(act, ".", "..", 1)} {
		if err := accept(bad); !errors.Is(err, baseline.ErrAct) {
			t.Errorf("a forged act: %v", err)
		}
	}
	k.update(observe("a", "v4"))
	if err := accept(act); err != nil {
		t.Fatal(err)
	}
	_, want := item("a", "v4")
	a := k.get().Accepted(tool("a"))
	if a.Digest != want || a.Ver != 2 || a.By != baseline.ByOperator || !a.Loose || len(k.get().Waiting()) != 0 {
		t.Fatalf("accepted: %+v", a)
	}
	k.update(pin("a", "v3", baseline.ByWording))
	k.update(observe("a", "v4"))
	if err := accept(act); !errors.Is(err, baseline.ErrAct) {
		t.Errorf("used twice: %v", err)
	}
	late, _ := k.store.SignAct(k.signer(k.key), k.get(), tool("a"), false)
	k.now = k.now.Add(baseline.ActLife + time.Minute)
	if err := accept(late); !errors.Is(err, baseline.ErrAct) {
		t.Errorf("used late: %v", err)
	}
}

// TestBaselineAcceptanceStands: what was accepted stands long after the act's
// life, and falls when the key is no operator's any more.
func TestBaselineAcceptanceStands(t *testing.T) {
	k := newKit(t)
	k.update(observe("a", "v1"))
	act, _ := k.store.SignAct(k.signer(k.key), k.get(), tool("a"), false)
	k.update(func(d *baseline.Draft) error { _, err := d.Accept(act); return err })
	k.now = k.now.Add(1000 * time.Hour)
	b, err := k.open().Get(place)
	if err != nil || b.Accepted(tool("a")) == nil {
		t.Fatalf("after 1000 h: %v", err)
	}
	other, _ := keyring.NewPrivate(envelope.EdDSA, rnd())
	o := k.options()
	for name, acts := range map[string]envelope.Verifier{"another operator": operators(other.Key()), "none": nil} {
		o.Acts = acts
		s, err := baseline.Open(k.dir, o)
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Get(place)
		if err != nil || b.Accepted(tool("a")) != nil || !b.Known(tool("a")).Broken {
			t.Errorf("%s: still accepted (%v)", name, err)
		}
	}
}

// TestBaselineDamage: every changed byte, a shortened file, an older file and a
// file that vanished are errors by name; nothing is taken for first sight.
func TestBaselineDamage(t *testing.T) {
	k := newKit(t)
	k.update(pin("a", "v1", baseline.ByFirstSight))
	names, _ := filepath.Glob(filepath.Join(k.dir, "*.surface"))
	if len(names) != 1 {
		t.Fatal(names)
	}
	good, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, data []byte) {
		t.Helper()
		os.WriteFile(names[0], data, 0o600)
		for _, s := range []*baseline.Store{k.store, k.open()} {
			if b, err := s.Get(place); !errors.Is(err, baseline.ErrDamaged) || b != nil {
				t.Errorf("%s: %v", what, err)
			}
			if _, err := s.Update(t.Context(), place, pin("b", "b", baseline.ByFirstSight)); !errors.Is(err, baseline.ErrDamaged) {
				t.Errorf("%s, update: %v", what, err)
			}
		}
	}
	for i := range good {
		bad := append([]byte{}, good...)
		bad[i] ^= 1
		check(fmt.Sprintf("byte %d", i), bad)
	}
	check("cut", good[:len(good)-1])
	check("empty", []byte{})
	os.WriteFile(names[0], good, 0o644)
	os.Chmod(names[0], 0o644)
	if _, err := k.open().Get(place); !errors.Is(err, baseline.ErrDamaged) {
		t.Errorf("a file that others can read: %v", err)
	}
	os.Chmod(names[0], 0o600)
	k.update(pin("a", "v2", baseline.ByWording))
	k.get()
	os.WriteFile(names[0], good, 0o600)
	if _, err := k.store.Get(place); !errors.Is(err, baseline.ErrDamaged) {
		t.Errorf("an older file: %v", err)
	}
	os.Remove(names[0])
	if _, err := k.store.Get(place); !errors.Is(err, baseline.ErrDamaged) {
		t.Errorf("a file that vanished: %v", err)
	}
}

// TestBaselineSealed: with a key of the node, a file that sums up but was not
// sealed by it is damage: an item that says "first sight" cannot be written in.
func TestBaselineSealed(t *testing.T) {
	k := newKit(t)
	k.update(pin("a", "v1", baseline.ByFirstSight))
	o := k.options()
	sum := func(m []byte) []byte { s := sha256.Sum256(append([]byte("key"), m...)); return s[:] }
	o.Sign = func(m []byte) ([]byte, error) { return sum(m), nil }
	o.Verify = func(m, sig []byte) error {
		if string(sum(m)) != string(sig) {
			return errors.New("no")
		}
		return nil
	}
	s, err := baseline.Open(k.dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(place); !errors.Is(err, baseline.ErrDamaged) {
		t.Errorf("a plain sum where a seal is due: %v", err)
	}
	if _, err := s.Update(t.Context(), "stdio:other", pin("a", "v1", baseline.ByFirstSight)); err != nil {
		t.Fatal(err)
	}
	if b, err := s.Get("stdio:other"); err != nil || b.Accepted(tool("a")) == nil {
		t.Errorf("sealed: %v", err)
	}
}

// TestBaselineBounds: sizes, and how often an upstream can have its file written.
func TestBaselineBounds(t *testing.T) {
	k := newKit(t)
	written := 0
	for i := range 100 {
		before := k.get().Revision()
		if k.update(observe("a", fmt.Sprint(i))).Revision() > before {
			written++
		}
	}
	if written != 60 {
		t.Errorf("%d writes at once", written)
	}
	k.now = k.now.Add(10 * time.Second)
	for i := range 10 {
		before := k.get().Revision()
		if k.update(observe("a", fmt.Sprint("later", i))).Revision() > before {
			written++
		}
	}
	if written != 62 {
		t.Errorf("%d writes after 10 s", written)
	}
	big := make(jsontext.Value, baseline.MaxItem+1)
	_, err := k.store.Update(t.Context(), place, func(d *baseline.Draft) error {
		_, err := d.Pin(tool("big"), credentials.Digest{1}, big, baseline.ByFirstSight)
		return err
	})
	if !errors.Is(err, baseline.ErrLimit) {
		t.Errorf("a large item: %v", err)
	}
}

// TestBaselineConcurrent: stores of one folder lose none of each other's changes,
// also at the very first.
func TestBaselineConcurrent(t *testing.T) {
	k := newKit(t)
	var all sync.WaitGroup
	for i := range 4 {
		s := k.open()
		all.Go(func() {
			for j := range 10 {
				if _, err := s.Update(t.Context(), place, pin(fmt.Sprintf("t%d_%d", i, j), "x", baseline.ByFirstSight)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := len(k.get().Items()); n != 40 || k.get().Revision() != 40 {
		t.Errorf("%d items at revision %d", n, k.get().Revision())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := k.store.Update(t.Context(), place, func(*baseline.Draft) error {
		_, err := k.open().Update(ctx, place, func(*baseline.Draft) error { return nil })
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("waiting for the lock: %v", err)
	}
}

// TestBaselineMemory: the variant without a folder does the same.
func TestBaselineMemory(t *testing.T) {
	k := newKit(t)
	k.store = baseline.NewMemory(k.options())
	k.update(pin("a", "v1", baseline.ByFirstSight))
	k.update(observe("a", "v2"))
	if b := k.get(); b.Accepted(tool("a")) == nil || b.Pending(tool("a")) == nil || b.Pending(tool("a")).Was != b.Accepted(tool("a")).Digest {
		t.Error("memory")
	}
	if o, err := k.store.Origins(); err != nil || len(o) != 1 || o[0] != place {
		t.Error(o, err)
	}
}

// TestBaselineSecretLost: a folder with baselines whose secret is gone does not
// get another: launches would all have changed, or places have other names.
func TestBaselineSecretLost(t *testing.T) {
	k := newKit(t)
	k.update(pin("a", "v1", baseline.ByFirstSight))
	os.Remove(filepath.Join(k.dir, "secret"))
	if _, err := baseline.Open(k.dir, k.options()); !errors.Is(err, baseline.ErrDamaged) {
		t.Errorf("%v", err)
	}
}
