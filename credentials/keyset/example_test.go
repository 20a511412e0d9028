package keyset_test

import (
	"crypto/ed25519"
	"fmt"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyset"
	"github.com/pratique-dev/pratique/internal/canon"
)

// A reader pins the root once and then believes documents as far as that root
// signed them, and only while they are fresh.
func Example() {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	doc := exampleDocument(now) // the body of /.well-known/jwks.json

	pins, err := keyset.FirstUse(doc) // better: from a file that came another way
	if err != nil {
		panic(err)
	}
	view, err := keyset.Open(doc, pins, now, 0)
	if err != nil {
		panic(err)
	}
	fmt.Println("list", view.Pins().Ver, "age", view.Age(now))

	_, err = view.Verifier(now.Add(time.Hour))
	fmt.Println(err)

	older := view.Pins()
	older.Ver++
	_, err = keyset.Open(doc, older, now, 0)
	fmt.Println(err)
	// Output:
	// list 7 age 0s
	// the key set is too old: 1h0m0s, and at most 15m0s is allowed
	// list: the document is older than one seen before
}

func exampleDocument(now time.Time) []byte {
	const iss, jti = "https://registry.example", "AAAAAAAAAAAAAAAAAAAAAA"
	var doc credentials.KeySetDocument
	list := credentials.KeySetClaims{Registered: credentials.NewRegistered(iss, jti, now, credentials.MaxKeySetLife), Ver: 7}
	sign := func(typ envelope.Type, key ed25519.PrivateKey, claims any) string {
		s, err := envelope.NewSigner(typ, key)
		if err != nil {
			panic(err)
		}
		tok, err := s.Sign(claims)
		if err != nil {
			panic(err)
		}
		return tok
	}
	keys := map[credentials.Role]ed25519.PrivateKey{}
	for i, role := range []credentials.Role{credentials.RoleRoot, credentials.RoleKeySet, credentials.RoleLabel} {
		keys[role] = ed25519.NewKeyFromSeed([]byte(fmt.Sprintf("%032d", i)))
		k, err := envelope.NewKey(keys[role].Public())
		if err != nil {
			panic(err)
		}
		list.Keys = append(list.Keys, credentials.KeyEntry{Kid: k.ID, Role: role, Alg: string(k.Alg), State: credentials.KeyActive, Jwk: k.Members()})
		doc.Keys = append(doc.Keys, credentials.PublishedKey{PublicJWK: k.Members(), Alg: string(k.Alg), Kid: k.ID, Role: role, Use: "sig"})
	}
	doc.List = sign(envelope.KeySet, keys[credentials.RoleRoot], list)
	doc.Freshness = sign(envelope.Freshness, keys[credentials.RoleKeySet], credentials.FreshnessClaims{
		Registered: credentials.NewRegistered(iss, jti, now, credentials.MaxFreshnessLife),
		List:       credentials.KeyListDigest(doc.List), Ver: list.Ver,
	})
	raw, err := canon.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return raw
}
