package keyset

import (
	"maps"
	"slices"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
)

// Pins are what to keep for the next document.
func (v *View) Pins() Pins { return v.pins }

// Freshness is the verified statement of what was newest.
func (v *View) Freshness() credentials.FreshnessClaims { return v.fresh }

// Set is the plain JWKS of the document.
func (v *View) Set() *Set { return v.set }

// Entries are all keys of the signed list, tombstones included, by id.
func (v *View) Entries() []credentials.KeyEntry {
	out := make([]credentials.KeyEntry, 0, len(v.entries))
	for _, id := range slices.Sorted(maps.Keys(v.entries)) {
		out = append(out, v.entries[id].KeyEntry)
	}
	return out
}

// Age is how old the statement of freshness is at now.
func (v *View) Age(now time.Time) time.Duration {
	return now.Sub(time.Unix(v.fresh.Iat, 0).Add(credentials.Backdate))
}

// FreshUntil is when the view turns stale: bound after the statement of
// freshness was signed, and never later than the list itself ends.
func (v *View) FreshUntil() time.Time {
	until := time.Unix(v.fresh.Exp, 0)
	if v.maxStale > 0 {
		until = time.Unix(v.fresh.Iat, 0).Add(credentials.Backdate + v.maxStale)
	}
	if end := time.Unix(v.expires, 0); end.Before(until) {
		until = end
	}
	return until
}

// Check refuses a view that is stale at now with a *StaleError.
func (v *View) Check(now time.Time) error {
	until := v.FreshUntil()
	if now.Before(until.Add(credentials.Leeway)) {
		return nil
	}
	age := v.Age(now)
	return &StaleError{Age: age, Bound: age - now.Sub(until)}
}

// Keys resolves keys at now by what the root says of them. A stale view gives
// none.
func (v *View) Keys(now time.Time) (envelope.Keys, error) {
	if err := v.Check(now); err != nil {
		return nil, err
	}
	return viewKeys{v, now}, nil
}

// Verifier verifies with jwx by the keys of the view at now. A stale view gives
// none.
func (v *View) Verifier(now time.Time) (envelope.Verifier, error) {
	keys, err := v.Keys(now)
	if err != nil {
		return nil, err
	}
	return NewVerifier(keys), nil
}

// viewKeys are the keys of a view at one time.
type viewKeys struct {
	v   *View
	now time.Time
}

// Key implements envelope.Keys. Only the role and the state now decide; when a
// token claims to have been signed does not matter.
func (k viewKeys) Key(typ envelope.Type, kid credentials.KeyID) (envelope.Key, error) {
	e, ok := k.v.entries[kid]
	switch {
	case !ok:
		return envelope.Key{}, envelope.ErrUnknownKey
	case e.State == credentials.KeyRevoked:
		return envelope.Key{}, envelope.ErrRevokedKey
	case !e.State.Verifies():
		return envelope.Key{}, envelope.ErrRetiredKey
	case e.Ends != 0 && !k.now.Before(time.Unix(e.Ends, 0).Add(credentials.Leeway)):
		return envelope.Key{}, envelope.ErrRetiredKey
	case e.Role != typ.Role():
		return envelope.Key{}, envelope.ErrWrongRole
	}
	return e.key, nil
}
