package keyset

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/canon"
)

// A Set is the plain JWKS of a document. It vouches for nothing: whoever served
// it chose it. Open verifies the signed list beside it.
type Set struct {
	keys    map[credentials.KeyID]setKey
	skipped int
}

type setKey struct {
	key  envelope.Key
	role credentials.Role
}

// document are the members of a key-set document; unknown ones are ignored, as
// RFC 7517 section 5 wants it, so that later versions can add some.
type document struct {
	keys            []jsontext.Value
	list, freshness string
	roots           []string
}

func parseDocument(data []byte) (document, error) {
	var d document
	var m map[string]jsontext.Value
	if err := canon.Unmarshal(data, &m, canon.Limits{Bytes: MaxDocument, Depth: 8}); err != nil {
		return d, fmt.Errorf("%w: %w", ErrDocument, err)
	}
	for name, into := range map[string]any{
		"keys": &d.keys, "list": &d.list, "freshness": &d.freshness, "roots": &d.roots,
	} {
		raw, ok := m[name]
		if !ok {
			continue
		}
		if err := canon.Unmarshal(raw, into, canon.Limits{Bytes: MaxDocument, NoNull: true}); err != nil {
			return document{}, fmt.Errorf("%w: %s: %w", ErrDocument, name, err)
		}
	}
	return d, nil
}

// ParseJWKS reads the keys of a document, strictly. A key of a type that we do
// not use (RSA, other curves, AKP) is skipped and the rest is kept. Anything
// wrong with a key of our types, any private or symmetric key, any member that
// points elsewhere, refuses the whole set: it is not what it claims to be.
func ParseJWKS(data []byte) (*Set, error) {
	d, err := parseDocument(data)
	if err != nil {
		return nil, err
	}
	return d.set()
}

func (d document) set() (*Set, error) {
	if len(d.keys) > credentials.MaxKeys {
		return nil, ErrTooMany
	}
	s := &Set{keys: make(map[credentials.KeyID]setKey, len(d.keys))}
	for _, raw := range d.keys {
		k, known, err := parseMember(raw)
		if err != nil {
			return nil, err
		}
		if !known {
			s.skipped++
			continue
		}
		if _, ok := s.keys[k.key.ID]; ok {
			return nil, ErrTwice
		}
		s.keys[k.key.ID] = k
	}
	if len(s.keys) == 0 {
		return nil, ErrNoKeys
	}
	return s, nil
}

// Members that no published key may have, whatever its type.
var (
	privateMembers = []string{"d", "p", "q", "dp", "dq", "qi", "oth", "priv"}
	urlMembers     = []string{"jku", "x5u", "x5c", "x5t", "x5t#S256"}
)

// parseMember reads one key; known is false for one of another type.
func parseMember(raw []byte) (k setKey, known bool, err error) {
	var m map[string]jsontext.Value
	if err := canon.Unmarshal(raw, &m, canon.Limits{Bytes: MaxDocument, NoNull: true}); err != nil {
		return k, false, fmt.Errorf("%w: %w", ErrDocument, err)
	}
	has := func(name string) bool { _, ok := m[name]; return ok }
	switch kty := str(m["kty"]); {
	case kty == "oct" || has("k"):
		return k, false, envelope.ErrSymmetricKey
	case slices.ContainsFunc(privateMembers, has):
		return k, false, envelope.ErrPrivateKey
	case slices.ContainsFunc(urlMembers, has):
		return k, false, envelope.ErrURLMember
	case kty == "":
		return k, false, envelope.ErrJWK
	case !(kty == "OKP" && str(m["crv"]) == "Ed25519") && !(kty == "EC" && str(m["crv"]) == "P-256"):
		return k, false, nil
	}
	if !has("alg") || !has("kid") || !has("use") {
		return k, false, ErrKeyAlg
	}
	if has("role") {
		k.role = credentials.Role(str(m["role"]))
		if !credentials.KnownRole(k.role) {
			return k, false, ErrKeyRole
		}
		delete(m, "role")
	}
	rest, err := canon.Marshal(m)
	if err != nil {
		return k, false, fmt.Errorf("%w: %w", ErrDocument, err)
	}
	if k.key, err = envelope.ParseJWK(rest); err != nil {
		return k, false, err
	}
	return k, true, secondReading(k.key)
}

// str is the text of a JSON string, "" for anything else.
func str(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	b, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return ""
	}
	return string(b)
}

// Key implements envelope.Keys by the roles that the document claims. It knows
// no states: a key that is there verifies.
func (s *Set) Key(typ envelope.Type, kid credentials.KeyID) (envelope.Key, error) {
	k, ok := s.keys[kid]
	switch {
	case !ok:
		return envelope.Key{}, envelope.ErrUnknownKey
	case k.role == "" || k.role != typ.Role():
		return envelope.Key{}, envelope.ErrWrongRole
	}
	return k.key, nil
}

// IDs are the ids of all keys, sorted.
func (s *Set) IDs() []credentials.KeyID { return slices.Sorted(maps.Keys(s.keys)) }

// Lookup is the key of this id and the role that the document gives it.
func (s *Set) Lookup(kid credentials.KeyID) (k envelope.Key, role credentials.Role, ok bool) {
	e, ok := s.keys[kid]
	return e.key, e.role, ok
}

// Skipped is how many keys of other types were left out.
func (s *Set) Skipped() int { return s.skipped }
