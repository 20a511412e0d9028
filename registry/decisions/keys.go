package decisions

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pratique-dev/pratique/internal/durable"
)

// Folders and files of a data folder.
const (
	spoolFolder  = "decisions"
	vaultFolder  = "vault"
	keysFolder   = "keys"
	keysOfLog    = "decisions" // within keysFolder: the key ring knows its own files only
	spoolKeyFile = "spool.key"
	vaultKeyFile = "vault.key"
	lockFile     = "lock"
	spoolPrefix  = "spool_"
	keySize      = 32
)

// keys are the secrets of a data folder's decision log.
type keys struct {
	spool []byte // spools are chained under it
	vault []byte // entries' keys are wrapped under it
}

func keysDir(data string) string { return filepath.Join(data, keysFolder, keysOfLog) }

// loadKeys reads the keys; fs.ErrNotExist where there are none.
func loadKeys(data string) (k keys, err error) {
	for _, f := range []struct {
		name string
		to   *[]byte
	}{{spoolKeyFile, &k.spool}, {vaultKeyFile, &k.vault}} {
		b, err := durable.ReadPrivate(filepath.Join(keysDir(data), f.name), keySize)
		if err != nil {
			return keys{}, fmt.Errorf("decisions: %w", err)
		}
		if len(b) != keySize {
			return keys{}, fmt.Errorf("%w: %s is damaged", ErrKeys, f.name)
		}
		*f.to = b
	}
	return k, nil
}

// makeKeys reads the keys, or draws them on the first start. Several first
// starts at once agree on one set. Keys that are missing beside spools are never
// drawn anew: they would disown what is there.
func makeKeys(data string, rand io.Reader) (keys, error) {
	if _, err := os.Stat(data); errors.Is(err, fs.ErrNotExist) { // else it is its owner's matter: all in it is private
		if err := durable.MkdirPrivate(data); err != nil {
			return keys{}, err
		}
	}
	for _, d := range []string{filepath.Join(data, keysFolder), keysDir(data)} {
		if err := durable.MkdirPrivate(d); err != nil {
			return keys{}, err
		}
	}
	lock, err := durable.Lock(filepath.Join(keysDir(data), lockFile))
	if err != nil {
		return keys{}, err
	}
	defer lock.Unlock()
	k, err := loadKeys(data)
	if !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	names, err := spoolNames(data)
	if err != nil {
		return keys{}, err
	}
	if len(names) > 0 {
		return keys{}, fmt.Errorf("%w: %s", ErrKeys, keysDir(data))
	}
	for _, name := range []string{spoolKeyFile, vaultKeyFile} {
		path := filepath.Join(keysDir(data), name)
		if _, err := os.Lstat(path); err == nil {
			continue // an earlier start was cut short in between
		}
		b := make([]byte, keySize)
		if _, err := io.ReadFull(rand, b); err != nil {
			return keys{}, err
		}
		if err := durable.WriteFile(path, b, 0o600); err != nil {
			return keys{}, err
		}
	}
	return loadKeys(data)
}

// spoolNames are the spools of a data folder, oldest first.
func spoolNames(data string) ([]string, error) {
	es, err := os.ReadDir(filepath.Join(data, spoolFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range es {
		if e.IsDir() && strings.HasPrefix(e.Name(), spoolPrefix) {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

func spoolDir(data, name string) string { return filepath.Join(data, spoolFolder, name) }

func vaultDir(data string) string { return filepath.Join(data, vaultFolder) }
