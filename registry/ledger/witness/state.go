package witness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/registry/ledger"
)

// Folder is a State in a private folder (0700), one file (0600) per log, each
// replaced crash-safely. It holds the folder's lock: a second process is
// refused (durable.ErrLocked).
type Folder struct {
	dir  string
	lock *durable.FileLock
	// Files does the writing; tests inject faults. nil is the real thing.
	Files *durable.Files
}

// OpenFolder opens the state folder, which it makes if it is not there.
func OpenFolder(dir string) (*Folder, error) {
	if err := durable.MkdirPrivate(dir); err != nil {
		return nil, err
	}
	l, err := durable.TryLock(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	return &Folder{dir: dir, lock: l}, nil
}

// Close gives the folder's lock back.
func (f *Folder) Close() error { return f.lock.Unlock() }

// path is named by digest: an origin may hold any character.
func (f *Folder) path(origin string) string {
	sum := sha256.Sum256([]byte("pratique/witness-state/v1\x00" + origin))
	return filepath.Join(f.dir, hex.EncodeToString(sum[:16])+".note")
}

// Load implements State. An unreadable, loose or empty file is an error.
func (f *Folder) Load(_ context.Context, origin string) ([]byte, error) {
	raw, err := durable.ReadPrivate(f.path(origin), ledger.MaxNote)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && len(raw) == 0 {
		err = ledger.ErrNote
	}
	return raw, err
}

// Save implements State.
func (f *Folder) Save(_ context.Context, origin string, note []byte) error {
	return f.Files.WriteFile(f.path(origin), note, 0o600)
}
