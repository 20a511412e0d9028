package keyring

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"path/filepath"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/internal/secret"
)

// A Mode changes how an operation is carried out.
type Mode int

// DryRun decides everything and writes nothing. Changes that it reports for
// keys yet to be made name keys that will not exist.
const DryRun Mode = 1

// Rotate makes the role's published successor active; the active key retires
// and its private half is destroyed; a new successor is published. Too early
// for the successor is an EarlyError. ErrConflict: another process changed the
// ring between look and change; it may have rotated already.
func (r *Ring) Rotate(role Role, modes ...Mode) ([]Change, error) {
	if _, err := ParseRole(string(role)); err != nil {
		return nil, err
	}
	return r.do(r.o.Now(), false, modes, func(w *work) error {
		p := of(w.slots, role, published)
		if len(p) == 0 {
			return ErrNoSuccessor
		}
		return w.do(step{op: opActivate, kid: p[0].Kid, reason: "rotated"})
	})
}

// Revoke takes a key out at once and for ever. If it was active, the newest
// published key of the role takes over in the same change. A key that is
// revoked already stays so, without error or change.
func (r *Ring) Revoke(kid credentials.KeyID, reason string, modes ...Mode) ([]Change, error) {
	if err := checkReason(reason); err != nil {
		return nil, err
	}
	return r.do(r.o.Now(), true, modes, func(w *work) error {
		if i := find(w.slots, kid); i >= 0 && w.slots[i].State == revoked {
			return nil
		}
		return w.do(step{op: opRevoke, kid: kid, reason: reason})
	})
}

func checkReason(s string) error {
	if s == "" || len(s) > 200 || !utf8.ValidString(s) {
		return ErrReason
	}
	for _, c := range s {
		if !unicode.IsPrint(c) {
			return ErrReason
		}
	}
	return nil
}

// Tick makes every transition that is due at now: successors, scheduled
// rotations, the end of retirement, and a new signature of a key list that
// will expire.
func (r *Ring) Tick(now time.Time) ([]Change, error) {
	return r.do(now, true, nil, func(w *work) error { return w.due(true) })
}

// Generate makes a pending key.
func (r *Ring) Generate(role Role, alg envelope.Alg, modes ...Mode) ([]Change, error) {
	return r.do(r.o.Now(), true, modes, func(w *work) error {
		return w.do(step{op: opGenerate, role: role, alg: alg, reason: "generated"})
	})
}

// Publish puts a pending key into the key set.
func (r *Ring) Publish(kid credentials.KeyID, modes ...Mode) ([]Change, error) {
	return r.by(opPublish, kid, "published", modes)
}

// Activate makes a published key active before it is its turn, but not before
// its time (EarlyError).
func (r *Ring) Activate(kid credentials.KeyID, modes ...Mode) ([]Change, error) {
	return r.by(opActivate, kid, "activated", modes)
}

// Retire takes a retiring key out of the key set once nothing it signed can
// live (before: EarlyError), or a key that never signed at any time. The
// active key is ErrState: rotate it.
func (r *Ring) Retire(kid credentials.KeyID, modes ...Mode) ([]Change, error) {
	return r.by(opRetire, kid, "retired", modes)
}

func (r *Ring) by(o op, kid credentials.KeyID, reason string, modes []Mode) ([]Change, error) {
	return r.do(r.o.Now(), true, modes, func(w *work) error {
		return w.do(step{op: o, kid: kid, reason: reason})
	})
}

// Import takes private keys in as pending keys of a role: all or, with an
// error that names the key, none. A key the ring has or had is refused, a
// revoked one with envelope.ErrRevokedKey.
func (r *Ring) Import(role Role, keys []*Private, modes ...Mode) ([]Change, error) {
	return r.do(r.o.Now(), true, modes, func(w *work) error {
		for _, p := range keys {
			if err := w.do(step{op: opGenerate, role: role, kid: p.key.ID, alg: p.key.Alg, reason: "imported"}); err != nil {
				return fmt.Errorf("import %s: %w", p.key.ID, err)
			}
			w.fresh[p.key.ID] = p
		}
		return nil
	})
}

// ImportFiles is Import of a key file, or of every file in a folder. One bad
// file is named, as are all others that are bad, and nothing is imported.
func (r *Ring) ImportFiles(role Role, path string, passphrase secret.Value, modes ...Mode) ([]Change, error) {
	keys, err := LoadKeyDir(path, passphrase)
	if err != nil {
		return nil, err
	}
	return r.Import(role, keys, modes...)
}

// TakeOffline moves the private root keys out of the ring into key files in
// dir (named root-, the first characters of the key id, .jwk). From then on
// changes that need a new key list need HandIn first. It returns the files.
func (r *Ring) TakeOffline(dir string, passphrase secret.Value) (files []string, err error) {
	_, err = r.do(r.o.Now(), true, nil, func(w *work) error {
		files = nil
		for _, e := range w.v.man.Keys {
			p := w.v.private(e.Kid)
			if e.Role != credentials.RoleRoot || p == nil {
				continue
			}
			path := filepath.Join(dir, "root-"+string(e.Kid[:8])+".jwk")
			if err := p.export(path, passphrase, w.r.o.WorkFactor); err != nil {
				return err
			}
			files = append(files, path)
			w.offline[e.Kid] = true
			w.force = true
		}
		return nil
	})
	return files, err
}

// export writes the key to a file that can be loaded again, and loads it: only
// a key that was read back may be destroyed elsewhere.
func (p *Private) export(path string, passphrase secret.Value, workFactor int) error {
	text, err := p.sealedJWK(passphrase, workFactor)
	if err != nil {
		return err
	}
	defer clear(text)
	if err := durable.WriteFile(path, text, 0o600); err != nil {
		return err
	}
	back, err := LoadKeyFile(path, passphrase)
	if err == nil && back.key.ID != p.key.ID {
		err = ErrKeyMismatch
	}
	return err
}

func (p *Private) sealedJWK(passphrase secret.Value, workFactor int) ([]byte, error) {
	text, err := p.jwk()
	if err != nil || passphrase.IsZero() {
		return text, err
	}
	defer clear(text)
	return sealArmored(text, passphrase, workFactor)
}

// ExportPrivate gives a private key as the text of a key file encrypted with
// the passphrase, which is not optional here.
func (r *Ring) ExportPrivate(kid credentials.KeyID, passphrase secret.Value) ([]byte, error) {
	if passphrase.IsZero() {
		return nil, ErrPassphrase
	}
	p := r.view.Load().private(kid)
	if p == nil {
		return nil, fmt.Errorf("%w: no private key of %s here", ErrNotFound, kid)
	}
	return p.sealedJWK(passphrase, r.o.WorkFactor)
}

// Export gives the public key of a kid in any state.
func (r *Ring) Export(kid credentials.KeyID) (envelope.Key, error) {
	if m := r.view.Load().keys[kid]; m != nil {
		return m.key, nil
	}
	return envelope.Key{}, fmt.Errorf("%w: %s", ErrNotFound, kid)
}

// PublicPEM is a public key as SPKI PEM.
func PublicPEM(k envelope.Key) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(k.Public)
	if err != nil {
		return nil, ErrKeyKind
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

// An Info is one key with what happens to it next.
type Info struct {
	Slot
	Offline bool   `json:"offline,omitzero"`
	Next    State  `json:"next,omitzero"`   // by schedule
	NextAt  int64  `json:"nextAt,omitzero"` // Unix seconds; earliest
	Private string `json:"private"`         // "here", "offline", "none"
}

// List gives every key, tombstones included, roles in their order.
func (r *Ring) List() []Info {
	v := r.view.Load()
	out := make([]Info, 0, len(v.man.Keys))
	for _, e := range v.man.Keys {
		i := Info{Slot: e.Slot, Offline: e.Offline, Private: "none"}
		if e.Offline {
			i.Private = "offline"
		} else if e.File != "" {
			i.Private = "here"
		}
		i.Next, i.NextAt = r.timing.nextOf(v.man.slots(), e.Slot)
		out = append(out, i)
	}
	slices.SortStableFunc(out, func(a, b Info) int {
		return slices.Index(Roles(), a.Role) - slices.Index(Roles(), b.Role)
	})
	return out
}

// nextOf is the transition that the schedule has for a slot, and when.
func (t Timing) nextOf(slots []Slot, s Slot) (State, int64) {
	switch s.State {
	case pending:
		return published, 0 // when the role needs a successor, or by hand
	case published:
		at := t.ripe(s)
		if a := of(slots, s.Role, active); len(a) > 0 && of(slots, s.Role, published)[0].Kid == s.Kid {
			if d, ok := t.due(a[0]); ok {
				return active, max(at, d)
			}
		}
		return active, 0
	case active:
		d, ok := t.due(s)
		p := of(slots, s.Role, published)
		if !ok || len(p) == 0 {
			return retiring, 0
		}
		return retiring, max(d, t.ripe(p[0]))
	case retiring:
		return retired, s.Ends
	}
	return "", 0
}

// Plan gives the keys with a scheduled transition, earliest first.
func (r *Ring) Plan() []Info {
	out := slices.DeleteFunc(r.List(), func(i Info) bool { return i.NextAt == 0 })
	slices.SortStableFunc(out, func(a, b Info) int { return int(a.NextAt - b.NextAt) })
	return out
}

// Changes gives the recorded changes with a version above since, oldest
// first, so that a registry log that missed some, by a crash between change and
// log, catches up. The ring remembers the last 1,024.
func (r *Ring) Changes(since uint64) []Change {
	h := r.view.Load().man.History
	i := slices.IndexFunc(h, func(c Change) bool { return c.Ver > since })
	if i < 0 {
		return nil
	}
	return slices.Clone(h[i:])
}

// RootKeys are the public root keys in force, for clients to pin: the JWKs of
// the active key and its successors, as one JWK set.
func (r *Ring) RootKeys() []byte {
	var parts [][]byte
	v := r.view.Load()
	for _, st := range []State{active, published} {
		for _, s := range of(v.man.slots(), credentials.RoleRoot, st) {
			parts = append(parts, v.keys[s.Kid].key.PublishedJWK())
		}
	}
	return slices.Concat([]byte(`{"keys":[`), bytes.Join(parts, []byte(",")), []byte("]}"))
}
