package client

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/keyset"
)

// Errors of trust in a root key.
var (
	// ErrNoTrust means that there is neither a pinned root key nor a place to
	// record the first one that is met.
	ErrNoTrust = errors.New("no root key is pinned, and there is no state to record the first one in")
	// ErrRoots means that the recorded root does not follow from any pinned one:
	// the registry was set up anew, or somebody else's keys were recorded.
	ErrRoots = errors.New("the recorded root key does not follow from a pinned one")
	// ErrRootsFile refuses a file of root thumbprints.
	ErrRootsFile = errors.New("file of root keys is not one thumbprint of 43 characters per line")
)

// Trust says which root key is believed, and where what was seen is kept. It
// must have one of the two at least; with both, the root met first must be one
// of Roots or follow from it through changes that old and new root signed.
type Trust struct {
	// Roots are thumbprints of root keys, from a file (LoadRoots) or a
	// configuration that came another way than the keys.
	Roots []credentials.KeyID
	// State keeps the root of the first use and the highest versions seen. Nil
	// keeps them for the life of the process, and then wants Roots.
	State State
}

func (t Trust) check() (Trust, error) {
	for _, r := range t.Roots {
		if _, err := credentials.ParseKeyID(string(r)); err != nil {
			return t, fmt.Errorf("root: %w", err)
		}
	}
	if t.State == nil {
		if len(t.Roots) == 0 {
			return t, ErrNoTrust
		}
		t.State = &MemoryState{}
	}
	t.Roots = slices.Clone(t.Roots)
	return t, nil
}

// LoadRoots reads root thumbprints from a file, one per line; blank lines and
// those that begin with # are passed over.
func LoadRoots(path string) ([]credentials.KeyID, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil {
		return nil, err
	}
	var roots []credentials.KeyID
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		r, err := credentials.ParseKeyID(line)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, ErrRootsFile)
		}
		roots = append(roots, r)
	}
	if len(roots) == 0 {
		return nil, fmt.Errorf("%s: %w", path, ErrRootsFile)
	}
	return roots, nil
}

// open verifies a document by what is recorded, else by what is pinned, else by
// itself, this once.
func (k *Keys) open(doc []byte, now time.Time) (*keyset.View, error) {
	pins := k.mem.pins()
	if pins.Iss == "" {
		pins.Iss = k.o.Issuer
	} else if k.o.Issuer != "" && k.o.Issuer != pins.Iss {
		return nil, credentials.ErrIssuer
	}
	if pins.Root != "" {
		v, err := keyset.Open(doc, pins, now, k.o.MaxStale)
		if err != nil {
			return nil, err
		}
		return v, k.link(doc, v, pins.Root, now)
	}
	if len(k.trust.Roots) == 0 {
		first, err := keyset.FirstUse(doc)
		if err != nil {
			return nil, err
		}
		pins.Root = first.Root
		return keyset.Open(doc, pins, now, k.o.MaxStale)
	}
	var errs []error
	for _, r := range k.trust.Roots {
		pins.Root = r
		v, err := keyset.Open(doc, pins, now, k.o.MaxStale)
		if err == nil {
			return v, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// link makes sure that a recorded root is one of the pinned ones or follows from
// one. It needs to be found only once per recorded root.
func (k *Keys) link(doc []byte, v *keyset.View, recorded credentials.KeyID, now time.Time) error {
	k.mu.Lock()
	done := k.linked == recorded
	k.mu.Unlock()
	if done || len(k.trust.Roots) == 0 || slices.Contains(k.trust.Roots, recorded) {
		return nil
	}
	for _, r := range k.trust.Roots {
		p, err := keyset.Open(doc, keyset.Pins{Iss: v.Pins().Iss, Root: r}, now, k.o.MaxStale)
		if err == nil && p.Pins().Root == v.Pins().Root {
			k.mu.Lock()
			k.linked = recorded
			k.mu.Unlock()
			return nil
		}
	}
	return ErrRoots
}
