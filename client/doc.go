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
//
// Limits. A key revoked in an emergency is believed for up to Refresh more, and
// a label that fell for as long by those who do not Follow the stream. The seq
// of a label is durable with the next refresh or Close, so a crash forgets up to
// Refresh of them. Behind a registry of several replicas an answer of one that
// lags counts as older than one already seen and is refused; the next refresh
// mends it. Without a pinned root the first document decides.
package client
