package observed_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/observe"
	"github.com/pratique-dev/pratique/registry/observed"
)

// TestBroke: from a contradiction on, what exactly this version returned before it,
// or returns while nobody has released it, is of a tool that contradicts what it
// declares: in every process, and whatever the registry was told meanwhile.
func TestBroke(t *testing.T) {
	for _, owner := range []string{"", "owner"} {
		t.Run("registered by "+owner, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "observed")
			a := open(t, dir, observed.Options{}).Place(place)
			b := open(t, dir, observed.Options{}).Place(place)
			s, now := subject("pay"), time.Now()
			v := observed.Version{Key: s.Key, Tool: s.Tool, Gen: s.Gen, Ver: s.Ver}
			broke := func(p *observed.Place, v observed.Version, since time.Time) bool {
				t.Helper()
				bad, err := p.Broke(v, since.UnixMilli())
				if err != nil {
					t.Fatal(err)
				}
				return bad
			}
			breaches := func() uint64 {
				t.Helper()
				n, err := b.Breaches()
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			doubt := bad(now.Add(-time.Minute))
			doubt.Seen[0] = observe.Sighting{Sign: observe.ErrorOrders, Link: observe.Own}
			add(t, a, s, "", doubt)
			before := breaches()
			if broke(a, v, time.Time{}) {
				t.Error("for a doubt")
			}
			if err := a.Add(s, credentials.KeyID(owner), bad(now), observed.Cite{Spool: "spool_x", Entry: 3}); err != nil {
				t.Fatal(err)
			}
			if breaches() == before {
				t.Error("the head stays")
			}
			other, later := v, v
			other.Name, later.Ver = "mail", later.Ver+1
			for i, p := range []*observed.Place{a, b, open(t, dir, observed.Options{}).Place(place)} {
				if !broke(p, v, now) || !broke(p, v, now.Add(time.Hour)) {
					t.Errorf("%d: not known", i)
				}
				if broke(p, other, now) || broke(p, later, now) {
					t.Errorf("%d: of another version", i)
				}
			}
			if owner != "" { // the registry speaks of it from now on, and may release it
				due, err := a.Due()
				if err != nil || len(due) != 1 {
					t.Fatal(due, err)
				}
				if err := due[0].Told(); err != nil {
					t.Fatal(err)
				}
			} else if err := a.Release(s, now.Add(time.Second)); err != nil {
				t.Fatal(err)
			}
			if !broke(b, v, now) || broke(b, v, now.Add(time.Second)) {
				t.Error("a release is of what comes after it")
			}
		})
	}
}

// TestBrokeDamaged: where the accounts cannot be read nothing is known.
func TestBrokeDamaged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "observed")
	p := open(t, dir, observed.Options{}).Place(place)
	add(t, p, subject("pay"), "", bad(time.Now()))
	names, err := filepath.Glob(filepath.Join(dir, "*.observed"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	if err := os.WriteFile(names[0], []byte(fmt.Sprint(time.Now())), 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Millisecond)
	if _, err := p.Breaches(); !errors.Is(err, observed.ErrDamaged) {
		t.Errorf("head: %v", err)
	}
	if bad, err := p.Broke(observed.Version{}, 0); bad || !errors.Is(err, observed.ErrDamaged) {
		t.Errorf("%v, %v", bad, err)
	}
}

// TestMovedIsNoBreach: that another text is listed turns the label, and withdraws
// nothing that the version returned.
func TestMovedIsNoBreach(t *testing.T) {
	p := open(t, filepath.Join(t.TempDir(), "observed"), observed.Options{}).Place(place)
	now, s := time.Now(), subject("notes")
	add(t, p, s, "", observe.Observation{At: now.UnixMilli(), Seen: []observe.Sighting{{Sign: observe.MetadataMoved, Link: observe.Own}}})
	if c, ok := p.Of(entry(s), now); !ok || c != labels.Violated {
		t.Errorf("content %v", c)
	}
	v := observed.Version{Key: s.Key, Tool: s.Tool, Gen: s.Gen, Ver: s.Ver}
	if broke, err := p.Broke(v, now.Add(-time.Minute).UnixMilli()); broke || err != nil {
		t.Errorf("broke %v, %v", broke, err)
	}
}
