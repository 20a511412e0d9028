package keyring

import (
	"cmp"
	"crypto"
	"fmt"
	"slices"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/canon"
)

// Inputs are what a statement of freshness vouches for beside the key list.
type Inputs struct {
	Checkpoint credentials.CheckpointRef // newest checkpoint of the registry log
	Lowered    credentials.Digest        // of the labels that were lowered
	Seq        uint64                    // of the newest label event
}

// Document gives the body of /.well-known/jwks.json with a freshness of now.
func (r *Ring) Document(now time.Time, in Inputs) ([]byte, error) {
	v, err := r.current()
	if err != nil {
		return nil, err
	}
	reg, err := r.registered(v.man.Iss, now, FreshLife)
	if err != nil {
		return nil, err
	}
	fresh, err := r.SignToken(envelope.Freshness, &credentials.FreshnessClaims{
		Registered: reg, List: credentials.KeyListDigest(v.man.List), Ver: v.man.ListVer,
		Checkpoint: in.Checkpoint, Lowered: in.Lowered, Seq: in.Seq,
	})
	if err != nil {
		return nil, fmt.Errorf("freshness: %w", err)
	}
	doc := credentials.KeySetDocument{Keys: []credentials.PublishedKey{}, List: v.man.List, Freshness: fresh, Roots: v.man.Roots}
	for _, e := range v.man.Keys {
		// Root keys are pinned, not looked up: they stand in the list only.
		if e.Role != credentials.RoleRoot && e.State.Verifies() && (e.State != retiring || now.Unix() < e.Ends) {
			doc.Keys = append(doc.Keys, credentials.PublishedKey{PublicJWK: e.Jwk, Alg: string(e.Alg), Kid: e.Kid, Role: e.Role, Use: "sig"})
		}
	}
	return canon.Marshal(doc)
}

func (r *Ring) registered(iss string, now time.Time, life time.Duration) (credentials.Registered, error) {
	jti, err := tokenID(r.o.Rand)
	return credentials.NewRegistered(iss, jti, now, life), err
}

// listed are the entries of the signed list: every key that was ever
// published, tombstones included, but no pending one. Beyond the most that a
// reader takes, the oldest retired ones go; revoked ones stay.
func listed(keys []entry) []credentials.KeyEntry {
	out := []credentials.KeyEntry{}
	for _, e := range keys {
		if e.State == pending || e.Published == 0 && e.State == retired {
			continue
		}
		out = append(out, credentials.KeyEntry{Kid: e.Kid, Role: e.Role, Alg: string(e.Alg), State: e.State, Jwk: e.Jwk, Since: e.Since, Ends: e.Ends})
	}
	if over := len(out) - credentials.MaxKeys; over > 0 {
		byAge := slices.Clone(out)
		slices.SortStableFunc(byAge, func(a, b credentials.KeyEntry) int { return cmp.Compare(a.Since, b.Since) })
		for _, k := range byAge {
			if k.State == retired && over > 0 {
				out = slices.DeleteFunc(out, func(e credentials.KeyEntry) bool { return e.Kid == k.Kid })
				over--
			}
		}
	}
	return out
}

// needsList reports whether the manifest needs a newly signed list.
func (w *work) needsList(m *manifest) bool {
	return w.v == nil || m.Iss != w.v.man.Iss || m.ListExp-w.now < secs(listRenew) ||
		!slices.Equal(listed(m.Keys), listed(w.v.man.Keys))
}

// sign puts a new list, and a change of the root if there is one, into m.
func (w *work) sign(m *manifest) error {
	root := of(w.slots, credentials.RoleRoot, active)[0].Kid
	now := time.Unix(w.now, 0)
	if w.v != nil {
		if old := w.v.active[credentials.RoleRoot]; old.Kid != root {
			if err := w.signRootChange(m, old.Kid, root, now); err != nil {
				return err
			}
		}
	}
	reg, err := w.r.registered(m.Iss, now, ListLife)
	if err != nil {
		return err
	}
	claims := &credentials.KeySetClaims{Registered: reg, Ver: m.Ver, Keys: listed(m.Keys)}
	if err := claims.Check(); err != nil {
		return err
	}
	if m.List, err = w.signAs(root, envelope.KeySet, claims); err != nil {
		return err
	}
	m.ListVer, m.ListExp = m.Ver, reg.Exp
	return nil
}

// signRootChange has root n+1 named by n and held by itself: both sign the
// same claims.
func (w *work) signRootChange(m *manifest, from, to credentials.KeyID, now time.Time) error {
	reg, err := w.r.registered(m.Iss, now, credentials.MaxRootChangeLife)
	if err != nil {
		return err
	}
	claims := &credentials.RootChangeClaims{Registered: reg, Ver: m.Ver, Old: m.entry(from).Jwk, New: m.entry(to).Jwk}
	roots := slices.Clone(m.Roots)
	for _, kid := range []credentials.KeyID{from, to} {
		tok, err := w.signAs(kid, envelope.RootChange, claims)
		if err != nil {
			return err
		}
		roots = append(roots, tok)
	}
	m.Roots = roots
	return nil
}

func (w *work) signAs(kid credentials.KeyID, typ envelope.Type, claims any) (string, error) {
	var key crypto.Signer
	key, err := w.rootSigner(kid)
	if err != nil {
		return "", err
	}
	s, err := envelope.NewSigner(typ, key)
	if err != nil {
		return "", err
	}
	return s.Sign(claims)
}
