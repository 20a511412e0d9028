// Package vault keeps the values that replay needs, which stand in no log: the
// arguments of calls, each encrypted under a key of its own, and the policies that
// decided. The same key makes the digests that the decision log has of the
// arguments and the result, so that erasing it erases them too (RULES.md 29).
//
// Entries lie in a folder per day and are deleted with it when its retention is
// over. A value that is too large, expired, erased or damaged is not there: a
// replay then says so and never makes one up.
package vault

import (
	"bytes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/crypto/chacha20poly1305"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/durable"
)

// Bounds and defaults.
const (
	MaxValue         = 1 << 20 // bytes of a value; larger ones are not kept
	MaxPolicy        = 8 << 20 // bytes of the text of a policy, all its layers
	DefaultRetention = 30 * 24 * time.Hour
	DefaultQuota     = 1 << 30 // bytes of one process on one day; values beyond are not kept
	KeySize          = chacha20poly1305.KeySize
)

// Errors of looking something up. Each means that nothing can be replayed from
// it, and why.
var (
	ErrGone    = errors.New("vault: not there: never kept, or its retention is over")
	ErrErased  = errors.New("vault: erased")
	ErrLarge   = errors.New("vault: too large, or beyond the share of its agent on that day, to have been kept")
	ErrDamaged = errors.New("vault: not what was kept")
	ErrOptions = errors.New("vault: key or owner is unusable")
)

// An EntryKey is the key of one call's values and digests.
type EntryKey [KeySize]byte

// NewKey draws a key.
func NewKey(r io.Reader) (k EntryKey, err error) {
	if r == nil {
		r = rand.Reader
	}
	_, err = io.ReadFull(r, k[:])
	return k, err
}

// Digest is HMAC-SHA256 of a value under the entry's key and a context such as
// "pratique/arguments/v1". Who lacks the key can neither make nor test it.
func (k *EntryKey) Digest(context string, value []byte) (d credentials.Digest) {
	m := hmac.New(sha256.New, k[:])
	m.Write([]byte(context))
	m.Write([]byte{0})
	m.Write(value)
	m.Sum(d[:0])
	return d
}

// Options of a vault. Key and Owner are required.
type Options struct {
	Key       []byte        // the vault's master key, KeySize bytes
	Owner     string        // the spool whose calls these are; names the files
	Retention time.Duration // 0: DefaultRetention; counted from the end of an entry's day, in UTC
	Quota     int64         // bytes of values on one day where Shares is nil; 0: DefaultQuota
	Shares    *Shares       // what the vaults of this process count together; nil: this one for itself
	Rand      io.Reader     // nil: crypto/rand
}

// A Vault takes the values of one process. Its methods may be called by several
// goroutines at once.
type Vault struct {
	dir  string
	o    Options
	wrap cipher.AEAD

	mu  sync.Mutex
	day string
	f   *os.File
	off int64
	buf []byte

	closed bool
}

const (
	policyFolder = "policies"
	dayFormat    = "2006-01-02"
	suffix       = ".vault"
	entryMagic   = 0x50525631
	nonceSize    = chacha20poly1305.NonceSizeX
	tagSize      = chacha20poly1305.Overhead
	wrappedSize  = nonceSize + KeySize + tagSize
	maxID        = 64

	flagKept  = 1 // the value follows
	flagLarge = 2 // it was too large, or the day's quota or the agent's share was used up
)

// Open makes the folder where need be. The owner's files are this process's
// alone: it holds the spool of that name.
func Open(dir string, o Options) (*Vault, error) {
	if o.Retention == 0 {
		o.Retention = DefaultRetention
	}
	if o.Shares == nil {
		o.Shares = &Shares{Quota: o.Quota}
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Owner == "" || filepath.Base(o.Owner) != o.Owner {
		return nil, ErrOptions
	}
	wrap, err := chacha20poly1305.NewX(o.Key)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	for _, d := range []string{dir, filepath.Join(dir, policyFolder)} {
		if err := durable.MkdirPrivate(d); err != nil {
			return nil, err
		}
	}
	return &Vault{dir: dir, o: o, wrap: wrap}, nil
}

// Put keeps a value under the id of its call and the call's key. at decides
// the day. A value over MaxValue is not kept, but its key is.
//
//	entry  magic 4 | bytes of the rest 4 | flags 1 | id length 1 | id | wrapped key 72 | nonce 24 | value + 16
func (v *Vault) Put(at time.Time, id string, key *EntryKey, value []byte) error {
	return v.PutOf(at, "", id, key, value)
}

// PutOf is Put for an agent. What goes beyond its share of the day is not kept,
// but its key is.
func (v *Vault) PutOf(at time.Time, agent, id string, key *EntryKey, value []byte) error {
	if id == "" || len(id) > maxID {
		return ErrOptions
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return fmt.Errorf("vault: %w", os.ErrClosed)
	}
	if err := v.turn(at); err != nil {
		return err
	}
	flags := byte(flagKept)
	if len(value) > MaxValue || !v.o.Shares.takes(v.day, agent, int64(len(value)+tagSize)) {
		flags, value = flagLarge, nil
	}
	var nonces [2 * nonceSize]byte
	if _, err := io.ReadFull(v.o.Rand, nonces[:]); err != nil {
		return err
	}
	b := binary.BigEndian.AppendUint32(v.buf[:0], entryMagic)
	b = binary.BigEndian.AppendUint32(b, 0)
	b = append(b, flags, byte(len(id)))
	b = append(b, id...)
	ad := label(v.o.Owner, id, flags)
	b = append(b, nonces[:nonceSize]...)
	b = v.wrap.Seal(b, nonces[:nonceSize], key[:], ad)
	if flags == flagKept {
		seal, err := key.aead()
		if err != nil {
			return err
		}
		b = append(b, nonces[nonceSize:]...)
		b = seal.Seal(b, nonces[nonceSize:], value, ad)
	}
	binary.BigEndian.PutUint32(b[4:], uint32(len(b)-8))
	if v.buf = b; cap(b) > 1<<16 {
		v.buf = nil
	}
	if _, err := v.f.WriteAt(b, v.off); err != nil {
		return fmt.Errorf("vault: %w", err) // the next entry goes over what was written of it
	}
	v.off += int64(len(b))
	return nil
}

// aead is the cipher of an entry's value: under a key derived from the entry's,
// since that makes digests too.
func (k *EntryKey) aead() (cipher.AEAD, error) {
	d := k.Digest("pratique/vault-value/v1", nil)
	return chacha20poly1305.NewX(d[:])
}

func label(owner, id string, flags byte) []byte {
	return append([]byte("pratique/vault/v1\x00"+owner+"\x00"+id+"\x00"), flags)
}

// turn goes over to the file of a day. mu is held.
func (v *Vault) turn(at time.Time) error {
	day := at.UTC().Format(dayFormat)
	if v.f != nil && day <= v.day { // a clock that was set back stays in the later file
		return nil
	}
	if err := v.expire(at); err != nil {
		return err
	}
	dir := filepath.Join(v.dir, day)
	if err := durable.MkdirPrivate(dir); err != nil {
		return err
	}
	f, err := create(dir, v.o.Owner)
	if err != nil {
		return err
	}
	if v.f != nil {
		v.f.Close()
	}
	v.f, v.day, v.off = f, day, 0
	return nil
}

// create makes a file of an owner that was not there: what a crash left of an
// earlier one stays as it is.
func create(dir, owner string) (*os.File, error) {
	for n := 0; ; n++ {
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("%s-%06d%s", owner, n, suffix)), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// expire deletes the days whose retention is over.
func (v *Vault) expire(now time.Time) error {
	es, err := os.ReadDir(v.dir)
	if err != nil {
		return err
	}
	for _, e := range es {
		day, err := time.Parse(dayFormat, e.Name())
		if err != nil || !now.After(day.Add(24*time.Hour+v.o.Retention)) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(v.dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the vault.
func (v *Vault) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	if v.f == nil {
		return nil
	}
	err := v.f.Close()
	v.f = nil
	return err
}

// PutPolicy keeps the text of a policy under the digest that entries name it by.
func (v *Vault) PutPolicy(d credentials.Digest, text []byte) error {
	path := policyPath(v.dir, d)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	if len(text) > MaxPolicy {
		return ErrLarge
	}
	b := make([]byte, nonceSize, nonceSize+len(text)+tagSize)
	if _, err := io.ReadFull(v.o.Rand, b); err != nil {
		return err
	}
	return durable.WriteFile(path, v.wrap.Seal(b, b, text, policyLabel(d)), 0o600)
}

// Policy is the text of a policy that was kept.
func Policy(dir string, key []byte, d credentials.Digest) ([]byte, error) {
	wrap, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	b, err := durable.ReadPrivate(policyPath(dir, d), MaxPolicy+nonceSize+tagSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: policy", ErrGone)
	}
	if err != nil {
		return nil, err
	}
	if len(b) < nonceSize {
		return nil, fmt.Errorf("%w: policy", ErrDamaged)
	}
	text, err := wrap.Open(nil, b[:nonceSize], b[nonceSize:], policyLabel(d))
	if err != nil {
		return nil, fmt.Errorf("%w: policy", ErrDamaged)
	}
	return bytes.Clone(text), nil
}

func policyPath(dir string, d credentials.Digest) string {
	return filepath.Join(dir, policyFolder, hex.EncodeToString(d[:]))
}

func policyLabel(d credentials.Digest) []byte {
	return append([]byte("pratique/vault-policy/v1\x00"), d[:]...)
}
