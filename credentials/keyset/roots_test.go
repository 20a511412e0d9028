package keyset

import (
	"crypto"
	"errors"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
)

// change is one hand-over of the root, as the two tokens of a document.
func change(t *testing.T, old, next string, ver uint64, byOld, byNew crypto.Signer) []string {
	c := credentials.RootChangeClaims{
		Registered: credentials.NewRegistered(testIss, testJti, epoch, credentials.MaxRootChangeLife),
		Ver:        ver, Old: mustKey(t, testKey(old)).Members(), New: mustKey(t, testKey(next)).Members(),
	}
	return []string{sign(t, envelope.RootChange, byOld, c), sign(t, envelope.RootChange, byNew, c)}
}

// handedOver is a service whose root went from root to root2 to root3.
func handedOver(t *testing.T) *service {
	s := newService(t)
	s.entry(t, "root").State = credentials.KeyRetiring
	s.add(t, "root2", credentials.RoleRoot, credentials.KeyRetiring)
	s.add(t, "root3", credentials.RoleRoot, credentials.KeyActive)
	s.root = testKey("root3")
	s.roots = append(change(t, "root", "root2", 5, testKey("root"), testKey("root2")),
		change(t, "root2", "root3", 7, testKey("root2"), testKey("root3"))...)
	return s
}

func TestRootChangeIsWalkedFromAnyPin(t *testing.T) {
	for _, pinned := range []string{"root", "root2", "root3"} {
		s := handedOver(t)
		p := s.pins(t)
		p.Root = mustKey(t, testKey(pinned)).ID
		v, err := Open(s.document(t), p, epoch, 0)
		if err != nil {
			t.Fatalf("pinned at %s: %v", pinned, err)
		}
		if v.Pins().Root != mustKey(t, testKey("root3")).ID {
			t.Errorf("pinned at %s: the pin did not move to the newest root", pinned)
		}
	}
}

func TestRootChangeAfterRevocationOfTheOldRoot(t *testing.T) {
	s := handedOver(t)
	s.entry(t, "root").State = credentials.KeyRevoked
	s.unpublish(t, "root")
	if _, err := Open(s.document(t), s.pins(t), epoch, 0); err != nil {
		t.Fatalf("a reader that still pins the old root must get over: %v", err)
	}
}

func TestRootChangeRefused(t *testing.T) {
	evil := testKey("evil")
	for _, c := range []struct {
		name string
		edit func(*service, *Pins)
		want error
	}{
		{"only the old root signs", func(s *service, _ *Pins) {
			s.roots = change(t, "root", "root2", 5, testKey("root"), testKey("root"))
			s.root = testKey("root2")
		}, ErrChange},
		{"the new root's half is signed by a stranger", func(s *service, _ *Pins) {
			s.roots = change(t, "root", "root2", 5, testKey("root"), evil)
		}, ErrChange},
		{"the old root does not sign", func(s *service, _ *Pins) {
			s.roots = change(t, "root", "evil", 5, evil, evil)
			s.add(t, "evil", credentials.RoleRoot, credentials.KeyActive)
			s.root = evil
		}, ErrRoot},
		{"the old root's half names another old root", func(s *service, _ *Pins) {
			s.roots = change(t, "root2", "root3", 5, testKey("root"), testKey("root3"))
		}, ErrChange},
		{"the halves differ", func(s *service, _ *Pins) {
			s.roots[1] = change(t, "root", "root2", 6, testKey("root"), testKey("root2"))[1]
		}, ErrChange},
		{"half a pair", func(s *service, _ *Pins) { s.roots = s.roots[:3] }, ErrChange},
		{"pairs in the wrong order", func(s *service, _ *Pins) {
			s.roots = append(s.roots[2:4:4], s.roots[:2]...)
		}, ErrRoot},
		{"a change is left out", func(s *service, _ *Pins) { s.roots = s.roots[2:] }, ErrRoot},
		{"the old root signs a list after its hand-over", func(s *service, _ *Pins) {
			s.root = testKey("root")
			s.entry(t, "root").State = credentials.KeyActive
		}, ErrRoot},
		{"the new root signs a list from before", func(s *service, p *Pins) {
			s.list.Ver, s.fresh.Ver, p.Ver = 6, 6, 1
		}, ErrRollback},
		{"a newer pin and an old list", func(s *service, p *Pins) {
			s.root, s.roots = testKey("root"), nil
			p.Root = mustKey(t, testKey("root3")).ID
		}, ErrRoot},
		{"a change from the future", func(s *service, _ *Pins) {
			claims := credentials.RootChangeClaims{
				Registered: credentials.NewRegistered(testIss, testJti, epoch.Add(time.Hour), credentials.MaxRootChangeLife),
				Ver:        5, Old: mustKey(t, testKey("root")).Members(), New: mustKey(t, testKey("root2")).Members(),
			}
			s.roots[0] = sign(t, envelope.RootChange, testKey("root"), claims)
			s.roots[1] = sign(t, envelope.RootChange, testKey("root2"), claims)
		}, credentials.ErrNotYet},
		{"too many changes", func(s *service, _ *Pins) {
			for range maxRootChanges {
				s.roots = append(s.roots, s.roots[:2]...)
			}
		}, ErrChange},
		{"not a token", func(s *service, _ *Pins) { s.roots[0] = "x" }, ErrChange},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := handedOver(t)
			p := s.pins(t)
			c.edit(s, &p)
			if v, err := Open(s.document(t), p, epoch, 0); !errors.Is(err, c.want) || v != nil {
				t.Fatalf("got %v, want %v", err, c.want)
			}
		})
	}
}
