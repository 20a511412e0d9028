package baseline

import (
	"encoding/base64"
	"fmt"
	"io"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
)

// Acts, as claim "op" says.
const (
	OpAcceptItem   = "surface.accept"
	OpAcceptLaunch = "launch.accept"
	OpRelease      = "quarantine.release" // of an item, by digest
	OpCondemn      = "quarantine.condemn"
)

// ActLife is how long after it was signed an act can be used. What it accepted
// then stands until something else is accepted, or the operator's key is no
// longer one.
const ActLife = 10 * time.Minute

// Act are the claims of an operator's act (typ operator-act+jwt): the acceptance or
// the release of exactly one digest, in the place of exactly one other, or its
// condemnation. A release and a condemnation name the version too, and a release
// the verdict in spite of which it is made (RULES.md 35).
type Act struct {
	credentials.Registered
	Aud    string             `json:"aud"`
	Op     string             `json:"op"`
	Origin string             `json:"origin"`
	Kind   Kind               `json:"kind,omitzero"` // of items
	Name   string             `json:"name,omitzero"`
	Gen    uint64             `json:"gen,omitzero"` // OpRelease, OpCondemn
	Ver    uint64             `json:"ver,omitzero"`
	Was    credentials.Digest `json:"was,omitzero"`         // of what it replaces; zero: nothing was accepted
	Digest credentials.Digest `json:"digest"`               // of the item, or Launch.Digest
	Found  string             `json:"verdict,omitzero"`     // OpRelease: of the inspector, by its name
	Loose  bool               `json:"unprotected,omitzero"` // the key was read unencrypted
}

// SignAct signs the acceptance of an item that waits.
func (s *Store) SignAct(key *envelope.Signer, b *Baseline, k Key, loose bool) (string, error) {
	w := b.pending[k]
	if w == nil {
		return "", ErrMissing
	}
	act := &Act{Op: OpAcceptItem, Kind: k.Kind, Name: k.Name, Digest: w.Digest, Loose: loose}
	if a := b.Accepted(k); a != nil {
		act.Was = a.Digest
	}
	return s.sign(key, b, act)
}

// SignLaunch signs the acceptance of the launch that waits, or of the pinned one
// that fetches its code.
func (s *Store) SignLaunch(key *envelope.Signer, b *Baseline, loose bool) (string, error) {
	l, was := b.reviewed()
	if l == nil {
		return "", ErrMissing
	}
	return s.sign(key, b, &Act{Op: OpAcceptLaunch, Digest: l.Digest(), Was: was, Loose: loose})
}

func (s *Store) sign(key *envelope.Signer, b *Baseline, act *Act) (string, error) {
	var jti [16]byte
	if _, err := io.ReadFull(s.opt.Rand, jti[:]); err != nil {
		return "", fmt.Errorf("baseline: %w", err)
	}
	id := credentials.TokenID(base64.RawURLEncoding.EncodeToString(jti[:]))
	act.Registered = credentials.NewRegistered(string(key.Key().ID.Principal()), id, s.opt.Now(), ActLife)
	act.Aud, act.Origin = s.opt.Audience, b.origin
	return key.Sign(act)
}

// openAct checks everything of an act that does not depend on what it is used
// for, and when.
func (s *Store) openAct(token string) (v verified) {
	if s.opt.Acts == nil || token == "" {
		return v
	}
	o, err := s.opt.Acts.Verify(envelope.OperatorAct, token)
	if err != nil || envelope.Claims(o, &v.act) != nil {
		return v
	}
	v.key = o.Key.ID
	v.ok = v.act.Aud == s.opt.Audience && v.act.Iss == string(v.key.Principal())
	return v
}

func (s *Store) loose(key credentials.KeyID) bool {
	return s.opt.Unprotected != nil && s.opt.Unprotected(key)
}
