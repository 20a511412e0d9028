package holds

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
	OpRelease = "quarantine.release"
	OpCondemn = "quarantine.condemn"
)

// Act are the claims of an operator's act (typ operator-act+jwt) on exactly one
// subject.
type Act struct {
	credentials.Registered
	Aud     string  `json:"aud"`
	Op      string  `json:"op"`
	Subject Subject `json:"subject"`
	Loose   bool    `json:"unprotected,omitzero"` // the key was read unencrypted
}

// Sign makes an act of an operator's key: op is OpRelease or OpCondemn. loose says
// that the key was read unencrypted.
func (s *Store) Sign(key *envelope.Signer, op string, sub Subject, loose bool) (string, error) {
	var jti [16]byte
	if _, err := io.ReadFull(s.opt.Random, jti[:]); err != nil {
		return "", fmt.Errorf("holds: %w", err)
	}
	id := credentials.TokenID(base64.RawURLEncoding.EncodeToString(jti[:]))
	return key.Sign(&Act{
		Registered: credentials.NewRegistered(string(key.Key().ID.Principal()), id, s.opt.Now(), ActLife),
		Aud:        s.opt.Audience, Op: op, Subject: sub, Loose: loose,
	})
}

// verified is an act that an operator signed for this folder, with the key.
func (s *Store) verified(token, op string) (act Act, kid credentials.KeyID, err error) {
	if s.opt.Operators == nil || s.opt.Audience == "" || token == "" {
		return act, "", ErrAct
	}
	o, err := s.opt.Operators.Verify(envelope.OperatorAct, token)
	if err != nil {
		return act, "", fmt.Errorf("%w: %w", ErrAct, err)
	}
	if err := envelope.Claims(o, &act); err != nil {
		return act, "", fmt.Errorf("%w: %w", ErrAct, err)
	}
	kid = o.Key.ID
	if act.Aud != s.opt.Audience || act.Iss != string(kid.Principal()) || act.Op != op || act.Subject.check() != nil {
		return act, "", ErrAct
	}
	return act, kid, nil
}

// stands tells whether a recorded release is still an operator's, and was one at
// the time when it was taken.
func (s *Store) stands(a *taken) bool {
	act, _, err := s.verified(a.Token, OpRelease)
	return err == nil && act.Subject == a.Subject && act.CheckTime(time.UnixMilli(a.At), ActLife) == nil
}

// loose tells whether an act counts as unprotected (RULES.md 13).
func (s *Store) loose(act *Act, kid credentials.KeyID) bool {
	return act.Loose || s.opt.Unprotected != nil && s.opt.Unprotected(kid)
}
