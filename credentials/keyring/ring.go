package keyring

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/internal/secret"
)

// Options of Open. The zero value opens an existing, unencrypted ring with the
// default timing.
type Options struct {
	// Create makes the ring if the folder is empty or not there. Where anything
	// else is found, nothing is made: see ErrDamaged.
	Create bool
	// Issuer is the iss of what the ring signs: the registry's external URL.
	// Needed to create; a changed one has the key list signed anew.
	Issuer string
	// Passphrase encrypts the ring when it is made and opens it later. See
	// ReadPassphraseFile and ReadPassphraseFD.
	Passphrase secret.Value
	Timing     Timing
	// Algs are the algorithms of new keys; default EdDSA.
	Algs map[Role]envelope.Alg
	// MinVer is the newest version known from elsewhere (the registry log); an
	// older ring is ErrRollback.
	MinVer uint64
	// Poll is how often the manifest is looked at for changes by other
	// processes (default 1 s, at most Timing.Propagation).
	Poll time.Duration
	// WorkFactor is the base-2 logarithm of scrypt's cost when the ring is made
	// (default: age's, about a second). Less is for tests.
	WorkFactor int
	Now        func() time.Time // default time.Now
	Rand       io.Reader        // default crypto/rand

	files      *durable.Files // fault injection
	beforeLock func()         // between decision and lock, to lose races in tests
}

// A Ring is an open key ring. It is safe for concurrent use. It implements
// envelope.Keys.
type Ring struct {
	dir    string
	o      Options
	timing Timing
	vault  *vault

	change  sync.Mutex // serialises changes in this process; the file lock does so between processes
	poll    sync.Mutex // one goroutine looks at the manifest at a time
	view    atomic.Pointer[view]
	checked atomic.Int64 // when the view was last seen to be current, Unix nanoseconds
	stale   atomic.Bool  // the outcome of a write is unknown: only Reload helps
	cleanup atomic.Pointer[error]
	handed  sync.Map // credentials.KeyID → crypto.Signer: root signers handed in
}

// A view is one version of the ring in memory; it is never changed.
type view struct {
	man    *manifest
	raw    []byte // keys.json
	stat   fs.FileInfo
	keys   map[credentials.KeyID]*member
	active map[Role]*member
}

type member struct {
	entry
	key  envelope.Key
	priv *Private // nil where there is none, or none here
	tok  map[envelope.Type]*envelope.Signer
}

// Open opens the ring in dir, or makes it (Options.Create). Loose permissions,
// symbolic links and damage are refused by name; nothing damaged is repaired
// by making it anew.
func Open(dir string, o Options) (*Ring, error) {
	timing, err := o.Timing.withDefaults()
	if err != nil {
		return nil, err
	}
	o.Poll = min(cmp.Or(o.Poll, time.Second), timing.Propagation)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	for r, a := range o.Algs {
		if err := checkAlg(r, a); err != nil {
			return nil, err
		}
	}
	r := &Ring{dir: dir, o: o, timing: timing}
	if err := r.enter(); err != nil {
		return nil, err
	}
	lock, err := durable.Lock(filepath.Join(dir, lockName))
	if err != nil {
		return nil, fmt.Errorf("key ring: %w", err)
	}
	defer lock.Unlock()
	if err := r.openLocked(); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Ring) enter() error {
	if r.o.Create {
		return r.o.files.MkdirPrivate(r.dir)
	}
	err := durable.CheckPrivateDir(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrNoRing, err)
	}
	return err
}

func (r *Ring) openLocked() error {
	made, err := r.bootstrapIfNew()
	if err != nil || made {
		return err
	}
	if r.vault, err = openVault(r.dir, &r.o); err != nil {
		return err
	}
	v, err := r.load(nil)
	if err != nil {
		return err
	}
	if v.man.Ver < r.o.MinVer {
		return fmt.Errorf("%w: version %d, known %d", ErrRollback, v.man.Ver, r.o.MinVer)
	}
	r.install(v)
	if err := r.vault.files.Remove(filepath.Join(r.dir, markerName)); err != nil {
		return err
	}
	if err := r.adopt(); err != nil {
		return err
	}
	return r.sweep(false)
}

// adopt brings an older ring up to the options it is opened with: a longer
// life of tokens must be covered before the first of them is signed, a new
// issuer must be in the key list.
func (r *Ring) adopt() error {
	v := r.view.Load()
	grow := false
	for _, e := range v.man.Keys {
		grow = grow || e.State == active && e.Cover < secs(r.timing.Verify[e.Role])
	}
	if !grow && (r.o.Issuer == "" || r.o.Issuer == v.man.Iss) {
		return nil
	}
	w := r.begin(v, r.o.Now())
	w.force = true
	m, err := w.manifest()
	if err != nil {
		return err
	}
	return w.commit(m)
}

// load reads the ring from the folder, taking private keys from prev where it
// has them. A key file may go while we read, since the process that changed
// the ring destroys keys after it has written the manifest: then read again.
func (r *Ring) load(prev *view) (*view, error) {
	path := filepath.Join(r.dir, manifestName)
	var last []byte
	for {
		stat, err := os.Lstat(path) // before reading: a change in between shows as a newer file later
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, manifestName, err)
		}
		raw, err := durable.ReadPrivate(path, maxManifest)
		if err != nil {
			return nil, fmt.Errorf("key ring: %w", err)
		}
		if prev != nil && bytes.Equal(raw, prev.raw) {
			same := *prev
			same.stat = stat
			return &same, nil
		}
		man, err := decodeManifest(raw, r.vault.mac.Reveal())
		if err != nil {
			return nil, err
		}
		v := &view{man: man, raw: raw, stat: stat}
		err = r.fill(v, prev)
		if errors.Is(err, fs.ErrNotExist) && !bytes.Equal(raw, last) {
			last = raw
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: a key file is missing: %w", ErrDamaged, err)
		}
		return v, err
	}
}

// fill opens every key of a view.
func (r *Ring) fill(v, prev *view) error {
	v.keys, v.active = map[credentials.KeyID]*member{}, map[Role]*member{}
	for i := range v.man.Keys {
		e := &v.man.Keys[i]
		m := &member{entry: *e}
		var err error
		if old := prev.member(e.Kid); old != nil && old.Jwk == e.Jwk && old.Alg == e.Alg {
			m.key = old.key
		} else if m.key, err = e.key(); err != nil {
			return fmt.Errorf("%w: public key %s: %w", ErrDamaged, e.Kid, err)
		}
		if e.File != "" {
			if m.priv = prev.private(e.Kid); m.priv == nil {
				if m.priv, err = r.vault.read(e); err != nil {
					return fmt.Errorf("key ring: key %s of role %s: %w", e.Kid, e.Role, err)
				}
			}
		}
		v.add(r, m)
	}
	return nil
}

func (v *view) add(r *Ring, m *member) {
	v.keys[m.Kid] = m
	if m.State != active {
		return
	}
	v.active[m.Role] = m
	m.tok = map[envelope.Type]*envelope.Signer{}
	for _, typ := range typesOf[m.Role] {
		// Cannot fail: the key was opened above and the type is one of ours.
		if s, err := envelope.NewSigner(typ, &signer{r, m.Kid, m.key}); err == nil {
			m.tok[typ] = s
		}
	}
}

func (v *view) member(kid credentials.KeyID) *member {
	if v == nil {
		return nil
	}
	return v.keys[kid]
}

func (v *view) private(kid credentials.KeyID) *Private {
	if m := v.member(kid); m != nil {
		return m.priv
	}
	return nil
}

func (r *Ring) install(v *view) {
	r.view.Store(v)
	r.checked.Store(r.o.Now().UnixNano())
	r.stale.Store(false)
}

// Reload reads the ring again. A ring that went back to an older version is
// ErrRollback, and the ring refuses to serve until it is put right.
func (r *Ring) Reload() error {
	r.poll.Lock()
	defer r.poll.Unlock()
	return r.reload()
}

func (r *Ring) reload() error {
	prev := r.view.Load()
	v, err := r.load(prev)
	if err != nil {
		return err
	}
	if v.man.Ver < prev.man.Ver {
		r.stale.Store(true)
		return fmt.Errorf("%w: version %d, was %d", ErrRollback, v.man.Ver, prev.man.Ver)
	}
	r.install(v)
	return nil
}

// current gives the view to decide by, looking at the manifest every Poll. A
// view that could not be confirmed for Propagation decides nothing.
func (r *Ring) current() (*view, error) {
	now := r.o.Now().UnixNano()
	switch d := now - r.checked.Load(); {
	case d > int64(r.timing.Propagation):
		r.poll.Lock() // too old to go on with while another goroutine looks
		r.confirm(now)
		r.poll.Unlock()
	case (d >= int64(r.o.Poll) || d < 0) && r.poll.TryLock():
		r.confirm(now)
		r.poll.Unlock()
	}
	if r.stale.Load() {
		return nil, ErrStale
	}
	if d := now - r.checked.Load(); d > int64(r.timing.Propagation) {
		return nil, ErrStale
	}
	return r.view.Load(), nil
}

func (r *Ring) confirm(now int64) {
	if r.stale.Load() {
		return
	}
	v := r.view.Load()
	st, err := os.Lstat(filepath.Join(r.dir, manifestName))
	if err == nil && os.SameFile(st, v.stat) && st.ModTime().Equal(v.stat.ModTime()) && st.Size() == v.stat.Size() {
		r.checked.Store(now)
		return
	}
	_ = r.reload() // a failure leaves checked alone, and staleness follows
}

// Epoch changes whenever any key's state does. Caches of verified tokens are
// void under another epoch; under a stale ring no cache holds.
func (r *Ring) Epoch() uint64 {
	v, err := r.current()
	if err != nil {
		return ^uint64(0)
	}
	return v.man.Ver
}

// Ver is the version of the ring. It only rises.
func (r *Ring) Ver() uint64 { return r.view.Load().man.Ver }

// Timing is the timing in force.
func (r *Ring) Timing() Timing { return r.timing }

// HandIn gives the ring signers for root keys that are offline, for as long as
// it is open or until they are taken back by HandIn without them. Each must be
// a root key of the ring.
func (r *Ring) HandIn(signers ...crypto.Signer) error {
	v := r.view.Load()
	fresh := map[credentials.KeyID]crypto.Signer{}
	for _, s := range signers {
		k, err := envelope.NewKey(s.Public())
		if err != nil {
			return err
		}
		if m := v.keys[k.ID]; m == nil || m.Role != credentials.RoleRoot {
			return fmt.Errorf("%w: %s is no root key of this ring", ErrNotFound, k.ID)
		}
		fresh[k.ID] = s
	}
	r.handed.Clear()
	for kid, s := range fresh {
		r.handed.Store(kid, s)
	}
	return nil
}

// Format implements fmt.Formatter, so that no verb walks into the ring.
func (r *Ring) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "keyring(%s, version %d)", r.dir, r.Ver())
}

// LogValue implements slog.LogValuer.
func (r *Ring) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(r)) }

// MarshalJSON always refuses.
func (*Ring) MarshalJSON() ([]byte, error) { return nil, secret.ErrMarshal }
