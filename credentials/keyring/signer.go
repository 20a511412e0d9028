package keyring

import (
	"crypto"
	"errors"
	"fmt"
	"io"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
)

// typesOf says which types of token a role signs. The types that registrants,
// operators and sites sign are not ours.
var typesOf = map[Role][]envelope.Type{
	credentials.RoleRoot:   {envelope.KeySet, envelope.RootChange},
	credentials.RoleHandle: {envelope.Handle},
	credentials.RoleLabel:  {envelope.Label},
	credentials.RoleKeySet: {envelope.Freshness},
	credentials.RoleState:  {envelope.RequestState},
}

func roleOf(typ envelope.Type) (Role, error) {
	if r := typ.Role(); typesOf[r] != nil {
		return r, nil
	}
	return "", fmt.Errorf("%w: no role of the ring signs %s", envelope.ErrWrongRole, typ)
}

// Key implements envelope.Keys: the state of the key now decides, whatever
// time the token claims to be from.
func (r *Ring) Key(typ envelope.Type, kid credentials.KeyID) (envelope.Key, error) {
	v, err := r.current()
	if err != nil {
		return envelope.Key{}, err
	}
	role, err := roleOf(typ)
	if err != nil {
		return envelope.Key{}, err
	}
	m := v.keys[kid]
	switch {
	case m == nil:
		return envelope.Key{}, envelope.ErrUnknownKey
	case m.State == revoked:
		return envelope.Key{}, fmt.Errorf("%w: %s (%s)", envelope.ErrRevokedKey, kid, m.Reason)
	case m.Role != role:
		return envelope.Key{}, envelope.ErrWrongRole
	case m.State == pending:
		return envelope.Key{}, envelope.ErrUnknownKey
	case !m.State.Verifies(), m.State == retiring && r.o.Now().Unix() >= m.Ends:
		return envelope.Key{}, fmt.Errorf("%w: %s", envelope.ErrRetiredKey, kid)
	}
	return m.key, nil
}

// A signer signs with one key of the ring while that key may sign, and not a
// moment longer, whoever still holds the signer.
type signer struct {
	r   *Ring
	kid credentials.KeyID
	key envelope.Key
}

// Public implements crypto.Signer.
func (s *signer) Public() crypto.PublicKey { return s.key.Public }

// Sign implements crypto.Signer. ErrNotActive: the role has another key now.
func (s *signer) Sign(random io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	v, err := s.r.current()
	if err != nil {
		return nil, err
	}
	m := v.keys[s.kid]
	switch {
	case m == nil || !maySign(m):
		return nil, fmt.Errorf("%w: %s", ErrNotActive, s.kid)
	case m.priv != nil:
		return m.priv.Sign(random, digest, opts)
	}
	if h, ok := s.r.handed.Load(s.kid); ok {
		return h.(crypto.Signer).Sign(random, digest, opts)
	}
	return nil, fmt.Errorf("%w: %s", ErrRootOffline, s.kid)
}

// maySign: the active key, and for checkpoints the published one too, so that
// followers of the log meet a new key beside the old one.
func maySign(m *member) bool {
	return m.State == active || m.State == published && m.Role == credentials.RoleCheckpoint
}

// Format implements fmt.Formatter.
func (s *signer) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "signer(%s)", s.kid) }

// Signer is the active key of a role. It stops signing (ErrNotActive) once the
// key is no longer active: ask anew for each batch of work, or use SignToken.
func (r *Ring) Signer(role Role) (crypto.Signer, envelope.Key, error) {
	v, err := r.current()
	if err != nil {
		return nil, envelope.Key{}, err
	}
	m := v.active[role]
	if m == nil {
		return nil, envelope.Key{}, ErrRole
	}
	return &signer{r, m.Kid, m.key}, m.key, nil
}

// CheckpointSigners are the keys that sign checkpoints, the active one first,
// then the published successors: a checkpoint is signed by all of them, so that
// a rotation finds every follower prepared.
func (r *Ring) CheckpointSigners() ([]crypto.Signer, error) {
	v, err := r.current()
	if err != nil {
		return nil, err
	}
	var out []crypto.Signer
	for _, st := range []State{active, published} {
		for _, s := range of(v.man.slots(), credentials.RoleCheckpoint, st) {
			out = append(out, &signer{r, s.Kid, v.keys[s.Kid].key})
		}
	}
	return out, nil
}

// SignToken signs claims as a token of the type with the active key of its
// role. It survives a rotation that happens meanwhile.
func (r *Ring) SignToken(typ envelope.Type, claims any) (string, error) {
	role, err := roleOf(typ)
	if err != nil {
		return "", err
	}
	for range 3 {
		v, err := r.current()
		if err != nil {
			return "", err
		}
		s := v.active[role].tok[typ]
		if s == nil {
			return "", fmt.Errorf("%w: %s", envelope.ErrWrongRole, typ)
		}
		tok, err := s.Sign(claims)
		if !errors.Is(err, ErrNotActive) {
			return tok, err
		}
	}
	return "", ErrNotActive
}
