// Package client is the Go client of a registry.
//
// It has two halves. A Client speaks to the API: anybody may read, and an Actor
// (a Client with a key) registers, overwrites, revokes, delegates, transfers,
// or does what operators do. Each act carries a proof of possession made for
// exactly that request; an act whose outcome is unknown is repeated under the
// same command id, so that it happens once.
//
//	c, err := client.New("https://registry.example", nil)
//	me, err := c.As(key)
//	got, err := me.Register(ctx, registry.RegisterRequest{Origin: "https://shop.example", Tools: tools})
//
// Labels is the other half: the source of trust labels of whoever shows tools
// to an agent. It trusts nobody's word that a label is good, the registry's API
// included: it pins the root key, keeps the signed key list fresh, verifies
// with a second JOSE library (credentials/keyset), recomputes the digest over
// what is about to be shown, and remembers the highest versions it has seen.
// VerifyOffline does the same for files, with no network at all.
//
// Everything is strict by default and there is no global state: an own
// transport without proxies, redirects or compression, bounded bodies, 10 s per
// exchange, https unless the registry is on loopback. What loosens a default is
// an option whose name says so.
package client
