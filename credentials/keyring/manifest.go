package keyring

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/canon"
)

// Names in the folder of a ring.
const (
	manifestName = "keys.json"
	lockName     = "lock"
	// markerName stands in the folder while the ring is being made for the
	// first time: without a manifest, only what stands beside it may go.
	markerName      = "bootstrap"
	ringKeyName     = "ring.key"
	ringKeyAgeName  = "ring.key.age"
	maxManifest     = 8 << 20
	manifestContext = "pratique/keyring-manifest/v1"
)

var fileRe = regexp.MustCompile(`^[a-z-]{1,16}-[0-9a-f]{16}\.pem(\.age)?$`)

// maxHistory is how many changes the manifest remembers for a registry log
// that missed some.
const maxHistory = 1024

// An entry is a key in the manifest: its slot, its public key, and the file of
// its private key while it has one here.
type entry struct {
	Slot
	Jwk     credentials.PublicJWK `json:"jwk"`
	File    string                `json:"file,omitzero"`
	Offline bool                  `json:"offline,omitzero"` // private key was taken away by the operator
}

// A manifest is the ring without its secrets: what keys.json holds beside its
// MAC.
type manifest struct {
	V       int      `json:"v"`
	Ver     uint64   `json:"ver"`
	Iss     string   `json:"iss"`
	Keys    []entry  `json:"keys"`
	List    string   `json:"list"` // signed key list (key-set+jwt)
	ListVer uint64   `json:"listVer"`
	ListExp int64    `json:"listExp"`
	Roots   []string `json:"roots"`  // root changes, pairs, oldest first
	Doomed  []string `json:"doomed"` // key files to destroy, if they are still there
	History []Change `json:"history"`
}

func (m *manifest) slots() []Slot {
	out := make([]Slot, len(m.Keys))
	for i, e := range m.Keys {
		out[i] = e.Slot
	}
	return out
}

func (m *manifest) entry(kid credentials.KeyID) *entry {
	if i := slices.IndexFunc(m.Keys, func(e entry) bool { return e.Kid == kid }); i >= 0 {
		return &m.Keys[i]
	}
	return nil
}

// sealed is the file: the MAC covers the bytes of ring exactly as they stand.
type sealed struct {
	MAC  string         `json:"mac"`
	Ring jsontext.Value `json:"ring"`
}

func manifestMAC(key, ring []byte) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(manifestContext + "\x00"))
	h.Write(ring)
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// encode gives the bytes of keys.json.
func (m *manifest) encode(macKey []byte) ([]byte, error) {
	ring, err := canon.Marshal(m)
	if err != nil {
		return nil, err
	}
	out := append([]byte(`{"mac":"`+manifestMAC(macKey, ring)+`","ring":`), ring...)
	return append(out, '}', '\n'), nil
}

// decodeManifest verifies and reads the bytes of keys.json; anything but what
// encode wrote with this key is ErrDamaged.
func decodeManifest(data, macKey []byte) (*manifest, error) {
	var s sealed
	lim := canon.Limits{Bytes: maxManifest, NoNull: true}
	if err := canon.Unmarshal(data, &s, lim); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, manifestName, err)
	}
	if !hmac.Equal([]byte(manifestMAC(macKey, s.Ring)), []byte(s.MAC)) {
		return nil, fmt.Errorf("%w: %s: authentication code does not match", ErrDamaged, manifestName)
	}
	m := &manifest{}
	if err := canon.Unmarshal(s.Ring, m, lim); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, manifestName, err)
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, manifestName, err)
	}
	return m, nil
}

func (m *manifest) check() error {
	if m.V != 1 {
		return fmt.Errorf("version %d of the format is not known", m.V)
	}
	if m.Ver == 0 || m.Ver > credentials.MaxInt || m.ListVer == 0 || m.ListVer > m.Ver || len(m.Roots)%2 != 0 {
		return errors.New("ver or roots are impossible")
	}
	for _, e := range m.Keys {
		if e.File != "" && !fileRe.MatchString(e.File) {
			return fmt.Errorf("file name of %s is not one of ours", e.Kid)
		}
		if holdsPrivate(e.State) != (e.File != "" || e.Offline) {
			return fmt.Errorf("%s is %s and its private key is not where that says", e.Kid, e.State)
		}
	}
	return check(m.slots())
}

// key opens the public key of an entry and holds it against its id.
func (e *entry) key() (envelope.Key, error) {
	k, err := envelope.FromMembers(e.Jwk)
	if err == nil && (k.ID != e.Kid || k.Alg != e.Alg) {
		err = ErrKeyMismatch
	}
	return k, err
}
