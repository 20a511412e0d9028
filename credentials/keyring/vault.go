package keyring

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"filippo.io/age"

	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/internal/secret"
)

// A vault reads and writes the private files of a ring. With a passphrase the
// ring key is an age file under it, and the key files are age files under an
// identity inside the ring key: one slow scrypt per start, not one per key.
type vault struct {
	dir   string
	files *durable.Files
	mac   secret.Value         // of the manifest
	id    *age.X25519Identity  // nil in a plain ring; prints as an address at most
	to    *age.X25519Recipient // of id
}

// ringKey is the content of the ring key file.
type ringKey struct {
	V   int    `json:"v"`
	MAC []byte `json:"mac"`
	Age string `json:"age,omitzero"`
}

func newVault(dir string, o *Options) (*vault, error) {
	k := ringKey{V: 1, MAC: make([]byte, 32)}
	if _, err := io.ReadFull(o.Rand, k.MAC); err != nil {
		return nil, fmt.Errorf("random: %w", err)
	}
	name := ringKeyName
	v := &vault{dir: dir, files: o.files, mac: secret.New(k.MAC)}
	if !o.Passphrase.IsZero() {
		id, err := age.GenerateX25519Identity()
		if err != nil {
			return nil, fmt.Errorf("generate identity: %w", err)
		}
		k.Age = id.String()
		v.id, v.to = id, id.Recipient()
		name = ringKeyAgeName
	}
	text, err := canon.Marshal(k)
	if err != nil {
		return nil, err
	}
	defer clear(text)
	if v.id != nil {
		if text, err = sealArmored(text, o.Passphrase, o.WorkFactor); err != nil {
			return nil, err
		}
	}
	return v, v.files.WriteFile(filepath.Join(dir, name), text, 0o600)
}

// openVault reads the ring key. A ring that is encrypted wants its passphrase,
// and one that is not wants none: an operator who gives one believes that the
// keys are encrypted.
func openVault(dir string, o *Options) (*vault, error) {
	plain, errP := durable.ReadPrivate(filepath.Join(dir, ringKeyName), maxKeyFile)
	sealed, errS := durable.ReadPrivate(filepath.Join(dir, ringKeyAgeName), maxKeyFile)
	defer clear(plain)
	text := plain
	switch {
	case errors.Is(errS, fs.ErrNotExist) && errP == nil:
		if !o.Passphrase.IsZero() {
			return nil, ErrPlain
		}
	case errors.Is(errP, fs.ErrNotExist) && errS == nil:
		var err error
		if text, err = openArmored(sealed, o.Passphrase); errors.Is(err, ErrKeyEncrypted) {
			return nil, ErrPassphrase
		} else if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, ringKeyAgeName, err)
		}
		defer clear(text)
	case errP == nil && errS == nil:
		return nil, fmt.Errorf("%w: both %s and %s are there", ErrDamaged, ringKeyName, ringKeyAgeName)
	case errors.Is(errP, fs.ErrNotExist) && errors.Is(errS, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %s is missing", ErrDamaged, ringKeyName)
	default:
		return nil, fmt.Errorf("ring key: %w", errors.Join(ignoreMissing(errP), ignoreMissing(errS)))
	}
	v := &vault{dir: dir, files: o.files}
	return v, v.parse(text, errP != nil)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (v *vault) parse(text []byte, encrypted bool) error {
	var k ringKey
	err := canon.Unmarshal(text, &k, canon.Limits{Bytes: maxKeyFile, NoNull: true})
	if err != nil || k.V != 1 || len(k.MAC) != 32 || (k.Age != "") != encrypted {
		return fmt.Errorf("%w: ring key file is not as it was written", ErrDamaged)
	}
	v.mac = secret.New(k.MAC)
	if !encrypted {
		return nil
	}
	if v.id, err = age.ParseX25519Identity(k.Age); err != nil {
		return fmt.Errorf("%w: identity in the ring key", ErrDamaged)
	}
	v.to = v.id.Recipient()
	return nil
}

// fileName draws the name of a new key file. Key ids never become paths.
func (v *vault) fileName(role Role) string {
	var b [8]byte
	rand.Read(b[:])
	name := string(role) + "-" + hex.EncodeToString(b[:]) + ".pem"
	if v.id != nil {
		name += ".age"
	}
	return name
}

func (v *vault) write(name string, p *Private) error {
	text, err := p.pkcs8()
	if err != nil {
		return err
	}
	defer clear(text)
	if v.id != nil {
		if text, err = encryptArmored(text, v.to); err != nil {
			return err
		}
	}
	return v.files.WriteFile(filepath.Join(v.dir, name), text, 0o600)
}

// read loads the private key of an entry and holds it against the entry. A
// missing file is fs.ErrNotExist, for the caller to judge.
func (v *vault) read(e *entry) (*Private, error) {
	data, err := durable.ReadPrivate(filepath.Join(v.dir, e.File), maxKeyFile)
	if err != nil {
		return nil, err
	}
	defer clear(data)
	if v.id != nil {
		if data, err = decryptArmored(data, v.id); err != nil {
			return nil, fmt.Errorf("%w: %s does not decrypt", ErrDamaged, e.File)
		}
		defer clear(data)
	}
	p, err := ParseKey(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, e.File, err)
	}
	if p.key.ID != e.Kid {
		return nil, fmt.Errorf("%w: %s holds another key", ErrDamaged, e.File)
	}
	p.protected = v.id != nil
	return p, nil
}

// leftovers lists files that a crash may leave and that may go: unfinished
// writes, and key files the manifest says are to be destroyed. Files that the
// manifest does not know stay: they may be newer than a manifest that was
// rolled back.
func (v *vault) leftovers(m *manifest) (out []string, err error) {
	es, err := os.ReadDir(v.dir)
	if err != nil {
		return nil, err
	}
	for _, f := range es {
		if durable.IsTemp(f.Name()) {
			out = append(out, f.Name())
		}
	}
	for _, name := range m.Doomed {
		if _, err := os.Lstat(filepath.Join(v.dir, name)); err == nil {
			out = append(out, name)
		}
	}
	return out, nil
}

func (v *vault) destroy(names []string) error {
	var errs []error
	for _, n := range names {
		errs = append(errs, v.files.Destroy(filepath.Join(v.dir, n)))
	}
	return errors.Join(errs...)
}
