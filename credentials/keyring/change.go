package keyring

import (
	"bytes"
	"crypto"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/durable"
)

// work is a change in the making: everything is decided and signed in memory
// on one view, then written if the folder still holds that view.
type work struct {
	r       *Ring
	v       *view // nil while the ring is being made
	now     int64
	slots   []Slot
	changes []Change
	fresh   map[credentials.KeyID]*Private // new keys, not yet in files
	offline map[credentials.KeyID]bool     // private keys to let go of
	force   bool                           // write even without changes
	early   bool                           // first keys: active without a time as published
}

func (r *Ring) begin(v *view, now time.Time) *work {
	w := &work{r: r, v: v, now: now.Unix(), fresh: map[credentials.KeyID]*Private{}, offline: map[credentials.KeyID]bool{}}
	if v != nil {
		w.slots = v.man.slots()
	}
	return w
}

// do makes one step. A generate step without key generates it.
func (w *work) do(st step) error {
	if st.op == opGenerate && st.kid == "" {
		if st.alg == "" {
			if st.alg = w.r.o.Algs[st.role]; st.alg == "" {
				st.alg = envelope.EdDSA
			}
		}
		p, err := NewPrivate(st.alg, w.r.o.Rand)
		if err != nil {
			return err
		}
		st.kid = p.key.ID
		w.fresh[st.kid] = p
	}
	t := w.r.timing
	if w.early {
		t.Publish = 0
	}
	slots, changes, err := apply(w.slots, st, w.now, t)
	if err != nil {
		return err
	}
	w.slots = slots
	w.changes = append(w.changes, changes...)
	return nil
}

// due makes the steps that next asks for: all, or only those that give a role
// its successor. No change of the ring leaves a role without one.
func (w *work) due(all bool) error {
	for {
		st, ok := next(w.slots, w.now, w.r.timing)
		if !ok || !all && st.op != opGenerate && st.op != opPublish {
			return nil
		}
		if err := w.do(st); err != nil {
			return err
		}
	}
}

// manifest is the next version of the ring, signed where it must be, or nil if
// nothing changes.
func (w *work) manifest() (*manifest, error) {
	m := &manifest{V: 1, Ver: 1, Iss: w.r.o.Issuer, Roots: []string{}, Doomed: []string{}, History: []Change{}}
	if w.v != nil {
		*m = *w.v.man
		m.Ver++
		if w.r.o.Issuer != "" {
			m.Iss = w.r.o.Issuer
		}
	}
	doomed := w.stillThere(m.Doomed)
	m.Keys = make([]entry, 0, len(w.slots))
	for _, s := range w.slots {
		e, gone := w.entry(s)
		if gone != "" {
			doomed = append(doomed, gone)
		}
		m.Keys = append(m.Keys, e)
	}
	m.Doomed = doomed
	for i := range w.changes {
		w.changes[i].Ver = m.Ver
	}
	m.History = slices.Concat(m.History, w.changes)
	m.History = m.History[max(0, len(m.History)-maxHistory):]
	relist := w.needsList(m)
	if len(w.changes) == 0 && !relist && !w.force {
		return nil, nil
	}
	if relist {
		if err := w.sign(m); err != nil {
			return nil, err
		}
	}
	if err := m.check(); err != nil {
		return nil, err // a change that would break an invariant is not written
	}
	return m, nil
}

// stillThere keeps the names of doomed files that have not gone yet.
func (w *work) stillThere(names []string) []string {
	out := []string{}
	for _, n := range names {
		if _, err := os.Lstat(filepath.Join(w.r.dir, n)); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// entry is the manifest's entry for a slot; gone is the file that it gives up.
func (w *work) entry(s Slot) (e entry, gone string) {
	if p := w.fresh[s.Kid]; p != nil {
		e.File = w.r.vault.fileName(s.Role)
		e.Jwk = p.key.Members()
	} else {
		e = *w.v.man.entry(s.Kid)
	}
	if s.State == active {
		s.Cover = max(s.Cover, secs(w.r.timing.Verify[s.Role]))
	}
	e.Slot = s
	switch {
	case !holdsPrivate(s.State):
		gone, e.File, e.Offline = e.File, "", false
	case w.offline[s.Kid]:
		gone, e.File, e.Offline = e.File, "", true
	}
	return e, gone
}

// rootSigner finds the private half of a root key: new, in the ring, or handed in.
func (w *work) rootSigner(kid credentials.KeyID) (crypto.Signer, error) {
	if p := w.fresh[kid]; p != nil {
		return p, nil
	}
	if p := w.v.private(kid); p != nil {
		return p, nil
	}
	if h, ok := w.r.handed.Load(kid); ok {
		return h.(crypto.Signer), nil
	}
	return nil, fmt.Errorf("%w (%s)", ErrRootOffline, kid)
}

// write puts new keys, then the manifest, into the folder; the file lock is
// held. Until the manifest stands, nothing has happened.
func (w *work) write(m *manifest) error {
	data, err := m.encode(w.r.vault.mac.Reveal())
	if err != nil {
		return err
	}
	var files []string
	for _, e := range m.Keys {
		if p := w.fresh[e.Kid]; p != nil {
			files = append(files, e.File)
			if err := w.r.vault.write(e.File, p); err != nil {
				// No manifest names the file, so its outcome is no matter: %v.
				return errors.Join(fmt.Errorf("new key file: %v", err), w.r.vault.destroy(files))
			}
		}
	}
	err = w.r.vault.files.WriteFile(filepath.Join(w.r.dir, manifestName), data, 0o600)
	switch {
	case errors.Is(err, durable.ErrUnknown):
		// Either version may be what a later start finds. Keep the files of
		// both and use neither until the folder has been read again.
		w.r.stale.Store(true)
		return err
	case err != nil:
		return errors.Join(err, w.r.vault.destroy(files))
	}
	return nil
}

// commit writes the work and takes it up; the file lock is held.
func (w *work) commit(m *manifest) error {
	if err := w.write(m); err != nil {
		return fmt.Errorf("key ring: %w", err)
	}
	// Read back what now stands: what cannot be read is noticed here, not at
	// the next start.
	known := &view{keys: map[credentials.KeyID]*member{}}
	if w.v != nil {
		known.keys = maps.Clone(w.v.keys)
	}
	v, err := w.r.load(known)
	if err != nil {
		w.r.stale.Store(true)
		return err
	}
	w.r.install(v)
	return w.r.sweep(true)
}

// sweep destroys what a change or a crash left behind. durable says that the
// manifest was just written: otherwise it is written once more first, since a
// manifest that a power cut could take back must not cost an older one its keys.
// Failing to destroy does not undo the change: it is kept for Health and tried
// again with the next change.
func (r *Ring) sweep(durable bool) error {
	v := r.view.Load()
	names, err := r.vault.leftovers(v.man)
	if err == nil && len(names) > 0 && !durable {
		if err := r.vault.files.WriteFile(filepath.Join(r.dir, manifestName), v.raw, 0o600); err != nil {
			return err
		}
		err = r.Reload()
	}
	if err == nil {
		err = r.vault.destroy(names)
	}
	r.cleanup.Store(&err)
	return nil
}

// Health reports whether the ring can decide and whether private keys that
// should have been destroyed are still there.
func (r *Ring) Health() error {
	_, err := r.current()
	if c := r.cleanup.Load(); c != nil {
		err = errors.Join(err, *c)
	}
	return err
}

// do makes a change: decide works on the newest view; the result is written
// only if the folder still holds that view (compare-and-swap on the version).
// A lost race is decided again on the new view, or is ErrConflict if the
// operator's wish was about what is gone.
func (r *Ring) do(now time.Time, retry bool, modes []Mode, decide func(*work) error) ([]Change, error) {
	r.change.Lock()
	defer r.change.Unlock()
	for range 16 {
		if err := r.Reload(); err != nil {
			return nil, err
		}
		w := r.begin(r.view.Load(), now)
		if err := decide(w); err != nil {
			return nil, err
		}
		if err := w.due(false); err != nil {
			return nil, err
		}
		m, err := w.manifest()
		if err != nil || m == nil || slices.Contains(modes, DryRun) {
			return w.changes, err
		}
		lost, err := w.swap(m)
		if err != nil {
			return nil, err
		}
		if !lost {
			return w.changes, nil
		}
		if !retry {
			return nil, errors.Join(ErrConflict, r.Reload())
		}
	}
	return nil, ErrConflict
}

// swap takes the file lock and commits if nobody else did meanwhile.
func (w *work) swap(m *manifest) (lost bool, err error) {
	if f := w.r.o.beforeLock; f != nil {
		f()
	}
	lock, err := durable.Lock(filepath.Join(w.r.dir, lockName))
	if err != nil {
		return false, fmt.Errorf("key ring: %w", err)
	}
	defer lock.Unlock()
	raw, err := durable.ReadPrivate(filepath.Join(w.r.dir, manifestName), maxManifest)
	if err != nil {
		return false, fmt.Errorf("key ring: %w", err)
	}
	if !bytes.Equal(raw, w.v.raw) {
		return true, nil
	}
	return false, w.commit(m)
}
