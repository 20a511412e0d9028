package keyring

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/durable"
)

// bootstrapIfNew makes the ring if the folder has none and Create is set. It
// never takes the place of a ring that lost its manifest: only an empty folder,
// or one whose making was cut short, which the marker shows, becomes a ring.
func (r *Ring) bootstrapIfNew() (made bool, err error) {
	_, err = os.Lstat(filepath.Join(r.dir, manifestName))
	if err == nil {
		return false, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("key ring: %w", err)
	}
	es, err := os.ReadDir(r.dir)
	if err != nil {
		return false, fmt.Errorf("key ring: %w", err)
	}
	marker, other := false, ""
	for _, e := range es {
		switch {
		case e.Name() == markerName:
			marker = true
		case e.Name() != lockName && !(durable.IsTemp(e.Name()) && e.Name()[1:1+min(len(markerName), len(e.Name())-1)] == markerName):
			other = e.Name()
		}
	}
	switch {
	case other != "" && !marker:
		return false, fmt.Errorf("%w: %s is missing beside %s", ErrDamaged, manifestName, other)
	case !r.o.Create:
		return false, fmt.Errorf("%w: %s", ErrNoRing, r.dir)
	case r.o.Issuer == "":
		return false, fmt.Errorf("make key ring: %w: an issuer is needed", credentials.ErrIssuer)
	}
	for _, e := range es {
		if n := e.Name(); n != lockName && n != markerName {
			// Nothing in here was ever used: no manifest named it.
			if err := r.o.files.Destroy(filepath.Join(r.dir, n)); err != nil {
				return false, err
			}
		}
	}
	return true, r.bootstrap()
}

// bootstrap gives every role an active key and a published successor.
func (r *Ring) bootstrap() (err error) {
	marker := filepath.Join(r.dir, markerName)
	if err := r.o.files.WriteFile(marker, nil, 0o600); err != nil {
		return err
	}
	if r.vault, err = newVault(r.dir, &r.o); err != nil {
		return err
	}
	w := r.begin(nil, r.o.Now())
	w.early = true
	for _, role := range Roles() {
		if err := w.first(role); err != nil {
			return err
		}
	}
	if err := w.due(false); err != nil {
		return err
	}
	// The first key set that anybody can have seen holds the successors already:
	// no cache lacks them, so they are ripe from the start.
	for i := range w.slots {
		if w.slots[i].State == published {
			w.slots[i].Published -= secs(r.timing.Publish)
		}
	}
	m, err := w.manifest()
	if err != nil {
		return err
	}
	if err := w.commit(m); err != nil {
		return err
	}
	return r.o.files.Remove(marker)
}

func (w *work) first(role Role) error {
	const reason = "bootstrap"
	if err := w.do(step{op: opGenerate, role: role, reason: reason}); err != nil {
		return err
	}
	kid := w.slots[len(w.slots)-1].Kid
	if err := w.do(step{op: opPublish, kid: kid, reason: reason}); err != nil {
		return err
	}
	return w.do(step{op: opActivate, kid: kid, reason: reason})
}
