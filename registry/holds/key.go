package holds

import (
	"context"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/crypto/chacha20poly1305"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/durable"
)

// Folders and files of a data folder.
const (
	Folder     = "holds" // of the holds, within a data folder
	keysFolder = "keys"
	keyFile    = "holds.key"
)

// LoadKey reads the key of a data folder's holds, and makes it before the first
// of them. A folder of holds without its key has lost something: another key would
// disown what is there.
func LoadKey(data string) ([]byte, error) { return loadKey(data, rand.Reader) }

func loadKey(data string, random io.Reader) ([]byte, error) {
	dir := filepath.Join(data, keysFolder, Folder) // the key ring knows its own files only
	for _, d := range []string{filepath.Join(data, keysFolder), dir} {
		if err := durable.MkdirPrivate(d); err != nil {
			return nil, fmt.Errorf("holds: %w", err)
		}
	}
	path := filepath.Join(dir, keyFile)
	lock, err := durable.Lock(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, fmt.Errorf("holds: %w", err)
	}
	defer lock.Unlock()
	key, err := durable.ReadPrivate(path, KeySize)
	switch {
	case err == nil && len(key) == KeySize:
		return key, nil
	case err == nil:
		return nil, fmt.Errorf("%w: %s", ErrDamaged, keyFile)
	case !errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("holds: %w", err)
	}
	if _, err := os.Lstat(filepath.Join(data, Folder)); !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s is missing", ErrDamaged, keyFile)
	}
	key = make([]byte, KeySize)
	if _, err := io.ReadFull(random, key); err != nil {
		return nil, fmt.Errorf("holds: %w", err)
	}
	return key, durable.WriteFile(path, key, 0o600)
}

// derived makes a key for one purpose out of the folder's.
func derived(key []byte, purpose string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte("pratique/holds-" + purpose + "/v1"))
	return m.Sum(nil)
}

// sealed encrypts under a label, which names what it is and where it stands.
func sealed(dst []byte, c cipher.AEAD, random io.Reader, label string, plain []byte) ([]byte, error) {
	var nonce [chacha20poly1305.NonceSizeX]byte
	if _, err := io.ReadFull(random, nonce[:]); err != nil {
		return nil, fmt.Errorf("holds: %w", err)
	}
	return c.Seal(append(dst, nonce[:]...), nonce[:], plain, []byte(label)), nil
}

func opened(c cipher.AEAD, label string, box []byte) ([]byte, error) {
	if len(box) < chacha20poly1305.NonceSizeX {
		return nil, ErrDamaged
	}
	plain, err := c.Open(nil, box[:chacha20poly1305.NonceSizeX], box[chacha20poly1305.NonceSizeX:], []byte(label))
	if err != nil {
		return nil, ErrDamaged
	}
	return plain, nil
}

// boxOverhead is what sealed adds, in bytes.
const boxOverhead = chacha20poly1305.NonceSizeX + chacha20poly1305.Overhead

// mark tells things apart in names of files without saying what they are.
func (s *Store) mark(what string, parts ...string) string {
	m := hmac.New(sha256.New, s.marks)
	m.Write([]byte(what))
	for _, p := range parts {
		fmt.Fprintf(m, "\x00%d\x00%s", len(p), p)
	}
	return hex.EncodeToString(m.Sum(nil)[:12])
}

func (s *Store) markOf(sub Subject) string {
	return s.mark("subject", sub.Origin, string(sub.Tool), fmt.Sprint(sub.Gen), fmt.Sprint(sub.Ver), string(sub.Kind), sub.Path, string(sub.Digest[:]))
}

func (s *Store) cellOf(agent credentials.AgentID, origin string) string {
	return s.mark("agent", string(agent)) + "." + s.mark("origin", origin)
}

// lockItems keeps everybody else from changing what is held.
func (s *Store) lockItems(ctx context.Context) (func(), error) {
	unlock, err := s.files.Lock(ctx, itemsFolder)
	if err != nil {
		return nil, fmt.Errorf("holds: %w", err)
	}
	return unlock, nil
}
